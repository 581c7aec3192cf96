"""What an arm and a hand are: chains of links with published frames and limits, and the geometry we gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from etude.arithmetic import norm, product
from etude.catalog.mesh import Mesh, box, cylinder, lathe, tube
from etude.catalog.shape import Piece
from etude.pose import IDENTITY, Pose, Vec3, align, axis_quat, matrix, matrix_quat


@dataclass(frozen=True, eq=False)
class Look:
    """A mesh in the frame of its link, and its texture."""

    mesh: Mesh
    texture: str


@dataclass(frozen=True, eq=False)
class Link:
    """A link that turns about its own z axis; ``origin`` is its frame in the previous link at joint value 0."""

    origin: Pose
    range: tuple[float, float]  # rad
    torque: float  # N·m
    speed: float  # rad/s
    mass: float  # kg
    looks: tuple[Look, ...] = ()
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm. ``flange`` is the frame to which hands are attached, in the last link's frame; its z axis points outwards.

    >>> etude.Arm.from_mjcf("arm.xml", name="mine", tip="flange", home=(0, -1, 1, 0, 1, 0))
    """

    name: str
    links: tuple[Link, ...]
    flange: Pose
    home: tuple[float, ...]  # rad
    stiffness: tuple[float, ...]  # N·m/rad of the position servos
    base_looks: tuple[Look, ...] = ()
    base_pieces: tuple[Piece, ...] = ()

    @classmethod
    def from_mjcf(
        cls,
        path: str | Path,
        *,
        name: str,
        tip: str,
        home: Sequence[float],
        offset: Pose = Pose(),
        torque: float | Sequence[float] | None = None,
        speed: float | Sequence[float] | None = None,
        stiffness: float | Sequence[float] | None = None,
    ) -> Arm:
        """The chain of hinges from the base to ``tip`` in an MJCF or URDF file, with its limits, masses, solids and colours.

        ``tip`` is the site or body where hands are screwed on: z points outwards and, where the hand points down, x away from the base;
        ``offset`` is the flange in its frame, for files that have no such frame. Joints that the file hangs on the last link beyond it (a
        gripper of its own) are left out. ``home`` is the resting posture, rad. ``torque`` (N·m) is needed where the file has neither a
        force range of the joint nor of its actuator; ``speed`` (rad/s) is what a URDF file says, or 2; ``stiffness`` (N·m/rad) that of the
        position servos, by default 60 for each N·m of torque, 800 to 5000.

        >>> mine = register_arm(Arm.from_mjcf("my_arm.xml", name="mine", tip="flange", home=(0, 0, -1.57, 0, 1.57, 0)))  # doctest: +SKIP
        """
        from etude.scene.robots.reading import read_arm  # MuJoCo's parsers are loaded for those who need them

        return read_arm(path, name, tip, home, offset, torque, speed, stiffness)

    from_urdf = from_mjcf


HandKind = Literal["fingers", "suction", "tool"]


@dataclass(frozen=True, eq=False)
class Hand:
    """What touches things. Frame: the flange, z outwards; a parallel hand opens along y.

    ``tip`` is the tool frame that poses and actions refer to. ``cups`` are suction cups: (x, y, z of the lip, radius) in the hand
    frame. ``finger`` is one finger of a parallel hand, in a frame that slides along +y (the other is its mirror image).
    """

    name: str
    kind: HandKind
    tip: Pose
    mass: float
    looks: tuple[Look, ...]
    pieces: tuple[Piece, ...]
    cups: tuple[tuple[float, float, float, float], ...] = ()
    finger_looks: tuple[Look, ...] = ()
    finger_pieces: tuple[Piece, ...] = ()
    finger_origin: Vec3 = (0.0, 0.0, 0.0)
    finger_travel: float = 0.0  # m, each
    force: float = 0.0  # N: grip force of a finger, or pull at which all cups together let go
    glue: bool = False  # what both fingers touch when they close is fixed to the hand until it opens; otherwise friction holds it


def dh(a: float, d: float, alpha: float) -> Pose:
    """The fixed part of a standard Denavit-Hartenberg step: along z by d, along x by a, about x by alpha."""
    return Pose.of((a, 0.0, d), axis_quat((1, 0, 0), alpha))


# ------------------------------------------------------------------------------------------------ modelling


def drum(
    axis: Vec3, radius: float, length: float, texture: str, centre: Vec3 = (0.0, 0.0, 0.0), bevel: float = 0.012, segments: int = 18
) -> Look:
    """A joint housing: a cylinder with rounded rims along ``axis``."""
    mesh = cylinder(radius, length, segments, min(bevel, radius / 3, length / 3))
    return Look(mesh.moved(centre, align((0, 0, 1), axis)), texture)


def sleeve(path: list[Vec3], radii: list[float], texture: str, segments: int = 16) -> Look:
    """A smooth, capped tube of varying radius through the given points: the body of a link."""
    return Look(tube(smooth(path, 3), smooth_values(radii, 3), segments), texture)


def block(size: Vec3, texture: str, centre: Vec3 = (0.0, 0.0, 0.0)) -> Look:
    """A plain cuboid."""
    return Look(box(size, centre), texture)


def spun(
    profile: list[tuple[float, float]], texture: str, centre: Vec3 = (0.0, 0.0, 0.0), axis: Vec3 = (0.0, 0.0, 1.0), segments: int = 18
) -> Look:
    """A lathed body about ``axis``; the profile is (radius, distance along the axis)."""
    return Look(lathe(profile, segments).moved(centre, align((0, 0, 1), axis)), texture)


def smooth(points: list[Vec3], steps: int) -> np.ndarray:
    """A Catmull-Rom curve through the points, ``steps`` pieces for each stretch."""
    p = np.asarray(points, float)
    padded = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    out = []
    for i in range(1, len(padded) - 2):
        p0, p1, p2, p3 = padded[i - 1 : i + 3]
        for t in np.arange(steps) / steps:
            out.append(
                0.5 * (2 * p1 + (p2 - p0) * t + (2 * p0 - 5 * p1 + 4 * p2 - p3) * (t * t) + (3 * p1 - p0 - 3 * p2 + p3) * (t * t * t))
            )
    out.append(p[-1])
    return np.array(out)


def smooth_values(values: list[float], steps: int) -> np.ndarray:
    """The same curve for plain numbers."""
    return smooth([(v, 0.0, 0.0) for v in values], steps)[:, 0]


def capsule_piece(start: Vec3, end: Vec3, radius: float) -> Piece:
    """A capsule between two points of the link's frame."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = norm(b - a)
    x, y, z = ((a + b) / 2).tolist()
    return Piece("capsule", (radius, length / 2, 0.0), (x, y, z), align((0, 0, 1), b - a) if length > 1e-9 else IDENTITY)


def forward(arm: Arm, joints: tuple[float, ...]) -> Pose:
    """The flange in the frame of the base for the given joint values (rad). For tests and tables; the control stack has its own, faster."""
    R, p = np.eye(3), np.zeros(3)
    for link, q in zip(arm.links, joints, strict=True):
        p = p + product(R, link.origin.position)
        R = product(product(R, matrix(link.origin.rotation)), matrix(axis_quat((0, 0, 1), q)))
    return Pose.of(p, matrix_quat(R)) * arm.flange
