"""Études of one's own, in Python: functions with the names of what is to be done, that take things in words.

>>> mine = first(put("red cube", on="blue star"), each("red thing", bring(into="white area")))
>>> str(mine)
>>> mine.episode(seed=3)

Within what is done to each, or to some, the thing whose turn it is need not be named.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from etude.decisions.logic import Switch
from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.episodes import Episode
from etude.names import EpisodeName, EtudeError
from etude.suites.etudes.acts import Drawer, InAnyOrder, InOrder, It, OneOf, Without
from etude.suites.etudes.deeds import PushTowards, PutIn, PutOn, TakeOver, Touch, Tower, Turn, WithoutMoving
from etude.suites.etudes.furniture import Close, Open, PutAway, TakeOut, WithoutOpening
from etude.suites.etudes.groups import ForEach, ForSome, Until
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.memory import Recall, Undo
from etude.suites.etudes.telling import read, some_things, thing, things, told, truth

IT = "it"


@dataclass(frozen=True)
class OwnEtude:
    """What is to be done: an étude, or a part of one."""

    act: Operator

    @property
    def graph(self) -> EtudeGraph:
        """Its graph; raises :class:`EtudeError` where it is only a part, or asks for what cannot be."""
        return EtudeGraph(self.act)

    def __str__(self) -> str:
        return told(self.graph)

    def name(self, seed: int = 0, split: str = "train") -> str:
        """The name of an episode of it, which every command takes."""
        return str(EpisodeName("etudes", "compose", split, seed, options=(("graph", str(self)),)))

    def episode(self, seed: int = 0, split: str = "train") -> Episode:
        """A scene that is laid out for it, with its goal and its instruction."""
        from etude.library import episode

        return episode(self.name(seed, split))


def written(words: str) -> OwnEtude:
    """An étude from its words."""
    return OwnEtude(read(words).root)


# ------------------------------------------------------------------------------------------------ deeds


def put(what: str = IT, *, on: str = "", into: str = "") -> OwnEtude:
    """To put a thing on another, into an area, or into a drawer."""
    if bool(on) == bool(into):
        raise EtudeError("put takes one place: on='blue star', into='white area' or into='top drawer'")
    if on:
        return OwnEtude(PutOn(_one(what), _one(on)))
    place = _one(into)
    return OwnEtude(PutAway(_one(what), place) if isinstance(place, Drawer) else PutIn(_one(what), place))


def bring(what: str = IT, *, into: str) -> OwnEtude:
    """To bring a thing into an area or a drawer."""
    return put(what, into=into)


def touch(what: str = IT) -> OwnEtude:
    """To touch a thing without moving it."""
    return OwnEtude(Touch(_one(what)))


def push(what: str = IT, *, towards: str) -> OwnEtude:
    """To push a thing a third of the way towards another."""
    return OwnEtude(PushTowards(_one(what), _one(towards)))


def turn(what: str = IT, *, direction: str) -> OwnEtude:
    """To turn a thing a quarter, "clockwise" or "anti-clockwise"."""
    return OwnEtude(Turn(_one(what), direction))  # type: ignore[arg-type]  # it says which there are


def tower(bottom: str, middle: str, top: str) -> OwnEtude:
    """To build a tower of three things."""
    return OwnEtude(Tower(_one(bottom), _one(middle), _one(top)))


def take_over(what: str, *, on: str, then: str) -> OwnEtude:
    """To move a thing onto another, and then a third to where the first stood."""
    return OwnEtude(TakeOver(_one(what), _one(on), _one(then)))


def open_drawer(level: str) -> OwnEtude:
    """To open the top, the middle or the bottom drawer."""
    return OwnEtude(Open(_drawer(level)))


def close_drawer(level: str) -> OwnEtude:
    """To close it."""
    return OwnEtude(Close(_drawer(level)))


def take_out(what: str = IT, *, of: str) -> OwnEtude:
    """To take a thing out of a drawer and put it on the chest."""
    return OwnEtude(TakeOut(_one(what), _drawer(of)))


# ------------------------------------------------------------------------------------------------ joined


def first(*acts: OwnEtude) -> OwnEtude:
    """One after the other."""
    return _joined("first", InOrder, acts)


def in_any_order(*acts: OwnEtude) -> OwnEtude:
    """All of them, in whatever order."""
    return _joined("in_any_order", InAnyOrder, acts)


def either(*acts: OwnEtude) -> OwnEtude:
    """One of them, whichever."""
    return _joined("either", OneOf, acts)


def when(condition: str, then: OwnEtude, otherwise: OwnEtude) -> OwnEtude:
    """The one or the other, by what is so: ``when("the cube is red", touch("star"), touch("heart"))``."""
    return OwnEtude(Switch(truth(condition), _act(then), _act(otherwise)))


def each(what: str, act: OwnEtude) -> OwnEtude:
    """The same for each thing that looks so."""
    return OwnEtude(ForEach(things(what), _act(act)))


def exactly(count: int, what: str, act: OwnEtude, *, then: OwnEtude) -> OwnEtude:
    """The same for exactly so many of them, and then something else."""
    return OwnEtude(ForSome(count, some_things(what), _act(act), _act(then)))


def up_to(condition: str, what: str, act: OwnEtude, *, then: OwnEtude) -> OwnEtude:
    """The same for one after the other, from the nearest on, up to the first of which this is so ("it is a cube"); then something else."""
    return OwnEtude(Until(things(what), _act(act), truth(condition, of_it=True), _act(then)))


def without_touching(what: str, act: OwnEtude) -> OwnEtude:
    """An act during which, and ever after, a thing is left alone."""
    return OwnEtude(Without(_one(what), _act(act)))


def without_moving(what: str, act: OwnEtude) -> OwnEtude:
    """An act during which, and ever after, a thing stays where it is."""
    return OwnEtude(WithoutMoving(_one(what), _act(act)))


def without_opening(level: str, act: OwnEtude) -> OwnEtude:
    """An act during which, and ever after, a drawer is not opened."""
    return OwnEtude(WithoutOpening(_drawer(level), _act(act)))


def undo(act: OwnEtude) -> OwnEtude:
    """An act, after which everything that it moved goes back to where it stood."""
    return OwnEtude(Undo(_act(act)))


def with_the_first(one: OwnEtude, other: OwnEtude, act: OwnEtude) -> OwnEtude:
    """Two deeds in either order, and then something with the thing that was touched first."""
    return OwnEtude(Recall(_act(one), _act(other), _act(act)))


# ------------------------------------------------------------------------------------------------ what they are given


def _one(words: str) -> Select:
    if not isinstance(words, str):
        raise EtudeError(f"a thing is told in words, such as 'red cube', not by {words!r}")
    return It() if words == IT else thing(words.removeprefix("the "))


def _drawer(words: str) -> Drawer:
    found = _one(words if words.endswith(" drawer") else f"{words} drawer")
    if not isinstance(found, Drawer):
        raise EtudeError(f"{words!r} is no drawer; there are 'top', 'middle' and 'bottom'")
    return found


def _act(part: OwnEtude) -> Operator:
    if not isinstance(part, OwnEtude):
        raise EtudeError(f"{part!r} is nothing that can be done; what can be done is made by touch(…), put(…, on=…) and their like")
    return part.act


def _joined(name: str, kind: Callable[[Operator, Operator], Operator], acts: tuple[Any, ...]) -> OwnEtude:
    if len(acts) < 2:
        raise EtudeError(f"{name} joins two acts or more, not {len(acts)}")
    join: Callable[[Operator, Operator], Operator] = lambda right, left: kind(left, right)  # noqa: E731
    return OwnEtude(functools.reduce(join, [_act(one) for one in reversed(acts)]))
