"""Operators that look at what is shown: they select objects, fetch and count their properties, and compare them (iWISDM A.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from etude.decisions.formulas import Atom, Branch, Formula, Outcome, exactly, negated
from etude.decisions.operator import ACT, Kind, Operator, Value, operator_class
from etude.decisions.space import LOCATION, NUMBER, RELATIONS, StimulusSpace
from etude.decisions.templates import EXACT, FLUENT, ORIGINAL
from etude.names import EtudeError, json_string

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker, TaskSpace
    from etude.decisions.meaning import FormulaReader, FrameView
    from etude.decisions.wording import Fluent, SentenceWriter

MOST_COUNTED = 3  # frames a Count looks at, where AutoTask draws one


@dataclass(frozen=True)
class Match:
    """One condition of a :class:`Select`: the property equals what ``value`` gives."""

    property: str
    value: Operator


@dataclass(frozen=True)
class Select(Operator):
    """The objects on the frame ``when`` frames before the last one of the task, that match every condition."""

    when: int
    matches: tuple[Match, ...] = ()

    colour = "#d5e4f3"

    def inputs(self) -> tuple[Operator, ...]:
        return tuple([m.value for m in self.matches])

    def roles(self) -> list[str]:
        return [m.property for m in self.matches]

    def settings(self) -> dict[str, Any]:
        return {"when": self.when}

    @classmethod
    def assembled(cls, settings: Mapping[str, Any], inputs: Sequence[tuple[str, Operator]]) -> Self:
        return cls(settings["when"], tuple(Match(prop, value) for prop, value in inputs))

    def arranged(self, inputs: Sequence[str], frames: Mapping[int, int]) -> str:
        matches = [f'{{"property":{json_string(m.property)},"value":{value}}}' for m, value in zip(self.matches, inputs, strict=True)]
        return f'{{"kind":"Select","matches":[{",".join(matches)}],"when":{frames[self.when]}}}'

    def kind(self) -> Kind:
        if self.when < 0:
            raise EtudeError(f"Select looks {self.when} frames back; it must be 0 or more")
        for match in self.matches:
            if match.value.kind() != match.property:
                raise EtudeError(f"Select compares {match.property} with {match.value.kind()}")
        return "objects"

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return tuple((self, m.property) for m in self.matches)

    def written(self, say: SentenceWriter) -> str:
        return say.select(self)

    def label(self, frames: int) -> str:
        return f"Select frame {frames - self.when}"

    def edge_label(self, role: str) -> str:
        return f"{role} is"


@dataclass(frozen=True)
class Get(Operator):
    """A property of the one object that is selected."""

    property: str
    of: Select

    bracketed = ()
    gives = "value"
    colour = "#d9ecd6"

    def kind(self) -> Kind:
        self.of.kind()
        return self.property

    def evaluate(self, view: FrameView) -> Value | None:
        found = view.one(self.of)
        return None if found is None else (self.property, view.space.of(self.property, found))

    def operand(self, reader: FormulaReader) -> tuple[str, int, int]:
        return self.property, reader.one(self.of), -1

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ((self.of, self.property),)

    def written(self, say: SentenceWriter) -> str:
        return f"{say.article}{say.property(self.property)} of {say.select(self.of)}"

    def as_condition(self, prop: str, say: SentenceWriter) -> str:
        of = say.select(self.of)
        return f"{say.article}{prop} of " + (f"({of})" if self.of.matches else of)

    def label(self, frames: int) -> str:
        return f"Get {self.property}"

    @classmethod
    def ends(cls, settings: TaskSpace) -> tuple[Kind, ...]:
        return settings.reported

    @classmethod
    def drawn_end(cls, attempt: GraphAttempt, end: Kind) -> Maker:
        look = attempt.look(end, tells=True)
        return lambda when: Get(end, Select(when[look]))

    @classmethod
    def drawn_compared(cls, attempt: GraphAttempt, sign: Callable[[Operator, Operator], Operator]) -> Maker:
        """With that of another object; at times with a constant."""
        prop = attempt.property()
        if prop in attempt.settings.named and attempt.stream.chance(attempt.settings.constants):
            value, look = attempt.named_value(prop), attempt.look(prop, tells=True)
            if attempt.stream.chance(0.5):
                return lambda when: sign(Const(prop, value), Get(prop, Select(when[look])))
            return lambda when: sign(Get(prop, Select(when[look])), Const(prop, value))
        a, b = attempt.look(prop), attempt.look(prop)
        return lambda when: sign(Get(prop, Select(when[a])), Get(prop, Select(when[b])))


@dataclass(frozen=True)
class Const(Operator):
    """A value of a property, by its name; or a number, of the property "number"."""

    property: str
    value: str

    bracketed = ()
    colour = "#e8e8e6"

    def kind(self) -> Kind:
        return self.property

    def number(self, space: StimulusSpace) -> int:
        """The value as a number."""
        return int(self.value) if self.property == NUMBER else space.value(self.property, self.value)

    def evaluate(self, view: FrameView) -> Value | None:
        return self.property, self.number(view.space)

    def operand(self, reader: FormulaReader) -> tuple[str, int, int]:
        return self.property, -1, self.number(reader.space)

    def properties(self) -> set[str]:
        return {self.property}

    def written(self, say: SentenceWriter) -> str:
        return say.named_value(self)

    def question(self, say: Fluent) -> str:
        return f"answer {say.named_value(self)}."

    def as_condition(self, prop: str, say: SentenceWriter) -> str:
        return say.named_value(self)

    def label(self, frames: int) -> str:
        return f"{self.property}: {self.value}"


@dataclass(frozen=True)
class Count(Operator):
    """How many objects are selected, over several frames."""

    of: tuple[Select, ...]

    bracketed = ()
    gives = "value"

    def kind(self) -> Kind:
        if len({s.when for s in self.of}) < len(self.of) or not self.of:
            raise EtudeError("Count needs one or more frames, each at most once")
        for select in self.of:
            select.kind()
        return NUMBER

    def evaluate(self, view: FrameView) -> Value | None:
        each = [view.selected(s) for s in self.of]
        return None if None in each else (NUMBER, sum(len(e) for e in each if e is not None))

    def outcome(self, reader: FormulaReader) -> Outcome | Branch:
        return Outcome(counted=tuple([reader.matching(s) for s in self.of]))

    def same_as(self, other: Operator, reader: FormulaReader) -> Formula:
        """Exactly so many of the conditions hold."""
        if not isinstance(other, Const):
            raise EtudeError("a Count is compared with a number")
        return exactly(other.number(reader.space), [reader.matching(s) for s in self.of])

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()

    def answer_count(self, space: StimulusSpace) -> int:
        return len(self.of) + 1

    def written(self, say: SentenceWriter) -> str:
        return f"{say.article}{NUMBER} of {self._objects(say)}"

    def _objects(self, say: SentenceWriter) -> str:
        if len(self.of) == 1:
            return say.select(self.of[0])
        if any(s.matches != self.of[0].matches for s in self.of):
            return f"({', '.join(say.select(s) for s in self.of)})"
        *first, last = (str(say.number(s)) for s in self.of)
        return f"objects {', '.join(first)}{say.last_comma}{last}{say.matches(self.of[0].matches)}"

    @classmethod
    def ends(cls, settings: TaskSpace) -> tuple[Kind, ...]:
        return (NUMBER,)

    @classmethod
    def drawn_end(cls, attempt: GraphAttempt, end: Kind) -> Maker:
        return cls._drawn(attempt)[0]

    @classmethod
    def drawn_compared(cls, attempt: GraphAttempt, sign: Callable[[Operator, Operator], Operator]) -> Maker:
        many, count = cls._drawn(attempt)
        number = str(attempt.stream.integer(0, count))
        return lambda when: sign(many(when), Const(NUMBER, number))

    @classmethod
    def _drawn(cls, attempt: GraphAttempt) -> tuple[Maker, int]:
        prop = attempt.stream.choice(attempt.settings.named)
        value, count = attempt.named_value(prop), attempt.stream.integer(2, MOST_COUNTED)
        looks = [attempt.look(prop, tells=True) for _ in range(count)]

        def made(when: Sequence[int]) -> Operator:
            return cls(tuple(Select(w, (Match(prop, Const(prop, value)),)) for w in sorted((when[k] for k in looks), reverse=True)))

        return made, count


# ------------------------------------------------------------------------------------------------ what is true or false


@dataclass(frozen=True)
class ValueComparison(Operator, abstract=True):
    """Two values of one property, of which something is true. What is, say ``compare`` forward and ``formula`` backward.

    ``signs`` are the words between them, by grammar; the last fluent one stands before a constant.
    """

    left: Operator
    right: Operator

    signs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    commutative = True
    bracketed = ()
    gives = "truth"
    least = (3, 5)

    @classmethod
    def patterns(cls) -> list[tuple[str, str]]:
        return [(grammar, f"{{left}} {sign} {{right}}") for grammar, signs in cls.signs.items() for sign in signs]

    def kind(self) -> Kind:
        left, right = self.left.kind(), self.right.kind()
        if left != right or left in ("objects", "bool", ACT):
            raise EtudeError(f"{self.json_kind} compares two values of one property, not {left} with {right}")
        if isinstance(self.left, Const) and isinstance(self.right, Const):
            raise EtudeError(f"{self.json_kind} compares two constants")
        return "bool"

    def evaluate(self, view: FrameView) -> Value | None:
        left, right = self.left.evaluate(view), self.right.evaluate(view)
        return None if left is None or right is None else self.compare(left, right)

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()

    def compare(self, left: Value, right: Value) -> bool:
        """Is it true of these values?"""
        raise self.lacks("compare: what is true of two values")

    def written(self, say: SentenceWriter) -> str:
        return say.compared(self)

    def question(self, say: Fluent) -> str:
        subject, rest = say.said_of(self)
        return f"is {subject} {rest}?"

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        return operator_class(attempt.stream.choice(attempt.drawable("value"))).drawn_compared(attempt, cls)


@dataclass(frozen=True)
class IsSame(ValueComparison):
    """Are both values the same?"""

    signs: ClassVar = {EXACT: ("equals",), ORIGINAL: ("equals", "equal"), FLUENT: ("the same as", "equal to")}

    def compare(self, left: Value, right: Value) -> bool:
        return left == right

    def formula(self, reader: FormulaReader) -> Formula:
        return reader.same(self.left, self.right)


@dataclass(frozen=True)
class NotSame(ValueComparison):
    """Are the values different?"""

    signs: ClassVar = {EXACT: ("not equals",), ORIGINAL: ("not equals", "not equal"), FLUENT: ("different from",)}

    def compare(self, left: Value, right: Value) -> bool:
        return left != right

    def formula(self, reader: FormulaReader) -> Formula:
        return negated(reader.same(self.left, self.right))


@dataclass(frozen=True)
class Exist(Operator):
    """Is there an object that is selected?"""

    of: Select

    exact = "{of} exists"
    fluent = "there is an {of}"
    fluent_question = "is there an {of}?"
    bracketed = ()
    gives = "truth"

    def kind(self) -> Kind:
        self.of.kind()
        return "bool"

    def evaluate(self, view: FrameView) -> Value | None:
        found = view.selected(self.of)
        return None if found is None else bool(found)

    def formula(self, reader: FormulaReader) -> Formula:
        return reader.matching(self.of)

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """On a frame, with this value, or with that of another object."""
        prop = attempt.property()
        if prop in attempt.settings.named and attempt.stream.chance(0.5):
            value, look = attempt.named_value(prop), attempt.look(prop, tells=True)
            return lambda when: cls(Select(when[look], (Match(prop, Const(prop, value)),)))
        a, b = attempt.look(prop), attempt.look(prop)
        return lambda when: cls(Select(when[a], (Match(prop, Get(prop, Select(when[b]))),)))


@dataclass(frozen=True)
class Relative(Operator):
    """Does the first object lie left of, right of, above or below the second, each on its own frame?"""

    relation: Literal["left of", "right of", "above", "below"]
    first: Select
    second: Select

    exact = "{first} is {relation} {second}"
    fluent = "{first} is {relation} {second}"
    spellings: ClassVar = {FLUENT: {"left of": "to the left of", "right of": "to the right of"}}
    bracketed = ()
    gives = "truth"

    def kind(self) -> Kind:
        if self.first == self.second:
            raise EtudeError("Relative compares an object with itself")
        self.first.kind(), self.second.kind()
        return "bool"

    def evaluate(self, view: FrameView) -> Value | None:
        first, second = view.one(self.first), view.one(self.second)
        return None if first is None or second is None else view.space.related(self.relation, first.location, second.location)

    def formula(self, reader: FormulaReader) -> Formula:
        return reader.atom(Atom(LOCATION, reader.one(self.first), reader.one(self.second), relation=self.relation))

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return (self.first, LOCATION), (self.second, LOCATION)

    def label(self, frames: int) -> str:
        return f"Relative: {self.relation}"

    def edge_label(self, role: str) -> str:
        return role

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        relation, a, b = attempt.stream.choice(RELATIONS), attempt.look(LOCATION), attempt.look(LOCATION)
        return lambda when: cls(relation, Select(when[a]), Select(when[b]))
