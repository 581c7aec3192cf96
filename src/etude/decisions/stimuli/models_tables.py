"""Tables: a level top high above the ground, and what carries it. Each has a front that can be told."""

from __future__ import annotations

import math

import numpy as np

from etude.catalog.household.forms import arc
from etude.decisions.stimuli.forms import Builder, Parts, across_x, across_z, arc_about, beam, bent, block, both, drum, rod, spun


def dining_table() -> Parts:
    """Four square legs, an apron with a drawer in front, a runner along the front half."""
    top = block((-0.45, 0.45), (-0.80, 0.80), (0.72, 0.77))
    legs = both(*(block((x - 0.04, x + 0.04), (0.68, 0.76), (0.0, 0.72)) for x in (-0.37, 0.37)))
    apron = [block((-0.36, 0.36), (-0.72, 0.72), (0.62, 0.72))]
    runner = [block((0.06, 0.36), (-0.805, 0.805), (0.768, 0.778)), *both(block((0.06, 0.36), (0.80, 0.812), (0.60, 0.775)))]
    drawer = block((0.36, 0.375), (-0.25, 0.25), (0.63, 0.71))
    knob = drum(0.03, (0.39, 0.0, 0.67), 0.04, "x", 8)
    return {"main": [top, *legs, *apron], "accent": [*runner, drawer], "trim": [knob]}


def drop_leaf_table() -> Parts:
    """Round, on one turned column with a foot of four; the front leaf hangs down."""
    rim = arc(0.58, 40, 320, 24)
    top = across_z(rim, (0.71, 0.76))
    leaf_rim = arc(0.58, -40, 40, 9)
    leaf = across_x(np.column_stack([leaf_rim[:, 1], 0.72 - (leaf_rim[:, 0] - rim[0, 0]) * 1.9]), (rim[0, 0], rim[0, 0] + 0.045))
    column = spun(
        [(0.0, 0.10), (0.12, 0.10), (0.13, 0.18), (0.06, 0.26), (0.09, 0.40), (0.06, 0.55), (0.10, 0.70), (0.22, 0.71), (0.0, 0.71)]
    )
    feet = []
    for angle in (45, 135, 225, 315):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        feet.append(bent([(0.06 * c, 0.06 * s, 0.20), (0.20 * c, 0.20 * s, 0.14), (0.38 * c, 0.38 * s, 0.03)], 0.04))
    return {"main": [top, *feet], "accent": [leaf, column]}


def trestle_table() -> Parts:
    """Planks on two crossed trestles; the plank in front is of another colour."""
    planks = [block((x - 0.098, x + 0.098), (-0.85, 0.85), (0.70, 0.75)) for x in (-0.30, -0.10, 0.10)]
    front = block((0.202, 0.398), (-0.85, 0.85), (0.70, 0.75))
    cross = [beam((0.38, 0.0, 0.0), (-0.28, 0.0, 0.70), 0.08, 0.07), beam((-0.38, 0.0, 0.0), (0.28, 0.0, 0.70), 0.08, 0.07)]
    legs = both(*(m.moved((0.0, 0.60, 0.0)) for m in cross))
    tie = beam((0.0, -0.60, 0.37), (0.0, 0.60, 0.37), 0.06, 0.08)
    cleats = both(block((-0.36, 0.36), (0.55, 0.65), (0.65, 0.70)))
    return {"main": [*planks, *legs], "accent": [front], "trim": [tie, *cleats]}


def desk() -> Parts:
    """A chest of drawers on the right, two legs on the left, a closed rear."""
    top = block((-0.35, 0.37), (-0.75, 0.75), (0.70, 0.75))
    chest = block((-0.33, 0.32), (-0.72, -0.26), (0.06, 0.70))
    drawers = [block((0.32, 0.34), (-0.70, -0.28), (z, z + 0.18)) for z in (0.09, 0.295, 0.50)]
    knobs = [drum(0.022, (0.355, -0.49, z + 0.09), 0.03, "x", 8) for z in (0.09, 0.295, 0.50)]
    legs = [block((x - 0.035, x + 0.035), (0.64, 0.71), (0.0, 0.70)) for x in (-0.28, 0.30)]
    rear = block((-0.33, -0.30), (-0.26, 0.64), (0.34, 0.70))
    return {"main": [top, chest, rear], "accent": [*drawers, *legs], "trim": knobs}


def tulip_table() -> Parts:
    """An oval top on one flared foot; its front third is of another colour."""
    stretch = np.array([0.48, 0.72])
    rear = across_z(arc(1.0, 48, 312, 26) * stretch, (0.71, 0.75))
    front = across_z(arc(1.0, -48, 48, 12) * stretch, (0.71, 0.75))
    foot = spun(
        [
            (0.0, 0.0),
            (0.34, 0.0),
            (0.33, 0.02),
            (0.20, 0.05),
            (0.09, 0.14),
            (0.055, 0.32),
            (0.07, 0.52),
            (0.14, 0.66),
            (0.26, 0.71),
            (0.0, 0.71),
        ]
    )
    return {"main": [rear, foot], "accent": [front]}


def coffee_table() -> Parts:
    """Low and nearly square: two drawers in front, the half of its top above them inlaid, a shelf below, corner posts."""
    top = block((-0.42, 0.42), (-0.52, 0.52), (0.40, 0.46))
    inlay = block((0.02, 0.37), (-0.46, 0.46), (0.455, 0.468))
    posts = both(*(block((x - 0.035, x + 0.035), (0.43, 0.50), (0.0, 0.40)) for x in (-0.365, 0.365)))
    shelf = [block((-0.37, 0.37), (y - 0.042, y + 0.042), (0.10, 0.13)) for y in np.linspace(-0.44, 0.44, 9)]
    case = block((-0.38, 0.36), (-0.46, 0.46), (0.29, 0.40))
    drawers = both(block((0.36, 0.375), (0.02, 0.42), (0.30, 0.39)))
    knobs = both(drum(0.02, (0.385, 0.22, 0.345), 0.03, "x", 8))
    return {"main": [top, *posts, case], "accent": [*drawers, *shelf, inlay], "trim": knobs}


def bistro_table() -> Parts:
    """A small round top on three slanting legs; a sector of it and the drawer under that are of another colour."""
    top = drum(0.45, (0.0, 0.0, 0.735), 0.05, segments=28)
    sector = across_z([(0.0, 0.0), *arc(0.45, -50, 50, 9).tolist()], (0.755, 0.77))
    rim = spun([(0.44, 0.70), (0.48, 0.70), (0.48, 0.765), (0.44, 0.765), (0.44, 0.70)], segments=28)
    drawer = [block((0.10, 0.40), (-0.17, 0.17), (0.60, 0.71)), drum(0.03, (0.41, 0.0, 0.65), 0.04, "x", 8)]
    legs, ties = [], []
    for angle in (60, 180, 300):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        legs.append(rod((0.44 * c, 0.44 * s, 0.0), (0.24 * c, 0.24 * s, 0.72), 0.026, 0.036))
        ties.append(rod((0.0, 0.0, 0.28), (0.36 * c, 0.36 * s, 0.28), 0.018))
    shelf = drum(0.20, (0.0, 0.0, 0.30), 0.03, segments=20)
    return {"main": [top, rim, *legs], "accent": [sector, *drawer, shelf], "trim": ties}


def console_table() -> Parts:
    """Half round, flat at the rear, on three turned legs."""
    top = across_z(arc_about((-0.30, 0.0), 0.66, -90, 90, 20), (0.76, 0.81))
    apron = across_z(arc_about((-0.29, 0.0), 0.58, -90, 90, 16), (0.64, 0.76))
    shelf = across_z(arc_about((-0.29, 0.0), 0.50, -90, 90, 14), (0.20, 0.23))
    turning = [
        (0.0, 0.0),
        (0.03, 0.0),
        (0.045, 0.06),
        (0.025, 0.12),
        (0.04, 0.24),
        (0.05, 0.46),
        (0.03, 0.54),
        (0.055, 0.60),
        (0.055, 0.66),
        (0.0, 0.66),
    ]
    legs = [
        spun(turning, at, 10) for at in ((-0.24, 0.52, 0.0), (-0.24, -0.52, 0.0), (0.24, 0.0, 0.0), (0.06, 0.40, 0.0), (0.06, -0.40, 0.0))
    ]
    return {"main": [top, shelf, *legs], "accent": [apron]}


BUILDERS: tuple[Builder, ...] = (
    dining_table, tulip_table, trestle_table, desk, bistro_table, coffee_table, drop_leaf_table, console_table,
)  # fmt: skip
