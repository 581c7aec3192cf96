"""Toys: blocks, bricks, dice, a cube puzzle, a peg test and the parts of an airplane."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from etude import arithmetic
from etude.catalog.household.forms import LYING, SIDEWAYS, HouseholdModel, Section, block, chamfered, convex, drum, household, loft, plate
from etude.catalog.mesh import box, cylinder, lathe, merge, prism
from etude.catalog.polygon import Outline, circle, rectangle
from etude.catalog.shape import box_piece, cylinder_piece
from etude.pose import Vec3, align, axis_quat


@household("foam brick", (0.050, 0.075, 0.050), "#b5483a", ycb="061", mass=0.028, symmetry=2)
def foam_brick() -> HouseholdModel:
    # The three holes go through sideways, so that the top stays whole.
    holes = [circle(0.008, 8, math.pi / 8) + np.array([0.0, y]) for y in (-0.022, 0.0, 0.022)]
    body = prism(Outline.of(rectangle(0.050, 0.075), *holes), 0.050)
    return HouseholdModel(body.moved(rotation=SIDEWAYS), (box_piece((0.050, 0.075, 0.050)),))


@household("dice", (0.0162, 0.0162, 0.0162), "#f2efe6", ycb="062", mass=0.0052)
def dice() -> HouseholdModel:
    body = chamfered((0.0158, 0.0158, 0.0158), 0.0014)
    pip = lathe([(0.0, -0.0001), (0.0014, -0.0001), (0.0, 0.0002)], 6)
    q = 0.0040
    spots = {1: [(0.0, 0.0)], 2: [(-q, -q), (q, q)], 4: [(x, y) for x in (-q, q) for y in (-q, q)]}
    spots |= {3: spots[1] + spots[2], 5: spots[1] + spots[4], 6: spots[4] + [(-q, 0.0), (q, 0.0)]}
    marks = []
    for count, face in zip((1, 6, 2, 5, 3, 4), ((0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0)), strict=True):
        turn = align((0, 0, 1), face)
        marks += [pip.moved((x, y, 0.0079)).moved(rotation=turn) for x, y in spots[count]]
    return HouseholdModel(merge([body.mesh, *marks]), (box_piece((0.0162, 0.0162, 0.0162)),))


@household("rubiks cube", (0.057, 0.057, 0.057), "rainbow", ycb="077", mass=0.094, symmetry=4)
def rubiks_cube() -> HouseholdModel:
    steps = (-0.0194, 0.0, 0.0194)
    cubies = [box((0.0182, 0.0182, 0.0182), (x, y, z)) for x in steps for y in steps for z in steps if (x, y, z) != (0.0, 0.0, 0.0)]
    return HouseholdModel(merge([*cubies, box((0.054, 0.054, 0.054))]), (box_piece((0.057, 0.057, 0.057)),))


@household("colored wood block a", (0.026, 0.026, 0.026), "#3f74c8", ycb="070-a", mass=0.0085, symmetry=0)
def wood_cylinder() -> HouseholdModel:
    return HouseholdModel(cylinder(0.013, 0.026, 24, bevel=0.001), (cylinder_piece(0.013, 0.026),))


@household("colored wood block b", (0.026, 0.026, 0.026), "#d8432f", ycb="070-b", mass=0.0108, symmetry=4)
def wood_cube() -> HouseholdModel:
    return chamfered((0.026, 0.026, 0.026), 0.0012)


@household("nine hole peg test", (0.120, 0.115, 0.120), "light wood", ycb="071", mass=1.435, symmetry=2)
def nine_hole_peg_test() -> HouseholdModel:
    holes = [circle(0.0065, 6) + np.array([x, y]) for x in (-0.032, 0.0, 0.032) for y in (-0.032, 0.0, 0.032)]
    board = prism(Outline.of(rectangle(0.120, 0.115), *holes), 0.025, 0.0475)
    return HouseholdModel(merge([board, box((0.120, 0.115, 0.095), (0.0, 0.0, -0.0125))]), (box_piece((0.120, 0.115, 0.120)),))


# ------------------------------------------------------------------------------------------------ bricks

PITCH = 0.0159  # from stud to stud
STUD = 0.0044
BRICK = 0.0192  # height of a brick without its studs


def _studs(columns: int, rows: int, height: float, segments: int = 8) -> HouseholdModel:
    """Studs on a top at ``height``, touched as one low block."""
    places = [((c - (columns - 1) / 2) * PITCH, (r - (rows - 1) / 2) * PITCH) for c in range(columns) for r in range(rows)]
    stud = cylinder(0.0047, STUD + 0.001, segments)
    extent = (columns * PITCH - 0.007, rows * PITCH - 0.007, STUD)
    mesh = merge([stud.moved((x, y, height + STUD / 2 - 0.0005)) for x, y in places])
    return HouseholdModel(mesh, (box_piece(extent, (0.0, 0.0, height + STUD / 2)),))


def _brick(columns: int, rows: int, height: float = BRICK) -> HouseholdModel:
    """A brick standing on z = 0."""
    return block((columns * PITCH, rows * PITCH, height), (0.0, 0.0, height / 2)) + _studs(columns, rows, height)


def _brick_size(columns: int, rows: int, height: float = BRICK) -> Vec3:
    return (columns * PITCH, rows * PITCH, height + STUD)


def _lego(
    letter: str, size: Vec3, texture: str, mass: float, symmetry: int
) -> Callable[[Callable[[], HouseholdModel]], Callable[[], HouseholdModel]]:
    return household(f"lego duplo {letter}", size, texture, ycb=f"073-{letter}", mass=mass, symmetry=symmetry)


_lego("a", _brick_size(2, 2), "#d01c1f", 0.008, 4)(functools.partial(_brick, 2, 2))
_lego("b", _brick_size(2, 4), "#f2c513", 0.014, 2)(functools.partial(_brick, 2, 4))
_lego("e", _brick_size(2, 6, BRICK / 2), "#2f9a3f", 0.015, 2)(functools.partial(_brick, 2, 6, BRICK / 2))
_lego("g", _brick_size(2, 2, 2 * BRICK), "#e8762c", 0.013, 4)(functools.partial(_brick, 2, 2, 2 * BRICK))


@_lego("c", _brick_size(2, 3), "#2467b5", 0.010, 1)
def slope() -> HouseholdModel:
    # Two rows of studs at the back, a roof towards +y.
    w, d = PITCH, 1.5 * PITCH
    wedge = [(x, y, z) for x in (-w, w) for y, z in ((-d, 0.0), (d, 0.0), (d, 0.004), (d - PITCH, BRICK), (-d, BRICK))]
    return convex(wedge, crease=0.1) + _studs(2, 2, BRICK).moved((0.0, -PITCH / 2, 0.0))


@_lego("d", _brick_size(2, 4), "#8a4fb0", 0.012, 2)
def arch() -> HouseholdModel:
    # The bow is cut out of the lower edge, between two feet.
    y, z = 2 * PITCH, BRICK
    bow = [(0.017 * math.cos(t), 0.013 * math.sin(t)) for t in np.linspace(0, math.pi, 9)]
    side = Outline.of([(-y, 0.0), *((-a, b) for a, b in bow), (y, 0.0), (y, z), (-y, z)])
    upright = axis_quat((1, 1, 1), 2 * math.pi / 3)  # (x, y, z) → (z, x, y)
    mesh = prism(side, 2 * PITCH).moved(rotation=upright)
    feet = [box_piece((2 * PITCH, y - 0.017, z), (0.0, s * (y + 0.017) / 2, z / 2)) for s in (-1, 1)]
    lintel = box_piece((2 * PITCH, 0.034, z - 0.012), (0.0, 0.0, (z + 0.012) / 2))
    return HouseholdModel(mesh, (*feet, lintel)) + _studs(2, 4, BRICK)


@_lego("f", _brick_size(2, 2), "#35a9c4", 0.007, 4)
def round_brick() -> HouseholdModel:
    return drum(PITCH, BRICK, segments=24) + _studs(2, 2, BRICK)


# ------------------------------------------------------------------------------------------------ an airplane in parts


@household("toy airplane a", (0.066, 0.250, 0.075), "#e03c31", ycb="072-a", mass=0.180)
def fuselage() -> HouseholdModel:
    stations = [
        Section(-0.125, 0.010, 0.010, (0.0, -0.012)), Section(-0.110, 0.016, 0.018, (0.0, -0.010)),
        Section(-0.030, 0.030, 0.032, (0.0, 0.002)),
        Section(0.080, 0.033, 0.034), Section(0.112, 0.027, 0.028), Section(0.125, 0.018, 0.019),
    ]  # fmt: skip
    # Laid along y, the sections' y axis points down: the tail rises.
    body = loft(stations, cuts=(2,), corners=12, squareness=2.6, flats=True).moved(rotation=LYING)
    seat = convex([(x, y, z) for x in (-0.016, 0.016) for y, z in ((-0.010, 0.028), (0.045, 0.028), (0.022, 0.041), (-0.004, 0.041))])
    return body + seat


@household("toy airplane b", (0.266, 0.075, 0.016), "#f2c22e", ycb="072-b", mass=0.085, symmetry=2)
def wing() -> HouseholdModel:
    tips = np.vstack([0.0375 * arithmetic.circle(t) + [s * 0.0955, 0.0] for s, t in (
        (1, np.radians(np.linspace(-90, 90, 7))), (-1, np.radians(np.linspace(90, 270, 7))))])  # fmt: skip
    return plate(Outline.of(tips), 0.010, bevel=0.002) + block((0.060, 0.060, 0.016))


@household("toy airplane c", (0.120, 0.085, 0.080), "#2f7fc4", ycb="072-c", mass=0.055)
def tail() -> HouseholdModel:
    planform = [(-0.060, -0.040), (0.060, -0.040), (0.060, -0.012), (0.030, 0.018), (-0.030, 0.018), (-0.060, -0.012)]
    plane = plate(Outline.of(planform), 0.010, 0.005)
    fin = convex([(x, y, z) for x in (-0.005, 0.005) for y, z in ((0.018, 0.010), (-0.040, 0.010), (-0.040, 0.080), (-0.020, 0.080))])
    boom = convex([(x, y, z) for y, w, h in ((0.045, 0.012, 0.020), (-0.020, 0.009, 0.016)) for x in (-w, w) for z in (0.0, h)])
    return plane + fin + boom


@household("toy airplane d", (0.120, 0.040, 0.032), "#f29a2e", ycb="072-d", mass=0.030, symmetry=2)
def propeller() -> HouseholdModel:
    t = np.radians(np.linspace(-80, 80, 5))
    tip = arithmetic.circle(t) * [0.017, 0.014] + [0.043, 0.0]
    ring = np.vstack([[(0.010, -0.006)], tip, [(0.010, 0.006)]])
    blades = [plate(Outline.of(ring * s), 0.008, 0.004) for s in (1.0, -1.0)]
    nose = [(0.0, 0.0), (0.020, 0.0), (0.019, 0.012), (0.012, 0.026), (0.0, 0.032)]
    angle = np.arange(12) * (math.pi / 6)
    cone = [(r * math.cos(a), r * math.sin(a), z) for r, z in nose[1:] for a in angle]
    return blades[0] + blades[1] + HouseholdModel(lathe(nose, 16), convex(cone).pieces)


@household("toy airplane e", (0.090, 0.064, 0.052), "#4aa84a", ycb="072-e", mass=0.060, symmetry=2)
def undercarriage() -> HouseholdModel:
    # Two axles with wheels that do not turn, and the plate that is screwed under the fuselage.
    wheel = drum(0.016, 0.014, -0.007, segments=16)
    wheels = [wheel.moved((x, y, 0.016), SIDEWAYS) for x in (-0.038, 0.038) for y in (-0.016, 0.016)]
    frame = block((0.062, 0.040, 0.020), (0.0, 0.0, 0.026))
    top = block((0.040, 0.064, 0.016), (0.0, 0.0, 0.044))
    return wheels[0] + wheels[1] + wheels[2] + wheels[3] + frame + top
