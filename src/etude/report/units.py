"""The parts of a report that say what went wrong: a missed grasp or a missed move (VLMbench's G-G, G-M and SC), and causes."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.unit_metrics import UnitRow, causes, unit_rows
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, esc, section, table

LEAD = (
    "In per cent. G-G: the right thing was taken hold of. G-M: success when the oracle takes hold of it first (the mode grasped). "
    "SC: success of the whole task. What is called seen uses colours, shapes and furniture of the training split."
)


def units_section(arms: Sequence[Contestant]) -> str:
    """One table for each policy that played tasks made of unit tasks; empty where there is none."""
    parts = [_table(arm, rows) for arm, rows in _found(arms)]
    return section("units", "Grasp and move", LEAD, "".join(parts)) if parts else ""


def causes_section(arms: Sequence[Contestant]) -> str:
    """What went wrong in failed episodes, for suites that sort failures; empty where none does."""
    parts = [_causes(arm) for arm in arms]
    lead = "Failed episodes by cause, in the categories of their suites."
    return section("causes", "What went wrong", lead, "".join(parts)) if any(parts) else ""


def unit_data(arms: Sequence[Contestant]) -> list[dict[str, str | int | float | bool | None]]:
    """The same rows for export."""
    return [
        {"policy": arm.label, "by": r.by, "group": r.group, "lists": r.lists, "g_g": r.grasped, "g_m": r.moved, "sc": r.success,
         "episodes": r.episodes}
        for arm, rows in _found(arms)
        for r in rows
    ]  # fmt: skip


def cause_data(arms: Sequence[Contestant]) -> list[dict[str, str | int | float | bool | None]]:
    """How often what went wrong, for export."""
    return [
        {"policy": arm.label, "mode": arm.mode, "cause": cause, "episodes": count}
        for arm in arms
        for cause, count in causes(arm.records).items()
    ]


def _found(arms: Sequence[Contestant]) -> list[tuple[Contestant, list[UnitRow]]]:
    """Every policy once: the arm in which it acted alone, or the one in which the grasp was given, with the rows of both."""
    found = []
    for folder in dict.fromkeys(arm.run.folder for arm in arms):
        modes = {arm.mode: arm for arm in arms if arm.run.folder == folder}
        alone, granted = modes.get("vanilla"), modes.get("grasped")
        rows = unit_rows(alone.records if alone else (), granted.records if granted else ())
        shown = alone or granted
        if rows and shown is not None:
            found.append((shown, rows))
    return found


def _table(arm: Contestant, rows: Sequence[UnitRow]) -> str:
    columns = [Column("By"), Column("Group"), Column("Lists")]
    columns += [Column(name, numeric=True) for name in ("G-G", "G-M", "SC", "Episodes")]
    lines = [
        Row(
            (
                Cell(esc(r.by)),
                Cell(esc(r.group)),
                Cell(esc(r.lists)),
                *(_percentage(v) for v in (r.grasped, r.moved, r.success)),
                Cell(str(r.episodes), r.episodes),
            )
        )
        for r in rows
    ]
    return f'<div class="arm-{arm.number}">{table(f"units-{arm.number}", f"{arm.label}: grasp and move", columns, lines)}</div>'


def _causes(arm: Contestant) -> str:
    counted = causes(arm.records)
    if not counted:
        return ""
    rows = [Row((Cell(esc(cause)), Cell(str(count), count))) for cause, count in counted.items()]
    columns = [Column("What went wrong"), Column("Episodes", numeric=True)]
    return f'<div class="arm-{arm.number}">{table(f"causes-{arm.number}", f"{arm.label}: failures by cause", columns, rows)}</div>'


def _percentage(value: float | None) -> Cell:
    return Cell("", -1.0) if value is None else Cell(f"{100 * value:.1f}", value)
