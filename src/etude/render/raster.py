"""From triangles to a visibility buffer: which triangle each sample sees, and how near it is.

Vertices are snapped to 1/256 pixel and coverage is decided in whole numbers with the top-left rule, so a sample on an edge that two
triangles share belongs to exactly one of them. ``nearness`` is 1/z for perspective and −z for orthographic views: linear on the screen, and
larger is nearer. It depends on the triangle and the place of the sample only, so that any grid of samples agrees with any other.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from here, nor constants imported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.pose import Array
from etude.render.geometry import Triangles

BEYOND = 1e9  # samples: more than any picture is wide
GUARD = 1 << 19  # pixels: beyond this, polygons are cut, so that edge functions fit in 64 bits
EXACT = 1 << 22  # 1/256 pixel: of triangles up to this size, the covered span of a row follows from a quotient alone
SLACK = 2.0**-33


class Projection(NamedTuple):
    """How the world falls on a grid of samples. Sample (i, j) lies at pixel coordinates ((i << shift) + origin) / 256."""

    eye: Array  # (3,) world
    axes: Array  # (3, 3) rows: right, down, forward in the world
    perspective: bool
    focal: float  # pixels per unit of x/z, or pixels per metre
    cx: float
    cy: float
    near: float
    far: float
    width: int  # samples
    height: int
    shift: int
    origin: int


class Scratch(NamedTuple):
    """Room for the vertices of one view: camera coordinates, snapped pixels, and whether a vertex needs clipping."""

    local: Array  # (N, 3)
    snapped: NDArray[np.int32]  # (N, 2)
    astray: NDArray[np.uint8]  # (N,)
    polygon: Array  # (2, 10, 3)


def scratch(vertices: int) -> Scratch:
    """Working memory for views of so many vertices."""
    return Scratch(np.zeros((vertices, 3)), np.zeros((vertices, 2), np.int32), np.zeros(vertices, np.uint8), np.zeros((2, 10, 3)))


def clear(view: Projection, nearness: NDArray[np.float32], owner: NDArray[np.int32]) -> None:
    """Nothing seen yet: nearness of the far plane, owner −1."""
    nearness.fill(1.0 / view.far if view.perspective else -view.far)
    owner.fill(-1)


@compiled(error_model="numpy")
def _out_of_sight(view: Projection, x: float, y: float, z: float, radius: float) -> bool:
    """Whether a sphere in camera coordinates lies wholly outside the view."""
    if z + radius < view.near or z - radius > view.far:
        return True
    right = ((view.width - 1 << view.shift) + view.origin) / 256.0 + 1.0 - view.cx
    bottom = ((view.height - 1 << view.shift) + view.origin) / 256.0 + 1.0 - view.cy
    left, top = view.cx + 1.0, view.cy + 1.0
    f = view.focal
    if not view.perspective:
        return (x - radius) * f > right or (x + radius) * f < -left or (y - radius) * f > bottom or (y + radius) * f < -top
    return bool(
        f * x - right * z > radius * np.sqrt(f * f + right * right)
        or -f * x - left * z > radius * np.sqrt(f * f + left * left)
        or f * y - bottom * z > radius * np.sqrt(f * f + bottom * bottom)
        or -f * y - top * z > radius * np.sqrt(f * f + top * top)
    )


@compiled(error_model="numpy", inline="always")
def _box(view: Projection, x0: int, y0: int, x1: int, y1: int, x2: int, y2: int) -> tuple[int, int, int, int]:
    """The samples (left, top, right, bottom) that a triangle of snapped corners can cover; none where right < left or bottom < top."""
    shift, origin = view.shift, view.origin
    one_less = (1 << shift) - 1
    return (
        max((min(x0, x1, x2) - origin + one_less) >> shift, 0), max((min(y0, y1, y2) - origin + one_less) >> shift, 0),
        min((max(x0, x1, x2) - origin) >> shift, view.width - 1), min((max(y0, y1, y2) - origin) >> shift, view.height - 1),
    )  # fmt: skip


@compiled(error_model="numpy", inline="always")
def _limits(rise: int, width: int) -> tuple[float, float, float]:
    """How an edge function e that grows by ``rise`` from sample to sample bounds the covered ones: from e · first to e · last + room."""
    if rise > 0:
        return -1.0 / rise, 0.0, float(width)
    if rise < 0:
        return 0.0, -1.0 / rise, 0.0
    return 0.0, BEYOND, float(width)  # a row is wholly on one side


@compiled(error_model="numpy", inline="always")
def _fill(
    view: Projection, xs: Array, left: int, top: int, right: int, bottom: int, x0: int, y0: int, x1: int, y1: int, x2: int, y2: int,
    wx: float, wy: float, wc: float, low: float, high: float, triangle: int, nearness: NDArray[np.float32], owner: NDArray[np.int32],
) -> None:  # fmt: skip
    """Draw one triangle of snapped corners, clockwise on the screen, with nearness wx·x + wy·y + wc at (x, y), kept in [low, high]."""
    shift, origin = view.shift, view.origin
    dx0, dy0, dx1, dy1, dx2, dy2 = x1 - x0, y1 - y0, x2 - x1, y2 - y1, x0 - x2, y0 - y2
    px, py = (left << shift) + origin, (top << shift) + origin
    # A sample exactly on an edge belongs to the triangle for which this is a top or a left edge.
    e0 = dx0 * (py - y0) - dy0 * (px - x0) - (0 if dy0 < 0 or (dy0 == 0 and dx0 > 0) else 1)
    e1 = dx1 * (py - y1) - dy1 * (px - x1) - (0 if dy1 < 0 or (dy1 == 0 and dx1 > 0) else 1)
    e2 = dx2 * (py - y2) - dy2 * (px - x2) - (0 if dy2 < 0 or (dy2 == 0 and dx2 > 0) else 1)
    right0, right1, right2 = -dy0 << shift, -dy1 << shift, -dy2 << shift
    down0, down1, down2 = dx0 << shift, dx1 << shift, dx2 << shift
    width = right - left
    first0, last0, room0 = _limits(right0, width)
    first1, last1, room1 = _limits(right1, width)
    first2, last2, room2 = _limits(right2, width)
    # Up to EXACT, quotients are off by less than SLACK, and what is no whole number is farther from one than that. Beyond it, a sample more
    # on both ends is tested in whole numbers.
    huge = max(abs(dx0), abs(dx1), abs(dx2), abs(dy0), abs(dy1), abs(dy2)) > EXACT
    slack = 1.0 if huge else SLACK
    who = np.int32(triangle)
    for j in range(top, bottom + 1):
        row, at = wc + wy * (((j << shift) + origin) / 256.0), j * view.width + left
        f0, f1, f2 = float(e0), float(e1), float(e2)
        begin = max(f0 * first0, f1 * first1, f2 * first2, 0.0) - slack
        end = min(f0 * last0 + room0, f1 * last1 + room1, f2 * last2 + room2, float(width)) + slack
        if begin <= end:
            first, last = max(int(np.ceil(begin)), 0), min(int(np.floor(end)), width)
            if huge:
                while first <= last and ((e0 + first * right0) | (e1 + first * right1) | (e2 + first * right2)) < 0:
                    first += 1
                while first <= last and ((e0 + last * right0) | (e1 + last * right1) | (e2 + last * right2)) < 0:
                    last -= 1
            if owner.shape[0]:
                for k in range(first, last + 1):
                    w, old = np.float32(min(max(row + wx * xs[np.uintp(left + k)], low), high)), nearness[np.uintp(at + k)]
                    before = owner[np.uintp(at + k)]
                    seen = (w > old) | ((w == old) & (who < before))
                    nearness[np.uintp(at + k)] = w if seen else old
                    owner[np.uintp(at + k)] = who if seen else before
            else:
                for k in range(first, last + 1):
                    w, old = np.float32(min(max(row + wx * xs[np.uintp(left + k)], low), high)), nearness[np.uintp(at + k)]
                    nearness[np.uintp(at + k)] = w if w > old else old
        e0 += down0
        e1 += down1
        e2 += down2


@compiled(error_model="numpy")
def _beyond(view: Projection, plane: int, x: float, y: float, z: float) -> float:
    """Signed distance, in some unit, by which a point lies inside a clipping plane: 0 the near plane, 1 to 4 the guard band."""
    if plane == 0:
        return z - view.near
    depth = z if view.perspective else 1.0
    if plane == 1:
        return GUARD * depth - (view.focal * x + view.cx * depth)
    if plane == 2:
        return GUARD * depth + (view.focal * x + view.cx * depth)
    if plane == 3:
        return GUARD * depth - (view.focal * y + view.cy * depth)
    return GUARD * depth + (view.focal * y + view.cy * depth)


@compiled(error_model="numpy")
def _clip(view: Projection, polygon: Array, count: int) -> tuple[int, int]:
    """Cut polygon[0, :count] by all planes; gives which of the two buffers holds the result and its corners.

    The crossing of an edge is always computed from its inner end, so neighbours that share the edge get the same point.
    """
    source = 0
    for plane in range(5):
        target, kept = 1 - source, 0
        for i in range(count):
            j = (i + 1) % count
            a, b = polygon[source, i], polygon[source, j]
            da, db = _beyond(view, plane, a[0], a[1], a[2]), _beyond(view, plane, b[0], b[1], b[2])
            if da >= 0:
                polygon[target, kept] = a
                kept += 1
            if (da >= 0) != (db >= 0):
                if da >= 0:
                    t = da / (da - db)
                    for k in range(3):
                        polygon[target, kept, k] = a[k] + t * (b[k] - a[k])
                else:
                    t = db / (db - da)
                    for k in range(3):
                        polygon[target, kept, k] = b[k] + t * (a[k] - b[k])
                if plane == 0:
                    polygon[target, kept, 2] = view.near
                kept += 1
        source, count = target, kept
        if count < 3:
            return source, 0
    return source, count


@compiled(error_model="numpy", inline="always")
def _place(view: Projection, g: Triangles, s: Scratch, visual: int) -> None:
    """Camera coordinates and snapped pixels of the vertices of a visual."""
    m, e, f = view.axes, view.eye, view.focal
    for i in range(g.vertex_start[visual], g.vertex_start[visual + 1]):
        px, py, pz = g.points[i, 0] - e[0], g.points[i, 1] - e[1], g.points[i, 2] - e[2]
        x = m[0, 0] * px + m[0, 1] * py + m[0, 2] * pz
        y = m[1, 0] * px + m[1, 1] * py + m[1, 2] * pz
        z = m[2, 0] * px + m[2, 1] * py + m[2, 2] * pz
        s.local[i, 0], s.local[i, 1], s.local[i, 2] = x, y, z
        scale = f / z if view.perspective else f
        sx, sy = x * scale + view.cx, y * scale + view.cy
        # Without a branch, vertices are worked on several at a time.
        within = (z >= view.near) & (abs(sx) <= GUARD) & (abs(sy) <= GUARD)
        sx, sy = sx if within else 0.0, sy if within else 0.0
        s.snapped[i, 0], s.snapped[i, 1] = np.int32(np.floor(sx * 256.0 + 0.5)), np.int32(np.floor(sy * 256.0 + 0.5))
        s.astray[i] = np.uint8(0) if within else np.uint8(1)


@compiled(error_model="numpy")
def _fill_clipped(
    view: Projection, xs: Array, s: Scratch, i0: int, i1: int, i2: int, wx: float, wy: float, wc: float, triangle: int,
    nearness: NDArray[np.float32], owner: NDArray[np.int32],
) -> None:  # fmt: skip
    """Draw a triangle that crosses the near plane or leaves the guard band, as a fan of what remains of it."""
    s.polygon[0, 0], s.polygon[0, 1], s.polygon[0, 2] = s.local[i0], s.local[i1], s.local[i2]
    which, count = _clip(view, s.polygon, 3)
    if count == 0:
        return
    low, high = np.inf, -np.inf
    sx, sy = np.empty(10, np.int64), np.empty(10, np.int64)
    for k in range(count):
        x, y, z = s.polygon[which, k]
        scale = view.focal / z if view.perspective else view.focal
        sx[k] = int(np.floor((x * scale + view.cx) * 256.0 + 0.5))
        sy[k] = int(np.floor((y * scale + view.cy) * 256.0 + 0.5))
        w = 1.0 / z if view.perspective else -z
        low, high = min(low, w), max(high, w)
    for k in range(1, count - 1):
        area = (sx[k] - sx[0]) * (sy[k + 1] - sy[0]) - (sx[k + 1] - sx[0]) * (sy[k] - sy[0])
        if area < 0:
            ax, ay, bx, by, cx, cy = sx[0], sy[0], sx[k + 1], sy[k + 1], sx[k], sy[k]
            left, top, right, bottom = _box(view, ax, ay, bx, by, cx, cy)
            _fill(
                view, xs, left, top, right, bottom, ax, ay, bx, by, cx, cy, wx, wy, wc, low, high, triangle, nearness, owner
            )  # fmt: skip


@compiled(error_model="numpy")
def draw(
    view: Projection, g: Triangles, shown: NDArray[np.uint8], s: Scratch, nearness: NDArray[np.float32], owner: NDArray[np.int32]
) -> None:
    """Draw the visuals with shown[v] = 1 over what the buffers (height, width) hold; of two equally near triangles, the first stays.

    The order of drawing does not matter, so that what was drawn once can be kept and drawn over. An empty ``owner`` is not written to.
    """
    m, e, f = view.axes, view.eye, view.focal
    near, who = nearness.reshape(nearness.size), owner.reshape(owner.size)
    xs = np.empty(view.width)
    for i in range(view.width):
        xs[i] = ((i << view.shift) + view.origin) / 256.0
    left, top, right, bottom = 0, 0, 0, 0
    x0, y0, x1, y1, x2, y2 = 0, 0, 0, 0, 0, 0
    for v in range(shown.shape[0]):
        if shown[v] == 0:
            continue
        px, py, pz = g.centres[v, 0] - e[0], g.centres[v, 1] - e[1], g.centres[v, 2] - e[2]
        x = m[0, 0] * px + m[0, 1] * py + m[0, 2] * pz
        y = m[1, 0] * px + m[1, 1] * py + m[1, 2] * pz
        z = m[2, 0] * px + m[2, 1] * py + m[2, 2] * pz
        if _out_of_sight(view, x, y, z, g.radii[v]):
            continue
        _place(view, g, s, v)
        for t in range(g.face_start[v], g.face_start[v + 1]):
            i0, i1, i2 = np.uintp(g.faces[t, 0]), np.uintp(g.faces[t, 1]), np.uintp(g.faces[t, 2])
            astray = s.astray[i0] | s.astray[i1] | s.astray[i2]
            if astray == 0:
                # Sums have 64 bits, as the products below need.
                x0, y0 = s.snapped[i0, 0] + 0, s.snapped[i0, 1] + 0
                x1, y1 = s.snapped[i1, 0] + 0, s.snapped[i1, 1] + 0
                x2, y2 = s.snapped[i2, 0] + 0, s.snapped[i2, 1] + 0
                # Counter-clockwise in space is a negative area on a screen whose y points down.
                if (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0) >= 0:
                    continue
                left, top, right, bottom = _box(view, x0, y0, x1, y1, x2, y2)
                if left > right or top > bottom:
                    continue
            ax, ay, az = s.local[i0, 0], s.local[i0, 1], s.local[i0, 2]
            bx, by, bz = s.local[i1, 0] - ax, s.local[i1, 1] - ay, s.local[i1, 2] - az
            cx, cy, cz = s.local[i2, 0] - ax, s.local[i2, 1] - ay, s.local[i2, 2] - az
            nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
            d = nx * ax + ny * ay + nz * az
            facing = d if view.perspective else nz
            # The plane n·p = d, seen along the ray of a pixel.
            if facing < 0 and view.perspective:
                wx, wy = nx / (f * d), ny / (f * d)
                wc = nz / d - wx * view.cx - wy * view.cy
            elif facing < 0:
                wx, wy = nx / (f * nz), ny / (f * nz)
                wc = -d / nz - wx * view.cx - wy * view.cy
            elif astray:
                continue
            else:  # edge-on: only snapping made it visible, and leaving it out could open a pinhole
                wx, wy, wc = 0.0, 0.0, 1.0 / az if view.perspective else -az
            if astray:
                _fill_clipped(view, xs, s, i0, i1, i2, wx, wy, wc, t, near, who)
                continue
            z0, z1, z2 = az, az + bz, az + cz
            low, high = min(z0, z1, z2), max(z0, z1, z2)
            if view.perspective:
                low, high = 1.0 / high, 1.0 / low
            else:
                low, high = -high, -low
            _fill(view, xs, left, top, right, bottom, x0, y0, x2, y2, x1, y1, wx, wy, wc, low, high, t, near, who)
