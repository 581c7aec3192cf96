"""Furniture as data: cabinets with drawers, cupboards, doors with handles. Functions from sizes to a :class:`Fixture`.

Each stands with the middle of its base at the origin of its frame and opens towards −y of that frame. Sizes in metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from etude.names import EtudeError
from etude.pose import IDENTITY, Pose, Vec3, axis_quat
from etude.scene.scene import Fixture, FixturePart, Joint, Latch, Solid

BOARD = "wooden"
METAL = "#c9ccd0"


def board(size: Vec3, centre: Vec3, texture: str = BOARD, span: float = 0.4) -> Solid:
    """A flat board about ``centre``."""
    return Solid("box", size, texture, Pose(centre), span)


def rod(radius: float, length: float, centre: Vec3, axis: str = "z", texture: str = METAL) -> Solid:
    """A round rod along an axis."""
    turn = {"x": IDENTITY, "y": axis_quat((0, 0, 1), math.pi / 2), "z": axis_quat((0, 1, 0), math.pi / 2)}[axis]
    return Solid("rod", (length, 2 * radius, 2 * radius), texture, Pose.of(centre, turn))


def drawer_cabinet(
    name: str,
    pose: Pose = Pose(),
    size: Vec3 = (0.303, 0.306, 0.301),
    drawers: Sequence[str] = ("top", "middle", "bottom"),
    travel: float = 0.24,
    leg: float = 0.074,
    wall: float = 0.006,
    texture: str = BOARD,
    drawer_texture: str = "#dbcfbd",  # HiMan-Bench 3.1
    opened: Sequence[float] = (),
) -> Fixture:
    """A chest of drawers; the default is the cabinet of HiMan-Bench (3.1). ``drawers`` are named from the top down, each slides
    out by ``travel`` and stays where it is left; ``opened`` gives their starting values."""
    if not drawers:
        raise EtudeError(f"cabinet {name!r} needs at least one drawer")
    width, depth, height = size
    middle = leg + height / 2
    frame = [
        board((width, depth, wall), (0, 0, leg + height - wall / 2), texture),
        board((width, depth, wall), (0, 0, leg + wall / 2), texture),
        board((wall, depth, height - 2 * wall), (-width / 2 + wall / 2, 0, middle), texture),
        board((wall, depth, height - 2 * wall), (width / 2 - wall / 2, 0, middle), texture),
        board((width - 2 * wall, wall, height - 2 * wall), (0, depth / 2 - wall / 2, middle), texture),
    ]
    if leg > 0:
        x, y = width / 2 - 0.012, depth / 2 - 0.012
        frame += [rod(0.006, leg, (sx * x, sy * y, leg / 2)) for sx in (-1, 1) for sy in (-1, 1)]
    parts = [FixturePart("frame", tuple(frame), mass=2.7)]
    room = (height - 2 * wall) / len(drawers)
    for i, level in enumerate(drawers):
        z = leg + height - wall - (i + 0.5) * room
        inner = (width - 2 * wall - 0.004, depth - wall - 0.003, room - 0.004)
        front, apart = -inner[1] / 2, min(0.0264, 0.2 * inner[0])
        handle = (
            rod(0.006, min(0.06, 0.5 * inner[0]), (0, front - 0.022, 0), "x"),
            *(board((0.006, 0.02, 0.006), (s * apart, front - 0.01, 0), METAL) for s in (-1, 1)),
        )
        parts.append(drawer(level, inner, (0.0, -0.0015, z), travel, drawer_texture, handle))
    return Fixture(name, tuple(parts), pose, tuple(opened) or (0.0,) * len(drawers))


def drawer(name: str, size: Vec3, place: Vec3, travel: float, texture: str, handle: tuple[Solid, ...], mass: float = 0.25) -> FixturePart:
    """A box without lid that slides out towards −y and stays where it is left. Its frame is the middle of the drawer, closed, which is
    at ``place`` in the cabinet's; ``handle`` is in that frame, before the front at −size_y/2."""
    width, depth, height = size
    t = 0.0057
    front = -depth / 2
    low = 0.8 * height  # sides and back are lower than the front, so that full drawers close
    solids = (
        board((width, depth, t), (0, 0, -height / 2 + t / 2), texture),
        board((width, t, height), (0, front + t / 2, 0), texture),
        board((width, t, low), (0, depth / 2 - t / 2, (low - height) / 2), texture),
        board((t, depth - 2 * t, low), (-width / 2 + t / 2, 0, (low - height) / 2), texture),
        board((t, depth - 2 * t, low), (width / 2 - t / 2, 0, (low - height) / 2), texture),
        *handle,
    )
    joint = Joint("slide", (0.0, -1.0, 0.0), (0.0, travel), damping=2.0, friction=0.6)
    return FixturePart(name, solids, Pose(place), joint=joint, mass=mass)


def cupboard(
    name: str,
    pose: Pose = Pose(),
    size: Vec3 = (0.418, 0.25, 0.254),
    wall: float = 0.0082,
    texture: str = BOARD,
) -> Fixture:
    """An open cupboard without door; the default is HiMan-Bench's (3.1). It hangs where its pose puts it."""
    width, depth, height = size
    solids = (
        board((width, depth, wall), (0, 0, height - wall / 2), texture),
        board((width, depth, wall), (0, 0, wall / 2), texture),
        board((wall, depth, height - 2 * wall), (-width / 2 + wall / 2, 0, height / 2), texture),
        board((wall, depth, height - 2 * wall), (width / 2 - wall / 2, 0, height / 2), texture),
        board((width - 2 * wall, wall, height - 2 * wall), (0, depth / 2 - wall / 2, height / 2), texture),
    )
    return Fixture(name, (FixturePart("frame", solids, mass=3.0),), pose)


def door(
    name: str,
    pose: Pose = Pose(),
    size: Vec3 = (0.39, 0.015, 0.913),
    handle_height: float = 0.475,
    swing: float = math.radians(60),
    handle_turn: float = math.radians(30),
    texture: str = BOARD,
    joints: Sequence[float] = (0.0, 0.0),
) -> Fixture:
    """A door in a frame, hinged at its −x edge, with a lever that unlatches it; the default is VLMbench's first (1.3).

    Parts: "plank" swings open towards −y by at most ``swing``; "handle" turns by ``handle_turn`` and springs back. The plank is held
    until the handle is turned by half.
    """
    width, thick, height = size
    post = 0.02
    hinge, edge = -width / 2, width / 2
    frame = FixturePart(
        "frame",
        (
            board((post, 0.04, height + 0.012), (hinge - post / 2 - 0.002, 0, (height + 0.012) / 2), "#8b8f94"),
            board((post, 0.04, height + 0.012), (edge + post / 2 + 0.003, 0, (height + 0.012) / 2), "#8b8f94"),
            board((width + 2 * post + 0.005, 0.04, post), (0.0005, 0, height + 0.012 + post / 2), "#8b8f94"),
        ),
        mass=5.0,
    )
    plank = FixturePart(
        "plank",
        (board((width, thick, height), (width / 2, 0, 0), texture),),
        Pose((hinge, 0, height / 2 + 0.006)),
        joint=Joint("hinge", (0.0, 0.0, -1.0), (0.0, swing), damping=0.4, friction=0.15),
        mass=5.34,
    )
    lever, reach = 0.105, 0.045
    front = -thick / 2
    handle = FixturePart(
        "handle",
        (
            rod(0.009, reach, (0, -reach / 2, 0), "y"),
            rod(0.0137, lever, (-lever / 2, -reach, 0), "x"),
        ),
        Pose((width - 0.035, front, handle_height - height / 2)),
        parent="plank",
        joint=Joint("hinge", (0.0, -1.0, 0.0), (0.0, handle_turn), damping=0.05, friction=0.02, spring=3.0),
        mass=0.2,
    )
    latch = Latch("handle", "plank", handle_turn / 2)
    return Fixture(name, (frame, plank, handle), pose, tuple(joints), (latch,))
