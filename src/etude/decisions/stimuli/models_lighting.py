"""Lighting: lamps that are lit, with a bright bulb or shade, on feet, poles and arms. A cord or an arm tells front from rear."""

from __future__ import annotations

import math

import numpy as np

from etude.catalog.household.forms import arc
from etude.catalog.mesh import Mesh, ellipsoid
from etude.decisions.stimuli.forms import Builder, Parts, across_y, beam, bent, block, both, drum, rod, skin, spun
from etude.pose import Quat, Vec2, Vec3, align


def _cord(start: float, reach: float, width: float) -> Mesh:
    """A cord that winds along the ground towards the rear."""
    return bent(
        [(-start, 0.0, 0.015), (-start - 0.3 * reach, width, 0.015), (-start - 0.7 * reach, -width, 0.015), (-start - reach, 0.0, 0.015)],
        0.012,
        6,
    )


def _aimed(way: Vec3) -> Quat:
    return align((0.0, 0.0, 1.0), way)


def _bell(at: Vec3, way: Vec3, radius: float, length: float) -> tuple[Mesh, Mesh, Mesh]:
    """A bell-shaped head that opens along ``way``: its shell, the lit disc inside, its bulb."""
    turn = _aimed(way)
    shell = spun(
        [(0.0, -length), (0.3 * radius, -length), (0.42 * radius, -0.8 * length), (0.8 * radius, -0.35 * length), (radius, 0.0),
         (0.93 * radius, 0.0), (0.72 * radius, -0.34 * length), (0.0, -0.5 * length)]
    )  # fmt: skip
    disc = drum(0.86 * radius, (0.0, 0.0, -0.12 * length), 0.02)
    bulb = ellipsoid((0.42 * radius, 0.42 * radius, 0.42 * radius), 12)
    return shell.moved(at, turn), disc.moved(at, turn), bulb.moved(at, turn)


def _patch(lower: Vec2, upper: Vec2, reach: float) -> Mesh:
    """A piece of cloth on a shade between two (radius, height), over ``reach`` degrees to both sides of the front."""
    rings = []
    for radius, z in (lower, upper):
        ring = np.vstack([arc(radius + 0.008, -reach, reach, 12), arc(radius - 0.004, reach, -reach, 12)])
        rings.append(np.column_stack([ring, np.full(len(ring), z)]))
    return skin(rings)


def desk_lamp() -> Parts:
    """Two jointed arms with springs on a round foot, a bell on top that looks down in front."""
    foot = spun([(0.0, 0.0), (0.20, 0.0), (0.20, 0.03), (0.06, 0.07), (0.0, 0.07)])
    arms = [beam((0.0, 0.0, 0.06), (-0.24, 0.0, 0.46), 0.035), beam((-0.24, 0.0, 0.46), (0.14, 0.0, 0.84), 0.035)]
    joints = [drum(0.045, at, 0.07, "y", 12) for at in ((0.0, 0.0, 0.08), (-0.24, 0.0, 0.46), (0.14, 0.0, 0.84))]
    spring = both(rod((-0.05, 0.035, 0.08), (-0.20, 0.035, 0.36), 0.012, segments=6))
    shell, disc, bulb = _bell((0.33, 0.0, 0.70), (0.75, 0.0, -0.66), 0.18, 0.30)
    return {"main": [foot, shell, *arms], "trim": [*joints, *spring], "glow": [disc, bulb]}


def arc_lamp() -> Parts:
    """A long bow from a heavy block, a lit dome at its end."""
    foot = block((-0.46, -0.18), (-0.16, 0.16), (0.0, 0.09))
    bow = bent([(-0.34, 0.0, 0.08), (-0.42, 0.0, 0.60), (-0.32, 0.0, 1.06), (0.0, 0.0, 1.28), (0.32, 0.0, 1.20), (0.46, 0.0, 0.98)], 0.024)
    dome = spun([(0.23, 0.0), (0.24, 0.0), (0.22, 0.10), (0.14, 0.19), (0.05, 0.23), (0.0, 0.23)], (0.46, 0.0, 0.78))
    light = ellipsoid((0.19, 0.19, 0.16), 16).moved((0.46, 0.0, 0.77))
    return {"main": [dome, foot], "metal": [bow], "glow": [light]}


def street_lamp() -> Parts:
    """A fluted post with a lantern that hangs from a bracket in front."""
    post = spun(
        [(0.0, 0.0), (0.16, 0.0), (0.16, 0.06), (0.10, 0.10), (0.11, 0.24), (0.05, 0.30), (0.045, 1.36), (0.07, 1.40), (0.0, 1.48)],
        segments=12,
    )
    bracket = bent([(0.0, 0.0, 1.22), (0.10, 0.0, 1.40), (0.26, 0.0, 1.44), (0.38, 0.0, 1.34)], 0.025)
    stay = bent([(0.0, 0.0, 1.04), (0.16, 0.0, 1.14), (0.24, 0.0, 1.30), (0.24, 0.0, 1.42)], 0.018)
    pane = drum(0.10, (0.38, 0.0, 1.08), 0.30, segments=6, top=0.14)
    roof = drum(0.18, (0.38, 0.0, 1.28), 0.12, segments=6, top=0.02)
    plate = drum(0.11, (0.38, 0.0, 0.92), 0.03, segments=6)
    return {"main": [post, roof, plate], "trim": [bracket, stay], "glow": [pane]}


def tripod_lamp() -> Parts:
    """Three legs under a lit drum with a coloured front, a cord behind."""
    legs = []
    for angle in (0, 120, 240):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        legs.append(rod((0.40 * c, 0.40 * s, 0.0), (0.03 * c, 0.03 * s, 0.92), 0.026, 0.034))
    hub = drum(0.07, (0.0, 0.0, 0.88), 0.12)
    shade = spun([(0.27, 0.98), (0.29, 0.98), (0.27, 1.32), (0.25, 1.32), (0.27, 0.98)], segments=24)
    bands = [spun([(0.285, z), (0.30, z), (0.295, z + 0.04), (0.275, z + 0.04), (0.285, z)], segments=24) for z in (0.975, 1.285)]
    patch = _patch((0.29, 0.99), (0.27, 1.31), 55)
    bulb = ellipsoid((0.13, 0.13, 0.15), 14).moved((0.0, 0.0, 1.16))
    return {"main": [*legs, *bands, patch], "trim": [hub, _cord(0.10, 0.45, 0.10)], "glow": [shade, bulb]}


def branch_lamp() -> Parts:
    """A pole with three heads that look in different ways at different heights."""
    foot = drum(0.20, (0.0, 0.0, 0.03), 0.06, segments=20, top=0.16)
    pole = rod((0.0, 0.0, 0.05), (0.0, 0.0, 1.30), 0.026)
    heads = ((1.25, (0.9, 0.25, -0.1)), (0.98, (0.3, -0.9, -0.25)), (0.72, (0.75, 0.65, -0.2)))
    shells, lit, necks = [], [], []
    for z, (x, y, drop) in heads:
        at = (0.34 * x, 0.34 * y, z + 0.10)
        necks.append(bent([(0.0, 0.0, z), (0.10 * x, 0.10 * y, z + 0.12), (0.20 * x, 0.20 * y, z + 0.12)], 0.016))
        shell, disc, bulb = _bell(at, (x, y, drop), 0.14, 0.22)
        shells.append(shell)
        lit += [disc, bulb]
    return {"main": [foot, *shells], "metal": [pole, *necks], "glow": lit}


def bankers_lamp() -> Parts:
    """A wide shade like half a barrel on a short stem, a pull chain in front."""
    foot = spun([(0.0, 0.0), (0.17, 0.0), (0.17, 0.03), (0.10, 0.06), (0.04, 0.08), (0.0, 0.08)], segments=20)
    stem = spun([(0.0, 0.06), (0.035, 0.08), (0.055, 0.16), (0.025, 0.22), (0.022, 0.42), (0.0, 0.44)], segments=12)
    barrel = [(0.14 * math.cos(math.radians(a)), 0.12 * math.sin(math.radians(a))) for a in range(0, 190, 15)]
    shade = across_y([(x + 0.03, z + 0.42) for x, z in barrel], (-0.32, 0.32), 0.015)
    tube = drum(0.07, (0.06, 0.0, 0.375), 0.54, "y", 12)
    ends = both(drum(0.03, (0.03, 0.335, 0.45), 0.03, "y", 10))
    chain = [rod((0.12, 0.12, 0.40), (0.12, 0.12, 0.22), 0.008, segments=6), ellipsoid((0.02, 0.02, 0.025), 8).moved((0.12, 0.12, 0.21))]
    return {"main": [shade, foot], "metal": [stem, *ends, *chain], "glow": [tube]}


def spotlight() -> Parts:
    """A studio light with four flaps on a low tripod."""
    legs = []
    for angle in (60, 180, 300):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        legs.append(rod((0.30 * c, 0.30 * s, 0.0), (0.0, 0.0, 0.34), 0.02))
    pole = rod((0.0, 0.0, 0.10), (0.0, 0.0, 0.62), 0.026)
    yoke = bent([(0.0, 0.21, 0.84), (0.0, 0.20, 0.68), (0.0, 0.0, 0.61), (0.0, -0.20, 0.68), (0.0, -0.21, 0.84)], 0.018)
    can = drum(0.17, (0.0, 0.0, 0.84), 0.36, "x", 20)
    fins = [drum(0.185, (x, 0.0, 0.84), 0.03, "x", 20) for x in (-0.17, -0.10, -0.03)]
    lens = drum(0.145, (0.185, 0.0, 0.84), 0.02, "x", 20)
    flaps = [*both(beam((0.18, 0.16, 0.84), (0.34, 0.29, 0.84), 0.012, 0.26)), beam((0.18, 0.0, 1.0), (0.34, 0.0, 1.13), 0.26, 0.012),
             beam((0.18, 0.0, 0.68), (0.34, 0.0, 0.55), 0.26, 0.012)]  # fmt: skip
    return {"main": [can, *flaps], "trim": [*fins, yoke, pole, *legs], "glow": [lens]}


def table_lamp() -> Parts:
    """A turned vase under a lit cone with a coloured front, a cord behind."""
    vase = spun([(0.0, 0.05), (0.13, 0.05), (0.17, 0.14), (0.16, 0.24), (0.07, 0.36), (0.04, 0.42), (0.04, 0.50), (0.0, 0.50)], segments=18)
    foot = block((-0.17, 0.17), (-0.17, 0.17), (0.0, 0.05))
    shade = spun([(0.28, 0.44), (0.30, 0.44), (0.17, 0.80), (0.15, 0.80), (0.28, 0.44)], segments=24)
    bands = [spun([(0.295, 0.435), (0.31, 0.435), (0.30, 0.475), (0.285, 0.475), (0.295, 0.435)], segments=24),
             spun([(0.165, 0.775), (0.185, 0.775), (0.175, 0.81), (0.155, 0.81), (0.165, 0.775)], segments=24)]  # fmt: skip
    bulb = ellipsoid((0.07, 0.07, 0.10), 12).moved((0.0, 0.0, 0.70))
    return {
        "main": [vase, foot, *bands, _patch((0.30, 0.44), (0.17, 0.80), 50)],
        "trim": [_cord(0.15, 0.30, 0.08)],
        "glow": [shade, bulb],
    }


BUILDERS: tuple[Builder, ...] = (
    desk_lamp, arc_lamp, street_lamp, tripod_lamp, branch_lamp, bankers_lamp, spotlight, table_lamp,
)  # fmt: skip
