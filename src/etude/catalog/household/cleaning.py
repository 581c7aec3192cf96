"""Things to write and to sweep with: pencil and basket (VLMbench), broom, holder, dustpan and rubbish (HiMan-Bench)."""

from __future__ import annotations

import math

import numpy as np

from etude.catalog.household.forms import (
    LYING,
    SIDEWAYS,
    HouseholdModel,
    Section,
    block,
    chamfered,
    convex,
    drum,
    household,
    hull_of,
    icosphere,
    loft,
    shaded,
)
from etude.catalog.mesh import cylinder, merge, prism
from etude.catalog.polygon import Outline, rectangle, rounded
from etude.catalog.shape import box_piece
from etude.names import rng

# ------------------------------------------------------------------------------------------------ writing


@household("pencil", (0.0175, 0.328, 0.0153), "#e8a92e", mass=0.072)
def pencil() -> HouseholdModel:
    # Six-sided, lying on a flat; the point is at +y.
    stations = ((-0.164, 0.0080), (-0.148, 0.0080), (-0.147, 0.00875), (0.128, 0.00875), (0.154, 0.0024), (0.164, 0.0006))
    shaft = [Section(y, r, r * math.sqrt(3) / 2) for y, r in stations]
    return loft(shaft, cuts=(3,), corners=6, crease=0.3).moved(rotation=LYING)


@household("pencil basket", (0.0924, 0.0924, 0.1556), "#4a5560", mass=0.41, symmetry=4)
def pencil_basket() -> HouseholdModel:
    width, height, wall, floor = 0.0924, 0.1556, 0.004, 0.005
    inner = width - 2 * wall
    ring = Outline.of(rounded(rectangle(width, width), 0.010, 3), rounded(rectangle(inner, inner), 0.008, 3))
    mesh = merge([prism(ring, height, height / 2), prism(Outline.of(rounded(rectangle(inner, inner), 0.008, 3)), floor, floor / 2)])
    side = (width - wall) / 2
    walls = [box_piece((wall, width, height), (s * side, 0.0, height / 2)) for s in (-1, 1)]
    walls += [box_piece((inner, wall, height), (0.0, s * side, height / 2)) for s in (-1, 1)]
    bottom = box_piece((inner, inner, floor), (0.0, 0.0, floor / 2))
    return HouseholdModel(mesh, (*walls, bottom), ((-inner / 2, -inner / 2, floor), (inner / 2, inner / 2, height)))


# ------------------------------------------------------------------------------------------------ sweeping


@household("broom", (0.274, 0.240, 0.036), "#754f33", mass=0.12)
def broom() -> HouseholdModel:
    # It lies on its head, which is at +x and heavy enough to hold the handle level; HiMan-Bench tilts the head by 14°.
    middle = (-0.026, 0.0, -0.004)
    stick = HouseholdModel(cylinder(0.0054, 0.222, 10).moved(middle, SIDEWAYS), (box_piece((0.222, 0.0108, 0.0108), middle),))
    back = block((0.0114, 0.240, 0.026), (0.0887, 0.0, -0.005))
    rise = 0.008 + 0.0426 * math.tan(math.radians(14))

    def tuft(y: float, half: float) -> list[tuple[float, float, float]]:
        near = [(0.0944, y + s * 0.8 * half, z) for s in (-1, 1) for z in (-0.018, 0.008)]
        return near + [(0.137, y + s * half, z) for s in (-1, 1) for z in (-0.018, rise)]

    tufts = [convex(tuft(y, 0.0098)).mesh for y in np.linspace(-0.1102, 0.1102, 12)]
    return stick + back + HouseholdModel(merge(tufts), (hull_of(tuft(0.0, 0.12)),))


household("broom holder", (0.20, 0.10, 0.10), "#597a8a", mass=2.0, symmetry=2)(lambda: chamfered((0.20, 0.10, 0.10), 0.003))


def _pan() -> HouseholdModel:
    """The pan, open towards +y and standing on z = 0: a floor 2 mm thick that thins out to a lip, two sides and a back."""
    width, front, back = 0.274, 0.109, -0.109
    floor = [(front, 0.0), (front, 0.0004), (front - 0.024, 0.002), (back, 0.002), (back, 0.0)]
    side = [(front - 0.012, 0.0), (front - 0.012, 0.010), (0.0, 0.055), (back, 0.083), (back, 0.0)]
    half = width / 2
    walls = [convex([(s * x, y, z) for x in (half - 0.004, half) for y, z in side], crease=0.1) for s in (-1, 1)]
    return (
        convex([(x, y, z) for x in (-half, half) for y, z in floor], crease=0.1)
        + walls[0]
        + walls[1]
        + block((width, 0.004, 0.083), (0.0, back + 0.002, 0.0415))
    )


household("dustpan pan", (0.274, 0.218, 0.083), "#3f5f8f", mass=0.25)(_pan)


@household("dustpan", (0.274, 0.218, 0.600), "#3f5f8f", mass=0.30)
def dustpan() -> HouseholdModel:
    # HiMan-Bench's pan 0.274 × 0.218 × 0.083 with a stick 0.595 long that stands up from its back.
    return _pan() + drum(0.010, 0.595, 0.005, segments=16, bevel=0.002).moved((0.0, -0.095, 0.0))


@household("rubbish", (0.050, 0.087, 0.034), "#e9e6dd", mass=0.02)
def rubbish() -> HouseholdModel:
    # A sheet of paper crumpled into a ball, lying as HiMan-Bench has it (0.034 high).
    points, faces = icosphere(2)
    crumple = rng("household", "rubbish").uniforms(0.76, 1.0, len(points))
    ball = points * crumple[:, None] * [0.025, 0.0435, 0.017]
    ball[:, 2] = np.maximum(ball[:, 2], -0.0110)
    return HouseholdModel(shaded(ball, faces, crease=0.25), (hull_of(ball),))
