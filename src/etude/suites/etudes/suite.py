"""Études as a suite."""

from __future__ import annotations

from functools import partial

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.names import EpisodeName, Stream
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, xarm_room
from etude.scene.scene import Scene
from etude.suites.etudes.composing import LEVELS, NOVEL
from etude.suites.etudes.household import CHEST
from etude.suites.etudes.setting import AT_CHEST, AT_TABLE, SETTINGS
from etude.suites.etudes.synonyms import reworded
from etude.suites.suite import Reach, Suite, Witness, Workspace, later

LISTED = 100  # episodes of a fixed list, of each split
HIGH = 1.0  # m above the table with prisms, to which a hand may be sent
ASKED_EVERY = {"low": 10, "medium": 20, "high": 30}  # control steps


def _workspace(scene: Scene) -> Workspace:
    """Of the table with prisms, or of that with the chest."""
    return (RLBENCH_LOWER, RLBENCH_UPPER) if _has_chest(scene) else ((-0.4, -0.3), (0.05, 0.3))


def _reach(scene: Scene) -> Reach:
    """In the room of the chest as in RLBench's; above the table with prisms as far up as an arm gets."""
    (left, near), (right, far) = _workspace(scene)
    return RLBENCH_REACH if _has_chest(scene) else ((left, near, 0.0), (right, far, HIGH))


def _has_chest(scene: Scene) -> bool:
    return any(one.name == CHEST for one in scene.entities)


def _witness(simulation: Simulation) -> Witness:
    from etude.suites.etudes.witness import EtudeWitness

    return EtudeWitness(simulation)


def _open_branches(episode: Episode) -> list[tuple[bool, bool]]:
    from etude.suites.etudes.roads import open_branches

    return open_branches(episode)


def _fixed(task: str) -> tuple[str, ...]:
    """The fixed list of a task: as in training, and with each kind of novelty."""
    return tuple(f"etudes/{task}@{split}#{seed}" for split in ("test", *NOVEL) for seed in range(LISTED))


def task_name(setting: str, level: str) -> str:
    """The task of a level in a setting: those at the table have the name of the level alone."""
    return level if setting == AT_TABLE.name else f"{setting}-{level}"


TASKS = tuple(task_name(setting, level) for setting in SETTINGS for level in LEVELS)


def _reword(text: str, name: EpisodeName, stream: Stream) -> str | None:
    return reworded(text)


etudes = Suite(
    "etudes",
    "Études",
    splits={"train": "training", "val": "validation", "test": "test", **dict.fromkeys(NOVEL, "test")},
    alike={"val": "train", "test": "train"},
    room=xarm_room,
    workspace=_workspace,
    reach=_reach,
    keyposed=tuple(task_name(AT_CHEST.name, level) for level in LEVELS),
    views=("front", "wrist"),  # at the chest
    order=TASKS,
    plans={name: partial(_fixed, name) for name in TASKS},
    reword=_reword,
    asked_every={task_name(setting, level): steps for setting in SETTINGS for level, steps in ASKED_EVERY.items()},
    witness=_witness,
    open_branches=_open_branches,
    tables=later("etude.suites.etudes.tables", "TABLES"),
    paper="a study of etude's own",
    paper_tables=later("etude.suites.etudes.paper", "tables"),
    paper_models=later("etude.suites.etudes.models", "MODELS"),
)
