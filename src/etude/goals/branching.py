"""Goals that depend on what is so: one of two by a fact, and one after the other, each in its turn; and facts that can be seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from etude.arithmetic import total
from etude.goals.goal import UNASKED, Goal, GoalNode, Sequence, Status
from etude.pose import Array
from etude.scene.scene import Body

if TYPE_CHECKING:
    from etude.goals.watch import Watch

Look = Literal["colour", "shape"]


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

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        for node in memory["other"].listed():
            if node.begun:
                node.goal.displaced(node.memory, thing, shift)

    def following(self, node: GoalNode) -> GoalNode | None:
        branch = self.taken(node)
        return branch.goal.following(branch)

    def choices(self, node: GoalNode) -> list[GoalNode]:
        branch = self.taken(node)
        return branch.goal.choices(branch)


@dataclass(frozen=True)
class Succession(Sequence):
    """One member after the other, each first looked at when its turn comes, and all of them hold in the end. What already holds when its
    turn comes was done too early, and nothing mends that."""

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, early=False)

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
