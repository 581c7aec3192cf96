"""Facts about where things are, or were at the start: what a detector sees, what a drawer holds, what lies nearer or farther to a side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from etude.goals.branching import Look, look_of
from etude.goals.goal import Goal, GoalNode, Status
from etude.pose import Vec3
from etude.scene.scene import Body, Fixture

if TYPE_CHECKING:
    from etude.goals.adapting import Scaled
    from etude.goals.watch import Watch

Side = Literal["left", "right", "nearer", "farther"]
SIDES: tuple[Side, ...] = ("left", "right", "nearer", "farther")


def _inside(watch: Watch, thing: str, by: str, lower: Vec3, upper: Vec3) -> bool:
    place = watch.world.pose(by).inverse().point(*watch.spot(thing))
    return all(low <= v <= high for v, low, high in zip(place, lower, upper, strict=True))


@dataclass(frozen=True)
class Located(Goal):
    """The middle of a thing is inside a box in the frame of ``by`` (an entity, or "fixture/part"), at rest or not."""

    thing: str
    by: str
    lower: Vec3
    upper: Vec3

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.by, "lower", "upper")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        there = _inside(watch, self.thing, self.by, self.lower, self.upper)
        return Status(there, float(there), 0.0)


@dataclass(frozen=True)
class Holding(Goal):
    """In a box in the frame of ``by`` is a thing of this colour or shape."""

    by: str
    lower: Vec3
    upper: Vec3
    look: Look
    value: str

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.by, "lower", "upper")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        like = [one.name for one in watch.world.scene.entities if isinstance(one, Body) and look_of(one, self.look) == self.value]
        there = any(_inside(watch, name, self.by, self.lower, self.upper) for name in like)
        return Status(there, float(there), 0.0)


@dataclass(frozen=True)
class JointBegan(Goal):
    """A joint's value was between ``least`` and ``most`` (m or rad) at the start."""

    joint: str
    least: float
    most: float

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.along(self, self.joint, "least", "most")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        name, _, part = self.joint.partition("/")
        fixture = watch.world.scene.entity(name)
        assert isinstance(fixture, Fixture)
        began = dict(zip([one.name for one in fixture.jointed()], fixture.joints, strict=True))[part]
        held = self.least <= began <= self.most
        return Status(held, float(held), 0.0)


@dataclass(frozen=True)
class Farther(Goal):
    """One thing is farther to a side than another, as the robot sees them, or nearer to it: now, or ``before``, at the start.

    Left and right are those of one who stands where the robot does and looks along its x axis.
    """

    first: str
    second: str
    side: Side
    before: bool = False

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        held = self.gap(watch) > 0.0
        return Status(held, float(held), 0.0)

    def gap(self, watch: Watch) -> float:
        """By how much it is so, m; negative where the opposite is."""
        first, second = (watch.body(one).pose.position if self.before else watch.spot(one) for one in (self.first, self.second))
        return apart(self.side, first, second, watch.base.position)


def apart(side: Side, first: Vec3, second: Vec3, base: Vec3) -> float:
    """By how much the first place is farther to a side than the second, seen from ``base``, m (world)."""
    if side in ("left", "right"):
        return (first[1] - second[1]) * (1.0 if side == "left" else -1.0)
    away = [math.dist(place[:2], base[:2]) for place in (first, second)]
    return away[1] - away[0] if side == "nearer" else away[0] - away[1]


@dataclass(frozen=True)
class Near(Goal):
    """The middle of a thing is within so many metres of a place (m, world)."""

    thing: str
    position: Vec3
    within: float

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Do not move the {{{self.thing}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        near = math.dist(watch.spot(self.thing), self.position) <= self.within
        return Status(near, float(near), 0.0)
