"""Planes: a fuselage along x, wings to both sides, a tail; with propellers, jets or neither."""

from __future__ import annotations

import math

from etude.catalog.mesh import Mesh, ellipsoid
from etude.decisions.stimuli.forms import Builder, Parts, beam, block, both, drum, fuselage, rod, wing
from etude.pose import Vec3


def _propeller(at: Vec3, reach: float, blades: int = 2) -> tuple[list[Mesh], Mesh]:
    """Blades and spinner of a propeller that looks along x."""
    x, y, z = at
    found = []
    for k in range(blades):
        angle = math.pi * k / blades + 0.5
        dy, dz = reach * math.cos(angle), reach * math.sin(angle)
        found.append(beam((x, y - dy, z - dz), (x, y + dy, z + dz), 0.10 * reach + 0.015, 0.16 * reach))
    spinner = ellipsoid((0.22 * reach, 0.13 * reach, 0.13 * reach), 10).moved((x, y, z))
    return found, spinner


def _gear(x: float, y: float, z: float, radius: float, top: Vec3) -> tuple[Mesh, Mesh]:
    """A strut and its wheel, on the left."""
    return rod((x, y, z + radius), top, 0.028), drum(radius, (x, y, z + radius), 0.07, "y", 12)


def airliner() -> Parts:
    """A long tube with swept low wings and an engine under each."""
    tube = fuselage(
        [
            (2.1, 0.03, -0.02, 0.06),
            (1.95, 0.14, -0.12, 0.16),
            (1.65, 0.22, -0.20, 0.24),
            (-0.9, 0.22, -0.20, 0.24),
            (-1.7, 0.12, 0.0, 0.24),
            (-2.1, 0.03, 0.14, 0.20),
        ]
    )
    wings = both(wing([(0.65, -0.35, 0.10, -0.12), (0.0, -0.45, 0.95, -0.04), (-0.45, -0.70, 1.80, 0.08)], 0.12))
    tail = both(wing([(-1.50, -1.98, 0.05, 0.14), (-1.85, -2.10, 0.72, 0.20)], 0.12))
    fin = wing([(-1.25, -1.95, 0.0, 0.16), (-1.80, -2.15, 0.0, 0.86)], 0.10, upright=True)
    engines = both(drum(0.13, (0.30, 0.66, -0.26), 0.50, "x", 14, top=0.15))
    windows = [*both(block((-1.1, 1.45), (0.195, 0.228), (0.06, 0.12))), block((1.70, 1.86), (-0.13, 0.13), (0.12, 0.22))]
    return {"body": [tube, *wings, *tail], "accent": [fin, *engines], "glass": windows}


def biplane() -> Parts:
    """Two wings above each other with struts between, an open seat, a propeller."""
    hull = fuselage(
        [
            (0.95, 0.16, -0.16, 0.16),
            (0.75, 0.21, -0.21, 0.21),
            (0.1, 0.20, -0.20, 0.22),
            (-0.6, 0.12, -0.10, 0.18),
            (-1.35, 0.04, 0.04, 0.14),
        ]
    )
    lower = both(wing([(0.42, -0.12, 0.05, -0.18), (0.38, -0.10, 1.35, -0.10)], 0.10))
    upper = both(wing([(0.58, 0.02, 0.0, 0.48), (0.54, 0.04, 1.45, 0.52)], 0.10))
    struts = both(
        *(rod((x, 1.0, -0.12), (x + 0.14, 1.05, 0.50), 0.022) for x in (0.30, 0.0)),
        *(rod((x, 0.12, 0.18), (x, 0.22, 0.48), 0.02) for x in (0.48, 0.16)),
    )
    tail = both(wing([(-1.02, -1.42, 0.0, 0.10), (-1.12, -1.40, 0.50, 0.10)], 0.12))
    fin = wing([(-1.0, -1.42, 0.0, 0.10), (-1.20, -1.48, 0.0, 0.50)], 0.12, upright=True)
    blades, spinner = _propeller((1.0, 0.0, 0.0), 0.46)
    strut, wheel = _gear(0.45, 0.36, -0.62, 0.15, (0.40, 0.14, -0.16))
    pilot = ellipsoid((0.10, 0.09, 0.11), 10).moved((-0.12, 0.0, 0.28))
    return {
        "body": [hull, *lower, *upper],
        "accent": [*tail, fin, pilot],
        "trim": [*struts, *blades, *both(strut)],
        "metal": [spinner],
        "tyre": both(wheel),
    }


def fighter() -> Parts:
    """A needle with a delta wing, two fins and a long canopy."""
    hull = fuselage(
        [(2.0, 0.02, 0.0, 0.04), (1.4, 0.12, -0.10, 0.14), (0.6, 0.20, -0.16, 0.20), (-0.6, 0.32, -0.16, 0.20), (-1.45, 0.28, -0.14, 0.18)],
        2.6,
    )
    canopy = ellipsoid((0.46, 0.12, 0.16), 16).moved((0.82, 0.0, 0.17))
    wings = both(wing([(0.50, -1.20, 0.20, 0.0), (-0.85, -1.25, 1.25, 0.0)], 0.06))
    tail = both(wing([(-1.05, -1.60, 0.26, 0.0), (-1.50, -1.80, 0.80, 0.0)], 0.08))
    fins = both(wing([(-0.75, -1.45, 0.28, 0.12), (-1.25, -1.62, 0.42, 0.72)], 0.07, upright=True))
    jets = both(drum(0.12, (-1.52, 0.14, 0.02), 0.20, "x", 14))
    missiles = both(rod((-0.55, 1.27, 0.0), (-1.35, 1.27, 0.0), 0.045))
    return {"body": [hull, *wings, *tail], "accent": [*fins, *missiles], "glass": [canopy], "trim": jets}


def high_wing_plane() -> Parts:
    """A light plane: one straight wing on top with slanting struts, three wheels."""
    hull = fuselage(
        [
            (1.10, 0.16, -0.18, 0.12),
            (0.80, 0.24, -0.26, 0.20),
            (0.45, 0.27, -0.28, 0.42),
            (-0.35, 0.25, -0.26, 0.42),
            (-0.75, 0.15, -0.10, 0.26),
            (-1.65, 0.04, 0.04, 0.16),
        ],
        3.0,
    )
    wings = both(wing([(0.48, -0.20, 0.0, 0.44), (0.42, -0.08, 1.75, 0.50)], 0.12))
    struts = both(rod((0.20, 0.24, -0.18), (0.18, 1.0, 0.44), 0.03))
    tail = both(wing([(-1.30, -1.70, 0.0, 0.12), (-1.38, -1.66, 0.62, 0.12)], 0.12))
    fin = wing([(-1.05, -1.68, 0.0, 0.12), (-1.45, -1.76, 0.0, 0.66)], 0.12, upright=True)
    panes = [*both(block((-0.30, 0.36), (0.24, 0.272), (0.10, 0.34))), beam((0.84, 0.0, 0.20), (0.47, 0.0, 0.41), 0.40, 0.04)]
    blades, spinner = _propeller((1.16, 0.0, -0.03), 0.42)
    strut, wheel = _gear(0.10, 0.46, -0.58, 0.13, (0.10, 0.18, -0.22))
    nose = _gear(0.88, 0.0, -0.58, 0.12, (0.85, 0.0, -0.20))
    return {
        "body": [hull, *wings],
        "accent": [*tail, fin],
        "glass": panes,
        "trim": [*struts, *blades, *both(strut), nose[0]],
        "metal": [spinner],
        "tyre": [*both(wheel), nose[1]],
    }


def glider() -> Parts:
    """Very long thin wings with upturned tips, a slim tail with a plane on top of its fin."""
    hull = fuselage(
        [
            (1.15, 0.03, -0.05, 0.03),
            (0.85, 0.15, -0.16, 0.14),
            (0.35, 0.19, -0.19, 0.20),
            (-0.15, 0.14, -0.12, 0.16),
            (-0.6, 0.055, 0.0, 0.11),
            (-1.55, 0.04, 0.02, 0.10),
        ]
    )
    canopy = ellipsoid((0.42, 0.13, 0.15), 14).moved((0.55, 0.0, 0.13))
    wings = both(wing([(0.26, -0.18, 0.0, 0.14), (0.18, -0.10, 1.30, 0.22), (0.06, -0.10, 1.95, 0.34)], 0.13))
    tips = both(wing([(0.06, -0.10, 1.93, 0.33), (-0.04, -0.14, 2.02, 0.54)], 0.12, upright=True))
    fin = wing([(-1.25, -1.60, 0.0, 0.05), (-1.38, -1.68, 0.0, 0.56)], 0.12, upright=True)
    tail = both(wing([(-1.34, -1.66, 0.0, 0.57), (-1.42, -1.62, 0.52, 0.57)], 0.12))
    return {"body": [hull, *wings], "accent": [fin, *tail, *tips], "glass": [canopy]}


def seaplane() -> Parts:
    """On two long floats; a propeller on either wing."""
    hull = fuselage(
        [
            (1.25, 0.08, -0.06, 0.12),
            (0.95, 0.20, -0.16, 0.26),
            (0.3, 0.24, -0.20, 0.32),
            (-0.5, 0.18, -0.12, 0.28),
            (-1.5, 0.04, 0.08, 0.18),
        ]
    )
    wings = both(wing([(0.45, -0.22, 0.0, 0.34), (0.32, -0.12, 1.65, 0.42)], 0.13))
    floats = both(
        fuselage(
            [(1.15, 0.03, -0.52, -0.46), (0.8, 0.13, -0.68, -0.46), (-0.2, 0.13, -0.70, -0.46), (-0.95, 0.05, -0.54, -0.46)], 3.0
        ).moved((0.0, 0.45, 0.0))
    )
    struts = both(*(rod((x, 0.45, -0.50), (x, 0.16, -0.10), 0.03) for x in (0.5, -0.3)))
    nacelles = both(fuselage([(0.75, 0.11, 0.24, 0.46), (0.45, 0.14, 0.22, 0.50), (-0.25, 0.05, 0.32, 0.44)]).moved((0.0, 0.72, 0.02)))
    blades, spinner = _propeller((0.80, 0.72, 0.37), 0.34, 3)
    tail = both(wing([(-1.15, -1.55, 0.0, 0.16), (-1.25, -1.52, 0.62, 0.16)], 0.12))
    fin = wing([(-1.0, -1.55, 0.0, 0.16), (-1.32, -1.62, 0.0, 0.72)], 0.12, upright=True)
    screen = beam((1.02, 0.0, 0.24), (0.70, 0.0, 0.34), 0.30, 0.06)
    return {
        "body": [hull, *wings, *tail],
        "accent": [*floats, fin],
        "glass": [screen],
        "trim": [*struts, *nacelles, *both(*blades)],
        "metal": both(spinner),
    }


def business_jet() -> Parts:
    """Small and sleek: engines at the rear, the tail plane on top of the fin."""
    hull = fuselage(
        [
            (1.55, 0.02, -0.05, 0.01),
            (1.15, 0.15, -0.14, 0.17),
            (0.75, 0.21, -0.20, 0.23),
            (-0.55, 0.21, -0.18, 0.23),
            (-1.1, 0.12, -0.02, 0.22),
            (-1.5, 0.03, 0.10, 0.16),
        ]
    )
    wings = both(wing([(0.28, -0.48, 0.10, -0.14), (-0.30, -0.62, 1.35, -0.02)], 0.10))
    tips = both(wing([(-0.32, -0.62, 1.34, -0.03), (-0.55, -0.72, 1.42, 0.24)], 0.10, upright=True))
    engines = both(drum(0.15, (-0.72, 0.38, 0.16), 0.60, "x", 14, top=0.12), block((-0.90, -0.60), (0.15, 0.30), (0.13, 0.18)))
    fin = wing([(-0.85, -1.45, 0.0, 0.18), (-1.30, -1.72, 0.0, 0.82)], 0.11, upright=True)
    tail = both(wing([(-1.26, -1.72, 0.0, 0.83), (-1.52, -1.76, 0.62, 0.83)], 0.11))
    windows = [
        *both(*(drum(0.055, (x, 0.207, 0.06), 0.03, "y", 10) for x in (0.55, 0.30, 0.05, -0.20))),
        block((0.92, 1.10), (-0.14, 0.14), (0.10, 0.21)),
    ]
    return {"body": [hull, *wings, fin], "accent": [*engines, *tail, *tips], "glass": windows}


def cargo_plane() -> Parts:
    """Fat, with a high wing and four propellers, and a ramp under its raised tail."""
    hull = fuselage(
        [
            (1.75, 0.12, -0.14, 0.06),
            (1.5, 0.28, -0.30, 0.26),
            (1.15, 0.34, -0.36, 0.36),
            (-0.55, 0.34, -0.36, 0.36),
            (-1.1, 0.24, -0.10, 0.36),
            (-1.85, 0.06, 0.20, 0.34),
        ],
        2.8,
    )
    wings = both(wing([(0.50, -0.25, 0.0, 0.38), (0.30, -0.12, 1.95, 0.44)], 0.13))
    nacelles, props, spinners = [], [], []
    for y in (0.72, 1.30):
        nacelles.append(fuselage([(0.80, 0.09, 0.28, 0.46), (0.45, 0.11, 0.26, 0.50), (-0.15, 0.04, 0.36, 0.46)]).moved((0.0, y, 0.0)))
        blades, spinner = _propeller((0.84, y, 0.37), 0.27, 2)
        props += blades
        spinners.append(spinner)
    tail = both(wing([(-1.40, -1.85, 0.0, 0.30), (-1.52, -1.85, 0.85, 0.30)], 0.12))
    fin = wing([(-1.05, -1.85, 0.0, 0.30), (-1.55, -1.95, 0.0, 1.02)], 0.12, upright=True)
    screen = beam((1.50, 0.0, 0.22), (1.28, 0.0, 0.34), 0.44, 0.06)
    band = both(block((-0.6, 1.1), (0.325, 0.35), (-0.06, 0.08)))
    return {
        "body": [hull, *wings, *tail],
        "accent": [fin, *band],
        "glass": [screen],
        "trim": [*both(*nacelles), *both(*props)],
        "metal": both(*spinners),
    }


BUILDERS: tuple[Builder, ...] = (
    airliner, business_jet, biplane, seaplane, fighter, glider, high_wing_plane, cargo_plane,
)  # fmt: skip
