"""What can be seen: items of a stimulus set with their properties, places on a grid, views.

A thing on a frame is an item, a place and a view. Every property follows from one of the three: those of items come with their stimulus
set, others are functions that :func:`seen_property` registers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from etude.names import EtudeError, unknown
from etude.registry import Registry

CATEGORIES = ("benches", "boats", "cars", "chairs", "couches", "lighting", "planes", "tables")
IDENTITIES = 8
LOCATION: Final = "location"
VIEW: Final = "view angle"
NUMBER: Final = "number"
QUARTERS = ("top left", "top right", "bottom left", "bottom right")
SPLITS = ("train", "val", "test")
Relation = Literal["left of", "right of", "above", "below"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
Sort = Literal["item", "location", "view angle"]
SORTS: tuple[Sort, ...] = get_args(Sort)


@dataclass(frozen=True)
class SeenThing:
    """One object on one frame: an item of the stimulus set, where it is shown and from which view.

    ``distractor`` says that no question is about it.
    """

    item: int
    location: int
    view: int = 0
    distractor: bool = False

    def part(self, sort: Sort) -> int:
        """Its item, place or view."""
        return self.item if sort == "item" else self.location if sort == LOCATION else self.view


@dataclass(frozen=True)
class SeenProperty:
    """A property that follows from the item, place or view (``sort``) of a thing: the number of its value, and the words for values."""

    sort: Sort
    words: Callable[[StimulusSpace], Iterable[str]]
    value: Callable[[StimulusSpace, int], int]


SEEN_PROPERTIES: Registry[SeenProperty] = Registry("property")
Valued = Callable[["StimulusSpace", int], int]


def seen_property(name: str, of: Sort, words: Iterable[str] | Callable[[StimulusSpace], Iterable[str]]) -> Callable[[Valued], Valued]:
    """Register a property of all things: a function from the space and an item, place or view (``of``) to the number of its value.

    ``words`` are the names of the values, or a function that gives them for a space. A name that a stimulus set gives to a property of
    its items means that one there.
    """
    if of not in SORTS:
        raise unknown("part of a thing", of, SORTS)
    if name == NUMBER:
        raise EtudeError(f"a property cannot be called {name!r}: that is what objects are counted by")
    fixed = words if callable(words) else lambda _, found=tuple(words): found

    def register(value: Valued) -> Valued:
        SEEN_PROPERTIES.add(name, SeenProperty(of, fixed, value), value.__module__)
        return value

    return register


@dataclass(frozen=True)
class StimulusSpace:
    """The domain of all decisions with one stimulus set.

    ``classes`` gives for every property the value (a number) of each item, ``names`` the words for the values. Locations are cells of a
    ``grid`` (columns, rows), numbered row by row from the top left.
    """

    classes: Mapping[str, tuple[int, ...]]
    names: Mapping[str, tuple[str, ...]]
    views: int = 12
    grid: tuple[int, int] = (2, 2)

    def __post_init__(self) -> None:
        lengths = {len(c) for c in self.classes.values()}
        if len(lengths) != 1:
            raise EtudeError("every property of a stimulus set must have a value for every item")
        for prop, values in self.classes.items():
            if prop in (LOCATION, VIEW, NUMBER):
                raise EtudeError(f"a stimulus set cannot declare the property {prop!r}: it has another meaning")
            if min(values) < 0 or max(values) >= len(self.names[prop]):
                raise EtudeError(f"the property {prop!r} has values without a name")

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(next(iter(self.classes.values())))

    @property
    def cells(self) -> int:
        """How many places there are."""
        return self.grid[0] * self.grid[1]

    @functools.cached_property
    def places(self) -> tuple[str, ...]:
        """The names of the places."""
        columns, rows = self.grid
        if (columns, rows) == (2, 2):
            return QUARTERS
        return tuple(f"row {r + 1} column {c + 1}" for r in range(rows) for c in range(columns))

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that every object is described by: those of the set, its location and its view angle."""
        return (*self.classes, LOCATION, VIEW)

    @property
    def known(self) -> tuple[str, ...]:
        """Every property that can be asked about: also those that others registered."""
        return tuple(dict.fromkeys((*self.properties, *SEEN_PROPERTIES)))

    @functools.cached_property
    def _tables(self) -> dict[str, _PropertyTable]:
        items = range(self.items)
        return {p: _PropertyTable("item", self.names[p], tuple([c[k] for k in items])) for p, c in self.classes.items()}

    def _table(self, prop: str) -> _PropertyTable:
        found = self._tables.get(prop)
        if found is None:
            if prop not in SEEN_PROPERTIES:
                raise unknown("property", prop, self.known)
            how = SEEN_PROPERTIES[prop]
            count = {"item": self.items, LOCATION: self.cells, VIEW: self.views}[how.sort]
            found = _PropertyTable(how.sort, tuple(how.words(self)), tuple([how.value(self, k) for k in range(count)]))
            if min(found.values) < 0 or max(found.values) >= len(found.words):
                raise EtudeError(f"{SEEN_PROPERTIES.module_of(prop)}: the property {prop!r} has values without a name")
            self._tables[prop] = found
        return found

    def sort(self, prop: str) -> Sort:
        """What a property follows from."""
        return self._table(prop).sort

    def values(self, prop: str) -> tuple[str, ...]:
        """The names of a property's values."""
        return self._table(prop).words

    def value(self, prop: str, name: str) -> int:
        """The number of a value by its name."""
        found = self._table(prop).ranks.get(name)
        if found is None:
            raise unknown(f"value of {prop}", name, self.values(prop))
        return found

    def of(self, prop: str, thing: SeenThing) -> int:
        """The value (a number) of a thing's property."""
        table = self._table(prop)
        return table.values[thing.part(table.sort)]

    def numbers(self, prop: str) -> tuple[int, ...]:
        """The value of a property for each item, place or view that it follows from."""
        return self._table(prop).values

    def masks(self, prop: str) -> tuple[int, ...]:
        """For each value of a property, the items, places or views that have it, as bits."""
        return self._table(prop).masks

    def column(self, location: int) -> int:
        """Counted from the left."""
        return location % self.grid[0]

    def row(self, location: int) -> int:
        """Counted from the top."""
        return location // self.grid[0]

    def related(self, relation: str, first: int, second: int) -> bool:
        """Does one place lie so to another?"""
        where = self.column if relation in ("left of", "right of") else self.row
        a, b = where(first), where(second)
        return a < b if relation in ("left of", "above") else a > b


@dataclass(frozen=True)
class _PropertyTable:
    """A property in one space, worked out."""

    sort: Sort
    words: tuple[str, ...]
    values: tuple[int, ...]

    @functools.cached_property
    def ranks(self) -> dict[str, int]:
        """The number of each value; the first of those that have one name."""
        return {word: k for k, word in reversed(list(enumerate(self.words)))}

    @functools.cached_property
    def masks(self) -> tuple[int, ...]:
        return tuple(sum(1 << k for k, v in enumerate(self.values) if v == c) for c in range(len(self.words)))


@seen_property(LOCATION, LOCATION, lambda space: space.places)
def _location(space: StimulusSpace, location: int) -> int:
    return location


@seen_property(VIEW, VIEW, lambda space: map(str, range(space.views)))
def _view(space: StimulusSpace, view: int) -> int:
    return view


def standard_space(grid: tuple[int, int] = (2, 2), views: int = 12) -> StimulusSpace:
    """Eight categories of eight identities each, as in the paper."""
    items = range(len(CATEGORIES) * IDENTITIES)
    names = {"category": CATEGORIES, "identity": tuple(f"{CATEGORIES[k // IDENTITIES]} {k % IDENTITIES + 1}" for k in items)}
    return StimulusSpace({"category": tuple(k // IDENTITIES for k in items), "identity": tuple(items)}, names, views, grid)
