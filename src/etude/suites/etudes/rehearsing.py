"""Études thought through before they are played: what was asked for is done at one stroke, deed by deed, and judged by the same goal.

No physics, no arm: drawers slide, things are where they are put. What a hand could not get at is refused, as is what would be done
already when its turn comes, what cannot hold beside the rest, what would be told by words alone, and what nobody could have seen by then.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from etude.decisions.graph import walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Get
from etude.decisions.operator import Operator
from etude.goals.branching import Conditional, look_of
from etude.goals.goal import Always, Goal, GoalNode, Not
from etude.goals.leaves import AtPosition, OnTop, PushedTowards, RotatedBy, Touched
from etude.goals.regions import InBox
from etude.goals.units import Achieved, Control, MoveFree, MoveJoint
from etude.goals.watch import Watch
from etude.goals.whereabouts import Holding
from etude.names import EtudeError
from etude.pose import Array, Pose, Vec3, matrix
from etude.scene.scene import Body, Fixture, Scene
from etude.suites.etudes.facts import Holds
from etude.suites.etudes.household import CHEST, IN, IN_DRAWER, LEVELS, OUT, began, part_of
from etude.suites.etudes.meaning import EtudeGraph, SetTable

MOST_DEEDS = 40  # done at one stroke, before an étude is taken for one without end
MOST_IN_DRAWER, MOST_ON_CHEST = 2, 6  # things among which a hand still finds room
PUSHED_SHARE = 0.45  # of the way to its aim, that a thing is pushed at most: 30 % are asked for
AT_TABLE = (OnTop, AtPosition, RotatedBy, PushedTowards, Touched)  # deeds that are no composed goals


class Unplayable(EtudeError):
    """An étude that could not be played as it is meant."""


class ThoughtWorld:
    """A scene in which things stay where they are put: bodies in frames of the furniture, joints by their values."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.chest = next((one for one in scene.entities if isinstance(one, Fixture) and one.name == CHEST), None)
        self.joints = {part_of(level): value for level, value in began(self.chest).items()} if self.chest else {}
        # Of the chest, and of its drawers when they are shut.
        self._frames = {f"{CHEST}/{one.name}": self.chest.pose * one.pose for one in self.chest.parts} if self.chest else {}
        self.bodies = {one.name: one for one in scene.entities if isinstance(one, Body)}
        self.within: dict[str, tuple[str, Pose]] = {name: ("", body.pose) for name, body in self.bodies.items()}
        for level in LEVELS if self.chest else ():
            part = part_of(level)
            frame = self.pose(part).inverse()
            for name, body in self.bodies.items():
                local = frame * body.pose
                if all(low <= v <= high for v, low, high in zip(local.position, *IN_DRAWER, strict=True)):
                    self.within[name] = part, local

    def again(self) -> ThoughtWorld:
        """The same once more, in which other things can be done."""
        found = copy.copy(self)
        found.joints, found.within = dict(self.joints), dict(self.within)
        return found

    def joint(self, name: str) -> float:
        """The value of a joint, m."""
        return self.joints[name]

    def pose(self, name: str) -> Pose:
        """Of a body, the chest, or one of its drawers, world."""
        if name in self.bodies:
            frame, local = self.within[name]
            return self.pose(frame) * local if frame else local
        assert self.chest is not None
        if name == CHEST:
            return self.chest.pose
        return self._frames[name] * Pose((0.0, -self.joints[name], 0.0))

    def is_out(self, level: str) -> bool:
        """Is a drawer open, or neither open nor shut?"""
        return self.joints[part_of(level)] > IN

    def uncovered(self, level: str) -> bool:
        """Is a drawer open, and none above it?"""
        return self.joints[part_of(level)] >= OUT and not any(map(self.is_out, LEVELS[: LEVELS.index(level)]))

    def has_handle_free(self, level: str) -> bool:
        """Can a hand get at a drawer's handle? Not below an open drawer, nor close above one."""
        at = LEVELS.index(level)
        return not any(map(self.is_out, (*LEVELS[:at], *LEVELS[at + 1 : at + 2])))


class ThoughtWatch(Watch):
    """What goals see of a world that is only thought of; everything is at rest."""

    def __init__(self, world: ThoughtWorld) -> None:
        self.world: Any = world
        self.held = None
        self.touched = ""  # what the hand touches, if anything
        self.grips = True  # does it hold what it touches?
        self.carriers: dict[str, str] = {}  # what was put on something, and on what

    @property
    def tip(self) -> Pose:
        return Pose()

    def spot(self, name: str) -> Vec3:
        return self.world.pose(name).position  # type: ignore[no-any-return]

    def position(self, name: str) -> Array:
        return np.array(self.spot(name))

    def axes(self, name: str) -> Array:
        return matrix(self.world.pose(name).rotation)

    def point(self, name: str, x: float, y: float, z: float) -> Vec3:
        return self.world.pose(name).point(x, y, z)  # type: ignore[no-any-return]

    def static(self, name: str) -> bool:
        return True

    def grasped(self, name: str) -> bool:
        return self.grips and name == self.touched

    def between_fingers(self) -> str | None:
        return self.touched or None

    def by_robot(self, name: str) -> bool:
        return name == self.touched

    def touching(self, name: str) -> tuple[str, ...]:
        return ()

    def touches(self, first: str, second: str) -> bool:
        return second == "table" and first not in self.carriers

    def rests_on(self, top: str, bottom: str) -> bool:
        return self.carriers.get(top) == bottom

    def gap(self, first: str, second: str, limit: float = 0.5) -> float:
        return limit

    def reach(self, name: str) -> float:
        return 0.0


def holding(root: Operator, scene: Scene) -> list[bool]:
    """How the conditions of an étude stand at the start, from the root down."""
    table, watch = SetTable.of(scene), ThoughtWatch(ThoughtWorld(scene))
    facts = [table.fact(node.condition) for node in walk(root) if isinstance(node, Switch)]
    return [GoalNode.of(fact, "fact").judge(watch).satisfied for fact in facts]


class Rehearsal:
    """An étude thought through from its beginning to its end. Without its graph, conditions need not have been seen."""

    def __init__(self, etude: EtudeGraph | None, goal: Goal, scene: Scene | ThoughtWorld) -> None:
        self.world = scene.again() if isinstance(scene, ThoughtWorld) else ThoughtWorld(scene)
        self.watch, self.root = ThoughtWatch(self.world), GoalNode.of(goal, "goal")
        self._nodes = self.root.listed()
        self._deeds = list(_deeds(self.root))
        self._branches = [node for node in self._nodes if isinstance(node.goal, Conditional)]
        self._switches = [node for node in walk(etude.root) if isinstance(node, Switch)] if etude is not None else []
        self._table = SetTable.of(self.world.scene)
        self._at = ""  # what is worked on
        self._done: set[str] = set()
        self._shown: set[str] = set()  # drawers into which one could look
        self._moved: dict[str, set[str]] = {}  # things that were moved, and the drawers they were in

    def outcomes(self) -> list[bool | None]:
        """How the conditions come out, from the root down; None where the turn of one never comes. Raises :class:`Unplayable`."""
        self._look()
        last: list[Goal] = []
        for _ in range(MOST_DEEDS):
            if self.root.status.satisfied:
                return [node.memory["held"] if node.begun else None for node in self._branches]
            leaf = self.root.goal.following(self.root)
            if leaf is None or not isinstance(leaf.goal, (Achieved, *AT_TABLE)):
                break
            self._at = leaf.path
            last = [*last[-1:], leaf.goal]
            if isinstance(leaf.goal, Achieved):
                self._do(leaf.goal)
            else:
                self._do_at_table(leaf.goal)
        told = dict.fromkeys(map(_told, last))
        raise Unplayable(
            f"the étude does not come to its end: {' and '.join(told)} cannot both hold in it"
            if len(told) > 1
            else f"the étude does not come to its end, but stays with {''.join(told)}"
        )

    def _look(self, touched: str = "", grips: bool = True) -> None:
        before = [node.begun for node in self._nodes]
        self.watch.touched, self.watch.grips = touched, grips
        self._shown |= {level for level in LEVELS if self.world.chest and self.world.uncovered(level)}
        if self.root.judge(self.watch).violated:
            raise Unplayable(self._broken())
        new = {id(node) for node, begun in zip(self._nodes, before, strict=True) if node.begun and not begun}
        done = [node for node in self._deeds if node.status.satisfied and node.path not in self._done]
        for node in done:
            if id(node) in new:
                raise Unplayable(f"{_told(node.goal)} would be done already when its turn comes")
            if self.world.chest and not f"{self._at}.".startswith(f"{node.path}."):
                raise Unplayable(f"{_told(node.goal)} would be done by something else")
        self._done |= {node.path for node in done}
        for k, node in enumerate(self._branches):
            if id(node) in new and len(self._switches) == len(self._branches):
                self._refuse_unseen(self._switches[k].condition)

    def _broken(self) -> str:
        """Why the goal is violated."""
        for node in self._nodes:
            if isinstance(node.goal, Always) and node.status.violated:
                return f"the étude asks for what it forbids: {_told(node.goal)}"
        return "what is asked for makes something else impossible"

    # ---------------------------------------------------------------------------------------- deeds

    def _do_at_table(self, goal: Goal) -> None:
        """Bring about a deed at one stroke: what it moves is taken, and let go where it shall be."""
        thing = goal.top if isinstance(goal, OnTop) else goal.thing  # type: ignore[attr-defined]
        self._look(thing, grips=not isinstance(goal, (Touched, PushedTowards)))
        pose, carriers = self.world.pose(thing), self.watch.carriers
        if not isinstance(goal, Touched):
            carriers.pop(thing, None)
            for rider in [one for one, carrier in carriers.items() if carrier == thing]:
                del carriers[rider]  # falls down
        if isinstance(goal, OnTop):
            carriers[thing] = goal.bottom
            pose = self.world.pose(goal.bottom)
        elif isinstance(goal, AtPosition):
            pose = Pose.of(goal.position, pose.rotation)
        elif isinstance(goal, RotatedBy):
            pose = goal.pose
        elif isinstance(goal, PushedTowards):
            start, aim = pose.position, goal.position
            pose = pose.moved(*(PUSHED_SHARE * (b - a) for a, b in zip(start[:2], aim[:2], strict=True)))
        self.world.within[thing] = "", pose
        self._look()

    def _do(self, goal: Achieved) -> None:
        """Carry out the units of a deed at one stroke."""
        for unit in goal.units:
            if isinstance(unit, Control):
                self._refuse_out_of_reach(unit.thing)
                self._look(unit.thing)
            elif isinstance(unit, MoveJoint):
                self.world.joints[unit.joint] = max(0.0, (unit.range[0] + unit.range[1]) / 2)
            elif isinstance(unit, MoveFree):
                self._put(unit)
        self._look()

    def _refuse_out_of_reach(self, thing: str) -> None:
        level = thing.removeprefix(f"{CHEST}/")
        if level in LEVELS:
            if not self.world.has_handle_free(level):
                raise Unplayable(f"an open drawer is in the way of the {level} one")
            return
        inside = self.world.within[thing][0].removeprefix(f"{CHEST}/")
        if inside and not self.world.uncovered(inside):
            raise Unplayable(f"the {inside} drawer is shut, or covered by another")
        self._moved.setdefault(thing, set()).add(inside)

    def _put(self, unit: MoveFree) -> None:
        level = unit.to.of.removeprefix(f"{CHEST}/") if unit.to.of else ""
        assert isinstance(unit.to.where, InBox)
        middle = Pose(tuple((a + b) / 2 for a, b in zip(unit.to.where.lower, unit.to.where.upper, strict=True)))  # type: ignore[arg-type]
        if level in LEVELS:
            if not self.world.uncovered(level):
                raise Unplayable(f"the {level} drawer is shut, or covered by another")
            self.world.within[unit.thing] = unit.to.of, middle
            self._moved[unit.thing].add(level)
        else:
            self.world.within[unit.thing] = "", (self.world.pose(unit.to.of) * middle if unit.to.of else middle)
        frames = [frame for frame, _ in self.world.within.values()]
        if frames.count("") > MOST_ON_CHEST or any(frames.count(part_of(one)) > MOST_IN_DRAWER for one in LEVELS):
            raise Unplayable("there is no room for everything")

    # ---------------------------------------------------------------------------------------- conditions

    def _refuse_unseen(self, condition: Operator) -> None:
        """Whoever has looked must know, and whoever has only read must not."""
        for node in walk(condition):
            if isinstance(node, Get):
                inside = self.world.within[self._table.name(node.of)][0].removeprefix(f"{CHEST}/")
                if inside and inside not in self._shown:
                    raise Unplayable("a condition is about a thing that nobody has seen")
            elif isinstance(node, Holds):
                fact = node.fact(self._table)
                assert isinstance(fact, Holding)
                if node.of.level not in self._shown:
                    raise Unplayable("a condition is about what is in a drawer that was never open")
                like = (name for name in self._moved if look_of(self.world.bodies[name], fact.look) == fact.value)
                if any(node.of.level in self._moved[name] for name in like):
                    raise Unplayable("what is asked for tells how a condition comes out")


def _deeds(node: GoalNode) -> Iterator[GoalNode]:
    """The nodes of deeds, not those of their stages, nor what must never be."""
    if isinstance(node.goal, (Achieved, *AT_TABLE)):
        yield node
    elif not isinstance(node.goal, (Always, Not)):
        for member in node.members:
            yield from _deeds(member)


def _told(goal: Goal) -> str:
    """A deed in words, without the numbers of things."""
    if isinstance(goal, Achieved):
        return repr(goal.text)
    said = re.sub(r" \d+}", "", goal.words()).replace("{", "").replace(" without hitting anything else", "")
    return repr(f"{said[:1].lower()}{said[1:]}") if said else goal.json_kind
