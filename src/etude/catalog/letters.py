"""The capital letters, and a small t, as thick strokes of one weight: readable from above with x to the right and y up.

VIMA uses A, E, G, M, R, T, V; ClevrSkills' kit A, E, G, L, M, O, R, T, V at 0.1 × 0.1 × 0.025; VLMbench the small t at 0.08 × 0.08 × 0.04.
Drawn in units of the height of a capital; A, O and the like keep their holes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from etude.catalog.drawing import Drawing, arc, bar, polygon, slant, together
from etude.catalog.extrusion import extruded
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Shape
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


def _b() -> list[Drawing]:
    return [_stem(), *_bowl(0.44, 1, 0.34, 0.62), *_bowl(0, 0.58, 0.36, 0.66)]


def _c() -> list[Drawing]:
    return [_bend((0.43, 0.5), (0.43, 0.5), 48, 312)]


def _d() -> list[Drawing]:
    return [_stem(), *_bowl(0, 1, 0.32, 0.76)]


def _e() -> list[Drawing]:
    return [_stem(), bar(W / 2, 0, 0.57, W), bar(W / 2, MID, 0.51, MID + W), bar(W / 2, 1 - W, 0.57, 1)]


def _f() -> list[Drawing]:
    return [_stem(), bar(W / 2, 0.42, 0.5, 0.42 + W), bar(W / 2, 1 - W, 0.57, 1)]


def _g() -> list[Drawing]:
    return [_bend((0.42, 0.5), (0.42, 0.5), 46, 360), bar(0.42, 0.5 - W, 0.74, 0.5)]


def _h() -> list[Drawing]:
    return [_stem(), _stem(0.76 - W), bar(W / 2, MID, 0.76 - W / 2, MID + W)]


def _i() -> list[Drawing]:
    return [bar(0, 0, 0.5, W), bar(0.25 - W / 2, 0, 0.25 + W / 2, 1), bar(0, 1 - W, 0.5, 1)]


def _j() -> list[Drawing]:
    return [bar(0.58 - W, 0.29, 0.58, 1), _bend((0.29, 0.29), (0.29, 0.29), 180, 360), bar(0, 0.29, W, 0.36)]


def _k() -> list[Drawing]:
    return [_stem(), slant((0.06, 0.36), (0.54, 1), 0.24), slant((0.54, 0), (0.2, 0.58), 0.24)]


def _l() -> list[Drawing]:
    return [_stem(), bar(W / 2, 0, 0.58, W)]


def _m() -> list[Drawing]:
    return [
        _stem(),
        _stem(0.95 - W),
        slant(((0.95 - S) / 2, 0.2), (0, 1), S),
        slant(((0.95 - S) / 2, 0.2), (0.95 - S, 1), S),
    ]


def _n() -> list[Drawing]:
    return [_stem(), _stem(0.78 - W), slant((0.78 - 0.23, 0), (0, 1), 0.23)]


def _o() -> list[Drawing]:
    return [_bend((0.46, 0.5), (0.46, 0.5), 0, 360)]


def _p() -> list[Drawing]:
    return [_stem(), *_bowl(0.38, 1, 0.36, 0.66)]


def _q() -> list[Drawing]:
    return [*_o(), slant((0.72, -0.06), (0.44, 0.3), 0.24)]


def _r() -> list[Drawing]:
    return [_stem(), *_bowl(0.4, 1, 0.36, 0.67), slant((0.48, 0), (0.24, 0.5), 0.23)]


def _s() -> list[Drawing]:
    half = 0.25 + W / 4  # both bends share the stroke in the middle
    return [_bend((0.33, 1 - half), (0.33, half), 28, 270), _bend((0.33, half), (0.33, half), -152, 90)]


def _t() -> list[Drawing]:
    return [bar(0, 1 - W, 0.8, 1), bar(0.4 - W / 2, 0, 0.4 + W / 2, 1)]


def _u() -> list[Drawing]:
    return [bar(0, 0.37, W, 1), bar(0.74 - W, 0.37, 0.74, 1), _bend((0.37, 0.37), (0.37, 0.37), 180, 360)]


def _v() -> list[Drawing]:
    return [slant((0.43 - S / 2, 0), (0, 1), S), slant((0.43 - S / 2, 0), (0.86 - S, 1), S)]


def _w() -> list[Drawing]:
    a, low, high = 1.24, 0.25, 0.62 - S / 2
    return [
        slant((low, 0), (0, 1), S),
        slant((low, 0), (high, 0.86), S),
        slant((a - S - low, 0), (high, 0.86), S),
        slant((a - S - low, 0), (a - S, 1), S),
    ]


def _x() -> list[Drawing]:
    return [slant((0, 0), (0.84 - 0.23, 1), 0.23), slant((0.84 - 0.23, 0), (0, 1), 0.23)]


def _y() -> list[Drawing]:
    middle = 0.42 - W / 2
    return [
        bar(middle, 0, middle + W, 0.46),
        *(
            polygon([(middle, 0.4), (middle + W, 0.4), *top])
            for top in (
                [(S, 1), (0, 1)],
                [(0.84, 1), (0.84 - S, 1)],
            )
        ),
    ]


def _z() -> list[Drawing]:
    return [bar(0, 0, 0.7, W), bar(0, 1 - W, 0.7, 1), slant((0, W / 2), (0.7 - 0.25, 1 - W / 2), 0.25)]


def _small_t() -> list[Drawing]:
    return [
        bar(0.14, 0.26, 0.14 + W, 1),
        bar(0, 0.62, 0.56, 0.62 + W * 0.9),
        _bend((0.4, 0.26), (0.26, 0.26), 180, 300),
    ]


CAPITALS: dict[str, Callable[[], Sequence[Drawing]]] = {
    "A": _a, "B": _b, "C": _c, "D": _d, "E": _e, "F": _f, "G": _g, "H": _h, "I": _i, "J": _j, "K": _k, "L": _l, "M": _m,
    "N": _n, "O": _o, "P": _p, "Q": _q, "R": _r, "S": _s, "T": _t, "U": _u, "V": _v, "W": _w, "X": _x, "Y": _y, "Z": _z,
}  # fmt: skip

# Widths in units of the height. Those of A, E, G, M, R, T, V are VIMA's drawn sizes; the others follow the strokes.
WIDTHS = {
    "A": 0.0898, "B": 0.067, "C": 0.076, "D": 0.078, "E": 0.0575, "F": 0.058, "G": 0.0817, "H": 0.078, "I": 0.055, "J": 0.059, "K": 0.08,
    "L": 0.059, "M": 0.0918, "N": 0.08, "O": 0.094, "P": 0.067, "Q": 0.094, "R": 0.0729, "S": 0.067, "T": 0.108, "U": 0.0755, "V": 0.0845,
    "W": 0.125, "X": 0.086, "Y": 0.086, "Z": 0.0715,
}  # fmt: skip
HEIGHTS = {"A": 0.1025, "G": 0.1048, "M": 0.0965, "T": 0.108, "Q": 0.108}
THICKNESSES = {"M": 0.0309}


def _register(name: str, strokes: Callable[[], Sequence[Drawing]], size: Vec3) -> None:
    def make(wanted: Vec3) -> Shape:
        return extruded(together(strokes()), wanted)

    shape_maker(name, size=size, group="letter")(make)


for _name, _strokes in CAPITALS.items():
    _register(
        f"letter {_name}",
        _strokes,
        (WIDTHS[_name], HEIGHTS.get(_name, CAPITAL_HEIGHT), THICKNESSES.get(_name, THICKNESS)),
    )
_register("letter t", _small_t, (0.08, 0.08, 0.04))  # VLMbench
