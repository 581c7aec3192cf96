"""Universal Robots UR5: six joints, published Denavit-Hartenberg parameters and limits; shapes of our own."""

from __future__ import annotations

import math

from etude.pose import Pose
from etude.scene.robots.anatomy import Arm, Link, Look, capsule_piece, dh, drum, sleeve, spun

SILVER, BLUE, DARK = "#c3c7cb", "#5b9bc8", "#4b4f55"
TURN = 2 * math.pi
RIGHT = math.pi / 2

# Along z, along x, about x: the step from each joint to the next.
D1, A2, A3, D4, D5, D6 = 0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823
STEPS = (dh(0, D1, RIGHT), dh(A2, 0, 0), dh(A3, 0, 0), dh(0, D4, RIGHT), dh(0, D5, -RIGHT), dh(0, D6, 0))
SIDE = 0.136  # the upper arm stands beside the shoulder
ELBOW = 0.0165  # and the forearm inside the elbow


def _joint(axis: tuple[float, float, float], radius: float, length: float, centre: tuple[float, float, float]) -> tuple[Look, ...]:
    """A silver housing closed by the blue caps that make a UR a UR."""
    x, y, z = axis
    cx, cy, cz = centre
    end = length / 2
    return (
        drum(axis, radius, length, SILVER, centre, bevel=0.008),
        spun([(0, 0), (radius * 0.92, 0), (radius * 0.88, 0.012), (radius * 0.6, 0.018), (0, 0.02)], BLUE,
             (cx + end * x, cy + end * y, cz + end * z), axis),
    )  # fmt: skip


LINKS = (
    Link(
        Pose(), (-TURN, TURN), 150, 3.14, 3.7,
        (
            spun([(0, 0.028), (0.06, 0.028), (0.06, 0.05), (0, 0.05)], SILVER),
            *_joint((0, 0, 1), 0.06, 0.11, (0, 0, D1)),
            drum((0, -1, 0), 0.058, 0.09, SILVER, (0, -0.045, D1)),
        ),
        (capsule_piece((0, 0, 0.08), (0, -0.03, D1), 0.06),),
    ),
    Link(
        STEPS[0], (-TURN, TURN), 150, 3.14, 8.393,
        (
            *_joint((0, 0, 1), 0.06, 0.11, (0, 0, SIDE)),
            sleeve([(0, 0, SIDE), (A2 * 0.15, 0, SIDE), (A2 * 0.85, 0, SIDE), (A2, 0, SIDE)], [0.052, 0.04, 0.04, 0.05], SILVER),
            *_joint((0, 0, 1), 0.056, 0.1, (A2, 0, SIDE - 0.004)),
        ),
        (capsule_piece((0, 0, SIDE), (A2, 0, SIDE), 0.058),),
    ),
    Link(
        STEPS[1], (-math.pi, math.pi), 150, 3.14, 2.275,
        (
            *(drum((0, 0, 1), 0.05, 0.07, SILVER, (0, 0, ELBOW + 0.03)),),
            sleeve([(0, 0, ELBOW), (A3 * 0.15, 0, ELBOW), (A3 * 0.85, 0, ELBOW), (A3, 0, ELBOW)], [0.046, 0.036, 0.034, 0.042], SILVER),
            *_joint((0, 0, -1), 0.045, 0.075, (A3, 0, ELBOW)),
        ),
        (capsule_piece((0, 0, ELBOW), (A3, 0, ELBOW), 0.046),),
    ),
    Link(
        STEPS[2], (-TURN, TURN), 28, 3.14, 1.219,
        (*_joint((0, 0, 1), 0.043, 0.085, (0, 0, D4 - 0.01)),),
        (capsule_piece((0, 0, 0.06), (0, 0, D4), 0.043),),
    ),
    Link(
        STEPS[3], (-TURN, TURN), 28, 3.14, 1.219,
        (*_joint((0, 0, 1), 0.043, 0.085, (0, 0, D5 - 0.01)), drum((0, 1, 0), 0.04, 0.03, SILVER, (0, -0.035, D5))),
        (capsule_piece((0, 0, 0.04), (0, 0, D5), 0.043),),
    ),
    Link(
        STEPS[4], (-TURN, TURN), 28, 3.14, 0.1879,
        (
            drum((0, 0, 1), 0.036, 0.03, SILVER, (0, 0, D6 - 0.022), bevel=0.004),
            drum((0, 0, 1), 0.032, 0.008, DARK, (0, 0, D6 - 0.004), bevel=0.002),
        ),
        (capsule_piece((0, 0, D6 - 0.035), (0, 0, D6 - 0.033), 0.034),),
    ),
)  # fmt: skip

UR5 = Arm(
    name="ur5",
    links=LINKS,
    flange=STEPS[5],
    home=(-math.pi, -RIGHT, RIGHT, -RIGHT, -RIGHT, 0.0),
    stiffness=(5000, 5000, 3500, 1500, 1500, 1000),
    base_looks=(spun([(0, 0), (0.075, 0), (0.075, 0.01), (0.07, 0.014), (0.07, 0.026), (0.062, 0.03), (0, 0.03)], DARK),),
    base_pieces=(capsule_piece((0, 0, 0.06), (0, 0, 0.062), 0.06),),
)
