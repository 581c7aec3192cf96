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

from etude.catalog.colours import TABLEAU, colour, colour_names, is_colour
from etude.catalog.keeping import kept_array
from etude.catalog.textures import designs, materials
from etude.catalog.textures.canvas import SIZE, Image, quantised
from etude.catalog.textures.numbered import NUMBERED, invented
from etude.names import EtudeError, Stream, rng, unknown
from etude.registry import Registry

__all__ = ["NUMBERED", "TEXTURES", "known_texture", "register_texture", "texture", "texture_names"]

Painter = Callable[[Stream], Image]

# Painted by a rule alone.
_DESIGNS: Mapping[str, Callable[[], Image]] = {
    "polka dot": partial(designs.polka_dots, designs.PAPER, designs.INK),
    "checkerboard": partial(designs.checkerboard, designs.PAPER, designs.INK),
    "rainbow": designs.rainbow,
    "swirl": partial(designs.swirl, designs.INK),
    "black paisley": partial(designs.paisley, designs.INK),
}
# Painted with some chance in it, from a stream named after the texture.
_MATERIALS: Mapping[str, Painter] = {
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
    """VIMA's designs in the Tableau colours, plain and dark."""
    table: dict[str, Callable[[], Image]] = {}
    for tone in ("", "dark "):
        pairs = [(f"{tone}{a} and {b}", TABLEAU[tone + a], TABLEAU[tone + b]) for a, b in combinations(_HUES, 2)]
        table |= {f"{pair} stripe": partial(designs.stripes, a, b) for pair, a, b in pairs}
        table |= {f"{pair} polka dot": partial(designs.polka_dots, a, b) for pair, a, b in pairs}
        table |= {f"{tone}{hue} swirl": partial(designs.swirl, TABLEAU[tone + hue]) for hue in _HUES}
    return table | {f"{hue} paisley": partial(designs.paisley, TABLEAU[hue]) for hue in _HUES}


def _by_rule(paint: Callable[[], Image], _: Stream) -> Image:
    return paint()


TEXTURES: Registry[Painter] = Registry("texture")
for _name, _design in {**_DESIGNS, **_coloured()}.items():
    TEXTURES.add(_name, partial(_by_rule, _design), __name__)
for _name, _paint in _MATERIALS.items():
    TEXTURES.add(_name, _paint, __name__)
for _i in range(NUMBERED):
    TEXTURES.add(f"numbered {_i}", partial(invented, _i), __name__)


def register_texture(name: str) -> Callable[[Painter], Painter]:
    """Register a painter under ``name``: a function of a random stream, which is named after the texture.

    What it paints broadcasts to (3, 256, 256): a plane for each of red, green and blue, sRGB-encoded, 0 to 255, row 0 on top.
    """

    def register(paint: Painter) -> Painter:
        if is_colour(name):
            raise EtudeError(f"{paint.__module__}: {name!r} is a colour already; choose another name for the texture")
        TEXTURES.add(name, paint, paint.__module__)
        return paint

    return register


def texture_names() -> tuple[str, ...]:
    """Every named texture: patterns first, then the colours' solids. The numbered family is not listed; see ``NUMBERED``."""
    patterns = [name for name in TEXTURES if not name.startswith("numbered ")]
    return (*patterns, *_ALIASES, *colour_names())


@functools.lru_cache(maxsize=4096)
def known_texture(name: str) -> str:
    """The name itself if it is a texture, without painting it; otherwise the error that names the nearest."""
    plain = _ALIASES.get(name, name)
    if not is_colour(plain) and plain not in TEXTURES:
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
        pixels = kept_array("texture", [name], TEXTURES.module_of(name), lambda: _painted(name))
    pixels.flags.writeable = False
    return pixels


def _painted(name: str) -> NDArray[np.uint8]:
    image = np.asarray(TEXTURES[name](rng("catalogue/textures", name)), float)
    if image.ndim > 3 or any(n not in (1, m) for n, m in zip(image.shape[::-1], (SIZE, SIZE, 3), strict=False)):
        raise EtudeError(f"the texture {name!r} is painted as {image.shape}; expected what broadcasts to (3, {SIZE}, {SIZE})")
    return quantised(image)
