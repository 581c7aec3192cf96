"""The section of an evaluation page that shows what was taken for what, and its rows for exports."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.confusion import Confusion, confusions
from etude.evaluation.tables import plural
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, breakable, esc, section, table

SHOWN = 15
"""Rows for each policy; exports have all of them."""
Data = list[dict[str, str | int | float | bool | None]]


def confusion_section(arms: Sequence[Contestant]) -> str:
    """What planners said instead of what was right, and what was done instead of what was asked; empty where neither is known."""
    body = ""
    for arm in arms:
        found = confusions(arm.plain)
        parts = (_table(arm, [row for row in found if row.planner is planner]) for planner in (True, False))
        if text := "".join(parts):
            body += f'<div class="arm-{arm.number}">{text}</div>'
    lead = (
        "Errors by frequency. For a planner: the sub-task it gave instead of the right one. For a policy by itself: what happened instead"
        " of the sub-goal that failed first. Colours, shapes and numbers of objects are left out."
    )
    return section("confusion", "What was taken for what", lead, body) if body else ""


def _table(arm: Contestant, found: Sequence[Confusion]) -> str:
    if not found:
        return ""
    planner, several = found[0].planner, len({(row.suite, row.task) for row in found}) > 1
    asked, instead = ("Right", "Said instead") if planner else ("Asked for", "What became of it")
    columns = [Column("Suite" if planner else "Task")] if several else []
    columns += [Column(asked, kind="long"), Column(instead, kind="long"), Column("Times", numeric=True), Column("Of", numeric=True)]
    rows = []
    for row in found[:SHOWN]:
        cells = [Cell(breakable(row.task or row.suite), row.task or row.suite)] if several else []
        cells += [Cell(esc(row.asked)), Cell(esc(row.instead)), Cell(f"{row.times:,}", row.times), Cell(f"{row.of:,}", row.of)]
        rows.append(Row(tuple(cells)))
    what = "said instead of what was right" if planner else "done instead of what was asked"
    more = f"<p>{plural(len(found) - SHOWN, 'row')} more in the exported tables.</p>" if len(found) > SHOWN else ""
    return table(f"confusion-{arm.number}-{'said' if planner else 'done'}", f"{arm.label}: {what}", columns, rows) + more


def confusion_data(arm: Contestant, planner: bool) -> Data:
    """All rows of one policy, for export."""
    return [
        {
            "suite": row.suite, **({} if planner else {"task": row.task}), "mode": arm.mode, "asked": row.asked, "instead": row.instead,
            "times": row.times, "of": row.of,
        }
        for row in confusions(arm.plain)
        if row.planner is planner
    ]  # fmt: skip
