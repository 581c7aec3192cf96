"""What partial success is worth: the common parts of dense rewards."""

from __future__ import annotations

import math

from etude.goals.goal import Status
from etude.pose import Array, Vec3

HOVER = 0.15  # m: height above its target at which a carried thing is best moved
NEAR = 0.03  # m: close enough across to start lowering


def judged(satisfied: bool, reward: float, ceiling: float, violated: bool = False) -> Status:
    """A status whose progress is the share of the reward's ceiling."""
    return Status(satisfied, 1.0 if satisfied else min(0.99, max(0.0, reward / ceiling)), reward, violated)


def across_of(a: Array | Vec3, b: Array | Vec3) -> float:
    """Distance seen from above, metres."""
    return math.hypot(a[0] - b[0], a[1] - b[1])


def carrying(across: float, above: float, turn: float | None = None) -> float:
    """Shaping, from 2 to 5, while a thing is carried to its place: over there high up, then down."""
    if across < NEAR and (turn is None or turn < 0.05 * math.pi):
        return 4.0 if above < 0 else 4.0 + math.exp(-6.0 * above)
    far = math.exp(-max(0.0, across - NEAR))
    if turn is not None:
        far = (far + 1.0 - turn / math.pi) / 2
    return 2.0 + far + math.exp(-max(0.0, 6.0 * (HOVER - above)))
