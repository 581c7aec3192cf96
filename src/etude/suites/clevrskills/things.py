"""The objects and textures of ClevrSkills, in train and test halves that share nothing (ClevrSkills 1.8 and 1.9)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from etude.names import rng
from etude.pose import Vec3

KIT: Vec3 = (0.1, 0.1, 0.025)
PRISM: Vec3 = (0.1, 0.1, 0.05)


@dataclass(frozen=True)
class Item:
    """Something of the catalogue in the size ClevrSkills uses it; ``words`` is what prompts call it."""

    words: str
    shape: str
    size: Vec3 | None = None
    mass: float | None = None
    rolls: bool = False


def _kit(words: str, shape: str = "") -> Item:
    return Item(words, shape or words, KIT)


def _prism(words: str, shape: str = "") -> Item:
    return Item(words, shape or words, PRISM)


RECTANGLE = Item("rectangle", "rectangle", (0.1, 0.06, 0.025))  # in the kit's own 10 × 10 cm it would be the square
BLOCK = Item("wood block", "wood block", (0.0425, 0.0425, 0.1), 0.08)
TRAIN_BASE = (
    Item("bowl", "ycb bowl"), Item("mug", "ycb mug"), Item("plate", "ycb plate"), BLOCK,
    _kit("triangle"), _kit("square", "solid square"), _kit("plus"), _kit("pentagon"), RECTANGLE, _kit("four bubbles"),
    _kit("disc"), _kit("hexagon"),
)  # fmt: skip
TEST_BASE = (Item("foam brick", "foam brick"), Item("diamond", "diamond", (0.1, 0.075, 0.025)), _kit("heart"))
TRAIN_TOP = (
    Item("tomato soup can", "tomato soup can"), Item("mustard bottle", "mustard bottle"), Item("pudding box", "pudding box"),
    Item("gelatin box", "gelatin box"), Item("potted meat can", "potted meat can"), Item("sponge", "ycb sponge"), BLOCK,
    Item("dice", "dice", (0.032, 0.032, 0.032)), Item("wooden cube", "colored wood block b", (0.052, 0.052, 0.052)),
    Item("rubiks cube", "rubiks cube"),
    _kit("letter R"), _kit("letter A"), _kit("triangle"), _kit("square", "solid square"), _kit("plus"), _kit("letter T"),
    _kit("pentagon"), RECTANGLE, _kit("four bubbles"), _kit("disc"), _kit("letter E"), _kit("letter L"),
    _kit("letter O"), _kit("hexagon"), _kit("letter M"),
)  # fmt: skip
TEST_TOP = (Item("tuna can", "tuna fish can"), _kit("letter G"), _kit("letter V"))
TRAIN_RANDOM = (
    Item("banana", "banana"), Item("apple", "apple", rolls=True), Item("padlock", "padlock"),
    Item("large marker", "large marker", rolls=True),
    Item("adjustable wrench", "adjustable wrench"), Item("medium clamp", "medium clamp"), Item("large clamp", "large clamp"),
    Item("softball", "softball", rolls=True), Item("tennis ball", "tennis ball", rolls=True),
    Item("racquetball", "racquetball", rolls=True),
    Item("peg board", "nine hole peg test"),
)  # fmt: skip
TEST_RANDOM = (
    Item("lemon", "lemon", rolls=True), Item("scissors", "scissors"), Item("baseball", "baseball", rolls=True),
    Item("extra large clamp", "extra large clamp"),
)  # fmt: skip
TRAIN_PRIMITIVE = (_prism("cube"), _prism("cylinder"), _prism("triangle"), _prism("hexagon"))
# The original tests with stars alone, which its training has too, in the kit. No shape of ours is in both halves, under whatever name.
TEST_PRIMITIVE = (_prism("star", "six-pointed star"), _prism("heart"), Item("diamond", "diamond", (0.1, 0.075, 0.05)))


def bases(split: str) -> tuple[Item, ...]:
    """Things that can carry others."""
    return TRAIN_BASE if split == "train" else TEST_BASE


def tops(split: str) -> tuple[Item, ...]:
    """Things that are easy to place."""
    return TRAIN_TOP if split == "train" else TEST_TOP


def randoms(split: str) -> tuple[Item, ...]:
    """Things of all kinds."""
    return TRAIN_RANDOM if split == "train" else TEST_RANDOM


def primitives(split: str) -> tuple[Item, ...]:
    """Plain prisms, also used as areas."""
    return TRAIN_PRIMITIVE if split == "train" else TEST_PRIMITIVE


def top_pool(split: str) -> tuple[Item, ...]:
    """What is moved, by default."""
    return tops(split) + randoms(split) + primitives(split)


def base_pool(split: str) -> tuple[Item, ...]:
    """What is moved onto, by default."""
    return bases(split) + primitives(split)


# ------------------------------------------------------------------------------------------------ textures

_HUES = ("red", "yellow", "green", "blue", "purple")
_PAIRS = tuple(f"{a} and {b}" for a, b in combinations(_HUES, 2))
PLAIN = tuple(f"clevrskills/{c}" for c in ("red", "green", "blue", "yellow", "purple", "cyan", "white", "black", "grey"))
LIGHT = (
    *PLAIN, "brick", "checkerboard", "granite", "magma", "plastic", "rainbow", "tiger", "tiles", "wood", "swirl",
    *(f"{c} paisley" for c in (*_HUES, "black")), "polka dot", *(f"{p} polka dot" for p in _PAIRS), *(f"{p} stripe" for p in _PAIRS),
    *(f"{c} swirl" for c in _HUES),
)  # fmt: skip
DARK = (*(f"dark {p} polka dot" for p in _PAIRS), *(f"dark {p} stripe" for p in _PAIRS), *(f"dark {c} swirl" for c in _HUES))


def _parted() -> dict[tuple[str, int], tuple[str, ...]]:
    """Two groups for things that are moved and things they are moved onto, each in a train and a test half: 28 + 33 and 7 + 8."""
    stream = rng("clevrskills", "textures")
    light, dark = stream.shuffled(LIGHT), stream.shuffled(DARK)
    parts, i, j = {}, 0, 0
    for key, n, m in ((("train", 1), 20, 8), (("train", 2), 21, 12), (("test", 1), 5, 2), (("test", 2), 5, 3)):
        parts[key] = tuple(light[i : i + n] + dark[j : j + m])
        i, j = i + n, j + m
    return parts


_TEXTURES = _parted()


def textures(split: str, group: int) -> tuple[str, ...]:
    """Texture names of a half: group 1 for what is moved, group 2 for what it is moved onto."""
    return _TEXTURES[split, group]


def texture_words(name: str) -> str:
    """What prompts call a texture."""
    return name.removeprefix("clevrskills/")
