"""A leaderboard as static pages: one row for each run that proves what it played, and a reason for each that does not."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from etude import __version__
from etude.evaluation.citation import LICENCE, ending
from etude.evaluation.record import Record
from etude.evaluation.replaying import refuse_other_end, sample
from etude.evaluation.store import Run
from etude.evaluation.tables import Tally, by, name_of, percent, plain, plural, tally
from etude.library import find
from etude.names import EtudeError, digest
from etude.report import charts
from etude.report.evaluation import write_report
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, section, table
from etude.report.page import document
from etude.report.sections import span
from etude.report.understanding import knows_the_state

SAME = ("protocol", "renderer")
"""What all rows must have in common, besides the episodes."""
LEAD = "Every row has played the same episodes to their end. Each was made again for this page, and has the digest that the runs wrote."
HOW_KNOWN = (
    "Where it says *replayed*, actions that the run has kept were carried out again for this page, and led to the same ends; who chose"
    " them is the run's word. Where it says *claimed*, none were kept, or none were tried."
)
SPACE = "sdk: static"
REPLAYED = 5
"""Kept episodes of a row that are carried out again, if nothing else is asked for."""
PAGES = "[0-9]*-*.html"
"""The reports of rows."""
PRIVATE = "The seeds are private: episodes are drawn with a salt that the owner of this board keeps, so that nobody has trained on them."


@dataclass(frozen=True)
class BoardRow:
    """A run in one mode that may stand on the board."""

    run: Run
    mode: str
    records: tuple[Record, ...]
    replayed: int = 0

    @property
    def proof(self) -> str:
        """What is known beyond the run's word: of how many episodes the actions were carried out again, and led to the same end."""
        return f"replayed {self.replayed} of {len(self.records):,}: same ends" if self.replayed else "claimed"

    @property
    def tally(self) -> Tally:
        """Over the episodes on which success is stated."""
        return tally(plain(self.records))

    @property
    def facts(self) -> dict[str, str]:
        """What somebody needs to do it again, and to check that it was done."""
        info, machine = self.run.info, self.run.info.get("machine") or {}
        packages = {"etude": machine.get("etude", ""), "python": machine.get("python", ""), **(machine.get("packages") or {})}
        code = info.get("code") or {}
        results = [replace(r, timings={}, film=None).to_line() for r in self.records]
        return {
            "command": str(info.get("command", "")), "protocol": str(info.get("protocol", "")), "renderer": str(info.get("renderer", "")),
            "versions": ", ".join(f"{name} {version}" for name, version in packages.items() if version), "plan": self.run.plan.digest,
            "ids": digest(sorted(r.id for r in self.records)), "results": digest(results),
            "code": "; ".join(f"{who}: {_in_words(found)}" for who, found in code.items() if found),
        }  # fmt: skip


@dataclass(frozen=True)
class Leaderboard:
    """The rows, the best first, and why runs were refused: (folder, reason)."""

    rows: tuple[BoardRow, ...]
    refused: tuple[tuple[str, str], ...]
    private: bool

    def to_data(self) -> dict[str, Any]:
        """As plain data, for ``board.json``."""
        return {
            "rows": [
                {"run": row.run.folder.name, "policy": row.run.plan.policy, "planner": row.run.plan.planner, "mode": row.mode,
                 "privileged": knows_the_state(row.run), "replayed": row.replayed, **row.tally.to_data(), **row.facts}
                for row in self.rows
            ],
            "refused": [{"run": folder, "reason": reason} for folder, reason in self.refused], "private": self.private,
        }  # fmt: skip


def _in_words(code: Mapping[str, Any] | str) -> str:
    """What a policy or a planner is made of: "module mine, source 1f…, commit 3a…, unchanged since"."""
    if not isinstance(code, Mapping):
        return str(code)
    parts = [f"{what} {value}" for what, value in code.items() if value]
    return ", ".join([*parts, "unchanged since"] if code.get("commit") and not code.get("changes") else parts)


def board(runs: Sequence[Run], progress: Callable[[str], None] = lambda _: None, replayed: int = REPLAYED) -> Leaderboard:
    """The board of some runs. The first of them says which episodes and which standards it is about. Of every row up to ``replayed``
    episodes whose actions were kept are carried out again."""
    first, rows, refused = runs[0], list[BoardRow](), list[tuple[str, str]]()
    known: dict[str, str] = {}
    for run in runs:
        progress(f"{run.folder}: {plural(len(run.records), 'episode')}")
        try:
            _refuse_unproven(run, first, known)
            modes = dict.fromkeys(r.mode for r in run.records)
            rows += [_replayed(BoardRow(run, mode, tuple(r for r in run.records if r.mode == mode)), progress, replayed) for mode in modes]
        except EtudeError as error:
            refused.append((str(run.folder), str(error)))
    rows.sort(key=lambda row: (-row.tally.rate, row.run.plan.policy, row.mode))
    return Leaderboard(tuple(rows), tuple(refused), any("salt" in dict(name_of(r).options) for r in first.records))


def _replayed(row: BoardRow, progress: Callable[[str], None], most: int) -> BoardRow:
    """The row with episodes of it carried out again; raises where one does not end as the run says."""
    chosen = sample(row.run, row.records, most)
    for number, record in enumerate(chosen, 1):
        progress(f"{row.run.folder}: {number} of {len(chosen)} carried out again, {record.episode}")
        refuse_other_end(row.run, record)
    return replace(row, replayed=len(chosen))


def _refuse_unproven(run: Run, first: Run, known: dict[str, str]) -> None:
    """Raise where a run is not whole, was not played under the same standards, or names episodes that are something else here."""
    if run.missing or not run.records:
        raise EtudeError(f"{len(run.missing):,} of {len(run.plan.episodes):,} episodes are not played yet")
    if run.judged:
        raise EtudeError(f"nobody can play it again: {run.judged}")
    if run.mixed:
        raise EtudeError(f"it is not one policy: {run.mixed}")
    if run.info.get("plan") != run.plan.digest:
        raise EtudeError(f"its plan has the digest {run.plan.digest}, and run.json says {run.info.get('plan')}")
    for what in SAME:
        if run.info.get(what) != first.info.get(what):
            raise EtudeError(f"its {what} is {run.info.get(what)}, and the board's is {first.info.get(what)}")
    if {r.episode for r in run.records} != {r.episode for r in first.records}:
        raise EtudeError(f"it has played other episodes than {first.folder}")
    errors = sum(r.outcome == "error" for r in run.records)
    if errors:
        raise EtudeError(
            f"{plural(errors, 'episode')} ended in an error; 'etude evaluate --out {run.folder} --retry-errors' plays them again"
        )
    for record in run.records:
        if record.episode not in known:
            known[record.episode] = find(record.episode).id
        if known[record.episode] != record.id:
            here = known[record.episode].rpartition("~")[2]
            raise EtudeError(f"{record.episode} has the digest {here} here, and {record.id.rpartition('~')[2]} in the run")


def write_board(found: Leaderboard, folder: Path, title: str = "Leaderboard", repository: str = "") -> list[str]:
    """Write ``index.html`` and ``board.json``, and the report of every row, unless its episodes are private; gives their names.

    For a ``repository`` (OWNER/NAME) of the Hub also ``README.md``, by which a static Space shows them.
    """
    if not found.rows:
        why = "; ".join(f"{run}: {reason}" for run, reason in found.refused)
        raise EtudeError(f"no run may stand on the board: {why}")
    if repository:
        refuse_foreign_card(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob(PAGES):  # of an earlier board
        page.unlink()
    links: list[str] = []
    for k, row in enumerate(found.rows):
        name = f"{k + 1}-{re.sub(r'[^A-Za-z0-9]+', '-', row.run.plan.policy).strip('-')[:40]}.html"
        if not found.private:  # which a report would show
            own = replace(row.run, records=tuple(replace(r, film=None) for r in row.records))  # videos stay where they are
            write_report([own], folder / name)
        links.append("" if found.private else name)
    (folder / "index.html").write_text(_page(found, links, title), encoding="utf-8")
    (folder / "board.json").write_text(json.dumps(found.to_data(), indent=1) + "\n", encoding="utf-8")
    if repository:
        (folder / "README.md").write_text(board_card(found, title, repository), encoding="utf-8")
    return ["index.html", "board.json", *filter(None, links), *(["README.md"] if repository else [])]


def refuse_foreign_card(folder: Path) -> None:
    """Raise where a folder has a ``README.md`` that is not a board's: it would be lost."""
    path = folder / "README.md"
    if path.exists() and SPACE not in path.read_text(encoding="utf-8", errors="replace"):
        raise EtudeError(f"--out {str(folder)!r} has a README.md that is not a board's; choose an empty or new folder")


def board_card(found: Leaderboard, title: str, repository: str) -> str:
    """``README.md`` of a board that is a static Space (OWNER/NAME) of the Hub."""
    first = found.rows[0]
    suites = ", ".join(dict.fromkeys(name_of(r).suite for r in first.records))
    protocol, renderer = (str(first.run.info.get(what, "")) for what in SAME)
    lines = "\n".join(map(_card_line, found.rows))
    files = "`index.html` is the page, `board.json` has the same as data" + (
        "" if found.private else ", and every row has a report of its own"
    )
    refused = plural(len(found.refused), "run") + (" was" if len(found.refused) == 1 else " were")
    left_out = f"\n{refused} refused, as the page says." if found.refused else ""
    seeds = PRIVATE if found.private else "The seeds are public: who has trained on these episodes cannot be compared by them."
    return f"""---
title: {json.dumps(title, ensure_ascii=False)}
{SPACE}
app_file: index.html
pinned: false
license: {LICENCE}
short_description: Policies for robots on the same episodes, by etude
tags: [robotics, etude, leaderboard, simulation, {suites}]
---

# {title}

A leaderboard of {plural(len(found.rows), "row")} on {plural(len(first.records), "episode")} of {suites}; protocol {protocol}, renderer
{renderer}. {files}.

| policy | mode | success | 95 % | episodes | known | sees |
|---|---|---|---|---|---|---|
{lines}
{left_out}
{LEAD} {HOW_KNOWN}
{seeds}

## Checking it

Every row has its command, the versions it was played with, and the digests of its plan, episodes and results. With those versions
the command gives the same results again, and `etude board` of the runs these pages. Everything is simulated: nothing here says how a policy
does with real arms, cameras or people.

Licence: {LICENCE}.

{ending(title, "space", repository, __version__, protocol)}"""


def _card_line(row: BoardRow) -> str:
    sees = "the true state" if knows_the_state(row.run) else "its contract"
    cells = (_who(row), row.mode, percent(row.tally.rate), span(row.tally.interval), f"{row.tally.episodes:,}", row.proof, sees)
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"


def _page(found: Leaderboard, links: Sequence[str], title: str) -> str:
    suites = list(dict.fromkeys(name_of(r).suite for r in plain(found.rows[0].records)))
    columns = [Column("Policy"), Column("Mode"), Column("Success %", numeric=True)]
    columns += [Column("", sortable=False, kind="dots", below=charts.axis())]
    columns += [Column(suite, numeric=True) for suite in suites] if len(suites) > 1 else []
    columns += [Column("Episodes", numeric=True), Column("Steps", numeric=True), Column("Known"), Column("How", sortable=False)]
    rows = [_row(k, row, link, suites if len(suites) > 1 else []) for k, (row, link) in enumerate(zip(found.rows, links, strict=True), 1)]
    head = f'<header><p class="eyebrow">etude · leaderboard</p><h1>{esc(title)}</h1></header>'
    body = section(
        "board", "Policies", f"{LEAD} {HOW_KNOWN.replace('*', '')}", table("board-table", "Policies, the best first", columns, rows)
    )
    if found.private:
        body += f"<p>{esc(PRIVATE)}</p>"
    how = "".join(_how(k, row) for k, row in enumerate(found.rows, 1))
    body += section("how", "How each row was made", "", f'<div class="recipes">{how}</div>')
    if found.refused:
        items = "".join(f"<li><code>{esc(run)}</code>: {esc(reason)}</li>" for run, reason in found.refused)
        body += section("refused", "Refused", "These runs are not on the board.", f"<ul>{items}</ul>")
    sheets = resources.files("etude.report")
    style, script = (sheets.joinpath(f"evaluation.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return document(title, f"{head}<main>{body}</main>", style, script)


def _who(row: BoardRow) -> str:
    plan = row.run.plan
    return f"{plan.policy} with {plan.planner}" if plan.planner else plan.policy


def _how(number: int, row: BoardRow) -> str:
    facts = "".join(f"<dt>{esc(what)}</dt><dd>{html.escape(text)}</dd>" for what, text in row.facts.items() if text)
    title = f'<h3>{esc(_who(row))} <span class="small">{esc(row.mode)}</span></h3>'
    return f'<article class="card recipe" id="how-{number}">{title}<dl>{facts}</dl></article>'


def _row(number: int, row: BoardRow, link: str, suites: Sequence[str]) -> Row:
    t, who = row.tally, _who(row)
    name = f'<a href="{esc(link)}">{breakable(who)}</a>' if link else breakable(who)
    name += " " + badge("has the true state") if knows_the_state(row.run) else ""
    rates = {dict(s.keys)["suite"]: s.tally for s in by(plain(row.records), "suite")}
    label = f"{who}: {percent(t.rate)}, 95 % interval {span(t.interval)}"
    steps = sum(r.steps for r in row.records) / len(row.records)
    return Row((
        Cell(name, who), Cell(esc(row.mode)), Cell(f'{100 * t.rate:.1f}<span class="small">{span(t.interval)}</span>', t.rate),
        Cell(charts.dot(label, 0, t.rate, t.interval)),
        *(Cell(f"{100 * rates[suite].rate:.1f}", rates[suite].rate) for suite in suites),
        Cell(f"{t.episodes:,}", t.episodes), Cell(f"{steps:.0f}", steps), Cell(esc(row.proof)),
        Cell(f'<a href="#how-{number}">command, versions, digests</a>'),
    ))  # fmt: skip
