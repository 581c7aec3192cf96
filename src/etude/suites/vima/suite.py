"""VIMA-Bench as a value."""

from __future__ import annotations

from etude.bench.result import Result
from etude.scene.rooms import UR5_LOWER, UR5_UPPER, ur5_room
from etude.suites.suite import SUITES, Conceded, Suite, later
from etude.suites.vima.rewording import reword

LEVELS = ("L1", "L2", "L3", "L4")
SPLITS = ("train", "val", *LEVELS[:3])  # of the tasks that are trained on
ORDER = (  # T1 to T17, as in every table
    "visual_manipulation", "scene_understanding", "rotate", "rearrange", "rearrange_then_restore", "novel_adj", "novel_noun",
    "novel_adj_and_noun", "twist", "follow_motion", "follow_order", "sweep_without_exceeding", "sweep_without_touching", "same_texture",
    "same_shape", "manipulate_old_neighbor", "pick_in_order_then_restore",
)  # fmt: skip
SEEDS = 200  # for each task and level (CoGeLoT 4.8)


def _two_hundred() -> tuple[str, ...]:
    places = [(task.name, level) for level in LEVELS for task in SUITES["vima"].tasks.values() if level in task.splits]
    return tuple(f"vima/{task}@{level}#{seed}" for task, level in places for seed in range(SEEDS))


def _bench() -> list[Result]:
    from etude.suites.vima.bench import episodes

    return episodes()


vima = Suite(
    "vima",
    "VIMA-Bench",
    paper="VIMA: General Robot Manipulation with Multimodal Prompts (2023), with the evaluation framework CoGeLoT (2024)",
    splits={"train": "training", "val": "validation", **dict.fromkeys(LEVELS, "test")},
    alike={"val": "train"},
    novel={"L2": "combination"},
    exceptions=(
        Conceded("follow_order", "deaf", "VIMA, appendix B, task 11: what is stacked is of one shape and in a row, the rest is not"),
        Conceded("same_texture", "deaf", "CoGeLoT, table E.1, T14: all that look like the container go into it, whatever is said"),
        Conceded("same_shape", "deaf", "CoGeLoT, table E.1, T15: all that have the container's outline go into it, whatever is said"),
    ),
    room=ur5_room,
    workspace=(UR5_LOWER, UR5_UPPER),
    size=(256, 128),  # as its cameras are
    horizon=10,  # actions (CoGeLoT 4.8)
    control="pick_place",
    options=("difficulty", "failure", "textures", "arm"),
    order=ORDER,
    plans={str(SEEDS): _two_hundred},
    reword=reword,
    paper_tables=later("etude.suites.vima.paper", "tables"),
    paper_models=later("etude.suites.vima.models", "MODELS"),
    paper_claims=later("etude.suites.vima.conclusions", "CLAIMS"),
    tables=later("etude.suites.vima.tables", "TABLES"),
    benches={"vima": _bench},
)
