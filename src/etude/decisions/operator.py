"""What an operator of a decision is: all that is known of it stands with its class.

An operator is a frozen dataclass of inputs and settings. It says what it gives (:meth:`~Operator.kind`), what comes out on frames
(:meth:`~Operator.evaluate`), when that is so (:meth:`~Operator.formula`), how it is said and read again (:attr:`~Operator.exact`,
:attr:`~Operator.fluent`), and how AutoTask draws it (:meth:`~Operator.drawn`). What one does not say is refused where it is needed.
Operators of truths are shorter still: see :class:`~etude.decisions.logic.Connective`.
"""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from etude.decisions.formulas import Atom, Branch, Formula, Outcome
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import COMMAND, EXACT, FLUENT, QUESTION, claim, free
from etude.names import EtudeError, Family, canonical_json, json_string, pick

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker, TaskSpace
    from etude.decisions.looks import Select
    from etude.decisions.meaning import FormulaReader, FrameView
    from etude.decisions.wording import Fluent, SentenceWriter

ACT: Final = "act"
Kind = str  # "objects", "bool", "number", "act" for what is to be done, or the name of a property
Value = bool | tuple[str, int]  # a truth, or a property (or "number") with the number of its value


class Operator(Family):
    """An operator with its inputs."""

    commutative: ClassVar[bool] = False
    """Does the order of its inputs not matter?"""
    exact: ClassVar[str] = ""
    """How it is said and read in the exact grammar: words, and its fields in braces (see :mod:`etude.decisions.templates`)."""
    fluent: ClassVar[str] = ""
    """The same in whole sentences."""
    fluent_question: ClassVar[str] = ""
    """Its fluent words as a question of its own, where "is it true that …?" is not good enough."""
    command: ClassVar[str] = ""
    """The words for what is to be done, in the exact and in the fluent grammar: of operators that give an act."""
    spellings: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """By grammar, words for values of its settings."""
    bracketed: ClassVar[tuple[str, ...]] = (EXACT, FLUENT)
    """The grammars in which it stands in brackets within another."""
    gives: ClassVar[Literal["truth", "value", "act", ""]] = ""
    """As what AutoTask may draw it; "" if only as a part of others."""
    least: ClassVar[tuple[int, int]] = (2, 3)
    """The least depth and number of nodes from it down, for AutoTask."""
    colour: ClassVar[str] = "#f7e6c4"
    """Of its box in drawings."""

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        owner, patterns = f"{cls.__module__}.{cls.__name__}", cls.patterns()
        free(owner, patterns)
        super().__init_subclass__(**kwargs)
        claim(owner, patterns)
        if abstract:  # a base of operators is none that a task can have
            del cls.kinds[cls.json_kind]

    @classmethod
    def patterns(cls) -> list[tuple[str, str]]:
        """The patterns of its words, each with its grammar."""
        return [(grammar, getattr(cls, grammar)) for grammar in (EXACT, FLUENT, QUESTION, COMMAND) if getattr(cls, grammar)]

    # ---------------------------------------------------------------------------------------- inputs

    def inputs(self) -> tuple[Operator, ...]:
        """What it takes, in order: the fields that are operators, or several of them."""
        return (_LAYOUTS.get(type(self)) or layout_of(type(self))).inputs(self)

    def roles(self) -> list[str]:
        """What each input is for: the name of its field, with a number where there are several."""
        found: list[str] = []
        for name, many in layout_of(type(self)).fields:
            found += [f"{name} {k}" for k in range(len(getattr(self, name)))] if many else [name]
        return found

    def settings(self) -> dict[str, Any]:
        """What it is set to, its inputs aside."""
        return {name: getattr(self, name) for name in layout_of(type(self)).settings}

    @classmethod
    def assembled(cls, settings: Mapping[str, Any], inputs: Sequence[tuple[str, Operator]]) -> Self:
        """The operator of some settings and of inputs with their roles."""
        given: dict[str, Any] = {name: () for name, many in layout_of(cls).fields if many}
        for role, part in inputs:
            name = role.split(" ")[0]
            given[name] = (*given[name], part) if isinstance(given.get(name), tuple) else part
        return cls(**settings, **given)

    def arranged(self, inputs: Sequence[str], frames: Mapping[int, int]) -> str:
        """Its canonical JSON with these inputs, which are JSON already, and with renumbered frames."""
        layout = layout_of(type(self))
        if layout.json is None:
            raise EtudeError(f"{type(self).__module__}: {self.json_kind} does not say its JSON with other inputs (arranged)")
        if layout.several:
            left = iter(inputs)
            inputs = [f"[{','.join(islice(left, len(getattr(self, name))))}]" if many else next(left) for name, many in layout.fields]
        settings = [json_string(v) if type(v := getattr(self, name)) is str else canonical_json(v) for name in layout.settings]
        return layout.json(*inputs, *settings)

    def with_inputs(self, inputs: Sequence[Operator]) -> Self:
        """The same with other inputs."""
        if all(map(operator.is_, self.inputs(), inputs)):
            return self
        return self.assembled(self.settings(), list(zip(self.roles(), inputs, strict=True)))

    # ---------------------------------------------------------------------------------------- what it means

    def kind(self) -> Kind:
        """What it gives; raises :class:`EtudeError` when its inputs do not fit."""
        raise self.lacks("kind: what it gives")

    def evaluate(self, view: FrameView) -> Value | None:
        """What comes out on frames that are given; None where there is nothing, or more than one thing, to ask about."""
        raise self.lacks("evaluate: what comes out of it")

    def formula(self, reader: FormulaReader) -> Formula:
        """Backward, for what is true or false: when it is true."""
        raise self.lacks("formula: when it is true")

    def outcome(self, reader: FormulaReader) -> Outcome | Branch:
        """Backward: its answer in terms of formulas and frames."""
        if self.kind() == "bool":
            return Outcome(formula=self.formula(reader))
        prop, frame, value = self.operand(reader)
        return Outcome(property=prop, frame=frame, value=value)

    def operand(self, reader: FormulaReader) -> tuple[str, int, int]:
        """Backward, for a value: its property, the frame of the object that has it, or −1, and then the number of the value."""
        raise self.lacks("operand: whose property it gives")

    def same_as(self, other: Operator, reader: FormulaReader) -> Formula:
        """Backward, for a value: when it is the same as another one."""
        prop, frame, _ = self.operand(reader)
        _, second, value = other.operand(reader)
        if second < 0:
            return reader.atom(Atom(prop, frame, None, value))
        return second == frame or reader.atom(Atom(prop, min(frame, second), max(frame, second)))

    def reads(self) -> tuple[tuple[Select, str], ...]:
        """The properties that it reads itself, each of a selected object."""
        if any(part.kind() == "objects" for part in self.inputs()):
            raise self.lacks("reads: which properties of objects it looks at")
        return ()

    def properties(self) -> set[str]:
        """The properties that it speaks of itself."""
        return {prop for _, prop in self.reads()}

    def answer_count(self, space: StimulusSpace) -> int:
        """How many answers it may have."""
        return 2 if self.kind() == "bool" else len(space.values(self.kind()))

    # ---------------------------------------------------------------------------------------- words

    def written(self, say: SentenceWriter) -> str:
        """Its words within a sentence."""
        return say.filled(self)

    def question(self, say: Fluent) -> str:
        """Its words as a fluent question of its own."""
        return say.asked(self)

    def as_condition(self, prop: str, say: SentenceWriter) -> str:
        """The words for objects whose property is what it gives."""
        return f"{prop} {say.nested(self)}"

    def label(self, frames: int) -> str:
        """What its box says in a drawing; the task ends on frame number ``frames``, counted from 1."""
        return self.json_kind

    def edge_label(self, role: str) -> str:
        """What the line to an input says in a drawing, if anything."""
        return ""

    # ---------------------------------------------------------------------------------------- AutoTask

    @classmethod
    def joins(cls) -> int:
        """How many joins of two it counts for in AutoTask: three truths are joined by two."""
        return 0

    @classmethod
    def fits(cls, attempt: GraphAttempt, joins: int, depth: int) -> bool:
        """Can it stand for a truth with so many joins, itself included, and at most this depth?"""
        return joins == 0 and cls.least[0] <= depth

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """A random truth of this kind, with all below it."""
        raise EtudeError(f"{cls.__module__}: {cls.json_kind} does not say how AutoTask draws it (drawn)")

    @classmethod
    def ends(cls, settings: TaskSpace) -> tuple[Kind, ...]:
        """For what gives a value: the kinds of answers it may give at the end of a task."""
        return ()

    @classmethod
    def drawn_end(cls, attempt: GraphAttempt, end: Kind) -> Maker:
        """A random question of this kind that is answered with ``end``."""
        raise EtudeError(f"{cls.__module__}: {cls.json_kind} does not say how AutoTask asks for it (drawn_end)")

    @classmethod
    def drawn_compared(cls, attempt: GraphAttempt, sign: Callable[[Operator, Operator], Operator]) -> Maker:
        """A random comparison in which one side is of this kind."""
        raise EtudeError(f"{cls.__module__}: {cls.json_kind} does not say how AutoTask compares it (drawn_compared)")

    def lacks(self, what: str) -> EtudeError:
        """The error for an operator that does not say something."""
        return EtudeError(f"{type(self).__module__}: {self.json_kind} does not say its {what}")


def field_types(kind: type[Operator]) -> dict[str, Any]:
    """The types of an operator's fields, in order."""
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class OperatorLayout:
    """The fields of an operator: those that are inputs, whether each holds several and whether any does, and the settings.

    ``json`` gives the canonical JSON from that of all fields, inputs first; None where it is not made of its fields alone.
    """

    fields: tuple[tuple[str, bool], ...]
    several: bool
    settings: tuple[str, ...]
    inputs: Callable[[Operator], tuple[Operator, ...]]
    json: Callable[..., str] | None


_LAYOUTS: dict[type, OperatorLayout] = {}


def layout_of(kind: type[Operator]) -> OperatorLayout:
    """The layout of an operator's fields, worked out once."""
    if kind not in _LAYOUTS:
        types = field_types(kind)
        several = {name: typing.get_args(hint)[0] for name, hint in types.items() if typing.get_origin(hint) is tuple}
        taken = [name for name, hint in (types | several).items() if isinstance(hint, type) and issubclass(hint, Operator)]
        settings = tuple(name for name in types if name not in taken)
        many = any(name in several for name in taken)
        places = {name: f"{{{k}}}" for k, name in enumerate((*taken, *settings))} | {"kind": json_string(kind.json_kind)}
        whole = kind.inputs is Operator.inputs and not any(f.metadata.get("sparse") for f in fields(kind))  # type: ignore[arg-type]
        _LAYOUTS[kind] = OperatorLayout(
            tuple((name, name in several) for name in taken),
            many,
            settings,
            _taking(taken, several) if many else _getting(taken),
            f"{{{{{','.join(f'{json_string(name)}:{places[name]}' for name in sorted(places))}}}}}".format if whole else None,
        )
    return _LAYOUTS[kind]


def _getting(taken: Sequence[str]) -> Callable[[Operator], tuple[Operator, ...]]:
    """The inputs of an operator, each in a field of its own."""
    if not taken:
        return lambda node: ()
    found: Callable[[Operator], Any] = operator.attrgetter(*taken)
    return found if len(taken) > 1 else lambda node: (found(node),)


def _taking(taken: Sequence[str], several: Container[str]) -> Callable[[Operator], tuple[Operator, ...]]:
    """The same where fields hold several of them."""
    return lambda node: tuple([part for n in taken for part in (getattr(node, n) if n in several else (getattr(node, n),))])


def operator_class(name: str) -> type[Operator]:
    """The operator of a name, which is that of its JSON."""
    found: type[Operator] = pick("operator", name, Operator.kinds)
    return found
