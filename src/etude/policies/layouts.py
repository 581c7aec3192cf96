"""Under which keys, and in which numbers, an observation is sent to a policy server."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from etude.arithmetic import norm
from etude.policies.policy import Observation
from etude.pose import Array

ROUNDING = 1e-6  # the last digits of a quaternion in single precision


def libero(observation: Observation, cameras: Sequence[str]) -> dict[str, Any]:
    """The observation under the keys of openpi's LIBERO policies.

    ``observation/state`` is float32 (8,): tip position (m, world), tip rotation as axis times angle (rad), and the places of the two
    fingers (m, of opposite sign).
    """
    felt = np.asarray(observation["proprioception"], float)
    position, rotation, opening = felt[-10:-7], felt[-7:-3], felt[-1]
    sent: dict[str, Any] = dict(zip(("observation/image", "observation/wrist_image"), (observation[c] for c in cameras), strict=False))
    fingers = (opening / 2, -opening / 2)
    sent["observation/state"] = np.concatenate([position, axis_angle(rotation), fingers]).astype(np.float32)
    sent["prompt"] = observation["instruction"]
    return sent


def axis_angle(quaternion: Array) -> Array:
    """The axis times the angle in [0, π], (3,), of a quaternion wxyz.

    A quaternion and its negative are one rotation, so both give the same: the one with w ≥ 0 is taken, and of half turns (w = 0) the one
    whose axis begins with a positive number. A hand that points straight down is half turned, so what is 0 but for rounding counts as 0.
    """
    q = np.asarray(quaternion, float)
    leading = q[np.flatnonzero(np.abs(q) > ROUNDING)[:1]]
    if (leading < 0).any():
        q = -q
    sine = norm(q[1:])
    angle = 2.0 * math.atan2(sine, float(q[0]))
    return q[1:] / sine * angle if sine > 0 else np.zeros(3)


def _own(observation: Observation, cameras: Sequence[str]) -> dict[str, Any]:
    return {**observation, "prompt": observation["instruction"]}


LAYOUTS: dict[str, Callable[[Observation, Sequence[str]], dict[str, Any]]] = {"etude": _own, "libero": libero}
