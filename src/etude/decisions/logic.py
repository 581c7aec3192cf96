"""Operators that combine what is true or false, and the one that asks one question or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from etude.decisions.formulas import Branch, Formula, Outcome, holds, negated
from etude.decisions.operator import Kind, Operator, Value, layout_of
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import EXACT, FLUENT
from etude.names import EtudeError

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker
    from etude.decisions.looks import Select
    from etude.decisions.meaning import FormulaReader, FrameView
    from etude.decisions.wording import Fluent, SentenceWriter


class Joining(Operator, abstract=True):
    """An operator that joins several of one kind, truths or acts, to one more of that kind: how AutoTask shares out what is below it."""

    colour = "#e6dbf1"

    @classmethod
    def joins(cls) -> int:
        return len(layout_of(cls).fields) - 1

    @classmethod
    def takes(cls, attempt: GraphAttempt, place: int) -> tuple[str, ...]:
        """The operators that AutoTask may draw as its input of this number."""
        return attempt.drawable(cls.gives)

    @classmethod
    def fits(cls, attempt: GraphAttempt, joins: int, depth: int) -> bool:
        if cls.joins() == 0:
            return attempt.spare > 0 and attempt.depth(joins, cls.gives) < depth
        return bool(attempt.shares(joins - cls.joins(), cls.joins() + 1, depth - 1, cls.gives))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """Its joins are shared out over its inputs."""
        if cls.joins() == 0:
            attempt.spare -= 1
            shares: tuple[int, ...] = (joins,)
        else:
            shares = attempt.stream.choice(attempt.shares(joins - cls.joins(), cls.joins() + 1, depth - 1, cls.gives))
        parts = [attempt.below(cls.gives, cls.takes(attempt, k), share, depth - 1) for k, share in enumerate(shares)]
        return lambda when: cls(*(part(when) for part in parts))


class Connective(Joining, abstract=True):
    """An operator of truths. A new one is its fields, its words, and ``combined``: evaluation, inversion and AutoTask follow."""

    gives = "truth"

    def combined(self, *parts: Formula) -> Formula:
        """It as a formula over its parts."""
        raise self.lacks("combined: when it is true")

    def kind(self) -> Kind:
        for part in self.inputs():
            if part.kind() != "bool":
                raise EtudeError(f"{self.json_kind} combines what is true or false, not {part.kind()}")
        return "bool"

    def evaluate(self, view: FrameView) -> Value | None:
        parts = [part.evaluate(view) for part in self.inputs()]
        return None if None in parts else holds(self.combined(*map(bool, parts)))

    def formula(self, reader: FormulaReader) -> Formula:
        return self.combined(*[part.formula(reader) for part in self.inputs()])

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()


@dataclass(frozen=True)
class Negation(Connective, kind="Not"):
    """Is it false?"""

    of: Operator

    exact = "not ({of})"
    fluent = "it is false that {of}"
    fluent_question = "is it false that {of}?"
    bracketed = (FLUENT,)

    def combined(self, *parts: Formula) -> Formula:
        return negated(parts[0])

    @classmethod
    def takes(cls, attempt: GraphAttempt, place: int) -> tuple[str, ...]:
        return tuple(name for name in attempt.drawable("truth") if name != cls.json_kind)


@dataclass(frozen=True)
class _Pair(Connective):
    left: Operator
    right: Operator

    sign: ClassVar[str] = ""
    commutative = True

    def combined(self, *parts: Formula) -> Formula:
        left, right = parts
        return self.sign, left, right


class And(_Pair):
    """Are both true?"""

    sign = "and"
    exact = "{left} and {right}"
    fluent = "both {left} and {right}"


class Or(_Pair):
    """Is at least one true?"""

    sign = "or"
    exact = "{left} or {right}"
    fluent = "{left} or {right} or both"


class Xor(_Pair):
    """Is exactly one true?"""

    sign = "xor"
    exact = "{left} xor {right}"
    fluent = "either {left} or {right} but not both"


@dataclass(frozen=True)
class Switch(Joining):
    """One question or the other, or one act or the other, depending on a condition. AutoTask draws it among acts; for questions it sees
    itself to their ends."""

    condition: Operator
    then: Operator
    otherwise: Operator

    bracketed = (EXACT,)
    gives = "act"
    colour = "#f4d3cf"

    def kind(self) -> Kind:
        if self.condition.kind() != "bool":
            raise EtudeError(f"Switch needs a condition that is true or false, not {self.condition.kind()}")
        then, otherwise = self.then.kind(), self.otherwise.kind()
        if "objects" in (then, otherwise):
            raise EtudeError("Switch needs questions with answers in both branches")
        return then if then == otherwise else "mixed"

    def evaluate(self, view: FrameView) -> Value | None:
        condition = self.condition.evaluate(view)
        return None if condition is None else (self.then if condition else self.otherwise).evaluate(view)

    def formula(self, reader: FormulaReader) -> Formula:
        return "if", self.condition.formula(reader), self.then.formula(reader), self.otherwise.formula(reader)

    def outcome(self, reader: FormulaReader) -> Outcome | Branch:
        return Branch(self.condition.formula(reader), self.then.outcome(reader), self.otherwise.outcome(reader))

    def reads(self) -> tuple[tuple[Select, str], ...]:
        return ()

    def answer_count(self, space: StimulusSpace) -> int:
        return self.then.answer_count(space) + self.otherwise.answer_count(space)

    def written(self, say: SentenceWriter) -> str:
        return say.switched(self)

    def question(self, say: Fluent) -> str:
        return say.asked_switch(self)

    def edge_label(self, role: str) -> str:
        return {"condition": "if", "then": "then", "otherwise": "else"}[role]

    @classmethod
    def joins(cls) -> int:
        return 1

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """A condition with as many joins as the settings allow one, and two acts of which one is to be done."""
        condition = attempt.part(attempt.settings.booleans, attempt.stream.integer(*attempt.settings.joins))
        marks, parts = [attempt.looked()], []
        for place, share in enumerate(attempt.stream.choice(attempt.shares(joins - 1, 2, depth - 1, cls.gives))):
            parts.append(attempt.below(cls.gives, cls.takes(attempt, place), share, depth - 1))
            marks.append(attempt.looked())
        attempt.alternatives.append((range(*marks[:2]), range(*marks[1:])))
        return lambda when: cls(condition(when), *(part(when) for part in parts))
