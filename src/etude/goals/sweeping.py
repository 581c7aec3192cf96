"""Predicates of sweeping: things that lie inside a rectangle of the table, and things that keep off one. Judged by their true outline."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from etude.arithmetic import turned
from etude.catalog.polygon import hull, separation
from etude.catalog.registry import shape
from etude.goals.goal import Goal, GoalNode, Status, listed
from etude.goals.shaping import judged
from etude.names import EtudeError
from etude.pose import Array, Vec2, Vec3

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch

NUMBERS = ("none", "one", "two", "three", "four", "five")


@functools.lru_cache(maxsize=256)
def _pieces(name: str, size: Vec3 | None) -> tuple[Array, ...]:
    """Points (N, 3) around each convex piece of a shape."""
    return tuple(piece.support(around=True) for piece in shape(name, size).pieces)


@functools.lru_cache(maxsize=256)
def _points(name: str, size: Vec3 | None) -> Array:
    """Those of all pieces together."""
    return np.vstack(_pieces(name, size))


def _seen(watch: Watch, thing: str, points: Array) -> Array:
    """Points (N, 3) of a thing's own frame as seen from above, (N, 2) metres, world."""
    return np.asarray(turned(points, watch.axes(thing)[:2]) + watch.position(thing)[:2])


def inside(watch: Watch, thing: str, lower: Vec2, upper: Vec2) -> bool:
    """Does every point of the thing lie above the rectangle?"""
    body = watch.body(thing)
    x, y = watch.position(thing)[:2].tolist()
    if not (lower[0] <= x <= upper[0] and lower[1] <= y <= upper[1]):
        return False
    seen = _seen(watch, thing, _points(body.shape, body.size))
    return bool((seen >= lower).all() and (seen <= upper).all())


def over(watch: Watch, thing: str, lower: Vec2, upper: Vec2) -> bool:
    """Does any point of the thing lie above the rectangle?"""
    body = watch.body(thing)
    seen = _seen(watch, thing, _points(body.shape, body.size))
    if (seen.max(0) <= lower).any() or (seen.min(0) >= upper).any():
        return False
    corners = np.array([lower, (upper[0], lower[1]), upper, (lower[0], upper[1])])
    pieces = (hull(_seen(watch, thing, piece)) for piece in _pieces(body.shape, body.size))
    return any(separation(piece, corners) < 0 for piece in pieces)


@dataclass(frozen=True)
class Gathered(Goal):
    """At least ``count`` of the things lie wholly inside a rectangle of the table, at rest.

    ``into`` is the area that is meant, ``without`` the one to keep off on the way: both for words, and for those who plan the way.
    """

    things: tuple[str, ...]
    count: int
    lower: Vec2
    upper: Vec2
    into: str = ""
    without: str = ""

    def scaled(self, change: Scaled) -> Goal:
        if self.without and change.name == self.into:
            raise EtudeError("the zone ends at a line, which would stay where it is")
        return change.on_table(self, self.into, "lower", "upper")

    def destinations(self, room: Room) -> Iterable[Array]:
        corners = np.array([(x, y) for x in (self.lower[0], self.upper[0]) for y in (self.lower[1], self.upper[1])])
        return [room.way(thing, corners) for thing in self.things]

    def words(self) -> str:
        among = listed(self.things) if len(self.things) == self.count else f"{NUMBERS[self.count]} of {listed(self.things)}"
        return f"Sweep {among} into {{{self.into}}}" + (f" without touching {{{self.without}}}" if self.without else "")

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        there = [t for t in self.things if inside(watch, t, self.lower, self.upper)]
        lying = sum(bool(watch.static(t)) for t in there)
        if lying >= self.count:
            return judged(True, 6.0, 6.0)
        left = [t for t in self.things if t not in there]
        near = max((watch.reach(t) for t in left), default=0.0)
        return judged(False, (4.0 * min(lying, self.count) + near) / self.count, 6.0)


@dataclass(frozen=True)
class NoMore(Goal):
    """At most ``count`` of the things are inside the rectangle."""

    things: tuple[str, ...]
    count: int
    lower: Vec2
    upper: Vec2
    into: str = ""

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.on_table(self, self.into, "lower", "upper")

    def words(self) -> str:
        return f"Leave no more than {NUMBERS[self.count]} of {listed(self.things)} in {{{self.into}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        kept = len(self.inside(watch)) <= self.count
        return Status(kept, float(kept), 0.0)

    def inside(self, watch: Watch) -> list[str]:
        """Those that are."""
        return [t for t in self.things if inside(watch, t, self.lower, self.upper)]


@dataclass(frozen=True)
class KeptOff(Goal):
    """No point of any of the things is above a rectangle of the table, called ``area``."""

    things: tuple[str, ...]
    lower: Vec2
    upper: Vec2
    area: str = ""

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.on_table(self, self.area, "lower", "upper")

    def words(self) -> str:
        return f"Keep {listed(self.things)} off {{{self.area}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        kept = self.intruder(watch) is None
        return Status(kept, float(kept), 0.0)

    def intruder(self, watch: Watch) -> str | None:
        """The first thing that is there."""
        return next((t for t in self.things if over(watch, t, self.lower, self.upper)), None)
