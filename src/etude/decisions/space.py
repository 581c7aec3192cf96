"""What can be seen: items of a stimulus set with their properties, places on a grid, views."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from etude.names import EtudeError, unknown

CATEGORIES = ("benches", "boats", "cars", "chairs", "couches", "lighting", "planes", "tables")
IDENTITIES = 8
LOCATION, VIEW, NUMBER = "location", "view angle", "number"
QUARTERS = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True)
class SeenThing:
    """One object on one frame: an item of the stimulus set, where it is shown and from which view.

    ``distractor`` says that no question is about it.
    """

    item: int
    location: int
    view: int = 0
    distractor: bool = False


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
    _masks: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        lengths = {len(c) for c in self.classes.values()}
        if len(lengths) != 1:
            raise EtudeError("every property of a stimulus set must have a value for every item")
        for prop, values in self.classes.items():
            if prop in (LOCATION, VIEW, NUMBER):
                raise EtudeError(f"a stimulus set cannot declare the property {prop!r}: it has another meaning")
            words = self.names[prop]
            if min(values) < 0 or max(values) >= len(words):
                raise EtudeError(f"the property {prop!r} has values without a name")
            self._masks[prop] = tuple(sum(1 << k for k, v in enumerate(values) if v == c) for c in range(len(words)))

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
        """Every property an object has."""
        return (*self.classes, LOCATION, VIEW)

    def values(self, prop: str) -> tuple[str, ...]:
        """The names of a property's values."""
        if prop == LOCATION:
            return self.places
        if prop == VIEW:
            return tuple(str(v) for v in range(self.views))
        if prop not in self.names:
            raise unknown("property", prop, self.properties)
        return self.names[prop]

    def value(self, prop: str, name: str) -> int:
        """The number of a value by its name."""
        words = self.values(prop)
        if name not in words:
            raise unknown(f"value of {prop}", name, words)
        return words.index(name)

    def of(self, prop: str, thing: SeenThing) -> int:
        """The value (a number) of a thing's property."""
        if prop == LOCATION:
            return thing.location
        if prop == VIEW:
            return thing.view
        return self.classes[prop][thing.item]

    def masks(self, prop: str) -> tuple[int, ...]:
        """For each value of an item's property, the items that have it, as bits."""
        return self._masks[prop]

    def column(self, location: int) -> int:
        """Counted from the left."""
        return location % self.grid[0]

    def row(self, location: int) -> int:
        """Counted from the top."""
        return location // self.grid[0]


def standard_space(grid: tuple[int, int] = (2, 2), views: int = 12) -> StimulusSpace:
    """Eight categories of eight identities each, as in the paper."""
    items = range(len(CATEGORIES) * IDENTITIES)
    names = {"category": CATEGORIES, "identity": tuple(f"{CATEGORIES[k // IDENTITIES]} {k % IDENTITIES + 1}" for k in items)}
    return StimulusSpace({"category": tuple(k // IDENTITIES for k in items), "identity": tuple(items)}, names, views, grid)
