"""The part of a report that is laid out like the papers' tables: levels down, tasks across."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.matrix import Matrix, matrices
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, esc, section, table

LEAD = (
    "Success in per cent, the average over tasks last. Where the smallest number of actions is known, a second row counts only episodes "
    "without a mistake: success with no more actions than needed. Chance is the paper's estimate for that many right actions in a row."
)


def levels_section(arms: Sequence[Contestant]) -> str:
    """One table for each policy and suite in which a task was played at several levels; empty where there is none."""
    parts = [_table(arm, matrix, k) for arm in arms for k, matrix in enumerate(matrices(arm.records))]
    return section("levels", "By level and task", LEAD, "".join(parts)) if parts else ""


def _table(arm: Contestant, matrix: Matrix, number: int) -> str:
    columns = [Column("Level"), Column("Condition"), Column("Counted")]
    columns += [Column(task, numeric=True) for task in matrix.columns] + [Column("average", numeric=True)]
    rows = []
    for row in matrix.rows:
        cells = [Cell(esc(row.level)), Cell(esc(row.condition)), Cell(esc(row.reading))]
        cells += [_cell(value, row.reading) for value in (*row.cells, row.average)]
        rows.append(Row(tuple(cells)))
    caption = f"{arm.label} on {matrix.suite}: success in % by level and task"
    return f'<div class="arm-{arm.number}">{table(f"levels-{arm.number}-{number}", caption, columns, rows)}</div>'


def _cell(value: float | None, reading: str) -> Cell:
    if value is None:
        return Cell("", -1.0)
    return Cell(f"{value:.2g}" if reading == "chance" else f"{value:.1f}", value)
