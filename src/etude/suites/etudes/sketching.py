"""Which chests could an étude be for at all? Its drawers alone, before anything is known about things: a rough and quick look.

What it lets pass is thought through by :mod:`etude.suites.etudes.rehearsing`; what it refuses could not be played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from etude.decisions.formulas import Formula
from etude.decisions.graph import walk
from etude.decisions.logic import Connective, Switch
from etude.decisions.operator import Operator
from etude.suites.etudes.acts import Deed, Drawer, Forbidding, InAnyOrder, InOrder, OneOf
from etude.suites.etudes.facts import IsOpen, WasOpen
from etude.suites.etudes.furniture import Close, Open, PutAway, TakeOut, WithoutOpening
from etude.suites.etudes.groups import ForEach, ForSome
from etude.suites.etudes.household import LEVELS
from etude.suites.etudes.memory import Undo

Out = frozenset[int]  # the drawers that are open, by their places from the top down


@dataclass(frozen=True)
class ChestState:
    """The levels of drawers that are drawn by number, and the level that is open at the start, or ""."""

    levels: tuple[tuple[int, str], ...]
    opened: str


class _Refused(Exception):
    pass


def possible(root: Operator, outcomes: Sequence[bool], fixed: Mapping[int, str]) -> list[ChestState]:
    """The chests at which an étude whose conditions come out so may be played. ``fixed``: levels of drawers that are known."""
    numbers = sorted({node.when for node in walk(root) if isinstance(node, Drawer)})
    wishes = dict(zip([id(node) for node in walk(root) if isinstance(node, Switch)], outcomes, strict=False))
    found = []
    for order in permutations(LEVELS, len(numbers)):
        levels = dict(zip(numbers, order, strict=True))
        if any(levels[k] != level for k, level in fixed.items()):
            continue
        for opened in ("", *LEVELS):
            at = {k: LEVELS.index(level) for k, level in levels.items()}
            start: Out = frozenset([LEVELS.index(opened)] if opened else [])
            try:
                _Sketch(at, start, wishes).done(root, start)
            except _Refused:
                continue
            found.append(ChestState(tuple(levels.items()), opened))
    return found


@dataclass(frozen=True)
class _Sketch:
    """Drawers by number → their places from the top down; what is open at the start; how conditions shall come out."""

    at: Mapping[int, int]
    start: Out
    wishes: Mapping[int, bool]

    def done(self, node: Operator, out: Out) -> Out:
        """What is open when an act is done; raises where it cannot be."""
        if self.vacuous(node, out):
            raise _Refused
        if isinstance(node, Deed):
            return self.deed(node, out)
        if isinstance(node, (InOrder, InAnyOrder)):
            if isinstance(node, InAnyOrder) and (self.vacuous(node.left, out) or self.vacuous(node.right, out)):
                raise _Refused
            return self.done(node.right, self.done(node.left, out))
        if isinstance(node, OneOf):
            if self.vacuous(node.left, out) or self.vacuous(node.right, out):
                raise _Refused
            return self.done(node.left, out)
        if isinstance(node, Switch):
            wish = self.wishes[id(node)]
            taken, other = (node.then, node.otherwise) if wish else (node.otherwise, node.then)
            if self.truth(node.condition, out) not in (None, wish) or self.vacuous(other, out):
                raise _Refused
            return self.done(taken, out)
        if isinstance(node, Undo):
            return self.undone(node.act, self.done(node.act, out))
        if isinstance(node, Forbidding):
            return self.without(node, out)
        if isinstance(node, ForSome):
            return self.done(node.after, self.done(node.act, out))
        return self.done(node.act, out) if isinstance(node, ForEach) else out

    def deed(self, node: Deed, out: Out) -> Out:
        if isinstance(node, (Open, Close)):
            drawer = self.at[node.drawer.when]
            self.handled(drawer, out)
            return out ^ {drawer}
        assert isinstance(node, (PutAway, TakeOut))
        drawer = self.at[node.drawer.when]
        if drawer not in out:
            self.handled(drawer, out)
        if any(upper in out for upper in range(drawer)):
            raise _Refused
        return out | {drawer}

    def handled(self, drawer: int, out: Out) -> None:
        """Refuse a handle below an open drawer, or close above one."""
        if any(other in out for other in (*range(drawer), drawer + 1)):
            raise _Refused

    def vacuous(self, node: Operator, out: Out) -> bool:
        """Would it be done already?"""
        return isinstance(node, (Open, Close)) and (self.at[node.drawer.when] in out) is isinstance(node, Open)

    def undone(self, act: Operator, out: Out) -> Out:
        if isinstance(act, (Open, Close)):
            drawer = self.at[act.drawer.when]
            self.handled(drawer, out)
            return out ^ {drawer}
        return out

    def without(self, node: Forbidding, out: Out) -> Out:
        end = self.done(node.act, out)
        if isinstance(node, WithoutOpening) and self.at[node.thing.when] in out | end:
            raise _Refused
        return end

    def truth(self, node: Operator, out: Out) -> bool | None:
        """Is a condition true, as far as drawers can tell?"""
        if isinstance(node, IsOpen):
            return self.at[node.of.when] in out
        if isinstance(node, WasOpen):
            return self.at[node.of.when] in self.start
        if isinstance(node, Connective):
            parts = [self.truth(part, out) for part in node.inputs()]
            return _known(node.combined(*range(len(parts))), parts)
        return None


def _known(formula: Formula, parts: Sequence[bool | None]) -> bool | None:
    """The truth of a formula of whose parts some are not known; None where that matters."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return parts[formula]
    below = [_known(one, parts) for one in formula[1:]]
    if formula[0] == "not":
        return None if below[0] is None else not below[0]
    if formula[0] in ("and", "or"):
        decides = formula[0] == "or"
        return decides if decides in below else None if None in below else not decides
    return None if None in below else below[0] is not below[1] if formula[0] == "xor" else None
