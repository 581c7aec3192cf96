"""VLMbench's shape sorter: a deep box, and a lid with a hole for each of five pieces.

The two are separate shapes, so that they can have different colours: the lid lies on the rim of the box, overlapping it all round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from etude.arithmetic import product
from etude.catalog.flat import crescent, five_points
from etude.catalog.mesh import facets, merge, prism
from etude.catalog.polygon import Outline, circle, convex_pieces, grown, rectangle
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Shape, hull_piece, prism_piece
from etude.catalog.vessels import walled_box
from etude.pose import Array, Vec2, Vec3

BOX, LID = (0.2137, 0.2137, 0.1974), (0.24, 0.24, 0.0144)


@dataclass(frozen=True)
class Hole:
    """Where a piece of the catalogue goes in: relative to the middle of the lid, at the lid's usual size.

    ``room`` is what there is on every side of the piece; ``funnel`` how much more at the upper side of the lid, from where it narrows.
    """

    shape: str
    size: Vec2  # of the piece, along x and y
    position: Vec2
    yaw: float
    room: float
    funnel: float = 0.0


# Positions and yaws are VLMbench's goal frames (the moon's moved away from the walls of the box), sizes those of its pieces. Its holes have
# more room, so that upright pieces pass wrong ones too; here they do not: a square with 1.1 mm more on every side would pass the triangle.
HOLES = (
    Hole("cube", (0.0418, 0.0418), (-0.0605, 0.0584), 0.0, 0.001, 0.003),
    Hole("cylinder", (0.0455, 0.0455), (-0.0605, -0.0606), 0.0, 0.003),
    Hole("triangular prism", (0.0456, 0.0395), (0.0521, 0.0743), math.radians(60), 0.003),
    Hole("moon", (0.0603, 0.0348), (0.0511, -0.0517), math.radians(-134.7), 0.003),
    Hole("star", (0.0517, 0.0547), (0.0006, 0.0024), math.radians(-37), 0.003),
)
THROAT = 0.7  # of the thickness of the lid: what is below a funnel


def _outline(hole: Hole, room: float) -> Array:
    width, depth = hole.size
    rings = {
        "cube": rectangle(1, 1),
        "cylinder": circle(1, 12),
        "triangular prism": circle(1, 3, math.pi / 2),
        "moon": crescent(9, 5).outline.rings[0],
        "star": five_points(),
    }
    ring = grown(Outline.of(rings[hole.shape]).fitted(width, depth).rings[0], room)
    c, s = math.cos(hole.yaw), math.sin(hole.yaw)
    return product(ring, [[c, s], [-s, c]]) + hole.position


def _funnel(hole: Hole, size: Vec3) -> list[Array]:
    """The convex solids (8, 3) between the edges of a hole at its widest and at its narrowest."""
    stretch = np.array(size[:2]) / LID[:2]
    wide, tight = (_outline(hole, room) * stretch for room in (hole.room + hole.funnel, hole.room))
    bottom, top = -size[2] / 2, size[2] / 2
    throat = bottom + THROAT * size[2]
    found = []
    for i in range(len(wide)):
        j = (i + 1) % len(wide)
        corners = [(wide[i], bottom), (wide[j], bottom), (wide[i], top), (wide[j], top)]
        corners += [(tight[i], bottom), (tight[j], bottom), (tight[i], throat), (tight[j], throat)]
        found.append(np.array([(x, y, z) for (x, y), z in corners]))
    return found


def _faces(solid: Array) -> list[Array]:
    """The sides of a part of a funnel: slope, throat, below, behind, and both ends."""
    corners = ((2, 3, 7, 6), (6, 7, 5, 4), (0, 4, 5, 1), (0, 1, 3, 2), (0, 2, 6, 4), (1, 5, 7, 3))
    return [solid[list(side)] for side in corners]


@shape_maker("shape sorter lid", size=LID, group="fixture")
def sorter_lid(size: Vec3) -> Shape:
    """A square board with five holes, which stretch with it."""
    plane = Outline.of(rectangle(LID[0], LID[1]), *(_outline(h, h.room + h.funnel) for h in HOLES)).fitted(size[0], size[1])
    funnels = [solid for hole in HOLES if hole.funnel for solid in _funnel(hole, size)]
    pieces = (*(prism_piece(p, size[2]) for p in convex_pieces(plane)), *(hull_piece(solid) for solid in funnels))
    mesh = merge([prism(plane, size[2]), facets(face for solid in funnels for face in _faces(solid))])
    return Shape("", mesh, pieces, 1, 700.0)


@shape_maker("shape sorter box", size=BOX, group="fixture")
def sorter_box(size: Vec3) -> Shape:
    """Walls 12 mm, floor 6 mm."""
    return walled_box(size, 0.012, 0.006, 700.0)
