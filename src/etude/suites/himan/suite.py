"""HiMan-Bench as a value."""

from __future__ import annotations

import functools
from collections.abc import Callable

from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, rlbench_room
from etude.suites.himan.recipes import ATOMIC, COMPOSITIONAL, LEVELS, MISSING, evaluation, training
from etude.suites.himan.stage import HimanSceneBuilder
from etude.suites.suite import Draft, Suite, later

himan = Suite(
    "himan",
    "HiMan-Bench",
    paper="RoboHiMan: A Hierarchical Evaluation Paradigm for Compositional Generalization in Long-Horizon Manipulation (2025)",
    splits={"train": "training", "test": "test"},
    builder=HimanSceneBuilder,
    room=rlbench_room,
    workspace=(RLBENCH_LOWER, RLBENCH_UPPER),
    reach=RLBENCH_REACH,
    control="keypose",
    options=("grasp",),
    order=tuple(MISSING),
    plans={
        "atomic": functools.partial(evaluation, ATOMIC),
        "compositional": functools.partial(evaluation, COMPOSITIONAL),
        **{level: functools.partial(training, level) for level in LEVELS},
    },
    asked_every={"A": 10, "C": 30},  # HiMan-Bench 3.5, mode 3
    tables=later("etude.suites.himan.tables", "TABLES"),
    benches={"perturb": later("etude.suites.himan.bench", "resets")},
)

Register = Callable[[Callable[[HimanSceneBuilder], Draft]], Callable[[HimanSceneBuilder], Draft]]


# With the budgets of HiMan-Bench 3.5: keyposes, or control steps in other action spaces.
def atomic(name: str) -> Register:
    """Register an atomic task."""
    return himan.task(name, level="A", horizon=15, budget=400, without=MISSING[name])


def compositional(name: str) -> Register:
    """Register a task that is composed of atomic ones."""
    return himan.task(name, level="C", horizon=25, budget=1000, without=MISSING[name])
