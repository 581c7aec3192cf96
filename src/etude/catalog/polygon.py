"""Plane outlines: triangulation, exact convex pieces, hulls, unions, and separation of convex footprints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude import arithmetic
from etude.arithmetic import distance, dot, dots, norm, norms, unit
from etude.pose import Array, Vec2


@dataclass(frozen=True, eq=False)
class Outline:
    """A polygon with holes: the outer ring counter-clockwise, holes clockwise, each (K, 2) metres."""

    rings: tuple[Array, ...]

    @classmethod
    def of(cls, outer: ArrayLike, *holes: ArrayLike) -> Outline:
        """An outline from rings in either direction."""
        rings = [np.asarray(outer, float), *(np.asarray(h, float) for h in holes)]
        turned = [r if (area(r) > 0) == (i == 0) else r[::-1].copy() for i, r in enumerate(rings)]
        return cls(tuple(turned))

    def scaled(self, sx: float, sy: float) -> Outline:
        """The outline stretched along x and y (positive factors)."""
        return Outline(tuple(r * [sx, sy] for r in self.rings))

    def fitted(self, width: float, depth: float) -> Outline:
        """The outline centred on the origin with the given extents along x and y."""
        lower, upper = self.rings[0].min(0), self.rings[0].max(0)
        factors = np.array([width, depth]) / (upper - lower)
        return Outline(tuple((r - (lower + upper) / 2) * factors for r in self.rings))


def area(ring: Array) -> float:
    """Signed area of a ring (K, 2): positive when counter-clockwise."""
    x, y = ring[:, 0], ring[:, 1]
    return 0.5 * (dot(x, np.roll(y, -1)) - dot(y, np.roll(x, -1)))


def circle(radius: float, segments: int, start: float = 0.0) -> Array:
    """A regular polygon inscribed in a circle, (segments, 2), first corner at angle ``start``."""
    angle = start + np.arange(segments) * (2 * math.pi / segments)
    return radius * arithmetic.circle(angle)


def rectangle(width: float, depth: float) -> Array:
    """A centred rectangle, (4, 2)."""
    w, d = width / 2, depth / 2
    return np.array([(-w, -d), (w, -d), (w, d), (-w, d)])


def rounded(ring: ArrayLike, radius: float, steps: int = 4) -> Array:
    """The ring with every corner replaced by an arc of at most the given radius."""
    points = np.asarray(ring, float)
    n, out = len(points), []
    for i in range(n):
        p, a, b = points[i], points[i - 1], points[(i + 1) % n]
        u, v = unit(a - p), unit(b - p)
        half = 0.5 * math.acos(min(max(dot(u, v), -1.0), 1.0))
        reach = min(radius / math.tan(half), 0.45 * distance(a, p), 0.45 * distance(b, p))
        if reach < 1e-9:  # a corner that does not turn
            out.append(p)
            continue
        start, end = p + reach * u, p + reach * v
        for t in np.linspace(0, 1, steps + 1):  # a quadratic arc is round enough at these sizes
            out.append((1 - t) ** 2 * start + 2 * t * (1 - t) * p + t**2 * end)
    return np.array(out)


def miters(ring: Array) -> Array:
    """Outward offset directions (K, 2) that move both neighbouring edges by one, limited at needle-sharp corners."""
    back = ring - np.roll(ring, 1, axis=0)
    ahead = np.roll(ring, -1, axis=0) - ring
    n0 = np.stack([back[:, 1], -back[:, 0]], 1) / norms(back)[:, None]
    n1 = np.stack([ahead[:, 1], -ahead[:, 0]], 1) / norms(ahead)[:, None]
    middle = n0 + n1
    return np.asarray(2 * middle / np.maximum((middle * middle).sum(1, keepdims=True), 0.5))


def grown(ring: Array, by: float) -> Array:
    """A counter-clockwise ring with every edge moved outwards; keep ``by`` below the radius of its bays."""
    return ring + by * miters(ring)


def hull(points: ArrayLike) -> Array:
    """Convex hull of (N, 2) points, counter-clockwise, without collinear points."""
    ordered = sorted({(round(x, 12), round(y, 12)) for x, y in np.asarray(points, float).tolist()})

    def half(sequence: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in sequence:
            while len(chain) > 1 and _cross(chain[-2], chain[-1], p) <= 1e-12:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _cross(o: Array | Vec2, a: Array | Vec2, b: Array | Vec2) -> float:
    return float((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]))


def triangulate(outline: Outline) -> tuple[NDArray[np.int64], Array]:
    """Ear clipping. Gives triangles (M, 3), counter-clockwise, and the corners (N, 2) they index."""
    corners = np.concatenate(outline.rings)
    starts = np.cumsum([0, *(len(r) for r in outline.rings)])
    loop = list(range(starts[1]))
    holes = [list(range(starts[i], starts[i + 1])) for i in range(1, len(outline.rings))]
    holes.sort(key=lambda h: -corners[h, 0].max())
    for k, hole in enumerate(holes):
        if not contains(Outline(outline.rings[:1]), corners[hole]).any():
            raise ValueError("a hole lies outside its outline")
        loop = _bridged(loop, hole, corners, [loop, *holes[k:]])
    triangles = []
    guard = 0
    while len(loop) > 3:
        best = _best_ear(loop, corners)
        triangles.append((loop[best - 1], loop[best], loop[(best + 1) % len(loop)]))
        del loop[best]
        guard += 1
        if guard > 10_000:
            raise ValueError("the outline crosses itself and cannot be triangulated")
    triangles.append((loop[0], loop[1], loop[2]))
    return np.array(triangles), corners


def _bridged(loop: list[int], hole: list[int], corners: Array, rings: Sequence[list[int]]) -> list[int]:
    """Join a hole to the outer loop by the shortest bridge that crosses none of the rings."""
    start = np.concatenate([corners[r] for r in rings])
    end = np.concatenate([np.roll(corners[r], -1, axis=0) for r in rings])
    pairs = sorted((float(np.sum((corners[a] - corners[b]) ** 2)), i, j) for i, a in enumerate(loop) for j, b in enumerate(hole))
    for _, i, j in pairs:
        p, q = corners[loop[i]], corners[hole[j]]
        if _opens(corners[loop], i, q) and _opens(corners[hole], j, p) and not _crossed(p, q, start, end):
            return loop[: i + 1] + hole[j:] + hole[: j + 1] + loop[i:]
    raise ValueError("a hole crosses its outline or another hole")


def _opens(ring: Array, i: int, target: Array) -> bool:
    """Does the way from corner ``i`` to the target start on the left of the ring, where the material is?

    A corner where a bridge was built stands in the loop more than once; only one of its copies faces the target.
    """
    before, here, after = ring[i - 1], ring[i], ring[(i + 1) % len(ring)]
    leaves, arrives = _cross(before, here, target) > 0, _cross(here, after, target) > 0
    return (leaves and arrives) if _cross(before, here, after) > 0 else (leaves or arrives)


def _crossed(p: Array, q: Array, start: Array, end: Array) -> bool:
    """Does p–q cross one of the edges, or pass through one of their ends?"""

    def side(a: Array, b: Array, c: Array) -> Array:
        return np.asarray((b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0]))

    from_p, length = side(p, q, start), dot(q - p, q - p)
    through = (np.abs(from_p) < 1e-12 * math.sqrt(length)) & (dots(start - p, q - p) * dots(start - q, p - q) > 1e-12 * length**2)
    apart = (from_p * side(p, q, end) < -1e-18) & (side(start, end, p) * side(start, end, q) < -1e-18)
    return bool((through | apart).any())


def _best_ear(loop: list[int], corners: Array) -> int:
    """The ear with the widest smallest angle: fat triangles make fewer and rounder convex pieces."""
    points = corners[loop]
    before, after = np.roll(points, 1, axis=0), np.roll(points, -1, axis=0)
    turn = (points[:, 0] - before[:, 0]) * (after[:, 1] - before[:, 1]) - (points[:, 1] - before[:, 1]) * (after[:, 0] - before[:, 0])
    best, quality = -1, -1.0
    for i in np.flatnonzero(turn > 1e-14):
        a, b, c = before[i], points[i], after[i]
        sides = sorted(norm(v) for v in (b - a, c - b, a - c))
        fat = turn[i] / (sides[2] ** 2 + 1e-18)
        if fat <= quality:
            continue
        others = points[[k for k in range(len(loop)) if k not in (i - 1 if i else len(loop) - 1, i, (i + 1) % len(loop))]]
        if len(others) and (_any_inside(a, b, c, others) or _crossed(a, c, points, after)):
            continue
        best, quality = int(i), float(fat)
    if best < 0:  # only collinear corners are left: drop the flattest
        return int(np.argmin(np.abs(turn)))
    return best


def _any_inside(a: Array, b: Array, c: Array, points: Array) -> bool:
    """Is one of the points strictly inside, or on an edge without being a corner?"""

    def side(p: Array, q: Array) -> Array:
        return np.asarray((q[0] - p[0]) * (points[:, 1] - p[1]) - (q[1] - p[1]) * (points[:, 0] - p[0]))

    corner = np.zeros(len(points), bool)
    for v in (a, b, c):
        corner |= np.all(np.abs(points - v) < 1e-12, axis=1)
    inside = (side(a, b) > -1e-14) & (side(b, c) > -1e-14) & (side(c, a) > -1e-14)
    return bool(np.any(inside & ~corner))


def convex_pieces(outline: Outline) -> list[Array]:
    """Cut an outline into convex polygons (K, 2) that cover it exactly: triangles merged across needless diagonals."""
    triangles, corners = triangulate(outline)
    polygons = [list(t) for t in triangles.tolist()]
    merged = True
    while merged:
        merged = False
        for i in range(len(polygons)):
            for j in range(i + 1, len(polygons)):
                joined = _joined(polygons[i], polygons[j], corners)
                if joined is not None:
                    polygons[i] = joined
                    del polygons[j]
                    merged = True
                    break
            if merged:
                break
    return [hull(corners[p]) for p in polygons]


def _joined(p: list[int], q: list[int], corners: Array) -> list[int] | None:
    """Two polygons that share an edge as one, if that one is convex."""

    def key(i: int) -> tuple[float, float]:
        return (round(float(corners[i, 0]), 12), round(float(corners[i, 1]), 12))

    kp, kq = [key(i) for i in p], [key(i) for i in q]
    for i in range(len(p)):
        a, b = kp[i], kp[(i + 1) % len(p)]
        for j in range(len(q)):
            if kq[j] == b and kq[(j + 1) % len(q)] == a:
                ring = p[i + 1 :] + p[: i + 1]  # starts at b, ends at a
                rest = q[j + 1 :] + q[: j + 1]  # starts at a, ends at b
                loop = ring + rest[1:-1]
                n = len(loop)
                if all(_cross(corners[loop[k - 1]], corners[loop[k]], corners[loop[(k + 1) % n]]) > -1e-13 for k in range(n)):
                    return loop
    return None


def contains(outline: Outline, points: ArrayLike) -> NDArray[np.bool_]:
    """Which of the points (N, 2) lie inside the outline and not in its holes (on the rim: either answer)."""
    p = np.asarray(points, float)
    inside = np.zeros(len(p), bool)
    for ring in outline.rings:
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            straddles = (a[1] > p[:, 1]) != (b[1] > p[:, 1])
            if straddles.any():
                inside ^= straddles & (p[:, 0] < a[0] + (p[:, 1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1] if b[1] != a[1] else 1.0))
    return inside


def rim_distance(outline: Outline, points: ArrayLike) -> Array:
    """Distance (N,) of points (N, 2) from the nearest edge of the outline, inside or outside."""
    p = np.asarray(points, float)
    start = np.concatenate(outline.rings)
    along = np.concatenate([np.roll(r, -1, axis=0) - r for r in outline.rings])
    offset = p[:, None] - start[None]
    t = np.clip(dots(offset, along) / dots(along, along), 0, 1)
    return np.asarray(norms(offset - t[..., None] * along[None]).min(1))


def union(outlines: Sequence[Outline], grain: float = 1e-7) -> Outline:
    """Overlapping or touching outlines as one; points closer than ``grain`` are the same point.

    Edges are cut where they meet edges of other outlines; the cuts that lie inside none of them are linked to rings again.
    """
    points: list[Array] = []

    def snapped(p: Array) -> int:
        for i, q in enumerate(points):
            if abs(p[0] - q[0]) < grain and abs(p[1] - q[1]) < grain:
                return i
        points.append(p)
        return len(points) - 1

    edges = [(k, a, b) for k, o in enumerate(outlines) for ring in o.rings for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]
    ahead: dict[int, list[int]] = {}
    for k, a, b in edges:
        stops = sorted({0.0, 1.0, *(t for j, c, d in edges if j != k for t in _meetings(a, b, c, d, grain))})
        chain = [snapped(a + t * (b - a)) for t in stops]
        for i, j in itertools.pairwise(chain):
            if i != j and _on_the_rim((points[i] + points[j]) / 2, points[j] - points[i], k, outlines, grain):
                ahead.setdefault(i, []).append(j)
    rings = [np.array([points[i] for i in loop]) for loop in _loops(ahead, points)]
    rings = [r for r in (_straightened(r, grain) for r in rings) if len(r) > 2 and abs(area(r)) > 100 * grain**2]
    outer = [r for r in rings if area(r) > 0]
    if len(outer) != 1:
        raise ValueError(f"the outlines make {len(outer)} separate figures, not one")
    return Outline((outer[0], *(r for r in rings if area(r) < 0)))


def _meetings(a: Array, b: Array, c: Array, d: Array, grain: float) -> list[float]:
    """Where along a–b (0 to 1) the edge c–d crosses it, touches it, or begins and ends on it."""
    u, v, w = b - a, d - c, c - a
    length = dot(u, u)
    found = []
    for p in (w, d - a):
        t = dot(p, u) / length
        if 0 < t < 1 and norm(p - t * u) < grain:
            found.append(t)
    cross = float(u[0] * v[1] - u[1] * v[0])
    if abs(cross) > 1e-12 * math.sqrt(length * dot(v, v)):
        t, s = float(w[0] * v[1] - w[1] * v[0]) / cross, float(w[0] * u[1] - w[1] * u[0]) / cross
        if 0 < t < 1 and -1e-12 < s < 1 + 1e-12:
            found.append(t)
    return found


def _on_the_rim(middle: Array, heading: Array, k: int, outlines: Sequence[Outline], grain: float) -> bool:
    """Is a cut of outline ``k`` part of the union's rim? Of cuts shared by several outlines the first one's is kept."""
    for j, other in enumerate(outlines):
        if j == k:
            continue
        if rim_distance(other, middle[None])[0] < grain:
            start = np.concatenate(other.rings)
            along = np.concatenate([np.roll(r, -1, axis=0) - r for r in other.rings])
            offset = middle - start
            t = np.clip(dots(offset, along) / dots(along, along), 0, 1)
            nearest = int(np.argmin(norms(offset - t[:, None] * along)))
            if dot(along[nearest], heading) < 0 or j < k:
                return False
        elif contains(other, middle[None])[0]:
            return False
    return True


def _loops(ahead: dict[int, list[int]], points: Sequence[Array]) -> list[list[int]]:
    """Link directed edges to closed loops, turning left as sharply as possible where there is a choice."""
    loops = []
    while ahead:
        start = next(iter(ahead))
        loop, here, back = [start], start, None
        while True:
            ways = ahead.get(here)
            if not ways:
                raise ValueError("the outlines touch in a way that leaves an open rim")
            heading = points[here] - points[back] if back is not None else np.array([1.0, 0.0])

            def left(i: int, at: Array = points[here], along: Array = heading) -> float:
                step = points[i] - at
                return math.atan2(float(along[0] * step[1] - along[1] * step[0]), dot(along, step))

            there = max(ways, key=left)
            ways.remove(there)
            if not ways:
                del ahead[here]
            if there == start:
                break
            loop.append(there)
            here, back = there, here
        loops.append(loop)
    return loops


def _straightened(ring: Array, grain: float) -> Array:
    """The ring without corners that do not turn."""
    kept = ring
    while len(kept) > 2:
        before, after = np.roll(kept, 1, axis=0), np.roll(kept, -1, axis=0)
        chord = after - before
        off = np.abs(chord[:, 0] * (kept - before)[:, 1] - chord[:, 1] * (kept - before)[:, 0])
        flat = off < grain * np.maximum(norms(chord), grain)
        if not flat.any():
            return kept
        kept = np.delete(kept, int(np.argmax(flat)), axis=0)
    return kept


def separation(a: Array, b: Array) -> float:
    """Gap in metres between two convex polygons, (K, 2) and (L, 2) counter-clockwise; negative depth where they overlap.

    Exact when negative or zero along an edge normal; for disjoint polygons a lower bound, exact unless two corners face each other.
    """
    from etude.catalog.apart import gap

    return gap(np.ascontiguousarray(a, float), np.ascontiguousarray(b, float))
