"""Études as a suite."""

from __future__ import annotations

from functools import partial

from etude.envs.simulation import Simulation
from etude.names import EpisodeName, Stream
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_UPPER, xarm_room
from etude.scene.scene import Scene
from etude.suites.etudes.composing import LEVELS, NOVEL
from etude.suites.etudes.household import CHEST
from etude.suites.etudes.setting import AT_TABLE, SETTINGS
from etude.suites.etudes.synonyms import reworded
from etude.suites.suite import Suite, Witness, Workspace, later

LISTED = 100  # episodes of a fixed list, of each split


def _workspace(scene: Scene) -> Workspace:
    """Of the table with prisms, or of that with the chest."""
    chest = any(one.name == CHEST for one in scene.entities)
    return (RLBENCH_LOWER, RLBENCH_UPPER) if chest else ((-0.4, -0.3), (0.05, 0.3))


def _witness(simulation: Simulation) -> Witness:
    from etude.suites.etudes.witness import EtudeWitness

    return EtudeWitness(simulation)


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
    order=TASKS,
    plans={name: partial(_fixed, name) for name in TASKS},
    reword=_reword,
    asked_every={"low": 10, "medium": 20, "high": 30},
    witness=_witness,
    tables=later("etude.suites.etudes.tables", "TABLES"),
    paper="a study of etude's own",
    paper_tables=later("etude.suites.etudes.paper", "tables"),
    paper_models=later("etude.suites.etudes.models", "MODELS"),
)
