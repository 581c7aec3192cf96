"""What the parts of a goal ask for, as far as an onlooker can tell: what is to be done to which thing, whether it is due, and what is
lacking in those who do it all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from etude.goals.branching import Conditional, Exactly, Recollection, Succession
from etude.goals.detecting import Detected, JointAt
from etude.goals.goal import Always, Either, Goal, GoalNode, Not, Sequence, every
from etude.goals.leaves import AtPosition, OnTop, PushedTowards, RotatedBy, Touched, Untouched
from etude.goals.units import Achieved
from etude.goals.whereabouts import Farther, JointBegan, Near
from etude.pose import Vec3
from etude.suites.etudes.household import CHEST, ON_TOP, OUT

Verb = Literal["carry", "turn", "push", "touch", "open", "close", "leave alone"]

DUE = ""
UNDONE = "planning: came undone"
EARLY = "planning: out of order"
TOO_MANY = "language: one too many"
TOO_FAR = "perception: went too far"
WRONG_ONE = "memory: wrong one of two"
WRONG_BRANCH = "wrong branch"


@dataclass(frozen=True)
class Errand:
    """A deed that a goal speaks of: a ``thing``, or the joint of a drawer, and what it comes ``to``; ``place`` (m, world): where it stood.

    ``lack`` is what who does it now is lacking, nothing where it is due; ``instead``: what should come about in its place; ``whole``: what
    it is one way to bring about. ``tower``: what belongs to the same tower; ``opens`` the drawer that may have to be opened for it.
    """

    node: GoalNode
    verb: Verb
    thing: str
    lack: str
    to: str = ""
    place: Vec3 | None = None
    tower: frozenset[str] = frozenset()
    opens: str = ""
    instead: GoalNode | None = None
    whole: GoalNode | None = None

    @property
    def due(self) -> bool:
        """Is it to be done now?"""
        return self.lack == DUE

    @property
    def forbidden(self) -> bool:
        """Is it never to be done?"""
        return isinstance(self.node.goal, Always)

    @property
    def carries(self) -> bool:
        """Is its thing to be taken into the hand?"""
        return self.verb in ("carry", "turn")


def errands(root: GoalNode) -> list[Errand]:
    """All that a goal speaks of, as it stands now."""
    return list(_below(root, DUE))


def ability(fact: Goal) -> str:
    """What it takes to tell how a condition comes out: a memory where it asks about the start, or else eyes."""
    asks = [*every(fact, JointBegan), *(one for one in every(fact, Farther) if one.before)]
    return "memory" if asks else "perception"


def _below(node: GoalNode, lack: str) -> Iterator[Errand]:
    goal, memory, members = node.goal, node.memory, node.members
    if lack == DUE and node.begun and node.status.satisfied and not isinstance(goal, Always):
        lack = UNDONE
    if isinstance(goal, Conditional) and node.begun:
        taken = goal.taken(node)
        for member in members:
            if member is taken:
                yield from _below(member, lack)
            else:
                yield from _in_place_of(taken, _below(member, f"{ability(goal.fact)}: {WRONG_BRANCH}"))
    elif isinstance(goal, Recollection) and node.begun:
        count, told = len(goal.members), bool(memory["others"])
        for k, member in enumerate(members):
            if k < count:
                yield from _below(member, lack if not told else lack or UNDONE)
            elif not told:
                yield from _below(member, lack or EARLY)
            elif k == count + memory["first"]:
                yield from _below(member, lack)
            else:
                yield from _in_place_of(members[count + memory["first"]], _below(member, WRONG_ONE))
    elif isinstance(goal, Succession) and node.begun:
        for k, member in enumerate(members):
            yield from _below(member, lack if k <= memory["turn"] else lack or EARLY)
    elif isinstance(goal, Sequence) and not isinstance(goal, Succession):
        tower = frozenset(name for one in goal.members if isinstance(one, OnTop) for name in (one.top, one.bottom))
        turn = next((k for k, member in enumerate(members) if not member.status.satisfied), len(members))
        for k, member in enumerate(members):
            yield from _leaf(member, lack or (DUE if k == turn else EARLY if k > turn else UNDONE), tower)
    elif isinstance(goal, Either):
        for member in members:
            too_many = isinstance(goal, Exactly) and node.status.satisfied and not member.status.satisfied
            yield from (replace(one, whole=one.whole or node) for one in _below(member, TOO_MANY if too_many else lack))
    elif isinstance(goal, Always):
        yield from _kept(node, lack)
    else:
        found = list(_leaf(node, lack))
        yield from found or (one for member in members for one in _below(member, lack))


def _in_place_of(due: GoalNode, found: Iterator[Errand]) -> Iterator[Errand]:
    return (replace(one, instead=one.instead or due) for one in found)


def _kept(node: GoalNode, lack: str) -> Iterator[Errand]:
    """What must not be done, where that is asked for."""
    assert isinstance(node.goal, Always)
    member, in_force = node.goal.member, lack in (DUE, UNDONE)
    if isinstance(member, Not) and not isinstance(member.member, JointAt):
        yield from (one for below in node.members[0].members for one in _below(below, TOO_FAR if in_force else lack))
    elif in_force and isinstance(member, Untouched):
        yield from (Errand(node, "leave alone", thing, broken(member)) for thing in member.things)
    elif in_force and isinstance(member, Near):
        yield Errand(node, "leave alone", member.thing, broken(member))
    elif in_force and isinstance(member, Not) and isinstance(member.member, JointAt):
        yield Errand(node, "open", member.member.joint, broken(member))


def broken(member: Goal) -> str:
    """What who does not keep to it is lacking."""
    if isinstance(member, Untouched):
        return "language: touched what was to be left alone"
    if isinstance(member, Near):
        return "language: moved what was to stay where it is"
    if isinstance(member, Not) and isinstance(member.member, JointAt):
        return "language: opened what was to stay shut"
    return TOO_FAR


def _leaf(node: GoalNode, lack: str, tower: frozenset[str] = frozenset()) -> Iterator[Errand]:
    goal = node.goal
    if isinstance(goal, OnTop):
        yield Errand(node, "carry", goal.top, lack, goal.bottom, tower=tower)
    elif isinstance(goal, RotatedBy):
        yield Errand(node, "turn", goal.thing, lack)
    elif isinstance(goal, AtPosition):
        yield Errand(node, "carry", goal.thing, lack, place=goal.position)
    elif isinstance(goal, PushedTowards):
        yield Errand(node, "push", goal.thing, lack, place=goal.position)
    elif isinstance(goal, Touched):
        yield Errand(node, "touch", goal.thing, lack)
    elif isinstance(goal, Achieved) and isinstance(goal.result, JointAt):
        yield Errand(node, "open" if goal.result.least >= OUT else "close", goal.result.joint, lack)
    elif isinstance(goal, Achieved) and isinstance(goal.result, Detected):
        end = goal.result
        opens = next((one.joint for unit in goal.units for one in every(unit, JointAt)), "")
        back = end.by == CHEST and (end.lower, end.upper) != ON_TOP
        middle = tuple((low + high) / 2 for low, high in zip(end.lower, end.upper, strict=True))
        place: Vec3 | None = (middle[0], middle[1], middle[2]) if back else None  # in the frame of the chest, which stands still
        yield Errand(node, "carry", end.thing, lack, end.by, place, opens=opens)
