"""What a robot felt during a take, in its parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.datasets.take import Take

Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Feeling:
    """The columns of ``Take.proprioception``, one row for each of the N + 1 looks; n joints. World frame, quaternions wxyz."""

    joints: Numbers  # (N + 1, n) rad
    velocities: Numbers  # (N + 1, n) rad/s
    position: Numbers  # (N + 1, 3) m, of the hand's tip
    rotation: Numbers  # (N + 1, 4)
    closed: Numbers  # (N + 1, 1) the hand's command: 0 or 1
    held: Numbers  # (N + 1, 1) is something in it: 0 or 1
    opening: Numbers  # (N + 1, 1) m between the fingers, 0 where there are none


def feeling_of(take: Take) -> Feeling:
    """The parts of a take's proprioception."""
    joints = (take.proprioception.shape[1] - 10) // 2
    widths = (joints, joints, 3, 4, 1, 1, 1)
    return Feeling(*np.split(take.proprioception, np.cumsum(widths)[:-1], axis=1))
