"""The tables that suites bring, for the page and for exports: a suite computes rows, here they are laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from etude.evaluation.tables import name_of
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, esc, section, table
from etude.suites.suite import SUITES, Rows, SuiteTable

Data = list[dict[str, str | int | float | bool | None]]


def suite_sections(contestants: Sequence[Contestant]) -> list[tuple[str, str]]:
    """Title and text of a section for each table in which there are rows."""
    found: dict[str, tuple[SuiteTable, list[str]]] = {}
    for shown, one, rows in _computed(contestants):
        columns = [Column(name, numeric=not isinstance(value, str)) for name, value in rows[0].items()]
        lines = [Row(tuple(_cell(value) for value in row.values())) for row in rows]
        text = table(f"{one.key}-{shown.number}", f"{shown.label}: {one.title.lower()}", columns, lines)
        found.setdefault(one.key, (one, []))[1].append(f'<div class="arm-{shown.number}">{text}</div>')
    return [(one.title, section(one.key, one.title, one.lead, "".join(parts))) for one, parts in found.values()]


def suite_data(contestants: Sequence[Contestant]) -> Iterator[tuple[str, str, Data]]:
    """Name, caption and rows of each table, for export."""
    found: dict[str, tuple[SuiteTable, Data]] = {}
    for shown, one, rows in _computed(contestants):
        found.setdefault(one.key, (one, []))[1].extend({"policy": shown.label, **row} for row in rows)
    for one, data in found.values():
        yield one.key, one.title, data


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


def _computed(contestants: Sequence[Contestant]) -> Iterator[tuple[Contestant, SuiteTable, Rows]]:
    """Every run once, under the name of its first mode, with the rows of each table of each suite that was played and is installed."""
    for folder in dict.fromkeys(one.run.folder for one in contestants):
        modes = [one for one in contestants if one.run.folder == folder]
        for suite in dict.fromkeys(name_of(r).suite for one in modes for r in one.records):
            if suite not in SUITES:
                continue
            for found in SUITES[suite].tables():
                rows = found.rows({one.mode: [r for r in one.records if name_of(r).suite == suite] for one in modes})
                if rows:
                    yield modes[0], found, rows


def _cell(value: str | int | float | None) -> Cell:
    if isinstance(value, str):
        return Cell(esc(value))
    if value is None:
        return Cell("", -1.0)
    return Cell(f"{100 * value:.1f}", value) if isinstance(value, float) else Cell(str(value), value)
