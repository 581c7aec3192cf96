"""What a graph means: its answer on frames that are given (forward), and the conditions under which it has an answer (backward).

Both are asked of the operators themselves; here is what they may look at meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from etude.decisions.formulas import Atom, Branch, Formula, Outcome
from etude.decisions.graph import DecisionGraph
from etude.decisions.looks import Const, Select
from etude.decisions.operator import Operator
from etude.decisions.space import NUMBER, SeenThing, StimulusSpace

Frames = Sequence[Sequence[SeenThing]]


class FrameView:
    """Forward: frames on which a question is evaluated, of which number ``now`` is the last."""

    def __init__(self, frames: Frames, space: StimulusSpace, now: int) -> None:
        self.space = space
        self._frames, self._now = frames, now

    def selected(self, select: Select) -> list[SeenThing] | None:
        """The objects that match; None where a condition makes no sense."""
        wanted = []
        for match in select.matches:
            value = match.value.evaluate(self)
            if not isinstance(value, tuple):
                return None
            wanted.append(value)
        there = self._frames[self._now - select.when]
        return [t for t in there if not t.distractor and all(self.space.of(prop, t) == number for prop, number in wanted)]

    def one(self, select: Select) -> SeenThing | None:
        """The one object that matches; None where there is none, or more."""
        found = self.selected(select)
        return found[0] if found is not None and len(found) == 1 else None


def answer(task: DecisionGraph, frames: Frames, space: StimulusSpace, offset: int = 0) -> str | None:
    """The answer on these frames, in words; None where the question makes no sense (nothing, or more than one thing, is selected)."""
    value = task.root.evaluate(FrameView(frames, space, offset + task.frames - 1))
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    prop, number = value
    return str(number) if prop == NUMBER else space.values(prop)[number]


@dataclass(frozen=True)
class Meaning:
    """A graph as formulas over atoms. ``asserted`` must hold for the question to make sense."""

    atoms: tuple[Atom, ...]
    root: Outcome | Branch
    asserted: tuple[Formula, ...]
    frames: tuple[int, ...]


class FormulaReader:
    """Backward: collects the atoms and frames of a question, and what it takes for granted."""

    def __init__(self, space: StimulusSpace, now: int) -> None:
        self.space = space
        self._now = now
        self.atoms: dict[Atom, int] = {}
        self.asserted: list[Formula] = []
        self.frames: set[int] = set()

    def atom(self, atom: Atom) -> int:
        """The formula that an atom is."""
        return self.atoms.setdefault(atom, len(self.atoms))

    def same(self, left: Operator, right: Operator) -> Formula:
        """Two values are the same."""
        return right.same_as(left, self) if isinstance(left, Const) else left.same_as(right, self)

    def one(self, select: Select) -> int:
        """The frame of the one object that is meant; that it matches its conditions is taken for granted from now on."""
        matching = self.matching(select)
        if matching is not True:
            self.asserted.append(matching)
        return self._now - select.when

    def matching(self, select: Select) -> Formula:
        """The object on this frame matches."""
        frame = self._now - select.when
        self.frames.add(frame)
        found: Formula = True
        for match in select.matches:
            _, other, value = match.value.operand(self)
            if other == frame:
                continue
            atom = Atom(match.property, frame, None, value) if other < 0 else Atom(match.property, min(frame, other), max(frame, other))
            one = self.atom(atom)
            found = one if found is True else ("and", found, one)
        return found


def meaning(task: DecisionGraph, space: StimulusSpace, offset: int = 0) -> Meaning:
    """The graph as formulas; frames are counted from ``offset`` on."""
    reader = FormulaReader(space, offset + task.frames - 1)
    root = task.root.outcome(reader)
    return Meaning(tuple(reader.atoms), root, tuple(reader.asserted), tuple(sorted(reader.frames)))
