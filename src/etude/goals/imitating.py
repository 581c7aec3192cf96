"""Predicates about who moves when: each step by a move of its own, in its turn, and nothing else besides.

They look at the world only. A move is what lies between two moments of rest: something was elsewhere before, and is out of the hand now.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from etude.goals.goal import Goal, GoalNode, Status
from etude.goals.laying import Laid
from etude.goals.shaping import across_of, judged
from etude.pose import Array, Vec3

if TYPE_CHECKING:
    from etude.goals.watch import Watch

ELSEWHERE = 0.02  # m: what came to rest nearer to where it lay was nudged, not moved


def _place(watch: Watch, thing: str) -> Vec3:
    x, y, z = watch.position(thing).tolist()
    return (x, y, z)


def _shifted(place: Vec3, shift: Array) -> Vec3:
    x, y, z = (p + float(s) for p, s in zip(place, shift, strict=True))
    return (x, y, z)


@dataclass(frozen=True)
class Anew(Goal):
    """The member holds, and its thing was taken or moved since its turn came: what lay there already does not count."""

    member: Laid

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(start=_place(watch, self.member.thing), moved=False)

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        if thing == self.member.thing:
            memory["start"] = _shifted(memory["start"], shift)

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        thing, memory = self.member.thing, node.memory
        status = node.members[0].judge(watch)
        memory["moved"] = memory["moved"] or watch.grasped(thing) or math.dist(_place(watch, thing), memory["start"]) > ELSEWHERE
        return status if memory["moved"] or not status.satisfied else judged(False, watch.reach(thing), 6.0)

    def following(self, node: GoalNode) -> GoalNode | None:
        return None if node.status.satisfied else node.members[0]


class _Watching(Goal):
    """Looks at goals that are members of others."""

    def parts(self) -> tuple[Goal, ...]:
        return ()


@dataclass(frozen=True)
class Followed(_Watching):
    """The latest completed move brought about the next of ``moves``. One that did not breaks this; the next that does mends it.

    ``things`` is all that can be moved: whichever of them comes to rest elsewhere has been. Things that were pushed aside while the
    right one went to its place do not count against it.
    """

    moves: tuple[Laid, ...]
    things: tuple[str, ...]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, right=True, rest={t: _place(watch, t) for t in self.things})

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        if thing in memory["rest"]:
            memory["rest"][thing] = _shifted(memory["rest"][thing], shift)

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory = node.memory
        moved = self._moved(watch, memory["rest"])
        if moved:
            turn: int = memory["turn"]
            wanted = self.moves[turn] if turn < len(self.moves) else None
            memory["right"] = wanted is not None and wanted.thing in moved and wanted.judge(watch, node).satisfied
            memory["turn"] = turn + int(memory["right"])
            memory["rest"].update(moved)
        return Status(memory["right"], float(memory["right"]), 0.0)

    def _moved(self, watch: Watch, rest: dict[str, Vec3]) -> dict[str, Vec3]:
        """Where the things are that a move has just brought elsewhere; none while anything is held, touched or still on its way."""
        if watch.held is not None:
            return {}
        now = {t: _place(watch, t) for t in self.things}
        moved = {t: p for t, p in now.items() if math.dist(p, rest[t]) > ELSEWHERE}
        if not moved or any(watch.by_robot(t) for t in moved) or not all(watch.static(t) for t in self.things):
            return {}
        return moved


@dataclass(frozen=True)
class InTurn(_Watching):
    """No step has come about before its turn: nothing lies where it is to go only later.

    What lies there from the start may stay until it is first taken away (the original container of a thing to be restored).
    """

    steps: tuple[Laid, ...]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, old=[self._near(watch, s) for s in self.steps])

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory = node.memory
        memory["old"] = [old and self._near(watch, s) for old, s in zip(memory["old"], self.steps, strict=True)]
        holds = [s.judge(watch, node).satisfied for s in self.steps]
        while memory["turn"] < len(holds) and holds[memory["turn"]]:
            memory["turn"] += 1
        early = any(h and not old for h, old in list(zip(holds, memory["old"], strict=True))[memory["turn"] + 1 :])
        return Status(not early, float(not early), 0.0)

    @staticmethod
    def _near(watch: Watch, step: Laid) -> bool:
        return across_of(watch.position(step.thing), (*step.place, 0.0)) < step.tolerance


@dataclass(frozen=True)
class NotAmong(_Watching):
    """Nothing that a step is still to be made with was left where one of the ``others`` lies, as near to it as to where it belongs (VIMA).

    What lay beside one of them from the start has not been left there.
    """

    steps: tuple[Laid, ...]
    others: tuple[str, ...]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(start=[_place(watch, s.thing) for s in self.steps], done=[False] * len(self.steps))

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory, wrong = node.memory, False
        for k, (step, start) in enumerate(zip(self.steps, memory["start"], strict=True)):
            memory["done"][k] = memory["done"][k] or step.judge(watch, node).satisfied
            if not memory["done"][k] and math.dist(_place(watch, step.thing), start) > ELSEWHERE:
                wrong = wrong or any(self._at(watch, step, other).judge(watch, node).satisfied for other in self.others)
        return Status(not wrong, float(not wrong), 0.0)

    @staticmethod
    def _at(watch: Watch, step: Laid, other: str) -> Laid:
        (x, y, _), axes = _place(watch, other), watch.axes(other)
        turned = None if step.yaw is None else math.atan2(axes[1, 0] - axes[0, 1], axes[0, 0] + axes[1, 1])
        return replace(step, place=(x, y), yaw=turned)
