"""The order of things in a scene, drawn: where something stands in a list, and the number in its name, must not tell its part."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from etude.names import Stream
from etude.pose import Pose
from etude.prompts.instruction import Instruction, ScenePicture
from etude.scene.scene import Entity, Fixture
from etude.suites.suite import Draft

T = TypeVar("T")
ORDERS = ("drawn", "spawn")  # values of the option ``order``: shuffled, or as the sampler set the things
LOOKS = ("shape", "texture", "words")  # texts that are no names of things, although a thing may be called by its shape, "mug 1"
_NUMBERED = re.compile(r"(.* )(\d+)")


def shuffled(draft: Draft, stream: Stream) -> Draft:
    """The same episode with its things in another order, and the numbers in their names dealt anew by that order.

    Furniture keeps its place. Things that only a picture of the instruction shows are shuffled among the others.
    """
    shown = [thing for told in draft.instructions for part in told.parts if isinstance(part, ScenePicture) for thing in part.things]
    names = list(dict.fromkeys(thing.name for thing in (*draft.scene.entities, *shown)))
    order = stream.shuffled(names)
    rank = {name: k for k, name in enumerate(order)}
    parted = {name: parts for name in order if (parts := _NUMBERED.fullmatch(name))}
    dealt = {number: str(k) for k, number in enumerate(dict.fromkeys(parts[2] for parts in parted.values()))}
    new = {name: parts[1] + dealt[parts[2]] for name, parts in parted.items() if dealt[parts[2]] != parts[2]}
    scene = replace(draft.scene, entities=_ranked(draft.scene.entities, rank))
    told = tuple(_told(one, rank) for one in draft.instructions)
    ordered = replace(draft, scene=scene, instructions=told)
    return _renamed(ordered, new) if new else ordered


def _ranked(things: Sequence[Entity], rank: Mapping[str, int]) -> tuple[Entity, ...]:
    loose = iter(sorted((thing for thing in things if not isinstance(thing, Fixture)), key=lambda thing: rank[thing.name]))
    return tuple(thing if isinstance(thing, Fixture) else next(loose) for thing in things)


def _told(told: Instruction, rank: Mapping[str, int]) -> Instruction:
    parts = (replace(part, things=_ranked(part.things, rank)) if isinstance(part, ScenePicture) else part for part in told.parts)
    return replace(told, parts=tuple(parts))


@functools.cache
def _told_by(kind: type) -> tuple[str, ...]:
    """The fields of a kind of value in which there may be names; none where it is no dataclass."""
    return tuple(f.name for f in fields(kind) if f.init and f.name not in LOOKS) if is_dataclass(kind) else ()


def _renamed(value: T, new: Mapping[str, str]) -> T:
    """The value with every name in it replaced, of a thing or of a part of one ("cabinet 0/door")."""
    found: Any = value
    if isinstance(value, (float, int, Pose)):  # most of what there is, and no name in it
        return value
    if isinstance(value, str):
        root, slash, part = value.partition("/")
        found = new[root] + slash + part if root in new else value
    elif isinstance(value, tuple):
        items = [_renamed(item, new) for item in value]
        if any(a is not b for a, b in zip(items, value, strict=True)):
            found = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    elif names := _told_by(found.__class__):
        changed = {name: _renamed(getattr(value, name), new) for name in names}
        if any(item is not getattr(value, name) for name, item in changed.items()):
            found = replace(found, **changed)
    return found  # type: ignore[no-any-return]
