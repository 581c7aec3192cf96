"""What a skill wants next: where the tip should be, whether the hand is closed, and the words for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from etude.pose import Array, Pose, multiply
from etude.scene.manipulator import DELTA_POSITION, DELTA_ROTATION

TRAVEL = 0.015  # m for each control step, through free space
GENTLE = 0.008  # m, close to things
CREEP = 0.0025  # m, until something is touched
NOTHING = "Do nothing"  # the step of one who waits
AWAY = "Move back."  # of one who has let go of what is where it should be


@dataclass(frozen=True)
class Aim:
    """``tip`` is where the tip shall go (world), at most ``speed`` metres for each control step; ``closed`` the hand.

    ``task`` is the sub-task in words, ``step`` what is done for it right now.
    """

    tip: Pose
    closed: bool
    speed: float = TRAVEL
    task: str = ""
    step: str = ""


def delta(aim: Aim, tip: Pose) -> list[float]:
    """The six numbers of ``ee_delta`` in [−1, 1] that bring the tip, now at ``tip``, towards the aim."""
    offset = tip.inverse().point(*aim.tip.position)
    length = math.sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2])
    pace = aim.speed / length if length > aim.speed else 1.0
    a, b, c, d = tip.rotation
    w, x, y, z = multiply((a, -b, -c, -d), aim.tip.rotation)
    if w < 0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    angle = min(2.0 * math.atan2(sine, w), DELTA_ROTATION)
    shift = [min(max(v * pace / DELTA_POSITION, -1.0), 1.0) for v in offset]
    turn = [0.0, 0.0, 0.0] if sine < 1e-12 else [v / sine * angle / DELTA_ROTATION for v in (x, y, z)]
    return shift + turn


def delta_action(aim: Aim, tip: Pose) -> Array:
    """The same as an action of ``ee_delta`` (7,), the hand's last."""
    return np.array([*delta(aim, tip), 1.0 if aim.closed else -1.0])
