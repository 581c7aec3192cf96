"""Round things to put something into: bowl, plate, nested cups, pitcher and mugs."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from etude.arithmetic import circle, power
from etude.catalog.household.forms import HouseholdModel, convex, household, hull_of, rod
from etude.catalog.mesh import lathe
from etude.catalog.shape import Piece, cylinder_piece
from etude.pose import Vec2

Profile = Sequence[Vec2]


def vessel(outside: Profile, inside: Profile, sectors: int = 12, segments: int = 24) -> HouseholdModel:
    """A lathed vessel standing on z = 0: (radius, z) points outside from foot to rim, inside from rim to the middle of the floor.

    The wall is touched as convex sectors, straight from the edge of the floor to the rim on the inside; the floor as one cylinder.
    """
    mesh = lathe([(0.0, outside[0][1]), *outside, *inside], segments)
    floor = inside[-1][1]
    rim, corner = inside[0], inside[-2]
    pieces: list[Piece] = [cylinder_piece(outside[0][0], floor, (0.0, 0.0, floor / 2))]
    for k in range(sectors):
        angle = np.linspace(k, k + 1, 3) * (2 * math.pi / sectors)
        ring = circle(angle)
        shell = [np.column_stack([r * ring, np.full(3, z)]) for r, z in outside]
        lining = [np.column_stack([r * ring[[0, 2]], np.full(2, z)]) for r, z in (rim, corner)]
        pieces.append(hull_of(np.vstack(shell + lining)))
    half = min(rim[0], corner[0], outside[0][0]) * math.cos(math.pi / sectors) / math.sqrt(2)
    return HouseholdModel(mesh, tuple(pieces), ((-half, -half, floor), (half, half, rim[1])))


def handle(reach: float, low: Vec2, high: Vec2, thickness: float, squareness: float = 0.5) -> HouseholdModel:
    """An ear along +x out to ``reach``, from one point (radius, z) of the wall to another; touched as two arms and a grip."""
    turn = np.radians(np.linspace(-90, 90, 9))
    start = np.where(turn < 0, low[0], high[0])
    bottom, top = low[1] + thickness, high[1] - thickness
    out, up = power(np.abs(circle(turn)), squareness).T
    x = start + (reach - thickness - start) * out
    z = (bottom + top) / 2 + (top - bottom) / 2 * np.sign(turn) * up
    return rod(np.column_stack([x, np.zeros_like(x), z]), thickness, cuts=(2, 6), segments=8)


# ------------------------------------------------------------------------------------------------ dishes


@household("ycb bowl", (0.159, 0.159, 0.053), "#b5323a", ycb="024", mass=0.147, symmetry=0)
def bowl() -> HouseholdModel:
    outside = [(0.036, 0.0), (0.042, 0.004), (0.060, 0.018), (0.073, 0.036), (0.0795, 0.053)]
    inside = [(0.0765, 0.053), (0.070, 0.037), (0.056, 0.0195), (0.042, 0.008), (0.0, 0.006)]
    return vessel(outside, inside)


@household("ycb plate", (0.258, 0.258, 0.024), "#c23b3f", ycb="029", mass=0.279, symmetry=0)
def plate() -> HouseholdModel:
    outside = [(0.080, 0.0), (0.088, 0.004), (0.098, 0.014), (0.129, 0.021), (0.129, 0.024)]
    inside = [(0.127, 0.024), (0.096, 0.018), (0.083, 0.0055), (0.0, 0.005)]
    return vessel(outside, inside, segments=32)


# Diameter of the rim, height (mm) and mass (g) of the ten nested cups.
CUPS = (
    ("a", 55, 60, 13, "#d83c30"), ("b", 60, 62, 14, "#f08a24"), ("c", 65, 64, 17, "#f2c72e"), ("d", 70, 66, 19, "#7fb838"),
    ("e", 75, 68, 21, "#2f9e57"), ("f", 80, 70, 26, "#2aa3b8"), ("g", 85, 72, 28, "#2f6fc4"), ("h", 90, 74, 31, "#5a4fb0"),
    ("i", 95, 76, 35, "#9a4aa8"), ("j", 100, 78, 38, "#d8528e"),
)  # fmt: skip


def _cup(rim: float, height: float) -> HouseholdModel:
    foot = 0.80 * rim
    outside = [(foot - 0.001, 0.0), (foot, 0.002), (rim - 0.0025, height - 0.006), (rim, height - 0.0055), (rim, height)]
    inside = [(rim - 0.0025, height), (foot - 0.0025, 0.003), (0.0, 0.0025)]
    return vessel(outside, inside, sectors=10, segments=20)


for _letter, _width, _height, _grams, _colour in CUPS:
    _size = (_width / 1000, _width / 1000, _height / 1000)
    household(f"cups {_letter}", _size, _colour, ycb=f"065-{_letter}", mass=_grams / 1000, symmetry=0)(
        functools.partial(_cup, _width / 2000, _height / 1000)
    )


@household("pitcher base", (0.164, 0.112, 0.235), "#3f6fb5", ycb="019", mass=0.178)
def pitcher_base() -> HouseholdModel:
    # Published: 108 across (half way up) and 235 high; lip and ear come on top.
    outside = [(0.046, 0.0), (0.049, 0.004), (0.0505, 0.06), (0.054, 0.20), (0.056, 0.235)]
    inside = [(0.0535, 0.235), (0.0515, 0.20), (0.0465, 0.006), (0.0, 0.004)]
    body = vessel(outside, inside, sectors=10, segments=20)
    spout = convex(
        [(-0.054, 0.016, 0.235), (-0.054, -0.016, 0.235), (-0.0685, 0.0, 0.235), (-0.0525, 0.004, 0.18), (-0.0525, -0.004, 0.18)]
    )
    return body + spout + handle(0.0955, (0.049, 0.045), (0.053, 0.215), 0.008)


# ------------------------------------------------------------------------------------------------ mugs


def _mug(outside: Profile, wall: float, reach: float, low: float, high: float, thickness: float) -> HouseholdModel:
    """A mug with its ear along +x. ``wall`` is how thick wall and floor are; the ear spans the heights ``low`` to ``high``."""
    radii, levels = (np.array(v) for v in zip(*outside, strict=True))

    def radius(z: float) -> float:
        return float(np.interp(z, levels, radii))

    inside = [(r - wall, z) for r, z in reversed(outside) if z > 3 * wall]
    body = vessel(outside, [*inside, (radius(1.5 * wall) - 1.3 * wall, 1.2 * wall), (0.0, wall)], segments=20)
    return body + handle(reach, (radius(low) - wall / 2, low), (radius(high) - wall / 2, high), thickness)


# Name, extents (m), colour, mass (kg) and YCB id; the profile (radius, z) outside; wall, reach, low, high and thickness of the ear.
for _name, _size, _colour, _mass, _id, _outside, _ear in (
    ("ycb mug", (0.117, 0.080, 0.082), "#b3262b", 0.118, "025",
     [(0.036, 0.0), (0.040, 0.004), (0.040, 0.078), (0.0395, 0.082)], (0.0035, 0.077, 0.012, 0.072, 0.0055)),
    ("mug 1", (0.139, 0.100, 0.108), "#2f6fc4", 0.149, "",  # straight
     [(0.047, 0.0), (0.050, 0.003), (0.050, 0.108)], (0.004, 0.089, 0.016, 0.094, 0.005)),
    ("mug 2", (0.134, 0.098, 0.113), "#c8503c", 0.207, "",  # tapered
     [(0.033, 0.0), (0.035, 0.003), (0.043, 0.055), (0.049, 0.113)], (0.0045, 0.085, 0.028, 0.100, 0.005)),
    ("mug 3", (0.188, 0.117, 0.159), "#d8b03a", 0.314, "",  # a stein
     [(0.0585, 0.0), (0.0585, 0.010), (0.052, 0.018), (0.050, 0.135), (0.0535, 0.145), (0.0535, 0.159)],
     (0.005, 0.1295, 0.026, 0.136, 0.008)),
    ("mug 4", (0.138, 0.107, 0.097), "#3f9a6a", 0.151, "",  # rounded
     [(0.034, 0.0), (0.043, 0.007), (0.0515, 0.025), (0.0535, 0.045), (0.0515, 0.065), (0.047, 0.082), (0.047, 0.097)],
     (0.004, 0.0845, 0.022, 0.080, 0.005)),
    ("mug 5", (0.123, 0.088, 0.133), "#e8e2d2", 0.155, "",  # flared
     [(0.034, 0.0), (0.036, 0.004), (0.031, 0.020), (0.033, 0.060), (0.037, 0.100), (0.044, 0.133)], (0.0035, 0.079, 0.030, 0.104, 0.005)),
    ("mug 6", (0.140, 0.101, 0.107), "#5a4a44", 0.243, "",  # conical
     [(0.0485, 0.0), (0.0505, 0.004), (0.0485, 0.030), (0.042, 0.090), (0.043, 0.107)], (0.0045, 0.0895, 0.014, 0.090, 0.006)),
):  # fmt: skip
    household(_name, _size, _colour, ycb=_id, mass=_mass)(functools.partial(_mug, _outside, *_ear))
