"""Questions in words, in three grammars: ``exact``, ``fluent`` and ``original`` (see :mod:`etude.decisions.text`).

What an operator says stands with its class; a grammar knows how objects, values, brackets and questions are told.
"""

from __future__ import annotations

import functools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from etude.decisions.logic import And, Or, Switch
from etude.decisions.looks import Const, Get, IsSame, Match, NotSame, Select, ValueComparison
from etude.decisions.operator import Operator
from etude.decisions.space import LOCATION, NUMBER, VIEW, StimulusSpace
from etude.decisions.templates import EXACT, FLUENT, RESERVED, pieces
from etude.names import EtudeError

PLAIN = re.compile(r'[^\s(),.;:?"]+(?: [^\s(),.;:?"]+)*')
ORIGINAL_NAMES = {"category": "category", "identity": "identity", LOCATION: "location", VIEW: "view_angle"}


@functools.lru_cache(maxsize=4096)
def spoken(name: str) -> str:
    """The name of a property or a value as it is written in instructions."""
    if PLAIN.fullmatch(name) and not any(word.casefold() in RESERVED for word in name.split(" ")):
        return name
    return json.dumps(name, ensure_ascii=False)


def told(prop: str, value: str, space: StimulusSpace) -> str:
    """A property with its value; the value in quotes where its first words could belong to the name of another property."""
    said = spoken(value)
    longer = any(f"{prop} {said} ".startswith(f"{p} ") for p in space.known if len(p) > len(prop))
    return f"{spoken(prop)} {json.dumps(value, ensure_ascii=False) if longer else said}"


class SentenceWriter(ABC):
    """What all grammars share: ``numbers`` gives the number of the object seen ``when`` frames ago."""

    grammar = EXACT
    article = ""
    last_comma = ", "  # before the last number of a list

    def __init__(self, space: StimulusSpace, numbers: Mapping[int, int]) -> None:
        self._space, self._numbers = space, numbers

    @abstractmethod
    def question(self, node: Operator) -> str:
        """The root of a task, as a question with its mark."""

    @abstractmethod
    def compared(self, node: ValueComparison) -> str:
        """A comparison as a part of a sentence."""

    @abstractmethod
    def switched(self, node: Switch) -> str:
        """One question or another, as a part of a sentence."""

    def nested(self, node: Operator) -> str:
        """A question within a question, in brackets."""
        return f"({node.written(self)})"

    def part(self, node: Operator) -> str:
        """A question within a question, in brackets where it needs any."""
        return self.nested(node) if self.grammar in node.bracketed else node.written(self)

    def filled(self, node: Operator, pattern: str = "") -> str:
        """The words of an operator, from its pattern."""
        pattern = pattern or str(getattr(node, self.grammar))
        if not pattern:
            raise node.lacks(f"{self.grammar} words")
        said = []
        for piece in pieces(pattern):
            said.append(self._field(node, piece.name, piece.bare) if piece.name else piece.text)
        return "".join(said)

    def _field(self, node: Operator, name: str, bare: bool) -> str:
        value = getattr(node, name)
        if isinstance(value, tuple):
            return f"({', '.join(self.part(each) for each in value)})"
        if isinstance(value, Operator):
            return self.select(value) if isinstance(value, Select) else value.written(self) if bare else self.part(value)
        if name == "property":
            return self.property(value)
        return node.spellings.get(self.grammar, {}).get(value, str(value))

    def property(self, name: str) -> str:
        """The name of a property."""
        self._space.values(name)
        return spoken(name)

    def value(self, const: Const) -> str:
        """A value without its property, which is known from what it is compared with."""
        if const.property == NUMBER:
            if not re.fullmatch("[0-9]{1,6}", const.value):
                raise EtudeError(f"{const.value!r} is not a whole number")
            return const.value
        self._space.value(const.property, const.value)
        return spoken(const.value)

    def named_value(self, const: Const) -> str:
        """A value with its property."""
        value = self.value(const)
        return f"{NUMBER} {value}" if const.property == NUMBER else told(const.property, const.value, self._space)

    def number(self, select: Select) -> int:
        """The number of an object."""
        found = self._numbers.get(select.when)
        if found is None:
            raise EtudeError(f"a question looks {select.when} frames back, where no object is shown")
        return found

    def select(self, select: Select) -> str:
        """An object with the conditions on it."""
        return f"object {self.number(select)}{self.matches(select.matches) if select.matches else ''}"

    def matches(self, matches: Sequence[Match]) -> str:
        """The conditions on an object."""
        return "".join(f" with {m.value.as_condition(self.property(m.property), self)}" for m in matches)


class Exact(SentenceWriter):
    """The paper's words, with brackets around every and, or and xor within another, and words for the operators it lacks."""

    def question(self, node: Operator) -> str:
        return f"{node.written(self)}?"

    def compared(self, node: ValueComparison) -> str:
        left, right = (self.value(part) if isinstance(part, Const) else self.part(part) for part in node.inputs())
        return f"{left} {node.signs[EXACT][0]} {right}"

    def switched(self, node: Switch) -> str:
        condition, then = (self.nested(p) if isinstance(p, Switch) else p.written(self) for p in (node.condition, node.then))
        return f"if {condition}, then {then}? else {node.otherwise.written(self)}"


COMPARING = (And, Or, IsSame, NotSame)
# What the paper's grammar has words for: the operators that an operator may take there.
ORIGINAL_TAKES: dict[type[Operator], tuple[type[Operator], ...]] = {
    And: COMPARING, Or: COMPARING, IsSame: (Get, Const), NotSame: (Get, Const), Get: (Select,),
}  # fmt: skip


class Original(Exact):
    """The paper's words and no others."""

    def question(self, node: Operator) -> str:
        _refuse_what_is_new(node, (Switch, *COMPARING, Get))
        return super().question(node)

    def nested(self, node: Operator) -> str:
        return node.written(self)  # its fault: and and or are not told apart

    def property(self, name: str) -> str:
        return ORIGINAL_NAMES[name]


def _refuse_what_is_new(node: Operator, allowed: tuple[type[Operator], ...]) -> None:
    """Raise where the paper's grammar has no words for a graph."""
    what = ""
    if type(node) not in allowed:
        what = f"{node.json_kind} here"
    elif isinstance(node, Const) and node.property not in ("category", LOCATION):
        what = f"a constant {node.property}"
    elif isinstance(node, Get) and node.property not in ORIGINAL_NAMES:
        what = f"the property {node.property!r}"
    elif isinstance(node, Select) and node.matches:
        what = "a Select with conditions"
    if what:
        raise EtudeError(f"the original grammar has no words for {what}; valid for this question: exact, fluent")
    for part in node.inputs():
        below = COMPARING if part is getattr(node, "condition", None) else allowed
        _refuse_what_is_new(part, below if isinstance(node, Switch) else ORIGINAL_TAKES[type(node)])


class Fluent(SentenceWriter):
    """Whole sentences, with brackets where English alone would leave a doubt."""

    grammar = FLUENT
    article = "the "
    last_comma = " and "

    def question(self, node: Operator) -> str:
        said = node.question(self)
        return said[0].upper() + said[1:]

    def asked(self, node: Operator) -> str:
        """A question from the words that an operator has within a sentence: those of its own, "is it so?", or "is it true?"."""
        if node.fluent_question:
            return self.filled(node, node.fluent_question)
        if node.kind() != "bool":
            return f"what is {node.written(self)}?"
        subject, verb, rest = node.fluent.partition("} is ")
        if verb and subject.startswith("{") and "}" not in subject:
            return f"is {self.filled(node, subject + '}')} {self.filled(node, rest)}?"
        return f"is it true that {node.written(self)}?"

    def asked_switch(self, node: Switch) -> str:
        """One question or the other, each with its mark."""
        then = node.then.question(self)
        if isinstance(node.then, Switch):
            then = f"({then})"
        return f"if {node.condition.written(self)}, {then} Otherwise, {node.otherwise.question(self)}"

    def switched(self, node: Switch) -> str:
        condition, then, otherwise = (part.written(self) for part in node.inputs())
        return f"(if {condition}, then {then}, otherwise {otherwise})"

    def nested(self, node: Operator) -> str:
        return node.written(self) if isinstance(node, Switch) else super().nested(node)  # which has its brackets

    def compared(self, node: ValueComparison) -> str:
        subject, rest = self.said_of(node)
        return f"{subject} is {rest}"

    def said_of(self, node: ValueComparison) -> tuple[str, str]:
        """What a comparison is about, and what it says of it."""
        left, right = (node.right, node.left) if isinstance(node.left, Const) and node.commutative else (node.left, node.right)
        signs = node.signs[FLUENT]
        if isinstance(right, Const):
            return left.written(self), f"{signs[-1]} {self.value(right)}"
        return left.written(self), f"{signs[0]} {right.written(self)}"
