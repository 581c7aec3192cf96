"""Digests of the settled states and first frames of the ten example scenes. ``python tests/golden.py > tests/golden.json`` renews them.

They may change only together with the protocol version (states) or the renderer's version (frames).
"""

from __future__ import annotations

import hashlib
import json

from etude.names import digest
from etude.render.studio import Studio
from etude.scene import World
from etude.scene.examples import EXAMPLES, example


def digests(name: str) -> dict[str, str]:
    """The scene as data, the state after settling and ten moves of the robot, and what its cameras see then."""
    scene = example(name)
    world = World(scene)
    world.settle()
    for i in range(10):
        world.robot.move_by((0.3, -0.2, 0.1, 0.0, 0.1, 0.2))
        world.robot.grip(i > 4)
        world.step()
    state = hashlib.sha256(world.data.qpos.tobytes() + world.data.qvel.tobytes()).hexdigest()
    studio, frames = Studio(world), hashlib.sha256()
    for camera in scene.cameras:
        picture = studio.shoot(camera, (96, 64))
        for array in (picture.rgb, picture.depth, picture.segmentation):
            frames.update(array.tobytes())
    frames.update(studio.shoot(scene.cameras[0], (48, 32), supersample=True).rgb.tobytes())
    return {"scene": digest(scene), "state": state[:16], "frames": frames.hexdigest()[:16]}


if __name__ == "__main__":
    print(json.dumps({name: digests(name) for name in EXAMPLES}, indent=2))
