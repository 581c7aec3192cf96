"""Success as the papers print it: a row for each level, a column for each task, the average last.

Three readings of the same episodes: plain success; *no mistakes*, success with no more actions than needed (CoGeLoT 4.9, counted per
episode); and chance as CoGeLoT's appendix D.1 has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from etude.evaluation.record import Record
from etude.evaluation.tables import Tally, level_order, name_of, perturbation_of, tally
from etude.suites.suite import SUITES

CHANCE = 1 / (50 * 12 + 100 * 2)  # of one action being right by luck (CoGeLoT D.1: bins added up, not multiplied; quoted, not defended)
READINGS = ("success", "no mistakes", "chance")


@dataclass(frozen=True)
class MatrixRow:
    """Percentages by task for one level under one condition; None where nothing was played. ``average`` is the mean over tasks."""

    suite: str
    condition: str
    level: str
    reading: str
    cells: tuple[float | None, ...]
    average: float


@dataclass(frozen=True)
class Matrix:
    """The rows of one suite. ``columns`` are its tasks in the suite's order: those that were played."""

    suite: str
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def matrices(records: Sequence[Record]) -> list[Matrix]:
    """One matrix for each suite in which a task was played at more than one level: elsewhere it would be mostly empty."""
    played = [r for r in records if r.outcome != "error"]
    found = []
    for suite in dict.fromkeys(name_of(r).suite for r in played):
        members = [r for r in played if name_of(r).suite == suite]
        if len({(name_of(r).task, level_of(r)) for r in members}) > len({name_of(r).task for r in members}):
            found.append(_matrix(suite, members))
    return found


@dataclass(frozen=True)
class LevelConditions:
    """Success at each level (columns) under each condition (rows) of one suite; None where nothing was played."""

    suite: str
    levels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Tally | None, ...]], ...]


def level_conditions(records: Sequence[Record]) -> list[LevelConditions]:
    """One table for each suite that was played at several levels and under several conditions."""
    played = [r for r in records if r.outcome != "error"]
    found = []
    for suite in dict.fromkeys(name_of(r).suite for r in played):
        cells: dict[tuple[str, str], list[Record]] = {}
        for r in played:
            if name_of(r).suite == suite:
                cells.setdefault((condition_of(r), level_of(r)), []).append(r)
        levels = sorted({level for _, level in cells}, key=level_order)
        conditions = list(dict.fromkeys(condition for condition, _ in cells))
        if len(levels) > 1 and len(conditions) > 1:
            rows = [(c, tuple(tally(cells[c, level]) if (c, level) in cells else None for level in levels)) for c in conditions]
            found.append(LevelConditions(suite, tuple(levels), tuple(rows)))
    return found


def _matrix(suite: str, records: Sequence[Record]) -> Matrix:
    there = {name_of(r).task for r in records}
    order = SUITES[suite].tasks if suite in SUITES else dict.fromkeys(name_of(r).task for r in records)  # of a plug-in that is not here
    columns = tuple(task for task in order if task in there)
    rows = []
    for condition in dict.fromkeys(map(condition_of, records)):
        for level in sorted({level_of(r) for r in records if condition_of(r) == condition}, key=level_order):
            here = [r for r in records if (condition_of(r), level_of(r)) == (condition, level)]
            cells = {task: [r for r in here if name_of(r).task == task] for task in columns}
            for reading in READINGS:
                if reading == "success" or all(r.least for r in here):
                    values = tuple(percentage(cells[task], reading) for task in columns)
                    seen = [v for v in values if v is not None]
                    rows.append(MatrixRow(suite, condition, level, reading, values, sum(seen) / len(seen)))
    return Matrix(suite, columns, tuple(rows))


def percentage(records: Sequence[Record], reading: str = "success") -> float | None:
    """The mean of a reading over records, in per cent; None without records."""
    return 100 * sum(score(record, reading) for record in records) / len(records) if records else None


def score(record: Record, reading: str = "success") -> float:
    """A reading of one episode, from 0 to 1."""
    return _READ[reading](record)


def mean_over_tasks(records: Sequence[Record], reading: str = "success") -> float | None:
    """The mean of the percentages of tasks: each counts the same, however many of its episodes were played."""
    tasks: dict[str, list[Record]] = {}
    for record in records:
        tasks.setdefault(name_of(record).task, []).append(record)
    values = [value for members in tasks.values() if (value := percentage(members, reading)) is not None]
    return sum(values) / len(values) if values else None


_READ: dict[str, Callable[[Record], float]] = {
    "success": lambda r: float(r.success),
    "no mistakes": lambda r: float(r.success and r.steps <= r.least),
    "chance": lambda r: CHANCE**r.least,
}


def level_of(record: Record) -> str:
    """Its level; its split where the suite has no levels."""
    return record.level or name_of(record).split


def condition_of(record: Record) -> str:
    """What else was varied: mode, difficulty, other options, perturbations."""
    name = name_of(record)
    options = [value if key == "difficulty" else f"{key}={value}" for key, value in name.options]
    mode = [] if record.mode == "vanilla" else [record.mode]
    return ", ".join([*mode, *options, *filter(None, [perturbation_of(record)])]) or "default"
