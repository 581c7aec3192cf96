"""Where the things of a scene are, without physics: their outlines seen from above, and how high they reach. Metres, world frame."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from etude.arithmetic import circle, dots, product, turned, unit
from etude.catalog.polygon import hull
from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.pose import Array, Pose, Quat, axis_quat, matrix
from etude.scene.scene import Area, Body, Entity, Fixture, FixturePart, Joint, Marker, Particles, Scene, Specks

_CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


@dataclass(frozen=True, eq=False)
class Extent:
    """A convex outline ``ring`` (K, 2) seen from above, and the heights between which the thing is."""

    ring: Array
    low: float
    high: float


def extent(entity: Entity) -> Extent:
    """Of an entity as it stands at the start."""
    if isinstance(entity, (Body, Area, Marker)):
        model, (x, y, z) = shape(entity.shape, entity.size), entity.pose.position
        low, high = reach(model, entity.pose.rotation)
        return Extent(_outline(model, entity.pose.rotation) + np.array((x, y)), z - low, z + high)
    points = _points(entity)
    return Extent(hull(points[:, :2]), float(points[:, 2].min()), float(points[:, 2].max()))


def reach(model: Shape, rotation: Quat) -> tuple[float, float]:
    """How far a shape that is turned so reaches below and above its origin."""
    up = matrix(rotation)[2]
    low, high = (max(float(dots(model.mesh.vertices, way).max()), *(p.reach(way) for p in model.pieces)) for way in (-up, up))
    return low, high


def _outline(model: Shape, rotation: Quat) -> Array:
    """As :meth:`Shape.outline`, quickly for what stands upright."""
    _, x, y, _ = rotation
    if abs(x) > 1e-9 or abs(y) > 1e-9:
        return model.outline(rotation)
    return turned(model.footprint, matrix(rotation)[:2, :2])


def _points(entity: Entity) -> Array:
    """Points (N, 3) about what is no single shape."""
    if isinstance(entity, Fixture):
        return fixture_points(entity, entity.joints)
    if isinstance(entity, Particles):
        half = np.full(3, entity.diameter / 2)
    else:
        assert isinstance(entity, Specks)
        half = np.asarray(entity.size) / 2
    middles = np.array(entity.positions).reshape(-1, 3)
    return np.asarray((middles[:, None] + 2 * half * _CORNERS).reshape(-1, 3))


def fixture_points(fixture: Fixture, values: Sequence[float]) -> Array:
    """Corners (N, 3) of all its boards and rods, with these values of its joints."""
    frames = part_frames(fixture, values)
    return np.vstack([frames[p.name].apply(_part_points(p)) for p in fixture.parts if p.solids])


@functools.lru_cache(maxsize=256)
def _part_points(part: FixturePart) -> Array:
    """Corners (N, 3) of the boards and rods of a part, in its own frame."""
    return np.vstack([s.pose.apply(_CORNERS * np.asarray(s.size)) for s in part.solids])


def part_frames(fixture: Fixture, values: Sequence[float]) -> dict[str, Pose]:
    """The frames of its parts, for the values of its joints in their order; those that are not given are 0."""
    at = dict(zip([p.name for p in fixture.jointed()], values, strict=False))
    frames = {"": fixture.pose}
    for part in fixture.parts:
        frames[part.name] = frames[part.parent] * _moved(part, at.get(part.name, 0.0))
    return frames


def _moved(part: FixturePart, value: float) -> Pose:
    joint = part.joint
    if joint is None or value == 0.0:
        return part.pose
    return part.pose * _motion(joint, value)


def _motion(joint: Joint, value: float) -> Pose:
    axis = unit(joint.axis)
    if joint.kind == "slide":
        return Pose.of(axis * value)
    turn = axis_quat(axis, value)
    anchor = np.asarray(joint.anchor)
    return Pose.of(anchor - product(matrix(turn), anchor), turn)


def frame_of(scene: Scene, name: str) -> Pose:
    """The frame of an entity, or of a part ("cabinet/top"); of the world for an empty name."""
    if not name:
        return Pose()
    root, _, part = name.partition("/")
    entity = scene.entity(root)
    if isinstance(entity, Fixture):
        return part_frames(entity, entity.joints)[part] if part else entity.pose
    return entity.pose if isinstance(entity, (Body, Area, Marker)) else Pose()


@functools.lru_cache(maxsize=64)
def _disc(corners: int) -> Array:
    angle = np.arange(corners) * (2 * math.pi / corners)
    return circle(angle) / math.cos(math.pi / corners)


def disc(x: float, y: float, radius: float) -> Array:
    """A ring (12, 2) around a disc."""
    return np.asarray(_disc(12) * radius + (x, y))
