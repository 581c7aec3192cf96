"""The objects and textures of VIMA-Bench, and which of them each level may use (VIMA 2.1 to 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

from etude.pose import Vec3


@dataclass(frozen=True)
class VimaThing:
    """Something of the catalogue as VIMA uses it. ``symmetry`` n: turns by 360°/n look the same; 0: every turn does.

    ``profile`` is what "same shape" asks about: square, circle, or empty. Masses in kg.
    """

    words: str
    shape: str
    size: Vec3 | None = None
    mass: float = 0.1
    symmetry: int = 1
    profile: str = ""
    hollow: bool = False


def _plain(words: str, symmetry: int = 1) -> VimaThing:
    return VimaThing(words, words, symmetry=symmetry)


_LETTERS = {name: _plain(f"letter {name}") for name in "AEGMRTV"}
BLOCK = VimaThing("block", "block", (0.07, 0.07, 0.07), 0.01, 4, "square")
SHORTER_BLOCK = VimaThing("shorter block", "block", (0.07, 0.07, 0.03), 0.01, 4, "square")
SMALL_BLOCK = VimaThing("small block", "block", (0.03, 0.03, 0.03), 0.001, 4)
RING = VimaThing("ring", "ring", symmetry=0, profile="circle")
ROUND = VimaThing("round", "disc", (0.096, 0.096, 0.0291), symmetry=0, profile="circle")
HEART, L_BLOCK = _plain("heart"), VimaThing("L-shaped block", "L-shaped block")
CROSS, DIAMOND, TRIANGLE = _plain("cross", 4), _plain("diamond", 2), _plain("triangle")
FLOWER, HEXAGON, PENTAGON, STAR = _plain("flower", 4), _plain("hexagon", 6), _plain("pentagon", 5), _plain("star", 5)
BOWL, PAN = VimaThing("bowl", "bowl", profile="circle"), VimaThing("pan", "pan", profile="circle")
PALLET = VimaThing("pallet", "pallet", profile="square")
FRAME, SQUARE = VimaThing("frame", "frame", profile="square", hollow=True), VimaThing("square", "square", profile="square", hollow=True)
CONTAINER = VimaThing("container", "container", profile="square")

_SEEN_LETTERS = tuple(_LETTERS[n] for n in "AEGMTV")
SEEN = (*_SEEN_LETTERS, BLOCK, CROSS, TRIANGLE, FLOWER, HEART, RING, PENTAGON, L_BLOCK)  # D
SEEN_ASYMMETRIC = (*_SEEN_LETTERS, HEART, L_BLOCK)  # DA
SEEN_BASES = (BOWL, FRAME, CONTAINER, SQUARE)  # B
NOVEL = (_LETTERS["R"], DIAMOND, HEXAGON, ROUND, STAR)  # N
NOVEL_ASYMMETRIC = (_LETTERS["R"],)
NOVEL_BASES = (PALLET, PAN)  # NB
EVERY = (
    BLOCK, L_BLOCK, *_LETTERS.values(), CROSS, DIAMOND, TRIANGLE, FLOWER, HEART, HEXAGON, PENTAGON, RING, ROUND, STAR,
)  # fmt: skip
EVERY_BASE = (PAN, BOWL, FRAME, SQUARE, CONTAINER, PALLET)

_COLOURS = ("blue", "red", "green", "orange", "yellow", "purple", "pink", "cyan", "olive")
_FIVE = ("red", "yellow", "green", "blue", "purple")
_PAIRS = tuple(f"{a} and {b}" for i, a in enumerate(_FIVE) for b in _FIVE[i + 1 :])
_MATERIALS = ("brick", "tiles", "wooden", "granite", "plastic", "polka dot", "checkerboard", "tiger", "magma", "rainbow")
TEXTURES = (
    *_MATERIALS, *(f"{p} stripe" for p in _PAIRS), *(f"{p} polka dot" for p in _PAIRS), *(f"{c} swirl" for c in _FIVE),
    *(f"{c} paisley" for c in _FIVE), *_COLOURS,
)  # fmt: skip
FIRST_HALF, SECOND_HALF = TEXTURES[:24], TEXTURES[24:]
S1 = (
    "red", "green", "yellow", "granite", "polka dot", "tiger", "rainbow", "red and yellow stripe", "yellow and green stripe",
    "red and yellow polka dot", "red and green polka dot", "red and blue polka dot", "yellow and blue polka dot",
    "green and blue polka dot", "red swirl", "green swirl", "red paisley", "yellow paisley", "green paisley",
)  # fmt: skip
S2 = (
    "blue", "purple", "cyan", "olive", "tiles", "wooden", "plastic", "checkerboard", "red and blue stripe", "yellow and blue stripe",
    "red and purple stripe", "yellow and purple stripe", "green and purple stripe", "blue and purple stripe",
    "yellow and purple polka dot", "green and purple polka dot", "blue and purple polka dot", "purple swirl", "blue swirl", "blue paisley",
)  # fmt: skip
NEW = tuple(t for t in TEXTURES if t not in (*S1, *S2))  # on nothing that is trained on
_NO_TWIN = (*_MATERIALS, *(f"{c} paisley" for c in _FIVE), "olive")


def with_dark(textures: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the textures that have a dark twin: the light ones, for novel adjectives (VIMA 2.2)."""
    return tuple(t for t in textures if t not in _NO_TWIN)


def dark(texture: str) -> str:
    """The dark twin of a light texture."""
    return f"dark {texture}"


def worn(texture: str) -> str:
    """The catalogue's name of a texture: plain colours have VIMA's own hues."""
    plain = texture.removeprefix("dark ")
    return f"vima/{texture}" if plain in _COLOURS else texture


@dataclass(frozen=True)
class Pools:
    """What an episode may be cast from."""

    dragged: tuple[VimaThing, ...]
    bases: tuple[VimaThing, ...]
    dragged_textures: tuple[str, ...]
    base_textures: tuple[str, ...]


def pools(split: str, new: bool = False) -> Pools:
    """The pools of a level. L1 has those of the training set: there only the places are new. ``new``: at L3, only unseen textures."""
    if split in ("train", "L1"):
        return Pools(SEEN, SEEN_BASES, S1, S2)
    if split == "L2":
        return Pools(SEEN, SEEN_BASES, S2, S1)
    if split == "L3":
        return Pools(NOVEL, NOVEL_BASES, NEW, NEW) if new else Pools(NOVEL, NOVEL_BASES, FIRST_HALF, SECOND_HALF)
    return Pools(EVERY, EVERY_BASE, FIRST_HALF, SECOND_HALF)
