"""Stimulus sets: what can be shown on a frame. Ours is procedural; :class:`~etude.decisions.stimuli.folder.ImageFolder` takes any images,
and :func:`stimulus_set` registers whatever else can be shown.

A set has *items*; every item has a value of every property. An item can be shown from several *views*; those of one split are shown in no
other. Where a view is asked for, its *angle* is meant: what one can tell about it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from etude.decisions.space import SPLITS
from etude.decisions.stimuli.album import Rgba
from etude.decisions.stimuli.models import BUILDERS, IDENTITIES, PALETTES
from etude.decisions.stimuli.rendering import ANGLES, VIEWS, sprite
from etude.names import EtudeError, unknown
from etude.registry import Registry
from etude.render.renderer import VERSION as RENDERER

GENERATOR = "etude-stimuli-2"  # counts up whenever a model, a view or the light changes

ITEMS = len(BUILDERS) * IDENTITIES * len(PALETTES)


class StimulusSet(Protocol):
    """Things to show, by number, with their properties."""

    @property
    def name(self) -> str:
        """What results call it."""

    @property
    def version(self) -> str:
        """Changes whenever a picture may change."""

    @property
    def properties(self) -> Mapping[str, tuple[str, ...]]:
        """Every property, at least "category" and "identity", and the words for its values."""

    @property
    def classes(self) -> Mapping[str, tuple[int, ...]]:
        """For every property the value (a number) of each item."""

    @property
    def angles(self) -> tuple[str, ...]:
        """The words for the view angles."""

    def views(self, split: str, item: int | None = None) -> tuple[int, ...]:
        """The views of a split: those of one item, or those that all items have."""

    def angle(self, view: int) -> int:
        """The number of the view angle (in ``angles``) to which a view belongs."""

    def picture(self, item: int, view: int, pixels: int = 112) -> Rgba:
        """An item from a view, (pixels, pixels, 4), read-only."""


STIMULUS_SETS: Registry[Callable[[], StimulusSet]] = Registry("stimulus set")
Source = TypeVar("Source", bound=Callable[[], StimulusSet])


def stimulus_set(name: str) -> Callable[[Source], Source]:
    """Register a stimulus set under the name that its trials carry: a class, or a function, that gives it. It is made when first shown."""

    def register(source: Source) -> Source:
        STIMULUS_SETS.add(name, source, source.__module__)
        return source

    return register


def known_split(split: str) -> str:
    """The split itself, or the error that names the nearest."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return split


@stimulus_set("procedural")
class Procedural:
    """Eight categories of eight identities in four colours each, made and rendered by us, from 48 views; 32 of them for training, 8 for
    each other split."""

    name = "procedural"
    version = f"{GENERATOR}/{RENDERER}"
    angles = ANGLES

    @functools.cached_property
    def properties(self) -> Mapping[str, tuple[str, ...]]:
        """Category, identity and colour. Identities are counted through all categories: two things are one identity or they are not,
        whatever their colours."""
        return {
            "category": tuple(BUILDERS),
            "identity": tuple(f"{category} {k + 1}" for category in BUILDERS for k in range(IDENTITIES)),
            "colour": tuple(PALETTES),
        }

    @functools.cached_property
    def classes(self) -> Mapping[str, tuple[int, ...]]:
        """The values of the 256 items: every identity in every colour."""
        items = range(ITEMS)
        return {
            "category": tuple(k // len(PALETTES) // IDENTITIES for k in items),
            "identity": tuple(k // len(PALETTES) for k in items),
            "colour": tuple(k % len(PALETTES) for k in items),
        }

    def views(self, split: str, item: int | None = None) -> tuple[int, ...]:
        """The views of a split; all items have the same."""
        known_split(split)
        return tuple(k for k, view in enumerate(VIEWS) if view.split == split)

    def angle(self, view: int) -> int:
        """From which corner a view looks at the item."""
        return VIEWS[view].angle

    def picture(self, item: int, view: int, pixels: int = 112) -> Rgba:
        """An item from a view, (pixels, pixels, 4), read-only."""
        return sprite(*self._which(item), view, pixels)

    def _which(self, item: int) -> tuple[str, int, str]:
        if not 0 <= item < ITEMS:
            raise EtudeError(f"the items are numbered 0 to {ITEMS - 1}, got {item}")
        which, colour = divmod(item, len(PALETTES))
        return tuple(BUILDERS)[which // IDENTITIES], which % IDENTITIES, tuple(PALETTES)[colour]
