"""The tables and figures of ClevrSkills: success, reward and reward per step by level, and success by task.

A level is played by a policy that was trained on the level before it (zero-shot) or on itself (fine-tuning): which it was is for the user
to say, as the level it was trained on last.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence

from etude.evaluation.matrix import percentage
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of, tally
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, read_published
from etude.suites.suite import SUITES

SEEDS = 20  # of each task (ClevrSkills 5.2)
METRICS = ("Suc.", "AR", "R/S")
# Key steps cannot be told in words (ClevrSkills F).
SHOWN = ("match_pose", "move_without_hitting", "follow_order", "follow_order_restore", "rearrange", "rearrange_restore")
COMPARED = ("novel_adj", "novel_adj_noun")  # told by pictures that compare sizes, for which no words can stand here
WITHOUT_PICTURES = ("trace", "sort", "balance", "sort_stack", "throw_sort")  # told in words anyway

SEEN = {level: PaperCondition(level, "clevrskills", SEEDS, split=("test_seen",), level=(level,)) for level in ("L0", "L1", "L2")}
UNSEEN = PaperCondition("L0-unseen-things", "clevrskills", SEEDS, split=("test",), level=("L0",))
PLAIN = PaperCondition("without-pictures", "clevrskills", SEEDS, task=WITHOUT_PICTURES, split=("test_seen",))

PUBLISHED = read_published(__file__)


def _tasks(level: str) -> tuple[str, ...]:
    return tuple(sorted(task.name for task in SUITES["clevrskills"].tasks.values() if task.level == level))


def _described(level: str) -> PaperCondition:
    tasks = tuple(task for task in _tasks(level) if task not in (*SHOWN, *COMPARED, *WITHOUT_PICTURES))
    return PaperCondition(f"{level}-described", "clevrskills", SEEDS, task=tasks, split=("test_seen",), perturb="descriptors")


def _metrics(conditions: tuple[PaperCondition, ...], level: str, trained: str) -> list[PaperCell]:
    """Success in per cent, mean return, and return for each control step."""

    def here(records: Sequence[Record]) -> list[Record]:
        return [r for r in records if r.level == level]

    def success(records: Sequence[Record]) -> float | None:
        return percentage(here(records))

    def reward(records: Sequence[Record]) -> float | None:
        return tally(here(records)).mean_return

    def per_step(records: Sequence[Record]) -> float | None:
        return tally(here(records)).reward_per_step

    return [PaperCell(conditions, count, trained) for count in (success, reward, per_step)]


def _table(number: str, title: str, columns: Sequence[str], cells: Sequence[PaperCell], note: str = "", missing: str = "") -> PaperTable:
    [(block, published)] = PUBLISHED[number].items()
    headed = tuple(f"{column} {metric}" for column in columns for metric in METRICS)
    return PaperTable(
        number, title, headed, (PaperBlock(block, (PaperRow(tuple(cells)),), published),), digits=2, note=note, missing=missing
    )


def _by_task(number: str, title: str, level: str, trained: str) -> PaperTable:
    """A bar for each task."""

    def success(records: Sequence[Record], task: str) -> float | None:
        return percentage([r for r in records if name_of(r).task == task])

    [(block, published)] = PUBLISHED[number].items()
    tasks = _tasks(level)
    cells = tuple(PaperCell((SEEN[level],), functools.partial(success, task=task), trained) for task in tasks)
    return PaperTable(number, title, tasks, (PaperBlock(block, (PaperRow(cells),), published),), drawn="bars")


def _lengths(number: str, title: str) -> PaperTable:
    def median(records: Sequence[Record], level: str) -> float | None:
        steps = [r.steps for r in records if r.level == level and r.success]
        return float(statistics.median(steps)) if steps else None

    [(block, published)] = PUBLISHED[number].items()
    cells = tuple(PaperCell((one,), functools.partial(median, level=level)) for level, one in SEEN.items())
    return PaperTable(
        number,
        title,
        tuple(SEEN),
        (PaperBlock(block, (PaperRow(cells),), published),),
        drawn="bars",
        digits=0,
        note="control steps of successful episodes of those who demonstrate: --policy oracle",
        missing="its right half, the number of solvers (about 9 on average in L1 and 11 in L2, as the text says): "
        "etude describe clevrskills counts ours",
    )


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures, in the order of the paper."""
    return (
        PaperTable(
            "Figure 1", "The environment", missing="an illustration", command="etude show clevrskills/stack@train#0 --out scene.html"
        ),
        PaperTable("Figure 2", "Compositions of tasks", missing="an illustration; levels are listed", command="etude list clevrskills"),
        PaperTable("Table 1", "Data sets and simulators", missing="a comparison with the work of others, which asks nothing of a policy"),
        _lengths("Figure 3", "Length of episodes by level"),
        PaperTable("Figure 4", "StreamRoboLM", missing="a drawing of a model that is not here"),
        _table(
            "Table 2",
            "L0 tasks",
            ("Seeds:", "Things:"),
            [*_metrics((SEEN["L0"],), "L0", "L0"), *_metrics((UNSEEN,), "L0", "L0")],
            note="Seeds: unseen seeds (split test_seen). Things: unseen objects and textures (split test)",
        ),
        _by_task("Figure 5", "L0 tasks, by task", "L0", "L0"),
        _table(
            "Table 3",
            "Zero-shot and fine-tuned on L1 and L2 tasks",
            ("L1 zero", "L1 tuned", "L2 zero", "L2 tuned"),
            [
                cell
                for level, trained in (("L1", "L0"), ("L1", "L1"), ("L2", "L1"), ("L2", "L2"))
                for cell in _metrics((SEEN[level],), level, trained)
            ],
            note="zero: trained on the level below; tuned: on the level itself",
        ),
        PaperTable("Table 4", "Hyperparameters", missing="of the training of models that are not here"),
        _by_task("Figure 6 left", "L1 tasks, by task", "L1", "L1"),
        _by_task("Figure 6 right", "L2 tasks, by task", "L2", "L2"),
        PaperTable(
            "Figure 7",
            "Prompts in words only",
            missing="an illustration",
            command="etude show clevrskills/pick@train#0+descriptors --out scene.html",
        ),
        _table(
            "Table 5",
            "Prompts in words only",
            ("L0", "L1", "L2"),
            [
                cell
                for level, trained in (("L0", "L0"), ("L1", "L0"), ("L2", "L1"))
                for cell in _metrics((_described(level), PLAIN), level, trained)
            ],
            missing="novel_adj and novel_adj_noun: their pictures compare sizes, for which no words stand",
        ),
        PaperTable(
            "Figure 8",
            "Diversity of actions",
            missing="the drawing; how much of the range of actions is covered at every tenth of an episode is counted instead",
            command="etude describe clevrskills --task pick --episodes 100",
        ),
    )
