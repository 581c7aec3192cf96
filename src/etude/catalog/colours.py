"""Named colours, in palettes.

A bare name ("red") addresses the plain palette; the others are qualified ("my_suite/dark red"), for the same word means different values
in different suites. "#rrggbb" works wherever a name does. Values are sRGB-encoded, 0 to 255. A suite registers its palette under its own
name, and is loaded when somebody asks for one of its colours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from etude.index import INDEX, load_suite
from etude.names import EtudeError, unknown
from etude.registry import Registry, caller

Rgb = tuple[int, int, int]

# VLMbench's seen and unseen lists; HiMan-Bench's 20 colours are the seen ones.
SEEN: Mapping[str, Rgb] = {
    "red": (255, 0, 0),
    "maroon": (128, 0, 0),
    "lime": (0, 255, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "navy": (0, 0, 128),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "silver": (191, 191, 191),
    "gray": (128, 128, 128),
    "orange": (255, 128, 0),
    "olive": (128, 128, 0),
    "purple": (128, 0, 128),
    "teal": (0, 128, 128),
    "azure": (0, 128, 255),
    "violet": (128, 0, 255),
    "rose": (255, 0, 128),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
}
UNSEEN: Mapping[str, Rgb] = {
    "brown": (166, 41, 41),
    "gold": (255, 166, 0),
    "pink": (255, 191, 204),
    "chocolate": (204, 102, 31),
    "coral": (255, 128, 82),
}
# For furniture, walls and robots; no task names these.
FURNISHING: Mapping[str, Rgb] = {
    "grey": (128, 128, 128),
    "light grey": (211, 211, 211),
    "dark grey": (64, 64, 64),
    "ivory": (250, 246, 232),
    "beige": (225, 211, 186),
    "tan": (205, 176, 136),
    "sky blue": (150, 200, 235),
    "turquoise": (64, 200, 190),
    "lavender": (190, 175, 225),
    "indigo": (65, 45, 130),
    "crimson": (190, 25, 55),
}
# Eight hues of the Tableau chart and their dark shades (0.3 less value, as VIMA has them): what two-toned designs are painted in.
TABLEAU: Mapping[str, Rgb] = {
    "blue": (78, 121, 167),
    "red": (255, 87, 89),
    "green": (89, 169, 79),
    "orange": (242, 142, 43),
    "yellow": (237, 201, 72),
    "purple": (176, 122, 161),
    "pink": (255, 157, 167),
    "cyan": (118, 183, 178),
    "dark blue": (42, 66, 90),
    "dark red": (178, 61, 62),
    "dark green": (49, 92, 43),
    "dark orange": (165, 97, 29),
    "dark yellow": (160, 136, 49),
    "dark purple": (100, 69, 91),
    "dark pink": (178, 110, 117),
    "dark cyan": (69, 106, 104),
}
_PLAIN: Mapping[str, Rgb] = {**SEEN, **UNSEEN, **FURNISHING}
PALETTES: Registry[Mapping[str, Rgb]] = Registry("palette")

_HEX = re.compile(r"#[0-9a-fA-F]{6}")


def register_palette(name: str, colours: Mapping[str, Rgb]) -> None:
    """From now on "name/red" is ``colours["red"]``: (r, g, b), sRGB-encoded, whole numbers from 0 to 255."""
    for word, rgb in colours.items():
        if len(rgb) != 3 or not all(isinstance(v, int) and 0 <= v <= 255 for v in rgb):
            raise EtudeError(f"the colour {name}/{word} must be three whole numbers from 0 to 255, got {rgb}")
    PALETTES.add(name, dict(colours), caller())


def colour_names() -> tuple[str, ...]:
    """Every name :func:`colour` knows, palette by palette: plain ones bare, others qualified."""
    for suite in INDEX:
        load_suite(suite)  # whose colours come with it
    return (*_PLAIN, *(f"{palette}/{word}" for palette, colours in PALETTES.items() for word in colours))


def is_colour(name: str) -> bool:
    """Whether ``name`` is a known colour or has the form "#rrggbb"."""
    return _found(name) is not None


def colour(name: str) -> Rgb:
    """The (r, g, b) of a name or of "#rrggbb": sRGB-encoded, 0 to 255."""
    rgb = _found(name)
    if rgb is None:
        raise unknown("colour", name, colour_names())
    return rgb


def bare(name: str) -> str:
    """The word of a colour without its palette; other names as they are."""
    palette, _, word = name.rpartition("/")
    return word if palette in PALETTES else name


def _found(name: str) -> Rgb | None:
    if _HEX.fullmatch(name):
        return int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16)
    palette, qualified, word = name.rpartition("/")
    if not qualified:
        return _PLAIN.get(name)
    if palette not in PALETTES:
        load_suite(palette)  # whose colours come with it
    return PALETTES[palette].get(word) if palette in PALETTES else None
