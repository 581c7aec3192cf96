"""Goals that depend on what is so: one of two by a fact, one after the other, each in its turn, so many and no more, and what depends on
what was done before; and facts that can be seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from etude.arithmetic import total
from etude.goals.goal import UNASKED, Either, Goal, GoalNode, Sequence, Status
from etude.pose import Array
from etude.scene.scene import Body

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch

Look = Literal["colour", "shape"]
BRANCHES = "then", "otherwise"


def branch_told(held: bool, taken: str | None) -> str:
    """How a condition came out, in words, and which branch was taken, if one was."""
    due = BRANCHES[not held]
    how = f"the condition {'holds' if held else 'does not hold'}: “{due}” is due"
    return how if taken in (None, due) else f"{how}, “{taken}” was taken"


def look_of(body: Body, look: Look) -> str:
    """What a body looks like: its texture or its shape, by their names in the catalogue."""
    return body.texture if look == "colour" else body.shape


@dataclass(frozen=True)
class LooksAlike(Goal):
    """Two things look the same in one respect."""

    first: str
    second: str
    look: Look

    def words(self) -> str:
        return f"The {{{self.first}}} has the {self.look} of the {{{self.second}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        same = look_of(watch.body(self.first), self.look) == look_of(watch.body(self.second), self.look)
        return Status(same, float(same), 0.0)


@dataclass(frozen=True)
class LooksLike(Goal):
    """A thing has this colour or shape."""

    thing: str
    look: Look
    value: str

    def words(self) -> str:
        return f"The {self.look} of the {{{self.thing}}} is {self.value}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        same = look_of(watch.body(self.thing), self.look) == self.value
        return Status(same, float(same), 0.0)


@dataclass(frozen=True)
class LooksCounted(Goal):
    """So many things have this colour or shape, no more and no fewer."""

    look: Look
    value: str
    count: int

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"{self.count} things have the {self.look} {self.value}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        bodies = (one for one in watch.world.scene.entities if isinstance(one, Body))
        right = sum(look_of(body, self.look) == self.value for body in bodies) == self.count
        return Status(right, float(right), 0.0)


@dataclass(frozen=True)
class Conditional(Goal):
    """One goal or the other, by a fact: it is looked at once, when the turn of this goal comes, and what is so then decides.

    Who brings about the other goal has taken the wrong branch, and nothing mends that: both would be no decision.
    """

    fact: Goal = field(metadata=UNASKED)
    then: Goal
    otherwise: Goal

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        held = GoalNode.of(self.fact, "fact").judge(watch).satisfied
        # The other branch is judged apart from the tree: there its nodes stay untouched, as nobody is asked for them.
        memory.update(held=held, wrong=False, other=GoalNode.of(self.otherwise if held else self.then, "other"))

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory = node.memory
        satisfied, progress, reward, violated = self.taken(node).judge(watch)
        memory["wrong"] = memory["wrong"] or memory["other"].judge(watch).satisfied
        return Status(satisfied and not memory["wrong"], progress, reward, violated or memory["wrong"])

    def taken(self, node: GoalNode) -> GoalNode:
        """The branch that is to be taken, once it is known."""
        return node.members[0 if node.memory["held"] else 1]

    def noted(self, node: GoalNode) -> dict[str, Any]:
        """``held``: how the fact came out; ``taken``: the branch that was brought about, None if neither was."""
        if not node.begun:
            return {}
        held, due = node.memory["held"], self.taken(node).reached
        return {"held": held, "taken": BRANCHES[held == node.memory["wrong"]] if due or node.memory["wrong"] else None}

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        for node in memory["other"].listed():
            if node.begun:
                node.goal.displaced(node.memory, thing, shift)

    def following(self, node: GoalNode) -> GoalNode | None:
        branch = self.taken(node)
        return branch.goal.following(branch)

    def sways(self, node: GoalNode) -> bool:
        return self.taken(node).sways()

    def choices(self, node: GoalNode) -> list[GoalNode]:
        branch = self.taken(node)
        return branch.goal.choices(branch)


@dataclass(frozen=True)
class Succession(Sequence):
    """One member after the other, each first looked at when its turn comes, and all of them hold in the end. What already holds when its
    turn comes was done too early, and nothing mends that."""

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, early=False)

    def ahead(self, node: GoalNode) -> list[GoalNode]:
        return node.members[: node.memory["turn"] + 1]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory, count = node.memory, len(node.members)
        found = [member.judge(watch) for member in node.members[: memory["turn"]]]
        while memory["turn"] < count:
            member = node.members[memory["turn"]]
            first_look = not member.begun
            found.append(member.judge(watch))
            if not found[-1].satisfied:
                break
            memory["early"] = memory["early"] or (first_look and memory["turn"] > 0)
            memory["turn"] += 1
        done = memory["turn"] == count and all(status.satisfied for status in found) and not memory["early"]
        progress, reward = total(status.progress for status in found), total(status.reward for status in found)
        return Status(done, progress / max(1, count), reward, memory["early"] or any(status.violated for status in found))


@dataclass(frozen=True)
class Exactly(Either):
    """So many of the members hold, and there were never more of them: one too many is final."""

    members: tuple[Goal, ...]
    count: int

    def scaled(self, change: Scaled) -> Goal:
        return replace(self, members=tuple(member.scaled(change) for member in self.members))

    def destinations(self, room: Room) -> Iterable[Array]:
        return [ring for member in self.members for ring in member.destinations(room)]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        found = [member.judge(watch) for member in node.members]
        there = total(status.satisfied for status in found)
        node.memory["over"] = node.memory.get("over", False) or there > self.count
        best = sorted((status.progress for status in found), reverse=True)[: self.count]
        lost = node.memory["over"] or sum(not status.violated for status in found) < self.count
        reward = total(sorted((status.reward for status in found), reverse=True)[: self.count])
        return Status(there == self.count and not lost, total(best) / max(1, self.count), reward, lost)

    def sways(self, node: GoalNode) -> bool:
        held = [member for member in node.members if member.status.satisfied or member.sways()]
        return not node.status.satisfied and not node.status.violated and len(held) == self.count

    def following(self, node: GoalNode) -> GoalNode | None:
        left = [member for member in node.members if not (member.status.satisfied or member.status.violated)]
        if node.status.satisfied or not left:
            return None
        best = max(left, key=lambda member: member.status.progress)
        return best.goal.following(best)


@dataclass(frozen=True)
class Recollection(Goal):
    """All members come about, in whatever order, and then what belongs to the one of the ``things`` that was touched first.

    There is a thing for each member, and a goal in ``then``; members that need not last are :class:`~etude.goals.goal.Once`. Who brings
    about what belongs to another thing has forgotten which one it was, and nothing mends that.
    """

    members: tuple[Goal, ...]
    things: tuple[str, ...]
    then: tuple[Goal, ...]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(first=None, wrong=False, others=[])

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory, count = node.memory, len(self.members)
        found = [member.judge(watch) for member in node.members[:count]]
        if memory["first"] is None:
            memory["first"] = next((k for k, thing in enumerate(self.things) if watch.by_robot(thing)), None)
        if not memory["others"] and not all(status.satisfied for status in found):
            progress, reward = total(status.progress for status in found), total(status.reward for status in found)
            return Status(False, progress / (count + 1), reward, any(status.violated for status in found))
        if not memory["others"]:
            memory["first"] = memory["first"] or 0  # somebody else may have done it all
            memory["others"] = [GoalNode.of(goal, "other") for k, goal in enumerate(self.then) if k != memory["first"]]
        satisfied, progress, reward, violated = node.members[count + memory["first"]].judge(watch)
        wrong = memory["wrong"] = memory["wrong"] or any(other.judge(watch).satisfied for other in memory["others"])
        return Status(satisfied and not wrong, (count + progress) / (count + 1), reward, violated or wrong)

    def noted(self, node: GoalNode) -> dict[str, Any]:
        """``first``: the thing that was touched before the others."""
        first = node.memory.get("first")
        return {} if first is None else {"first": self.things[first]}

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        for node in (one for other in memory["others"] for one in other.listed()):
            if node.begun:
                node.goal.displaced(node.memory, thing, shift)

    def following(self, node: GoalNode) -> GoalNode | None:
        ahead = self._open(node)[0]
        return ahead.goal.following(ahead)

    def choices(self, node: GoalNode) -> list[GoalNode]:
        return [leaf for member in self._open(node) for leaf in member.goal.choices(member)]

    def _open(self, node: GoalNode) -> list[GoalNode]:
        """The members that are to come about, or what follows."""
        count, memory = len(self.members), node.memory
        if memory["others"]:
            return [node.members[count + memory["first"]]]
        return [member for member in node.members[:count] if not member.status.satisfied]
