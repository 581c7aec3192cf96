"""Light and shadow as data: what both renderers agree on, and what the shader reads."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import cross
from etude.pose import Array, Vec3
from etude.scene.visual import Visual

HUGE = 4.0  # metres: what is wider (floor, walls) receives shadows and casts none


class Lights(NamedTuple):
    """Directions point **to** the lights (unit, world); colours are strengths."""

    ambient: NDArray[np.float32]  # (3,)
    key: NDArray[np.float32]  # (2, 3) direction, colour
    fills: NDArray[np.float32]  # (F, 2, 3)
    background: NDArray[np.uint8]  # (3,)


class ShadowMap(NamedTuple):
    """What the key light sees. Texel (i, j) holds −z at light coordinates ((i + 0.5 − cx) · texel, (j + 0.5 − cy) · texel)."""

    nearness: NDArray[np.float32]  # (H, W)
    axes: NDArray[np.float32]  # (3, 3) rows: right, down, forward of the light in the world
    texel: float  # metres
    cx: float
    cy: float
    on: bool


class Notes(NamedTuple):
    """How samples (H, W) were compared with the shadow map: in which tile, from 1 on, or 0 if they were not; at the first of which 2×2
    texels; at which depth; and four bits of what was lit. Of each row (H,), whether any sample is to be shaded anew."""

    tile: NDArray[np.int16]
    where: NDArray[np.int32]
    deep: NDArray[np.float32]
    lit: NDArray[np.uint8]
    rows: NDArray[np.uint8]


def casts(visual: Visual) -> bool:
    """Whether a visual throws a shadow: opaque, not told otherwise, and no wider than furniture is."""
    if not visual.shadow or visual.alpha < 1 or not len(visual.mesh.vertices):
        return False
    low, high = visual.mesh.bounds
    return float(np.max(high - low)) <= HUGE


def unit(direction: Vec3) -> Array:
    """A direction (3,) of length one."""
    d = np.array(direction, np.float64)
    return np.asarray(d / math.sqrt(float(np.square(d).sum())))


def light_axes(direction: Vec3) -> Array:
    """Right, down and forward of a light as rows (3, 3) in the world; forward is the way it shines."""
    forward = unit(direction)
    side = np.array((1.0, 0.0, 0.0) if abs(forward[0]) < 0.9 else (0.0, 1.0, 0.0))
    right = side - forward * float((side * forward).sum())
    right = right / math.sqrt(float(np.square(right).sum()))
    return np.stack([right, cross(forward, right), forward])
