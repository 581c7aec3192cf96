"""How far convex outlines lie apart: compiled loops, for :mod:`etude.catalog.polygon` and for finding places among many of them."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import Array
from etude.compiled import compiled

ROUNDED = 1e-9  # m


@compiled
def _gap_beyond(p: Array, q: Array, best: float) -> float:
    """The greatest of ``best`` and the gaps between ``q`` and the lines through the edges of ``p``."""
    for i in range(len(p)):
        j = i + 1 if i + 1 < len(p) else 0
        ex, ey = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
        length = math.sqrt(ex * ex + ey * ey)
        nx, ny = ey / length, -ex / length
        least = math.inf
        for k in range(len(q)):
            least = min(least, q[k, 0] * nx + q[k, 1] * ny)
        best = max(best, least - (p[i, 0] * nx + p[i, 1] * ny))
    return best


@compiled
def gap(a: Array, b: Array) -> float:
    """See :func:`etude.catalog.polygon.separation`."""
    return _gap_beyond(b, a, _gap_beyond(a, b, -math.inf))


@compiled
def circle_around(outline: Array) -> Array:
    """The middle of an outline's bounding box and the radius that reaches all of it: (3,) metres."""
    lx, ly, ux, uy = math.inf, math.inf, -math.inf, -math.inf
    for i in range(len(outline)):
        lx, ux = min(lx, outline[i, 0]), max(ux, outline[i, 0])
        ly, uy = min(ly, outline[i, 1]), max(uy, outline[i, 1])
    x, y, most = (lx + ux) / 2, (ly + uy) / 2, 0.0
    for i in range(len(outline)):
        dx, dy = outline[i, 0] - x, outline[i, 1] - y
        most = max(most, dx * dx + dy * dy)
    return np.array([x, y, math.sqrt(most)])


@compiled
def stood(footprint: Array, x: float, y: float, c: float, s: float) -> Array:
    """An outline (K, 2) turned by the angle with this cosine and sine, and moved to a place."""
    out = np.empty_like(footprint)
    for i in range(len(footprint)):
        out[i, 0] = footprint[i, 0] * c + footprint[i, 1] * -s + x
        out[i, 1] = footprint[i, 0] * s + footprint[i, 1] * c + y
    return out


@compiled
def first_met(outline: Array, circle: Array, others: Array, starts: Array, circles: Array, least: float) -> int:
    """The first of the ``others`` (their corners in one array, that of number k from ``starts[k]`` on) nearer than ``least``; -1: none."""
    for k in range(len(circles)):
        dx, dy = circle[0] - circles[k, 0], circle[1] - circles[k, 1]
        if math.sqrt(dx * dx + dy * dy) > circle[2] + circles[k, 2] + least:
            continue
        if gap(outline, others[starts[k] : starts[k + 1]]) < least:
            return k
    return -1


@compiled
def within(outline: Array, left: float, below: float, right: float, above: float) -> bool:
    """Do all corners lie in this rectangle?"""
    for i in range(len(outline)):
        x, y = outline[i, 0], outline[i, 1]
        if x < left - ROUNDED or x > right + ROUNDED or y < below - ROUNDED or y > above + ROUNDED:
            return False
    return True
