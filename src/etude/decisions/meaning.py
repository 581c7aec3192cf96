"""What a graph means: its answer on frames that are given (forward), and the conditions under which it has an answer (backward).

Backward, every question becomes a formula over *atoms*: "these two objects have the same category", "this object is a car", "this one
lies left of that one". Whether a formula can be true, and how, is then a small search over values of properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from etude.decisions.graph import (
    And,
    Const,
    Count,
    DecisionGraph,
    Exist,
    Get,
    IsSame,
    Negation,
    NotSame,
    Operator,
    Or,
    Relative,
    Select,
    Switch,
    Xor,
)
from etude.decisions.space import LOCATION, NUMBER, SeenThing, StimulusSpace
from etude.names import EtudeError

Answer = str
Frames = Sequence[Sequence[SeenThing]]
RELATIONS = ("left of", "right of", "above", "below")


# ------------------------------------------------------------------------------------------------ forward


def answer(task: DecisionGraph, frames: Frames, space: StimulusSpace, offset: int = 0) -> Answer | None:
    """The answer on these frames, in words; None where the question makes no sense (nothing, or more than one thing, is selected)."""
    value = _value(task.root, frames, space, offset + task.frames - 1)
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    prop, number = value
    return str(number) if prop == NUMBER else space.values(prop)[number]


def _value(node: Operator, frames: Frames, space: StimulusSpace, now: int) -> bool | tuple[str, int] | None:
    """A truth, or a value with its property; None where there is none."""
    if isinstance(node, Get):
        found = _selected(node.of, frames, space, now)
        return (node.property, space.of(node.property, found[0])) if found is not None and len(found) == 1 else None
    if isinstance(node, (IsSame, NotSame)):
        left, right = _value(node.left, frames, space, now), _value(node.right, frames, space, now)
        return None if left is None or right is None else (left == right) is isinstance(node, IsSame)
    if isinstance(node, Const):
        return node.property, int(node.value) if node.property == NUMBER else space.value(node.property, node.value)
    if isinstance(node, Switch):
        condition = _value(node.condition, frames, space, now)
        return None if condition is None else _value(node.then if condition else node.otherwise, frames, space, now)
    if isinstance(node, Exist):
        found = _selected(node.of, frames, space, now)
        return None if found is None else bool(found)
    if isinstance(node, Count):
        each = [_selected(s, frames, space, now) for s in node.of]
        return None if None in each else (NUMBER, sum(len(e) for e in each if e is not None))
    if isinstance(node, Relative):
        first, second = (_selected(s, frames, space, now) for s in (node.first, node.second))
        if first is None or second is None or len(first) != 1 or len(second) != 1:
            return None
        return related(node.relation, first[0].location, second[0].location, space)
    parts = [_value(part, frames, space, now) for part in node.inputs()]
    if None in parts:
        return None
    if isinstance(node, And):
        return bool(parts[0] and parts[1])
    if isinstance(node, Or):
        return bool(parts[0] or parts[1])
    if isinstance(node, Xor):
        return parts[0] is not parts[1]
    if isinstance(node, Negation):
        return not parts[0]
    raise EtudeError(f"{type(node).__name__} has no value")


def _selected(select: Select, frames: Frames, space: StimulusSpace, now: int) -> list[SeenThing] | None:
    there = frames[now - select.when]
    if not select.matches:
        return [t for t in there if not t.distractor]
    wanted = []
    for match in select.matches:
        value = _value(match.value, frames, space, now)
        if not isinstance(value, tuple):
            return None
        wanted.append(value)
    return [t for t in there if not t.distractor and all(space.of(prop, t) == number for prop, number in wanted)]


def related(relation: str, first: int, second: int, space: StimulusSpace) -> bool:
    """Does one place lie so to another?"""
    if relation in ("left of", "right of"):
        a, b = space.column(first), space.column(second)
    else:
        a, b = space.row(first), space.row(second)
    return a < b if relation in ("left of", "above") else a > b


# ------------------------------------------------------------------------------------------------ backward


@dataclass(frozen=True)
class Atom:
    """A question about one object or two, by their frames. Without ``second`` the first is compared with the value ``value``.

    ``relation`` is "same", or one of the relations between places.
    """

    property: str
    first: int
    second: int | None = None
    value: int = -1
    relation: str = "same"


Formula = bool | int | tuple[str, "Formula"] | tuple[str, "Formula", "Formula"] | tuple[str, "Formula", "Formula", "Formula"]


@dataclass(frozen=True)
class Outcome:
    """An answer: a formula that is true or false, a property of the object on a frame, a constant, or a number of formulas that hold."""

    formula: Formula | None = None
    property: str = ""
    frame: int = -1
    value: int = -1
    counted: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One of two outcomes, by a formula."""

    condition: Formula
    then: Outcome | Branch
    otherwise: Outcome | Branch


@dataclass(frozen=True)
class Meaning:
    """A graph as formulas over atoms. ``asserted`` must hold for the question to make sense."""

    atoms: tuple[Atom, ...]
    root: Outcome | Branch
    asserted: tuple[Formula, ...]
    frames: tuple[int, ...]


class _Reader:
    def __init__(self, space: StimulusSpace, now: int) -> None:
        self._space, self._now = space, now
        self.atoms: dict[Atom, int] = {}
        self.asserted: list[Formula] = []
        self.frames: set[int] = set()

    def outcome(self, node: Operator) -> Outcome | Branch:
        if isinstance(node, Switch):
            return Branch(self.formula(node.condition), self.outcome(node.then), self.outcome(node.otherwise))
        if node.kind() == "bool":
            return Outcome(formula=self.formula(node))
        if isinstance(node, Count):
            return Outcome(counted=tuple(self._matching(s) for s in node.of))
        prop, frame, value = self._operand(node)
        return Outcome(property=prop, frame=frame, value=value)

    def formula(self, node: Operator) -> Formula:
        if isinstance(node, (IsSame, NotSame)):
            same = self._same(node.left, node.right)
            return same if isinstance(node, IsSame) else negated(same)
        if isinstance(node, Exist):
            return self._matching(node.of)
        if isinstance(node, Relative):
            first, second = self._one(node.first), self._one(node.second)
            return self._atom(Atom(LOCATION, first, second, relation=node.relation))
        if isinstance(node, Negation):
            return negated(self.formula(node.of))
        if isinstance(node, (And, Or, Xor)):
            return type(node).__name__.lower(), self.formula(node.left), self.formula(node.right)
        if isinstance(node, Switch):
            return "if", self.formula(node.condition), self.formula(node.then), self.formula(node.otherwise)
        raise EtudeError(f"{type(node).__name__} is neither true nor false")

    def _same(self, left: Operator, right: Operator) -> Formula:
        if isinstance(left, Const):
            left, right = right, left
        if isinstance(left, Count):
            return self._counted(left, right)
        prop, frame, _ = self._operand(left)
        _, other, value = self._operand(right)
        if other < 0:
            return self._atom(Atom(prop, frame, None, value))
        if other == frame:
            return True
        return self._atom(Atom(prop, min(frame, other), max(frame, other)))

    def _counted(self, left: Count, right: Operator) -> Formula:
        """Exactly so many of the conditions hold."""
        if not isinstance(right, Const):
            raise EtudeError("a Count is compared with a number")
        return exactly(int(right.value), [self._matching(s) for s in left.of])

    def _operand(self, node: Operator) -> tuple[str, int, int]:
        """Property, frame and value; the frame is −1 for a constant."""
        if isinstance(node, Const):
            return node.property, -1, int(node.value) if node.property == NUMBER else self._space.value(node.property, node.value)
        if isinstance(node, Get):
            return node.property, self._one(node.of), -1
        raise EtudeError(f"{type(node).__name__} has no property to compare")

    def _one(self, select: Select) -> int:
        """The frame of the one object that is meant; that it matches its conditions is taken for granted from now on."""
        matching = self._matching(select)
        if matching is not True:
            self.asserted.append(matching)
        return self._now - select.when

    def _matching(self, select: Select) -> Formula:
        """Does the object on this frame match?"""
        frame = self._now - select.when
        self.frames.add(frame)
        found: Formula = True
        for match in select.matches:
            _, other, value = self._operand(match.value)
            if other == frame:
                continue
            atom = Atom(match.property, frame, None, value) if other < 0 else Atom(match.property, min(frame, other), max(frame, other))
            one = self._atom(atom)
            found = one if found is True else ("and", found, one)
        return found

    def _atom(self, atom: Atom) -> int:
        return self.atoms.setdefault(atom, len(self.atoms))


def meaning(task: DecisionGraph, space: StimulusSpace, offset: int = 0) -> Meaning:
    """The graph as formulas; frames are counted from ``offset`` on."""
    reader = _Reader(space, offset + task.frames - 1)
    root = reader.outcome(task.root)
    return Meaning(tuple(reader.atoms), root, tuple(reader.asserted), tuple(sorted(reader.frames)))


def negated(formula: Formula) -> Formula:
    """The opposite."""
    if isinstance(formula, bool):
        return not formula
    return formula[1] if isinstance(formula, tuple) and formula[0] == "not" else ("not", formula)


def exactly(count: int, formulas: Sequence[Formula]) -> Formula:
    """Exactly ``count`` of the formulas hold."""
    if count < 0 or count > len(formulas):
        return False
    if not formulas:
        return True
    first, rest = formulas[0], formulas[1:]
    return "if", first, exactly(count - 1, rest), exactly(count, rest)


def holds(formula: Formula, truth: Mapping[int, bool] | Sequence[bool]) -> bool:
    """Is the formula true, given the truth of its atoms?"""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return truth[formula]
    sign = formula[0]
    if sign == "not":
        return not holds(formula[1], truth)
    if sign == "and":
        return holds(formula[1], truth) and holds(formula[2], truth)  # type: ignore[misc]
    if sign == "or":
        return holds(formula[1], truth) or holds(formula[2], truth)  # type: ignore[misc]
    if sign == "xor":
        return holds(formula[1], truth) is not holds(formula[2], truth)  # type: ignore[misc]
    return holds(formula[2] if holds(formula[1], truth) else formula[3], truth)  # type: ignore[misc]
