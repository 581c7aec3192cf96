"""Upright extrusions of plane drawings, and what can be read off their outline: symmetry."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from etude.arithmetic import product
from etude.catalog.drawing import Disc, Drawing, Part, fitted
from etude.catalog.mesh import Mesh, prism
from etude.catalog.polygon import Outline, rim_distance
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Piece, Shape, cylinder_piece, prism_piece
from etude.pose import Array, Vec3

# Nothing thinner than this gets a bevel; everything else loses this much at its rims.
THIN, BEVEL = 0.004, 0.0012
# With more corners than this only the upper rim is bevelled: the lower one is hardly ever seen.
MANY_CORNERS = 26
# A turned outline that stays within this share of the larger extent still looks the same.
SAME = 0.03


def extruded(drawing: Drawing, size: Vec3, density: float = 500.0, rough: float = SAME) -> Shape:
    """The drawing stretched to ``size[:2]`` and raised to ``size[2]``; ``rough`` is the tolerance of its symmetry."""
    plane = fitted(drawing, size[0], size[1])
    corners = sum(len(r) for r in plane.outline.rings)
    bevel = bevel_for(size)
    mesh = prism(plane.outline, size[2], bevel=bevel, lower_bevel=0.0 if corners > MANY_CORNERS else bevel)
    pieces = tuple(raised(p, size[2]) for p in plane.parts)
    return Shape("", mesh, pieces, symmetry_of(plane.outline, rough), density)


def enter_drawing(name: str, size: Vec3, draw: Callable[[], Drawing], group: str = "flat") -> None:
    """Enter the extrusion of a drawing into the catalogue, under its usual extents in metres."""
    drawn = functools.cache(draw)

    def make(wanted: Vec3) -> Shape:
        return extruded(drawn(), wanted)

    make.__module__ = draw.__module__  # whose drawing it is
    shape_maker(name, size=size, group=group)(make)


def bevel_for(size: Vec3) -> float:
    """The bevel in metres that suits a thing of this size; none on thin sheets."""
    return 0.0 if min(size) < THIN else min(BEVEL, 0.06 * min(size))


def raised(part: Part, height: float, z: float = 0.0) -> Piece:
    """An upright prism or cylinder over a convex part, its middle at height ``z``."""
    if isinstance(part, Disc):
        return cylinder_piece(part.radius, height, (part.x, part.y, z))
    return prism_piece(part, height, z)


def tipped(mesh: Mesh, pieces: tuple[Piece, ...]) -> tuple[Mesh, tuple[Piece, ...]]:
    """An extrusion tipped up about x, so that its drawing is seen from the front (−y) with its y axis upwards."""
    turn = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    return mesh.moved(rotation=turn), tuple(p.moved((0.0, 0.0, 0.0), turn) for p in pieces)


def centroid_of(outline: Outline) -> Array:
    """The middle of the area of an outline, (2,)."""
    total, moment = 0.0, np.zeros(2)
    for ring in outline.rings:
        ahead = np.roll(ring, -1, axis=0)
        cross = ring[:, 0] * ahead[:, 1] - ring[:, 1] * ahead[:, 0]
        total += float(cross.sum()) / 2
        moment += ((ring + ahead) * cross[:, None]).sum(0) / 6
    return np.asarray(moment / total)


def symmetry_of(outline: Outline, tolerance: float = SAME) -> int:
    """How many turns about its centroid leave the outline as it is: 0 if all do."""
    centre = centroid_of(outline)
    centred = Outline(tuple(r - centre for r in outline.rings))
    corners = np.concatenate(centred.rings)
    slack = tolerance * float(np.ptp(corners, axis=0).max())

    def same(angle: float) -> bool:
        c, s = math.cos(angle), math.sin(angle)
        return bool(rim_distance(centred, product(corners, [[c, s], [-s, c]])).max() <= slack)

    # No figure of the catalogue repeats at golden fractions of a turn unless it is round.
    if all(same(2 * math.pi * 0.618034 * k) for k in (1, 2, 3)):
        return 0
    return next((n for n in (8, 7, 6, 5, 4, 3, 2) if same(2 * math.pi / n)), 1)
