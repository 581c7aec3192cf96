"""The table of shapes: names → makers.

A maker is a function of the wanted bounding box, so that a container stretched to twice its width keeps its walls as thick as they were::

    @shape_maker("container", size=(0.16, 0.16, 0.05), group="vessel")
    def container(size: Vec3) -> Shape: ...

The families (flat shapes, letters, solids, vessels, household things, …) are imported at the first lookup and register themselves.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from etude.catalog.shape import Shape
from etude.names import EtudeError, unknown
from etude.pose import Vec3
from etude.registry import Registry

Maker = Callable[[Vec3], Shape]


@dataclass(frozen=True)
class ShapeEntry:
    """One line of the table: how to make a shape, how large it usually is (metres), and what kind of thing it is."""

    make: Maker
    size: Vec3
    group: str


def _families() -> None:
    from etude.catalog import flat, household, letters, solids, sorter, vessels  # noqa: F401


SHAPES: Registry[ShapeEntry] = Registry("shape", _families)


def shape_maker(name: str, *, size: Vec3, group: str) -> Callable[[Maker], Maker]:
    """Register a function of the bounding box under ``name``; it may be stacked to give one maker several names or sizes."""

    def register(make: Maker) -> Maker:
        SHAPES.add(name, ShapeEntry(make, size, group), make.__module__)
        return make

    return register


def shape(name: str, size: Sequence[float] | None = None) -> Shape:
    """The shape called ``name``, with the given extents along x, y, z in metres (its usual ones if none are given)."""
    if size is None:
        return _made(name, SHAPES[name].size)
    if len(size) != 3 or not all(math.isfinite(v) and v > 0 for v in size):
        raise EtudeError(f"the size of shape {name!r} must be three positive lengths in metres, got {tuple(size)}")
    x, y, z = (float(v) for v in size)
    return _made(name, (x, y, z))


@functools.lru_cache(maxsize=4096)
def _made(name: str, size: Vec3) -> Shape:
    from etude.catalog.keeping import kept_shape  # here, because the catalogue's listing needs no digest of its source

    make = SHAPES[name].make
    return kept_shape(name, size, SHAPES.module_of(name), lambda: replace(make(size), name=name))


def default_size(name: str) -> Vec3:
    """The usual extents of a shape along x, y, z in metres."""
    return SHAPES[name].size


def group_of(name: str) -> str:
    """The kind of thing a shape is: one of :func:`group_names`."""
    return SHAPES[name].group


def shape_names() -> tuple[str, ...]:
    """All shapes, sorted."""
    return tuple(sorted(SHAPES))


def group_names() -> tuple[str, ...]:
    """All groups, sorted."""
    return tuple(sorted({entry.group for entry in SHAPES.values()}))


def shapes_in(group: str) -> tuple[str, ...]:
    """The shapes of one group, sorted."""
    found = tuple(name for name in shape_names() if SHAPES[name].group == group)
    if not found:
        raise unknown("group of shapes", group, group_names())
    return found
