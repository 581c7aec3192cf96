"""Couches: low, wide and stuffed; arms, seats and backs are thick cushions."""

from __future__ import annotations

import math

import numpy as np

from etude.catalog.mesh import Mesh
from etude.decisions.stimuli.forms import SOFT, Builder, Parts, across_x, across_y, block, both, cushion, drum, rod, skin
from etude.pose import Array


def _feet(x: float, y: float, height: float, radius: float = 0.04) -> list[Mesh]:
    return both(drum(radius, (x, y, height / 2), height, segments=8), drum(radius, (-x, y, height / 2), height, segments=8))


def box_sofa() -> Parts:
    """Square arms, three seats and three back cushions."""
    base = block((-0.42, 0.42), (-1.0, 1.0), (0.08, 0.26))
    back = cushion((-0.46, -0.26), (-1.0, 1.0), (0.10, 0.74), 0.12)
    arms = both(cushion((-0.44, 0.46), (0.86, 1.08), (0.08, 0.60), 0.12))
    seats = [cushion((-0.28, 0.45), (y - 0.283, y + 0.283), (0.25, 0.43), 0.25) for y in (-0.57, 0.0, 0.57)]
    rests = [cushion((-0.30, -0.10), (y - 0.27, y + 0.27), (0.42, 0.84), 0.35) for y in (-0.57, 0.0, 0.57)]
    return {"body": [base, back, *arms, *seats, *rests], "trim": _feet(0.36, 0.92, 0.09)}


def rolled_arm_sofa() -> Parts:
    """Round rolled arms, one long seat, a low scalloped skirt."""
    base = block((-0.40, 0.40), (-0.86, 0.86), (0.0, 0.28))
    seat = cushion((-0.30, 0.46), (-0.86, 0.86), (0.26, 0.46), 0.3)
    back = cushion((-0.48, -0.24), (-0.90, 0.90), (0.2, 0.86), 0.4)
    arms = both(block((-0.40, 0.42), (0.86, 1.02), (0.0, 0.5)), drum(0.17, (0.0, 0.98, 0.54), 0.90, "x", 16))
    knobs = both(drum(0.10, (0.455, 0.98, 0.54), 0.03, "x", 14))
    pillows = both(cushion((-0.24, -0.08), (0.42, 0.80), (0.44, 0.76), 0.6))
    return {"body": [base, back, *arms], "accent": [seat, *knobs, *pillows]}


def chesterfield() -> Parts:
    """Arms as high as the back, all rolled, with rows of buttons."""
    base = block((-0.42, 0.40), (-1.0, 1.0), (0.10, 0.34))
    back = [block((-0.44, -0.26), (-1.0, 1.0), (0.1, 0.66)), drum(0.13, (-0.38, 0.0, 0.68), 2.2, "y", 14)]
    arms = both(block((-0.40, 0.40), (0.84, 1.0), (0.1, 0.66)), drum(0.13, (0.02, 0.97, 0.68), 0.84, "x", 14))
    seats = both(cushion((-0.28, 0.44), (0.0, 0.86), (0.32, 0.48), 0.25))
    buttons = [
        drum(0.028, (-0.25, y, z), 0.05, "x", 8)
        for z, ys in ((0.64, np.linspace(-0.7, 0.7, 6)), (0.56, np.linspace(-0.56, 0.56, 5)))
        for y in ys
    ]
    front = both(drum(0.028, (0.45, 0.97, 0.68), 0.03, "x", 8))
    return {"body": [base, *back, *arms], "accent": seats, "trim": [*buttons, *front, *_feet(0.34, 0.90, 0.11, 0.05)]}


def corner_sofa() -> Parts:
    """An L: the left place reaches far to the front."""
    base = [block((-0.45, 0.35), (-1.05, 1.05), (0.08, 0.28)), block((0.30, 1.0), (0.35, 1.05), (0.08, 0.28))]
    back = cushion((-0.50, -0.30), (-1.05, 1.05), (0.08, 0.74), 0.15)
    side = cushion((-0.50, 1.0), (0.90, 1.10), (0.08, 0.74), 0.15)
    arm = cushion((-0.48, 0.40), (-1.15, -0.97), (0.08, 0.56), 0.15)
    seats = [cushion((-0.32, 0.40), (-0.98, -0.32), (0.27, 0.44), 0.25), cushion((-0.32, 0.40), (-0.32, 0.34), (0.27, 0.44), 0.25),
             cushion((-0.32, 1.02), (0.34, 0.92), (0.27, 0.44), 0.2)]  # fmt: skip
    pillow = [cushion((-0.30, -0.14), (-0.90, -0.50), (0.42, 0.74), 0.6), cushion((-0.30, -0.14), (0.42, 0.84), (0.42, 0.74), 0.6)]
    return {"body": [*base, back, side, arm, *seats], "accent": pillow, "trim": _feet(0.40, 0.96, 0.09)}


def chaise_longue() -> Parts:
    """A day bed with one swept end and a bolster."""
    line = np.array(
        [(-0.98, 0.86), (-0.86, 0.90), (-0.70, 0.62), (-0.50, 0.44), (0.90, 0.42), (1.0, 0.36), (1.0, 0.24), (-0.80, 0.22), (-0.94, 0.44)]
    )
    body = across_x(line, (-0.34, 0.36), 0.03)
    back = cushion((-0.40, -0.22), (-0.85, 0.30), (0.24, 0.74), 0.35)
    bolster = drum(0.11, (0.04, -0.52, 0.60), 0.56, "x", 14)
    legs = both(rod((0.30, 0.90, 0.0), (0.26, 0.84, 0.24), 0.03, 0.05), rod((-0.30, 0.90, 0.0), (-0.26, 0.84, 0.24), 0.03, 0.05))
    return {"body": [body, back], "accent": [bolster], "trim": legs}


def futon() -> Parts:
    """One folded mattress without arms on a slatted wooden frame."""
    seat = cushion((-0.30, 0.48), (-0.95, 0.95), (0.30, 0.52), 0.4)
    back = cushion((-0.50, -0.28), (-0.95, 0.95), (0.40, 0.98), 0.4)
    slats = [block((x - 0.05, x + 0.05), (-0.98, 0.98), (0.24, 0.29)) for x in (-0.30, -0.10, 0.10, 0.30, 0.46)]
    frame = both(
        block((-0.46, 0.48), (0.86, 0.94), (0.14, 0.24)),
        block((0.38, 0.46), (0.86, 0.94), (0.0, 0.24)),
        block((-0.52, -0.44), (0.86, 0.94), (0.0, 0.60)),
    )
    return {"body": [seat, back], "accent": slats + frame}


def camel_back_sofa() -> Parts:
    """A love seat: the back rises to a hump; sloping arms, high legs."""
    hump = [(y, 0.62 + 0.34 * math.pow(math.cos(y / 0.66 * math.pi / 2), 1.2)) for y in np.linspace(0.66, -0.66, 15)]
    back = across_x([(-0.66, 0.30), (0.66, 0.30), *hump], (-0.42, -0.24), 0.03)
    base = block((-0.36, 0.38), (-0.66, 0.66), (0.22, 0.36))
    seat = both(cushion((-0.26, 0.42), (0.0, 0.62), (0.35, 0.50), 0.3))
    arm = [(-0.42, 0.22), (0.36, 0.22), (0.42, 0.56), (0.30, 0.60), (-0.10, 0.62), (-0.42, 0.80)]
    arms = both(across_y(arm, (0.62, 0.76), 0.03))
    legs = both(rod((0.34, 0.66, 0.0), (0.32, 0.64, 0.24), 0.025, 0.045), rod((-0.40, 0.66, 0.0), (-0.36, 0.64, 0.24), 0.025, 0.045))
    return {"body": [back, base, *arms], "accent": seat, "trim": legs}


def curved_sofa() -> Parts:
    """A round-backed sofa that bends around its guests."""
    inner, outer, centre = 0.55, 1.2, np.array([0.75, 0.0])
    seat = _bow(inner, outer - 0.12, (0.10, 0.42), centre)
    back = _bow(outer - 0.18, outer + 0.04, (0.10, 0.80), centre)
    plinth = _bow(inner + 0.08, outer - 0.10, (0.0, 0.12), centre)
    pillows = [cushion((-0.14, 0.02), (y - 0.16, y + 0.16), (0.42, 0.70), 0.7) for y in (-0.22, 0.22)]
    return {"body": [seat, back], "accent": pillows, "trim": [plinth]}


def _bow(inner: float, outer: float, z: tuple[float, float], centre: Array) -> Mesh:
    """A soft bar of rectangular section bent around ``centre``."""
    rim = 0.045
    rings = []
    for angle in np.linspace(108, 252, 15):
        way = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        section = [(inner + rim, z[0]), (outer - rim, z[0]), (outer, z[0] + rim), (outer, z[1] - rim), (outer - rim, z[1]),
                   (inner + rim, z[1]), (inner, z[1] - rim), (inner, z[0] + rim)]  # fmt: skip
        rings.append([(*(centre + r * way), h) for r, h in section])
    return skin(rings, SOFT)


BUILDERS: tuple[Builder, ...] = (
    box_sofa, rolled_arm_sofa, chesterfield, corner_sofa, curved_sofa, camel_back_sofa, futon, chaise_longue,
)  # fmt: skip
