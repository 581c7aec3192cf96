"""A desk as benchmarks have it: an arm of turned parts, a table, a floor, fifteen textured things; about 9,000 triangles."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from etude.catalog import mesh as shapes
from etude.pose import Array, Pose, align, matrix, yaw_quat
from etude.render import Picture, Renderer, fingerprint
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import FIRST_ENTITY, FLOOR, HAND, ROBOT, TABLE, Visual

CAMERAS = (
    Camera("front", look_at((1.5, 0.0, 0.75), (0.45, 0.0, 0.05))),
    Camera("side", look_at((0.5, -1.3, 0.5), (0.45, 0.0, 0.1))),
    Camera("top", look_at((0.5, 0.0, 1.6), (0.5, 0.001, 0.0), up=(1, 0, 0)), fov=None, extent=1.5),
    Camera("grazing", look_at((1.6, -0.9, 0.15), (0.3, 0.0, 0.05))),
    Camera("hand", look_at((0.75, 0.12, 0.3), (0.5, 0.0, 0.0)), fov=70),
)
ARM = ((0, 0, 1), (0, 0, 1), (0.3, 0.1, 0.95), (0.6, 0.1, 0.8), (0.8, 0.1, 0.5), (0.95, 0.1, 0), (0.95, 0.1, -0.3), (0.8, 0, -0.6),
       (0.5, 0, -0.85), (0.2, 0, -1))  # fmt: skip
THINGS = {
    "brick": (0.35, -0.4), "checkerboard": (0.55, -0.35), "red and yellow polka dot": (0.75, -0.3), "tiger": (0.3, -0.15),
    "rainbow": (0.5, 0.1), "red": (0.8, 0.0), "blue": (0.45, 0.3), "green and purple stripe": (0.65, 0.35), "granite": (0.85, 0.3),
    "marble": (0.25, 0.45), "blue swirl": (0.75, 0.55), "wooden": (0.4, -0.6), "yellow": (0.6, -0.1), "magma": (0.85, -0.55),
    "purple": (0.2, 0.2),
}  # fmt: skip


def desk() -> tuple[list[Visual], Array, Array]:
    """Visuals, positions (B, 3) and rotations (B, 3, 3) of their bodies."""
    visuals = [
        Visual(0, shapes.box((8, 8, 0.02), (0, 0, -0.76)), "floor planks", span=1.0, entity=FLOOR),
        Visual(0, shapes.box((1.0, 1.4, 0.04), (0.5, 0, -0.02)), "light wood", span=0.6, entity=TABLE),
    ]
    positions, rotations, tip = [np.zeros(3)], [np.eye(3)], np.zeros(3)
    for i, heading in enumerate(ARM):
        along = np.array(heading) / np.linalg.norm(heading)
        radius, length = 0.07 - 0.004 * i, 0.11
        swell = [(radius * (0.8 + 0.2 * math.sin(math.pi * k / 10)), -0.065 + 0.13 * k / 10) for k in range(11)]
        part = shapes.lathe([(0, -0.065), *swell, (0, 0.065)], 20)
        visuals.append(Visual(len(positions), part, "#e8e8ea" if i % 2 else "#3a3f48", entity=ROBOT, gloss=0.4))
        positions.append(tip + along * length / 2)
        rotations.append(matrix(align((0, 0, 1), along)))
        tip = tip + along * length
    visuals += [Visual(len(positions), shapes.box((0.02, 0.01, 0.05), (0, y, 0)), "black", entity=HAND) for y in (-0.03, 0.03)]
    positions.append(tip - (0, 0, 0.03))
    rotations.append(np.eye(3))
    forms = (
        shapes.box((0.07, 0.07, 0.07), (0, 0, 0.035)),
        shapes.ellipsoid((0.04, 0.04, 0.04), 24).moved((0, 0, 0.04)),
        shapes.cylinder(0.035, 0.09, 28, bevel=0.004).moved((0, 0, 0.045)),
        shapes.lathe([(0, 0), (0.03, 0), (0.05, 0.02), (0.055, 0.05), (0.05, 0.05), (0.045, 0.022), (0.028, 0.006), (0, 0.006)], 32),
        shapes.capsule(0.025, 0.06, 20).moved((0, 0, 0.055)),
    )
    for i, (texture, (x, y)) in enumerate(THINGS.items()):
        visuals.append(Visual(len(positions), forms[i % 5], texture, entity=FIRST_ENTITY + i))
        positions.append(np.array([x, y, 0.0]))
        rotations.append(matrix(yaw_quat(0.7 * i)))
    return visuals, np.array(positions), np.array(rotations)


def marker() -> Visual:
    """A translucent block over the middle of the table."""
    return Visual(0, shapes.box((0.3, 0.3, 0.1)), "green", Pose((0.5, 0.0, 0.1)), entity=99, alpha=0.5)


def digest(picture: Picture) -> str:
    """All bytes of a picture in short."""
    return hashlib.sha256(picture.rgb.tobytes() + picture.depth.tobytes() + picture.segmentation.tobytes()).hexdigest()


def desk_digests() -> list[str]:
    """What every camera sees of the desk, plain and supersampled, with a marker."""
    visuals, positions, rotations = desk()
    renderer = Renderer([*visuals, marker()], Lighting())
    renderer.pose(positions, rotations)
    return [digest(renderer.shoot(c, (96, 80), supersample=fine)) for c in CAMERAS for fine in (False, True)]


if __name__ == "__main__":
    print(*desk_digests(), fingerprint())
