"""The shadows of the key light: a depth picture taken along it, made once per pose and shared by all cameras.

The texels lie on a grid fixed in the world: when the map follows its casters it moves by whole texels, so shadows neither shimmer
nor depend on what was rendered before.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from etude.pose import Array
from etude.render.geometry import Geometry
from etude.render.lighting import ShadowMap
from etude.render.raster import Scratch, View, draw

TEXEL = 0.0025  # metres
LARGEST = 1024  # texels on a side; larger scenes get coarser ones
BLOCK = 64  # the map begins and ends at multiples of this many texels
REACH = 4.0  # metres from the world's origin: what flew farther away casts no shadow, lest the map had to follow it
_FAR = 1e6


class Shadows:
    """The shadow map of one key light over one geometry, for one set of casters."""

    def __init__(self, axes: Array, geometry: Geometry, scratch: Scratch, casters: NDArray[np.uint8]) -> None:
        self._axes = axes
        self._geometry = geometry
        self._scratch = scratch
        self._casters = casters == 1
        self._still = (self._casters & (geometry.body == 0)).astype(np.uint8)
        self._moving = (self._casters & (geometry.body != 0)).astype(np.uint8)
        self._fit: tuple[float, int, int, int, int] | None = None
        self._background = np.zeros((0, 0), np.float32)
        self._nearness = np.zeros((0, 0), np.float32)
        self._nobody = np.zeros((0, 0), np.int32)

    def take(self) -> ShadowMap:
        """The map for the geometry as it stands now. Its memory is used again by the next call."""
        fit = self._fitted()
        if fit is None:
            return no_shadows(self._axes)
        texel, left, top, width, height = fit
        view = View(
            np.zeros(3), self._axes, False, 1 / texel, float(-left), float(-top), -_FAR, _FAR, width, height, 8, 128
        )  # fmt: skip
        if fit != self._fit:
            self._fit = fit
            self._background = np.full((height, width), -_FAR, np.float32)
            self._nearness = np.empty((height, width), np.float32)
            self._nobody = np.empty((height, width), np.int32)
            draw(view, self._geometry, self._still, self._scratch, self._background, self._nobody)
        np.copyto(self._nearness, self._background)
        draw(view, self._geometry, self._moving, self._scratch, self._nearness, self._nobody)
        return ShadowMap(self._nearness, self._axes.astype(np.float32), texel, view.cx, view.cy, True)

    def _fitted(self) -> tuple[float, int, int, int, int] | None:
        """Texel size and the block-aligned rectangle of texels (left, top, width, height) that holds all casters, if there are any."""
        g = self._geometry
        counted = self._casters & (np.square(g.centres).sum(1) <= REACH * REACH)
        if not counted.any():
            return None
        c, r = g.centres[counted], g.radii[counted]
        x = c[:, 0] * self._axes[0, 0] + c[:, 1] * self._axes[0, 1] + c[:, 2] * self._axes[0, 2]
        y = c[:, 0] * self._axes[1, 0] + c[:, 1] * self._axes[1, 1] + c[:, 2] * self._axes[1, 2]
        low = np.array([(x - r).min(), (y - r).min()])
        high = np.array([(x + r).max(), (y + r).max()])
        texel = TEXEL
        while True:
            block = BLOCK * texel
            first, last = np.floor(low / block).astype(int), np.ceil(high / block).astype(int) + 1
            if (last - first).max() * BLOCK <= LARGEST:
                break
            texel *= math.sqrt(2)
        left, top = (first * BLOCK).tolist()
        width, height = ((last - first) * BLOCK).tolist()
        return texel, left, top, width, height


def no_shadows(axes: Array) -> ShadowMap:
    """A map in whose world nothing casts a shadow."""
    return ShadowMap(np.zeros((1, 1), np.float32), axes.astype(np.float32), TEXEL, 0.0, 0.0, False)
