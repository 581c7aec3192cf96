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
            if _Sketch(at, start, wishes).done(root, start):
                found.append(ChestState(tuple(levels.items()), opened))
    return found


@dataclass(frozen=True)
class _Sketch:
    """Drawers by number → their places from the top down; what is open at the start; how conditions shall come out."""

    at: Mapping[int, int]
    start: Out
    wishes: Mapping[int, bool]

    def done(self, node: Operator, out: Out) -> set[Out]:
        """What may be open when an act is done; nothing where it cannot be."""
        if isinstance(node, Deed):
            return self.deed(node, out)
        if isinstance(node, InOrder):
            return self.then(node.right, self.done(node.left, out))
        if isinstance(node, (InAnyOrder, OneOf)):
            if self.vacuous(node.left, out) or self.vacuous(node.right, out):
                return set()
            left = self.done(node.left, out)
            return left | self.done(node.right, out) if isinstance(node, OneOf) else self.then(node.right, left)
        if isinstance(node, Switch):
            wish = self.wishes[id(node)]
            taken, other = (node.then, node.otherwise) if wish else (node.otherwise, node.then)
            wrong = self.truth(node.condition, out) not in (None, wish) or self.vacuous(other, out)
            return set() if wrong else self.done(taken, out)
        if isinstance(node, Undo):
            opposite = self.opposite(node.act)
            return self.then(opposite, self.done(node.act, out)) if opposite else self.done(node.act, out)
        if isinstance(node, Forbidding):
            shut = self.at[node.thing.when] if isinstance(node, WithoutOpening) else -1
            return set() if shut in out else {end for end in self.done(node.act, out) if shut not in end}
        if isinstance(node, ForSome):
            return self.then(node.after, self.done(node.act, out))
        return self.done(node.act, out) if isinstance(node, ForEach) else {out}

    def then(self, node: Operator, outs: set[Out]) -> set[Out]:
        """The same after something else, which may have ended in several ways."""
        return {end for out in outs for end in self.done(node, out)}

    def deed(self, node: Deed, out: Out) -> set[Out]:
        """What is open after a deed. A handle below an open drawer, or close above one, cannot be got at."""
        assert isinstance(node, (Open, Close, PutAway, TakeOut))
        drawer = self.at[node.drawer.when]
        blocked = any(other in out for other in (*range(drawer), drawer + 1))
        if isinstance(node, (Open, Close)):
            return set() if blocked or self.vacuous(node, out) else {out ^ {drawer}}
        covered = any(upper in out for upper in range(drawer))
        return set() if covered or (blocked and drawer not in out) else {out | {drawer}}

    def vacuous(self, node: Operator, out: Out) -> bool:
        """Would it be done already?"""
        return isinstance(node, (Open, Close)) and (self.at[node.drawer.when] in out) is isinstance(node, Open)

    def opposite(self, act: Operator) -> Operator | None:
        """What undoes it, as far as drawers are concerned."""
        return Close(act.drawer) if isinstance(act, Open) else Open(act.drawer) if isinstance(act, Close) else None

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
