"""Predicates of VIMA: things that lie where they should, seen from above, and others that stay away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from etude.goals.goal import Goal, GoalNode, Status, every, listed, spoken_place
from etude.goals.shaping import carrying, judged
from etude.pose import Array, Vec2

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch


@dataclass(frozen=True)
class Laid(Goal):
    """The thing lies within ``tolerance`` of a place, seen from above, let go and at rest; turned to ``yaw`` within ``angle``, if given.

    ``into`` is the thing that is meant by the place, for words only. Turns by 360°/``symmetry`` count as equal.
    """

    thing: str
    place: Vec2
    tolerance: float = 0.1
    yaw: float | None = None
    angle: float = math.radians(15)
    symmetry: int = 1
    into: str = ""

    def scaled(self, change: Scaled) -> Goal:
        return change.on_table(self, self.into, "place")

    def destinations(self, room: Room) -> Iterable[Array]:
        return (room.around(*self.place, self.thing),)

    def words(self) -> str:
        turned = "" if self.yaw is None else f", turned to {round(math.degrees(self.yaw)) % 360} degrees"
        where = f"into {{{self.into}}}" if self.into else f"at {spoken_place((*self.place, 0.0))}"
        return f"Put {{{self.thing}}} {where}{turned}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        p = watch.spot(self.thing)
        across = math.hypot(p[0] - self.place[0], p[1] - self.place[1])
        turn = None if self.yaw is None else abs(self.off_by(watch))
        there = across < self.tolerance and (turn is None or turn < self.angle)
        grasped = watch.grasped(self.thing)
        if there and not grasped and watch.static(self.thing):
            return judged(True, 6.0, 6.0)
        if grasped:
            return judged(False, carrying(across, p[2], turn), 6.0)
        return judged(False, 5.0 if there else watch.reach(self.thing), 6.0)

    def off_by(self, watch: Watch) -> float:
        """How far it must still be turned, rad in (−π, π]; 0 where no yaw is asked for."""
        if self.yaw is None:
            return 0.0
        (a, b, _), (c, d, _), _ = watch.axes(self.thing).tolist()
        off = self.yaw - math.atan2(c - b, a + d)
        step = 2 * math.pi / self.symmetry
        return off - step * round(off / step)


@dataclass(frozen=True)
class Clear(Goal):
    """None of the things lies at rest within ``tolerance`` of one of the places."""

    things: tuple[str, ...]
    places: tuple[Vec2, ...]
    tolerance: float = 0.1

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        moved = {laid.place: change.moved(laid.place) for laid in every(change.goal, Laid) if change.meant(laid.into)}
        return replace(self, places=tuple(moved.get(place, place) for place in self.places))

    def words(self) -> str:
        return f"Keep {listed(self.things)} away from where others belong" if self.things else ""

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        wrong = self.intruder(watch) is not None
        return Status(not wrong, float(not wrong), 0.0)

    def intruder(self, watch: Watch) -> str | None:
        """The first thing that lies where it should not."""
        for thing in self.things:
            if self._near(watch, thing) and not watch.grasped(thing) and watch.static(thing):
                return thing
        return None

    def _near(self, watch: Watch, thing: str) -> bool:
        px, py, _ = watch.spot(thing)
        return any(math.hypot(px - x, py - y) < self.tolerance for x, y in self.places)


@dataclass(frozen=True)
class Away(Clear):
    """None of the things is within ``tolerance`` of one of the places, and none is in the hand: what was in the way lies elsewhere."""

    def words(self) -> str:
        return f"Put {listed(self.things)} where they are not in the way" if self.things else ""

    def intruder(self, watch: Watch) -> str | None:
        """The thing in the hand, or the first that is where it should not be."""
        held = next((thing for thing in self.things if watch.grasped(thing)), None)
        return held or next((thing for thing in self.things if self._near(watch, thing)), None)


@dataclass(frozen=True)
class OnBoard(Goal):
    """Every thing is inside a rectangle of the table, seen from above."""

    things: tuple[str, ...]
    lower: Vec2
    upper: Vec2

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Keep {listed(self.things)} on the table"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        (west, south), (east, north) = self.lower, self.upper
        for thing in self.things:
            x, y, _ = watch.spot(thing)
            if not (west <= x <= east and south <= y <= north):
                return Status(False, 0.0, 0.0)
        return Status(True, 1.0, 0.0)
