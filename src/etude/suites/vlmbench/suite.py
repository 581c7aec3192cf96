"""VLMbench as a value."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from etude.bench.result import Result
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, rlbench_room
from etude.suites.suite import Suite, SuiteTable, later
from etude.suites.vlmbench.lists import SIZES, SPLITS, names
from etude.suites.vlmbench.rewording import reword

if TYPE_CHECKING:
    from etude.envs.simulation import Simulation


def _tables() -> Sequence[SuiteTable]:
    from etude.suites.vlmbench.tables import UNITS

    return (UNITS,)


def _cause(simulation: Simulation) -> str:
    from etude.suites.vlmbench.causes import cause

    return cause(simulation)


def _bench() -> list[Result]:
    from etude.suites.vlmbench.bench import demonstrations

    return demonstrations()


vlmbench = Suite(
    "vlmbench",
    "VLMbench",
    paper="VLMbench: A Compositional Benchmark for Vision-and-Language Manipulation (2022)",
    splits=SPLITS,
    novel={"valid_unseen": "texture", "test_unseen": "texture"},  # of the shapes, the cube is on both lists (VLMbench 1.4)
    room=rlbench_room,
    workspace=(RLBENCH_LOWER, RLBENCH_UPPER),
    reach=RLBENCH_REACH,
    size=(256, 256),  # the original's are 360 × 360; at 128 × 128 the smaller of two things has fewer than 20 pixels
    horizon=20,  # keyposes
    control="keypose",
    options=("grasp",),
    order=tuple(SIZES),
    plans={split: functools.partial(names, split) for split in SPLITS},
    reword=reword,
    modes=("grasped", "rule"),
    cause=_cause,
    tables=_tables,
    paper_tables=later("etude.suites.vlmbench.paper", "tables"),
    paper_models=later("etude.suites.vlmbench.models", "MODELS"),
    paper_claims=later("etude.suites.vlmbench.conclusions", "CLAIMS"),
    inventory=later("etude.suites.vlmbench.lists", "inventory"),
    benches={"vlmbench": _bench},
)
