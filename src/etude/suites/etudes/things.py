"""What stands on the table of an étude: prisms and flat areas in plain colours, and the same as decisions see it."""

from __future__ import annotations

from itertools import product
from typing import Final

from etude.decisions.solver import Domain
from etude.decisions.space import StimulusSpace
from etude.suites.clevrskills.things import Item

COLOUR: Final = "colour"
SHAPE: Final = "shape"
COLOURS = ("red", "green", "blue", "yellow", "cyan", "magenta", "orange", "white")
# Words → shapes of the catalogue.
PRISMS = {
    "cube": "cube", "cylinder": "cylinder", "triangle": "triangle", "hexagon": "hexagon", "star": "six-pointed star", "heart": "heart",
    "diamond": "diamond",
}  # fmt: skip
AREA: Final = "area"
AREA_SHAPE = "solid square"
SIDE, HEIGHT = 0.08, 0.05  # m, of a prism
SLENDER = {"diamond": (0.1, 0.06)}  # m: as wide as long it would be a cube
AREA_SIDE, AREA_HEIGHT = 0.18, 0.01  # m
CATALOGUE = PRISMS | {AREA: AREA_SHAPE}
# In how many ways each can be turned about the vertical and look the same; 0 is any.
TURNS = {"cube": 4, "cylinder": 0, "triangle": 3, "hexagon": 6, "star": 6, "heart": 1, "diamond": 2, AREA: 4}
TURNABLE = tuple(word for word, ways in TURNS.items() if word in PRISMS and ways in (1, 2, 3))  # a quarter turn of these can be seen
WORDS = {shape: word for word, shape in CATALOGUE.items()}


def space_of(shapes: tuple[str, ...], grid: tuple[int, int] = (1, 1)) -> StimulusSpace:
    """All looks of things of these shapes, at places of a grid."""
    looks = list(product(range(len(COLOURS)), range(len(shapes))))
    classes = {COLOUR: tuple(colour for colour, _ in looks), SHAPE: tuple(shape for _, shape in looks)}
    return StimulusSpace(classes, {COLOUR: COLOURS, SHAPE: shapes}, views=1, grid=grid)


TABLE_SPACE = space_of(tuple(CATALOGUE))
"""All that is seen on a table and told of it."""
LOOKS = Domain(space_of(tuple(PRISMS)))
"""What is decided by: an area is one by its part in the étude, so nobody asks for its shape."""


def item(word: str) -> Item:
    """The thing of a word, in the size it has here. Cylinders get rolling friction, or a pushed one would wobble on its rim."""
    if word == AREA:
        return Item(AREA, AREA_SHAPE, (AREA_SIDE, AREA_SIDE, AREA_HEIGHT))
    return Item(word, PRISMS[word], (*SLENDER.get(word, (SIDE, SIDE)), HEIGHT), rolls=word == "cylinder")
