"""Questions in words, in three grammars: ``exact``, ``fluent`` and ``original`` (see :mod:`etude.decisions.text`)."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from etude.decisions.graph import (
    And,
    Const,
    Count,
    Exist,
    Get,
    IsSame,
    Match,
    Negation,
    NotSame,
    Operator,
    Or,
    Relative,
    Select,
    Switch,
    Xor,
)
from etude.decisions.space import LOCATION, NUMBER, VIEW, StimulusSpace
from etude.names import EtudeError, unknown

# A name of a property or value that holds one of these is put in quotes: they are how the end of a name is found.
RESERVED = frozenset({
    "a", "above", "an", "and", "answer", "as", "at", "below", "both", "but", "different", "do", "either", "else", "equal", "equals",
    "exists", "from", "if", "in", "is", "it", "not", "number", "object", "objects", "of", "or", "otherwise", "same", "task", "that", "the",
    "then", "there", "to", "what", "with", "xor",
})  # fmt: skip
PLAIN = re.compile(r'[^\s(),.;:?"]+(?: [^\s(),.;:?"]+)*')
ORIGINAL_NAMES = {"category": "category", "identity": "identity", LOCATION: "location", VIEW: "view_angle"}


def spoken(name: str) -> str:
    """The name of a property or a value as it is written in instructions."""
    if PLAIN.fullmatch(name) and not any(word.casefold() in RESERVED for word in name.split(" ")):
        return name
    return json.dumps(name, ensure_ascii=False)


def told(prop: str, value: str, space: StimulusSpace) -> str:
    """A property with its value; the value in quotes where its first words could belong to the name of another property."""
    said = spoken(value)
    longer = any(f"{prop} {said} ".startswith(f"{p} ") for p in space.properties if len(p) > len(prop))
    return f"{spoken(prop)} {json.dumps(value, ensure_ascii=False) if longer else said}"


class SentenceWriter(ABC):
    """What all grammars share: ``numbers`` gives the number of the object seen ``when`` frames ago."""

    article = ""
    last_comma = ", "  # before the last number of a list

    def __init__(self, space: StimulusSpace, numbers: Mapping[int, int]) -> None:
        self._space, self._numbers = space, numbers

    @abstractmethod
    def question(self, node: Operator) -> str:
        """The root of a task, as a question with its mark."""

    @abstractmethod
    def nested(self, node: Operator) -> str:
        """A question within a question, in brackets."""

    def property(self, name: str) -> str:
        """The name of a property."""
        if name not in self._space.properties:
            raise unknown("property", name, self._space.properties)
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
        if select.when not in self._numbers:
            raise EtudeError(f"a question looks {select.when} frames back, where no object is shown")
        return self._numbers[select.when]

    def select(self, select: Select) -> str:
        """An object with the conditions on it."""
        return f"object {self.number(select)}{self.matches(select.matches)}"

    def matches(self, matches: Sequence[Match]) -> str:
        """The conditions on an object."""
        return "".join(f" with {self._match(m)}" for m in matches)

    def _match(self, match: Match) -> str:
        name = self.property(match.property)
        if isinstance(match.value, Const):
            return self.named_value(match.value)
        if isinstance(match.value, Get):
            of = self.select(match.value.of)
            return f"{self.article}{name} of " + (f"({of})" if match.value.of.matches else of)
        return f"{name} {self.nested(match.value)}"

    def fetched(self, node: Operator) -> str:
        """A property of an object, or a number of objects."""
        if isinstance(node, Get):
            return f"{self.article}{self.property(node.property)} of {self.select(node.of)}"
        if isinstance(node, Count):
            return f"{self.article}number of {self._counted(node)}"
        raise EtudeError(f"there are no words for {type(node).__name__}")

    def _counted(self, count: Count) -> str:
        if len(count.of) == 1:
            return self.select(count.of[0])
        if any(s.matches != count.of[0].matches for s in count.of):
            return f"({', '.join(self.select(s) for s in count.of)})"
        *first, last = (str(self.number(s)) for s in count.of)
        return f"objects {', '.join(first)}{self.last_comma}{last}{self.matches(count.of[0].matches)}"


class Exact(SentenceWriter):
    """The paper's words, with brackets around every and, or and xor within another, and words for the operators it lacks."""

    signs: Mapping[type[Operator], str] = {And: "and", Or: "or", Xor: "xor", IsSame: "equals", NotSame: "not equals"}

    def question(self, node: Operator) -> str:
        return f"{self._whole(node)}?"

    def nested(self, node: Operator) -> str:
        return f"({self._whole(node)})"

    def _whole(self, node: Operator) -> str:
        if isinstance(node, Switch):
            condition, then = (self._part(part, Switch) for part in (node.condition, node.then))
            return f"if {condition}, then {then}? else {self._whole(node.otherwise)}"
        if isinstance(node, (And, Or, Xor)):
            left, right = (self._part(part, And, Or, Xor, Switch) for part in node.inputs())
            return f"{left} {self.signs[type(node)]} {right}"
        if isinstance(node, (IsSame, NotSame)):
            left, right = (self.value(part) if isinstance(part, Const) else self._part(part, Switch) for part in node.inputs())
            return f"{left} {self.signs[type(node)]} {right}"
        if isinstance(node, Negation):
            return f"not {self.nested(node.of)}"
        if isinstance(node, Exist):
            return f"{self.select(node.of)} exists"
        if isinstance(node, Relative):
            return f"{self.select(node.first)} is {node.relation} {self.select(node.second)}"
        return self.named_value(node) if isinstance(node, Const) else self.fetched(node)

    def _part(self, node: Operator, *bracketed: type[Operator]) -> str:
        return self.nested(node) if isinstance(node, bracketed) else self._whole(node)


class Original(Exact):
    """The paper's words and no others."""

    def question(self, node: Operator) -> str:
        _refuse_what_is_new(node, (Switch, And, Or, IsSame, NotSame, Get))
        return super().question(node)

    def nested(self, node: Operator) -> str:
        return self._whole(node)  # its fault: and and or are not told apart

    def property(self, name: str) -> str:
        return ORIGINAL_NAMES[name]


def _refuse_what_is_new(node: Operator, allowed: tuple[type[Operator], ...]) -> None:
    """Raise where the paper's grammar has no words for a graph."""
    what = ""
    if not isinstance(node, allowed):
        what = f"{type(node).__name__} here"
    elif isinstance(node, Const) and node.property not in ("category", LOCATION):
        what = f"a constant {node.property}"
    elif isinstance(node, Get) and node.property not in ORIGINAL_NAMES:
        what = f"the property {node.property!r}"
    elif isinstance(node, Select) and node.matches:
        what = "a Select with conditions"
    if what:
        raise EtudeError(f"the original grammar has no words for {what}; valid for this question: exact, fluent")
    below: tuple[type[Operator], ...] = (Select,)
    if isinstance(node, Switch):
        _refuse_what_is_new(node.condition, (And, Or, IsSame, NotSame))
        _refuse_what_is_new(node.then, allowed)
        _refuse_what_is_new(node.otherwise, allowed)
        return
    if isinstance(node, (And, Or)):
        below = (And, Or, IsSame, NotSame)
    elif isinstance(node, (IsSame, NotSame)):
        below = (Get, Const)
    for part in node.inputs():
        _refuse_what_is_new(part, below)


class Fluent(SentenceWriter):
    """Whole sentences, with brackets where English alone would leave a doubt."""

    article = "the "
    last_comma = " and "
    relations: Mapping[str, str] = {"left of": "to the left of", "right of": "to the right of"}

    def question(self, node: Operator) -> str:
        said = self._asked(node)
        return said[0].upper() + said[1:]

    def nested(self, node: Operator) -> str:
        if isinstance(node, Switch):
            return f"(if {self._clause(node.condition)}, then {self._clause(node.then)}, otherwise {self._clause(node.otherwise)})"
        return f"({self._clause(node)})"

    def _asked(self, node: Operator) -> str:
        if isinstance(node, Switch):
            then = self._asked(node.then)
            if isinstance(node.then, Switch):
                then = f"({then})"
            return f"if {self._clause(node.condition)}, {then} Otherwise, {self._asked(node.otherwise)}"
        if isinstance(node, Const):
            return f"answer {self.named_value(node)}."
        if isinstance(node, (IsSame, NotSame, Relative)):
            subject, rest = self._said_of(node)
            return f"is {subject} {rest}?"
        if isinstance(node, Exist):
            return f"is there an {self.select(node.of)}?"
        if isinstance(node, Negation):
            return f"is it false that {self._part(node.of)}?"
        if isinstance(node, (And, Or, Xor)):
            return f"is it true that {self._clause(node)}?"
        return f"what is {self.fetched(node)}?"

    def _clause(self, node: Operator) -> str:
        if isinstance(node, Switch):
            return self.nested(node)
        if isinstance(node, And):
            return f"both {self._part(node.left)} and {self._part(node.right)}"
        if isinstance(node, Or):
            return f"{self._part(node.left)} or {self._part(node.right)} or both"
        if isinstance(node, Xor):
            return f"either {self._part(node.left)} or {self._part(node.right)} but not both"
        if isinstance(node, Negation):
            return f"it is false that {self._part(node.of)}"
        if isinstance(node, Exist):
            return f"there is an {self.select(node.of)}"
        if isinstance(node, (IsSame, NotSame, Relative)):
            subject, rest = self._said_of(node)
            return f"{subject} is {rest}"
        return self.named_value(node) if isinstance(node, Const) else self.fetched(node)

    def _part(self, node: Operator) -> str:
        return self.nested(node) if isinstance(node, (And, Or, Xor, Negation)) else self._clause(node)

    def _said_of(self, node: IsSame | NotSame | Relative) -> tuple[str, str]:
        """What a sentence is about, and what it says of it."""
        if isinstance(node, Relative):
            return self.select(node.first), f"{self.relations.get(node.relation, node.relation)} {self.select(node.second)}"
        left, right = (node.right, node.left) if isinstance(node.left, Const) else (node.left, node.right)
        if isinstance(right, Const):
            return self._clause(left), f"{'equal to' if isinstance(node, IsSame) else 'different from'} {self.value(right)}"
        return self._clause(left), f"{'the same as' if isinstance(node, IsSame) else 'different from'} {self._clause(right)}"
