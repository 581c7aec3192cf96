"""Supersampling: a grid of samples twice as fine, and the filter that brings it back to pixels.

The grid has samples on the centres, edges and corners of all pixels, (2W + 1) × (2H + 1) of them. So the centres are the very samples of a
plain picture, and depth and segmentation, which are read there, do not change. Colour is weighted 1-2-1 in both directions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled


@compiled(error_model="numpy")
def choose(owner: NDArray[np.int32], wanted: NDArray[np.uint8]) -> None:
    """Mark the samples worth shading: all nine of a pixel that sees several triangles, only the centre of one that sees a single one.

    Inside a triangle textures and shadows are filtered already.
    """
    wanted[:, :] = 0
    for j in range(1, owner.shape[0], 2):
        for i in range(1, owner.shape[1], 2):
            wanted[j, i] = 1
            t = owner[j, i]
            if _mixed(owner, i, j, t):
                for dj in range(-1, 2):
                    for di in range(-1, 2):
                        wanted[j + dj, i + di] = 1


@compiled(error_model="numpy")
def _mixed(owner: NDArray[np.int32], i: int, j: int, t: int) -> bool:
    for dj in range(-1, 2):
        for di in range(-1, 2):
            if owner[j + dj, i + di] != t:
                return True
    return False


@compiled(error_model="numpy")
def resolve(owner: NDArray[np.int32], samples: NDArray[np.uint8], everywhere: bool, rgb: NDArray[np.uint8]) -> None:
    """Pixels (H, W, 3) from samples (2H + 1, 2W + 1, 3); light is averaged, not bytes."""
    for y in range(rgb.shape[0]):
        for x in range(rgb.shape[1]):
            j, i = 2 * y + 1, 2 * x + 1
            if not everywhere and not _mixed(owner, i, j, owner[j, i]):
                for k in range(3):
                    rgb[y, x, k] = samples[j, i, k]
                continue
            for k in range(3):
                total = np.int64(0)
                for dj in range(-1, 2):
                    for di in range(-1, 2):
                        value = np.int64(samples[j + dj, i + di, k])
                        total += (2 - abs(di)) * (2 - abs(dj)) * value * value
                rgb[y, x, k] = np.uint8(np.sqrt(total / 16.0) + 0.5)
