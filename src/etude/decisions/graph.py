"""A decision as data: a typed graph of operators over what was seen when (iWISDM A.2.1).

Leaves look at frames, inner nodes fetch properties, compare them and combine what came out; the root is the answer. Nodes are frozen and
compare by value, so a :class:`Select` that occurs twice is the same object of the same frame: a graph, not only a tree.

A new operator is one class here, one method in :mod:`etude.decisions.meaning`, and one line of connectivity in AutoTask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from etude.names import EtudeError, Family, canonical_json, from_json

Kind = str  # "objects", "bool", "number", or the name of a property
Relation = Literal["left of", "right of", "above", "below"]


class Operator(Family):
    """An operator with its inputs."""

    def inputs(self) -> tuple[Operator, ...]:
        """What it takes, in order."""
        return ()

    def kind(self) -> Kind:
        """What it gives; raises :class:`EtudeError` when its inputs do not fit."""
        raise TypeError(f"{type(self).__name__} has no kind")


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

    def inputs(self) -> tuple[Operator, ...]:
        return tuple(m.value for m in self.matches)

    def kind(self) -> Kind:
        if self.when < 0:
            raise EtudeError(f"Select looks {self.when} frames back; it must be 0 or more")
        for match in self.matches:
            if match.value.kind() != match.property:
                raise EtudeError(f"Select compares {match.property} with {match.value.kind()}")
        return "objects"


@dataclass(frozen=True)
class Get(Operator):
    """A property of the one object that is selected."""

    property: str
    of: Select

    def inputs(self) -> tuple[Operator, ...]:
        return (self.of,)

    def kind(self) -> Kind:
        self.of.kind()
        return self.property


@dataclass(frozen=True)
class Const(Operator):
    """A value of a property, by its name; or a number, of the property "number"."""

    property: str
    value: str

    def kind(self) -> Kind:
        return self.property


@dataclass(frozen=True)
class Exist(Operator):
    """Is there an object that is selected?"""

    of: Select

    def inputs(self) -> tuple[Operator, ...]:
        return (self.of,)

    def kind(self) -> Kind:
        self.of.kind()
        return "bool"


@dataclass(frozen=True)
class Count(Operator):
    """How many objects are selected, over several frames."""

    of: tuple[Select, ...]

    def inputs(self) -> tuple[Operator, ...]:
        return self.of

    def kind(self) -> Kind:
        if len({s.when for s in self.of}) < len(self.of) or not self.of:
            raise EtudeError("Count needs one or more frames, each at most once")
        for select in self.of:
            select.kind()
        return "number"


@dataclass(frozen=True)
class Relative(Operator):
    """Does the first object lie left of, right of, above or below the second, each on its own frame?"""

    relation: Relation
    first: Select
    second: Select

    def inputs(self) -> tuple[Operator, ...]:
        return (self.first, self.second)

    def kind(self) -> Kind:
        if self.first == self.second:
            raise EtudeError("Relative compares an object with itself")
        self.first.kind(), self.second.kind()
        return "bool"


@dataclass(frozen=True)
class _Comparison(Operator):
    left: Operator
    right: Operator

    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    def kind(self) -> Kind:
        left, right = self.left.kind(), self.right.kind()
        name = type(self).__name__
        if left != right or left in ("objects", "bool"):
            raise EtudeError(f"{name} compares two values of one property, not {left} with {right}")
        if isinstance(self.left, Const) and isinstance(self.right, Const):
            raise EtudeError(f"{name} compares two constants")
        return "bool"


@dataclass(frozen=True)
class IsSame(_Comparison):
    """Are both values the same?"""


@dataclass(frozen=True)
class NotSame(_Comparison):
    """Are the values different?"""


@dataclass(frozen=True)
class _Connective(Operator):
    left: Operator
    right: Operator

    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    def kind(self) -> Kind:
        _all_bool(self)
        return "bool"


@dataclass(frozen=True)
class And(_Connective):
    """Are both true?"""


@dataclass(frozen=True)
class Or(_Connective):
    """Is at least one true?"""


@dataclass(frozen=True)
class Xor(_Connective):
    """Is exactly one true?"""


@dataclass(frozen=True)
class Negation(Operator, kind="Not"):
    """Is it false?"""

    of: Operator

    def inputs(self) -> tuple[Operator, ...]:
        return (self.of,)

    def kind(self) -> Kind:
        _all_bool(self)
        return "bool"


@dataclass(frozen=True)
class Switch(Operator):
    """One question or the other, depending on a condition."""

    condition: Operator
    then: Operator
    otherwise: Operator

    def inputs(self) -> tuple[Operator, ...]:
        return (self.condition, self.then, self.otherwise)

    def kind(self) -> Kind:
        if self.condition.kind() != "bool":
            raise EtudeError(f"Switch needs a condition that is true or false, not {self.condition.kind()}")
        then, otherwise = self.then.kind(), self.otherwise.kind()
        if "objects" in (then, otherwise):
            raise EtudeError("Switch needs questions with answers in both branches")
        return then if then == otherwise else "mixed"


def _all_bool(node: Operator) -> None:
    for part in node.inputs():
        if part.kind() != "bool":
            raise EtudeError(f"{type(node).__name__} combines what is true or false, not {part.kind()}")


# ------------------------------------------------------------------------------------------------ the whole


@dataclass(frozen=True)
class DecisionGraph:
    """A graph with the number of frames it takes. The last frame is the one on which the answer is given."""

    root: Operator
    frames: int

    def __post_init__(self) -> None:
        kind = self.root.kind()
        if kind == "objects":
            raise EtudeError("the root of a task must be a question with an answer, not a Select")
        longest = max((s.when for s in selects(self.root)), default=-1)
        if longest < 0:
            raise EtudeError("a task must look at something")
        if self.frames <= longest:
            raise EtudeError(f"the task looks {longest} frames back, but has only {self.frames} frames")

    def to_json(self) -> str:
        """The canonical text."""
        return canonical_json(self)

    @classmethod
    def from_json(cls, text: str) -> DecisionGraph:
        """The task written as ``text``."""
        return from_json(cls, text)

    @property
    def seen(self) -> tuple[int, ...]:
        """The frames that hold an object, from 0 on."""
        return tuple(sorted({self.frames - 1 - s.when for s in selects(self.root)}))


def walk(node: Operator) -> Iterator[Operator]:
    """Every node, parents first; shared ones as often as they are used."""
    yield node
    for part in node.inputs():
        yield from walk(part)


def selects(node: Operator) -> Iterator[Select]:
    """Every look at a frame."""
    return (n for n in walk(node) if isinstance(n, Select))


def operators(node: Operator) -> dict[str, int]:
    """How often each operator occurs."""
    found: dict[str, int] = {}
    for part in walk(node):
        found[type(part).__name__] = found.get(type(part).__name__, 0) + 1
    return found


def depth(node: Operator) -> int:
    """The longest way from the root to a leaf, in nodes."""
    return 1 + max((depth(part) for part in node.inputs()), default=0)


COMMUTATIVE = (And, Or, Xor, IsSame, NotSame)


def canonical(node: Operator) -> Operator:
    """The same question with the inputs of commutative operators in a fixed order: equal questions become equal values."""
    changed = _with_inputs(node, tuple(canonical(part) for part in node.inputs()))
    if isinstance(changed, COMMUTATIVE) and canonical_json(changed.left) > canonical_json(changed.right):
        return replace(changed, left=changed.right, right=changed.left)
    return changed


def structure(task: DecisionGraph) -> str:
    """What a task asks, whatever objects are called and however long the delays are: equal texts mean equal structures.

    Frames are renumbered in the order of time, without the empty ones.
    """
    order = {task.frames - 1 - frame: k for k, frame in enumerate(reversed(task.seen))}
    return canonical_json(canonical(_renumbered(task.root, order)))


def _renumbered(node: Operator, order: dict[int, int]) -> Operator:
    changed = _with_inputs(node, tuple(_renumbered(part, order) for part in node.inputs()))
    return replace(changed, when=order[changed.when]) if isinstance(changed, Select) else changed


def _with_inputs(node: Operator, inputs: tuple[Operator, ...]) -> Operator:
    if isinstance(node, Select):
        return replace(node, matches=tuple(replace(m, value=v) for m, v in zip(node.matches, inputs, strict=True)))
    if isinstance(node, Count):
        return Count(tuple(part for part in inputs if isinstance(part, Select)))
    if isinstance(node, (Get, Exist, Negation)):
        return replace(node, of=inputs[0])  # type: ignore[arg-type]
    if isinstance(node, Relative):
        return replace(node, first=inputs[0], second=inputs[1])  # type: ignore[arg-type]
    if isinstance(node, Switch):
        return Switch(*inputs)
    if isinstance(node, (_Comparison, _Connective)):
        return type(node)(*inputs)
    return node


def shifted(node: Operator, by: int) -> Operator:
    """The same question asked ``by`` frames later."""
    changed = _with_inputs(node, tuple(shifted(part, by) for part in node.inputs()))
    return replace(changed, when=changed.when + by) if isinstance(changed, Select) else changed
