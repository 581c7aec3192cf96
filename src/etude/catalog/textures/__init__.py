"""Textures, painted from their names.

``texture("brick")`` is an array of sRGB bytes that tiles seamlessly. Three kinds of names exist: every colour's (a solid), those
of designs and materials ("red and yellow stripe", "dark blue swirl", "granite"), and "numbered 0" to "numbered 239", a family of
invented patterns for suites that want many. The same name gives the same bytes in every process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from etude.catalog.colours import VIMA, colour, colour_names, is_colour
from etude.catalog.textures import designs, materials
from etude.catalog.textures.canvas import Image, quantised
from etude.catalog.textures.numbered import NUMBERED, invented
from etude.names import Stream, rng, unknown

__all__ = ["NUMBERED", "known_texture", "texture", "texture_names"]

# Painted by a rule alone.
_DESIGNS: Mapping[str, Callable[[], Image]] = {
    "polka dot": partial(designs.polka_dots, designs.PAPER, designs.INK),
    "checkerboard": partial(designs.checkerboard, designs.PAPER, designs.INK),
    "rainbow": designs.rainbow,
    "swirl": partial(designs.swirl, designs.INK),
    "black paisley": partial(designs.paisley, designs.INK),
}
# Painted with some chance in it, from a stream named after the texture.
_MATERIALS: Mapping[str, Callable[[Stream], Image]] = {
    "brick": materials.brick,
    "tiles": materials.tiles,
    "wooden": materials.wooden,
    "granite": materials.granite,
    "plastic": materials.plastic,
    "tiger": designs.tiger,
    "magma": materials.magma,
    "light wood": materials.light_wood,
    "dark wood": materials.dark_wood,
    "floor planks": materials.floor_planks,
    "concrete": materials.concrete,
    "fabric": materials.fabric,
    "carpet": materials.carpet,
    "marble": materials.marble,
    "plaster": materials.plaster,
}
_ALIASES: Mapping[str, str] = {"wood": "wooden"}  # ClevrSkills' word for VIMA's texture
_HUES = ("red", "yellow", "green", "blue", "purple")  # VIMA's order in the names of pairs


def _coloured() -> dict[str, Callable[[], Image]]:
    """VIMA's designs in the colours of its palette, plain and dark."""
    table: dict[str, Callable[[], Image]] = {}
    for tone in ("", "dark "):
        pairs = [(f"{tone}{a} and {b}", VIMA[tone + a], VIMA[tone + b]) for a, b in combinations(_HUES, 2)]
        table |= {f"{pair} stripe": partial(designs.stripes, a, b) for pair, a, b in pairs}
        table |= {f"{pair} polka dot": partial(designs.polka_dots, a, b) for pair, a, b in pairs}
        table |= {f"{tone}{hue} swirl": partial(designs.swirl, VIMA[tone + hue]) for hue in _HUES}
    return table | {f"{hue} paisley": partial(designs.paisley, VIMA[hue]) for hue in _HUES}


@functools.cache
def _painters() -> dict[str, Callable[[], Image]]:
    """Every pattern's painter, the numbered family last. Streams are made at painting, so that painting twice gives the same."""

    def from_stream(name: str, paint: Callable[[Stream], Image]) -> Image:
        return paint(rng("catalogue/textures", name))

    random = dict(_MATERIALS)
    random |= {f"numbered {i}": partial(invented, i) for i in range(NUMBERED)}
    return {**_DESIGNS, **_coloured(), **{name: partial(from_stream, name, paint) for name, paint in random.items()}}


def texture_names() -> tuple[str, ...]:
    """Every named texture: patterns first, then the colours' solids. The numbered family is not listed; see ``NUMBERED``."""
    patterns = [name for name in _painters() if not name.startswith("numbered ")]
    return (*patterns, *_ALIASES, *colour_names())


@functools.lru_cache(maxsize=4096)
def known_texture(name: str) -> str:
    """The name itself if it is a texture, without painting it; otherwise the error that names the nearest."""
    plain = _ALIASES.get(name, name)
    if not is_colour(plain) and plain not in _painters():
        numbers = [f"numbered {i}" for i in range(NUMBERED)] if name.startswith("numbered") else []
        raise unknown("texture", name, [*texture_names(), *numbers])
    return name


@functools.lru_cache(maxsize=1024)
def texture(name: str) -> NDArray[np.uint8]:
    """The texture of a name: (S, S, 3) bytes, sRGB-encoded, read-only, row 0 on top.

    S is 256 for patterns and 1 for solids. Patterns repeat without a seam in both directions.
    """
    name = _ALIASES.get(known_texture(name), name)
    if is_colour(name):
        pixels = np.array([[colour(name)]], dtype=np.uint8)
    else:
        pixels = quantised(_painters()[name]())
    pixels.flags.writeable = False
    return pixels
