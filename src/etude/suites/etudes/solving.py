"""From a drawn étude to things for it, backwards: first it is settled how every condition comes out, then what things must look like for
that, then by what each of them can be told from all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from etude.decisions.asking import asked
from etude.decisions.graph import DecisionGraph, rebuilt, walk
from etude.decisions.joint import LinkedQuestions
from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Match, Select
from etude.decisions.meaning import FrameView
from etude.decisions.operator import Operator
from etude.decisions.space import SeenThing
from etude.names import EtudeError, Stream
from etude.suites.etudes.acts import EACH, MOVED, ONTO_AREA, EveryThing, It
from etude.suites.etudes.composing import Unsolved
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.things import AREA, COLOUR, COLOURS, LOOKS, PRISMS, SHAPE, TABLE, number

DISTRACTORS = (1, 2)
TRIES = 200
LEAST_EACH, MOST_EACH = 2, 3  # things of a group; an area has room for two
MOST_ON_TABLE = 9


@dataclass(frozen=True)
class Solved:
    """An étude with the looks of all things there shall be, each a (colour, shape): those it speaks of first, then distractors."""

    etude: EtudeGraph
    looks: tuple[tuple[str, str], ...]


def conditions(root: Operator) -> list[Operator]:
    """The conditions of all branches, from the root down."""
    return [node.condition for node in walk(root) if isinstance(node, Switch)]


def solved(unsolved: Unsolved, outcomes: Sequence[bool], stream: Stream) -> Solved:
    """Things with which the conditions come out so; raises :class:`EtudeError` where that cannot be had."""
    count = len(unsolved.parts)
    questions = [asked(DecisionGraph(condition, count), LOOKS, 0) for condition in conditions(unsolved.root)]
    wishes = [str(outcome).lower() for outcome in outcomes[: len(questions)]]
    linked = LinkedQuestions(questions, LOOKS, stream)
    for _ in range(TRIES):
        seen = linked.objects(wishes, adapt=False)[0] if questions else {}
        things = [_things(parts, seen.get(count - 1 - k), stream) for k, parts in enumerate(unsolved.parts)]
        references = [reference for reference, _ in things]
        looks = [look for _, each in things for look in each]
        looks += [(stream.choice(COLOURS), stream.choice(tuple(PRISMS))) for _ in range(stream.integer(*DISTRACTORS))]
        view = FrameView([[SeenThing(number(*look), k) for k, look in enumerate(looks)]], TABLE, 0)
        told_apart = all(len(view.selected(reference) or ()) == len(each) for reference, each in things)
        if told_apart and len(set(looks)) == len(looks) <= MOST_ON_TABLE:
            etude = EtudeGraph(rebuilt(unsolved.root, lambda node, by=references: _settled(node, by)))  # type: ignore[misc]
            assert [node.evaluate(view) for node in conditions(etude.root)] == list(outcomes[: len(questions)])
            return Solved(etude, tuple(looks))
    raise EtudeError(f"no things found in {TRIES} attempts that can be told apart")


def _settled(node: Operator, references: Sequence[Select]) -> Operator:
    return references[node.when] if isinstance(node, Select) and not isinstance(node, It) else node


def _things(parts: frozenset[str], seen: SeenThing | None, stream: Stream) -> tuple[Select, list[tuple[str, str]]]:
    """What is told of a thing of these parts, and its look; or those of a group that has one property in common."""
    each = next((part.removeprefix(EACH) for part in parts if part.startswith(EACH)), "")
    if not each:
        look = _look(parts, seen, stream)
        return _reference(parts, look), [look]
    colour, shape = stream.choice(COLOURS), stream.choice(tuple(PRISMS))
    size = LEAST_EACH if each == MOVED else stream.integer(LEAST_EACH, MOST_EACH)
    if stream.chance(0.5):
        told, looks = (COLOUR, colour), [(colour, other) for other in stream.sample(tuple(PRISMS), size)]
    else:
        told, looks = (SHAPE, shape), [(other, shape) for other in stream.sample(COLOURS, size)]
    return EveryThing(0, (Match(told[0], Const(*told)),)), looks


def _look(parts: frozenset[str], seen: SeenThing | None, stream: Stream) -> tuple[str, str]:
    """What a thing looks like: as a condition wants it, where one asks."""
    colour, shape = stream.choice(COLOURS), AREA if ONTO_AREA in parts else stream.choice(tuple(PRISMS))
    if seen is not None and COLOUR in parts:
        colour = COLOURS[LOOKS.space.of(COLOUR, seen)]
    if seen is not None and SHAPE in parts:
        shape = tuple(PRISMS)[LOOKS.space.of(SHAPE, seen)]
    return colour, shape


def _reference(parts: frozenset[str], look: tuple[str, str]) -> Select:
    """By what a thing is told: never by what is asked of it, here or anywhere in the étude."""
    told = [(prop, value) for prop, value in zip((COLOUR, SHAPE), look, strict=True) if prop not in parts]
    return Select(0, tuple(Match(prop, Const(prop, value)) for prop, value in told))
