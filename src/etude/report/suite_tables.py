"""The tables that suites bring, for the page and for exports: a suite computes rows, here they are laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, esc, section, table
from etude.suites.suite import SUITES, Rows, RunsTable, SuiteTable

Data = list[dict[str, str | int | float | bool | None]]


def suite_sections(contestants: Sequence[Contestant]) -> list[tuple[str, str]]:
    """Title and text of a section for each table in which there are rows."""
    found: dict[str, tuple[SuiteTable, list[str]]] = {}
    for shown, one, rows in _computed(contestants):
        text = _laid_out(f"{one.key}-{shown.number}", f"{shown.label}: {one.title.lower()}", rows)
        found.setdefault(one.key, (one, []))[1].append(f'<div class="arm-{shown.number}">{text}</div>')
    parts = [(one.title, section(one.key, one.title, one.lead, "".join(texts))) for one, texts in found.values()]
    over = [
        (one.title, section(one.key, one.title, one.lead, _laid_out(f"{one.key}-runs", one.title, rows)))
        for one, rows in over_runs(contestants)
    ]
    return parts + over


def _laid_out(key: str, caption: str, rows: Rows) -> str:
    columns = [Column(name, numeric=not isinstance(value, str)) for name, value in rows[0].items()]
    return table(key, caption, columns, [Row(tuple(_cell(value) for value in row.values())) for row in rows])


def suite_data(contestants: Sequence[Contestant]) -> Iterator[tuple[str, str, Data]]:
    """Name, caption and rows of each table, for export."""
    found: dict[str, tuple[SuiteTable, Data]] = {}
    for shown, one, rows in _computed(contestants):
        found.setdefault(one.key, (one, []))[1].extend({"policy": shown.label, **row} for row in rows)
    for one, data in found.values():
        yield one.key, one.title, data
    for over, rows in over_runs(contestants):
        yield over.key, over.title, [dict(row) for row in rows]


def causes_section(contestants: Sequence[Contestant]) -> str:
    """What went wrong in failed episodes, for suites that sort failures; empty where none does."""
    lead = "Failed episodes by cause, in the categories of their suites."
    parts = []
    for one in contestants:
        rows = [Row((Cell(esc(str(r["cause"]))), _cell(r["episodes"]))) for r in cause_data([one])]
        if rows:
            columns = [Column("What went wrong"), Column("Episodes", numeric=True)]
            text = table(f"causes-{one.number}", f"{one.label}: failures by cause", columns, rows)
            parts.append(f'<div class="arm-{one.number}">{text}</div>')
    return section("causes", "What went wrong", lead, "".join(parts)) if parts else ""


def cause_data(contestants: Sequence[Contestant]) -> Data:
    """How often what went wrong, the most frequent first, for export."""
    counted = ((one, Counter(r.cause for r in one.records if r.cause)) for one in contestants)
    return [
        {"policy": one.label, "mode": one.mode, "cause": cause, "episodes": count}
        for one, causes in counted
        for cause, count in sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    ]


def over_runs(contestants: Sequence[Contestant]) -> Iterator[tuple[RunsTable, Rows]]:
    """Where there are several runs, each table that suites have over runs, with its rows; runs are titled by their folders."""
    folders = dict.fromkeys(one.run.folder for one in contestants)
    if len(folders) < 2:
        return
    names = Counter(folder.name for folder in folders)
    for suite in dict.fromkeys(name_of(r).suite for one in contestants for r in one.records):
        runs: dict[str, dict[str, list[Record]]] = {}
        for one in contestants:
            folder = one.run.folder
            own = [r for r in one.records if name_of(r).suite == suite]
            runs.setdefault(folder.name if names[folder.name] == 1 else str(folder), {})[one.mode] = own
        for found in SUITES[suite].tables() if suite in SUITES else ():
            if isinstance(found, RunsTable) and (rows := found.rows(runs)):
                yield found, rows


def _computed(contestants: Sequence[Contestant]) -> Iterator[tuple[Contestant, SuiteTable, Rows]]:
    """Every run once, under the name of its first mode, with the rows of each table of each suite that was played and is installed."""
    for folder in dict.fromkeys(one.run.folder for one in contestants):
        modes = [one for one in contestants if one.run.folder == folder]
        for suite in dict.fromkeys(name_of(r).suite for one in modes for r in one.records):
            if suite not in SUITES:
                continue
            for found in SUITES[suite].tables():
                if isinstance(found, RunsTable):
                    continue
                rows = found.rows({one.mode: [r for r in one.records if name_of(r).suite == suite] for one in modes})
                if rows:
                    yield modes[0], found, rows


def _cell(value: str | int | float | None) -> Cell:
    if isinstance(value, str):
        return Cell(esc(value))
    if value is None:
        return Cell("", -1.0)
    return Cell(f"{100 * value:.1f}", value) if isinstance(value, float) else Cell(str(value), value)
