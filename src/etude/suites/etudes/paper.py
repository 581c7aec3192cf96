"""What learned policies make of études, as tables: by level, by kind of novelty, alone or told by a planner.

No paper has these tables; they are played and laid out as those of papers are. Who is trained at a table plays there, and who is trained at
a chest there.
"""

from __future__ import annotations

from collections.abc import Sequence

from etude.arithmetic import total
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.etudes.composing import LEVELS, NOVEL
from etude.suites.etudes.models import RECIPES
from etude.suites.etudes.setting import SETTINGS
from etude.suites.etudes.suite import task_name
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, Scores

EPISODES = 50  # of each level and split
SPLITS = {"as in training": "test", **{f"new {split}": split for split in NOVEL}}
MODES = {"alone": "vanilla", "told by one who knows": "rule:privileged", "told by a planner": "coupled"}


def _rate(records: Sequence[Record]) -> float | None:
    return 100 * total(r.success for r in records) / len(records) if records else None


def _progress(records: Sequence[Record]) -> float | None:
    return 100 * total(r.progress for r in records) / len(records) if records else None


def _scores(records: Sequence[Record]) -> Scores:
    return {(name.task, name.split, name.seed): float(r.success) for r in records for name in [name_of(r)]}


def _condition(task: str, split: str, mode: str) -> PaperCondition:
    key = f"{task}-{split}-{mode.partition(':')[0]}"
    return PaperCondition(key, "etudes", EPISODES, task=(task,), split=(split,), mode=mode)


def _block(setting: str, level: str, mode: str) -> PaperBlock:
    conditions = [_condition(task_name(setting, level), split, mode) for split in SPLITS.values()]
    solved = PaperRow(tuple(PaperCell((one,), _rate, setting, _scores) for one in conditions), "solved")
    reached = PaperRow(tuple(PaperCell((one,), _progress, setting) for one in conditions), "progress")
    return PaperBlock(f"{SETTINGS[setting].words}: {level}", (solved, reached))


def _table(number: str, title: str, mode: str, note: str) -> PaperTable:
    blocks = tuple(_block(setting, level, mode) for setting in RECIPES for level in LEVELS)
    return PaperTable(number, title, tuple(SPLITS), blocks, note=note)


def tables() -> tuple[PaperTable, ...]:
    """One for each way of being told."""
    notes = (
        "told the whole instruction, and nothing else",
        "the sub-task that is due is told in every step, by one who knows the state: what is left is perception and control",
        "the sub-task is named by a planner that sees",
    )
    ways = zip(MODES.items(), notes, strict=True)
    return tuple(_table(f"Study {k}", f"Études, {how}", mode, note) for k, ((how, mode), note) in enumerate(ways, 1))
