"""VLMbench's unit tasks: take hold of a thing, bring it somewhere by any way, bring it somewhere along a way that is itself constrained.

A task is a :class:`Composed` goal: a result that is judged, and the sequence of unit tasks that brings it about. The units say how far an
attempt got, and give the oracle and planners their sub-tasks; whoever gets the result in another way has succeeded all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from etude.arithmetic import total
from etude.catalog.polygon import hull
from etude.goals.goal import SWAYING, UNASKED, WAY, Goal, GoalNode, Status
from etude.goals.regions import Region
from etude.names import SPARSE, EtudeError
from etude.pose import Array, Pose, Vec2, Vec3
from etude.scene.outlines import frame_of

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch

_WORLD = Pose()
NEAR, TURN = 0.02, 0.2  # m and rad by which a region may be missed
RESTING = 20  # control steps in which what moves with something else comes to rest


class Unit(Goal):
    """Base of unit tasks. ``thing`` is a body, or a part of a fixture ("door/handle"); ``text`` is the low-level sentence."""

    thing: str
    text: str

    def words(self) -> str:
        return self.text

    def ready(self, watch: Watch) -> bool:
        return watch.grasped(self.thing)

    @property
    def notation(self) -> str:
        """As the paper writes it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Control(Unit):
    """The thing is in the hand, or was. ``prefer`` is the way the hand comes from; with ``lift`` the thing is raised afterwards.

    ``out`` (m) is how it is first drawn straight out of something, in the frame of that, ``of``. ``handle`` are the ends (m, in the frame
    of the thing) of the bar across which the fingers shall take it: a broom by its stick. Without it they may take it anywhere.
    ``given`` is what the words take for granted: that the block to be picked up "in the top drawer" is there. ``towards`` says the way to
    the thing in words, where the text does not: "Move to the top of the mug; Grasp the mug." does.
    """

    thing: str
    text: str
    prefer: Literal["vertical", "horizontal"] = "vertical"
    lift: bool = True
    out: Vec3 = (0.0, 0.0, 0.0)
    of: str = ""
    handle: tuple[Vec3, ...] = ()
    given: tuple[Goal, ...] = field(default=(), metadata=UNASKED)
    towards: str = ""

    destinations = Goal.nowhere

    @property
    def steps(self) -> tuple[str, str]:
        """The sentences for the way to the thing, and for taking it."""
        towards, _, taking = self.text.rpartition("; ")
        return (f"{towards}.", taking) if towards else (self.towards or self.text, self.text)

    def scaled(self, change: Scaled) -> Goal:
        return replace(change.in_frame(self, self.thing, "handle"), given=tuple(one.scaled(change) for one in self.given))

    def ready(self, watch: Watch) -> bool:
        return all(GoalNode(one, "", []).judge(watch).satisfied for one in self.given)

    def grasp(self) -> str:
        return self.thing

    @property
    def notation(self) -> str:
        return f"Control({self.thing})"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory = node.memory
        if watch.grasped(self.thing):
            memory.setdefault("first", self.thing)
            memory["done"] = True
        elif "first" not in memory and (other := watch.between_fingers()) is not None:
            memory["first"] = other
        done = bool(memory.get("done"))
        return Status(done, float(done), 1.0 if done else 0.0)


class _Move(Unit):
    thing: str
    to: Region
    text: str
    release: bool

    def scaled(self, change: Scaled) -> Goal:
        if change.meant(self.thing):
            change.refuse_one_size(self.to.of)
        return replace(self, to=self.to.scaled(self.thing, change))  # type: ignore[type-var]

    def destinations(self, room: Room) -> Iterable[Array]:
        points = self.to.corners(frame_of(room.scene, self.to.of))
        return (hull(np.vstack([room.around(x, y, self.thing) for x, y, _ in points.tolist()])),) if len(points) else ()

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        if node.memory.get("done"):
            return Status(True, 1.0, 1.0)
        far, turned = self.to.off(watch.world.pose(self.to.of) if self.to.of else _WORLD, watch.world.pose(self.thing))
        there = far < NEAR and turned < TURN and not (self.release and watch.grasped(self.thing))
        node.memory["done"] = there
        return Status(there, 1.0 if there else max(0.0, 1.0 - far), float(there))


@dataclass(frozen=True)
class MoveFree(_Move, kind="M1"):
    """The controlled thing is brought into the region by any free way, and let go there with ``release``.

    ``back`` (m) is how far before the goal the hand stops first, back along its approach; ``contact`` says that the thing will touch what
    it is brought to, so that nothing is checked for being free there. So many ``searches`` for a free way are made before the hand goes
    straight; where there are several, places come first where the fingers can open without meeting anything else.
    """

    thing: str
    to: Region
    text: str
    release: bool = True
    back: float = 0.0
    contact: bool = False
    searches: int = field(default=1, metadata=SPARSE)

    @property
    def notation(self) -> str:
        return f"M1[{self.to.letters}]({self.thing})"


@dataclass(frozen=True)
class MoveConstrained(_Move, kind="M2"):
    """The controlled thing is brought into the region straight, turning steadily: what holds at both ends holds on the way."""

    thing: str
    to: Region
    text: str
    release: bool = False
    contact: bool = False

    @property
    def notation(self) -> str:
        return f"M2[{self.to.letters}]({self.thing})"


@dataclass(frozen=True)
class MoveJoint(Unit, kind="M2Joint"):
    """The controlled part is moved with the joint of a part ("cabinet/top") until its value is in ``range`` (m or rad).

    It moves along the joint's axis, or with ``turns`` about it.
    """

    thing: str
    joint: str
    range: Vec2
    text: str
    release: bool = False
    turns: bool = False

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        return change.along(self, self.joint, "range")

    @property
    def notation(self) -> str:
        return f"M2[{'a4,b4' if self.turns else 'a3,b3'}]({self.joint})"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        value = watch.world.joint(self.joint)
        low, high = self.range
        off = max(low - value, value - high, 0.0)
        there = bool(node.memory.get("done")) or off == 0.0
        node.memory["done"] = there
        return Status(there, 1.0 if there else max(0.0, 1.0 - off), float(there))


@dataclass(frozen=True)
class Composed(Goal):
    """The ``result`` holds now; ``units`` is the sequence that brings it about: unit tasks, or tasks that are composed themselves.

    ``other_places`` could be confused with where the thing is to be brought. ``text`` says the whole in words, where it is a stage of
    something longer. ``others`` are not asked for: what else can be done with the things that are there, which a planner may say instead.
    """

    result: Goal
    units: tuple[Goal, ...] = field(metadata=WAY)
    other_places: tuple[str, ...] = ()
    text: str = ""
    others: tuple[Goal, ...] = field(default=(), metadata=UNASKED)

    def __post_init__(self) -> None:
        if not self.units:
            raise EtudeError("a composed goal needs at least one unit")

    @property
    def notation(self) -> str:
        """The sequence as the paper writes it."""
        return " + ".join(u.notation for u in self.units if isinstance(u, Unit))

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory["turn"] = 0

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        result = node.members[0].judge(watch)
        units = node.members[1:]
        while node.memory["turn"] < len(units) and units[node.memory["turn"]].judge(watch).satisfied:
            node.memory["turn"] += 1
        turn = node.memory["turn"]
        if turn == len(units) and not result.satisfied and self.staged and not self._comes_to_rest(result, node):
            turn = node.memory["turn"] = 0  # something was undone on the way: begin anew
        share = (turn + (units[turn].status.progress if turn < len(units) else 0.0)) / (len(units) + 1)
        reward = total(u.status.reward for u in units[:turn]) + (len(units) if result.satisfied else 0.0)
        return Status(result.satisfied, 1.0 if result.satisfied else min(share, 0.99), reward, result.violated)

    def _comes_to_rest(self, result: Status, node: GoalNode) -> bool:
        """May it be that all is as it should be, and only moves still with what it is in, such as a block in a drawer just shut?"""
        waited = node.memory["waited"] = node.memory.get("waited", 0) + 1 if result.progress >= SWAYING else 0
        if waited > RESTING:
            node.memory["waited"] = 0
        return 0 < waited <= RESTING

    @property
    def staged(self) -> bool:
        """Are its units composed themselves?"""
        return isinstance(self.units[0], Composed)

    def current(self, node: GoalNode) -> GoalNode:
        """The unit that is worked on; the last one when all are done."""
        turn: int = node.memory.get("turn", 0)
        return node.members[1 + min(turn, len(self.units) - 1)]

    def following(self, node: GoalNode) -> GoalNode | None:
        if node.status.satisfied:
            return None
        stage = self.current(node)
        return (stage.goal.following(stage) or stage) if self.staged else node

    def choices(self, node: GoalNode) -> list[GoalNode]:
        if node.status.satisfied:
            return []
        stage = self.current(node)
        return stage.goal.choices(stage) if self.staged else [stage]

    def saying(self, node: GoalNode) -> str:
        stage = self.current(node)
        return stage.goal.saying(stage)


@dataclass(frozen=True)
class Achieved(Composed):
    """A composed goal that stands beside others: what was brought about and only sways, because something else is done with what it is
    in, is neither begun anew nor worked on meanwhile."""

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        turn = node.memory["turn"]
        status = super().judge(watch, node)
        nearly = node.members[0].status.progress
        if status.satisfied or not node.reached or nearly < SWAYING:
            return status
        node.memory["turn"] = turn
        if self.staged:
            node.members[-1].judge(watch)
        return status._replace(progress=nearly)

    def following(self, node: GoalNode) -> GoalNode | None:
        return node.members[-1] if self.staged and self.sways(node) else super().following(node)

    def sways(self, node: GoalNode) -> bool:
        return bool(node.reached) and not node.status.satisfied and node.members[0].status.progress >= SWAYING
