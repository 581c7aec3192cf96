"""Random fields on the torus: smooth noise, its sums and warps, and Voronoi cells."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import cos, sin
from etude.catalog.textures.canvas import SIZE, TAU, Field, X, Y, wrapped
from etude.names import Stream


def _upsampled(lattice: Field, cells: int) -> Field:
    """Rows of a periodic lattice (cells, M) interpolated by cubic B-splines to (SIZE, M)."""
    position = (np.arange(SIZE) + 0.5) * (cells / SIZE)
    first = np.floor(position).astype(np.intp)
    t = (position - first)[:, None]
    square, cube = t * t, t * t * t
    weights = (1 - 3 * t + 3 * square - cube, 4 - 6 * square + 3 * cube, 1 + 3 * t + 3 * square - 3 * cube, cube)
    total = np.zeros((SIZE, lattice.shape[1]))
    for k, weight in enumerate(weights):
        part = lattice.take((first + k - 1) % cells, axis=0)
        part *= weight / 6.0
        total += part
    return total


def noise(stream: Stream, across: int, down: int | None = None) -> Field:
    """Smooth noise (SIZE, SIZE), about -1 to 1, with ``across`` × ``down`` cells per tile (square unless told otherwise)."""
    rows = across if down is None else down
    lattice = stream.uniforms(-1.0, 1.0, rows * across).reshape(rows, across)
    wide = np.ascontiguousarray(_upsampled(np.ascontiguousarray(lattice.T), across).T)
    return _upsampled(wide * 1.8, rows)  # splines smooth the lattice's extremes away


def grain(stream: Stream) -> Field:
    """White noise (SIZE, SIZE), -1 to 1, every pixel on its own."""
    return stream.uniforms(-1.0, 1.0, SIZE * SIZE).reshape(SIZE, SIZE)


def fractal(stream: Stream, across: int, octaves: int = 4, down: int | None = None, gain: float = 0.5) -> Field:
    """Noise summed over octaves (SIZE, SIZE), about -1 to 1."""
    rows = across if down is None else down
    total = np.zeros((SIZE, SIZE))
    amplitude, power = 1.0, 0.0
    for octave in range(octaves):
        total += amplitude * noise(stream, min(across << octave, SIZE), min(rows << octave, SIZE))
        power += amplitude * amplitude
        amplitude *= gain
    return total / math.sqrt(power)


def twisted(centres: list[tuple[float, float, float, float]]) -> tuple[Field, Field]:
    """The coordinates (x, y), in tiles, after whirling discs of the plane; each disc is (x, y, radius, turns at its centre)."""
    x, y = np.broadcast_to(X, (SIZE, SIZE)), np.broadcast_to(Y, (SIZE, SIZE))
    for at_x, at_y, radius, turns in centres:
        dx, dy = wrapped(x - at_x), wrapped(y - at_y)
        fall = np.clip(1.0 - np.sqrt(dx * dx + dy * dy) / radius, 0.0, 1.0)
        angle = TAU * turns * fall * fall
        cosine, sine = cos(angle), sin(angle)
        x, y = x + (cosine - 1.0) * dx - sine * dy, y + sine * dx + (cosine - 1.0) * dy
    return x, y


@dataclass(frozen=True)
class Cells:
    """The Voronoi cells of scattered sites; all fields are (SIZE, SIZE), lengths in cells (1 / number of cells of a tile).

    ``dx``, ``dy`` lead from the pixel's site to the pixel, ``distance`` is their length, and ``site`` the site's number, 0 to
    count - 1.
    """

    dx: Field
    dy: Field
    distance: Field
    site: NDArray[np.intp]
    count: int
    measure_border: Callable[[], Field] = field(repr=False)

    @functools.cached_property
    def border(self) -> Field:
        """The distance to the nearest border, measured when first asked for: half of the patterns never do."""
        return self.measure_border()

    def each(self, stream: Stream, low: float = 0.0, high: float = 1.0) -> Field:
        """A random value for every cell, as a field."""
        value: Field = stream.uniforms(low, high, self.count)[self.site]
        return value


def cells(stream: Stream, across: int, jitter: float = 0.8, warp: tuple[Field, Field] | None = None) -> Cells:
    """Cells of ``across``² sites on a jittered grid; ``warp`` displaces the pixels, in tiles, before they look for their site."""
    home = np.arange(across) + 0.5
    site_x = home[None, :] + stream.uniforms(-0.5, 0.5, across**2).reshape(across, across) * jitter
    site_y = home[:, None] + stream.uniforms(-0.5, 0.5, across**2).reshape(across, across) * jitter
    # one more ring of sites all round, so that every pixel's nine candidates lie at fixed steps from the first
    ring = np.arange(-1, across + 1)
    turn = ring // across * across
    ring_x = (site_x[np.ix_(ring % across, ring % across)] + turn[None, :]).ravel()
    ring_y = (site_y[np.ix_(ring % across, ring % across)] + turn[:, None]).ravel()
    steps = [j * (across + 2) + i for j in range(3) for i in range(3)]

    x, y = (X, Y) if warp is None else (X + warp[0], Y + warp[1])
    x, y = across * (x - np.floor(x)), across * (y - np.floor(y))
    column, row = np.minimum(np.floor(x), across - 1).astype(np.intp), np.minimum(np.floor(y), across - 1).astype(np.intp)
    first = row * (across + 2) + column

    squares = np.empty((9, SIZE, SIZE))
    for k, step in enumerate(steps):
        dx, dy = x - ring_x.take(first + step), y - ring_y.take(first + step)
        np.add(np.multiply(dx, dx, out=dx), np.multiply(dy, dy, out=dy), out=squares[k])
        # Positive floats sort like their bits, so the candidate's number can ride in the lowest ones through the minimum.
        bits = squares[k].view(np.int64)
        bits &= ~15
        bits |= k
    nearest = squares.view(np.int64).min(axis=0)
    chosen = nearest & 15
    site = first + np.array(steps)[chosen]
    dx, dy = x - ring_x[site], y - ring_y[site]

    def measure_border() -> Field:
        corner = np.arange(across)[:, None] * (across + 2) + np.arange(across)
        candidates = np.array(steps)[:, None] + corner.ravel()
        apart_x = ring_x[candidates][:, None] - ring_x[candidates][None, :]
        apart_y = ring_y[candidates][:, None] - ring_y[candidates][None, :]
        pair = chosen * (9 * across**2) + (row * across + column)
        border = np.full((SIZE, SIZE), np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):  # a site is no distance from itself; fmin passes over it
            half = (0.5 / np.sqrt(apart_x * apart_x + apart_y * apart_y)).ravel()
            for k in range(9):
                bisector = (squares[k] - nearest.view(np.float64)) * half.take(pair + k * across**2)
                np.fmin(border, bisector, out=border)
        return border

    ring_number = (ring % across)[:, None] * across + ring % across
    return Cells(dx, dy, np.sqrt(dx * dx + dy * dy), ring_number.ravel().take(site), across**2, measure_border)
