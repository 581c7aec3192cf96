"""What is the same all over a triangle, worked out once per move for those that are seen.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from here, nor constants imported.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.render.geometry import Geometry
from etude.render.lighting import Notes, ShadowMap

STEEPEST = np.float32(4)  # slope of a receiver against the light, beyond which the shadow test follows it no further
# Columns of a triangle's setup, the same here and in shade.py, which says what they are.
FORM_P, FORM_Q, FORM_U, FORM_V, OFFSET = 0, 4, 8, 12, 3
NORMAL, ALONG_P, ALONG_Q, BENT, FACE, SLOPE_X, SLOPE_Y = 16, 19, 22, 25, 26, 29, 30
BLOCK, GROUP = 256, 8  # samples that shade.py works on at a time, and that share a texture's footprint there


@compiled(error_model="numpy")
def set_up(g: Geometry, shadow: ShadowMap, owner: NDArray[np.int32]) -> None:
    """Bring ``g.setup`` up to date for all triangles that own a sample (height, width)."""
    who, visual, stamp, version = owner.reshape(owner.size), g.visual, g.stamp, g.version
    last = np.int32(-1)
    for i in range(who.size):
        t = who[i]
        if t == last or t < 0:
            continue
        last = t
        moves = version[np.uintp(visual[np.uintp(t)])]
        if stamp[np.uintp(t)] != moves:
            stamp[np.uintp(t)] = moves
            _set_up(g, shadow, t)


@compiled(error_model="numpy")
def outdated(
    g: Geometry, shadow: ShadowMap, stamps: NDArray[np.int64], owner: NDArray[np.int32], before: NDArray[np.int32],
    versions: NDArray[np.int64], tick: int, notes: Notes, wanted: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Mark the samples ``wanted`` (height, width) that may have another colour than in the picture before, and set up their triangles.

    That picture had the owners ``before``, which are brought up to date, visuals of these versions, and a shadow map whose tiles were
    stamped up to ``tick``. A sample keeps its colour if its group,
    up to eight neighbours in its row that see the same triangle, is the same, the triangle has not moved, and they compare with the shadow
    map as they did.
    """
    # Flat arrays at hand: numba counts references to every slice and to all arrays of a tuple that is passed on.
    height, width = owner.shape
    who, old, mark = owner.reshape(height * width), before.reshape(height * width), wanted.reshape(height * width)
    tile, where, deep = notes.tile.reshape(height * width), notes.where.reshape(height * width), notes.deep.reshape(height * width)
    lit, pitch = notes.lit.reshape(height * width), shadow.nearness.shape[1]
    m, setup, visual, version, done = shadow.nearness.reshape(shadow.nearness.size), g.setup, g.visual, g.version, g.stamp
    bits, zero = g.texture_bits, np.float32(0)
    mark[:], notes.rows[:] = 0, 0
    fresh = np.empty(stamps.size, np.bool_)  # small enough to stay in the nearest cache
    for i in range(stamps.size):
        fresh[i] = stamps[i] > tick
    for start in range(0, height * width, width):
        differing = False
        for left in range(start, start + width, BLOCK):
            right = min(left + BLOCK, start + width)
            last = left
            while last < right:
                first, t, same, touched = last, who[np.uintp(last)], True, False
                while last < right and who[np.uintp(last)] == t:
                    same &= old[np.uintp(last)] == t
                    touched |= fresh[np.uintp(tile[np.uintp(last)])]
                    last += 1
                if t < 0:
                    differing |= not same
                    for i in range(first, last):
                        mark[np.uintp(i)] = old[np.uintp(i)] != t
                    continue
                v = np.uintp(visual[np.uintp(t)])
                # Without a texture a sample does not care for its group.
                plain, begun = bits[v] == 0, old[np.uintp(first)] == t and (first == left or old[np.uintp(first - 1)] != t)
                if versions[v] != version[v] or not (plain or begun):
                    differing = True
                    for i in range(first, last):
                        mark[np.uintp(i)] = 1
                    if done[np.uintp(t)] != version[v]:
                        done[np.uintp(t)] = version[v]
                        _set_up(g, shadow, t)
                    continue
                same &= plain or last == right or old[np.uintp(last)] != t
                if same and not touched:
                    continue
                if done[np.uintp(t)] != version[v]:
                    done[np.uintp(t)] = version[v]
                    _set_up(g, shadow, t)
                sx, sy = setup[np.uintp(t), SLOPE_X], setup[np.uintp(t), SLOPE_Y]
                shifted = False  # behind what stood before a textured triangle, its groups had other limits
                for begin in range(first, last, GROUP):
                    end = min(begin + GROUP, last)
                    differs = shifted or (end < begin + GROUP and end < right and old[np.uintp(end)] == t and not plain)
                    if not same:
                        for i in range(begin, end):
                            differs |= old[np.uintp(i)] != t
                        shifted = differs and not plain
                    i = begin
                    while i < end and not differs:
                        if fresh[np.uintp(tile[np.uintp(i)])]:
                            at, z, was = where[np.uintp(i)], deep[np.uintp(i)], lit[np.uintp(i)]
                            now = (
                                (z + m[np.uintp(at)] <= zero) | (z + sx + m[np.uintp(at + 1)] <= zero) << 1
                                | (z + sy + m[np.uintp(at + pitch)] <= zero) << 2
                                | (z + sx + sy + m[np.uintp(at + pitch + 1)] <= zero) << 3
                            )  # fmt: skip
                            differs = now != was
                        i += 1
                    if differs:
                        differing = True
                        for i in range(begin, end):
                            mark[np.uintp(i)] = 1
        notes.rows[start // width] = differing
    for i in range(height * width):
        old[np.uintp(i)] = who[np.uintp(i)]


@compiled(error_model="numpy", inline="always")
def _set_up(g: Geometry, shadow: ShadowMap, t: int) -> None:
    """Gradients of barycentrics and texture, steps of the normal, slope to the light."""
    at = np.uintp(t)
    i0, i1, i2 = np.uintp(g.faces[at, 0]), np.uintp(g.faces[at, 1]), np.uintp(g.faces[at, 2])
    p, n, uv, s = g.points, g.normals, g.uv, g.setup
    ax, ay, az = p[i0, 0], p[i0, 1], p[i0, 2]
    bx, by, bz = p[i1, 0] - ax, p[i1, 1] - ay, p[i1, 2] - az
    cx, cy, cz = p[i2, 0] - ax, p[i2, 1] - ay, p[i2, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    square = nx * nx + ny * ny + nz * nz
    bend = 0.0
    for k in range(3):
        s[at, NORMAL + k] = n[i0, k]
        s[at, ALONG_P + k] = n[i1, k] - n[i0, k]
        s[at, ALONG_Q + k] = n[i2, k] - n[i0, k]
        bend += abs(n[i1, k] - n[i0, k]) + abs(n[i2, k] - n[i0, k])
    s[at, BENT] = 1.0 if bend > 1e-6 else 0.0
    textured = g.texture_bits[g.visual[at]] > 0
    if bend > 1e-6 or textured:
        inverse = 1.0 / square if square > 1e-40 else 0.0
        # Barycentrics are affine in space: b = q·p − k, with q in the plane of the triangle.
        q1x, q1y, q1z = (cy * nz - cz * ny) * inverse, (cz * nx - cx * nz) * inverse, (cx * ny - cy * nx) * inverse
        q2x, q2y, q2z = (ny * bz - nz * by) * inverse, (nz * bx - nx * bz) * inverse, (nx * by - ny * bx) * inverse
        k1, k2 = q1x * ax + q1y * ay + q1z * az, q2x * ax + q2y * ay + q2z * az
        s[at, FORM_P], s[at, FORM_P + 1], s[at, FORM_P + 2], s[at, FORM_P + OFFSET] = q1x, q1y, q1z, k1
        s[at, FORM_Q], s[at, FORM_Q + 1], s[at, FORM_Q + 2], s[at, FORM_Q + OFFSET] = q2x, q2y, q2z, k2
        if textured:
            # Rows of a picture run downwards, v upwards.
            u0, u1, u2 = uv[i0, 0], uv[i1, 0] - uv[i0, 0], uv[i2, 0] - uv[i0, 0]
            v0, v1, v2 = -uv[i0, 1], uv[i0, 1] - uv[i1, 1], uv[i0, 1] - uv[i2, 1]
            s[at, FORM_U], s[at, FORM_U + 1], s[at, FORM_U + 2] = u1 * q1x + u2 * q2x, u1 * q1y + u2 * q2y, u1 * q1z + u2 * q2z
            s[at, FORM_U + OFFSET] = u0 - u1 * k1 - u2 * k2
            s[at, FORM_V], s[at, FORM_V + 1], s[at, FORM_V + 2] = v1 * q1x + v2 * q2x, v1 * q1y + v2 * q2y, v1 * q1z + v2 * q2z
            s[at, FORM_V + OFFSET] = v0 - v1 * k1 - v2 * k2
            unit = np.sqrt(inverse)
            s[at, FACE], s[at, FACE + 1], s[at, FACE + 2] = nx * unit, ny * unit, nz * unit
    a = shadow.axes
    lx = nx * a[0, 0] + ny * a[0, 1] + nz * a[0, 2]
    ly = nx * a[1, 0] + ny * a[1, 1] + nz * a[1, 2]
    lz = nx * a[2, 0] + ny * a[2, 1] + nz * a[2, 2]
    if lz < 0:
        s[at, SLOPE_X] = min(max(-lx / lz, -STEEPEST), STEEPEST) * shadow.texel
        s[at, SLOPE_Y] = min(max(-ly / lz, -STEEPEST), STEEPEST) * shadow.texel
    else:
        s[at, SLOPE_X], s[at, SLOPE_Y] = 0.0, 0.0
