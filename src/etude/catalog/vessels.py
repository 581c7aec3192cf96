"""Things to put things into: open boxes, bowls, plates, pans, cups. Really hollow, with walls whose thickness does not stretch.

VIMA: container (its usual size here), bowl, pan. ClevrSkills: bowl ⌀0.159 × 0.053, plate ⌀0.258 × 0.024. VLMbench: box container.
The cavity of a round vessel is the largest upright box over its floor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from etude.catalog.mesh import Mesh, chamfered_box, facets, lathe, merge
from etude.catalog.polygon import rectangle
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Piece, Shape, box_piece, cylinder_piece, hull_piece
from etude.catalog.solids import SEGMENTS, is_round, stretched
from etude.pose import Array, Vec2, Vec3

Cavity = tuple[Vec3, Vec3]
GLAZED = 1200.0  # kg/m³, between wood and stoneware
SHEET = 1500.0  # of pans, whose walls are drawn thicker than sheet metal is


# ------------------------------------------------------------------------------------------------ open boxes


def _open_box(size: Vec3, wall: float, floor: float) -> tuple[Mesh, tuple[Piece, ...], Cavity]:
    """A box without a lid: mesh, five box pieces and the cavity."""
    x, y, z = size
    w, f = min(wall, 0.2 * x, 0.2 * y), min(floor, 0.4 * z)
    outer, inner = rectangle(x, y), rectangle(x - 2 * w, y - 2 * w)

    def level(ring: Array, height: float) -> Array:
        return np.column_stack([ring, np.full(len(ring), height)])

    low, rim, lip, ground = level(outer, -z / 2), level(outer, z / 2), level(inner, z / 2), level(inner, f - z / 2)
    faces: list[Sequence[Array] | Array] = [low[::-1], ground]
    for i in range(4):
        j = (i + 1) % 4
        faces += [[low[i], low[j], rim[j], rim[i]], [rim[i], rim[j], lip[j], lip[i]], [lip[i], lip[j], ground[j], ground[i]]]
    rise, middle = z - f, f / 2
    pieces = (
        box_piece((x, y, f), (0.0, 0.0, (f - z) / 2)),
        *(box_piece((x, w, rise), (0.0, s * (y - w) / 2, middle)) for s in (-1, 1)),
        *(box_piece((w, y - 2 * w, rise), (s * (x - w) / 2, 0.0, middle)) for s in (-1, 1)),
    )
    cavity = ((w - x / 2, w - y / 2, f - z / 2), (x / 2 - w, y / 2 - w, z / 2))
    return facets(np.array(p) for p in faces), pieces, cavity


def walled_box(size: Vec3, wall: float, floor: float, density: float = 900.0) -> Shape:
    """A box without a lid."""
    mesh, pieces, cavity = _open_box(size, wall, floor)
    return Shape("", mesh, pieces, 4 if is_round(size[0], size[1]) else 2, density, cavity=cavity)


# VIMA's open box: walls and floor 2 mm.
shape_maker("container", size=(0.16, 0.16, 0.0455), group="vessel")(lambda size: walled_box(size, 0.002, 0.002))
# VLMbench's open box: walls and floor 1.5 mm.
shape_maker("box container", size=(0.2, 0.125, 0.05), group="vessel")(lambda size: walled_box(size, 0.0015, 0.0015))
# A low open box with walls of 6 mm.
shape_maker("tray", size=(0.3, 0.2, 0.03), group="vessel")(lambda size: walled_box(size, 0.006, 0.005, 600.0))
# A deep open box of 8 mm boards.
shape_maker("crate", size=(0.2, 0.15, 0.1), group="vessel")(lambda size: walled_box(size, 0.008, 0.006, 500.0))


# ------------------------------------------------------------------------------------------------ round vessels


def wall_sectors(inner: Sequence[Vec2], outer: Sequence[Vec2], sectors: int) -> tuple[Piece, ...]:
    """The wall between two profiles of (radius, z), inner and outer, as convex sectors around z.

    The flat inner sides stray as far into the vessel as their ends stay out of it; the outer sides have two facets to a sector.
    """
    half = math.pi / sectors
    swell = 2 / (1 + math.cos(half))
    pieces = []
    for k in range(sectors):
        points = [
            (r * f * math.cos(2 * half * (k + s)), r * f * math.sin(2 * half * (k + s)), z)
            for profile, f, stops in ((inner, swell, (0.0, 1.0)), (outer, 1.0, (0.0, 0.5, 1.0)))
            for r, z in profile
            for s in stops
        ]
        pieces.append(hull_piece(points))
    return tuple(pieces)


def _within(radius: float, low: float, high: float, x: float, y: float) -> Cavity:
    """The upright box inside a round vessel stretched to the extents x and y."""
    a, b = (radius * math.sqrt(0.5) * f for f in (math.sqrt(x / y), math.sqrt(y / x)))
    return ((-a, -b, low), (a, b, high))


@shape_maker("bowl", size=(0.2, 0.2, 0.069), group="vessel")
def bowl(size: Vec3) -> Shape:
    """A flat floor, and a wall that steepens in three steps; 4 mm thick."""
    x, y, z = size
    r = math.sqrt(x * y) / 2
    t = min(0.004, 0.08 * r, 0.2 * z)
    outside = [(0.46 * r, 0.0), (0.78 * r, 0.3 * z), (0.908 * r, 0.63 * z), (r, z)]
    inside = [(0.46 * r, t), (0.78 * r - 0.6 * t, 0.3 * z + 0.8 * t), (0.908 * r - 0.85 * t, 0.63 * z + 0.4 * t), (r - t, z)]
    outside, inside = ([(a, b - z / 2) for a, b in p] for p in (outside, inside))
    profile = [(0.0, -z / 2), *outside, *inside[::-1], (0.0, t - z / 2)]
    floor = cylinder_piece(0.47 * r, t, (0.0, 0.0, (t - z) / 2))
    pieces = (floor, *wall_sectors(inside[:2], outside[:2], 12), *wall_sectors([inside[1], inside[3]], outside[1:], 14))
    mesh, stretched_pieces = stretched(lathe(profile, 28), pieces, x, y)
    return _vessel(mesh, stretched_pieces, size, _within(0.46 * r, t - z / 2, z / 2, x, y))


@shape_maker("plate", size=(0.258, 0.258, 0.024), group="vessel")
def plate(size: Vec3) -> Shape:
    """A flat floor and a wide rising rim, 4 mm thick (the size of ClevrSkills' plate)."""
    x, y, z = size
    r = math.sqrt(x * y) / 2
    t = min(0.004, 0.25 * z, 0.1 * r)
    outside = [(0.6 * r, -z / 2), (r, z / 2 - 0.5 * t), (r, z / 2)]
    inside = [(0.6 * r, t - z / 2), (0.6 * r + min(0.2 * z, 0.06 * r), t - 0.22 * z), (0.985 * r, z / 2)]
    profile = [(0.0, -z / 2), *outside, *inside[::-1], (0.0, t - z / 2)]
    floor = cylinder_piece(0.6 * r, t, (0.0, 0.0, (t - z) / 2))
    rim = wall_sectors(inside, outside, 14)
    mesh, pieces = stretched(lathe(profile, 28), (floor, *rim), x, y)
    return _vessel(mesh, pieces, size, _within(0.6 * r, t - z / 2, z / 2, x, y))


def beaker(size: Vec3, foot: float, wall: float, floor: float) -> Shape:
    """A round vessel with a straight wall that leans outwards from ``foot`` (a share of the radius)."""
    x, y, z = size
    r = math.sqrt(x * y) / 2
    t, f = min(wall, 0.2 * r), min(floor, 0.3 * z)
    b = foot * r
    lean = (r - b) / z
    outside = [(b, -z / 2), (r, z / 2)]
    inside = [(b - t + lean * f, f - z / 2), (r - t, z / 2)]
    profile = [(0.0, -z / 2), *outside, *inside[::-1], (0.0, f - z / 2)]
    base = cylinder_piece(b, f, (0.0, 0.0, (f - z) / 2))
    sides = wall_sectors(inside, [(b + lean * f, f - z / 2), (r, z / 2)], 12 if r < 0.07 else 14)
    mesh, pieces = stretched(lathe(profile, SEGMENTS), (base, *sides), x, y)
    return _vessel(mesh, pieces, size, _within(inside[0][0], f - z / 2, z / 2, x, y))


# A beaker without a handle, its wall 2.5 mm thick.
shape_maker("cup", size=(0.07, 0.07, 0.09), group="vessel")(lambda size: beaker(size, 0.74, 0.0025, 0.004))
# A deep round vessel with walls of 3 mm.
shape_maker("bucket", size=(0.16, 0.16, 0.15), group="vessel")(lambda size: beaker(size, 0.8, 0.003, 0.004))
# A low tub with upright walls of 2.5 mm.
shape_maker("round container", size=(0.14, 0.14, 0.05), group="vessel")(lambda size: beaker(size, 1.0, 0.0025, 0.0025))


@shape_maker("pan", size=(0.293, 0.169, 0.041), group="vessel")
def pan(size: Vec3) -> Shape:
    """A frying pan; its handle points to +x and takes up what the width leaves of the length (VIMA's drawn size)."""
    x, y, z = size
    length = min(y, 0.75 * x)  # of the round part
    body = beaker((length, y, z), 0.86, 0.003, 0.004)
    shift = ((length - x) / 2, 0.0, 0.0)
    thick, wide = min(0.012, 0.4 * z), min(0.024, 0.3 * y)
    start, end = shift[0] + length / 2 - 0.003, x / 2
    grip = (end - start, wide, thick)
    place = ((start + end) / 2, 0.0, 0.4 * z - thick / 2)
    mesh = merge([body.mesh.moved(shift), chamfered_box(grip, 0.25 * thick).moved(place)])
    pieces = (*(p.moved(shift) for p in body.pieces), box_piece(grip, place))
    ((x0, y0, z0), (x1, y1, z1)) = body.cavity or ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    cavity = ((x0 + shift[0], y0, z0), (x1 + shift[0], y1, z1))
    return Shape("", mesh, pieces, 1, SHEET, cavity=cavity)


def _vessel(mesh: Mesh, pieces: tuple[Piece, ...], size: Vec3, cavity: Cavity) -> Shape:
    return Shape("", mesh, pieces, 0 if is_round(size[0], size[1]) else 2, GLAZED, cavity=cavity)
