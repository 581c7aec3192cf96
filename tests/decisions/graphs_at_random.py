"""Random graphs of all operators, and random trials with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from etude.decisions.graph import DecisionGraph, canonical
from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Count, Exist, Get, IsSame, Match, NotSame, Relative, Select
from etude.decisions.operator import Operator
from etude.decisions.space import LOCATION, SeenThing, StimulusSpace, standard_space
from etude.decisions.trial import Placed, Trial

T = TypeVar("T")

SPACE = standard_space()
AWKWARD = StimulusSpace(  # names that read like parts of a question
    {"kind of": (0, 1, 2, 3), "view": (0, 1, 1, 0), "if": (3, 2, 1, 0)},
    {"kind of": ("salt and pepper", 'a "quoted" one', "(?)", ""), "view": ("angle 1", "angle"), "if": ("not", "Object 1", "top left", "3")},
    views=3,
    grid=(3, 2),
)

# ------------------------------------------------------------------------------------------------ random graphs


class Grower:
    """Draws typed graphs of all operators. Imperative, because strategies within strategies grow faster than the graphs."""

    def __init__(self, draw: st.DrawFn, space: StimulusSpace, frames: int) -> None:
        self.draw, self.space, self.frames = draw, space, frames

    def one_of(self, *choices: T) -> T:
        return self.draw(st.sampled_from(choices))

    def const(self, prop: str) -> Const:
        return Const(prop, self.one_of("0", "1", "2", "30") if prop == "number" else self.one_of(*self.space.values(prop)))

    def look(self, depth: int) -> Select:
        """A Select with up to two conditions."""
        properties = self.draw(st.lists(st.sampled_from(self.space.properties), max_size=2 if depth > 0 else 0, unique=True))
        matches = tuple(Match(prop, self.value(prop, depth - 1)) for prop in properties)
        return Select(self.draw(st.integers(0, self.frames - 1)), matches)

    def value(self, prop: str, depth: int, constant: bool = True) -> Operator:
        """What gives a value of a property, or a number."""
        how = self.one_of(*["const"] * constant, "get", *["switch"] * (depth > 1))
        if how == "const":
            return self.const(prop)
        if how == "switch":
            return Switch(self.truth(depth - 1), self.value(prop, depth - 1), self.value(prop, depth - 1))
        return self.count(depth) if prop == "number" else Get(prop, self.look(depth))

    def count(self, depth: int) -> Count:
        whens = self.draw(st.lists(st.integers(0, self.frames - 1), min_size=1, max_size=3, unique=True))
        first = self.look(depth)
        alike = self.one_of(True, False)
        return Count(tuple(replace(first if alike else self.look(depth), when=when) for when in whens))

    def truth(self, depth: int) -> Operator:
        kind = self.one_of(IsSame, NotSame, Exist, Relative, *(And, Or, Xor, Negation, Switch) * (depth > 0))
        if kind is Exist:
            return Exist(self.look(depth))
        if kind is Relative:
            first, second = self.look(depth), self.look(depth)
            second = replace(second, when=(first.when + 1) % self.frames) if first == second else second
            return Relative(self.one_of("left of", "right of", "above", "below"), first, second)
        if kind in (IsSame, NotSame):
            prop = self.one_of(*self.space.properties, "number")
            left, right = self.draw(st.permutations([self.value(prop, depth, constant=False), self.value(prop, depth)]))
            return kind(left, right)
        return kind(*(self.truth(depth - 1) for _ in range({Negation: 1, Switch: 3}.get(kind, 2))))

    def root(self, depth: int, constant: bool = False) -> Operator:
        how = self.one_of("truth", "value", *["switch"] * (depth > 0))
        if how == "switch":
            return Switch(self.truth(depth - 1), self.root(depth - 1, True), self.root(depth - 1, True))
        return self.truth(depth) if how == "truth" else self.value(self.one_of(*self.space.properties, "number"), depth, constant)


@st.composite
def tasks(draw: st.DrawFn, space: StimulusSpace, depth: int = 3) -> DecisionGraph:
    frames = draw(st.integers(2, 6))
    return DecisionGraph(Grower(draw, space, frames).root(depth), frames)


# ------------------------------------------------------------------------------------------------ random trials


def trial_of(placed: tuple[Placed, ...], blank: int = 0, more: frozenset[int] = frozenset(), space: StimulusSpace = SPACE) -> Trial:
    """A trial with an object wherever a task looks and on the frames ``more``, and ``blank`` frames at its end."""
    total = max(p.end for p in placed) + 1 + blank
    seen = {p.start + frame for p in placed for frame in p.task.seen} | more
    frames = tuple((SeenThing(0, 0),) if f in seen else () for f in range(total))
    return Trial("iwisdm/test@val#0", placed, frames, ("",) * total, ("true", "false"), grid=space.grid)


@st.composite
def trials(draw: st.DrawFn, space: StimulusSpace, depth: int = 3) -> Trial:
    """One to three tasks that may overlap, begin with blank frames and depend on each other, with distractors on some frames."""
    count = draw(st.integers(1, 3))
    placed = []
    for k in range(count):
        after = draw(st.one_of(st.none(), st.sampled_from([j for j in range(count) if j != k]))) if count > 1 else None
        given = "" if after is None else draw(st.sampled_from(("true", "false", "3", "top left", "if not", "")))
        placed.append(Placed(draw(tasks(space, depth)), draw(st.integers(0, 4)), after, given))
    trial = trial_of(tuple(placed), draw(st.integers(0, 2)), draw(st.frozensets(st.integers(0, 3), max_size=1)), space)
    frames, named = list(trial.frames), []
    for k in range(len(frames)):
        if frames[k] and draw(st.integers(0, 3)) == 0:
            frames[k] = (SeenThing(space.items - 1, 1, 1, distractor=True), *frames[k])
            named += [(k, prop) for prop in draw(st.permutations([LOCATION, next(iter(space.classes))]))[: draw(st.integers(1, 2))]]
    return replace(trial, frames=tuple(frames), named=tuple(named))


def as_read(placed: tuple[Placed, ...], numbered: bool) -> list[Placed]:
    """Tasks as a reader should have them: by their numbers where one depends on another, otherwise by their answers."""
    order = list(placed) if numbered else sorted(placed, key=lambda p: p.end)
    return [replace(p, task=replace(p.task, root=canonical(p.task.root))) for p in order]


def same_tasks(trial: Trial, read: tuple[Placed, ...], text: str) -> bool:
    return as_read(read, True) == as_read(trial.tasks, "task 1" in text.casefold())


# ------------------------------------------------------------------------------------------------ small ones


def cat(when: int, *matches: Match) -> Get:
    return Get("category", Select(when, matches))


def place(when: int) -> Get:
    return Get(LOCATION, Select(when))


PAIR = DecisionGraph(IsSame(cat(2), cat(0)), 3)
CARS = Match("category", Const("category", "cars"))
TOP = Match(LOCATION, Const(LOCATION, "top left"))
A, B, C = IsSame(cat(2), cat(0)), Exist(Select(1, (CARS,))), Relative("left of", Select(2), Select(0))


def with_distractor() -> Trial:
    trial = trial_of((Placed(PAIR),))
    frames = (trial.frames[0], (), (SeenThing(9, 3, distractor=True), SeenThing(17, 0)))
    return replace(trial, frames=frames, named=((2, LOCATION),))
