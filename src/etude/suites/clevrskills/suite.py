"""ClevrSkills as a value."""

from __future__ import annotations

from functools import partial

from etude.bench.result import Result
from etude.scene.rooms import xarm_room
from etude.suites.clevrskills.rewording import reword
from etude.suites.suite import Suite, later


def _bench(name: str) -> list[Result]:
    from etude.suites.clevrskills import bench

    found: list[Result] = getattr(bench, name)()
    return found


BENCHES = {"suites": "control", "evaluate": "engine", "playing": "playing", "datasets": "demonstrations"}

clevrskills = Suite(
    "clevrskills",
    "ClevrSkills",
    paper="ClevrSkills: Compositional Language and Visual Reasoning in Robotics (2024)",
    splits={"train": "training", "val": "validation", "test": "test", "test_seen": "test"},
    alike={"val": "train", "test_seen": "train"},
    room=xarm_room,
    workspace=((-0.45, -0.5), (0.15, 0.5)),
    options=("robot", "variant", "camera"),
    reword=reword,
    paper_tables=later("etude.suites.clevrskills.paper", "tables"),
    benches={name: partial(_bench, function) for name, function in BENCHES.items()},
    layout="folders",
)
