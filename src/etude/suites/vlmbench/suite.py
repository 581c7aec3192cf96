"""VLMbench as a value."""

from __future__ import annotations

import functools

from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_REACH, RLBENCH_UPPER, rlbench_room
from etude.suites.suite import Suite, later
from etude.suites.vlmbench.lists import SIZES, SPLITS, names
from etude.suites.vlmbench.rewording import reword
from etude.suites.vlmbench.stage import UnitSceneBuilder

vlmbench = Suite(
    "vlmbench",
    "VLMbench",
    paper="VLMbench: A Compositional Benchmark for Vision-and-Language Manipulation (2022)",
    splits=SPLITS,
    builder=UnitSceneBuilder,
    room=rlbench_room,
    workspace=(RLBENCH_LOWER, RLBENCH_UPPER),
    reach=RLBENCH_REACH,
    horizon=20,  # keyposes
    control="keypose",
    options=("grasp",),
    order=tuple(SIZES),
    plans={split: functools.partial(names, split) for split in SPLITS},
    reword=reword,
    modes=("grasped",),
    tables=later("etude.suites.vlmbench.tables", "TABLES"),
    benches={"vlmbench": later("etude.suites.vlmbench.bench", "demonstrations")},
)
