"""From a drawn étude to things for it, backwards: first it is settled how every condition comes out, then what things must look like for
that, then by what each of them can be told from all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from types import MappingProxyType

from etude.decisions.asking import asked
from etude.decisions.graph import DecisionGraph, rebuilt, walk
from etude.decisions.joint import LinkedQuestions
from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Count, Match, Select
from etude.decisions.operator import Operator
from etude.decisions.space import SeenThing
from etude.names import EtudeError, Stream
from etude.suites.etudes.acts import (
    DRAWER,
    EACH,
    GROUPS,
    LEVEL,
    MOVED,
    ONTO_AREA,
    PUSHED,
    SOME,
    TURNED,
    Drawer,
    EveryThing,
    It,
    SomeThings,
)  # fmt: skip
from etude.suites.etudes.composing import Unsolved
from etude.suites.etudes.facts import AThing, Fact
from etude.suites.etudes.groups import LEAST_EACH, MOST_EACH, stops
from etude.suites.etudes.household import PLACE
from etude.suites.etudes.meaning import EtudeGraph, view_of
from etude.suites.etudes.setting import AT_TABLE, EtudeSetting
from etude.suites.etudes.things import AREA, COLOUR, COLOURS, SHAPE, TURNABLE

DISTRACTORS = (1, 2)
TRIES = 40
LOOKS = 12  # that are tried for a thing, before all begin anew
MOST_ON_TABLE = 9
Look = tuple[str, str]  # colour and shape


@dataclass(frozen=True)
class Solved:
    """An étude with the looks of all things there shall be, each a (colour, shape): those it speaks of first, then distractors.

    ``drawn`` is the étude as it was before, about things by number; ``told`` says for each number what is told of it, ``cast`` which of the
    things it stands for, and ``seen`` what conditions want of it, also besides its looks.
    """

    etude: EtudeGraph
    looks: tuple[tuple[str, str], ...]
    drawn: Operator
    told: tuple[Select, ...]
    cast: tuple[tuple[int, ...], ...]
    seen: Mapping[int, SeenThing]


def conditions(root: Operator) -> list[Operator]:
    """The conditions of all branches, from the root down."""
    return [node.condition for node in walk(root) if isinstance(node, Switch)]


def solved(
    unsolved: Unsolved,
    outcomes: Sequence[bool],
    stream: Stream,
    given: Sequence[Select] = (),
    setting: EtudeSetting = AT_TABLE,
    levels: Mapping[int, str] = MappingProxyType({}),
) -> Solved:
    """Things with which the conditions come out so, as far as that is a matter of looks; raises :class:`EtudeError` where that cannot be
    had. ``given``: what is told of the first of them; ``levels``: of drawers, by their numbers."""
    count, root = len(unsolved.parts), unsolved.root
    questions = [asked(DecisionGraph(condition, count), setting.looks, 0) for condition in conditions(root)]
    wishes = [str(outcome).lower() for outcome in outcomes[: len(questions)]]
    linked = LinkedQuestions(questions, setting.looks, stream)
    spoken_of = {node.when for node in walk(root) if isinstance(node, Select) and not node.matches and not isinstance(node, (It, Drawer))}
    ends = stops(root)
    order = sorted(range(count), key=lambda k: _freedom(unsolved.parts[k]))

    def thing(k: int, seen: SeenThing | None) -> tuple[Select, list[Look]]:
        return _things(unsolved.parts[k], seen, ends.get(k), given[k] if k < len(given) else None, stream, setting)

    for _ in range(TRIES):
        seen = linked.objects(wishes, adapt=False)[0] if questions else {}
        wanted = {k: seen[count - 1 - k] for k in range(count) if count - 1 - k in seen}
        table = _Set(spoken_of)
        for k in order:
            if DRAWER in unsolved.parts[k]:
                table.things[k] = Drawer(0, (Match(LEVEL, Const(LEVEL, levels[k])),)), []
            elif not table.takes(k, partial(thing, k, wanted.get(k))):
                break
        if len(table.things) < count:
            continue
        for _ in range(stream.integer(*DISTRACTORS)):
            table.takes(-1, lambda: (Select(0), [(stream.choice(COLOURS), stream.choice(setting.shapes))]))
        things = [table.things[k] for k in range(count)]
        looks = [*(look for _, each in things for look in each), *table.others]
        if len(looks) > MOST_ON_TABLE:
            continue
        view = view_of(looks, setting.space)
        if any(len(view.selected(things[k][0]) or ()) != len(things[k][1]) for k in spoken_of):
            continue  # something cannot be told from others
        etude = EtudeGraph(rebuilt(root, lambda node, by=[told for told, _ in things]: _settled(node, by)))  # type: ignore[misc]
        came = [seen_so(node) or node.evaluate(view) is wish for node, wish in zip(conditions(etude.root), outcomes, strict=False)]
        if all(came) and not _areas_count(etude, looks):  # what is counted depends on all there is
            starts = list(accumulate((len(each) for _, each in things), initial=0))
            cast = tuple(tuple(range(a, b)) for a, b in pairwise(starts))
            return Solved(etude, tuple(looks), root, tuple(one for one, _ in things), cast, wanted)
    raise EtudeError(f"no things found in {TRIES} attempts that can be told apart")


def _freedom(parts: frozenset[str]) -> int:
    """In what order things are drawn: groups, and what is told by one property alone, come first, as there are fewest of them."""
    return 0 if any(part.startswith(GROUPS) for part in parts) else 1 if parts & {COLOUR, SHAPE} else 2


class _Set:
    """Things on their way to a table: those that have a number, and others. Each can be told from all before it, and all before it from it.
    ``spoken_of`` are the numbers of which the étude tells."""

    def __init__(self, spoken_of: set[int]) -> None:
        self.things: dict[int, tuple[Select, list[Look]]] = {}
        self.others: list[Look] = []
        self._spoken_of = spoken_of
        self._looks: set[Look] = set()
        self._told: list[tuple[str, str]] = []  # colour and shape by which things are told, or ""

    def takes(self, number: int, draw: Callable[[], tuple[Select, list[Look]]]) -> bool:
        """Draw a thing, or those of a group, until they can be told from the others; False where none are found."""
        for _ in range(LOOKS):
            told, looks = draw()
            by = {match.property: match.value.value for match in told.matches if isinstance(match.value, Const)}
            reference = by.get(COLOUR, ""), by.get(SHAPE, "")
            speaks = number in self._spoken_of
            if len({*looks} - self._looks) < len(looks) or any(_fits(one, look) for one in self._told for look in looks):
                continue
            if speaks and any(_fits(reference, look) for look in self._looks):
                continue
            self._looks |= {*looks}
            if speaks:
                self._told.append(reference)
            if number < 0:
                self.others += looks
            else:
                self.things[number] = told, looks
            return True
        return False


def _fits(told: tuple[str, str], look: Look) -> bool:
    return all(by in ("", value) for by, value in zip(told, look, strict=True))


def seen_so(condition: Operator) -> bool:
    """Does a condition depend on where things are? Then only a scene can tell whether it holds."""
    return any(isinstance(node, Fact) or getattr(node, "property", "") == PLACE for node in walk(condition))


def _settled(node: Operator, references: Sequence[Select]) -> Operator:
    """A node that speaks of things as they are told. What is counted is all that looks so, not some things by their numbers."""
    if isinstance(node, Count):
        return Count((SomeThings(0, node.of[0].matches),))
    if isinstance(node, AThing):
        return AThing(0, node.matches)
    if not isinstance(node, Select) or isinstance(node, It) or node.matches:
        return node
    return references[node.when]


def _areas_count(etude: EtudeGraph, looks: Sequence[tuple[str, str]]) -> bool:
    """Would an area be counted among things of its colour? Some would call it a thing, others not."""
    counted = [group for node in walk(etude.root) if isinstance(node, Count) for group in node.of]
    values = {match.value.value for group in counted for match in group.matches if isinstance(match.value, Const)}
    return any(shape == AREA and colour in values for colour, shape in looks)


def _things(
    parts: frozenset[str], seen: SeenThing | None, end: Const | None, given: Select | None, stream: Stream, setting: EtudeSetting
) -> tuple[Select, list[tuple[str, str]]]:
    """What is told of a thing of these parts, and its look; or those of a group that has one property in common, and of which one, where
    they are to be gone through up to an ``end``, has the look that is named. ``given``: what is to be told of it, if that is known."""
    fixed = {match.property: match.value.value for match in given.matches if isinstance(match.value, Const)} if given else {}
    group = next((part for part in parts if part.startswith(GROUPS)), "")
    if not group:
        look = _look(parts, seen, fixed, stream, setting)
        if look[1] == AREA and parts & {MOVED, PUSHED, TURNED}:
            raise EtudeError("an area stays where it is: it can be neither moved nor turned")
        if TURNED in parts and look[1] not in TURNABLE:
            raise EtudeError(
                f"a {look[1]} looks the same, or nearly so, after a quarter turn: turn a {', a '.join(TURNABLE[:-1])} or a {TURNABLE[-1]}"
            )
        return given or _reference(parts, look), [look]
    size = LEAST_EACH if group == f"{EACH}{MOVED}" else stream.integer(LEAST_EACH, MOST_EACH) if group.startswith(EACH) else MOST_EACH
    by = stream.choice((COLOUR, SHAPE)) if end is None else SHAPE if end.property == COLOUR else COLOUR
    if given is not None:
        if len(fixed) != 1 or (end is not None and by not in fixed):
            raise EtudeError("a group of things is told by its colour or by its shape, and not by what ends it")
        by = next(iter(fixed))
    values = {COLOUR: COLOURS, SHAPE: setting.shapes}
    common, others = fixed.get(by) or stream.choice(values[by]), values[SHAPE if by == COLOUR else COLOUR]
    ending = [] if end is None else [end.value]
    chosen = [*ending, *stream.sample([value for value in others if value not in ending], size - len(ending))]
    kind = SomeThings if group.startswith(SOME) else EveryThing
    return kind(0, (Match(by, Const(by, common)),)), [(common, other) if by == COLOUR else (other, common) for other in chosen]


def _look(
    parts: frozenset[str], seen: SeenThing | None, fixed: Mapping[str, str], stream: Stream, setting: EtudeSetting
) -> tuple[str, str]:
    """What a thing looks like: as a condition wants it, where one asks."""
    shapes = (AREA,) if ONTO_AREA in parts else TURNABLE if TURNED in parts else setting.shapes
    colour, shape = stream.choice(COLOURS), stream.choice(shapes)
    if seen is not None and COLOUR in parts:
        colour = COLOURS[setting.looks.space.of(COLOUR, seen)]
    if seen is not None and SHAPE in parts:
        shape = setting.shapes[setting.looks.space.of(SHAPE, seen)]
    return fixed.get(COLOUR, colour), fixed.get(SHAPE, shape)


def _reference(parts: frozenset[str], look: tuple[str, str]) -> Select:
    """By what a thing is told: never by what is asked of it, here or anywhere in the étude."""
    told = [(prop, value) for prop, value in zip((COLOUR, SHAPE), look, strict=True) if prop not in parts]
    return Select(0, tuple(Match(prop, Const(prop, value)) for prop, value in told))
