"""Acts for several things: for each of a group, for exactly so many of them, or for one after the other until something is so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from etude.decisions.graph import walk
from etude.decisions.looks import Const, Get, IsSame
from etude.decisions.operator import ACT, Kind, Operator
from etude.decisions.templates import EXACT, FLUENT
from etude.goals.branching import Exactly, Succession
from etude.goals.goal import All, Goal, Not, Throughout
from etude.names import EtudeError
from etude.suites.etudes.acts import EACH, SOME, TOUCHED, UNTIL, Act, EveryThing, It, SomeThings, Stage, drawn_deed

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker

LEAST_EACH, MOST_EACH = 2, 3  # things of a group; an area has room for two


@dataclass(frozen=True)
class _ForSeveral(Act):
    """An act for things of a group, each of which is then it."""

    bracketed = (EXACT, FLUENT)
    least = (2, 2)
    rounds = MOST_EACH

    def kind(self) -> Kind:
        things, act = (getattr(self, name) for name in ("things", "act"))
        if not isinstance(things, EveryThing) or act.kind() != ACT:
            raise EtudeError(f"{self.json_kind} takes a group of things and what is to be done, not {things.json_kind} and {act.kind()}")
        if not any(isinstance(node, It) for node in walk(act)):
            raise EtudeError(f"{self.json_kind} asks for the same again and again: what is to be done does not speak of it")
        return ACT


@dataclass(frozen=True)
class ForEach(_ForSeveral):
    """The same for each thing of a group, in whatever order."""

    things: EveryThing
    act: Operator

    command = "for each {things}, {act}"

    def goal(self, stage: Stage) -> Goal:
        return All(tuple(one.goal(self.act) for one in stage.each(self.things)))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        deed = drawn_deed(attempt, lambda kind: kind.repeatable)
        look, act = attempt.look(f"{EACH}{deed.casting[0]}"), deed.drawn_for_each(attempt)
        return lambda when: cls(EveryThing(when[look]), act(when))


@dataclass(frozen=True)
class _Bounded(_ForSeveral):
    """One that has an end, after which comes something else: only who goes on to that has noticed the end."""

    def kind(self) -> Kind:
        after = self.after  # type: ignore[attr-defined]
        if after.kind() != ACT:
            raise EtudeError(f"{self.json_kind} takes what is to be done after it, not {after.kind()}")
        return super().kind()

    @classmethod
    def drawn_after(cls, attempt: GraphAttempt) -> Maker:
        """The deed after it."""
        return drawn_deed(attempt, lambda kind: True).drawn(attempt, 0, 1)


@dataclass(frozen=True)
class ForSome(_Bounded):
    """The same for exactly so many things of a group, whichever is liked better, and then something else; one too many is final."""

    count: int
    things: SomeThings
    act: Operator
    after: Operator

    command = "for exactly {count} of the {things}, {act}, and after that {after}"

    def kind(self) -> Kind:
        if self.count < 1:
            raise EtudeError(f"ForSome is for one thing or more, not for {self.count}")
        return super().kind()

    def goal(self, stage: Stage) -> Goal:
        each = stage.each(self.things)
        if len(each) < self.count:
            raise EtudeError(f"the étude speaks of exactly {self.count} things of a group, but on the table there are {len(each)}")
        return Succession((Exactly(tuple(one.goal(self.act) for one in each), self.count), stage.goal(self.after)))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        deed = drawn_deed(attempt, lambda kind: kind.repeatable)
        count = attempt.stream.integer(1, MOST_EACH - 1)
        look, act = attempt.look(f"{SOME}{deed.casting[0]}"), deed.drawn_for_each(attempt)
        after = cls.drawn_after(attempt)
        return lambda when: cls(count, SomeThings(when[look]), act(when), after(when))


@dataclass(frozen=True)
class Until(_Bounded):
    """The same for one thing of a group after the other, from the nearest to the robot on, up to the first of which something is so, and
    then something else. Who goes on with the group has gone too far, and nothing mends that."""

    things: EveryThing
    act: Operator
    stop: Operator
    after: Operator

    command = "from the nearest to the robot on, for each {things}, {act}, until {stop}, and after that {after}"
    truths = ("stop",)

    def kind(self) -> Kind:
        if self.stop.kind() != "bool":
            raise EtudeError(f"Until ends when something is so, not with {self.stop.kind()}")
        if not any(isinstance(node, It) for node in walk(self.stop)):
            raise EtudeError("Until ends with one of the things: what is to be so does not speak of it")
        return super().kind()

    def goal(self, stage: Stage) -> Goal:
        each = stage.from_nearest(self.things)
        last = next((k for k, one in enumerate(each) if one.seen(self.stop)), len(each) - 1)
        acts = [one.goal(self.act) for one in each]
        enough = All((Succession(tuple(acts[: last + 1])), *(Throughout(Not(act)) for act in acts[last + 1 :])))
        return Succession((enough, stage.goal(self.after)))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        deed = drawn_deed(attempt, lambda kind: kind.repeatable and kind.casting[0] == TOUCHED)  # an area has no room for all
        prop = attempt.stream.choice(attempt.settings.named)
        value = attempt.named_value(prop)
        look, act = attempt.look(f"{UNTIL}{prop} {deed.casting[0]}"), deed.drawn_for_each(attempt)
        after = cls.drawn_after(attempt)
        return lambda when: cls(EveryThing(when[look]), act(when), IsSame(Get(prop, It()), Const(prop, value)), after(when))


def stops(root: Operator) -> dict[int, Const]:
    """By the numbers of groups that end with one of their things: what that one looks like."""
    return {
        node.things.when: side
        for node in walk(root)
        if isinstance(node, Until) and isinstance(node.stop, IsSame)
        for side in node.stop.inputs()
        if isinstance(side, Const)
    }
