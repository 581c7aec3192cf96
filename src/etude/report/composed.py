"""The part of a report about compositions: HiMan-Bench's A, AP, C and CP, factors, and what a planner that must see costs."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.composed import ComposedRow, PlannerRow, composed_rows, drop, planner_rows
from etude.evaluation.inference import wilson
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, esc, section, table

LEAD = (
    "Success in per cent on atomic (A) and compositional tasks (C), plain and under one factor at a time (AP, CP); compositions that are "
    "in the training data and those that are not; and factor by factor. Episodes with all factors at once are counted under factors only."
)


def composed_section(arms: Sequence[Contestant]) -> str:
    """One table for each policy and mode; empty where HiMan-Bench was not played."""
    found = [(arm, composed_rows(arm.records)) for arm in arms]
    parts = [_table(arm, rows) + _answers(arm, planner_rows(arm.records)) for arm, rows in found if rows]
    return section("composed", "Compositions and factors", LEAD, "".join(parts) + _drops(found)) if parts else ""


def composed_data(arm: Contestant) -> list[dict[str, str | int | float | bool | None]]:
    """The same rows for export."""
    return [
        {"table": r.table, "group": r.group, "successes": r.successes, "episodes": r.episodes, "success": round(r.rate, 4)}
        for r in composed_rows(arm.records)
    ]


def planner_data(arm: Contestant) -> list[dict[str, str | int | float | bool | None]]:
    """How a planner answered about frames, for export."""
    return [
        {
            "group": r.group,
            "questions": r.questions,
            "exact": round(r.exact / r.questions, 4),
            "normalised": round(r.normalised / r.questions, 4),
        }
        for r in planner_rows(arm.records)
    ]


def _answers(arm: Contestant, rows: Sequence[PlannerRow]) -> str:
    """How often a planner named the stage of a frame: exactly, or once case, spaces and punctuation are set aside."""
    if not rows:
        return ""
    columns = [Column("Set"), *(Column(name, numeric=True) for name in ("Exact", "Normalised", "Questions"))]
    lines = []
    for r in rows:
        shares = [count / r.questions for count in (r.exact, r.normalised)]
        lines.append(Row((Cell(esc(r.group)), *(Cell(f"{100 * s:.1f}", s) for s in shares), Cell(str(r.questions), r.questions))))
    caption = f"{arm.label}: sub-tasks named for frames of demonstrations, per cent right"
    return f'<div class="arm-{arm.number}">{table(f"answers-{arm.number}", caption, columns, lines)}</div>'


def _table(arm: Contestant, rows: Sequence[ComposedRow]) -> str:
    columns = [Column("Table"), Column("Group"), Column("Success", numeric=True), Column("95 %"), Column("Episodes", numeric=True)]
    lines = []
    for r in rows:
        low, high = wilson(r.successes, r.episodes)
        cells = (
            Cell(esc(r.table)),
            Cell(esc(r.group)),
            Cell(f"{100 * r.rate:.1f}", r.rate),
            Cell(f"{100 * low:.0f}–{100 * high:.0f}"),
            Cell(str(r.episodes), r.episodes),
        )
        lines.append(Row(cells))
    caption = f"{arm.label}: compositions and factors"
    return f'<div class="arm-{arm.number}">{table(f"composed-{arm.number}", caption, columns, lines)}</div>'


def _drops(found: Sequence[tuple[Contestant, list[ComposedRow]]]) -> str:
    """For runs with both modes: how much is lost from the rule-based planner to the coupled one."""
    said = []
    for folder in dict.fromkeys(arm.run.folder for arm, _ in found):
        modes = {arm.mode: rows for arm, rows in found if arm.run.folder == folder}
        if "rule" in modes and "coupled" in modes:
            label = next(arm.label for arm, _ in found if arm.run.folder == folder and arm.mode == "coupled")
            lost = ", ".join(f"{group} {100 * value:+.1f}" for group, value in drop(modes["rule"], modes["coupled"]).items())
            said.append(f"<p>{esc(label)}: points lost from the rule-based planner to the coupled one: {esc(lost)}</p>")
    return "".join(said)
