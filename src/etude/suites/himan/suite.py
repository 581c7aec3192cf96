"""HiMan-Bench as a value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from etude.bench.result import Result
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, rlbench_room
from etude.suites.himan.recipes import ATOMIC, COMPOSITIONAL, LEVELS, MISSING, evaluation, real_evaluation, training
from etude.suites.himan.rewording import reword
from etude.suites.suite import Draft, Draw, RunsTable, Suite, SuiteTable, later

if TYPE_CHECKING:
    from etude.envs.simulation import Simulation


def _tables() -> Sequence[SuiteTable | RunsTable]:
    from etude.suites.himan.tables import TABLES

    return TABLES


def _cause(simulation: Simulation) -> str:
    from etude.suites.himan.causes import cause

    return cause(simulation)


def _bench() -> list[Result]:
    from etude.suites.himan.bench import resets

    return resets()


himan = Suite(
    "himan",
    "HiMan-Bench",
    paper="RoboHiMan: A Hierarchical Evaluation Paradigm for Compositional Generalization in Long-Horizon Manipulation (2025)",
    splits={"train": "training", "test": "test"},
    room=rlbench_room,
    workspace=(RLBENCH_LOWER, RLBENCH_UPPER),
    reach=RLBENCH_REACH,
    control="keypose",
    options=("grasp",),
    order=tuple(MISSING),
    plans={
        "atomic": functools.partial(evaluation, ATOMIC),
        "compositional": functools.partial(evaluation, COMPOSITIONAL),
        "atomic-fifth": functools.partial(evaluation, ATOMIC, part=True),
        "compositional-fifth": functools.partial(evaluation, COMPOSITIONAL, part=True),
        **{level: functools.partial(training, level) for level in LEVELS},
        "real": real_evaluation,
    },
    reword=reword,
    modes=("rule",),
    views=("front", "wrist"),  # RoboHiMan C
    asked_every={"A": 10, "C": 30},  # HiMan-Bench 3.5, mode 3
    cause=_cause,
    tables=_tables,
    paper_tables=later("etude.suites.himan.paper", "tables"),
    paper_models=later("etude.suites.himan.models", "MODELS"),
    paper_claims=later("etude.suites.himan.conclusions", "CLAIMS"),
    inventory=later("etude.suites.himan.inventory", "inventory"),
    benches={"perturb": _bench},
)

Register = Callable[[Callable[[Draw], Draft]], Callable[[Draw], Draft]]


# With the budgets of HiMan-Bench 3.5: keyposes, or control steps in other action spaces.
def atomic(name: str) -> Register:
    """Register an atomic task."""
    return himan.task(name, level="A", horizon=15, budget=400, without=MISSING[name])


def compositional(name: str) -> Register:
    """Register a task that is composed of atomic ones."""
    return himan.task(name, level="C", horizon=25, budget=1000, without=MISSING[name])
