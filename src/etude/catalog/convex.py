"""Convex hulls in space, decided in whole numbers: the same corners and faces on every machine, however points line up.

Points are brought to a grid of 2³⁷ steps along their longest extent, so that the side of a plane on which a point lies is an integer,
taken exactly. The triangles found are then joined to flat faces: what lies within a few steps of the plane of a larger triangle belongs to
it, and a point in the middle of a face or of an edge is no corner. Corners keep the coordinates they came with.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import Array, dots, norms
from etude.compiled import compiled

Indices = NDArray[np.int64]

STEPS = 2.0**37  # of the grid: the limbs of a determinant, below, add up to less than 63 bits
FLAT = 16.0  # steps within which points lie in one plane: rounding to the grid moves each by up to one
IN_ONE_PLANE = "points in one plane have no convex hull in space"
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
        return self.corners[_fans(self.sizes)]


def convex_hull(points: ArrayLike) -> Hull:
    """The convex hull of (N, 3) points that do not lie in one plane."""
    cloud = np.asarray(points, float)
    low = cloud.min(0)
    grid = np.rint((cloud - low) * (STEPS / (float((cloud - low).max()) or 1.0))).astype(np.int64)
    corner, beyond = _triangles(grid, _simplex(grid))
    x = grid.astype(np.float64)
    across = _areas(x, corner)
    size = norms(across)
    corners, sizes = _faces(x, corner, beyond, across / size[:, None], np.argsort(-size, kind="stable"))
    if len(sizes) < 4:
        raise ValueError(IN_ONE_PLANE)
    sides = np.add.reduceat(_areas(cloud, corners[_fans(sizes)]), np.cumsum(sizes - 2) - (sizes - 2), axis=0)
    return Hull(corners, sizes, sides / norms(sides)[:, None])


def _areas(points: Array, triangles: Indices) -> Array:
    """Normals (M, 3) of triangles, as long as twice their areas."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return np.asarray(np.cross(b - a, c - a))


def _fans(sizes: Indices) -> Indices:
    """The places (M, 3), in a run of polygons of these sizes, of the corners of triangles that fill them from their first corners."""
    counts = sizes - 2
    first = np.repeat(np.cumsum(sizes) - sizes, counts)
    second = first + 1 + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.column_stack([first, second, second + 1])


def _simplex(grid: Indices) -> tuple[int, int, int, int]:
    """Four points that span a solid, the fourth behind the other three."""
    x = (grid - grid[0]).astype(np.float64)
    lengths = norms(x)
    b = int(np.argmax(lengths))
    across = np.cross(x, x[b])
    areas = norms(across)
    c = int(np.argmax(areas))
    volumes = np.abs(dots(x, across[c]))
    p = int(np.argmax(volumes))
    if areas[c] <= FLAT * lengths[b] or volumes[p] <= FLAT * areas[c]:
        raise ValueError(IN_ONE_PLANE)
    return (0, c, b, p) if _above(grid, 0, b, c, p) > 0 else (0, b, c, p)


@compiled
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


@compiled
def _triangles(grid: Indices, start: tuple[int, int, int, int]) -> tuple[Indices, Indices]:
    """The hull as triangles (M, 3), counter-clockwise, and (M, 3) the triangle beyond the edge that starts at each corner.

    It grows from the solid between the four points of ``start``. The others are added one by one: the triangles that see the new one
    strictly from outside make room for a fan from their rim to it.
    """
    count = len(grid)
    corner, beyond = np.empty((4 * count + 8, 3), np.int64), np.empty((4 * count + 8, 3), np.int64)
    normal, slack = np.empty((len(corner), 3)), np.empty(len(corner))
    a, b, c, d = start
    x = grid.astype(np.float64)
    for f, (i, j, k) in enumerate(((a, b, c), (a, d, b), (b, d, c), (c, d, a))):
        _place(corner, normal, slack, x, f, i, j, k)
    for f, (i, j, k) in enumerate(((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))):
        beyond[f, 0], beyond[f, 1], beyond[f, 2] = i, j, k
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


@compiled
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


@compiled
def _move(corner: Indices, beyond: Indices, normal: Array, slack: Array, last: int, gap: int) -> None:
    """Give a triangle another number."""
    slack[gap] = slack[last]
    for e in range(3):
        corner[gap, e], beyond[gap, e], normal[gap, e] = corner[last, e], beyond[last, e], normal[last, e]
        g = beyond[gap, e]
        for other in range(3):
            if beyond[g, other] == last:
                beyond[g, other] = gap


@compiled
def _faces(x: Array, corner: Indices, beyond: Indices, normal: Array, order: Indices) -> tuple[Indices, Indices]:
    """The flat faces of a triangulated hull: corners and sizes as a :class:`Hull` has them.

    ``normal`` are those of the triangles, ``order`` is that in which they gather the ones around them that lie in their planes.
    """
    count = len(corner)
    face, stack = np.full(count, -1), np.empty(count, np.int64)
    found = 0
    for seed in order:
        if face[seed] >= 0:
            continue
        face[seed], stack[0], waiting = found, seed, 1
        while waiting:
            waiting -= 1
            f = stack[waiting]
            for e in range(3):
                g = beyond[f, e]
                if face[g] < 0 and _level(x, corner, normal, g, seed):
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
    rings, sizes, ring = np.empty(3 * count, np.int64), np.empty(found, np.int64), np.empty(3 * count, np.int64)
    total, faces = 0, 0
    for n in range(found):
        size, lowest, at = 0, 0, begin[n]
        while True:
            v = corner[at // 3, at % 3]
            if meeting[v] > 2:
                ring[size] = v
                lowest = size if v < ring[lowest] else lowest
                size += 1
            at = ahead[at // 3, at % 3]
            if at == begin[n]:
                break
        if size > 2:
            for k in range(size):
                rings[total + k] = ring[(lowest + k) % size]
            sizes[faces] = size
            total += size
            faces += 1
    return rings[:total], sizes[:faces]


@compiled
def _level(x: Array, corner: Indices, normal: Array, f: int, seed: int) -> bool:
    """Do the corners of triangle ``f`` lie in the plane of triangle ``seed``?"""
    o = corner[seed, 0]
    for e in range(3):
        v = corner[f, e]
        height = (x[v, 0] - x[o, 0]) * normal[seed, 0] + (x[v, 1] - x[o, 1]) * normal[seed, 1] + (x[v, 2] - x[o, 2]) * normal[seed, 2]
        if abs(height) > FLAT:
            return False
    return True
