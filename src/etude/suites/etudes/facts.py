"""Truths about where things are: a drawer that is open, or was; what it holds; what lies, or stood, farther to a side.

Their words are patterns as those of all operators, but read only where an étude is: decisions do not know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from etude.decisions.formulas import Atom, Formula
from etude.decisions.looks import Const, Match, Select
from etude.decisions.operator import Kind, Operator
from etude.decisions.space import LOCATION
from etude.goals.detecting import JointAt
from etude.goals.goal import Goal
from etude.goals.whereabouts import SIDES, Farther, Holding, JointBegan, Side
from etude.names import EtudeError
from etude.suites.etudes.acts import BEFORE, CHEST, DRAWER, HERE, TABLE, Drawer, Stage, given_well
from etude.suites.etudes.household import IN_DRAWER, KINDS, OPEN, OUT, STATE, part_of
from etude.suites.etudes.things import COLOUR, SHAPE

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker
    from etude.decisions.meaning import FormulaReader
    from etude.decisions.wording import SentenceWriter


@dataclass(frozen=True)
class AThing(Select):
    """Some thing that looks so."""

    when: int = 0
    matches: tuple[Match, ...] = ()


class Fact(Operator, abstract=True):
    """Something that is true or false where an étude is played. ``said`` are its words, in both grammars; ``denied`` are those
    of the contrary, in the fluent one."""

    gives = "truth"
    bracketed = ()
    least = (2, 2)
    said: ClassVar[str] = ""
    denied: ClassVar[str] = ""
    where: ClassVar[str] = TABLE

    def __post_init__(self) -> None:
        given_well(self)

    def fact(self, stage: Stage) -> Goal:
        """When it holds, as a goal that nobody has to bring about."""
        raise self.lacks("fact: when it holds")

    def asks(self) -> tuple[tuple[Select, str], ...]:
        """The things that it is about, each with what is asked of it."""
        raise self.lacks("asks: what it is about")

    def written(self, say: SentenceWriter) -> str:
        return say.filled(self, self.said)


# ------------------------------------------------------------------------------------------------ at a chest


@dataclass(frozen=True)
class IsOpen(Fact):
    """Is a drawer open?"""

    of: Drawer

    said = "{of} is open"
    denied = "{of} is not open"
    where = CHEST

    def kind(self) -> Kind:
        return _of_drawer(self, self.of)

    def formula(self, reader: FormulaReader) -> Formula:
        return _opened(self.of, reader)

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ((self.of, STATE),)

    def asks(self) -> tuple[tuple[Select, str], ...]:
        return ((self.of, DRAWER),)

    def fact(self, stage: Stage) -> Goal:
        return JointAt(part_of(self.of.level), OUT, 1.0)

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        look = attempt.look(DRAWER)
        return lambda when: cls(Drawer(when[look]))


@dataclass(frozen=True)
class WasOpen(Fact):
    """Was a drawer open at the start?"""

    of: Drawer

    said = "{of} was open at the start"
    denied = "{of} was not open at the start"
    where = CHEST

    def kind(self) -> Kind:
        return _of_drawer(self, self.of)

    def formula(self, reader: FormulaReader) -> Formula:
        return _opened(self.of, reader)

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ((self.of, STATE),)

    def asks(self) -> tuple[tuple[Select, str], ...]:
        return ((self.of, DRAWER),)

    def fact(self, stage: Stage) -> Goal:
        return JointBegan(part_of(self.of.level), OUT, 1.0)

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        look = attempt.look(DRAWER)
        return lambda when: cls(Drawer(when[look]))


def _of_drawer(fact: Fact, drawer: Select) -> Kind:
    if drawer.kind() != DRAWER:
        raise EtudeError(f"{fact.json_kind} speaks of a drawer, not of {drawer.kind()}")
    return "bool"


def _opened(drawer: Drawer, reader: FormulaReader) -> Formula:
    frame = reader.one(Select(drawer.when))  # its level says nothing of its state
    return reader.atom(Atom(STATE, frame, None, reader.space.value(STATE, OPEN)))


@dataclass(frozen=True)
class Holds(Fact):
    """Is in a drawer a thing that looks so? Scenes are solved with ``thing`` in the drawer, whatever it looks like."""

    of: Drawer
    thing: AThing

    said = "{of} holds {thing}"
    denied = "{of} does not hold {thing}"
    where = CHEST

    def kind(self) -> Kind:
        if self.thing.kind() != "objects" or len(self.thing.matches) != 1:
            raise EtudeError("Holds asks for a thing of one colour or of one shape")
        return _of_drawer(self, self.of)

    def formula(self, reader: FormulaReader) -> Formula:
        return reader.matching(self.thing)

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()

    def asks(self) -> tuple[tuple[Select, str], ...]:
        return (self.of, DRAWER), *((self.thing, match.property) for match in self.thing.matches)

    def fact(self, stage: Stage) -> Goal:
        (match,) = self.thing.matches
        assert isinstance(match.value, Const)
        value = match.value.value
        if match.property == COLOUR:
            return Holding(part_of(self.of.level), *IN_DRAWER, "colour", value)
        return Holding(part_of(self.of.level), *IN_DRAWER, "shape", KINDS[value].shape)

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        prop = attempt.stream.choice((COLOUR, SHAPE))
        value, drawer, look = attempt.named_value(prop), attempt.look(DRAWER), attempt.look(prop, tells=True)
        return lambda when: cls(Drawer(when[drawer]), AThing(when[look], (Match(prop, Const(prop, value)),)))


# ------------------------------------------------------------------------------------------------ at a table

_SPELT = {
    "left": "farther to the robot's left than",
    "right": "farther to the robot's right than",
    "nearer": "nearer to the robot than",
    "farther": "farther from the robot than",
}
# As the solver knows them: columns of a grid are counted from the robot's left, rows from the robot.
_RELATIONS = {"left": "left of", "right": "right of", "nearer": "above", "farther": "below"}


@dataclass(frozen=True)
class _Compared(Fact):
    """Is one thing farther to a side than another?"""

    side: Side
    first: Select
    second: Select

    spellings: ClassVar = {"exact": _SPELT, "fluent": _SPELT}
    asked: ClassVar[str] = HERE

    def kind(self) -> Kind:
        if self.first == self.second:
            raise EtudeError(f"{self.json_kind} compares a thing with itself")
        for thing in (self.first, self.second):
            if thing.kind() != "objects":
                raise EtudeError(f"{self.json_kind} compares things, not {thing.kind()}")
        return "bool"

    @property
    def relation(self) -> str:
        """The same between cells of a grid, as the solver knows it."""
        return _RELATIONS[self.side]

    def formula(self, reader: FormulaReader) -> Formula:
        # The start and now are one to the solver: no thing is asked for both.
        return reader.atom(Atom(LOCATION, reader.one(self.first), reader.one(self.second), relation=self.relation))

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return (self.first, LOCATION), (self.second, LOCATION)

    def asks(self) -> tuple[tuple[Select, str], ...]:
        return (self.first, self.asked), (self.second, self.asked)

    def fact(self, stage: Stage) -> Goal:
        return Farther(stage.name(self.first), stage.name(self.second), self.side, before=self.asked == BEFORE)

    def label(self, frames: int) -> str:
        return f"{self.json_kind}: {self.side}"

    def edge_label(self, role: str) -> str:
        return role

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        side, a, b = attempt.stream.choice(SIDES), attempt.look(cls.asked), attempt.look(cls.asked)
        return lambda when: cls(side, Select(when[a]), Select(when[b]))


class Lies(_Compared):
    """Does one thing lie farther to a side than another, now?"""

    said = "{first} lies {side} {second}"
    denied = "{first} does not lie {side} {second}"


class Lay(_Compared):
    """Did one thing lie farther to a side than another, at the start?"""

    said = "{first} lay {side} {second} at the start"
    denied = "{first} did not lie {side} {second} at the start"
    asked = BEFORE
