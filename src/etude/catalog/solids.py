"""Primitive solids: blocks, round things, wedges, and the plain parts that fixtures are built of.

VIMA: block (0.07³, shorter block 0.07 × 0.07 × 0.03, small block 0.03³) and pallet. ClevrSkills: cube and cylinder at 0.1 × 0.1 × 0.05.
VLMbench: cube 0.0418³, cylinder ⌀0.0455 × 0.0418. RoboHiMan: cube 0.032³, dirt 0.01³.
Box, panel, board, rod and rounded box serve tables, drawers, cupboards and doors.
"""

from __future__ import annotations

import math

import numpy as np

from etude import arithmetic
from etude.catalog.drawing import Drawing, bar, polygon, together
from etude.catalog.extrusion import bevel_for, extruded, raised, tipped
from etude.catalog.mesh import Mesh, box, capsule, chamfered_box, cylinder, ellipsoid, facets, lathe, merge, prism, turned
from etude.catalog.polygon import Outline, rectangle, rounded
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Piece, Shape, box_piece, cylinder_piece, hull_piece, ring_pieces
from etude.pose import Array, Quat, Vec3

SEGMENTS = 24  # around a lathe; a multiple of four keeps the extents along x and y exact
TUBE_WALL = 0.003


def is_round(x: float, y: float) -> bool:
    """Are two extents those of a circle?"""
    return abs(x - y) < 1e-9


def stretched(mesh: Mesh, pieces: tuple[Piece, ...], x: float, y: float) -> tuple[Mesh, tuple[Piece, ...]]:
    """A thing turned on the lathe with radius 0.5·√(xy), stretched to the extents x and y; round pieces become hulls."""
    if is_round(x, y):
        return mesh, pieces
    factors = np.array([math.sqrt(x / y), math.sqrt(y / x), 1.0])
    return mesh.scaled(factors), tuple(hull_piece(p.support() * factors) for p in pieces)


def _turns(x: float, y: float, square: int = 0) -> int:
    """Symmetry about z of something whose plan has these extents: ``square`` if they are equal, else two."""
    return square if is_round(x, y) else 2


# ------------------------------------------------------------------------------------------------ blocks


@shape_maker("cube", size=(0.05, 0.05, 0.05), group="primitive")
@shape_maker("block", size=(0.07, 0.07, 0.07), group="primitive")
@shape_maker("board", size=(0.3, 0.2, 0.02), group="primitive")
def block(size: Vec3) -> Shape:
    x, y, _ = size
    return Shape("", chamfered_box(size, bevel_for(size)), (box_piece(size),), _turns(x, y, 4))


@shape_maker("box", size=(0.1, 0.1, 0.1), group="primitive")
@shape_maker("panel", size=(0.3, 0.2, 0.006), group="primitive")
def sharp_box(size: Vec3) -> Shape:
    """A cuboid with sharp edges: neighbours can be put together without seams."""
    x, y, _ = size
    return Shape("", box(size), (box_piece(size),), _turns(x, y, 4))


@shape_maker("rounded box", size=(0.1, 0.06, 0.04), group="primitive")
def rounded_box(size: Vec3) -> Shape:
    """Its four upright edges rounded off, as on a piece of soap or a phone."""
    x, y, z = size
    ring = rounded(rectangle(x, y), min(0.012, 0.3 * min(x, y)), steps=3)
    mesh = prism(Outline.of(ring), z, bevel=min(0.1 * z, 0.0025))
    return Shape("", mesh, (raised(ring, z),), _turns(x, y, 4))


@shape_maker("step block", size=(0.09, 0.06, 0.06), group="primitive")
def step_block(size: Vec3) -> Shape:
    """Three steps going up towards +x."""
    steps = [bar(k / 3, 0, 1, (k + 1) / 3) for k in range(3)]
    shape = _tipped(together(steps), size)
    return Shape("", shape.mesh, shape.pieces, 1)


@shape_maker("wedge", size=(0.09, 0.06, 0.05), group="primitive")
def wedge(size: Vec3) -> Shape:
    """A ramp going up towards +x."""
    shape = _tipped(polygon([(0, 0), (1, 0), (1, 1)]), size)
    return Shape("", shape.mesh, shape.pieces, 1)


@shape_maker("arch", size=(0.12, 0.04, 0.08), group="primitive")
def arch(size: Vec3) -> Shape:
    """A bridge over a half-round opening, seen from the front (−y)."""
    radius, spring = 0.32, 0.28  # of the opening, in units of the width; the drawing is two thirds as high as wide
    top = 2 / 3
    t = np.linspace(0, math.pi, 11)
    vault = np.array([0.5, spring]) + radius * arithmetic.circle(t)
    outline = Outline.of([(0, 0), (0.5 - radius, 0), *vault[::-1], (0.5 + radius, 0), (1, 0), (1, top), (0, top)])
    parts: list[Array] = [bar(0, 0, 0.5 - radius, top).parts[0], bar(0.5 + radius, 0, 1, top).parts[0]]  # type: ignore[list-item]
    for k in (0, 2, 4, 6, 8):  # two edges of the vault to a part
        (x0, y0), (x1, y1) = vault[k + 2], vault[k]
        parts.append(np.array([(x0, y0), (x1, y1), (x1, top), (x0, top)]))
    shape = _tipped(Drawing(outline, tuple(parts)), size)
    return Shape("", shape.mesh, shape.pieces, 2)


def _tipped(drawing: Drawing, size: Vec3) -> Shape:
    """A drawing of the front view, made ``size[1]`` deep."""
    lying = extruded(drawing, (size[0], size[2], size[1]))
    mesh, pieces = tipped(lying.mesh, lying.pieces)
    return Shape("", mesh, pieces)


@shape_maker("pyramid", size=(0.08, 0.08, 0.07), group="primitive")
def pyramid(size: Vec3) -> Shape:
    x, y, z = size
    base = np.column_stack([rectangle(x, y), np.full(4, -z / 2)])
    tip = np.array([0.0, 0.0, z / 2])
    mesh = facets([base[::-1], *([base[i], base[(i + 1) % 4], tip] for i in range(4))])
    return Shape("", mesh, (hull_piece(np.vstack([base, tip])),), _turns(x, y, 4))


@shape_maker("pallet", size=(0.21, 0.175, 0.026), group="primitive")
def pallet(size: Vec3) -> Shape:
    """VIMA's base: seven deck boards over three runners and three ground boards. The gaps are too narrow to matter to collisions."""
    x, y, z = size
    deck, ground, gap, runner = 0.25 * z, 0.2 * z, min(0.0028, 0.02 * x), 0.12 * y
    width = (x - 6 * gap) / 7
    top, bottom = (z - deck) / 2, (ground - z) / 2
    deck_boards = [((width, y, deck), ((k - 3) * (width + gap), 0.0, top)) for k in range(7)]
    ground_boards = [((1.4 * width, y, ground), (k * (x - 1.4 * width) / 2, 0.0, bottom)) for k in (-1, 0, 1)]
    rise = z - deck - ground
    runners = [((x, runner, rise), (0.0, k * (y - runner) / 2, (ground - deck) / 2)) for k in (-1, 0, 1)]
    mesh = merge(box(s, p) for s, p in (*deck_boards, *ground_boards, *runners))
    pieces = (box_piece((x, y, deck), (0.0, 0.0, top)), *(box_piece(s, p) for s, p in (*ground_boards, *runners)))
    return Shape("", mesh, pieces, 2)


# ------------------------------------------------------------------------------------------------ round things


@shape_maker("cylinder", size=(0.05, 0.05, 0.06), group="primitive")
def upright_cylinder(size: Vec3) -> Shape:
    x, y, z = size
    radius = math.sqrt(x * y) / 2
    mesh, pieces = stretched(cylinder(radius, z, SEGMENTS, bevel_for(size)), (cylinder_piece(radius, z),), x, y)
    return Shape("", mesh, pieces, _turns(x, y))


@shape_maker("sphere", size=(0.06, 0.06, 0.06), group="primitive")
def sphere(size: Vec3) -> Shape:
    x, y, z = (v / 2 for v in size)
    kind = Piece("sphere", (x, 0.0, 0.0)) if is_round(x, y) and is_round(x, z) else Piece("ellipsoid", (x, y, z))
    return Shape("", ellipsoid((x, y, z), 16), (kind,), _turns(x, y))


@shape_maker("hemisphere", size=(0.08, 0.08, 0.04), group="primitive")
def hemisphere(size: Vec3) -> Shape:
    """A dome on its flat side."""
    x, y, z = size
    radius = math.sqrt(x * y) / 2
    rise = np.linspace(0, math.pi / 2, 6)
    dome = [(radius * math.cos(t), z * math.sin(t) - z / 2) for t in rise[:-1]]
    profile = np.array([(0.0, -z / 2), *dome, (0.0, z / 2)])
    solid = lathe(profile, 20)
    mesh, pieces = stretched(solid, (hull_piece(solid.vertices),), x, y)
    return Shape("", mesh, pieces, _turns(x, y))


@shape_maker("cone", size=(0.07, 0.07, 0.08), group="primitive")
def cone(size: Vec3) -> Shape:
    x, y, z = size
    radius = math.sqrt(x * y) / 2
    solid = lathe([(0, -z / 2), (radius, -z / 2), (0, z / 2)], SEGMENTS)
    mesh, pieces = stretched(solid, (hull_piece(solid.vertices),), x, y)
    return Shape("", mesh, pieces, _turns(x, y))


@shape_maker("frustum", size=(0.07, 0.07, 0.06), group="primitive")
def frustum(size: Vec3) -> Shape:
    """A cone cut off at half its width."""
    x, y, z = size
    radius = math.sqrt(x * y) / 2
    solid = cylinder(radius, z, SEGMENTS, top_radius=0.5 * radius)
    mesh, pieces = stretched(solid, (hull_piece(solid.vertices),), x, y)
    return Shape("", mesh, pieces, _turns(x, y))


@shape_maker("tube", size=(0.05, 0.05, 0.08), group="primitive")
def tube(size: Vec3) -> Shape:
    """An upright pipe, open at both ends, its wall 3 mm thick."""
    x, y, z = size
    outer = math.sqrt(x * y) / 2
    inner = outer - min(TUBE_WALL, 0.4 * outer)
    solid = lathe([(outer, -z / 2), (outer, z / 2), (inner, z / 2), (inner, -z / 2), (outer, -z / 2)], SEGMENTS)
    mesh, pieces = stretched(solid, ring_pieces(outer, inner, z), x, y)
    return Shape("", mesh, pieces, _turns(x, y))


@shape_maker("rod", size=(0.2, 0.02, 0.02), group="primitive")
def rod(size: Vec3) -> Shape:
    """A round bar lying along x."""
    x, y, z = size
    radius = math.sqrt(y * z) / 2
    return _lying(cylinder(radius, x, 16, min(0.001, 0.1 * radius)), cylinder_piece(radius, x), size)


@shape_maker("capsule", size=(0.1, 0.04, 0.04), group="primitive")
def lying_capsule(size: Vec3) -> Shape:
    """A bar with round ends lying along x."""
    x, y, z = size
    radius = math.sqrt(y * z) / 2
    if x <= 2 * radius:
        return sphere(size)
    return _lying(capsule(radius, x - 2 * radius, 12), Piece("capsule", (radius, x / 2 - radius, 0.0)), size)


def _lying(mesh: Mesh, piece: Piece, size: Vec3) -> Shape:
    """Something turned about z, laid along x and stretched to the extents y and z."""
    _, y, z = size
    along: Quat = turned("x")
    laid, round_piece = mesh.moved(rotation=along), piece.moved((0.0, 0.0, 0.0), along)
    if not is_round(y, z):
        factors = np.array([1.0, math.sqrt(y / z), math.sqrt(z / y)])
        laid, round_piece = laid.scaled(factors), hull_piece(round_piece.support() * factors)
    return Shape("", laid, (round_piece,), 2)
