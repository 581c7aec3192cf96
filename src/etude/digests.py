"""Does this machine compute the same bytes? Digests of scenes and of whole episodes, beside those that every machine must find.

The expected ones stand in ``suites/digests.json``. They may change only together with the protocol version (what an episode is, actions,
states, records) or the renderer's version (frames); ``python -m etude.digests [CASE …]`` prints them anew, with cases that are new.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from etude.decisions.showing import pictures
from etude.decisions.trial import Trial
from etude.evaluation.play import Players, play
from etude.evaluation.schema import written
from etude.library import find, told_in
from etude.names import digest
from etude.prompts.pictures import multimodal
from etude.render.studio import Studio
from etude.scene.examples import EXAMPLES, example
from etude.scene.world import World

ANYWHERE = ("scene", "episode", "first frames")  # parts that are equal on other kinds of machines too
_SMALL, _SMALLER = (96, 64), (48, 32)


def expected() -> dict[str, str]:
    """What every machine must find, by case and part."""
    found: dict[str, str] = json.loads((resources.files("etude.suites") / "digests.json").read_text())
    return found


def cases() -> list[str]:
    """The scenes, and of each suite one task of each family, played by the oracle from its name to its record; some under perturbations."""
    return list(dict.fromkeys(key.rpartition(": ")[0] for key in expected()))


def compute(chosen: Iterable[str], progress: Callable[[str], None] = lambda case: None) -> dict[str, str]:
    """The digests of these cases on this machine, by case and part: ``"suite/task@split#0: actions"``."""
    found = {}
    for case in chosen:
        progress(case)
        for part, text in (_of_example(case) if case in EXAMPLES else _of_episode(case)).items():
            found[f"{case}: {part}"] = text
    return found


def to_the_byte() -> bool:
    """Is this a kind of machine on which all parts must be equal: x86-64 with FMA? Elsewhere the C library rounds some sines otherwise."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    info = Path("/proc/cpuinfo")
    return not info.exists() or " fma " in info.read_text()


def promised(key: str) -> bool:
    """Must this digest be equal on this machine?"""
    return to_the_byte() or key.rpartition(": ")[2] in ANYWHERE


def _of_example(name: str) -> dict[str, str]:
    """A scene, its state after settling and ten moves of the robot, and what its cameras see then."""
    scene = example(name)
    world = World(scene)
    world.settle()
    for i in range(10):
        assert world.robot is not None
        world.robot.move_by((0.3, -0.2, 0.1, 0.0, 0.1, 0.2))
        world.robot.grip(i > 4)
        world.step()
    frames = _seen(world)
    frames.update(Studio(world).shoot(scene.cameras[0], _SMALLER, supersample=True).rgb.tobytes())
    return {"scene": digest(scene, 16), "state": _state(world), "frames": frames.hexdigest()[:16]}


def _of_episode(name: str) -> dict[str, str]:
    """An episode, what is seen and told first, all that the oracle does, and where it ends."""
    found = find(name)
    record, course = play(Players("oracle"), name)
    line = {key: value for key, value in written(record).items() if key != "timings"}
    whole = {"episode": found.id.rpartition("~")[2]}
    if isinstance(found, Trial):
        return {**whole, "frames": _hashed(pictures(found, 64)).hexdigest()[:16], "record": digest(line, 16)}
    simulation = course.simulation
    assert simulation is not None
    first = _seen(World(found.scene))
    text, shown = multimodal(found.instruction, told_in(found), 64)
    first.update(text.encode())
    first.update(_hashed(shown).digest())
    return {
        **whole,
        "first frames": first.hexdigest()[:16],
        "actions": _hashed(course.actions).hexdigest()[:16],
        "state": _state(simulation.world),
        "frames": _seen(simulation.world).hexdigest()[:16],
        "record": digest(line, 16),
    }


def _state(world: World) -> str:
    return _hashed((world.data.qpos, world.data.qvel)).hexdigest()[:16]


def _seen(world: World) -> hashlib._Hash:
    """What all cameras of a world see: colour, depth and segmentation."""
    studio = Studio(world)
    shots = [studio.shoot(camera, _SMALL) for camera in world.scene.cameras]
    return _hashed(array for shot in shots for array in (shot.rgb, shot.depth, shot.segmentation))


def _hashed(arrays: Iterable[Any]) -> hashlib._Hash:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found


if __name__ == "__main__":
    print(json.dumps(compute(dict.fromkeys((*cases(), *sys.argv[1:]))), indent=1))
