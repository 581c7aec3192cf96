"""VLMbench's shape sorter: a deep box, and a lid with a hole for each of five pieces.

The two are separate shapes, so that they can have different colours: the lid lies on the rim of the box, overlapping it all round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from etude.catalog.flat import crescent, five_points
from etude.catalog.mesh import prism
from etude.catalog.polygon import Outline, circle, convex_pieces, grown, rectangle
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Shape, prism_piece
from etude.catalog.vessels import walled_box
from etude.pose import Array, Vec2, Vec3

BOX, LID = (0.2137, 0.2137, 0.1974), (0.24, 0.24, 0.0144)


@dataclass(frozen=True)
class Hole:
    """Where a piece of the catalogue goes in: relative to the middle of the lid, at the lid's usual size."""

    shape: str
    size: Vec2  # of the piece, along x and y
    position: Vec2
    yaw: float
    room: float  # on every side of the piece


# Positions and yaws are VLMbench's goal frames, moved a little where holes would meet; sizes those of its pieces.
HOLES = (
    Hole("cube", (0.0418, 0.0418), (-0.0605, 0.0584), 0.0, 0.007),
    Hole("cylinder", (0.0455, 0.0455), (-0.0605, -0.0606), 0.0, 0.01),
    Hole("triangular prism", (0.0456, 0.0395), (0.0521, 0.0643), math.radians(60), 0.005),
    Hole("moon", (0.0603, 0.0348), (0.0601, -0.0607), math.radians(-134.7), 0.006),
    Hole("star", (0.0517, 0.0547), (0.0006, 0.0024), math.radians(-37), 0.005),
)


def _outline(hole: Hole) -> Array:
    width, depth = hole.size
    rings = {
        "cube": rectangle(1, 1),
        "cylinder": circle(1, 12),
        "triangular prism": circle(1, 3, math.pi / 2),
        "moon": crescent(9, 5).outline.rings[0],
        "star": five_points(),
    }
    ring = grown(Outline.of(rings[hole.shape]).fitted(width, depth).rings[0], hole.room)
    c, s = math.cos(hole.yaw), math.sin(hole.yaw)
    return np.asarray(ring @ np.array([[c, s], [-s, c]]) + hole.position)


@shape_maker("shape sorter lid", size=LID, group="fixture")
def sorter_lid(size: Vec3) -> Shape:
    """A square board with five holes, which stretch with it."""
    plane = Outline.of(rectangle(LID[0], LID[1]), *(_outline(h) for h in HOLES)).fitted(size[0], size[1])
    pieces = tuple(prism_piece(p, size[2]) for p in convex_pieces(plane))
    return Shape("", prism(plane, size[2]), pieces, 1, 700.0)


@shape_maker("shape sorter box", size=BOX, group="fixture")
def sorter_box(size: Vec3) -> Shape:
    """Walls 12 mm, floor 6 mm."""
    return walled_box(size, 0.012, 0.006, 700.0)
