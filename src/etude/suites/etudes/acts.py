"""What an étude is composed of: acts, and what joins them. Deeds are in :mod:`etude.suites.etudes.deeds`, acts for several things in
:mod:`etude.suites.etudes.groups`, those that need a memory in :mod:`etude.suites.etudes.memory`; conditions and branches are those of
decisions.

All are operators of one family with decisions: typed in the same way, drawn, told and read by the same code. What they give is an act.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from etude.decisions.connectivity import Unfit
from etude.decisions.logic import Joining
from etude.decisions.looks import Const, Match, Select
from etude.decisions.operator import ACT, Kind, Operator, field_types, operator_class
from etude.decisions.templates import EXACT, FLUENT
from etude.goals.branching import Succession
from etude.goals.goal import All, Either, Goal, Throughout
from etude.goals.leaves import AtPosition, Untouched
from etude.names import EtudeError, unknown
from etude.pose import Pose, Vec3

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker
    from etude.decisions.wording import SentenceWriter

# The parts that things play. Only the first two may be played by one thing in the two branches of a condition: the others leave traces
# that could be taken for the other branch.
MOVED, CARRIER, ONTO_AREA, TOUCHED, PUSHED, AIM, AVOIDED, TURNED = (
    "moved", "carrier", "area", "touched", "pushed", "aim", "avoided", "turned",
)  # fmt: skip
SHAREABLE = (MOVED, CARRIER)
TABLE, CHEST = "table", "drawers"  # where acts belong: a table with prisms, or a chest of drawers
STORED = "stored"  # what is in a drawer, and is taken out of it
DRAWER = "drawer"  # a drawer itself, of which any number of acts and conditions may speak
LEVEL = "level"
# What is asked of where a thing is, besides its looks: now, at the start, or in which drawer.
HERE, BEFORE = "here", "before"
# Before the part of several things: of each, of some of them, or of those up to one that has the property named next.
EACH, SOME, UNTIL = GROUPS = "each ", "some ", "until "


@dataclass(frozen=True)
class EveryThing(Select, kind="Group"):
    """All things that match, for each of which something is to be done."""


@dataclass(frozen=True)
class SomeThings(EveryThing, kind="Things"):
    """All things that match, of which some are meant, or how many there are."""


@dataclass(frozen=True)
class It(Select):
    """The thing of a group whose turn it is."""

    when: int = 0
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True)
class Drawer(Select):
    """A drawer of the chest, by its level."""

    when: int = 0
    matches: tuple[Match, ...] = ()

    def kind(self) -> Kind:
        super().kind()
        return DRAWER

    @property
    def level(self) -> str:
        """Top, middle or bottom."""
        values = [match.value.value for match in self.matches if match.property == LEVEL and isinstance(match.value, Const)]
        if len(values) != 1 or len(self.matches) != 1:
            raise EtudeError("a drawer is told by its level: the top, the middle or the bottom drawer")
        return values[0]


class Stage(Protocol):
    """What acts are carried out on: which thing is meant, where it stands, and what a part of the étude is as a goal."""

    def name(self, select: Select) -> str:
        """The one thing that is meant."""

    def place(self, select: Select) -> Vec3:
        """Where it stands at the start (m, world)."""

    def pose(self, select: Select) -> Pose:
        """The same, and how it is turned."""

    def turns(self, select: Select) -> int:
        """In how many ways it can be turned about the vertical and look the same."""

    def goal(self, node: Operator) -> Goal:
        """What an act asks for."""

    def each(self, group: EveryThing) -> Sequence[Stage]:
        """The same for each thing of a group, which is then it."""

    def from_nearest(self, group: EveryThing) -> Sequence[Stage]:
        """The same in the order of their distance from the robot."""

    def with_it(self, select: Select) -> Stage:
        """The same with one thing that is then it."""

    def seen(self, truth: Operator) -> bool:
        """Is this so at the start?"""

    def height(self, select: Select) -> float:
        """How tall it is, m."""

    def on_chest(self, select: Select) -> Vec3:
        """Where it stands at the start (m, in the frame of the chest)."""


def given_well(node: Operator) -> None:
    """Raise :class:`EtudeError` where a field of a node is given what does not belong there."""
    for name, (wanted, words) in _wanted(type(node).json_kind).items():
        value = getattr(node, name)
        if isinstance(wanted, tuple):
            if value not in wanted:
                raise unknown(f"{name} of {node.json_kind}", str(value), wanted)
        elif not isinstance(value, wanted) or isinstance(value, bool) or (wanted is EveryThing and isinstance(value, SomeThings)):
            given = value.json_kind if isinstance(value, Operator) else repr(value)
            raise EtudeError(f"{node.json_kind} takes {words} as its {name!r}, not {given}")


_WORDS_FOR: dict[type, str] = {
    Drawer: "a drawer, as in thing('top drawer'),",
    SomeThings: "things of which some are meant, as in some_things('red thing'),",
    EveryThing: "a group of things, as in things('red thing'),",
    Select: "a thing, as in thing('red cube'),",
    Operator: "an act or a truth",
    int: "a whole number",
}


@functools.cache
def _wanted(kind: str) -> dict[str, tuple[Any, str]]:
    """By field, the type of what it takes, with words for it; or the names of which it takes one."""
    hints = field_types(operator_class(kind))
    return {
        name: (typing.get_args(hint), "") if typing.get_origin(hint) is typing.Literal else (hint, _WORDS_FOR.get(hint, hint.__name__))
        for name, hint in hints.items()
        if typing.get_origin(hint) is typing.Literal or isinstance(hint, type)
    }


class Act(Operator, abstract=True):
    """Something to be done. ``rounds``: how often, at most, what is below it; ``truths``: fields that are no acts, but true or false."""

    gives = ACT
    rounds: ClassVar[int] = 1
    truths: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        given_well(self)

    def goal(self, stage: Stage) -> Goal:
        """What it asks for."""
        raise self.lacks("goal: what it asks for")

    def written(self, say: SentenceWriter) -> str:
        return say.filled(self, self.command)


class Deed(Act, abstract=True):
    """A leaf: something to be done to things. ``casting`` are the parts they play, in the order of its fields."""

    casting: ClassVar[tuple[str, ...]] = ()
    steps: ClassVar[int] = 300  # control steps that it may take
    repeatable: ClassVar[bool] = False  # may it be done to each thing of a group, one after the other?
    undoable: ClassVar[bool] = False  # can all that it moves be put back?
    where: ClassVar[str] = TABLE  # the setting in which it can be done
    bracketed = ()
    least = (1, 1)
    colour = "#f9dfb5"

    def kind(self) -> Kind:
        for part, as_what in zip(self.inputs(), self.casting, strict=True):
            if part.kind() != (DRAWER if as_what == DRAWER else "objects"):
                raise EtudeError(f"{self.json_kind} is done to {'a drawer' if as_what == DRAWER else 'things'}, not to {part.kind()}")
        if len(set(self.inputs())) < len(self.inputs()):
            raise EtudeError(f"{self.json_kind} needs different things")
        return ACT

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        """What rests on what when it is done."""
        return ()

    def carried(self) -> tuple[Select, ...]:
        """What it takes away from its place, in this order."""
        return tuple(part for part, as_what in zip(self.inputs(), self.casting, strict=True) if as_what == MOVED)  # type: ignore[misc]

    def undone(self, stage: Stage) -> tuple[Goal, ...]:
        """What puts everything back: the last thing first, as it may stand on another."""
        return tuple(AtPosition(stage.name(thing), stage.place(thing), stood=stage.name(thing)) for thing in reversed(self.carried()))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """With a thing for each of its parts."""
        looks = [attempt.look(part) for part in cls.casting]
        return lambda when: cls(*cls._playing(cls.casting, [when[look] for look in looks]))

    @classmethod
    def drawn_for_each(cls, attempt: GraphAttempt) -> Maker:
        """With it for the first of its parts."""
        looks = [attempt.look(part) for part in cls.casting[1:]]
        return lambda when: cls(*[It(), *cls._playing(cls.casting[1:], [when[look] for look in looks])])

    @staticmethod
    def _playing(casting: Sequence[str], numbers: Sequence[int]) -> list[Select]:
        return [Drawer(k) if part == DRAWER else Select(k) for part, k in zip(casting, numbers, strict=True)]


def drawn_deed(attempt: GraphAttempt, wanted: Callable[[type[Deed]], bool]) -> type[Deed]:
    """One of the deeds that may be drawn and are wanted."""
    found = [kind for kind in map(operator_class, attempt.drawable(ACT)) if issubclass(kind, Deed) and wanted(kind)]
    if not found:
        raise Unfit
    return attempt.stream.choice(found)


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


def row(node: _JoinedActs) -> list[Operator]:
    """The members of acts of one kind that follow each other: first a, then (first b, then c)."""
    return [node.left, *(row(node.right) if isinstance(node.right, type(node)) else [node.right])]


class OneOf(_JoinedActs):
    """The one or the other, whichever is liked better."""

    commutative = True
    command = "either {left} or {right}"

    def goal(self, stage: Stage) -> Goal:
        return Either((stage.goal(self.left), stage.goal(self.right)))


@dataclass(frozen=True)
class Forbidding(Act, abstract=True):
    """An act during which, and ever after, something must not happen."""

    thing: Select
    act: Operator

    bracketed = (EXACT, FLUENT)
    colour = "#f4d3cf"
    part: ClassVar[str] = AVOIDED  # that of the thing
    forbidden: ClassVar[str] = ""  # the same as a sentence of its own, before all that is to be done

    def kind(self) -> Kind:
        wanted = DRAWER if self.part == DRAWER else "objects"
        if self.thing.kind() != wanted or self.act.kind() != ACT:
            what = "drawer" if self.part == DRAWER else "thing"
            raise EtudeError(f"{self.json_kind} takes a {what} and what is to be done, not {self.thing.kind()} and {self.act.kind()}")
        return ACT

    def kept(self, stage: Stage) -> Goal:
        """What must hold all the time."""
        raise self.lacks("kept: what must hold all the time")

    def goal(self, stage: Stage) -> Goal:
        return All((Throughout(self.kept(stage)), stage.goal(self.act)))

    @classmethod
    def fits(cls, attempt: GraphAttempt, joins: int, depth: int) -> bool:
        return attempt.depth(joins, ACT) < depth

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        among = tuple(name for name in attempt.drawable(ACT) if not issubclass(operator_class(name), Forbidding))
        look, act = attempt.look(cls.part), attempt.below(ACT, among, joins, depth - 1)
        return lambda when: cls(Drawer(when[look]) if cls.part == DRAWER else Select(when[look]), act(when))


@dataclass(frozen=True)
class Without(Forbidding):
    """An act during which, and ever after, a thing is left alone."""

    thing: Select
    act: Operator

    command = "without ever touching {thing}, {act}"
    forbidden = "never touch {thing}"

    def kept(self, stage: Stage) -> Goal:
        return Untouched((stage.name(self.thing),))
