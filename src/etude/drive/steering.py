"""From what a person holds down to an action: six numbers in the frame of whoever looks on, and the hand.

The hand is led on a short leash. A place and an orientation are kept where the person wants the tip; keys move these, and every action
brings the tip there. So it stays where it was left, however heavy what it holds, and does not press much harder than it is asked to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import total
from etude.names import EtudeError
from etude.pose import Pose, Vec3, axis_quat, multiply, rotation_vector
from etude.skills.aim import Aim, delta_action

PACE, SLOW_PACE = 0.012, 0.003  # m for each control step: 24 and 6 cm/s
TURN, SLOW_TURN = 0.04, 0.01  # rad for each control step
HOLD, HOLD_TURN = 0.004, 0.03  # m and rad that the tip may be led by while nobody moves it: the pull against a weight


@dataclass(frozen=True)
class Steering:
    """What is held down. ``move``: right, away and up as the person sees it; ``turn``: about these axes, by the right-hand rule. All are
    from −1 to 1, as sticks give them. ``heading`` is where *away* points in the world: rad from x towards y. ``closed``: the hand."""

    move: Vec3 = (0.0, 0.0, 0.0)
    turn: Vec3 = (0.0, 0.0, 0.0)
    heading: float = 0.0
    slow: bool = False
    closed: bool = False

    @property
    def idle(self) -> bool:
        """Is nothing moved?"""
        return not any((*self.move, *self.turn))


def read_steering(data: Any) -> Steering:
    """What a page sends, if it is that: numbers that are finite, sticks no farther than they go."""
    match data:
        case {"move": [*move], "turn": [*turn], "heading": heading, "slow": bool(slow), "closed": bool(closed)}:
            numbers = [*move, *turn, heading]
            if len(move) == len(turn) == 3 and all(type(v) in (int, float) and math.isfinite(v) for v in numbers):
                x, y, z, a, b, c = (min(1.0, max(-1.0, float(v))) for v in numbers[:-1])
                return Steering((x, y, z), (a, b, c), math.remainder(heading, math.tau), slow, closed)
    raise EtudeError("what is held down is three numbers to move, three to turn, a heading, and whether it is slow and closed")


class Leash:
    """Where the tip shall be, as it is led step by step. It begins at ``tip``."""

    def __init__(self, tip: Pose) -> None:
        self._target = tip

    def action(self, steering: Steering, tip: Pose) -> NDArray[np.float32]:
        """The next action in ``ee_delta`` (7,), of the 32 bits in which it is stored; the tip is now at ``tip``."""
        shift, spin = self._wanted(steering)
        turn = math.hypot(*spin)
        ahead = _led([there + more - here for there, more, here in zip(self._target.position, shift, tip.position, strict=True)], shift)
        rotation = multiply(axis_quat(spin, turn), self._target.rotation) if turn else self._target.rotation
        left = rotation_vector((tip.inverse() * Pose.of((0, 0, 0), rotation)).rotation)
        angle = math.hypot(*left.tolist())
        if angle > max(turn, HOLD_TURN):
            rotation = multiply(tip.rotation, axis_quat(left, max(turn, HOLD_TURN)))
        self._target = Pose.of([here + more for here, more in zip(tip.position, ahead, strict=True)], rotation)
        return delta_action(Aim(self._target, steering.closed, 2 * PACE), tip).astype(np.float32)

    def _wanted(self, steering: Steering) -> tuple[Vec3, Vec3]:
        """How far the target is moved (m) and turned (rotation vector, rad), in the world."""
        pace, turn = (SLOW_PACE, SLOW_TURN) if steering.slow else (PACE, TURN)
        c, s = math.cos(steering.heading), math.sin(steering.heading)

        def in_world(seen: Vec3, most: float) -> Vec3:
            right, away, up = (v * most / max(1.0, math.hypot(*seen)) for v in seen)
            return (right * s + away * c, away * s - right * c, up)

        return in_world(steering.move, pace), in_world(steering.turn, turn)


def _led(ahead: list[float], shift: Vec3) -> list[float]:
    """How far the target may be before the tip (m): a step in the direction it is moved in, a little in all others, so that what strays
    from a straight way comes back to it."""
    pace = math.hypot(*shift)
    way = [v / pace for v in shift] if pace else [0.0] * 3
    along = min(total(a * w for a, w in zip(ahead, way, strict=True)), max(pace, HOLD))
    across = [a - w * total(b * v for b, v in zip(ahead, way, strict=True)) for a, w in zip(ahead, way, strict=True)]
    share = min(1.0, HOLD / (math.hypot(*across) or 1.0))
    return [along * w + share * a for a, w in zip(across, way, strict=True)]
