"""The cabinets and doors of VLMbench (1.3), by their published sizes. Metres and radians.

As all furniture they stand with the middle of their base at the origin of their frame and open towards −y of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from etude.arithmetic import total
from etude.pose import Pose, Vec2, Vec3
from etude.scene.fixtures import METAL, board, drawer, rod
from etude.scene.scene import Fixture, FixturePart, Joint, Latch

LEVELS = ("top", "middle", "bottom")
POST = 0.006  # m: the feet of a handle
FRAME = "#8b8f94"


@dataclass(frozen=True)
class Cabinet:
    """Sizes of a chest of three drawers.

    ``size`` is its carcass, on legs of height ``leg``; ``width`` and ``heights`` are those of the drawers from the top down, with ``gap``
    between them, below a board ``top`` thick. The bar of a handle has a length and a thickness, stands out by ``out`` to its middle, and
    sits ``drop`` below the upper edge of its drawer (None: half way down).
    """

    size: Vec3
    width: float
    heights: Vec3
    masses: Vec3
    travel: float
    top: float
    gap: float
    bar: Vec2
    out: float
    drop: float | None = None
    leg: float = 0.0

    def level(self, level: str) -> float:
        """Height of the middle of a drawer above the base of the cabinet."""
        k = LEVELS.index(level)
        return self.leg + self.size[2] - self.top - total(self.heights[:k]) - (k + 1) * self.gap - self.heights[k] / 2

    def grip(self, opened: float) -> Vec2:
        """Where the middle of a handle is, seen from above, in the cabinet's frame, with its drawer out by so much."""
        return 0.0, -self.size[1] / 2 - self.out - opened


DRAWER1 = Cabinet(
    (0.2525, 0.2551, 0.2511), 0.245, (0.0786,) * 3, (0.254,) * 3, 0.20, top=0.0064, gap=0.0014, bar=(0.05, 0.01), out=0.035, leg=0.062
)
DRAWER2 = Cabinet(
    (0.4286, 0.3715, 0.6096), 0.36, (0.1206, 0.1861, 0.1861), (1.05, 2.13, 2.13), 0.20, top=0.03, gap=0.005, bar=(0.12, 0.012), out=0.04
)
DRAWER3 = Cabinet(
    (0.4287, 0.44, 0.722), 0.402, (0.194, 0.196, 0.198), (1.6,) * 3, 0.30, top=0.0133, gap=0.004, bar=(0.14, 0.012), out=0.04, drop=0.025
)


def cabinet(name: str, model: Cabinet, pose: Pose = Pose(), texture: str = "wooden", front: str = "#dbcfbd", opened: str = "") -> Fixture:
    """The cabinet at a pose, with parts "frame" and one for each level; the drawer ``opened`` is out as far as it goes."""
    width, depth, height = model.size
    wall = (width - model.width) / 2 - 0.0008  # what is left beside the drawers
    base = height - model.top - total(model.heights) - 4 * model.gap  # and below them
    middle = model.leg + height / 2
    frame = [
        board((width, depth, model.top), (0, 0, model.leg + height - model.top / 2), texture),
        board((width, depth, base), (0, 0, model.leg + base / 2), texture),
        board((wall, depth, height - base - model.top), (-width / 2 + wall / 2, 0, middle + (base - model.top) / 2), texture),
        board((wall, depth, height - base - model.top), (width / 2 - wall / 2, 0, middle + (base - model.top) / 2), texture),
        board((width - 2 * wall, 0.004, height - base - model.top), (0, depth / 2 - 0.002, middle + (base - model.top) / 2), texture),
    ]
    if model.leg > 0:
        x, y = width / 2 - 0.01, depth / 2 - 0.01
        frame += [rod(0.005, model.leg, (sx * x, sy * y, model.leg / 2)) for sx in (-1, 1) for sy in (-1, 1)]
    parts = [FixturePart("frame", tuple(frame), mass=10 * model.masses[0])]
    deep = depth - 0.006
    face, out, (long, thick) = -deep / 2, model.out, model.bar
    for level, tall, mass in zip(LEVELS, model.heights, model.masses, strict=True):
        z = 0.0 if model.drop is None else tall / 2 - model.drop
        handle = (
            *(board((POST, out, POST), (s * (long - POST) / 2, face - out / 2, z), METAL) for s in (-1, 1)),
            rod(thick / 2, long, (0, face - out, z), "x"),
        )
        parts.append(drawer(level, (model.width, deep, tall), (0.0, -0.003, model.level(level)), model.travel, front, handle, mass))
    return Fixture(name, tuple(parts), pose, tuple(model.travel if level == opened else 0.0 for level in LEVELS))


# ------------------------------------------------------------------------------------------------ doors


@dataclass(frozen=True)
class Door:
    """Sizes of a door that is hinged at its +x edge, on the right for one who stands before it.

    ``size`` is its plank; ``hinge`` and ``jamb`` are the widths of the posts beside it. The lever turns about a point ``pivot`` from the
    middle of the plank towards the free edge, at ``height`` above the base; it has a length and a thickness, and its middle line is
    ``out`` before the plank. It turns by up to ``turn``, and unlatches the door at ``release``.
    """

    size: Vec3
    mass: float
    hinge: float
    jamb: float
    pivot: float
    height: float
    lever: Vec2
    out: float
    turn: float
    release: float

    def grip(self, opened: float) -> Vec2:
        """Where the middle of the lever is, seen from above, in the door's frame, with the door open by an angle."""
        return self.swung((-self.pivot + self.lever[0] / 2, -self.size[1] / 2 - self.out), opened)

    def swung(self, point: Vec2, opened: float) -> Vec2:
        """Where a point of the plank is, seen from above, with the door open by an angle; given where it is with the door shut."""
        x, y = point[0] - self.size[0] / 2, point[1]
        c, s = math.cos(opened), math.sin(opened)
        return self.size[0] / 2 + c * x - s * y, s * x + c * y

    def outline(self, opened: float) -> list[Vec2]:
        """Points along the plank and at the posts, seen from above, in the door's frame."""
        width = self.size[0]
        plank = [self.swung((width * (k / 8 - 0.5), 0.0), opened) for k in range(9)]
        return [*plank, (width / 2 + self.hinge, 0.0), (-width / 2 - self.jamb, 0.0)]


DOOR1 = Door((0.39, 0.015, 0.913), 5.34, 0.02, 0.02, 0.177, 0.475, (0.105, 0.0274), 0.045, math.radians(30), math.radians(20))
DOOR2 = Door((0.2942, 0.0294, 0.6544), 3.22, 0.118, 0.02, 0.125, 0.418, (0.142, 0.027), 0.0465, math.radians(20), math.radians(15))


def hinged_door(
    name: str, model: Door, swing: float, pose: Pose = Pose(), texture: str = "wooden", opened: float = 0.0, frame: str = FRAME
) -> Fixture:
    """The door at a pose: "plank" swings open by at most ``swing``, held by a latch until "handle" is turned; the handle springs back."""
    width, thick, height = model.size
    above = 0.006  # m of air below the plank, and above it
    tall, deep, right = height + 2 * above, max(0.04, thick + 0.01), width / 2
    span = model.hinge + model.jamb + width + 0.005
    posts = (
        board((model.hinge, deep, tall), (right + model.hinge / 2 + 0.002, 0, tall / 2), frame),
        board((model.jamb, deep, tall), (-right - model.jamb / 2 - 0.003, 0, tall / 2), frame),
        board((span, deep, 0.02), ((model.hinge - model.jamb - 0.001) / 2, 0, tall + 0.01), frame),
    )
    plank = FixturePart(
        "plank",
        (board((width, thick, height), (-right, 0, 0), texture),),
        Pose((right, 0, height / 2 + above)),
        joint=Joint("hinge", (0.0, 0.0, 1.0), (0.0, swing), damping=0.4, friction=0.15),
        mass=model.mass,
    )
    long, round_ = model.lever
    handle = FixturePart(
        "handle",
        (rod(0.009, model.out, (0, -model.out / 2, 0), "y"), rod(round_ / 2, long, (long / 2, -model.out, 0), "x")),
        Pose((-right - model.pivot, -thick / 2, model.height - height / 2 - above)),
        parent="plank",
        joint=Joint("hinge", (0.0, 1.0, 0.0), (0.0, model.turn), damping=0.05, friction=0.02, spring=3.0),
        mass=0.2,
    )
    latch = Latch("handle", "plank", model.release)
    return Fixture(name, (FixturePart("frame", posts, mass=5.0), plank, handle), pose, (opened, 0.0), (latch,))
