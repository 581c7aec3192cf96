"""A leaderboard as static pages: one row for each run that proves what it played, and a reason for each that does not."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from etude.evaluation.record import Record
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
PRIVATE = "The seeds are private: episodes are drawn with a salt that the owner of this board keeps, so that nobody has trained on them."


@dataclass(frozen=True)
class BoardRow:
    """A run in one mode that may stand on the board."""

    run: Run
    mode: str
    records: tuple[Record, ...]

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
            "code": ", ".join(f"{who} {found}" for who, found in code.items() if found),
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
                 "privileged": knows_the_state(row.run), **row.tally.to_data(), **row.facts}
                for row in self.rows
            ],
            "refused": [{"run": folder, "reason": reason} for folder, reason in self.refused], "private": self.private,
        }  # fmt: skip


def board(runs: Sequence[Run], progress: Callable[[str], None] = lambda _: None) -> Leaderboard:
    """The board of some runs. The first of them says which episodes and which standards it is about."""
    first, rows, refused = runs[0], list[BoardRow](), list[tuple[str, str]]()
    known: dict[str, str] = {}
    for run in runs:
        progress(f"{run.folder}: {plural(len(run.records), 'episode')}")
        try:
            _refuse_unproven(run, first, known)
        except EtudeError as error:
            refused.append((str(run.folder), str(error)))
            continue
        modes = dict.fromkeys(r.mode for r in run.records)
        rows += [BoardRow(run, mode, tuple(r for r in run.records if r.mode == mode)) for mode in modes]
    rows.sort(key=lambda row: (-row.tally.rate, row.run.plan.policy, row.mode))
    return Leaderboard(tuple(rows), tuple(refused), any("salt" in dict(name_of(r).options) for r in first.records))


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


def write_board(found: Leaderboard, folder: Path, title: str = "Leaderboard") -> None:
    """Write ``index.html`` and ``board.json``, and the report of every row, unless its episodes are private."""
    if not found.rows:
        why = "; ".join(f"{run}: {reason}" for run, reason in found.refused)
        raise EtudeError(f"no run may stand on the board: {why}")
    folder.mkdir(parents=True, exist_ok=True)
    links: list[str] = []
    for k, row in enumerate(found.rows):
        name = f"{k + 1}-{re.sub(r'[^A-Za-z0-9]+', '-', row.run.plan.policy).strip('-')[:40]}.html"
        if not found.private:  # which a report would show
            own = replace(row.run, records=tuple(replace(r, film=None) for r in row.records))  # films stay where they are
            write_report([own], folder / name)
        links.append("" if found.private else name)
    (folder / "index.html").write_text(_page(found, links, title), encoding="utf-8")
    (folder / "board.json").write_text(json.dumps(found.to_data(), indent=1) + "\n", encoding="utf-8")


def _page(found: Leaderboard, links: Sequence[str], title: str) -> str:
    suites = list(dict.fromkeys(name_of(r).suite for r in plain(found.rows[0].records)))
    columns = [Column("Policy"), Column("Mode"), Column("Success %", numeric=True)]
    columns += [Column("", sortable=False, kind="dots", below=charts.axis())]
    columns += [Column(suite, numeric=True) for suite in suites] if len(suites) > 1 else []
    columns += [Column("Episodes", numeric=True), Column("Steps", numeric=True), Column("How", sortable=False)]
    rows = [_row(k, row, link, suites if len(suites) > 1 else []) for k, (row, link) in enumerate(zip(found.rows, links, strict=True), 1)]
    head = f'<header><p class="eyebrow">etude · leaderboard</p><h1>{esc(title)}</h1></header>'
    body = section("board", "Policies", LEAD, table("board-table", "Policies, the best first", columns, rows))
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
        Cell(f"{t.episodes:,}", t.episodes), Cell(f"{steps:.0f}", steps), Cell(f'<a href="#how-{number}">command, versions, digests</a>'),
    ))  # fmt: skip
