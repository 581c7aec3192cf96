"""Predicates of VLMbench and HiMan-Bench: what a detector sees, piles, joints that moved, water poured, dirt wiped away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from etude.arithmetic import hypot, norm, norms, product
from etude.goals.goal import Goal, GoalNode, Status
from etude.pose import Vec2, Vec3
from etude.scene.scene import Entity, Scene, Specks

if TYPE_CHECKING:
    from etude.goals.adapting import Scaled
    from etude.goals.watch import Watch

STILL = 0.0025  # m or rad for each control step: a joint that is slower is at rest, as for World.still
LYING = 0.0005  # m for each control step: a grain that is slower lies where it is, even if it trembles
TOUCHING = 0.003  # m: what is this near to the lower side of a sponge is wiped


@dataclass(frozen=True)
class Detected(Goal):
    """A point of the thing is inside a box in the frame of ``by`` (an entity, or "fixture/part"), and the thing let go and at rest.

    The point is any one of ``points`` (m, in the frame of the thing): its middle, if nothing else is said.
    """

    thing: str
    by: str
    lower: Vec3
    upper: Vec3
    points: tuple[Vec3, ...] = ((0.0, 0.0, 0.0),)

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(change.in_frame(self, self.by, "lower", "upper"), self.thing, "points")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        frame = watch.world.pose(self.by).inverse()
        off = min(_outside(frame.point(*watch.point(self.thing, *point)), self.lower, self.upper) for point in self.points)
        seen = off == 0.0 and not watch.by_robot(self.thing) and watch.static(self.thing)
        return Status(seen, 1.0 if seen else max(0.0, 0.99 - off), float(seen))


@dataclass(frozen=True)
class Piled(Goal):
    """``upper`` rests on ``lower``, let go and at rest."""

    upper: str
    lower: str

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        done = not watch.by_robot(self.upper) and watch.static(self.upper) and watch.rests_on(self.upper, self.lower)
        off = math.dist(watch.position(self.upper), watch.position(self.lower))
        return Status(done, 1.0 if done else max(0.0, 0.9 - off), float(done))


@dataclass(frozen=True)
class OnTable(Goal):
    """The thing rests on the table with its middle between two corners (m, world), let go and at rest."""

    thing: str
    lower: Vec2
    upper: Vec2

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        place = watch.position(self.thing)
        off = norm(place[:2] - np.clip(place[:2], self.lower, self.upper))
        let_go = not watch.by_robot(self.thing) and watch.static(self.thing)
        done = off == 0.0 and let_go and watch.rests_on(self.thing, "table")
        return Status(done, 1.0 if done else max(0.0, 0.9 - off), float(done))


def _outside(point: Vec3, lower: Vec3, upper: Vec3) -> float:
    """How far a point is from a box, metres; 0 inside it."""
    x, y, z = (v - min(max(v, low), high) for v, low, high in zip(point, lower, upper, strict=True))
    return math.sqrt(x * x + y * y + z * z)


def _at_rest(value: float, memory: dict[str, Any]) -> bool:
    """Has a joint hardly moved since it was last looked at?"""
    last = memory.get("last", value)
    memory["last"] = value
    return bool(abs(value - last) < STILL)


class _Joint(Goal):
    joint: str

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.along(self, self.joint, "least", "most")


@dataclass(frozen=True)
class JointMoved(_Joint):
    """A joint was moved by strictly between ``least`` and ``most`` (m or rad; towards larger values if ``up``), and is at rest."""

    joint: str
    least: float
    most: float
    up: bool = True

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory["start"] = watch.world.joint(self.joint)

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        value, memory = watch.world.joint(self.joint), node.memory
        moved = (value - memory["start"]) * (1 if self.up else -1)
        done = _at_rest(value, memory) and self.least < moved < self.most
        return Status(done, 1.0 if done else min(0.99, max(0.0, moved / self.least)), float(done))


@dataclass(frozen=True)
class JointAt(_Joint):
    """A joint's value is between ``least`` and ``most`` (m or rad), and is at rest."""

    joint: str
    least: float
    most: float

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        value = watch.world.joint(self.joint)
        off = max(self.least - value, value - self.most, 0.0)
        done = _at_rest(value, node.memory) and off == 0.0
        return Status(done, 1.0 if done else max(0.0, 0.99 - off), float(done))


@dataclass(frozen=True)
class Poured(Goal):
    """More than ``count`` drops are in a cylinder in the frame of ``into``: about ``middle``, from its height upwards."""

    drops: str
    into: str
    count: int
    middle: Vec3
    radius: float
    height: float

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.into, "middle", "radius", "height")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        local = watch.world.pose(self.into).inverse().apply(watch.world.particles(self.drops)) - np.asarray(self.middle)
        inside = (hypot(local[:, 0], local[:, 1]) < self.radius) & (local[:, 2] > 0.0) & (local[:, 2] < self.height)
        there = int(inside.sum())
        return Status(there > self.count, min(1.0, there / (self.count + 1)), float(there > self.count))


@dataclass(frozen=True)
class Wiped(Goal):
    """At most ``left`` cells of ``dirt`` (specks of the scene) are still there.

    A cell is wiped away when the sponge touches the table and has the cell under its lower side; ``half`` are the half extents (m, in its
    own frame) of the part of it that wipes. It takes away ``other_dirt`` as well, which nobody asked for.
    """

    sponge: str
    dirt: str
    left: int
    half: Vec3
    other_dirt: tuple[str, ...] = ()

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.sponge, "half")

    def shown(self, node: GoalNode, scene: Scene) -> Iterable[Entity]:
        there = node.memory["there"] if node.begun else {}
        return [replace(e, positions=there[e.name]) for e in scene.entities if isinstance(e, Specks) and e.name in there]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        specks = [watch.world.scene.entity(name) for name in (self.dirt, *self.other_dirt)]
        memory["there"] = {s.name: s.positions for s in specks if isinstance(s, Specks)}
        memory["first"] = len(memory["there"][self.dirt])

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        there = node.memory["there"]
        if watch.touches(self.sponge, "table"):
            node.memory["there"] = there = {name: self._remaining(watch, cells) for name, cells in there.items()}
        count, first = len(there[self.dirt]), node.memory["first"]
        return Status(count <= self.left, min(1.0, (first - count) / max(1, first - self.left)), float(count <= self.left))

    def _remaining(self, watch: Watch, cells: tuple[Vec3, ...]) -> tuple[Vec3, ...]:
        if not cells:
            return cells
        local = product(np.array(cells) - watch.position(self.sponge), watch.axes(self.sponge))
        x, y, z = self.half
        under = (np.abs(local[:, :2]) < (x, y)).all(1) & (local[:, 2] < 0.0) & (local[:, 2] > -z - TOUCHING)
        return tuple(cell for cell, gone in zip(cells, under.tolist(), strict=True) if not gone)


@dataclass(frozen=True)
class Contained(Goal):
    """At least ``count`` of the ``grains`` (particles of the scene) have their middles in a box in the frame of ``by``.

    These lie still, and the hand touches none of them.
    """

    grains: str
    by: str
    lower: Vec3
    upper: Vec3
    count: int

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.by, "lower", "upper")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        places = watch.world.particles(self.grains)
        moved = norms(places - node.memory.get("last", places))
        node.memory["last"] = places
        local = watch.world.pose(self.by).inverse().apply(places)
        inside = ((local >= self.lower) & (local <= self.upper)).all(1)
        there = int((inside & (moved < LYING)).sum())
        done = there >= self.count and not watch.by_robot(self.grains)
        return Status(done, 1.0 if done else min(0.99, int(inside.sum()) / self.count), float(done))
