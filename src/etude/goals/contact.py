"""Predicates about touching, pushing and toppling."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from etude.arithmetic import dot, norm
from etude.goals.goal import Goal, GoalNode, Status, listed, spoken_place
from etude.goals.shaping import across_of, judged
from etude.names import SPARSE
from etude.pose import Array, Vec3
from etude.scene.scene import Body, Scene

if TYPE_CHECKING:
    from etude.goals.adapting import Room
    from etude.goals.watch import Watch


class _Remembers(Goal):
    """Remembers where its thing was when it was first looked at, and whether it was ever grasped or touched."""

    thing: str

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(start=watch.position(self.thing).copy(), axes=watch.axes(self.thing).copy(), touched=False, grasped=False)

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        if thing == self.thing:
            memory["start"] = memory["start"] + shift

    def _remember(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory["touched"] = memory["touched"] or watch.by_robot(self.thing)
        memory["grasped"] = memory["grasped"] or watch.grasped(self.thing)


def _behind(watch: Watch, thing: str, target: Vec3) -> float:
    """1 when the hand stands behind the thing as seen from the target, falling to e^-2 on the far side."""
    p = watch.position(thing)
    a = np.array([watch.tip.position[0] - p[0], watch.tip.position[1] - p[1]])
    b = np.array([p[0] - target[0], p[1] - target[1]])
    length = norm(a) * norm(b)
    return math.exp((dot(a, b) / length if length > 1e-9 else 1.0) - 1.0)


class _Pushed(_Remembers):
    """Brings its thing towards a place without ever grasping it."""

    position: Vec3

    scaled = Goal.unchanged

    def destinations(self, room: Room) -> Iterable[Array]:
        return (room.way(self.thing, room.around(*self.position[:2], self.thing)),)

    def words(self) -> str:
        return f"Pushing the {{{self.thing}}} to {spoken_place(self.position)}"


@dataclass(frozen=True)
class PushedTo(_Pushed):
    """The thing was brought to a place by pushing: never grasped, at rest, and the hand has left it."""

    thing: str
    position: Vec3
    tolerance: float = 0.03

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        self._remember(watch, node.memory)
        there = across_of(watch.position(self.thing), self.position) < self.tolerance
        return _pushed(watch, node, self.thing, self.position, there)


@dataclass(frozen=True)
class PushedTowards(_Pushed):
    """The thing was pushed towards a place: nearer by ``share`` of the way and within ``angle`` of the direction, never grasped.

    ``towards``: the place is told as that of this thing at the start."""

    thing: str
    position: Vec3
    share: float = 0.3
    angle: float = math.radians(45)
    towards: str = field(default="", metadata=SPARSE)

    def words(self) -> str:
        return f"Push the {{{self.thing}}} towards the {{{self.towards}}}" if self.towards else super().words()

    def recast(self, names: Mapping[str, str], scene: Scene) -> Goal:
        place = {}
        if "towards" in names:
            aim = scene.entity(names["towards"])
            assert isinstance(aim, Body)
            place = {"position": aim.pose.position}
        return replace(self, **names, **place)  # type: ignore[arg-type]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        self._remember(watch, node.memory)
        start, now = node.memory["start"], watch.position(self.thing)
        wanted, made = np.subtract(self.position, start)[:2], (now - start)[:2]
        length = norm(wanted) * norm(made)
        nearer = across_of(now, self.position) < (1 - self.share) * across_of(start, self.position)
        straight = length > 1e-9 and dot(wanted, made) / length >= math.cos(self.angle)
        return _pushed(watch, node, self.thing, self.position, nearer and straight)


def _pushed(watch: Watch, node: GoalNode, thing: str, target: Vec3, there: bool) -> Status:
    if node.memory["grasped"]:
        return judged(False, 0.0, 5.0, violated=True)
    gap = watch.gap("hand", thing)
    free = not watch.by_robot(thing)
    if there:
        reward = 3.0 + (1.0 if free else 0.0) + math.exp(min(0.0, 100.0 * (gap - 0.001)))
        return judged(free and gap >= 0.001 and watch.static(thing), reward, 5.0)
    away = across_of(watch.position(thing), target)
    return judged(False, math.exp(-5.0 * gap) + math.exp(-5.0 * away) + _behind(watch, thing, target), 5.0)


@dataclass(frozen=True)
class Touched(_Remembers):
    """The hand touched the thing, and it stayed where it was, or was pushed away, or fell over; then it is at rest."""

    thing: str
    manner: Literal["touch", "push", "topple"] = "touch"
    still: float = 0.03  # m, for a mere touch
    moved: float = 0.10  # m, for a push
    lean: float = math.radians(45)

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"{self.manner.capitalize()} the {{{self.thing}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        self._remember(watch, node.memory)
        memory = node.memory
        moved = norm(watch.position(self.thing) - memory["start"])
        lean = math.acos(min(1.0, max(-1.0, dot(watch.axes(self.thing)[:, 2], memory["axes"][:, 2]))))
        toppled = lean >= self.lean
        done = {
            "touch": not memory["grasped"] and moved < self.still and lean < 0.1 * math.pi,
            "push": not memory["grasped"] and moved >= self.moved and not toppled,
            "topple": toppled,
        }[self.manner]
        if memory["touched"] and done and watch.static(self.thing):
            return judged(True, 3.0, 3.0)
        reward = math.exp(-5.0 * max(0.0, watch.gap("hand", self.thing)))
        if self.manner == "touch":
            reward += 0.5 * (moved < self.still) + 0.5 * (moved < self.still and lean < 0.1 * math.pi)
        else:
            fallen = min(1.0, lean / self.lean)
            reward += (fallen if self.manner == "topple" else 1.0 - fallen) + min(1.0, moved / self.moved)
        return judged(False, min(reward, 2.9), 3.0, violated=self.manner != "topple" and memory["grasped"])


@dataclass(frozen=True)
class Untouched(Goal):
    """Neither arm nor hand, nor what is in it, touches any of the things now."""

    things: tuple[str, ...]

    def words(self) -> str:
        return f"Do not touch {listed(self.things, article=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        hit = any(watch.by_robot(t) or (watch.held is not None and watch.touches(t, watch.held)) for t in self.things)
        return Status(not hit, float(not hit), 0.0)


@dataclass(frozen=True)
class StructureToppled(Goal):
    """Everything that was stacked touches the table."""

    things: tuple[str, ...]
    lean: float = math.radians(45)

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Topple the structure that consists of {listed(self.things, article=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        down = [t for t in self.things if watch.touches(t, "table")]
        up = [t for t in self.things if t not in down]
        reward = 3.0 * len(down) + max((self._nearly(watch, t) for t in up), default=0.0)
        return judged(not up, reward, 3.0 * len(self.things))

    def _nearly(self, watch: Watch, thing: str) -> float:
        """Shaping, from 0 to 2: the hand comes near, the thing leans."""
        lean = math.acos(min(1.0, abs(float(watch.axes(thing)[2, 2]))))
        return math.exp(-5.0 * max(0.0, watch.gap("hand", thing))) + min(1.0, lean / self.lean)
