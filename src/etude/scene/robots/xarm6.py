"""UFactory xArm6: six joints, published kinematics, limits and masses; shapes of our own."""

from __future__ import annotations

import math

from etude.pose import Pose, Vec3, euler_quat
from etude.scene.robots.anatomy import Arm, Link, block, capsule_piece, drum, sleeve, spun

WHITE, SILVER, DARK = "#f1f1ee", "#aeb3b8", "#4a4e54"
RIGHT = math.pi / 2
TURN = 2 * math.pi


def _at(position: Vec3, roll: float = 0.0) -> Pose:
    return Pose(position, euler_quat(roll, 0.0, 0.0))


LINKS = (
    Link(
        _at((0, 0, 0.267)), (-TURN, TURN), 50, 3.14, 2.16,
        (
            spun([(0, -0.105), (0.058, -0.105), (0.06, -0.095), (0.058, -0.04), (0.052, 0.0), (0, 0.0)], WHITE),
            drum((0, 1, 0), 0.06, 0.13, WHITE),
            drum((0, 1, 0), 0.047, 0.138, SILVER, bevel=0.004),
        ),
        (capsule_piece((0, 0, -0.06), (0, 0, 0), 0.06), capsule_piece((0, -0.03, 0), (0, 0.03, 0), 0.06)),
    ),
    Link(
        _at((0, 0, 0), -RIGHT), (-2.059, 2.0944), 50, 3.14, 1.71,
        (
            # The upper arm stands beside the shoulder drum and leans forward to the elbow.
            sleeve([(0, 0, 0.055), (0.002, -0.07, 0.06), (0.01, -0.2, 0.06), (0.045, -0.262, 0.055), (0.0535, -0.2845, 0.05)],
                   [0.052, 0.047, 0.045, 0.047, 0.05], WHITE),
            drum((0, 0, 1), 0.056, 0.045, WHITE, (0, 0, 0.075)),
            drum((0, 0, 1), 0.056, 0.045, WHITE, (0.0535, -0.2845, 0.075)),
            drum((0, 0, 1), 0.042, 0.05, SILVER, (0.0535, -0.2845, 0.077), bevel=0.004),
        ),
        (capsule_piece((0, 0, 0.05), (0.0535, -0.2845, 0.05), 0.055),),
    ),
    Link(
        _at((0.0535, -0.2845, 0)), (-3.927, 0.19198), 32, 3.14, 1.384,
        (
            drum((0, 0, 1), 0.054, 0.1, WHITE),
            sleeve([(0, 0, -0.01), (0.045, 0.05, 0), (0.0745, 0.13, 0), (0.0775, 0.2, 0)], [0.052, 0.05, 0.047, 0.046], WHITE),
            drum((0, 1, 0), 0.049, 0.012, SILVER, (0.0775, 0.2, 0), bevel=0.003),
        ),
        (capsule_piece((0, 0, 0), (0.0775, 0.1, 0), 0.052), capsule_piece((0.0775, 0.1, 0), (0.0775, 0.17, 0), 0.047)),
    ),
    Link(
        _at((0.0775, 0.3425, 0), -RIGHT), (-TURN, TURN), 32, 3.14, 1.115,
        (
            sleeve([(0, 0, -0.136), (0, 0, -0.08), (0, 0, -0.035)], [0.046, 0.045, 0.044], WHITE),
            drum((0, 1, 0), 0.048, 0.11, WHITE),
            drum((0, 1, 0), 0.036, 0.117, SILVER, bevel=0.004),
        ),
        (capsule_piece((0, 0, -0.11), (0, 0, -0.01), 0.047),),
    ),
    Link(
        _at((0, 0, 0), RIGHT), (-1.69297, math.pi), 32, 3.14, 1.275,
        (
            sleeve([(0, 0, 0.0), (0.04, 0.01, 0), (0.07, 0.04, 0), (0.076, 0.066, 0)], [0.044, 0.044, 0.042, 0.04], WHITE),
            drum((0, 1, 0), 0.0405, 0.01, SILVER, (0.076, 0.066, 0), bevel=0.003),
        ),
        (capsule_piece((0, 0, 0), (0.07, 0.03, 0), 0.045),),
    ),
    Link(
        _at((0.076, 0.097, 0), -RIGHT), (-TURN, TURN), 20, 3.14, 0.1096,
        (spun([(0, -0.027), (0.037, -0.027), (0.038, -0.02), (0.038, -0.003), (0.036, 0.0), (0, 0.0)], SILVER),),
        (capsule_piece((0, 0, -0.03), (0, 0, -0.025), 0.035),),
    ),
)  # fmt: skip

XARM6 = Arm(
    name="xarm6",
    links=LINKS,
    flange=Pose(),
    home=(0.0, 0.0, -math.pi / 2, 0.0, math.pi / 2, 0.0),
    stiffness=(3500, 3500, 2500, 1500, 1500, 800),
    base_looks=(
        spun([(0, 0), (0.063, 0), (0.063, 0.012), (0.06, 0.014), (0.06, 0.155), (0.057, 0.16), (0, 0.16)], WHITE),
        block((0.04, 0.08, 0.07), WHITE, (-0.055, 0.0, 0.06)),
        block((0.006, 0.06, 0.05), DARK, (-0.077, 0.0, 0.06)),
    ),
    base_pieces=(capsule_piece((0, 0, 0.06), (0, 0, 0.1), 0.062),),
)
