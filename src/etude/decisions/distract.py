"""Distractors: objects no question is about. They never change an answer.

A *time distractor* stands on a frame that nothing looks at. A *frame distractor* stands beside the object that is meant, in another cell,
and differs from it in a property that no question asks about there: that property tells which one is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from etude.decisions.graph import walk
from etude.decisions.meaning import answer
from etude.decisions.solver import Domain, bits
from etude.decisions.space import LOCATION, SORTS, VIEW, SeenThing, StimulusSpace
from etude.decisions.trial import Placed
from etude.names import EtudeError, Stream

TRIES = 8  # draws of a distractor that would mislead

Frames = list[tuple[SeenThing, ...]]


@dataclass(frozen=True)
class Distraction:
    """How much there is: ``time`` empty frames with an object, ``frames`` with others beside the one that is meant, ``each`` (least, most)
    of them on a frame. ``by`` are the properties that may tell which one is meant."""

    time: int = 0
    frames: int = 0
    each: tuple[int, int] = (1, 1)
    by: tuple[str, ...] = (LOCATION, "category")


def reading(tasks: Sequence[Placed]) -> dict[int, set[str]]:
    """The properties that are looked at, by frame."""
    found: dict[int, set[str]] = {task.start + frame: set() for task in tasks for frame in task.task.seen}
    for task in tasks:
        for node in walk(task.task.root):
            for select, prop in node.reads():
                found[task.end - select.when].add(prop)
    return found


def distracted(
    frames: Frames, tasks: Sequence[Placed], how: Distraction, domain: Domain, stream: Stream
) -> tuple[Frames, tuple[tuple[int, str], ...]]:
    """The frames with as many distractors as there is room for, up to those asked for, and by what the objects that are meant are told."""
    frames = list(frames)
    for prop in how.by:
        domain.space.values(prop)
    if not 1 <= how.each[0] <= how.each[1] < domain.space.cells:
        raise EtudeError(f"a frame has room for 1 to {domain.space.cells - 1} distractors, not {how.each[0]} to {how.each[1]}")
    named = []
    if how.frames:
        read = reading(tasks)
        usable = {f: told_by(read[f], how.by, domain.space) for f in sorted(read) if len(frames[f]) == 1}
        able = [f for f, properties in usable.items() if properties]
        for frame in sorted(stream.sample(able, min(how.frames, len(able)))):
            prop = stream.choice(usable[frame])
            frames[frame] = _crowded(frames, frame, prop, stream.integer(*how.each), tasks, domain, stream)
            named.append((frame, prop))
    empty = [f for f, things in enumerate(frames) if not things]
    for frame in stream.sample(empty, min(how.time, len(empty))):
        frames[frame] = (_anything(domain, stream),)
    return frames, tuple(named)


def told_by(read: set[str], by: Sequence[str], space: StimulusSpace) -> list[str]:
    """The properties that may tell an object from others, given what is asked about it: those that give nothing of it away."""
    return [p for p in by if len(space.values(p)) > 1 and not any(_entangled(p, q, space) for q in read)]


def _entangled(first: str, second: str, space: StimulusSpace) -> bool:
    """Are they the same, or does one of them follow from the other, as the category from the identity?"""
    if first == second or space.sort(first) != space.sort(second):
        return first == second
    pairs = set(zip(space.numbers(first), space.numbers(second), strict=True))
    return len(pairs) in (len({a for a, _ in pairs}), len({b for _, b in pairs}))


def _crowded(
    frames: Frames, frame: int, prop: str, count: int, tasks: Sequence[Placed], domain: Domain, stream: Stream
) -> tuple[SeenThing, ...]:
    """The object that is meant, and others in other cells that differ from it in a property."""
    (target,) = frames[frame]
    others: list[SeenThing] = []
    for cell in stream.sample([c for c in range(domain.space.cells) if c != target.location], count):
        others.append(_misleading(frames, frame, prop, cell, tasks, domain, stream))
    return tuple(stream.shuffled([target, *others]))


def _misleading(frames: Frames, frame: int, prop: str, cell: int, tasks: Sequence[Placed], domain: Domain, stream: Stream) -> SeenThing:
    """An object that, taken for the one that is meant, gives a wrong answer, where one is found soon."""
    target = made = frames[frame][0]
    sort = domain.space.sort(prop)
    others = bits(domain.alone(prop, domain.space.of(prop, target), False))
    for _ in range(TRIES):
        made = replace(_anything(domain, stream), location=cell)
        if sort != LOCATION:
            made = replace(made, **{"view" if sort == VIEW else "item": stream.choice(others)})  # type: ignore[arg-type]
        mistaken = [*frames[:frame], (replace(made, distractor=False),), *frames[frame + 1 :]]
        if any(answer(p.task, mistaken, domain.space, p.start) != answer(p.task, frames, domain.space, p.start) for p in tasks):
            break
    return made


def _anything(domain: Domain, stream: Stream) -> SeenThing:
    item, cell, view = (stream.choice(bits(domain.full(sort))) for sort in SORTS)
    return SeenThing(item, cell, view, distractor=True)
