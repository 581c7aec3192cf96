"""Where a suction cup holds a shape best: the middle of the widest level patch of its top, preferably near its centre of mass."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import hypot, norms
from etude.catalog.keeping import kept_finding
from etude.catalog.shape import Shape
from etude.pose import Array, Vec3

GRID = 61  # columns and rows of the height map; odd, so that one falls on the middle
LEVEL = math.cos(math.radians(12))  # the steepest slope a cup seals on
STEP = 0.002  # a larger drop from one cell to the next is an edge, metres
ENOUGH = 0.015  # more room than this around the cup is not worth going away from the middle for, metres


@functools.lru_cache(maxsize=1024)
def suction_spot(shape: Shape, cup: float = 0.005) -> Vec3 | None:
    """A point on the top, in the frame of the shape, with at least ``cup`` metres of level surface around it; None if there is none."""
    found = kept_finding("suction", shape, [cup], lambda: _spot(shape, cup))
    return None if found is None else (found[0], found[1], found[2])


def _spot(shape: Shape, cup: float) -> Vec3 | None:
    x, y, heights, level = _height_map(shape)
    drop = np.zeros_like(level)
    for axis in (0, 1):
        edge = np.abs(np.diff(heights, axis=axis)) > STEP
        drop |= np.insert(edge, 0, False, axis) | np.insert(edge, edge.shape[axis], False, axis)
    spacing = (float(x[1] - x[0]), float(y[1] - y[0]))
    free = np.pad(level & ~drop, 1)
    room = depth(free, spacing)[1:-1, 1:-1]
    _, centre, _ = shape.mass_properties
    away = hypot(x[:, None] - centre[0], y[None] - centre[1])
    i, j = np.unravel_index(int(np.argmax(np.minimum(room, ENOUGH) - 0.1 * away)), room.shape)
    if room[i, j] < cup:
        return None
    return (float(x[i]), float(y[j]), float(heights[i, j]))


def depth(free: NDArray[np.bool_], spacing: tuple[float, float]) -> Array:
    """How far each cell (N, M) of a grid is from the nearest one that is not free; exact. ``spacing`` in metres along both axes."""
    columns, rows = free.shape
    steps = np.where(free, np.inf, 0.0)  # to the nearest such cell along the second axis
    for j in range(1, rows):
        np.minimum(steps[:, j], steps[:, j - 1] + 1, out=steps[:, j])
    for j in range(rows - 2, -1, -1):
        np.minimum(steps[:, j], steps[:, j + 1] + 1, out=steps[:, j])
    beside = np.square(steps * spacing[1])
    nearest = beside.copy()
    for k in range(1, columns):
        ahead = np.square(k * spacing[0])
        np.minimum(nearest[k:], beside[:-k] + ahead, out=nearest[k:])
        np.minimum(nearest[:-k], beside[k:] + ahead, out=nearest[:-k])
    return np.sqrt(nearest)


def _height_map(shape: Shape) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Columns x and rows y of a grid over the bounding box, height of the top at each (−∞ where there is none), and whether it is level."""
    lower, upper = shape.bounds
    x, y = (np.linspace(lower[k], upper[k], GRID + 2)[1:-1] for k in (0, 1))
    heights, level = np.full((GRID, GRID), -1e3), np.zeros((GRID, GRID), bool)
    corners = shape.mesh.vertices[shape.mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = across[:, 2] > 1e-14
    flat = across[:, 2] >= LEVEL * norms(across)
    for (a, b, c), normal, lies_flat in zip(corners[facing], across[facing], flat[facing], strict=True):
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        columns = slice(int(np.searchsorted(x, low[0] - 1e-9)), int(np.searchsorted(x, high[0] + 1e-9, "right")))
        rows = slice(int(np.searchsorted(y, low[1] - 1e-9)), int(np.searchsorted(y, high[1] + 1e-9, "right")))
        px, py = x[columns, None], y[None, rows]
        u = ((b[1] - c[1]) * (px - c[0]) + (c[0] - b[0]) * (py - c[1])) / normal[2]
        v = ((c[1] - a[1]) * (px - c[0]) + (a[0] - c[0]) * (py - c[1])) / normal[2]
        z = u * a[2] + v * b[2] + (1 - u - v) * c[2]
        above = (u > -1e-9) & (v > -1e-9) & (u + v < 1 + 1e-9) & (z > heights[columns, rows])
        heights[columns, rows] = np.where(above, z, heights[columns, rows])
        level[columns, rows] = np.where(above, lies_flat, level[columns, rows])
    return x, y, heights, level
