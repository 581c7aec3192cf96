"""Études thought through before they are played: what was asked for is done at one stroke, deed by deed, and judged by the same goal.

No physics, no arm: drawers slide, things are where they are put. What a hand could not get at is refused, as is what would be done
already when its turn comes, what would be told by words alone, and what nobody could have seen by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etude.decisions.graph import walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Get
from etude.decisions.operator import Operator
from etude.goals.branching import Conditional, look_of
from etude.goals.goal import Goal, GoalNode
from etude.goals.regions import InBox
from etude.goals.units import Achieved, Control, MoveFree, MoveJoint
from etude.goals.watch import Watch
from etude.goals.whereabouts import Holding
from etude.names import EtudeError
from etude.pose import Pose, Vec3
from etude.scene.scene import Body, Fixture, Scene
from etude.suites.etudes.facts import Holds
from etude.suites.etudes.household import CHEST, IN, IN_DRAWER, LEVELS, OUT, began, part_of
from etude.suites.etudes.meaning import EtudeGraph, SetTable

MOST_DEEDS = 40  # done at one stroke, before an étude is taken for one without end
MOST_IN_DRAWER, MOST_ON_CHEST = 2, 6  # things among which a hand still finds room


class Unplayable(EtudeError):
    """An étude that could not be played as it is meant."""


class ThoughtWorld:
    """A scene in which things stay where they are put: bodies in frames of the furniture, joints by their values."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.chest = next((one for one in scene.entities if isinstance(one, Fixture) and one.name == CHEST), None)
        self.joints = {part_of(level): value for level, value in began(self.chest).items()} if self.chest else {}
        self.bodies = {one.name: one for one in scene.entities if isinstance(one, Body)}
        self.within: dict[str, tuple[str, Pose]] = {name: ("", body.pose) for name, body in self.bodies.items()}
        for level in LEVELS if self.chest else ():
            part = part_of(level)
            for name, body in self.bodies.items():
                local = self.pose(part).inverse() * body.pose
                if all(low <= v <= high for v, low, high in zip(local.position, *IN_DRAWER, strict=True)):
                    self.within[name] = part, local

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
        part = next(one for one in self.chest.parts if name == f"{CHEST}/{one.name}")
        return self.chest.pose * part.pose * Pose((0.0, -self.joints[name], 0.0))

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

    def spot(self, name: str) -> Vec3:
        return self.world.pose(name).position  # type: ignore[no-any-return]

    def point(self, name: str, x: float, y: float, z: float) -> Vec3:
        return self.world.pose(name).point(x, y, z)  # type: ignore[no-any-return]

    def static(self, name: str) -> bool:
        return True

    def grasped(self, name: str) -> bool:
        return name == self.touched

    def between_fingers(self) -> str | None:
        return self.touched or None

    def by_robot(self, name: str) -> bool:
        return name == self.touched

    def touches(self, first: str, second: str) -> bool:
        return False


def holding(root: Operator, scene: Scene) -> list[bool]:
    """How the conditions of an étude stand at the start, from the root down."""
    table, watch = SetTable.of(scene), ThoughtWatch(ThoughtWorld(scene))
    facts = [table.fact(node.condition) for node in walk(root) if isinstance(node, Switch)]
    return [GoalNode.of(fact, "fact").judge(watch).satisfied for fact in facts]


class Rehearsal:
    """An étude at a chest of drawers, thought through from its beginning to its end."""

    def __init__(self, etude: EtudeGraph, goal: Goal, scene: Scene) -> None:
        self.world = ThoughtWorld(scene)
        self.watch, self.root = ThoughtWatch(self.world), GoalNode.of(goal, "goal")
        self._nodes = self.root.listed()
        self._deeds = list(_deeds(self.root))
        self._branches = [node for node in self._nodes if isinstance(node.goal, Conditional)]
        self._switches = [node for node in walk(etude.root) if isinstance(node, Switch)]
        self._table = SetTable.of(scene)
        self._at = ""  # what is worked on
        self._done: set[str] = set()
        self._shown: set[str] = set()  # drawers into which one could look
        self._moved: dict[str, set[str]] = {}  # things that were moved, and the drawers they were in

    def outcomes(self) -> list[bool | None]:
        """How the conditions come out, from the root down; None where the turn of one never comes. Raises :class:`Unplayable`."""
        self._look()
        for _ in range(MOST_DEEDS):
            if self.root.status.satisfied:
                return [node.memory["held"] if node.begun else None for node in self._branches]
            leaf = self.root.goal.following(self.root)
            if leaf is None or not isinstance(leaf.goal, Achieved):
                break
            self._at = leaf.path
            self._do(leaf.goal)
        raise Unplayable("the étude does not come to its end")

    def _look(self, touched: str = "") -> None:
        before = [node.begun for node in self._nodes]
        self.watch.touched = touched
        self._shown |= {level for level in LEVELS if self.world.uncovered(level)}
        if self.root.judge(self.watch).violated:
            raise Unplayable("what is asked for makes something else impossible")
        new = {id(node) for node, begun in zip(self._nodes, before, strict=True) if node.begun and not begun}
        done = [node for node in self._deeds if node.status.satisfied and node.path not in self._done]
        if any(id(node) in new or not f"{self._at}.".startswith(f"{node.path}.") for node in done):
            raise Unplayable("something would be done before it is begun")
        self._done |= {node.path for node in done}
        for k, node in enumerate(self._branches):
            if id(node) in new and len(self._switches) == len(self._branches):
                self._refuse_unseen(self._switches[k].condition)

    # ---------------------------------------------------------------------------------------- deeds

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
    """The nodes of deeds, not those of their stages."""
    if isinstance(node.goal, Achieved):
        yield node
    else:
        for member in node.members:
            yield from _deeds(member)
