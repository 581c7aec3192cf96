"""Flat shapes: extruded outlines that lie on their face.

VIMA's toys (its drawn sizes are the defaults), ClevrSkills' prisms and assembling kit (0.1 × 0.1 × 0.05 and 0.1 × 0.1 × 0.025), VLMbench's
sorter pieces (0.04 to 0.08) and wipe areas (1 mm thick) are the same outlines at other sizes. Where a suite's word differs from ours:

====================  =====================================================================================
VIMA                  round = disc; block and shorter block are in :mod:`etude.catalog.solids`
ClevrSkills           prism "star" = six-pointed star, kit "five-pointed star" = star, kit "square" = solid square
VLMbench              planes: rectangle, disc, star, triangle, cross, flower, 0.001 thick
====================  =====================================================================================
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from etude import arithmetic
from etude.arithmetic import norm
from etude.catalog.drawing import Drawing, arc, bar, disc, polygon, together
from etude.catalog.extrusion import enter_drawing
from etude.catalog.mesh import prism
from etude.catalog.polygon import Outline, circle, hull, rectangle
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Shape, box_piece
from etude.pose import Array, Vec3

KIT = (0.1, 0.1, 0.025)  # ClevrSkills
TOY = (0.096, 0.096, 0.0291)
STRIP = 0.04  # VIMA's square and three-sided rectangle
FRAME_BAR = 0.009  # VIMA: 180 outer, 162 inner


def _star(points: int) -> Array:
    """A star of outer radius 1 and inner radius a half, first tip at +x."""
    ring = circle(1.0, 2 * points)
    ring[1::2] *= 0.5
    return ring


def five_points() -> Array:
    """The corners (10, 2) of a five-pointed star, first tip at +x; inner radius half the outer one (VIMA)."""
    return _star(5)


def _six_pointed_star() -> Drawing:
    """ClevrSkills' prism: tips at ±x."""
    ring = _star(6)
    beams = tuple(hull(ring[[k - 1, k, k + 1, k + 5, (k + 6) % 12, (k + 7) % 12]]) for k in (0, 2, 4))  # from tip to opposite tip
    return Drawing(Outline.of(ring), beams)


def _flower() -> Drawing:
    """Four petals: half discs on the sides of a square, so that the radius runs from 7.07 to 10 (VIMA)."""
    return together([bar(-0.5, -0.5, 0.5, 0.5), *(disc(x, y, 0.5) for x, y in ((0.5, 0), (0, 0.5), (-0.5, 0), (0, -0.5)))])


def _four_bubbles() -> Drawing:
    """Four round corners pressed together."""
    return together([bar(-0.4, -0.4, 0.4, 0.4), *(disc(x, y, 0.56) for x in (-0.44, 0.44) for y in (-0.44, 0.44))])


def _heart() -> Drawing:
    """Tip at −y. Each half is convex: a lobe whose tangent runs to the tip."""
    radius, middle, tip = 0.54, 0.46, -1.28
    notch = math.acos(-middle / radius)  # where the lobe meets the axis
    leave = math.atan2(tip, -middle) + math.acos(radius / norm((middle, tip)))  # where its tangent starts
    t = np.linspace(notch, leave, 13)
    right = np.vstack([np.array([middle, 0.0]) + radius * arithmetic.circle(t), [(0.0, tip)]])
    right[0, 0] = 0.0
    left = right[-2:0:-1] * [-1, 1]
    whole = np.vstack([right, left])
    return Drawing(Outline.of(whole), (hull(right), hull(right * [-1, 1])))


def crescent(outer_corners: int = 14, inner_corners: int = 9) -> Drawing:
    """A crescent with blunt horns at ±x, open towards +y."""
    outside = np.radians(np.linspace(172, 368, outer_corners))
    outer = 0.5 * arithmetic.circle(outside)
    radius, middle = 0.52, 0.30
    span = math.asin(0.43 / radius)

    def inner(shares: Array) -> Array:
        angle = -math.pi / 2 + span * (1 - 2 * shares)
        return np.asarray(radius * arithmetic.circle(angle) + np.array([0.0, middle]))

    parts = []
    share, step = np.linspace(0, 1, outer_corners, retstep=True)
    for low, high in itertools.pairwise(np.linspace(0, 1, 5)):
        within = (share > low - step) & (share < high + step)
        parts.append(hull(np.vstack([outer[within], inner(1 - np.array([low, high]))])))
    return Drawing(Outline.of(np.vstack([outer, inner(np.linspace(0, 1, inner_corners))])), tuple(parts))


enter_drawing("triangle", TOY, lambda: polygon([(-1, 1), (0, -1), (1, 1)]))  # VIMA's stands on its tip: the base is at +y
enter_drawing(
    "triangular prism", (0.0456, 0.0395, 0.0392), lambda: polygon(circle(1.0, 3, math.pi / 2))
)  # equilateral (VLMbench), tip at +y
enter_drawing("rectangle", (0.1, 0.06, 0.025), lambda: polygon(rectangle(1, 1)))
enter_drawing("solid square", KIT, lambda: polygon(rectangle(1, 1)))
enter_drawing("line", (0.25, 0.04, 0.001), lambda: polygon(rectangle(1, 1)), "zone")
enter_drawing("diamond", (0.12, 0.096, 0.0291), lambda: polygon(circle(1.0, 4)))
enter_drawing("pentagon", (0.1029, 0.0978, 0.0328), lambda: polygon(circle(1.0, 5, -math.pi / 2)))  # tip at −y, as VIMA draws it
enter_drawing("hexagon", (0.0935, 0.108, 0.0327), lambda: polygon(circle(1.0, 6, math.pi / 2)))  # tips at ±y
enter_drawing("star", (0.1036, 0.1089, 0.0327), lambda: polygon(five_points()))
enter_drawing("six-pointed star", (0.1, 0.1, 0.05), _six_pointed_star)
enter_drawing("cross", TOY, lambda: together([bar(-2, -1, 2, 1), bar(-1, -2, 1, 2)]))  # arms half as wide as the whole (VIMA)
enter_drawing("plus", KIT, lambda: together([bar(-3, -1, 3, 1), bar(-1, -3, 1, 3)]))  # a cross with slender arms
enter_drawing("L-shaped block", TOY, lambda: together([bar(-10, -10, 10, -4), bar(-10, -10, -4, 10)]))  # both legs 6 wide of 20 (VIMA)
enter_drawing("disc", TOY, lambda: disc(0, 0, 1))
enter_drawing("ring", TOY, lambda: arc((0, 0), (0.5, 0.5), (0.2115, 0.2115)))  # hole 4.23 of 10 (VIMA)
enter_drawing("flower", (0.108, 0.108, 0.0327), _flower)
enter_drawing("four bubbles", KIT, _four_bubbles)
enter_drawing("heart", (0.1034, 0.095, 0.0327), _heart)
enter_drawing("moon", (0.0603, 0.0348, 0.0388), crescent)  # horns towards +y (VLMbench)


# ------------------------------------------------------------------------------------------------ zones


def _strips(size: Vec3, strip: float, closed: bool = True) -> Shape:
    """Flat strips of fixed width along the sides of a rectangle; open towards +y unless ``closed``."""
    x, y, z = size
    w = min(strip, 0.3 * x, 0.3 * y)
    outer = rectangle(x, y)
    if closed:
        outline = Outline.of(outer, rectangle(x - 2 * w, y - 2 * w))
    else:
        inner = [(x / 2 - w, y / 2), (x / 2 - w, w - y / 2), (w - x / 2, w - y / 2), (w - x / 2, y / 2)]
        outline = Outline.of([outer[3], outer[0], outer[1], outer[2], *inner])
    tall, shift = (y - 2 * w, 0.0) if closed else (y - w, w / 2)
    pieces = [
        box_piece((w, tall, z), ((w - x) / 2, shift, 0.0)),
        box_piece((w, tall, z), ((x - w) / 2, shift, 0.0)),
        box_piece((x, w, z), (0.0, (w - y) / 2, 0.0)),
    ]
    if closed:
        pieces.append(box_piece((x, w, z), (0.0, (y - w) / 2, 0.0)))
    symmetry = 1 if not closed else 4 if abs(x - y) < 1e-9 else 2
    return Shape("", prism(outline, z), tuple(pieces), symmetry)


# VIMA's base "square": four 40 mm strips centred on the sides of a 200 mm square.
shape_maker("square", size=(0.24, 0.24, 0.001), group="zone")(lambda size: _strips(size, STRIP))
# VIMA's frame, also called "zone": 9 mm bars.
shape_maker("frame", size=(0.18, 0.18, 0.0015), group="zone")(lambda size: _strips(size, FRAME_BAR))
# VIMA's sweep zone, open towards +y.
shape_maker("three-sided rectangle", size=(0.2, 0.2, 0.001), group="zone")(lambda size: _strips(size, STRIP, closed=False))
