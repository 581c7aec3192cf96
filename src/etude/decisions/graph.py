"""A decision as data: a typed graph of operators over what was seen when (iWISDM A.2.1).

Leaves look at frames, inner nodes fetch properties, compare them and combine what came out; the root is the answer. Nodes are frozen and
compare by value, so a :class:`~etude.decisions.looks.Select` that occurs twice is the same object of the same frame: a graph, not only a
tree. Operators are those of :mod:`etude.decisions.looks` and :mod:`etude.decisions.logic`, and whatever else was defined.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import etude.decisions.logic  # noqa: F401  (a task that is read from JSON may have its operators)
from etude.decisions.looks import Select
from etude.decisions.operator import ACT, Operator
from etude.names import EtudeError, canonical_json, from_json


@dataclass(frozen=True)
class DecisionGraph:
    """A graph with the number of frames it takes. The last frame is the one on which the answer is given."""

    root: Operator
    frames: int

    def __post_init__(self) -> None:
        kind = self.root.kind()
        if kind in ("objects", ACT):
            raise EtudeError(f"the root of a task must be a question with an answer, not {self.root.json_kind}")
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


def walk(node: Operator) -> list[Operator]:
    """Every node, parents first; shared ones as often as they are used."""
    found, ahead = [], [node]
    while ahead:
        part = ahead.pop()
        found.append(part)
        ahead += part.inputs()[::-1]
    return found


def selects(node: Operator) -> Iterator[Select]:
    """Every look at a frame."""
    return (n for n in walk(node) if isinstance(n, Select))


def operators(node: Operator) -> dict[str, int]:
    """How often each operator occurs."""
    found: dict[str, int] = {}
    for part in walk(node):
        found[part.json_kind] = found.get(part.json_kind, 0) + 1
    return found


def properties_of(node: Operator) -> set[str]:
    """The properties a question speaks of."""
    return set().union(*[part.properties() for part in walk(node)])


def rebuilt(node: Operator, change: Callable[[Operator], Operator]) -> Operator:
    """The same question with every node changed, inputs first."""
    return change(node.with_inputs([rebuilt(part, change) for part in node.inputs()]))


def canonical(node: Operator) -> Operator:
    """The same question with the inputs of commutative operators in a fixed order: equal questions become equal values."""
    return rebuilt(node, _ordered)


def _ordered(node: Operator) -> Operator:
    return node.with_inputs(sorted(node.inputs(), key=canonical_json)) if node.commutative else node


def form(node: Operator) -> str:
    """The operators of a question and the properties they speak of, whatever objects they look at."""
    parts = [form(part) for part in node.inputs()]
    return f"{node.json_kind}{getattr(node, 'property', '')}({','.join(sorted(parts) if node.commutative else parts)})"


FIFTHS = 5


def fifth(node: Operator) -> int:
    """All forms of questions are dealt out into five parts: the part, 1 to 5, of this one. Who learns from four is tested with one."""
    return fifth_of(form(node))


def fifth_of(text: str) -> int:
    """The part, 1 to 5, of a form."""
    return 1 + int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % FIFTHS


def structure(task: DecisionGraph) -> str:
    """What a task asks, whatever objects are called and however long the delays are: equal texts mean equal structures.

    Frames are renumbered in the order of time, without the empty ones.
    """
    frames = {task.frames - 1 - frame: k for k, frame in enumerate(reversed(task.seen))}
    return _arranged(task.root, frames)


def _arranged(node: Operator, frames: Mapping[int, int]) -> str:
    """The canonical JSON with renumbered frames and sorted inputs: much faster than to build operators that nobody asks."""
    inputs = [_arranged(part, frames) for part in node.inputs()]
    return node.arranged(sorted(inputs) if node.commutative else inputs, frames)
