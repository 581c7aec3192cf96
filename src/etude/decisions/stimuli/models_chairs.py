"""Chairs: a seat for one with a back, on thin legs or a foot."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import unit
from etude.catalog.household.forms import arc
from etude.catalog.mesh import Mesh
from etude.catalog.polygon import rounded
from etude.decisions.stimuli.forms import (
    SOFT,
    Builder,
    Parts,
    across_x,
    across_y,
    across_z,
    arc_about,
    beam,
    bent,
    block,
    both,
    cushion,
    drum,
    rod,
    skin,
    spun,
)


def ladder_back_chair() -> Parts:
    """Four square legs, the rear ones rising to a back of three rungs."""
    front = both(block((0.17, 0.22), (0.16, 0.21), (0.0, 0.44)))
    rear = both(beam((-0.20, 0.185, 0.0), (-0.20, 0.185, 0.46), 0.05), beam((-0.20, 0.185, 0.44), (-0.29, 0.185, 1.0), 0.05))
    rungs = [beam((x, -0.18, z), (x, 0.18, z), 0.03, 0.07) for x, z in ((-0.22, 0.60), (-0.247, 0.76), (-0.275, 0.92))]
    seat = block((-0.22, 0.24), (-0.22, 0.22), (0.44, 0.48))
    ties = both(block((-0.20, 0.19), (0.175, 0.195), (0.18, 0.21)))
    return {"main": [*front, *rear, *ties, *rungs], "accent": [seat]}


def windsor_chair() -> Parts:
    """Splayed turned legs, a saddle seat, thin spindles under a bow."""
    seat = across_z(rounded([(-0.20, -0.17), (0.23, -0.23), (0.23, 0.23), (-0.20, 0.17)], 0.12), (0.43, 0.48), 0.01)
    legs = both(rod((0.25, 0.25, 0.0), (0.15, 0.15, 0.44), 0.018, 0.026), rod((-0.27, 0.23, 0.0), (-0.14, 0.12, 0.44), 0.018, 0.026))
    bow = [(-0.17 - 0.22 * s, 0.235 * c, 0.46 + 0.56 * s) for c, s in arc(1.0, 0, 180, 15)]
    spindles = []
    for y in np.linspace(-0.16, 0.16, 6):
        height = math.sqrt(1 - (y / 0.235) ** 2)
        spindles.append(rod((-0.165, 0.75 * y, 0.46), (-0.17 - 0.22 * height, y, 0.46 + 0.56 * height), 0.010, segments=6))
    stretchers = [*both(rod((0.21, 0.21, 0.17), (-0.22, 0.19, 0.17), 0.013)), rod((0.0, -0.2, 0.17), (0.0, 0.2, 0.17), 0.013)]
    return {"main": [seat, *legs, bent([tuple(p) for p in bow], 0.02, steps=1)], "accent": spindles, "trim": stretchers}


def office_chair() -> Parts:
    """A padded seat and back on a column, on a star of five arms with castors."""
    star = []
    castors = []
    for k in range(5):
        c, s = math.cos(2 * math.pi * k / 5), math.sin(2 * math.pi * k / 5)
        star.append(beam((0.0, 0.0, 0.13), (0.29 * c, 0.29 * s, 0.08), 0.05, 0.04))
        castors.append(drum(0.04, (0.29 * c, 0.29 * s, 0.04), 0.05, "y", 10))
    column = drum(0.035, (0.0, 0.0, 0.26), 0.30)
    seat = cushion((-0.22, 0.24), (-0.24, 0.24), (0.40, 0.52), 0.35)
    back = cushion((-0.30, -0.22), (-0.20, 0.20), (0.62, 1.02), 0.35)
    spine = bent([(-0.10, 0.0, 0.41), (-0.28, 0.0, 0.44), (-0.31, 0.0, 0.70)], 0.03)
    arms = both(bent([(0.0, 0.22, 0.45), (0.0, 0.29, 0.50), (0.0, 0.29, 0.66)], 0.018), block((-0.13, 0.13), (0.26, 0.32), (0.66, 0.69)))
    return {"main": [seat, back], "trim": [*star, column, spine, *arms], "tyre": castors}


def cantilever_chair() -> Parts:
    """One bent steel tube without rear legs carries seat and back."""
    side = bent(
        [(-0.22, 0.20, 0.02), (0.10, 0.20, 0.02), (0.22, 0.20, 0.04), (0.24, 0.20, 0.20), (0.23, 0.20, 0.42), (0.14, 0.20, 0.46),
         (-0.14, 0.20, 0.44), (-0.22, 0.20, 0.50), (-0.27, 0.20, 0.70), (-0.31, 0.20, 0.96)], 0.02)  # fmt: skip
    cross = rod((-0.22, -0.20, 0.02), (-0.22, 0.20, 0.02), 0.02)
    seat = cushion((-0.17, 0.21), (-0.20, 0.20), (0.45, 0.51), 0.2)
    back = beam((-0.24, 0.0, 0.62), (-0.315, 0.0, 0.98), 0.42, 0.04)
    return {"main": [seat, back], "metal": [*both(side), cross]}


def folding_chair() -> Parts:
    """Two frames crossed like scissors; seat and back are boards."""
    long = both(beam((0.26, 0.19, 0.0), (-0.26, 0.19, 0.92), 0.03, 0.045))
    short = both(beam((-0.26, 0.15, 0.0), (0.20, 0.15, 0.46), 0.03, 0.045))
    seat = [block((x - 0.042, x + 0.042), (-0.17, 0.17), (0.455, 0.48)) for x in (-0.10, 0.0, 0.10, 0.20)]
    back = [beam((x, -0.19, z), (x, 0.19, z), 0.02, 0.11) for x, z in ((-0.185, 0.72), (-0.25, 0.86))]
    ties = [rod((-0.21, -0.15, 0.05), (-0.21, 0.15, 0.05), 0.015), rod((0.21, -0.19, 0.09), (0.21, 0.19, 0.09), 0.015)]
    return {"main": seat + back, "accent": long + short, "trim": ties}


def shell_chair() -> Parts:
    """A moulded shell on four splayed dowels."""
    line = [(0.24, 0.44, 0.17), (0.20, 0.455, 0.21), (0.05, 0.44, 0.23), (-0.10, 0.44, 0.235), (-0.19, 0.50, 0.235), (-0.23, 0.62, 0.23),
            (-0.27, 0.76, 0.20), (-0.30, 0.84, 0.13)]  # fmt: skip
    shell = _shell(line)
    legs = both(rod((0.25, 0.23, 0.0), (0.08, 0.10, 0.44), 0.016, 0.022), rod((-0.25, 0.23, 0.0), (-0.08, 0.10, 0.44), 0.016, 0.022))
    wires = [*both(rod((0.16, 0.155, 0.22), (-0.16, 0.155, 0.22), 0.008)), rod((0.16, -0.155, 0.22), (-0.16, 0.155, 0.22), 0.008)]
    return {"main": [shell], "accent": legs, "trim": wires}


def _shell(line: list[tuple[float, float, float]]) -> Mesh:
    """A sheet bent along (x, z, half width), its edges turned up."""
    rings = []
    for k, (x, z, half) in enumerate(line):
        before, after = line[max(k - 1, 0)], line[min(k + 1, len(line) - 1)]
        along = np.array([after[0] - before[0], after[1] - before[1]])
        normal = unit((along[1], -along[0]))
        up = normal if normal[1] > 0 or normal[0] > 0 else -normal
        y = np.linspace(-1, 1, 9)
        lift = 0.07 * np.abs(y * y * y)
        inner = np.column_stack([x + up[0] * (lift + 0.012), half * y, z + up[1] * (lift + 0.012)])
        outer = np.column_stack([x + up[0] * (lift - 0.012), half * y, z + up[1] * (lift - 0.012)])
        rings.append(np.vstack([inner, outer[::-1]]))
    return skin(rings, SOFT)


def rocking_chair() -> Parts:
    """Slatted, with arms, on two curved runners."""
    runner = np.vstack([arc_about((-0.02, 0.96), 0.95, 246, 297, 12), arc_about((-0.02, 0.96), 0.91, 297, 246, 12)])
    runners = both(across_y(runner, (0.21, 0.25)))
    posts = both(rod((0.19, 0.23, 0.06), (0.19, 0.23, 0.66), 0.02), rod((-0.20, 0.23, 0.06), (-0.34, 0.23, 1.06), 0.02))
    arms = both(block((-0.28, 0.24), (0.19, 0.27), (0.65, 0.68)))
    seat = block((-0.22, 0.23), (-0.24, 0.24), (0.40, 0.44))
    back = [beam((-0.25, y, 0.46), (-0.335, y, 1.0), 0.04, 0.02) for y in (-0.14, -0.07, 0.0, 0.07, 0.14)]
    head = beam((-0.34, -0.25, 1.03), (-0.34, 0.25, 1.03), 0.03, 0.12)
    return {"main": [*runners, *posts, head, *arms], "accent": [seat], "trim": back}


def throne() -> Parts:
    """A tall closed back with a pointed head, solid arms, a cushion, knobs."""
    back = across_x([(-0.25, 0.40), (0.25, 0.40), (0.25, 1.02), (0.0, 1.22), (-0.25, 1.02)], (-0.26, -0.20))
    field = across_x([(-0.17, 0.56), (0.17, 0.56), (0.17, 0.96), (0.0, 1.09), (-0.17, 0.96)], (-0.205, -0.18))
    legs = both(block((0.16, 0.24), (0.18, 0.26), (0.0, 0.66)), block((-0.27, -0.19), (0.18, 0.26), (0.0, 0.90)))
    arms = both(block((-0.22, 0.26), (0.17, 0.27), (0.64, 0.70)))
    seat = block((-0.24, 0.24), (-0.24, 0.24), (0.34, 0.42))
    pad = cushion((-0.18, 0.22), (-0.17, 0.17), (0.42, 0.50), 0.3)
    knob = [(0.0, 0.0), (0.045, 0.02), (0.055, 0.055), (0.035, 0.09), (0.0, 0.10)]
    knobs = [*both(spun(knob, (-0.23, 0.235, 1.02), 10)), spun(knob, (-0.23, 0.0, 1.20), 10), *both(spun(knob, (0.22, 0.22, 0.69), 10))]
    return {"main": [back, *legs, *arms, seat], "accent": [field, pad], "trim": knobs}


BUILDERS: tuple[Builder, ...] = (
    ladder_back_chair, windsor_chair, office_chair, folding_chair, cantilever_chair, shell_chair, throne, rocking_chair,
)  # fmt: skip
