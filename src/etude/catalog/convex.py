"""Convex hulls in space, decided in whole numbers: the same corners and faces on every machine, however points line up.

Points are brought to a grid of 2³⁷ steps along their longest extent, so that the side of a plane on which a point lies is an integer,
taken exactly. The triangles found are then joined to flat faces: what lies within a few steps of the plane of a larger triangle belongs to
it, and a point in the middle of a face or of an edge is no corner. Corners keep the coordinates they came with.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import Array

Indices = NDArray[np.int64]

STEPS = 2.0**37  # of the grid: the limbs of a determinant, below, add up to less than 63 bits
FLAT = 16.0  # steps within which points lie in one plane: rounding to the grid moves each by up to one
BITS = 19
LIMB = 1 << BITS
UNSURE = 1e-15  # of the sizes multiplied, by which a determinant in floating point may err


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points (N, 3), face by face: the numbers of their corners, how many each has, and outward unit normals (F, 3).

    The corners of a face run counter-clockwise seen from outside, from the lowest number; faces with the largest triangles come first.
    """

    corners: Indices
    sizes: Indices
    normals: Array

    @functools.cached_property
    def faces(self) -> tuple[Indices, ...]:
        """The corners of every face."""
        return tuple(np.split(self.corners, np.cumsum(self.sizes)[:-1]))

    @functools.cached_property
    def vertices(self) -> Indices:
        """The numbers of all corners, sorted."""
        return np.unique(self.corners)

    @functools.cached_property
    def triangles(self) -> Indices:
        """The surface (M, 3) as triangles: every face as a fan from its first corner."""
        return np.array([(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)])


def convex_hull(points: ArrayLike) -> Hull:
    """The convex hull of (N, 3) points that do not lie in one plane."""
    cloud = np.ascontiguousarray(points, float)
    low = cloud.min(0)
    extent = (cloud - low).max()
    grid = np.rint((cloud - low) * (STEPS / extent)).astype(np.int64) if extent > 0 else np.zeros(cloud.shape, np.int64)
    triangles, beyond = _triangles(grid)
    if not len(triangles):
        raise ValueError("points in one plane have no convex hull in space")
    return Hull(*_faces(cloud, grid.astype(np.float64), triangles, beyond))


@njit(cache=True)
def _above(grid: Indices, a: int, b: int, c: int, p: int) -> int:
    """+1 if point ``p`` lies strictly on the side from which a, b, c run counter-clockwise, −1 on the other, 0 in their plane; exact."""
    n0, n1, n2, n3 = 0, 0, 0, 0
    for i in range(3):
        for sign, j, k in ((1, (i + 1) % 3, (i + 2) % 3), (-1, (i + 2) % 3, (i + 1) % 3)):
            u, v, w = grid[b, j] - grid[a, j], grid[c, k] - grid[a, k], grid[p, i] - grid[a, i]
            # every factor is low + LIMB · high, and the determinant n0 + LIMB · n1 + LIMB² · n2 + LIMB³ · n3
            u0, v0, w0 = sign * (u & (LIMB - 1)), v & (LIMB - 1), w & (LIMB - 1)
            u1, v1, w1 = sign * (u >> BITS), v >> BITS, w >> BITS
            n0 += u0 * v0 * w0
            n1 += u1 * v0 * w0 + u0 * v1 * w0 + u0 * v0 * w1
            n2 += u1 * v1 * w0 + u1 * v0 * w1 + u0 * v1 * w1
            n3 += u1 * v1 * w1
    n1 += n0 >> BITS
    n2 += n1 >> BITS
    n3 += n2 >> BITS
    if n3 < 0:
        return -1
    return 1 if n3 or (n2 & (LIMB - 1)) or (n1 & (LIMB - 1)) or (n0 & (LIMB - 1)) else 0


@njit(cache=True)
def _simplex(grid: Indices) -> Indices:
    """Four points that span a solid, the fourth behind the other three; none if there are none."""
    x = (grid - grid[0]).astype(np.float64)
    a = 0
    b = int(np.argmax(x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2]))
    x, d = x - x[a], x[b]
    nx, ny, nz = x[:, 1] * d[2] - x[:, 2] * d[1], x[:, 2] * d[0] - x[:, 0] * d[2], x[:, 0] * d[1] - x[:, 1] * d[0]
    c = int(np.argmax(nx * nx + ny * ny + nz * nz))
    height = x[:, 0] * nx[c] + x[:, 1] * ny[c] + x[:, 2] * nz[c]
    p = int(np.argmax(np.abs(height)))
    side = _above(grid, a, b, c, p)
    if side == 0:
        return np.empty(0, np.int64)
    return np.array([a, c, b, p] if side > 0 else [a, b, c, p])


@njit(cache=True)
def _triangles(grid: Indices) -> tuple[Indices, Indices]:
    """The hull as triangles (M, 3), counter-clockwise, and (M, 3) the triangle beyond the edge that starts at each corner.

    Points are added one by one: the triangles that see the new one strictly from outside make room for a fan from their rim to it.
    """
    count = len(grid)
    corner, beyond = np.empty((4 * count + 8, 3), np.int64), np.empty((4 * count + 8, 3), np.int64)
    normal, slack = np.empty((len(corner), 3)), np.empty(len(corner))
    start = _simplex(grid) if count > 3 else np.empty(0, np.int64)
    if not len(start):
        return corner[:0], beyond[:0]
    a, b, c, d = start
    x = grid.astype(np.float64)
    for f, (i, j, k) in enumerate(((a, b, c), (a, d, b), (b, d, c), (c, d, a))):
        _place(corner, normal, slack, x, f, i, j, k)
    beyond[:4] = np.array([[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]])
    used = 4
    seen, free = np.zeros(len(corner), np.bool_), np.empty(len(corner), np.int64)
    fan = np.empty(count, np.int64)  # the new triangle whose rim edge starts at a point
    for p in range(count):
        if p in (a, b, c, d):
            continue
        freed = 0
        for f in range(used):
            o = corner[f, 0]
            height = normal[f, 0] * (x[p, 0] - x[o, 0]) + normal[f, 1] * (x[p, 1] - x[o, 1]) + normal[f, 2] * (x[p, 2] - x[o, 2])
            seen[f] = height > slack[f] or (height > -slack[f] and _above(grid, o, corner[f, 1], corner[f, 2], p) > 0)
            if seen[f]:
                free[freed] = f
                freed += 1
        if not freed:
            continue
        # the rim: for each edge its two points, the triangle beyond and which of that one's edges it is
        rim = np.empty((3 * freed, 4), np.int64)
        edges = 0
        for n in range(freed):
            f = free[n]
            for e in range(3):
                g = beyond[f, e]
                if not seen[g]:
                    i, j = corner[f, e], corner[f, (e + 1) % 3]
                    rim[edges, 0], rim[edges, 1], rim[edges, 2] = i, j, g
                    rim[edges, 3] = 0 if corner[g, 0] == j else (1 if corner[g, 1] == j else 2)
                    edges += 1
        while freed < edges:
            free[freed] = used
            seen[used] = False
            freed += 1
            used += 1
        for n in range(edges):
            f = free[n]
            seen[f] = False
            _place(corner, normal, slack, x, f, rim[n, 0], rim[n, 1], p)
            beyond[f, 0] = rim[n, 2]
            beyond[rim[n, 2], rim[n, 3]] = f
            fan[rim[n, 0]] = f
        for n in range(edges):
            after = fan[rim[n, 1]]
            beyond[free[n], 1] = after
            beyond[after, 2] = free[n]
        for n in range(freed - 1, edges - 1, -1):  # more made room than were needed: the last ones move into the gaps
            gap, last = free[n], used - 1
            used -= 1
            if gap != last:
                _move(corner, beyond, normal, slack, last, gap)
    return corner[:used], beyond[:used]


@njit(cache=True)
def _place(corner: Indices, normal: Array, slack: Array, x: Array, f: int, i: int, j: int, k: int) -> None:
    """Enter a triangle: its corners, normal and how far a height above it may err, by sizes of what is multiplied."""
    corner[f, 0], corner[f, 1], corner[f, 2] = i, j, k
    size = 0.0
    for n in range(3):
        y, z = (n + 1) % 3, (n + 2) % 3
        one, two = (x[j, y] - x[i, y]) * (x[k, z] - x[i, z]), (x[j, z] - x[i, z]) * (x[k, y] - x[i, y])
        normal[f, n] = one - two
        size += abs(one) + abs(two)
    slack[f] = UNSURE * size * STEPS


@njit(cache=True)
def _move(corner: Indices, beyond: Indices, normal: Array, slack: Array, last: int, gap: int) -> None:
    """Give a triangle another number."""
    corner[gap], beyond[gap], normal[gap], slack[gap] = corner[last], beyond[last], normal[last], slack[last]
    for e in range(3):
        g = beyond[gap, e]
        for other in range(3):
            if beyond[g, other] == last:
                beyond[g, other] = gap


@njit(cache=True)
def _faces(points: Array, x: Array, corner: Indices, beyond: Indices) -> tuple[Indices, Indices, Array]:
    """The flat faces of a triangulated hull of ``points``, ``x`` on the grid: corners, sizes and normals as a :class:`Hull` has them."""
    count = len(corner)
    normal, area = np.empty((count, 3)), np.empty(count)
    for f in range(count):
        u, v = x[corner[f, 1]] - x[corner[f, 0]], x[corner[f, 2]] - x[corner[f, 0]]
        n0, n1, n2 = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        area[f] = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        normal[f, 0], normal[f, 1], normal[f, 2] = n0 / area[f], n1 / area[f], n2 / area[f]
    face, stack = np.full(count, -1), np.empty(count, np.int64)
    found = 0
    for seed in np.argsort(-area, kind="mergesort"):
        if face[seed] >= 0:
            continue
        face[seed], stack[0], waiting = found, seed, 1
        while waiting:
            waiting -= 1
            f = stack[waiting]
            for e in range(3):
                g = beyond[f, e]
                if face[g] < 0 and _level(x, corner[g], x[corner[seed, 0]], normal[seed]):
                    face[g], stack[waiting] = found, g
                    waiting += 1
        found += 1

    # a corner is where at least three faces meet
    meeting, seen_by = np.zeros(len(x), np.int64), np.full((len(x), 3), -1)
    for f in range(count):
        for e in range(3):
            v = corner[f, e]
            n = meeting[v]
            if n < 3 and face[f] != seen_by[v, 0] and face[f] != seen_by[v, 1]:
                seen_by[v, n] = face[f]
                meeting[v] = n + 1

    ahead, begin = np.full((count, 3), -1), np.full(found, -1)
    for f in range(count):
        for e in range(3):
            if face[beyond[f, e]] != face[f]:
                begin[face[f]] = 3 * f + e
                # turn about the end of the edge, inside the face, to the next edge of its rim
                g, k = f, (e + 1) % 3
                while face[beyond[g, k]] == face[f]:
                    h = beyond[g, k]
                    k = 0 if beyond[h, 0] == g else (1 if beyond[h, 1] == g else 2)
                    g, k = h, (k + 1) % 3
                ahead[f, e] = 3 * g + k
    rings, sizes, normals = np.empty(3 * count, np.int64), np.empty(found, np.int64), np.zeros((found, 3))
    total, faces = 0, 0
    for n in range(found):
        at = first = begin[n]
        ring, size = np.empty(3 * count, np.int64), 0
        while True:
            v = corner[at // 3, at % 3]
            if meeting[v] > 2:
                ring[size] = v
                size += 1
            at = ahead[at // 3, at % 3]
            if at == first:
                break
        if size > 2:
            lowest = np.argmin(ring[:size])
            for k in range(size):
                rings[total + k] = ring[(lowest + k) % size]
            _normal(points, rings[total : total + size], normals[faces])
            sizes[faces] = size
            total += size
            faces += 1
    return rings[:total], sizes[:faces], normals[:faces]


@njit(cache=True)
def _normal(points: Array, ring: Indices, normal: Array) -> None:
    """The unit normal of a flat ring of points, from the areas of its fan."""
    for k in range(1, len(ring) - 1):
        u, v = points[ring[k]] - points[ring[0]], points[ring[k + 1]] - points[ring[0]]
        normal[0] += u[1] * v[2] - u[2] * v[1]
        normal[1] += u[2] * v[0] - u[0] * v[2]
        normal[2] += u[0] * v[1] - u[1] * v[0]
    normal /= math.sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])


@njit(cache=True)
def _level(x: Array, corners: Indices, origin: Array, normal: Array) -> bool:
    """Do the corners of a triangle lie in a plane?"""
    for v in corners:
        if abs((x[v, 0] - origin[0]) * normal[0] + (x[v, 1] - origin[1]) * normal[1] + (x[v, 2] - origin[2]) * normal[2]) > FLAT:
            return False
    return True
