"""Predicates about throwing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from etude.arithmetic import dot, product
from etude.catalog.polygon import Outline, contains
from etude.goals.goal import Goal, GoalNode, Status
from etude.goals.shaping import across_of, judged

if TYPE_CHECKING:
    from etude.goals.watch import Watch

_AHEAD = np.linspace(0.0, 0.9, 60)[:, None]  # s: how far ahead a throw is looked at
_FALL = np.array([0.0, 0.0, -0.5 * 9.81]) * _AHEAD**2


@dataclass(frozen=True)
class Hit(Goal):
    """``thrown`` left the hand, flew at least ``flight`` metres across before it touched anything, and touched ``target``.

    A bounce or a slide after the flight counts, a push by the robot does not. With ``topple`` the target must have fallen over as well;
    with ``stay`` a touch is not enough: the thing must come to rest with its middle over the target.
    """

    thrown: str
    target: str
    topple: bool = False
    stay: bool = False
    flight: float = 0.05
    lean: float = math.radians(45)

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(axes=watch.axes(self.target).copy(), left=None, landed=False, flown=False, hit=False)

    def words(self) -> str:
        return f"Hit the {{{self.target}}} with the {{{self.thrown}}} by throwing"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory, grasped = node.memory, watch.grasped(self.thrown)
        self._follow(watch, memory, grasped)
        if self._done(watch, memory):
            return judged(True, 12.0, 12.0)
        if grasped or (memory["left"] is not None and not memory["landed"]):
            return judged(False, 4.0 + 4.0 * math.exp(-10.0 * self.miss(watch)), 12.0)
        if memory["flown"] and memory["hit"] and not (watch.static(self.thrown) and watch.static(self.target)):
            return judged(False, 8.0, 12.0)  # still falling over, or coming to rest
        return judged(False, watch.reach(self.thrown), 12.0)

    def _follow(self, watch: Watch, memory: dict[str, Any], grasped: bool) -> None:
        """Note where the thing left the robot, whether it flew from there, and whether it then met its target."""
        p = watch.position(self.thrown)
        if grasped:
            memory.update(left=p.copy(), landed=False, flown=False)
        elif memory["left"] is not None:
            robot = watch.by_robot(self.thrown)
            landed = any(not t.startswith(("hand", "robot")) for t in watch.touching(self.thrown))
            if landed and not memory["landed"]:
                memory.update(landed=True, flown=across_of(p, memory["left"]) >= self.flight)
            elif robot:
                memory["flown"] = False
                if not landed:
                    memory.update(left=p.copy(), landed=False)
        memory["hit"] = memory["hit"] or (memory["flown"] and watch.touches(self.thrown, self.target))

    def _done(self, watch: Watch, memory: dict[str, Any]) -> bool:
        if self.stay:
            return bool(memory["flown"] and watch.static(self.thrown) and self.over(watch))
        return bool(memory["hit"] and (not self.topple or self.tilt(watch, memory) > self.lean))

    def tilt(self, watch: Watch, memory: dict[str, Any]) -> float:
        """How far the target leans from how it stood at first, rad."""
        return math.acos(min(1.0, max(-1.0, dot(watch.axes(self.target)[:, 2], memory["axes"][:, 2]))))

    def over(self, watch: Watch) -> bool:
        """Is the middle of the thing over the target, seen from above?"""
        local = product(watch.axes(self.target).T, watch.position(self.thrown) - watch.position(self.target))
        return any(bool(contains(Outline.of(ring), local[None, :2])[0]) for ring in watch.model(self.target).plan)

    def miss(self, watch: Watch) -> float:
        """By how much the thing, flying freely from now on, would miss: from its ballistic path to the box around the target, metres."""
        half, girth = np.asarray(watch.model(self.target).size) / 2, min(watch.model(self.thrown).size) / 2
        v, _ = watch.world.velocity(self.thrown)
        path = watch.position(self.thrown) + v * _AHEAD + _FALL
        beyond = np.maximum(np.abs(product(path - watch.position(self.target), watch.axes(self.target))) - half, 0.0)
        distance = np.sqrt((beyond * beyond).sum(1))
        table = watch.world.scene.table
        distance[1:][path[1:, 2] < (table.height if table is not None else 0.0)] = np.inf  # where the table would have stopped it
        return max(0.0, float(distance.min()) - girth)
