"""Plane drawings: an outline to look at and a few convex parts to touch, both made from the same strokes.

A stroke is a bar, a slanted bar, a disc or a piece of an elliptical ring. Strokes may overlap; the outline of a drawing is their union and
its parts are the convex parts of each stroke. Drawings have no unit: an extrusion stretches them to the size it is asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from etude import arithmetic
from etude.catalog.polygon import Outline, circle, convex_pieces, hull, union
from etude.pose import Array, Vec2

# Curves are drawn with this many degrees per edge; inside a bend fewer are enough.
OUTER_STEP, INNER_STEP = 18.0, 24.0
# The outer side of convex parts is finer, so that a round thing on its edge rolls instead of resting on a facet.
PART_STEP = 12.0
# How far the flat inner side of a convex part may stray from the curve it stands for, as a share of the unit of the drawing.
SLACK = 0.0115


@dataclass(frozen=True)
class Disc:
    """A round part: where its middle is, and its radius."""

    x: float
    y: float
    radius: float


Part = Array | Disc


@dataclass(frozen=True, eq=False)
class Drawing:
    """An outline and the convex parts (polygons (K, 2) or discs) whose union it is, to within :data:`SLACK`."""

    outline: Outline
    parts: tuple[Part, ...]


def polygon(corners: ArrayLike, *holes: ArrayLike) -> Drawing:
    """A figure with straight sides, cut into exact convex parts."""
    outline = Outline.of(corners, *holes)
    return Drawing(outline, tuple(convex_pieces(outline)))


def bar(x0: float, y0: float, x1: float, y1: float) -> Drawing:
    """An upright rectangle between two corners."""
    return polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def slant(start: Vec2, end: Vec2, width: float) -> Drawing:
    """A leaning bar with level ends, ``width`` measured along x; ``start`` and ``end`` are its left corners."""
    (x0, y0), (x1, y1) = start, end
    return polygon([(x0, y0), (x0 + width, y0), (x1 + width, y1), (x1, y1)])


def disc(x: float, y: float, radius: float) -> Drawing:
    """A full circle."""
    segments = round(360 / OUTER_STEP)
    return Drawing(Outline.of(circle(radius, segments) + np.array([x, y])), (Disc(x, y, radius),))


def arc(centre: Vec2, outer: Vec2, inner: Vec2, start: float = 0.0, end: float = 360.0) -> Drawing:
    """The part of an elliptical ring between two angles (degrees, counter-clockwise); ``outer`` and ``inner`` are radii along x and y."""

    def on(radii: Vec2, degrees: Array) -> Array:
        return np.asarray(centre + np.asarray(radii) * arithmetic.circle(np.radians(degrees)))

    def steps(a: float, b: float, step: float) -> Array:
        return np.linspace(a, b, max(round(abs(b - a) / step), 1) + 1)

    full = end - start >= 360 - 1e-9
    rim, bore = on(outer, steps(start, end, OUTER_STEP)), on(inner, steps(start, end, INNER_STEP))
    outline = Outline.of(rim[:-1], bore[:-1]) if full else Outline.of(np.vstack([rim, bore[::-1]]))
    widest = 2 * math.degrees(2 * math.atan(math.sqrt(SLACK / max(inner))))
    cuts = np.linspace(start, end, math.ceil((end - start) / min(widest, 120.0) - 1e-9) + 1)
    half = math.radians(cuts[1] - cuts[0]) / 2
    swell = 2 / (1 + math.cos(half))  # the chord strays as far into the bore as its ends stay out of it
    chord = (inner[0] * swell, inner[1] * swell)
    parts = [hull(np.vstack([on(outer, steps(a, b, PART_STEP)), on(chord, np.array([a, b]))])) for a, b in itertools.pairwise(cuts)]
    return Drawing(outline, tuple(parts))


def together(strokes: Sequence[Drawing]) -> Drawing:
    """Several overlapping strokes as one drawing."""
    return Drawing(union([s.outline for s in strokes]), tuple(p for s in strokes for p in s.parts))


def fitted(drawing: Drawing, width: float, depth: float) -> Drawing:
    """The drawing centred on the origin with the given extents; a disc that is stretched out of round becomes a polygon."""
    ring = drawing.outline.rings[0]
    lower, upper = ring.min(0), ring.max(0)
    middle, factors = (lower + upper) / 2, np.array([width, depth]) / (upper - lower)
    parts: list[Part] = []
    for part in drawing.parts:
        if not isinstance(part, Disc):
            parts.append((part - middle) * factors)
            continue
        x, y = ((np.array([part.x, part.y]) - middle) * factors).tolist()
        if abs(factors[0] - factors[1]) < 1e-6 * factors[0]:
            parts.append(Disc(x, y, part.radius * float(factors[0])))
        else:
            parts.append(circle(part.radius, 24) * factors + [x, y])
    return Drawing(drawing.outline.fitted(width, depth), tuple(parts))
