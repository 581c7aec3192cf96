"""The second setting: a chest of three drawers with household things on it and in it, before a hand with fingers."""

from __future__ import annotations

from itertools import product
from typing import Final

from etude.decisions.solver import Domain
from etude.decisions.space import StimulusSpace
from etude.pose import Pose, Vec3
from etude.scene.scene import Fixture
from etude.suites.clevrskills.things import Item
from etude.suites.etudes.things import COLOUR, COLOURS, SHAPE

CHEST: Final = "chest"
LEVELS = ("top", "middle", "bottom")
PLACE: Final = "spot"  # of a thing: on the chest, or in one of the drawers
STATE: Final = "state"  # of a drawer
OPEN, SHUT = STATES = "open", "shut"
IN_DRAWERS = tuple(f"{level} drawer" for level in LEVELS)
PLACES = (CHEST, *IN_DRAWERS)
# Each fits between the fingers and, upright, into a drawer. m, kg.
KINDS = {
    "cube": Item("cube", "cube", (0.042, 0.042, 0.042), 0.06),
    "can": Item("can", "cylinder", (0.045, 0.045, 0.055), 0.07),
    "cup": Item("cup", "cups a", (0.055, 0.055, 0.06), 0.05),
    "hexagon": Item("hexagon", "hexagon", (0.05, 0.0433, 0.045), 0.06),
}
KIND_WORDS = {item.shape: word for word, item in KINDS.items()}

# m, in the frame of a drawer or of the chest: where things are seen, where they are put, and where they are at the start.
IN_DRAWER: tuple[Vec3, Vec3] = ((-0.12, -0.12, -0.045), (0.12, 0.12, 0.045))
FLOOR = -0.0395
LEG, HEIGHT = 0.074, 0.301
TOP = LEG + HEIGHT
ON_TOP: tuple[Vec3, Vec3] = ((-0.135, -0.135, TOP), (0.135, 0.135, TOP + 0.06))
OPENED, TRAVEL = 0.23, 0.24
MOST_ON_CHEST, MOST_IN_DRAWER = 5, 2  # things at the start
OUT, IN = 0.15, 0.03  # a drawer is open from the one on, and shut up to the other

_LOOKS = list(product(range(len(COLOURS)), range(len(KINDS))))
CHEST_SPACE = StimulusSpace(
    {COLOUR: tuple(colour for colour, _ in _LOOKS), SHAPE: tuple(kind for _, kind in _LOOKS)},
    {COLOUR: COLOURS, SHAPE: tuple(KINDS)}, views=1, grid=(1, 1),
)  # fmt: skip
"""What can be told of things at a chest."""
_ASKED = list(product(range(len(COLOURS)), range(len(KINDS)), range(len(PLACES)), range(len(STATES))))
CHEST_LOOKS = Domain(
    StimulusSpace(
        {prop: tuple(one[k] for one in _ASKED) for k, prop in enumerate((COLOUR, SHAPE, PLACE, STATE))},
        {COLOUR: COLOURS, SHAPE: tuple(KINDS), PLACE: PLACES, STATE: STATES}, views=1, grid=(1, 1),
    )
)  # fmt: skip
"""What is decided by: also where things are, and whether drawers are open."""


def part_of(level: str) -> str:
    """The part of the chest that is a drawer, and its joint."""
    return f"{CHEST}/{level}"


def frame_in(chest: Fixture, level: str) -> Pose:
    """The frame of a drawer as it is at the start, world."""
    part = next(one for one in chest.parts if one.name == level)
    return chest.pose * part.pose * Pose((0.0, -began(chest)[level], 0.0))


def began(chest: Fixture) -> dict[str, float]:
    """How far every drawer is out at the start, m."""
    return dict(zip([one.name for one in chest.jointed()], chest.joints, strict=True))


def box_of(place: str) -> tuple[str, Vec3, Vec3]:
    """Where things are that are in a place: of what, and the corners of a box in its frame (m)."""
    return (CHEST, *ON_TOP) if place == CHEST else (part_of(place.removesuffix(" drawer")), *IN_DRAWER)
