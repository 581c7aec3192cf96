"""The tables and figures of ClevrSkills: success, reward and reward per step by level, and success by task.

A level is played by a policy that was trained on the level before it (zero-shot) or on itself (fine-tuning): which it was is for the user
to say, as the level it was trained on last.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence
from dataclasses import replace

from etude.evaluation.matrix import percentage
from etude.evaluation.record import Record, Subgoal
from etude.evaluation.tables import name_of, tally
from etude.suites.paper import Count, PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, Scores, read_published
from etude.suites.suite import SUITES

SEEDS = 20  # of each task (ClevrSkills 5.2)
LEVELS = ("L0", "L1", "L2")
IN_WORDS, DAGGER = "in words", "with DAgger"  # after a level: how somebody was trained on it
METRICS = ("Suc.", "AR", "R/S")
# Key steps cannot be told in words (ClevrSkills F).
SHOWN = ("match_pose", "move_without_hitting", "follow_order", "follow_order_restore", "rearrange", "rearrange_restore")
COMPARED = ("novel_adj", "novel_adj_noun")  # told by pictures that compare sizes, for which no words can stand here
WITHOUT_PICTURES = ("trace", "sort", "balance", "sort_stack", "throw_sort")  # told in words anyway

SEEN = {level: PaperCondition(level, "clevrskills", SEEDS, split=("test_seen",), level=(level,)) for level in LEVELS}
UNSEEN = PaperCondition("L0-unseen-things", "clevrskills", SEEDS, split=("test",), level=("L0",))
PLAIN = PaperCondition("without-pictures", "clevrskills", SEEDS, task=WITHOUT_PICTURES, split=("test_seen",))

PUBLISHED = read_published(__file__)
COLUMNS = {"Table 2": ("Seeds:", "Things:"), "Table 3": ("L1 zero", "L1 tuned", "L2 zero", "L2 tuned"), "Table 5": LEVELS}
PERTURBED = ("light_color", "table_texture", "camera_pose", "distractors", "paraphrase")
FAILING = {  # who plays what, of whom it is asked where failures begin
    "L0": ("L0", "L0"), "L1 zero-shot": ("L1", "L0"), "L1 fine-tuned": ("L1", "L1"),
    "L2 zero-shot": ("L2", "L1"), "L2 fine-tuned": ("L2", "L2"),
}  # fmt: skip
LEAVES = (  # of the goals of all tasks, in the order of their levels
    "TipAtPose", "Untouched", "Picked", "OnTop", "PushedTowards", "RotatedBy", "Hit", "Touched", "Traced", "Inside", "AtPosition",
    "Balanced", "Stacked", "StructureToppled", "PushedTo",
)  # fmt: skip
DEPTHS = ("0", "1", "2", "3 and more")


def _tasks(level: str) -> tuple[str, ...]:
    return tuple(sorted(task.name for task in SUITES["clevrskills"].tasks.values() if task.level == level))


@functools.cache
def _described(level: str) -> PaperCondition:
    tasks = tuple(task for task in _tasks(level) if task not in (*SHOWN, *COMPARED, *WITHOUT_PICTURES))
    return PaperCondition(f"{level}-described", "clevrskills", SEEDS, task=tasks, split=("test_seen",), perturb="descriptors")


def _under(perturbation: str, condition: PaperCondition) -> PaperCondition:
    """The same episodes, perturbed; with an empty perturbation as they are."""
    if not perturbation:
        return condition
    perturbed = "+".join(filter(None, (condition.perturb, perturbation)))
    return replace(condition, key=f"{condition.key}-{perturbation}", perturb=perturbed)


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

    def scores(records: Sequence[Record]) -> Scores:
        names = [(record, name_of(record)) for record in here(records)]
        return {(name.task, level, name.seed): float(record.success) for record, name in names}

    counts = ((success, scores), (reward, None), (per_step, None))
    return [PaperCell(conditions, count, trained, read) for count, read in counts]


def _table_2(perturbation: str = "") -> list[PaperCell]:
    return [cell for one in (SEEN["L0"], UNSEEN) for cell in _metrics((_under(perturbation, one),), "L0", "L0")]


def _table_3(perturbation: str = "") -> list[PaperCell]:
    parts = (("L1", "L0"), ("L1", "L1"), ("L2", "L1"), ("L2", "L2"))
    return [cell for level, trained in parts for cell in _metrics((_under(perturbation, SEEN[level]),), level, trained)]


def _table_5(perturbation: str = "") -> list[PaperCell]:
    parts = (("L0", "L0"), ("L1", "L0"), ("L2", "L1"))
    conditions = {level: tuple(_under(perturbation, one) for one in (_described(level), PLAIN)) for level in LEVELS}
    return [cell for level, trained in parts for cell in _metrics(conditions[level], level, f"{trained} {IN_WORDS}")]


def _headed(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{column} {metric}" for column in columns for metric in METRICS)


def _table(number: str, title: str, columns: Sequence[str], cells: Sequence[PaperCell], note: str = "", missing: str = "") -> PaperTable:
    [(block, published)] = PUBLISHED[number].items()
    headed = _headed(columns)
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

    lengths, solvers = PUBLISHED[number].items()
    cells = tuple(PaperCell((one,), functools.partial(median, level=level)) for level, one in SEEN.items())
    # What is in a record does not tell the steps of who played; so nobody has a line of its own there.
    blocks = (
        PaperBlock(lengths[0], (PaperRow(cells),), lengths[1]),
        PaperBlock(solvers[0], (PaperRow((None,) * len(SEEN)),), solvers[1], models_only=True),
    )
    return PaperTable(
        number,
        title,
        tuple(SEEN),
        blocks,
        drawn="bars",
        digits=0,
        note="control steps of successful episodes of those who demonstrate: --policy oracle. Solvers: about so many, as the text has it"
        " (5.3)",
        missing="our solvers, which no record has: etude describe clevrskills --split test_seen --episodes 20 --out FILE draws them",
    )


def _failure(record: Record) -> Subgoal | None:
    """Where an episode failed first on its goal tree."""
    found = None if record.success else record.first_failure
    return next((one for one in record.subgoals if one.path == found), None)


def _of_kind(records: Sequence[Record], kind: str) -> float | None:
    failed = [one.kind for record in records if (one := _failure(record)) is not None]
    return 100 * failed.count(kind) / len(failed) if failed else None


def _after(records: Sequence[Record], depth: int) -> float | None:
    failed = [record for record in records if _failure(record) is not None]
    reached = [sum(_leaf(one, record) and one.reached is not None for one in record.subgoals) for record in failed]
    return 100 * [min(one, len(DEPTHS) - 1) for one in reached].count(depth) / len(failed) if failed else None


def _leaf(one: Subgoal, record: Record) -> bool:
    return not any(other.path.startswith(f"{one.path}.") for other in record.subgoals)


def _failures(number: str, title: str, columns: Sequence[str], counts: Sequence[Count], note: str) -> PaperTable:
    """A block for each phase of the protocol."""
    blocks = tuple(
        PaperBlock(phase, (PaperRow(tuple(PaperCell((SEEN[level],), count, trained) for count in counts)),), models_only=True)
        for phase, (level, trained) in FAILING.items()
    )
    return PaperTable(number, title, tuple(columns), blocks, note=f"not in the paper. Per cent of failed episodes{note}")


def _studies() -> tuple[PaperTable, ...]:
    """What the paper could not show: what it helps to learn from one's own mistakes, what perturbations cost, and where failures begin."""
    made = {"Table 2": _table_2, "Table 3": _table_3, "Table 5": _table_5}
    perturbed = [
        PaperTable(
            f"Study {k}",
            f"{number} under five perturbations",
            _headed(COLUMNS[number]),
            tuple(
                PaperBlock(one or "none", (PaperRow(tuple(cells(one))),), against="none" if one else "", models_only=True)
                for one in ("", *PERTURBED)
            ),
            digits=2,
            note="not in the paper; on the same seeds",
        )
        for k, (number, cells) in enumerate(made.items(), 2)
    ]
    played = {"L0": (SEEN["L0"], "L0"), "L0, unseen things": (UNSEEN, "L0"), "L1": (SEEN["L1"], "L1")}
    ways = {"of the oracle's episodes": "", "half of it of its own": DAGGER}
    dagger = tuple(
        PaperBlock(
            words,
            (PaperRow(tuple(_metrics((one,), level, f"{level} {way}".strip())[0] for one, level in played.values())),),
            against="" if not way else next(iter(ways)),
            models_only=True,
        )
        for words, way in ways.items()
    )
    return (
        PaperTable("Study 1", "What is learned from", tuple(played), dagger, note="not in the paper. Success in per cent"),
        *perturbed,
        _failures(
            "Study 5",
            "Where on the goal tree episodes fail first",
            LEAVES,
            [functools.partial(_of_kind, kind=kind) for kind in LEAVES],
            " whose first goal that is violated, or not reached, is of this kind",
        ),
        _failures(
            "Study 6",
            "How far episodes come that fail",
            DEPTHS,
            [functools.partial(_after, depth=depth) for depth in range(len(DEPTHS))],
            " in which so many leaves of the goal tree were reached at some time",
        ),
    )


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures, in the order of the paper."""
    return (
        PaperTable(
            "Figure 1", "The environment", missing="an illustration", command="etude show clevrskills/stack@train#0 --out scene.html"
        ),
        PaperTable("Figure 2", "Compositions of tasks", missing="an illustration; levels are listed", command="etude list clevrskills"),
        PaperTable("Table 1", "Data sets and simulators", missing="a comparison with the work of others, which asks nothing of a policy"),
        _lengths("Figure 3", "Length of episodes and number of solvers by level"),
        PaperTable("Figure 4", "StreamRoboLM", missing="a drawing of a model; etude.learn.models.stream is of its kind"),
        _table(
            "Table 2",
            "L0 tasks",
            COLUMNS["Table 2"],
            _table_2(),
            note="Seeds: unseen seeds (split test_seen). Things: unseen objects and textures (split test)",
        ),
        _by_task("Figure 5", "L0 tasks, by task", "L0", "L0"),
        _table(
            "Table 3",
            "Zero-shot and fine-tuned on L1 and L2 tasks",
            COLUMNS["Table 3"],
            _table_3(),
            note="zero: trained on the level below; tuned: on the level itself",
        ),
        PaperTable(
            "Table 4",
            "Hyperparameters",
            missing="those of pretrained models; ours are listed",
            command="etude paper clevrskills --models DIR",
        ),
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
            COLUMNS["Table 5"],
            _table_5(),
            note='by policies that were trained in words too: --policy "L0 in words=…"',
            missing="novel_adj and novel_adj_noun: their pictures compare sizes, for which no words stand",
        ),
        PaperTable(
            "Figure 8",
            "Diversity of actions",
            missing="its episodes; ours are drawn, and how much of its range each number covers is counted",
            command="etude describe clevrskills --task pick --task follow_order --task throw_sort --episodes 100 --out FILE",
        ),
        *_studies(),
    )
