"""The real-robot tasks of RoboHiMan as a suite of their own: nothing that is said of HiMan-Bench's tasks is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, rlbench_room
from etude.suites.himan.recipes import real_training
from etude.suites.himan_real.rewording import reword
from etude.suites.suite import Draft, Draw, Suite

if TYPE_CHECKING:
    from etude.envs.simulation import Simulation


def _cause(simulation: Simulation) -> str:
    from etude.suites.himan.causes import cause

    return cause(simulation)


himan_real = Suite(
    "himan_real",
    "HiMan-Bench's real-robot tasks",
    paper="RoboHiMan: A Hierarchical Evaluation Paradigm for Compositional Generalization in Long-Horizon Manipulation (2025), appendix D",
    splits={"train": "training", "test": "test"},
    room=rlbench_room,
    workspace=(RLBENCH_LOWER, RLBENCH_UPPER),
    reach=RLBENCH_REACH,
    control="keypose",
    options=("grasp",),
    plans={"training": real_training},
    reword=reword,
    modes=("rule",),
    views=("front", "wrist"),  # RoboHiMan C
    asked_every={"A": 10, "C": 30},  # HiMan-Bench 3.5, mode 3
    cause=_cause,
)

Register = Callable[[Callable[[Draw], Draft]], Callable[[Draw], Draft]]


# With the budgets of HiMan-Bench 3.5: keyposes, or control steps in other action spaces. The paper has none for its robot.
def atomic(name: str) -> Register:
    """Register an atomic task."""
    return himan_real.task(name, level="A", horizon=15, budget=400)


def compositional(name: str) -> Register:
    """Register a task that is composed of atomic ones."""
    return himan_real.task(name, level="C", horizon=25, budget=1000)
