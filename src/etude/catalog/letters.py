"""The capital letters, and a small t, as thick strokes of one weight: readable from above with x to the right and y up.

VIMA uses A, E, G, M, R, T, V; ClevrSkills' kit A, E, G, L, M, O, R, T, V at 0.1 × 0.1 × 0.025; VLMbench the small t at 0.08 × 0.08 × 0.04.
Drawn in units of the height of a capital; A, O and the like keep their holes.
"""

from __future__ import annotations

from collections.abc import Callable

from etude.catalog.drawing import Drawing, arc, bar, polygon, slant, together
from etude.catalog.extrusion import enter_drawing
from etude.pose import Vec2, Vec3

W = 0.18  # weight of upright and level strokes
S = 0.21  # width along x of leaning strokes, which look thinner
MID = 0.5 - W / 2  # lower edge of a bar at half height

CAPITAL_HEIGHT, THICKNESS = 0.1021, 0.0327  # VIMA's letters


def _bend(centre: Vec2, radii: Vec2, start: float, end: float) -> Drawing:
    """A curved stroke of the usual weight; ``radii`` are its outer ones."""
    return arc(centre, radii, (radii[0] - W, radii[1] - W), start, end)


def _stem(x: float = 0.0) -> Drawing:
    return bar(x, 0, x + W, 1)


def _bowl(y0: float, y1: float, straight: float, reach: float) -> list[Drawing]:
    """The belly of B, D, P and R: two level strokes from the stem, joined by a half turn."""
    half = (y1 - y0) / 2
    return [
        bar(W / 2, y1 - W, straight, y1),
        bar(W / 2, y0, straight, y0 + W),
        _bend((straight, y0 + half), (reach - straight, half), -90, 90),
    ]


def _a() -> list[Drawing]:
    a, low, high = 0.9, 0.19, 0.36
    lean = ((a - S) / 2) / 1.0  # how far a leg moves inwards over the whole height
    crossbar = [(S / 2 + lean * y, y) for y in (high, low)] + [(a - S / 2 - lean * y, y) for y in (low, high)]
    return [slant((0, 0), ((a - S) / 2, 1), S), slant((a - S, 0), ((a - S) / 2, 1), S), polygon(crossbar)]


def _s() -> list[Drawing]:
    half = 0.25 + W / 4  # both bends share the stroke in the middle
    return [_bend((0.33, 1 - half), (0.33, half), 28, 270), _bend((0.33, half), (0.33, half), -152, 90)]


def _w() -> list[Drawing]:
    a, low, high = 1.24, 0.25, 0.62 - S / 2
    strokes = (low, (0, 1)), (low, (high, 0.86)), (a - S - low, (high, 0.86)), (a - S - low, (a - S, 1))
    return [slant((foot, 0), tip, S) for foot, tip in strokes]


def _y() -> list[Drawing]:
    middle = 0.42 - W / 2
    arms = [[(S, 1), (0, 1)], [(0.84, 1), (0.84 - S, 1)]]
    return [bar(middle, 0, middle + W, 0.46), *(polygon([(middle, 0.4), (middle + W, 0.4), *top]) for top in arms)]


# The width (m) of every capital, and its strokes. The widths of A, E, G, M, R, T, V are VIMA's drawn sizes; the others follow the strokes.
CAPITALS: dict[str, tuple[float, Callable[[], list[Drawing]]]] = {
    "A": (0.0898, _a),
    "B": (0.067, lambda: [_stem(), *_bowl(0.44, 1, 0.34, 0.62), *_bowl(0, 0.58, 0.36, 0.66)]),
    "C": (0.076, lambda: [_bend((0.43, 0.5), (0.43, 0.5), 48, 312)]),
    "D": (0.078, lambda: [_stem(), *_bowl(0, 1, 0.32, 0.76)]),
    "E": (0.0575, lambda: [_stem(), bar(W / 2, 0, 0.57, W), bar(W / 2, MID, 0.51, MID + W), bar(W / 2, 1 - W, 0.57, 1)]),
    "F": (0.058, lambda: [_stem(), bar(W / 2, 0.42, 0.5, 0.42 + W), bar(W / 2, 1 - W, 0.57, 1)]),
    "G": (0.0817, lambda: [_bend((0.42, 0.5), (0.42, 0.5), 46, 360), bar(0.42, 0.5 - W, 0.74, 0.5)]),
    "H": (0.078, lambda: [_stem(), _stem(0.76 - W), bar(W / 2, MID, 0.76 - W / 2, MID + W)]),
    "I": (0.055, lambda: [bar(0, 0, 0.5, W), bar(0.25 - W / 2, 0, 0.25 + W / 2, 1), bar(0, 1 - W, 0.5, 1)]),
    "J": (0.059, lambda: [bar(0.58 - W, 0.29, 0.58, 1), _bend((0.29, 0.29), (0.29, 0.29), 180, 360), bar(0, 0.29, W, 0.36)]),
    "K": (0.08, lambda: [_stem(), slant((0.06, 0.36), (0.54, 1), 0.24), slant((0.54, 0), (0.2, 0.58), 0.24)]),
    "L": (0.059, lambda: [_stem(), bar(W / 2, 0, 0.58, W)]),
    "M": (0.0918, lambda: [_stem(), _stem(0.95 - W), *(slant(((0.95 - S) / 2, 0.2), (x, 1), S) for x in (0, 0.95 - S))]),
    "N": (0.08, lambda: [_stem(), _stem(0.78 - W), slant((0.78 - 0.23, 0), (0, 1), 0.23)]),
    "O": (0.094, lambda: [_bend((0.46, 0.5), (0.46, 0.5), 0, 360)]),
    "P": (0.067, lambda: [_stem(), *_bowl(0.38, 1, 0.36, 0.66)]),
    "Q": (0.094, lambda: [_bend((0.46, 0.5), (0.46, 0.5), 0, 360), slant((0.72, -0.06), (0.44, 0.3), 0.24)]),
    "R": (0.0729, lambda: [_stem(), *_bowl(0.4, 1, 0.36, 0.67), slant((0.48, 0), (0.24, 0.5), 0.23)]),
    "S": (0.067, _s),
    "T": (0.108, lambda: [bar(0, 1 - W, 0.8, 1), bar(0.4 - W / 2, 0, 0.4 + W / 2, 1)]),
    "U": (0.0755, lambda: [bar(0, 0.37, W, 1), bar(0.74 - W, 0.37, 0.74, 1), _bend((0.37, 0.37), (0.37, 0.37), 180, 360)]),
    "V": (0.0845, lambda: [slant((0.43 - S / 2, 0), (x, 1), S) for x in (0, 0.86 - S)]),
    "W": (0.125, _w),
    "X": (0.086, lambda: [slant((0, 0), (0.84 - 0.23, 1), 0.23), slant((0.84 - 0.23, 0), (0, 1), 0.23)]),
    "Y": (0.086, _y),
    "Z": (0.0715, lambda: [bar(0, 0, 0.7, W), bar(0, 1 - W, 0.7, 1), slant((0, W / 2), (0.7 - 0.25, 1 - W / 2), 0.25)]),
}
HEIGHTS = {"A": 0.1025, "G": 0.1048, "M": 0.0965, "T": 0.108, "Q": 0.108}
THICKNESSES = {"M": 0.0309}


def _enter(name: str, size: Vec3, strokes: Callable[[], list[Drawing]]) -> None:
    enter_drawing(f"letter {name}", size, lambda: together(strokes()), "letter")


for _name, (_width, _strokes) in CAPITALS.items():
    _enter(_name, (_width, HEIGHTS.get(_name, CAPITAL_HEIGHT), THICKNESSES.get(_name, THICKNESS)), _strokes)
_enter("t", (0.08, 0.08, 0.04), lambda: [  # VLMbench
    bar(0.14, 0.26, 0.14 + W, 1), bar(0, 0.62, 0.56, 0.62 + W * 0.9), _bend((0.4, 0.26), (0.26, 0.26), 180, 300),
])  # fmt: skip
