"""Études drawn at random: AutoTask's composition, with acts besides truths. A drawn graph speaks of things by number alone; which things
these are is decided when a scene is solved for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, ClassVar

from etude.arithmetic import total
from etude.decisions.connectivity import GraphAttempt, TaskSpace, Unfit
from etude.decisions.graph import FIFTHS, canonical, fifth_of, rebuilt, walk
from etude.decisions.logic import Connective, Switch
from etude.decisions.looks import Const, Count, Select, ValueComparison
from etude.decisions.operator import ACT, Operator
from etude.decisions.space import StimulusSpace
from etude.names import EtudeError, Stream
from etude.suites.etudes import deeds, facts, furniture, memory  # noqa: F401  (their operators are drawn by name)
from etude.suites.etudes.acts import (
    AIM,
    AVOIDED,
    BEFORE,
    CARRIER,
    DRAWER,
    EACH,
    GROUPS,
    HERE,
    MOVED,
    ONTO_AREA,
    PUSHED,
    SHAREABLE,
    STORED,
    TOUCHED,
    TURNED,
    Deed,
    It,
)  # fmt: skip
from etude.suites.etudes.facts import Holds, IsOpen, Lay, Lies, WasOpen
from etude.suites.etudes.furniture import TakeOut
from etude.suites.etudes.groups import LEAST_EACH, MOST_EACH
from etude.suites.etudes.household import MOST_IN_DRAWER, MOST_ON_CHEST, PLACE, STATE
from etude.suites.etudes.negation import straightened
from etude.suites.etudes.setting import AT_CHEST, AT_TABLE, EtudeSetting
from etude.suites.etudes.sketching import arriving, levelled
from etude.suites.etudes.things import COLOUR, SHAPE

HELD_OUT = ("OneOf", "Undo", "Xor")  # the operators that no training episode has
ATTEMPTS = 4000
CASTS = 4  # of things for one graph of which nothing else is known
ASKED = (COLOUR, SHAPE, PLACE)
STAYING = (TOUCHED, AIM, CARRIER, AVOIDED, TURNED)  # parts of things that stay where they are
ALONE = (TOUCHED, PUSHED, AIM, AVOIDED, TURNED, STORED)  # parts of which a thing plays one, and no other
# What is new in a split for testing, one thing in each; everything else is as in training.
OPERATORS, COMBINATIONS, LENGTHS, WORDS = NOVEL = "operators", "combinations", "lengths", "words"


@dataclass(frozen=True)
class EtudeLevel:
    """How much an étude asks for: joins of its acts and of each condition, (least, most), and the depth of its acts."""

    joins: tuple[int, int]
    depth: int
    truths: tuple[int, int]


LEVELS = {"low": EtudeLevel((0, 1), 2, (0, 0)), "medium": EtudeLevel((1, 2), 3, (0, 1)), "high": EtudeLevel((2, 3), 4, (0, 2))}


@dataclass(frozen=True)
class Unsolved:
    """An étude about things 0, 1, … of which nothing is known but the parts they play, and the properties that are asked of them."""

    root: Operator
    parts: tuple[frozenset[str], ...]


def space(setting: EtudeSetting, skills: Sequence[str], truths: tuple[int, int], without: Sequence[str]) -> TaskSpace:
    """The space of études with these deeds, so many joins in a condition, and without some operators."""
    allowed = tuple(name for name in (*skills, *setting.joins, *setting.values, *setting.truths) if name not in without)
    return TaskSpace(
        booleans=tuple(name for name in setting.truths if name in allowed),
        operators=allowed,
        properties=tuple((name, 1.0) for name in setting.asked),
        reported=(),
        named=setting.asked,
        constants=1 / 4,
        max_depth=5,
        max_operators=17,
        joins=truths,
        frames=(1, setting.things),
        delays=(0, 0),
        sharing=0.6,
    )


class ActAttempt(GraphAttempt):
    """One attempt at an étude."""

    _fitting: ClassVar[dict[tuple[Any, ...], list[str]]] = {}  # for acts it depends on nothing else what fits

    def __init__(self, settings: TaskSpace, stream: Stream, space: StimulusSpace, room: int) -> None:
        super().__init__(settings, stream, space)
        self._left = room  # things whose looks are drawn already take the rest

    def look(self, prop: str, tells: bool = False) -> int:
        if prop in ALONE or prop.startswith(GROUPS):
            self._left -= _room({prop})
            if self._left <= 0:
                raise Unfit  # however things are shared: no need to draw the rest
        return super().look(prop, tells)

    def options(self, gives: str, among: tuple[str, ...], joins: int, depth: int) -> list[str]:
        if gives != ACT:
            return super().options(gives, among, joins, depth)
        key = self.settings.operators, among, joins, depth
        if key not in self._fitting:
            self._fitting[key] = super().options(gives, among, joins, depth)
        return self._fitting[key]

    def together(self, look: int, others: Mapping[int, str]) -> bool:
        """A thing plays one part, or one in each branch of a condition; one property may be asked of it too, it is told by the other."""
        return all(self._fit(look, other) for other in others)

    def _fit(self, one: int, other: int) -> bool:
        first, second = self.looks_for(one), self.looks_for(other)
        if DRAWER in (first, second):
            return first == second
        if second in (HERE, BEFORE):
            first, second = second, first
        if first in (HERE, BEFORE):
            moving = (MOVED, PUSHED) if first == BEFORE else ()
            return second in (first, COLOUR, SHAPE, *STAYING, *moving)
        if second in ASKED:
            first, second = second, first
        if first not in ASKED:
            shared = (first in SHAREABLE and second in SHAREABLE) or (first == ONTO_AREA and second == ONTO_AREA)
            return shared and self._alternative(one, other)
        hidden = (MOVED, STORED) if first == PLACE else (ONTO_AREA, TURNED) if first == SHAPE else ()
        return second not in ASKED and not second.startswith(GROUPS) and second not in hidden

    def _alternative(self, one: int, other: int) -> bool:
        """Will only one of the two be needed?"""
        return any((one in a and other in b) or (one in b and other in a) for a, b in self.alternatives)

    def _least_room(self) -> int:
        """What the things take at least: those of an act can be shared with the other branch, and with nothing else."""
        acting = [(k, part) for k, part in enumerate(map(self.looks_for, range(self.looked()))) if part not in (*ASKED, HERE, BEFORE)]
        shared = 0
        for sides in self.alternatives:
            for parts in (SHAREABLE, (ONTO_AREA,)):
                shared += min(total(k in side and part in parts for k, part in acting) for side in sides) * _room({parts[0]})
        return total(_room({part}) for _, part in acting) - shared

    def _cast(self) -> tuple[list[int], list[set[str]]]:
        """The thing that each look goes to, and the parts that each plays; every mention of a drawer by itself."""
        objects = self.objects()
        numbers = {thing: k for k, thing in enumerate(dict.fromkeys(o for k, o in enumerate(objects) if self.looks_for(k) != DRAWER))}
        parts: list[set[str]] = [set() for _ in numbers]
        for look, thing in enumerate(objects):
            if self.looks_for(look) == DRAWER:
                objects[look] = len(parts)
                parts.append({DRAWER})
            else:
                objects[look] = numbers[thing]
                parts[numbers[thing]].add(self.looks_for(look))
        return objects, parts

    def etude(self, joins: int, depth: int, room: int) -> Unsolved:
        """Acts with this many joins, whose things have so much room. Every mention of a drawer has a number of its own."""
        made = self.below(ACT, self.drawable(ACT), joins, depth)
        if self._least_room() >= room:
            raise Unfit
        for _ in range(CASTS):
            try:
                objects, parts = self._cast()
            except Unfit:
                continue
            if total(map(_room, parts)) < room:  # and one that nobody speaks of
                break
        else:
            raise Unfit
        root = rebuilt(made(objects), lambda node: straightened(_names_last(node)))
        root.kind()
        for node in walk(root):
            if isinstance(node, Holds) and any(part == MOVED or part.startswith(GROUPS) for part in parts[node.thing.when]):
                raise Unfit  # what is put into a drawer is not in one before
        return Unsolved(root, tuple(map(frozenset, parts)))


def _room(parts: set[str]) -> int:
    if DRAWER in parts:
        return 0
    group = next((part for part in parts if part.startswith(GROUPS)), "")
    return 3 if ONTO_AREA in parts else 1 if not group else LEAST_EACH if group.startswith(EACH) else MOST_EACH


def settled(unsolved: Unsolved, setting: EtudeSetting, stream: Stream) -> Unsolved:
    """The same with its drawers, if there are any, each of which may be spoken of several times; raises Unfit where it could not be played,
    or says something twice."""
    if setting is AT_CHEST:
        at = levelled(unsolved.root, stream, lambda at: _says_all_once(found := _with_drawers(unsolved, at)) and _has_room(found))
        if at is None:
            raise Unfit
        return _with_drawers(unsolved, at)
    if not _says_all_once(unsolved):
        raise Unfit
    return unsolved


def _says_all_once(unsolved: Unsolved) -> bool:
    """Does no condition ask the same twice, and does the other branch not come about on the way through one?"""
    for node in walk(unsolved.root):
        if isinstance(node, Switch):
            truths = _truths(node.condition)
            if len(set(truths)) < len(truths) or _resting(node.then) & _resting(node.otherwise):
                return False
    return True


def _with_drawers(unsolved: Unsolved, at: Mapping[int, int]) -> Unsolved:
    """The same with one number for every drawer. ``at``: the places from the top down that were found for mentions of them."""
    first = {place: min(k for k, other in at.items() if other == place) for place in at.values()}
    same = [first[at[k]] if DRAWER in part else k for k, part in enumerate(unsolved.parts)]
    kept = sorted(set(same))

    def renumbered(node: Operator) -> Operator:
        return replace(node, when=kept.index(same[node.when])) if isinstance(node, Select) and not isinstance(node, It) else node

    return Unsolved(rebuilt(unsolved.root, renumbered), tuple(unsolved.parts[k] for k in kept))


def _has_room(unsolved: Unsolved) -> bool:
    """Is there room for all things, at the start and later, and is each in one place?"""
    inside: dict[int, int] = {}
    for node in walk(unsolved.root):
        if isinstance(node, (TakeOut, Holds)):
            drawer = (node.drawer if isinstance(node, TakeOut) else node.of).when
            if inside.setdefault(node.thing.when, drawer) != drawer:
                return False
    later, there = arriving(unsolved.root), Counter(inside.values())
    on_chest = total(_room({*part}) for k, part in enumerate(unsolved.parts) if k not in inside and PLACE not in part)
    drawers = (k for k, part in enumerate(unsolved.parts) if DRAWER in part)
    return on_chest <= MOST_ON_CHEST and all(there[k] + later[k] <= MOST_IN_DRAWER for k in drawers)


def _truths(condition: Operator) -> list[object]:
    """What a condition asks, without how it is connected, and whether it is to be so or not."""
    if isinstance(condition, Connective):
        return [one for part in condition.inputs() for one in _truths(part)]
    if isinstance(condition, (IsOpen, WasOpen)):
        return [(STATE, condition.of)]
    if isinstance(condition, (Lies, Lay)):
        return [(type(condition), condition.side in ("left", "right"), frozenset((condition.first, condition.second)))]
    if isinstance(condition, Holds):
        return [(condition.of, condition.thing.matches)]
    if isinstance(condition, ValueComparison):
        sides = canonical(condition).inputs()
        counted = [match for side in sides if isinstance(side, Count) for one in side.of for match in one.matches]
        return [frozenset(counted or sides)]
    return [condition]


def _names_last(node: Operator) -> Operator:
    """Comparisons with a name as they are told: the thing first."""
    return type(node)(node.right, node.left) if isinstance(node, ValueComparison) and isinstance(node.left, Const) else node


def _resting(node: Operator) -> set[tuple[Operator, Operator]]:
    return {pair for deed in walk(node) if isinstance(deed, Deed) for pair in deed.resting()}


def form_of(node: Operator) -> str:
    """The operators of an étude and the properties they ask about, whatever things it speaks of: the same before and after it is solved."""
    if isinstance(node, Count):
        return f"Count {' '.join(sorted({match.property for one in node.of for match in one.matches}))}"
    if isinstance(node, Select):
        return node.json_kind
    parts = [form_of(part) for part in node.inputs()]
    return f"{node.json_kind}{getattr(node, 'property', '')}({','.join(sorted(parts) if node.commutative else parts)})"


def structure_of(root: Operator) -> str:
    """What a drawn étude asks for, whatever its things are called: its form, and which of its places are taken by the same thing. Equal
    parts that may change places are taken in the order that gives the least text, so equal structures have equal texts."""
    form, orders = _arranged(root)
    return min(f"{form} {' '.join(str(list(dict.fromkeys(order)).index(thing)) for thing in order)}" for order in orders)


def _arranged(node: Operator) -> tuple[str, list[tuple[int, ...]]]:
    """The form of a node, and the things below it, in every order in which equal parts can be told."""
    if isinstance(node, (Count, Select)):
        return form_of(node), [() if isinstance(node, (Count, It)) else (node.when,)]
    parts = [_arranged(part) for part in node.inputs()]
    if node.commutative:
        parts.sort(key=lambda part: part[0])
    turned = [parts] if not node.commutative or len({form for form, _ in parts}) == len(parts) else [parts, parts[::-1]]
    orders = [tuple(chain(*ways)) for row in turned for ways in product(*(below for _, below in row))]
    return f"{node.json_kind}{getattr(node, 'property', '')}({','.join(form for form, _ in parts)})", orders


def is_held_out(root: Operator) -> bool:
    """Is its form one of the last fifth, whatever things it speaks of? A deed by itself combines nothing, and never is."""
    return not isinstance(root, Deed) and fifth_of(form_of(root)) == FIFTHS


def belongs(root: Operator, split: str) -> bool:
    """May this étude be in a split? Longer ones are of no form that training has, and neither are those with other operators."""
    if split == OPERATORS:
        return any(node.json_kind in HELD_OUT for node in walk(root))
    return split == LENGTHS or is_held_out(root) is (split == COMBINATIONS)


def drawn(
    level: EtudeLevel, split: str, stream: Stream, setting: EtudeSetting = AT_TABLE, skills: Sequence[str] = ()
) -> Iterator[Unsolved]:
    """Études of a split drawn at random, one after the other, with some of the deeds of a setting or all; not yet :func:`settled`."""
    skills = skills or setting.deeds
    if split == LENGTHS:
        level = replace(level, joins=(level.joins[1] + 1, level.joins[1] + 1), depth=level.depth + 1)
    drawn_from = space(setting, skills, level.truths, () if split == OPERATORS else HELD_OUT)
    for _ in range(ATTEMPTS):
        try:
            attempt = ActAttempt(drawn_from, stream, setting.looks.space, setting.room)
            found = attempt.etude(stream.integer(*level.joins), level.depth, setting.room)
        except (Unfit, EtudeError):
            continue
        if belongs(found.root, split):
            yield found
    most = 2 * level.joins[1] + 1
    raise EtudeError(
        f"no étude of {split} in {ATTEMPTS} attempts: depth={level.depth}, at most {most} nodes and {', '.join(skills)} leave none"
    )


def composed(
    level: EtudeLevel,
    split: str,
    stream: Stream,
    setting: EtudeSetting = AT_TABLE,
    skills: Sequence[str] = (),
    fits: Callable[[Operator], bool] = lambda root: True,
) -> Unsolved:
    """An étude that fits, drawn at random and settled."""
    for found in drawn(level, split, stream, setting, skills):
        if fits(found.root):
            try:
                return settled(found, setting, stream)
            except Unfit:
                pass
    raise AssertionError("études are drawn until there are none")
