"""Every road through an étude: each branch of each condition and each member of *either … or*, whether it is to be taken or not.

Whoever only tries what can be done must not find out how a condition stands: so in what is drawn, every branch can be carried out in its
scene, and so can every member that is offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from etude.episodes import Episode
from etude.goals.branching import Conditional
from etude.goals.goal import All, Either, Goal, Not, every
from etude.scene.scene import Scene
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.rehearsing import Rehearsal, ThoughtWorld, Unplayable

SO = All(())  # what holds whatever the table looks like
Place = tuple[tuple[str, int], ...]  # of a goal within another: fields, and numbers in them


def roads(goal: Goal, at: Place = ()) -> Iterator[tuple[Place, int, Goal]]:
    """For each condition and each free choice, from the root down, and each of its sides: its place, the side, and the goal with this side
    to be taken; all other conditions are left as they are, but for those on the way to it."""
    if isinstance(goal, Conditional):
        for side, (name, fact) in enumerate((("then", SO), ("otherwise", Not(SO)))):
            forced = replace(goal, fact=fact)
            yield at, side, forced
            for place, way, below in roads(getattr(goal, name), (*at, (name, 0))):
                yield place, way, replace(forced, **{name: below})
    elif type(goal) is Either:
        for side, member in enumerate(goal.members):
            yield at, side, member
            yield from roads(member, (*at, ("members", side)))
    elif every(goal, Conditional) or any(type(one) is Either for one in every(goal, Either)):
        for each in fields(goal):  # type: ignore[arg-type]
            value = getattr(goal, each.name)
            several = isinstance(value, tuple)
            for k, member in enumerate(value if several else (value,)):
                for place, way, below in roads(member, (*at, (each.name, k))) if isinstance(member, Goal) else ():
                    yield place, way, replace(goal, **{each.name: (*value[:k], below, *value[k + 1 :]) if several else below})  # type: ignore[type-var]


def refuse_dead_ends(etude: EtudeGraph, goal: Goal, scene: Scene, fair: bool) -> None:
    """Raises :class:`Unplayable` where a member of a free choice cannot be carried out in this scene; or, if it shall be ``fair``, where a
    branch of a condition cannot, be it the one to be taken or the other."""
    start = ThoughtWorld(scene)
    for place, _, road in roads(goal):
        free = type(_part(goal, place)) is Either
        if free or fair:
            try:
                Rehearsal(etude, road, start).outcomes()
            except Unplayable as error:
                raise Unplayable(f"{'an either' if free else 'a condition'} has a side that cannot be: {error}") from None


def open_branches(episode: Episode) -> list[tuple[bool, bool]]:
    """For each condition of an étude, from the root down: which of its two branches could be carried out in its scene."""
    found: dict[Place, list[bool]] = {}
    start = ThoughtWorld(episode.scene)
    for place, _, road in roads(episode.goal):
        if isinstance(_part(episode.goal, place), Conditional):
            found.setdefault(place, []).append(_playable(road, start))
    return [(then, otherwise) for then, otherwise in found.values()]


def _playable(goal: Goal, start: ThoughtWorld) -> bool:
    try:
        Rehearsal(None, goal, start).outcomes()
    except Unplayable:
        return False
    return True


def _part(goal: Goal, place: Place) -> Goal:
    for name, k in place:
        value = getattr(goal, name)
        goal = value[k] if isinstance(value, tuple) else value
    return goal
