"""The shadows of the key light: a depth picture taken along it, made once per pose and shared by all cameras.

The texels lie on a grid fixed in the world: when the map follows its casters it moves by whole texels, so shadows neither shimmer
nor depend on what was rendered before.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from kernels here, nor constants imported.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.pose import Array
from etude.render.geometry import Geometry, Triangles, triangles
from etude.render.kept import settle
from etude.render.lighting import ShadowMap
from etude.render.raster import Projection, Scratch, draw

TEXEL = 0.0025  # metres
LARGEST = 1024  # texels on a side; larger scenes get coarser ones
BLOCK = 64  # the map begins and ends at multiples of this many texels
TILE = 4  # bits: the map is watched for changes in squares of this many texels, as in shade.py
REACH = 4.0  # metres from the world's origin: what flew farther away casts no shadow, lest the map had to follow it
_FAR = 1e6


class Shadows:
    """The shadow map of one key light over one geometry, for one set of casters.

    ``tick`` counts the maps taken so far, and ``stamps`` says for every tile, row by row from index 1 on, at which of them a sample whose
    first texel lies there may last have found another one. They begin anew when the map has another ``fit``.
    """

    def __init__(self, axes: Array, geometry: Geometry, scratch: Scratch, casters: NDArray[np.uint8]) -> None:
        self._axes = axes
        self._triangles, self._body = triangles(geometry), geometry.body
        self._scratch = scratch
        self._casters = casters
        self._still, self._drawn = np.zeros(len(casters), np.uint8), np.full(len(casters), -1, np.int64)
        self._over = casters
        self.fit: tuple[float, int, int, int, int] | None = None  # of the latest map
        self.tick = 0
        self.stamps = np.zeros(1, np.int64)
        self._versions = geometry.version.copy()
        self._laid: tuple[float, int, int, int, int] | None = None  # the fit of the background
        self._background = np.zeros((0, 0), np.float32)
        self._nearness = np.zeros((0, 0), np.float32)
        self._nobody = np.zeros((0, 0), np.int32)
        self._covered = np.zeros((len(casters), 4), np.int64)

    def take(self, moves: int, moved: NDArray[np.int64]) -> ShadowMap:
        """The map for the geometry as it stands now. Its memory is used again by the next call.

        ``moved`` says for every body at which of the ``moves`` it was the last time among those that moved: what rests is drawn into a
        background, and only what moves over it.
        """
        self.fit = fit = self._fitted()
        self.tick += 1
        if fit is None:
            return no_shadows(self._axes)
        texel, left, top, width, height = fit
        view = Projection(
            np.zeros(3), self._axes, False, 1 / texel, float(-left), float(-top), -_FAR, _FAR, width, height, 8, 128
        )  # fmt: skip
        g, s = self._triangles, self._scratch
        before, drawn = self._still.copy(), self._drawn.copy()
        stirred = settle(g.version, self._body, self._casters, moves, moved, self._still, self._drawn)
        if fit != self._laid:
            self._laid = fit
            self._background = np.full((height, width), -_FAR, np.float32)
            draw(view, g, self._still, s, self._background, self._nobody)
            self._nearness = self._background.copy()
            self.stamps = np.zeros(1 + (height >> TILE) * (width >> TILE), np.int64)
            self.stamps[1:] = self.tick
            self._over = self._casters
        else:
            if stirred:
                stays = before & self._still & (drawn == g.version)
                _wipe(before & ~stays, self._covered, self._background)
                draw(view, g, self._still, s, self._background, self._nobody)
                self._over = self._casters & ~stays
            _restore(self._over, self._covered, self._background, self._nearness)
        draw(view, g, self._over, s, self._nearness, self._nobody)
        _cover(view, g, self._over, s, self._versions, self.tick, self._covered, self.stamps)
        self._over = self._casters & ~self._still
        self._versions = g.version.copy()
        return ShadowMap(self._nearness, self._axes.astype(np.float32), texel, view.cx, view.cy, True)

    def _fitted(self) -> tuple[float, int, int, int, int] | None:
        """Texel size and the block-aligned rectangle of texels (left, top, width, height) that holds all casters, if there are any."""
        g = self._triangles
        left, top, right, bottom = _bounds(self._axes, g.centres, g.radii, self._casters, REACH)
        if left > right:
            return None
        texel = TEXEL
        while True:
            block = BLOCK * texel
            x, y = math.floor(left / block), math.floor(top / block)
            width, height = math.ceil(right / block) + 1 - x, math.ceil(bottom / block) + 1 - y
            if max(width, height) * BLOCK <= LARGEST:
                return texel, x * BLOCK, y * BLOCK, width * BLOCK, height * BLOCK
            texel *= math.sqrt(2)


@compiled(error_model="numpy")
def _bounds(axes: Array, centres: Array, radii: Array, casters: NDArray[np.uint8], reach: float) -> tuple[float, float, float, float]:
    """The rectangle (left, top, right, bottom), metres in the light's frame, around the casters within reach of the world's origin."""
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    for v in range(len(radii)):
        cx, cy, cz, r = centres[v, 0], centres[v, 1], centres[v, 2], radii[v]
        if casters[v] and cx * cx + cy * cy + cz * cz <= reach * reach:
            x, y = cx * axes[0, 0] + cy * axes[0, 1] + cz * axes[0, 2], cx * axes[1, 0] + cy * axes[1, 1] + cz * axes[1, 2]
            left, top, right, bottom = min(left, x - r), min(top, y - r), max(right, x + r), max(bottom, y + r)
    return left, top, right, bottom


@compiled(error_model="numpy", inline="always")
def _stamp(rectangle: NDArray[np.int64], pitch: int, tick: int, stamps: NDArray[np.int64]) -> None:
    """Stamp the tiles of a rectangle of texels; samples read the texels to the right and below as well."""
    if rectangle[2] > rectangle[0]:
        for j in range(max(rectangle[1] - 1, 0) >> TILE, (rectangle[3] - 1 >> TILE) + 1):
            for i in range(max(rectangle[0] - 1, 0) >> TILE, (rectangle[2] - 1 >> TILE) + 1):
                stamps[1 + j * pitch + i] = tick


@compiled(error_model="numpy")
def _cover(
    view: Projection, g: Triangles, over: NDArray[np.uint8], s: Scratch, versions: NDArray[np.int64], tick: int,
    covered: NDArray[np.int64], stamps: NDArray[np.int64],
) -> None:  # fmt: skip
    """Note the texels (left, top, right, bottom) that each visual of ``over``, just drawn, may cover; none if it is off the map. Stamp
    those of visuals that moved since they had these versions, where they are and where they were.
    """
    a, pitch = view.axes, view.width >> TILE
    for v in range(len(covered)):
        if not over[v]:
            continue
        rectangle, moved = covered[v], versions[v] != g.version[v]
        if moved:
            _stamp(rectangle, pitch, tick, stamps)
        rectangle[:] = 0
        cx, cy, cz, r = g.centres[v, 0], g.centres[v, 1], g.centres[v, 2], g.radii[v] * view.focal + 2.0
        x = (cx * a[0, 0] + cy * a[0, 1] + cz * a[0, 2]) * view.focal + view.cx
        y = (cx * a[1, 0] + cy * a[1, 1] + cz * a[1, 2]) * view.focal + view.cy
        if x + r <= 0 or y + r <= 0 or x - r >= view.width or y - r >= view.height:
            continue
        left, top, right, bottom = view.width << 8, view.height << 8, 0, 0
        for i in range(g.vertex_start[v], g.vertex_start[v + 1]):
            left, right = min(left, s.snapped[i, 0]), max(right, s.snapped[i, 0])
            top, bottom = min(top, s.snapped[i, 1]), max(bottom, s.snapped[i, 1])
        if left < right and top < bottom:
            rectangle[0], rectangle[1] = max(left >> 8, 0), max(top >> 8, 0)
            rectangle[2], rectangle[3] = min((right >> 8) + 1, view.width), min((bottom >> 8) + 1, view.height)
        if moved:
            _stamp(rectangle, pitch, tick, stamps)


@compiled(error_model="numpy")
def _restore(over: NDArray[np.uint8], covered: NDArray[np.int64], background: NDArray[np.float32], nearness: NDArray[np.float32]) -> None:
    """Bring back the background where these visuals covered it."""
    for v in range(len(covered)):
        if over[v]:
            left, right = covered[v, 0], covered[v, 2]
            for j in range(covered[v, 1], covered[v, 3]):
                row, whole = nearness[j], background[j]
                for i in range(left, right):
                    row[np.uintp(i)] = whole[np.uintp(i)]


@compiled(error_model="numpy")
def _wipe(gone: NDArray[np.uint8], covered: NDArray[np.int64], background: NDArray[np.float32]) -> None:
    """Empty the background where these visuals were drawn."""
    for v in range(len(covered)):
        if gone[v]:
            background[covered[v, 1] : covered[v, 3], covered[v, 0] : covered[v, 2]] = -_FAR


def no_shadows(axes: Array) -> ShadowMap:
    """A map in whose world nothing casts a shadow."""
    return ShadowMap(np.zeros((1, 1), np.float32), axes.astype(np.float32), TEXEL, 0.0, 0.0, False)
