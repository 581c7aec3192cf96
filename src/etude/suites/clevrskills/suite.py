"""ClevrSkills as a value."""

from __future__ import annotations

from functools import partial

from etude.bench.result import Result
from etude.scene.rooms import xarm_room
from etude.suites.clevrskills.rewording import reword
from etude.suites.suite import Conceded, Suite, later


def _bench(name: str) -> list[Result]:
    from etude.suites.clevrskills import bench

    found: list[Result] = getattr(bench, name)()
    return found


BENCHES = {
    "suites": "control", "evaluate": "engine", "cluster": "cluster", "playing": "playing", "vector": "batches",
    "datasets": "demonstrations",
}  # fmt: skip

clevrskills = Suite(
    "clevrskills",
    "ClevrSkills",
    paper="ClevrSkills: Compositional Language and Visual Reasoning in Robotics (2024)",
    splits={"train": "training", "val": "validation", "test": "test", "test_seen": "test"},
    alike={"val": "train", "test_seen": "train"},
    room=xarm_room,
    workspace=((-0.45, -0.5), (0.15, 0.5)),
    options=("variant", "camera"),
    reword=reword,
    paper_tables=later("etude.suites.clevrskills.paper", "tables"),
    paper_models=later("etude.suites.clevrskills.models", "MODELS"),
    benches={name: partial(_bench, function) for name, function in BENCHES.items()},
    layout="folders",
    novel={"test": "texture"},  # shapes are new too, but for the blocks of the scale: cubes or cylinders in both halves (A.3, task 1)
    exceptions=[
        Conceded("rotate_symmetry", cheat, "A.2, task 11, prompt (b): the two objects that share a texture are meant, by definition")
        for cheat in ("deaf", "colour only")
    ],
)
