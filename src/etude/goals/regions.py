"""Where a controlled thing shall be, as data: the constraint classes of VLMbench's unit tasks.

A region is a set of poses in the frame of some entity: a class of positions (a1 box, a2 plane, a3 line, a4 point or curve) with a class of
rotations (b1 any, b2 free about one axis, b3 fixed, b4 a function of the position). Metres and radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from etude.arithmetic import cross, dot, norm
from etude.catalog.registry import shape
from etude.goals.goal import undeclared
from etude.names import Family, Stream
from etude.pose import Array, Pose, Quat, Vec2, Vec3, align, angle_between, axis_quat, multiply, rotate, yaw_quat
from etude.scene.outlines import disc
from etude.scene.scene import Body, Entity

if TYPE_CHECKING:
    from etude.goals.adapting import Scaled

TURNS = 36  # rotations about an axis that are looked at


# ------------------------------------------------------------------------------------------------ positions


class Where(Family):
    """A set of positions. ``letter`` is its class."""

    letter: ClassVar[str] = ""
    exact: ClassVar[bool] = False  # it is one position

    def drawn(self, stream: Stream) -> Vec3:
        """One of them."""
        raise NotImplementedError

    def off(self, position: Array) -> float:
        """How far a position (3,) is from the set, metres."""
        raise NotImplementedError

    def scaled(self, times: float, up: float) -> Where:
        """The set in a frame that is scaled about its origin; then it is raised by ``up`` (m)."""
        raise undeclared(self, "how it follows a thing that is scaled; give it a method scaled(times, up)")

    def fitted(self, times: float, up: float) -> Where:
        """The set for a thing that is scaled, whose point comes to be higher by ``up`` (m)."""
        return self.scaled(1.0, up)

    def corners(self) -> list[Vec3]:
        """Positions whose outline, seen from above, holds all others; none where it is wherever the thing already is."""
        raise undeclared(self, "where on the table it is; give it a method corners()")


def _at(position: Vec3, times: float, up: float) -> Vec3:
    x, y, z = position
    return round(x * times, 9), round(y * times, 9), round(z * times + up, 9)


class _Positions(Where):
    """Given by positions alone."""

    def scaled(self, times: float, up: float) -> Where:
        return replace(self, **{f.name: _at(getattr(self, f.name), times, up) for f in fields(self)})  # type: ignore[type-var, arg-type]

    def corners(self) -> list[Vec3]:
        return [getattr(self, f.name) for f in fields(self)]  # type: ignore[arg-type]


@dataclass(frozen=True)
class InBox(_Positions):
    """Anywhere in a box."""

    lower: Vec3
    upper: Vec3
    letter: ClassVar[str] = "a1"

    def drawn(self, stream: Stream) -> Vec3:
        x, y, z = (stream.uniform(a, b) for a, b in zip(self.lower, self.upper, strict=True))
        return x, y, z

    def off(self, position: Array) -> float:
        return norm(position - np.clip(position, self.lower, self.upper))

    def corners(self) -> list[Vec3]:
        return _rectangle(self.lower, self.upper, self.lower[2])


@dataclass(frozen=True)
class OnRing(Where):
    """Around the origin at a distance, at a height: near something, to whatever side."""

    radius: float
    height: float
    letter: ClassVar[str] = "a1"

    def drawn(self, stream: Stream) -> Vec3:
        angle = stream.uniform(-math.pi, math.pi)
        return self.radius * math.cos(angle), self.radius * math.sin(angle), self.height

    def off(self, position: Array) -> float:
        return math.hypot(math.hypot(position[0], position[1]) - self.radius, position[2] - self.height)

    def scaled(self, times: float, up: float) -> Where:
        return self

    def fitted(self, times: float, up: float) -> Where:
        """Beside and above something by as much as the thing itself needs, to be tilted there."""
        return OnRing(round(self.radius * times, 9), round(self.height * times, 9))

    def corners(self) -> list[Vec3]:
        return [(x, y, self.height) for x, y in disc(0.0, 0.0, self.radius).tolist()]


@dataclass(frozen=True)
class OnPlane(Where):
    """Anywhere on a rectangle at a height."""

    lower: Vec2
    upper: Vec2
    height: float
    letter: ClassVar[str] = "a2"

    def drawn(self, stream: Stream) -> Vec3:
        return stream.uniform(self.lower[0], self.upper[0]), stream.uniform(self.lower[1], self.upper[1]), self.height

    def off(self, position: Array) -> float:
        nearest = (*np.clip(position[:2], self.lower, self.upper), self.height)
        return norm(position - nearest)

    def scaled(self, times: float, up: float) -> Where:
        (x0, y0, height), (x1, y1, _) = (_at((*corner, self.height), times, up) for corner in (self.lower, self.upper))
        return OnPlane((x0, y0), (x1, y1), height)

    def corners(self) -> list[Vec3]:
        return _rectangle(self.lower, self.upper, self.height)


@dataclass(frozen=True)
class OnLine(_Positions):
    """Anywhere between two points."""

    start: Vec3
    end: Vec3
    letter: ClassVar[str] = "a3"

    def drawn(self, stream: Stream) -> Vec3:
        share = stream.uniform()
        x, y, z = (a + (b - a) * share for a, b in zip(self.start, self.end, strict=True))
        return x, y, z

    def off(self, position: Array) -> float:
        along = np.subtract(self.end, self.start)
        share = float(np.clip(dot(position - self.start, along) / dot(along, along), 0.0, 1.0))
        return norm(position - self.start - share * along)


@dataclass(frozen=True)
class AtPoint(_Positions):
    """One place."""

    position: Vec3
    letter: ClassVar[str] = "a4"
    exact: ClassVar[bool] = True

    def drawn(self, stream: Stream) -> Vec3:
        return self.position

    def off(self, position: Array) -> float:
        return math.dist(position, self.position)


@dataclass(frozen=True)
class WhereItIs(Where):
    """Where the thing is already: it only turns."""

    letter: ClassVar[str] = "a4"

    def drawn(self, stream: Stream) -> Vec3:
        return 0.0, 0.0, 0.0

    def off(self, position: Array) -> float:
        return 0.0

    def scaled(self, times: float, up: float) -> Where:
        return self

    def corners(self) -> list[Vec3]:
        return []


def _rectangle(lower: tuple[float, ...], upper: tuple[float, ...], height: float) -> list[Vec3]:
    return [(x, y, height) for x in (lower[0], upper[0]) for y in (lower[1], upper[1])]


# ------------------------------------------------------------------------------------------------ rotations


class Turned(Family):
    """A set of rotations. ``letter`` is its class."""

    letter: ClassVar[str] = ""

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        """Some of them for a thing at ``position`` that is turned like ``now``, the most convenient first."""
        raise NotImplementedError

    def off(self, rotation: Quat, position: Array) -> float:
        """How far a rotation is from the set, rad."""
        raise NotImplementedError

    def standing(self, now: Quat) -> Quat | None:
        """How a thing that is turned like ``now`` will stand there, up to turns about the vertical; None where that is open."""
        raise undeclared(self, "how a thing will stand there; give it a method standing(now)")


@dataclass(frozen=True)
class AnyTurn(Turned):
    """However it comes."""

    letter: ClassVar[str] = "b1"

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        yield now
        for k in stream.shuffled(range(1, TURNS)):
            yield multiply(yaw_quat(k * 2 * math.pi / TURNS), now)

    def off(self, rotation: Quat, position: Array) -> float:
        return 0.0

    def standing(self, now: Quat) -> Quat | None:
        return now


@dataclass(frozen=True)
class About(Turned):
    """An axis of the thing (its own frame) lies along an axis of the region; it may turn about it."""

    own: Vec3 = (0.0, 0.0, 1.0)
    along: Vec3 = (0.0, 0.0, 1.0)
    letter: ClassVar[str] = "b2"

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        straight = multiply(align(rotate(now, self.own), np.asarray(self.along)), now)
        yield straight
        for k in stream.shuffled(range(1, TURNS)):
            yield multiply(axis_quat(self.along, k * 2 * math.pi / TURNS), straight)

    def off(self, rotation: Quat, position: Array) -> float:
        return _angle(rotate(rotation, self.own), np.asarray(self.along))

    def standing(self, now: Quat) -> Quat | None:
        return align(np.asarray(self.own), np.asarray(self.along))


@dataclass(frozen=True)
class Across(About):
    """As :class:`About`; of these rotations, only those are looked for at which another axis, ``side``, lies across the way to the origin.

    Up to ``slant`` (rad) more or less: what sticks out there, as the ear of a mug, is then beside that way and not on it.
    """

    side: Vec3 = (1.0, 0.0, 0.0)
    slant: float = math.pi / 8

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        straight = multiply(align(rotate(now, self.own), np.asarray(self.along)), now)
        side, along = rotate(straight, self.side), np.asarray(self.along)
        towards = -(position - dot(position, along) * along)
        offset = math.atan2(dot(cross(side, towards), along), dot(side, towards))
        turns = [offset + across + k * self.slant / 2 for across in (-math.pi / 2, math.pi / 2) for k in range(-2, 3)]
        for turn in sorted((math.remainder(t, 2 * math.pi) for t in turns), key=abs):
            yield multiply(axis_quat(self.along, turn), straight)


@dataclass(frozen=True)
class Alike(About):
    """As :class:`About`; of these rotations, only those are looked for at which the thing heads like the region, up to ``most`` (rad)."""

    most: float = math.pi / 9

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        straight = align(np.asarray(self.own), np.asarray(self.along))
        for share in (0.0, 0.5, -0.5, 1.0, -1.0):
            yield multiply(axis_quat(self.along, share * self.most), straight)


@dataclass(frozen=True)
class Fixed(Turned):
    """One rotation; turns by 360°/``symmetry`` about the vertical count as equal."""

    rotation: Quat
    symmetry: int = 1
    letter: ClassVar[str] = "b3"

    def _equal(self) -> list[Quat]:
        return [multiply(self.rotation, yaw_quat(k * 2 * math.pi / self.symmetry)) for k in range(self.symmetry)]

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        yield from sorted(self._equal(), key=lambda q: angle_between(q, now))

    def off(self, rotation: Quat, position: Array) -> float:
        return min(angle_between(rotation, q) for q in self._equal())

    def standing(self, now: Quat) -> Quat | None:
        return self.rotation


@dataclass(frozen=True)
class Tilting(Turned):
    """An axis of the thing points at the origin of the region, seen from above, and down by an angle from ``least`` to ``most``."""

    own: Vec3 = (0.0, 0.0, 1.0)
    least: float = math.radians(20)
    most: float = math.radians(40)
    letter: ClassVar[str] = "b4"

    def rotations(self, now: Quat, position: Array, stream: Stream) -> Iterator[Quat]:
        for down in (stream.uniform(self.least, self.most), (self.least + self.most) / 2):
            across = math.hypot(position[0], position[1])
            aim = np.array([-position[0] / across * math.cos(down), -position[1] / across * math.cos(down), -math.sin(down)])
            straight = multiply(align(rotate(now, self.own), aim), now)
            yield straight  # the shortest way round: the hand tilts as little as it can
            for roll in (0.35, -0.35):
                yield multiply(axis_quat(aim, roll), straight)

    def off(self, rotation: Quat, position: Array) -> float:
        axis = rotate(rotation, self.own)
        down = math.asin(max(-1.0, min(1.0, -float(axis[2]))))
        aside = _angle(axis * (1, 1, 0), -position * (1, 1, 0))
        return max(aside, self.least - down, 0.0)

    def standing(self, now: Quat) -> Quat | None:
        return None


def _angle(a: Array, b: Array) -> float:
    return math.atan2(norm(cross(a, b)), dot(a, b))


# ------------------------------------------------------------------------------------------------ poses


@dataclass(frozen=True)
class Region:
    """Poses in the frame of an entity, or of a part of one ("cabinet/top"); of the world when ``of`` is empty.

    ``upright`` takes of that frame only its place and its heading: what stands on a tilted thing is still told from below to above.
    ``point`` is the point of the thing (m, its own frame) that lies in ``where``; ``middle`` the origin of the region (m, in that frame).
    """

    of: str
    where: Where
    turned: Turned
    upright: bool = False
    point: Vec3 = (0.0, 0.0, 0.0)
    middle: Vec3 = (0.0, 0.0, 0.0)

    @property
    def letters(self) -> str:
        """The classes as the paper writes them: ``a1,b1``."""
        return f"{self.where.letter},{self.turned.letter}"

    def frame(self, of: Pose) -> Pose:
        """The frame of the region, for the pose of its entity."""
        return (Pose.of(of.position, yaw_quat(of.yaw)) if self.upright else of) * Pose(self.middle)

    def poses(self, of: Pose, now: Pose, stream: Stream, count: int) -> Iterator[Pose]:
        """Poses (world) for a thing that is at ``now``: ``count`` positions, with some rotations each."""
        frame = self.frame(of)
        inverse = frame.inverse()
        here = inverse * now
        for _ in range(1 if isinstance(self.where, WhereItIs) else count):
            position = np.asarray(here.apply(self.point) if isinstance(self.where, WhereItIs) else self.where.drawn(stream))
            for rotation in self.turned.rotations(here.rotation, position, stream):
                yield frame * Pose.of(position - rotate(rotation, self.point), rotation)

    def off(self, of: Pose, pose: Pose) -> tuple[float, float]:
        """How far a pose (world) is from the region: metres and radians."""
        local = self.frame(of).inverse() * pose
        position = local.apply(self.point)
        return self.where.off(position), self.turned.off(local.rotation, position)

    def corners(self, of: Pose) -> Array:
        """Positions (N, 3), world, whose outline seen from above holds the region; none where it is wherever the thing is already."""
        return self.frame(of).apply(np.array(self.where.corners()).reshape(-1, 3))

    def scaled(self, thing: str, change: Scaled) -> Region:
        """The region for a thing that is brought there.

        Heights in a region are those of a point of the thing, but what matters is how high its lower side comes: that height is scaled
        with what the region belongs to, and kept where it is the thing that is scaled.
        """
        if not (change.meant(self.of) or change.meant(thing)):
            return self
        times, below = change.factor, self._below(change.before.entity(thing.partition("/")[0]))
        if change.meant(thing):
            return replace(self, point=change.times(self.point), where=self.where.fitted(times, (times - 1.0) * below))
        return replace(self, middle=change.times(self.middle), where=self.where.scaled(times, (1.0 - times) * below))

    def _below(self, thing: Entity) -> float:
        """How far the thing reaches below its point when it is turned as the region asks, metres."""
        rotation = self.turned.standing(thing.pose.rotation) if isinstance(thing, Body) else None
        if rotation is None or not isinstance(thing, Body):
            return 0.0
        return shape(thing.shape, thing.size).lift(rotation) + float(rotate(rotation, self.point)[2])
