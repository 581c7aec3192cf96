"""The sections of an evaluation page that show what went wrong: who was at fault, which episodes failed and where, videos, errors."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from etude.evaluation.decisions import decides
from etude.evaluation.record import Record
from etude.evaluation.subgoals import failure_words, is_decision
from etude.evaluation.tables import FaultRow, errors, faults, level_order, name_of, percent, perturbation_of, plural
from etude.evaluation.view import joined, read_view, view_file
from etude.report import charts
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, filters, fold, section, table
from etude.report.view_page import view_figure

LISTED = 600
"""Episodes in the list of failures; all are in ``episodes.jsonl``."""
LARGEST = 8 << 20
"""Bytes of a video that still goes into the page."""
ROOM = 4_000_000
"""Bytes for views: with all else, a page stays below 5 MB."""
KINDS = {".mp4": "video/mp4", ".webp": "image/webp", ".gif": "image/gif"}
T = TypeVar("T")


# ------------------------------------------------------------------------------------------------ planner and execution

PARTS = (("good", "success"), ("planning", "planning first"), ("execution", "execution first"), ("other", "other"))


def faults_section(arms: Sequence[Contestant]) -> str:
    """What went wrong first where a planner took part."""
    found = [(arm, faults(arm.plain)) for arm in arms]
    found = [(arm, rows) for arm, rows in found if rows]
    if not found:
        return ""
    legend = "".join(f'<span><i class="swatch {kind}"></i>{words}</span>' for kind, words in PARTS)
    lines = "".join(_split(arm.label, f"arm-{arm.number}", rows[0]) for arm, rows in found)
    details = "".join(
        f'<div class="arm-{arm.number}"><h3>{esc(arm.label)}</h3>{"".join(_split(row.task, "", row) for row in rows[1:])}</div>'
        for arm, rows in found
    )
    lead = (
        "A failure is attributed at the first stage whose right sub-task was never done: to the planner if it said something else there, "
        "to the policy otherwise. "
        "Accuracy is the share of sub-tasks that were right when they were given."
    )
    body = (
        f'<div class="legend-line">{legend}</div><div class="splits">{lines}</div>{fold("By task", f"<div class=splits>{details}</div>")}'
    )
    return section("planner", "Planning and execution", lead, body)


def _split(title: str, kind: str, row: FaultRow) -> str:
    total = max(1, row.episodes)
    shares = [n / total for n in (row.successes, row.planning, row.execution, row.other)]
    words = ", ".join(f"{percent(s)} {label}" for s, (_, label) in zip(shares, PARTS, strict=True) if s)
    accuracy = "" if row.accuracy is None else f"planner right {percent(row.accuracy)} of {plural(row.stages, 'sub-task')}"
    chart = charts.stack(f"{title}: {words}", [(part, s) for s, (part, _) in zip(shares, PARTS, strict=True)])
    return (
        f'<div class="entry {kind}"><strong>{esc(title)}</strong> <span class="soft">{plural(row.episodes, "episode")}</span>{chart}'
        f'<div class="small">{esc(words)}{f" · {esc(accuracy)}" if accuracy else ""}</div></div>'
    )


# ------------------------------------------------------------------------------------------------ failed episodes


def spread(items: Sequence[T], key: Callable[[T], Hashable], count: int) -> list[T]:
    """Up to ``count`` items, the same number of each kind as far as it goes; they keep their order."""
    rounds: dict[Hashable, int] = {}
    ranked = []
    for place, item in enumerate(items):
        turn = rounds.get(key(item), 0)
        rounds[key(item)] = turn + 1
        ranked.append((turn, place))
    return [items[place] for place in sorted(place for _, place in sorted(ranked)[:count])]


@dataclass(frozen=True)
class PlayedEpisode:
    """A record with the arm it belongs to."""

    arm: Contestant
    record: Record

    @property
    def place(self) -> tuple[int, str, str]:
        name = name_of(self.record)
        return self.arm.number, name.suite, name.task


def failures_section(
    arms: Sequence[Contestant], views: Sequence[tuple[PlayedEpisode, Mapping[str, Any]]], embed_films: int, beside: Path
) -> str:
    """What can be seen, and the list of episodes that failed; videos are linked, seen from the folder ``beside``."""
    failed = [PlayedEpisode(arm, r) for arm in arms for r in arm.records if not r.success]
    shown = [_figure(item, view_figure(k, view)) for k, (item, view) in enumerate(views)] + _films(arms, embed_films)
    if not failed and not shown:
        return ""
    body = f'<div class="films">{"".join(shown)}</div>' if shown else ""
    if failed:
        listed = spread(failed, lambda p: p.place, LISTED)
        body += _list(arms, listed, beside)
        if len(listed) < len(failed):
            body += f"<p>{len(listed):,} of {len(failed):,} are listed here, evenly over policies and tasks; all are in episodes.jsonl.</p>"
    lead = f"{_counted(failed)}." if failed else "No episode failed."
    lead += _how_to_look(failed)
    return section("failures", "Failed episodes" if failed else "Videos", lead, body)


def _how_to_look(failed: Sequence[PlayedEpisode]) -> str:
    """By which commands, of what there is; a decision has no world, also where an error left it without an answer."""
    worldless = [is_decision(p.record) or decides(name_of(p.record)) for p in failed]
    words = ""
    if not all(worldless):
        which = "any of the others" if any(worldless) else "any of them"
        words = f" Walk around in {which}, or play it again, with etude view and etude rollout and its name."
    if any(worldless):
        which = "any of them" if all(worldless) else "any decision among them"
        words = f" Look at {which} with etude show and its name.{words}"
    return words


def _counted(failed: Sequence[PlayedEpisode]) -> str:
    """How many did not succeed, and in which way: failures, errors, and those among both that were perturbed."""
    wrong = sum(p.record.outcome == "error" for p in failed)
    perturbed = sum(bool(perturbation_of(p.record)) for p in failed)
    parts = [plural(len(failed) - wrong, "failure")] if len(failed) > wrong else []
    parts += [plural(wrong, "error")] * bool(wrong) + [f"{perturbed:,} of them perturbed"] * bool(perturbed)
    return f"{plural(len(failed), 'episode')} did not succeed: {', '.join(parts)}"


def chosen_views(arms: Sequence[Contestant], count: int) -> list[tuple[PlayedEpisode, dict[str, Any]]]:
    """Up to ``count`` views that the runs have kept, of failures first, spread over policies and tasks, as far as there is room."""
    kept = [PlayedEpisode(arm, r) for arm in arms for r in arm.records if view_file(arm.run.folder, *r.key).is_file()]
    failed = spread([i for i in kept if not i.record.success], lambda i: i.place, count)
    wanted = failed + spread([i for i in kept if i.record.success], lambda i: i.place, count - len(failed))
    found: list[tuple[PlayedEpisode, dict[str, Any]]] = []
    for item in wanted:
        view = read_view(view_file(item.arm.run.folder, *item.record.key))
        if len(json.dumps(joined([*(v for _, v in found), view]))) > ROOM:
            break
        found.append((item, view))
    return found


def _list(arms: Sequence[Contestant], shown: Sequence[PlayedEpisode], beside: Path) -> str:
    several = len(arms) > 1
    columns = [
        Column("Episode"),
        *([Column("Policy", kind="who")] if several else []),
        Column("Level"),
        Column("What failed first", kind="long"),
    ]
    columns += [Column("Progress", numeric=True), Column("Steps", numeric=True), Column("Film", sortable=False)]
    rows = []
    for item in shown:
        r, name = item.record, name_of(item.record)
        link, shown_name = _link(item, beside), breakable(r.episode).replace("@", "<wbr>@")
        fault = badge(f"{r.fault} first", r.fault) if r.fault else ""
        words = (badge("error", "bad") if r.outcome == "error" else fault) + esc(failure_words(r))
        policy = [Cell(f"{charts.key(item.arm.number)}{esc(item.arm.label)}", item.arm.label)] if several else []
        cells = (
            Cell(f"<code>{shown_name}</code>", r.episode), *policy, Cell(esc(r.level)), Cell(words, failure_words(r)),
            Cell(percent(r.progress), r.progress), Cell(str(r.steps), r.steps), Cell(link),
        )  # fmt: skip
        marks: dict[str, list[str]] = {
            "suite": [name.suite], "level": [r.level], "outcome": [r.outcome, *([r.fault] if r.fault else [])],
            "policy": [str(item.arm.number)], "perturbation": [perturbation_of(r) or "none"],
        }  # fmt: skip
        rows.append(Row(cells, marks))
    kinds = (("failure", "failure"), ("planning", "planning failed first"), ("execution", "execution failed first"), ("error", "error"))
    present = {value for row in rows for value in row.marks["outcome"]}
    choices = {
        "policy": ("Policy", [(str(a.number), a.label) for a in arms]),
        "suite": ("Suite", _present(rows, "suite")),
        "level": ("Level", sorted(_present(rows, "level"), key=lambda option: level_order(option[0]))),
        "perturbation": ("Perturbation", _present(rows, "perturbation")),
        "outcome": ("Outcome", [(value, words) for value, words in kinds if value in present]),
    }
    form = filters("failures-table", "Find an episode", choices, len(rows))
    return form + table("failures-table", "Episodes that did not succeed", columns, rows, "failures")


def _present(rows: Sequence[Row], key: str) -> list[tuple[str, str]]:
    return [(v, v) for v in dict.fromkeys(row.marks[key][0] for row in rows) if v]


# ------------------------------------------------------------------------------------------------ videos


def _film(item: PlayedEpisode) -> Path | None:
    """The video of an episode, if the file is there and inside the run's folder."""
    if item.record.film is None:
        return None
    folder = item.arm.run.folder.resolve()
    path = (folder / item.record.film).resolve()
    return path if path.is_relative_to(folder) and path.is_file() and path.suffix.lower() in KINDS else None


def _link(item: PlayedEpisode, beside: Path) -> str:
    path = _film(item)
    if path is None:
        return ""
    address = quote(Path(os.path.relpath(path, beside.resolve())).as_posix())
    return f'<a href="{esc(address)}" aria-label="video of {esc(item.record.episode)}">video</a>'


def _films(arms: Sequence[Contestant], count: int) -> list[str]:
    """Videos inside the page: of failures first, spread over policies and tasks."""
    played = [PlayedEpisode(arm, r) for arm in arms for r in arm.records if r.film is not None]
    fitting = [item for item in played if (path := _film(item)) is not None and path.stat().st_size <= LARGEST]
    failed = spread([i for i in fitting if not i.record.success], lambda i: i.place, count)
    chosen = failed + spread([i for i in fitting if i.record.success], lambda i: i.place, count - len(failed))
    return [_figure(item, _moving(item)) for item in chosen]


def _moving(item: PlayedEpisode) -> str:
    path, record = _film(item), item.record
    assert path is not None  # only episodes with a video come here
    kind = KINDS[path.suffix.lower()]
    address = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
    label = esc(f"Video of {record.episode}: {'success' if record.success else failure_words(record)}")
    if kind.startswith("video"):
        return f'<video controls muted loop playsinline preload="auto" aria-label="{label}" src="{address}"></video>'
    return f'<img alt="{label}" src="{address}">'


def _figure(item: PlayedEpisode, shown: str) -> str:
    record = item.record
    outcome = badge("success", "good") if record.success else badge(record.outcome, "bad")
    return (
        f'<figure class="film arm-{item.arm.number}">{shown}<figcaption>{outcome} {charts.key(item.arm.number)}{esc(item.arm.label)}'
        f"<br><code>{esc(record.episode)}</code><br>{'' if record.success else esc(failure_words(record))}</figcaption></figure>"
    )


# ------------------------------------------------------------------------------------------------ errors


def errors_section(arms: Sequence[Contestant]) -> str:
    """What kept episodes from being played to their end."""
    rows = []
    for arm in arms:
        for error in errors(arm.records):
            names = "<br>".join(f"<code>{esc(name)}</code>" for name in error.examples)
            cells = [Cell(f"<code>{esc(error.message)}</code>", error.message), Cell(str(error.count), error.count), Cell(names)]
            rows.append(Row((cells[0], *([Cell(esc(arm.label))] if len(arms) > 1 else []), *cells[1:])))
    if not rows:
        return ""
    columns = [Column("Message", kind="long"), *([Column("Policy")] if len(arms) > 1 else [])]
    columns += [Column("Episodes", numeric=True), Column("For example", sortable=False)]
    lead = "These episodes could not be played to their end. They are counted neither as successes nor as failures."
    return section("errors", "Errors", lead, table("errors-table", "Errors by message", columns, rows, "errors"))
