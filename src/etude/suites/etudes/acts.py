"""What an étude is composed of: deeds at the table, and what joins them. Conditions and branches are those of decisions.

All are operators of one family with decisions: typed in the same way, drawn, told and read by the same code. What they give is an act.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from etude.decisions.logic import Joining
from etude.decisions.looks import Select
from etude.decisions.operator import ACT, Kind, Operator
from etude.decisions.templates import EXACT, FLUENT
from etude.goals.branching import Succession
from etude.goals.goal import All, Goal, Once, Sequence
from etude.goals.leaves import Inside, OnTop, PushedTowards, Touched
from etude.names import EtudeError
from etude.pose import Vec3

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker
    from etude.decisions.wording import SentenceWriter

# The parts that things play in deeds. Only these two may be played by one thing in the two branches of a condition: the others leave
# traces that could be taken for the other branch.
MOVED, CARRIER, ONTO_AREA, TOUCHED, PUSHED, AIM = "moved", "carrier", "area", "touched", "pushed", "aim"
SHAREABLE = (MOVED, CARRIER)


class Stage(Protocol):
    """What acts are carried out on: which thing is meant, where it stands, and what a part of the étude is as a goal."""

    def name(self, select: Select) -> str:
        """The one thing that is meant."""

    def place(self, select: Select) -> Vec3:
        """Where it stands at the start (m, world)."""

    def goal(self, node: Operator) -> Goal:
        """What an act asks for."""


class Act(Operator, abstract=True):
    """Something to be done."""

    gives = ACT

    def goal(self, stage: Stage) -> Goal:
        """What it asks for."""
        raise self.lacks("goal: what it asks for")

    def written(self, say: SentenceWriter) -> str:
        return say.filled(self, self.command)


class Deed(Act, abstract=True):
    """A leaf: something to be done to things. ``casting`` are the parts they play, in the order of its fields."""

    casting: ClassVar[tuple[str, ...]] = ()
    steps: ClassVar[int] = 300  # control steps that it may take
    bracketed = ()
    least = (1, 1)
    colour = "#f9dfb5"

    def kind(self) -> Kind:
        for part in self.inputs():
            if part.kind() != "objects":
                raise EtudeError(f"{self.json_kind} is done to things, not to {part.kind()}")
        if len(set(self.inputs())) < len(self.inputs()):
            raise EtudeError(f"{self.json_kind} needs different things")
        return ACT

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        """What rests on what when it is done."""
        return ()

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """With a thing for each of its parts."""
        looks = [attempt.look(part) for part in cls.casting]
        return lambda when: cls(*(Select(when[look]) for look in looks))


@dataclass(frozen=True)
class PutOn(Deed):
    """Put one thing on another."""

    thing: Select
    on: Select

    command = "put {thing} on {on}"
    casting = (MOVED, CARRIER)

    def goal(self, stage: Stage) -> Goal:
        return OnTop(stage.name(self.thing), stage.name(self.on))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.thing, self.on),)


@dataclass(frozen=True)
class PutIn(Deed):
    """Put a thing into an area."""

    thing: Select
    into: Select

    command = "bring {thing} into {into}"
    casting = (MOVED, ONTO_AREA)

    def goal(self, stage: Stage) -> Goal:
        return Inside(stage.name(self.thing), stage.name(self.into))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.thing, self.into),)


@dataclass(frozen=True)
class PushTowards(Deed):
    """Push a thing towards where another one stands."""

    thing: Select
    towards: Select

    command = "push {thing} towards {towards}"
    casting = (PUSHED, AIM)

    def goal(self, stage: Stage) -> Goal:
        return Once(PushedTowards(stage.name(self.thing), stage.place(self.towards)))


@dataclass(frozen=True)
class Touch(Deed):
    """Touch a thing without moving it."""

    thing: Select

    command = "touch {thing}"
    casting = (TOUCHED,)
    steps = 200

    def goal(self, stage: Stage) -> Goal:
        return Once(Touched(stage.name(self.thing)))


@dataclass(frozen=True)
class Tower(Deed):
    """Build a tower of three things."""

    bottom: Select
    middle: Select
    top: Select

    command = "build a tower of {bottom}, {middle} and {top}"
    casting = (CARRIER, MOVED, MOVED)
    steps = 600

    def goal(self, stage: Stage) -> Goal:
        bottom, middle, top = map(stage.name, (self.bottom, self.middle, self.top))
        return Sequence((OnTop(middle, bottom), OnTop(top, middle)))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return (self.middle, self.bottom), (self.top, self.middle)


@dataclass(frozen=True)
class _JoinedActs(Joining, Act):
    """Two acts that make one."""

    left: Operator
    right: Operator

    bracketed = (EXACT, FLUENT)

    def kind(self) -> Kind:
        for part in self.inputs():
            if part.kind() != ACT:
                raise EtudeError(f"{self.json_kind} joins what is to be done, not {part.kind()}")
        return ACT

    @classmethod
    def takes(cls, attempt: GraphAttempt, place: int) -> tuple[str, ...]:
        """Rows of one kind lean to the right: the other way they mean the same."""
        return tuple(name for name in attempt.drawable(ACT) if place > 0 or name != cls.json_kind)


class InOrder(_JoinedActs):
    """First the one, then the other."""

    command = "first {left}, then {right}"

    def goal(self, stage: Stage) -> Goal:
        return Succession(tuple(stage.goal(part) for part in row(self)))


class InAnyOrder(_JoinedActs):
    """Both, in whatever order."""

    commutative = True
    command = "both {left} and {right}"

    def goal(self, stage: Stage) -> Goal:
        return All(tuple(stage.goal(part) for part in row(self)))


def row(node: InOrder | InAnyOrder) -> list[Operator]:
    """The members of acts of one kind that follow each other: first a, then (first b, then c)."""
    return [node.left, *(row(node.right) if isinstance(node.right, type(node)) else [node.right])]
