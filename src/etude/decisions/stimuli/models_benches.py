"""Benches: wide, thin and on legs, with a back; wood, iron and stone, never upholstered."""

from __future__ import annotations

import numpy as np

from etude.catalog.mesh import Mesh
from etude.catalog.polygon import rounded
from etude.decisions.stimuli.forms import Builder, Parts, across_y, across_z, arc_about, beam, bent, block, both, drum, rod
from etude.pose import Vec2

LENGTH = 0.72  # half of it


def park_bench() -> Parts:
    """Long slats on two curved iron frames with round arms."""
    seat = [block((x - 0.045, x + 0.045), (-LENGTH, LENGTH), (0.42, 0.455)) for x in (-0.13, -0.02, 0.09, 0.20)]
    back = [beam((x, -LENGTH, z), (x, LENGTH, z), 0.03, 0.085) for x, z in ((-0.20, 0.56), (-0.235, 0.68), (-0.27, 0.80))]
    frame = bent(
        [(0.24, 0.0, 0.0), (0.20, 0.0, 0.20), (0.22, 0.0, 0.40), (-0.14, 0.0, 0.41), (-0.22, 0.0, 0.56), (-0.30, 0.0, 0.86)], 0.026
    )
    rear = bent([(-0.14, 0.0, 0.41), (-0.20, 0.0, 0.22), (-0.30, 0.0, 0.0)], 0.026)
    arm = bent([(0.21, 0.0, 0.42), (0.27, 0.0, 0.53), (0.20, 0.0, 0.64), (0.0, 0.0, 0.65), (-0.24, 0.0, 0.66)], 0.026)
    return {"main": seat + back, "trim": both(*(m.moved((0.0, 0.6, 0.0)) for m in (frame, rear, arm)))}


def plank_bench() -> Parts:
    """One thick plank between two stone blocks, one plank behind."""
    ends = both(block((-0.24, 0.24), (0.46, 0.64), (0.0, 0.38)))
    seat = block((-0.24, 0.24), (-LENGTH, LENGTH), (0.38, 0.46))
    posts = both(beam((-0.22, 0.55, 0.40), (-0.30, 0.55, 0.84), 0.10, 0.05))
    back = beam((-0.265, -LENGTH, 0.76), (-0.265, LENGTH, 0.76), 0.05, 0.24)
    return {"main": [seat, back], "accent": ends, "trim": posts}


def garden_bench() -> Parts:
    """Square legs, flat arms, a back of upright laths."""
    legs = both(block((0.17, 0.23), (0.66, 0.72), (0.0, 0.64)), block((-0.25, -0.19), (0.66, 0.72), (0.0, 0.88)))
    arms = both(block((-0.24, 0.27), (0.64, 0.74), (0.64, 0.68)))
    rails = [block((-0.24, -0.20), (-0.66, 0.66), z) for z in ((0.82, 0.88), (0.52, 0.57))]
    laths = [block((-0.235, -0.205), (y - 0.028, y + 0.028), (0.55, 0.84)) for y in np.linspace(-0.57, 0.57, 11)]
    seat = [block((x - 0.05, x + 0.05), (-0.68, 0.68), (0.41, 0.45)) for x in (-0.12, 0.0, 0.12, 0.20)]
    apron = [block((0.19, 0.22), (-0.68, 0.68), (0.33, 0.41)), block((-0.22, -0.19), (-0.68, 0.68), (0.33, 0.41))]
    return {"main": legs + arms + rails + seat + apron, "accent": laths}


def pew() -> Parts:
    """A church bench: a high closed back between solid ends with round heads."""
    head = [(0.20, 0.0), (0.20, 0.50), (0.10, 0.62), (-0.04, 0.66), *arc_about((-0.15, 0.90), 0.13, 20, 180, 8).tolist(), (-0.28, 0.0),
            (-0.18, 0.0), (-0.16, 0.28), (0.08, 0.28), (0.10, 0.0)]  # fmt: skip
    ends = both(across_y(head, (0.68, 0.75)))
    seat = block((-0.22, 0.20), (-0.68, 0.68), (0.41, 0.46))
    back = beam((-0.19, 0.0, 0.46), (-0.24, 0.0, 0.92), 1.36, 0.05)
    cap = block((-0.29, -0.18), (-0.68, 0.68), (0.91, 0.95))
    panels = [beam((-0.155, y, 0.54), (-0.19, y, 0.84), 0.34, 0.02) for y in (-0.44, 0.0, 0.44)]
    return {"main": [*ends, seat, back, cap], "accent": panels}


def station_bench() -> Parts:
    """Bent steel strips, close together, on a frame of tube with two bows for legs."""
    line = np.array([(0.24, 0.44), (0.14, 0.455), (-0.02, 0.43), (-0.14, 0.44), (-0.20, 0.54), (-0.26, 0.72), (-0.33, 0.86)])
    half = np.array([0.0, 0.013])
    strip = np.vstack([line + half, (line - half)[::-1]])
    strips = [across_y(strip, (y - 0.032, y + 0.032)) for y in np.linspace(-0.66, 0.66, 14)]
    bow = bent([(0.26, 0.45, 0.0), (0.20, 0.45, 0.02), (0.05, 0.45, 0.24), (0.0, 0.45, 0.40)], 0.03)
    heel = bent([(-0.30, 0.45, 0.0), (-0.22, 0.45, 0.02), (-0.06, 0.45, 0.24), (-0.02, 0.45, 0.40)], 0.03)
    bars = [rod((0.22, -LENGTH, 0.42), (0.22, LENGTH, 0.42), 0.022), rod((-0.02, -LENGTH, 0.40), (-0.02, LENGTH, 0.40), 0.03),
            rod((-0.34, -LENGTH, 0.87), (-0.34, LENGTH, 0.87), 0.026)]  # fmt: skip
    return {"main": strips, "trim": both(bow, heel) + bars}


def log_bench() -> Parts:
    """Half a trunk for a seat, on two stumps, a whole trunk for a back."""
    half = across_y(arc_about((0.0, 0.46), 0.22, 180, 360, 10), (-LENGTH, LENGTH))
    stumps = both(drum(0.17, (0.0, 0.45, 0.14), 0.28, segments=14, top=0.15))
    log = drum(0.10, (-0.30, 0.0, 0.76), 1.5, "y", 12)
    posts = both(rod((-0.14, 0.40, 0.30), (-0.29, 0.40, 0.78), 0.045))
    return {"main": [half, log], "accent": stumps, "trim": posts}


def curved_bench() -> Parts:
    """A bench around a quarter of a circle, its laths running round it."""
    centre = (0.95, 0.0)

    def band(inner: float, outer: float, z: Vec2) -> Mesh:
        return across_z(np.vstack([arc_about(centre, outer, 138, 222, 12), arc_about(centre, inner, 222, 138, 12)]), z)

    seat = [band(r, r + 0.09, (0.42, 0.46)) for r in (0.72, 0.83, 0.94)]
    back = [band(r, r + 0.035, z) for r, z in ((1.06, (0.56, 0.66)), (1.08, (0.73, 0.83)))]
    legs = []
    for angle in (144, 180, 216):
        near, far, top = (arc_about(centre, r, angle, angle, 1)[0].tolist() for r in (0.75, 1.0, 1.115))
        legs += [rod((*near, 0.0), (*near, 0.43), 0.03), beam((*far, 0.0), (*top, 0.85), 0.07, 0.05)]
    return {"main": seat + back, "trim": legs}


def crossed_bench() -> Parts:
    """Crossed legs, a middle arm between two places, thin rails behind."""
    cross = [beam((0.24, 0.0, 0.0), (-0.16, 0.0, 0.44), 0.07, 0.07), beam((-0.24, 0.0, 0.0), (0.16, 0.0, 0.44), 0.07, 0.07)]
    legs = both(*(m.moved((0.0, 0.56, 0.0)) for m in cross))
    tie = rod((0.03, -0.56, 0.20), (0.03, 0.56, 0.20), 0.025)
    seat = across_z(rounded([(-0.24, -LENGTH), (0.26, -LENGTH), (0.26, LENGTH), (-0.24, LENGTH)], 0.12), (0.43, 0.48))
    posts = [beam((-0.20, y, 0.46), (-0.30, y, 0.92), 0.06, 0.05) for y in (-0.62, 0.0, 0.62)]
    rails = [rod((x, -0.68, z), (x, 0.68, z), 0.024) for x, z in ((-0.235, 0.62), (-0.26, 0.74), (-0.285, 0.86))]
    arms = [block((-0.25, 0.20), (y - 0.035, y + 0.035), (0.64, 0.68)) for y in (-0.62, 0.0, 0.62)]
    arms += [rod((0.16, y, 0.46), (0.16, y, 0.66), 0.022) for y in (-0.62, 0.0, 0.62)]
    return {"main": [seat, *legs, *posts], "accent": rails, "trim": [tie, *arms]}


BUILDERS: tuple[Builder, ...] = (
    park_bench, plank_bench, garden_bench, pew, station_bench, log_bench, curved_bench, crossed_bench,
)  # fmt: skip
