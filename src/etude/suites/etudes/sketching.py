"""Which chests could an étude be for at all? Its drawers alone, before anything is known about things: a rough and quick look.

What it lets pass is thought through by :mod:`etude.suites.etudes.rehearsing`; what it refuses could not be played.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import NamedTuple

from etude.decisions.formulas import Formula
from etude.decisions.graph import walk
from etude.decisions.logic import Connective, Switch
from etude.decisions.looks import Get
from etude.decisions.operator import Operator
from etude.names import Stream
from etude.suites.etudes.acts import Deed, Drawer, Forbidding, InAnyOrder, InOrder, OneOf
from etude.suites.etudes.facts import Holds, IsOpen, WasOpen
from etude.suites.etudes.furniture import Close, Open, PutAway, TakeOut, WithoutOpening
from etude.suites.etudes.groups import LEAST_EACH, ForEach, ForSome
from etude.suites.etudes.household import LEVELS
from etude.suites.etudes.memory import Undo


class Out(NamedTuple):
    """The drawers that are open, by their places from the top down; those into which one could look by now; and those that must never be
    open, or never be shut, from now on."""

    open: frozenset[int]
    shown: frozenset[int] = frozenset()
    never: frozenset[tuple[int, bool]] = frozenset()

    def with_open(self, drawers: frozenset[int]) -> set[Out]:
        """The same with these open: what is open, and below none that is, can be looked into. Nothing where that must never be."""
        if any((drawer in drawers) is is_open for drawer, is_open in self.never):
            return set()
        return {Out(drawers, self.shown | {min(drawers)} if drawers else self.shown, self.never)}

    def without(self, *never: tuple[int, bool]) -> Out:
        """The same where drawers must never again be open, or shut."""
        return self._replace(never=self.never | {*never})


Ways = tuple[bool, ...]  # how all conditions come out, from the root down
STARTS = tuple(Out(frozenset(each), frozenset(each)) for each in ((), *((k,) for k in range(len(LEVELS)))))
SEARCHED = 60  # chests that are thought of for one étude, before another one is drawn


@dataclass(frozen=True)
class ChestState:
    """The levels of drawers that are drawn by number, and the level that is open at the start, or ""."""

    levels: tuple[tuple[int, str], ...]
    opened: str


def possible(root: Operator, fixed: Mapping[int, str], fair: bool = False) -> dict[Ways, list[ChestState]]:
    """The chests at which an étude may be played, for every way in which its conditions can come out. ``fixed``: levels of drawers that are
    known. If it shall be ``fair``, every branch can be carried out at each of them, be it the one to be taken or the other."""
    numbers = sorted({node.when for node in walk(root) if isinstance(node, Drawer)})
    asked = _ChestQuestion(root, fair)
    found: dict[Ways, list[ChestState]] = {ways: [] for ways in asked.every}
    for order in permutations(LEVELS, len(numbers)):
        levels = dict(zip(numbers, order, strict=True))
        if any(levels[k] != level for k, level in fixed.items()):
            continue
        at = {k: LEVELS.index(level) for k, level in levels.items()}
        for start in STARTS:
            state = ChestState(tuple(levels.items()), LEVELS[min(start.open)] if start.open else "")
            for ways in asked.ways(at, start):
                found[ways].append(state)
    return found


def levelled(root: Operator, stream: Stream, suits: Callable[[Mapping[int, int]], bool]) -> dict[int, int] | None:
    """Places from the top down for all mentions of drawers in an étude, each of which has a number of its own, that suit and with which it
    can be played fairly however its conditions come out; None where none are found."""
    asked, left = _ChestQuestion(root, fair=True), [SEARCHED]
    least = min(2, len(asked.every)) if asked.of_drawers else 1  # a drawer that is open in one chest is shut in another

    def search(at: _Levels, starts: Sequence[Out]) -> _Levels | None:
        left[0] -= 1
        ways, alive, number = set[Ways](), list[Out](), -1
        for start in starts:
            try:
                there = asked.ways(at, start)
            except _Unsettled as unsettled:
                alive.append(start)
                number = unsettled.args[0]
                if not asked.of_drawers:
                    break
                continue
            if there:
                alive.append(start)
                ways.update(there)
            if len(ways) == len(asked.every):
                return at if suits(at) else None
        if number < 0 or len(alive) < least:
            return None
        for place in stream.shuffled(range(len(LEVELS))):
            found = search(_Levels({**at, number: place}), alive) if left[0] > 0 else None
            if found is not None:
                return found
        return None

    # What was open decides nothing in most: then one chest is enough, and nothing need be thought of the others.
    each = [STARTS] if asked.of_drawers else [(start,) for start in stream.shuffled(STARTS)]
    return next((found for starts in each if (found := search(_Levels(), starts)) is not None), None)


def arriving(node: Operator) -> Counter[int]:
    """How many things are put into each drawer at most, by the numbers of drawers."""
    if isinstance(node, PutAway):
        return Counter([node.drawer.when])
    below = [arriving(part) for part in node.inputs()]
    if isinstance(node, (Switch, OneOf)):
        return functools.reduce(operator.or_, below)
    found = functools.reduce(operator.add, below, Counter[int]())
    return Counter({k: LEAST_EACH * n for k, n in found.items()}) if isinstance(node, ForEach) else found


class _ChestQuestion:
    """What an étude asks of a chest. ``every`` are all ways in which its conditions can come out; it is ``of_drawers`` where some of these
    ask which are open."""

    def __init__(self, root: Operator, fair: bool) -> None:
        self.root, self.fair = root, fair
        nodes = walk(root)
        switches = [node for node in nodes if isinstance(node, Switch)]
        self._switches = [*map(id, switches)]
        stored = {node.thing.when: node.drawer.when for node in nodes if isinstance(node, TakeOut)}
        self._inside = {id(one): list(_looked_into(one.condition, stored)) for one in switches}
        self.every = list(product((True, False), repeat=len(self._switches)))
        self.of_drawers = any(isinstance(node, (IsOpen, WasOpen)) for node in nodes)

    def ways(self, at: Mapping[int, int], start: Out) -> list[Ways]:
        """In which ways the conditions can come out at a chest."""
        if self.fair:
            if not _Sketch(at, start, None, self._inside).done(self.root, start):
                return []
            if not self.of_drawers:
                return self.every
        return [w for w in self.every if _Sketch(at, start, dict(zip(self._switches, w, strict=True)), self._inside).done(self.root, start)]


def _looked_into(condition: Operator, stored: Mapping[int, int]) -> Iterator[int]:
    """The numbers of drawers into which one must have looked, to know how a condition stands. ``stored``: what is in them, by number."""
    for node in walk(condition):
        if isinstance(node, Holds):
            yield node.of.when
        elif isinstance(node, Get) and node.of.when in stored:
            yield stored[node.of.when]


class _Unsettled(Exception):
    """A drawer has no level yet."""


class _Levels(dict[int, int]):
    """Levels of drawers, some of which are not settled."""

    def __missing__(self, number: int) -> int:
        raise _Unsettled(number)


@dataclass(frozen=True)
class _Sketch:
    """Drawers by number → their places from the top down; what is open at the start; how conditions shall come out, or None where an étude
    must be playable whatever branch is taken, and go on from there."""

    at: Mapping[int, int]
    start: Out
    wishes: Mapping[int, bool] | None
    inside: Mapping[int, Sequence[int]]  # the drawers into which one must have looked for a condition

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
            return self.both(left, self.done(node.right, out)) if isinstance(node, OneOf) else self.then(node.right, left)
        if isinstance(node, Switch):
            if any(self.at[number] not in out.shown for number in self.inside.get(id(node), ())):
                return set()
            if self.wishes is None:
                return self.both(self.instead(node.then, node.otherwise, out), self.instead(node.otherwise, node.then, out))
            wish = self.wishes[id(node)]
            taken, other = (node.then, node.otherwise) if wish else (node.otherwise, node.then)
            wrong = self.truth(node.condition, out) not in (None, wish)
            return set() if wrong else self.instead(taken, other, out)
        if isinstance(node, Undo):
            opposite = self.opposite(node.act)
            return self.then(opposite, self.done(node.act, out)) if opposite else self.done(node.act, out)
        if isinstance(node, Forbidding):
            shut = self.at[node.thing.when] if isinstance(node, WithoutOpening) else -1
            return set() if shut in out.open else self.done(node.act, out if shut < 0 else out.without((shut, True)))
        if isinstance(node, ForSome):
            return self.then(node.after, self.done(node.act, out))
        return self.done(node.act, out) if isinstance(node, ForEach) else {out}

    def instead(self, taken: Operator, other: Operator, out: Out) -> set[Out]:
        """The same after one branch, while and after which the other must not come about."""
        if self.vacuous(other, out):
            return set()
        while isinstance(other, Forbidding):
            other = other.act
        if isinstance(other, (Open, Close)):
            out = out.without((self.at[other.drawer.when], isinstance(other, Open)))
        return self.done(taken, out)

    def then(self, node: Operator, outs: set[Out]) -> set[Out]:
        """The same after something else, which may have ended in several ways."""
        found = [self.done(node, out) for out in outs]
        return set().union(*found) if self.wishes is not None or all(found) else set()

    @staticmethod
    def both(left: set[Out], right: set[Out]) -> set[Out]:
        """The ends of two acts of which either may be done; nothing where one of them cannot be."""
        return left | right if left and right else set()

    def deed(self, node: Deed, out: Out) -> set[Out]:
        """What is open after a deed. A handle below an open drawer, or close above one, cannot be got at."""
        assert isinstance(node, (Open, Close, PutAway, TakeOut))
        drawer = self.at[node.drawer.when]
        covered = bool(out.open) and min(out.open) < drawer
        blocked = covered or drawer + 1 in out.open
        if isinstance(node, (Open, Close)):
            return set() if blocked or self.vacuous(node, out) else out.with_open(out.open ^ {drawer})
        return set() if covered or (blocked and drawer not in out.open) else out.with_open(out.open | {drawer})

    def vacuous(self, node: Operator, out: Out) -> bool:
        """Would something of it be done already as soon as it is begun?"""
        if isinstance(node, (Open, Close)):
            return (self.at[node.drawer.when] in out.open) is isinstance(node, Open)
        if isinstance(node, (InAnyOrder, OneOf)):
            return self.vacuous(node.left, out) or self.vacuous(node.right, out)
        if isinstance(node, InOrder):
            return self.vacuous(node.left, out)
        return self.vacuous(node.act, out) if isinstance(node, (Forbidding, Undo)) else False

    def opposite(self, act: Operator) -> Operator | None:
        """What undoes it, as far as drawers are concerned."""
        return Close(act.drawer) if isinstance(act, Open) else Open(act.drawer) if isinstance(act, Close) else None

    def truth(self, node: Operator, out: Out) -> bool | None:
        """Is a condition true, as far as drawers can tell?"""
        if isinstance(node, IsOpen):
            return self.at[node.of.when] in out.open
        if isinstance(node, WasOpen):
            return self.at[node.of.when] in self.start.open
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
