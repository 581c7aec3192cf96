"""From a visibility buffer to colour: light, shadow and texture for every sample that is seen, and for no other.

Light is added up in gamma-2 space (a byte is the square root of light): exact albedo under unit light, close to sRGB elsewhere, and made of
nothing but IEEE multiplications and square roots, so the bytes are the same on every machine.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from here, nor constants imported.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from etude.render.geometry import Geometry
from etude.render.lighting import Lights, ShadowMap
from etude.render.raster import View

Float = np.float32
Scalar = Any  # a float32 or an int64 inside the kernels
_0, _HALF, _1, _2, _4 = Float(0), Float(0.5), Float(1), Float(2), Float(4)
_INV255 = Float(1 / 255)
_255 = Float(255)
WEIGHT = 8192  # sum of the weights of all texels in a sample: three lanes of 21 bits hold 255 · 8192
_UNWEIGHT = Float(1 / (255 * WEIGHT))
LANE = (1 << 21) - 1
SHARP = Float(0.5)  # how far filtering goes, against the full square of a pixel: crisp, and still calm in motion
STEEPEST = Float(4)  # slope of a receiver against the light, beyond which the shadow test follows it no further
UP, SIDE = Float(0.15), Float(0.85)  # ambient light comes a little more from above
BIAS, LIFT = 0.25, 0.6  # texels by which a receiver is moved towards the light, and along its normal, before the shadow test
GLINT = Float(0.5)  # squared cosine below which a highlight is invisible


@nb.njit(cache=True, error_model="numpy")
def _set_up(g: Geometry, shadow: ShadowMap, t: int) -> None:
    """Work out what is the same all over a triangle: gradients of barycentrics and texture, steps of the normal, slope to the light."""
    i0, i1, i2 = g.faces[t, 0], g.faces[t, 1], g.faces[t, 2]
    p, n, uv, s = g.points, g.normals, g.uv, g.setup
    ax, ay, az = p[i0, 0], p[i0, 1], p[i0, 2]
    bx, by, bz = p[i1, 0] - ax, p[i1, 1] - ay, p[i1, 2] - az
    cx, cy, cz = p[i2, 0] - ax, p[i2, 1] - ay, p[i2, 2] - az
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    square = nx * nx + ny * ny + nz * nz
    inverse = 1.0 / square if square > 1e-40 else 0.0
    # Barycentrics are affine in space: b = q·p − k, with q in the plane of the triangle.
    q1x, q1y, q1z = (cy * nz - cz * ny) * inverse, (cz * nx - cx * nz) * inverse, (cx * ny - cy * nx) * inverse
    q2x, q2y, q2z = (ny * bz - nz * by) * inverse, (nz * bx - nx * bz) * inverse, (nx * by - ny * bx) * inverse
    k1, k2 = q1x * ax + q1y * ay + q1z * az, q2x * ax + q2y * ay + q2z * az
    s[t, 0], s[t, 1], s[t, 2], s[t, 3] = q1x, q1y, q1z, k1
    s[t, 4], s[t, 5], s[t, 6], s[t, 7] = q2x, q2y, q2z, k2
    # Rows of a picture run downwards, v upwards.
    u0, u1, u2 = uv[i0, 0], uv[i1, 0] - uv[i0, 0], uv[i2, 0] - uv[i0, 0]
    v0, v1, v2 = -uv[i0, 1], uv[i0, 1] - uv[i1, 1], uv[i0, 1] - uv[i2, 1]
    s[t, 8], s[t, 9], s[t, 10] = u1 * q1x + u2 * q2x, u1 * q1y + u2 * q2y, u1 * q1z + u2 * q2z
    s[t, 11] = u0 - u1 * k1 - u2 * k2
    s[t, 12], s[t, 13], s[t, 14] = v1 * q1x + v2 * q2x, v1 * q1y + v2 * q2y, v1 * q1z + v2 * q2z
    s[t, 15] = v0 - v1 * k1 - v2 * k2
    bend = 0.0
    for k in range(3):
        s[t, 16 + k] = n[i0, k]
        s[t, 19 + k] = n[i1, k] - n[i0, k]
        s[t, 22 + k] = n[i2, k] - n[i0, k]
        bend += abs(n[i1, k] - n[i0, k]) + abs(n[i2, k] - n[i0, k])
    s[t, 25] = 1.0 if bend > 1e-6 else 0.0
    unit = np.sqrt(inverse)
    s[t, 26], s[t, 27], s[t, 28] = nx * unit, ny * unit, nz * unit
    a = shadow.axes
    lx = nx * a[0, 0] + ny * a[0, 1] + nz * a[0, 2]
    ly = nx * a[1, 0] + ny * a[1, 1] + nz * a[1, 2]
    lz = nx * a[2, 0] + ny * a[2, 1] + nz * a[2, 2]
    if lz < 0:
        s[t, 29] = min(max(-lx / lz, -STEEPEST), STEEPEST) * shadow.texel
        s[t, 30] = min(max(-ly / lz, -STEEPEST), STEEPEST) * shadow.texel
    else:
        s[t, 29], s[t, 30] = 0.0, 0.0


@nb.njit(cache=True, error_model="numpy")
def _texel(texels: NDArray[np.int64], where: Scalar) -> Scalar:
    """A texel. An unsigned index spares numba's test for negative ones."""
    return texels[np.uintp(where)]


@nb.njit(cache=True, error_model="numpy", inline="always")
def _bilinear(texels: NDArray[np.int64], start: Scalar, bits: Scalar, u: Scalar, v: Scalar, weight: Scalar) -> Scalar:
    """Four texels around (u, v) of a level of side 2**bits, weighted so that they sum to ``weight``, in three lanes of 21 bits."""
    side = 1 << bits
    x, y = u * Float(side) - _HALF, v * Float(side) - _HALF
    fx, fy = np.floor(x), np.floor(y)
    i, j = int(fx), int(fy)
    right, low = int((x - fx) * Float(256)), int((y - fy) * Float(256))
    mask = side - 1
    i0, i1 = i & mask, (i + 1) & mask
    r0, r1 = start + ((j & mask) << bits), start + (((j + 1) & mask) << bits)
    lower = (weight * low) >> 8
    upper = weight - lower
    w11 = (lower * right) >> 8
    w01 = (upper * right) >> 8
    return (
        _texel(texels, r0 + i0) * (upper - w01) + _texel(texels, r0 + i1) * w01
        + _texel(texels, r1 + i0) * (lower - w11) + _texel(texels, r1 + i1) * w11
    )  # fmt: skip


@nb.njit(cache=True, error_model="numpy")
def _footprint(start: Scalar, bits: Scalar, ux: Scalar, vx: Scalar, uy: Scalar, vy: Scalar) -> tuple[Scalar, ...]:
    """How to read a texture under a pixel whose sides are (ux, vx) and (uy, vy) repetitions long.

    Gives the start and size of a level of the pyramid, the weights of its texels and of those of the next one, and the number of taps (its
    logarithm) with the steps between them: up to four along the longer side, to keep sharp what is seen at a grazing angle.
    """
    whole = Float(1 << (2 * bits))
    a, b = (ux * ux + vx * vx) * whole, (uy * uy + vy * vy) * whole
    major = max(a, b)
    rho = major * SHARP  # the square of the number of texels that one tap has to cover
    if rho <= _1:
        return start, bits, WEIGHT, 0, 0, _0, _0
    du, dv = (ux, vx) if a > b else (uy, vy)
    area = (ux * vy - uy * vx) * whole
    taps = 0
    if major * major > Float(6) * area * area:
        taps, rho, du, dv = 1, rho * Float(0.4), du * _HALF, dv * _HALF
        if major * major > Float(24) * area * area:
            taps, rho, du, dv = 2, rho * Float(0.4), du * _HALF, dv * _HALF
    size = bits
    while rho >= _4 and size > 0:
        rho *= Float(0.25)
        size -= 1
    start += ((1 << (2 * bits + 2)) - (1 << (2 * size + 2))) * 0xAAAAAAAB >> 33  # / 3
    finer, coarser = WEIGHT >> taps, 0
    # A blend over the middle half of the way, piecewise linear in rho: a continuous stand-in for the logarithm.
    if size > 0 and rho > Float(1.75):
        coarser = min(int((rho * Float(2 / 3) - Float(7 / 6)) * Float(finer)), finer)
        finer -= coarser
        if finer == 0:
            return start + (1 << (2 * size)), size - 1, coarser, 0, taps, du, dv
    return start, size, finer, coarser, taps, du, dv


@nb.njit(cache=True, error_model="numpy", inline="always")
def _texture(
    texels: NDArray[np.int64],
    start: Scalar,
    size: Scalar,
    finer: Scalar,
    coarser: Scalar,
    taps: Scalar,
    du: Scalar,
    dv: Scalar,
    u: Scalar,
    v: Scalar,
) -> Scalar:
    """The texture at (u, v), read as :func:`_footprint` says."""
    if taps == 0:
        total = _bilinear(texels, start, size, u, v, finer)
        if coarser > 0:
            total += _bilinear(texels, start + (1 << (2 * size)), size - 1, u, v, coarser)
        return total
    offset = _HALF if taps == 1 else Float(1.5)
    u, v = u - offset * du, v - offset * dv
    total = 0
    for _ in range(1 << taps):
        total += _bilinear(texels, start, size, u, v, finer)
        if coarser > 0:
            total += _bilinear(texels, start + (1 << (2 * size)), size - 1, u, v, coarser)
        u, v = u + du, v + dv
    return total


@nb.njit(cache=True, error_model="numpy", inline="always")
def _row(m: NDArray[np.float32], at: Scalar, z: Scalar, slope: Scalar, left: Scalar, right: Scalar) -> Scalar:
    lit = _0
    if z - slope + m[np.uintp(at - 1)] <= _0:
        lit += left
    if z + m[np.uintp(at)] <= _0:
        lit += _1
    if z + slope + m[np.uintp(at + 1)] <= _0:
        lit += right
    return lit


@nb.njit(cache=True, error_model="numpy", inline="always")
def _lit(
    m: NDArray[np.float32], width: Scalar, height: Scalar, x: Scalar, y: Scalar, z: Scalar, slope_x: Scalar, slope_y: Scalar
) -> Scalar:
    """How much of the key light reaches a point of light coordinates (texels, texels, metres): 3×3 comparisons, a box two texels wide."""
    i, j = int(np.floor(x)), int(np.floor(y))
    if i < 1 or j < 1 or i >= width - 1 or j >= height - 1:
        return _1
    fx, fy = x - Float(i) - _HALF, y - Float(j) - _HALF
    # The receiver is followed along its own plane to the centre of each texel, so that it cannot shadow itself.
    z -= fx * slope_x + fy * slope_y
    left, right = _HALF - fx, _HALF + fx
    at = j * width + i
    return Float(0.25) * (
        _row(m, at - width, z - slope_y, slope_x, left, right) * (_HALF - fy)
        + _row(m, at, z, slope_x, left, right)
        + _row(m, at + width, z + slope_y, slope_x, left, right) * (_HALF + fy)
    )


@nb.njit(cache=True, error_model="numpy", inline="always")
def _soft(lights: Lights, nx: Scalar, ny: Scalar, nz: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The light that casts no shadows, ambient and fills, on a surface with this normal."""
    ambient = SIDE + UP * nz
    r, g, b = lights.ambient[0] * ambient, lights.ambient[1] * ambient, lights.ambient[2] * ambient
    for k in range(lights.fills.shape[0]):
        cosine = max(lights.fills[k, 0, 0] * nx + lights.fills[k, 0, 1] * ny + lights.fills[k, 0, 2] * nz, _0)
        r += lights.fills[k, 1, 0] * cosine
        g += lights.fills[k, 1, 1] * cosine
        b += lights.fills[k, 1, 2] * cosine
    return r, g, b


@nb.njit(cache=True, error_model="numpy")
def _look(
    view: View, shadow: ShadowMap, j: int, nearness: NDArray[np.float32], across: NDArray[np.float32], seen: NDArray[np.float32]
) -> None:
    """Where the samples of row j look and what they see: reach of a pixel there, direction, point, point in the light's frame.

    ``across`` (width,) is x/z of the columns. Short loops without branches, which the compiler turns into vector instructions.
    """
    a = view.axes
    inverse = Float(1.0 / view.focal)
    y = Float((((j << view.shift) + view.origin) / 256.0 - view.cy) / view.focal)
    reach = seen[0]
    if view.perspective:
        for i in range(view.width):
            reach[i] = _1 / nearness[i]
    for k in range(3):
        direction, point = seen[1 + k], seen[4 + k]
        right, ahead, start = Float(a[0, k]), Float(a[2, k]), Float(view.eye[k])
        down = y * Float(a[1, k])
        if view.perspective:
            for i in range(view.width):
                d = ahead + across[i] * right + down
                direction[i] = d
                point[i] = start + reach[i] * d
        else:
            for i in range(view.width):
                direction[i] = ahead
                point[i] = start + across[i] * right + down - nearness[i] * ahead
    for i in range(view.width):
        reach[i] = reach[i] * inverse if view.perspective else inverse
    px, py, pz = seen[4], seen[5], seen[6]
    for k in range(3):
        scale = Float(1.0 / shadow.texel) if k < 2 else _1
        origin = Float(shadow.cx if k == 0 else shadow.cy) if k < 2 else _0
        lx, ly, lz, out = shadow.axes[k, 0] * scale, shadow.axes[k, 1] * scale, shadow.axes[k, 2] * scale, seen[7 + k]
        for i in range(view.width):
            out[i] = px[i] * lx + py[i] * ly + pz[i] * lz + origin


@nb.njit(cache=True, error_model="numpy")
def _paint(
    view: View, g: Geometry, shadow: ShadowMap, owner: NDArray[np.int32], wanted: NDArray[np.uint8], seen: NDArray[np.float32],
    surface: NDArray[np.float32],
) -> None:  # fmt: skip
    """Colours (3, width) of the surfaces that a row of samples sees."""
    a = view.axes
    rx, ry, rz = Float(a[0, 0]), Float(a[0, 1]), Float(a[0, 2])
    hx, hy, hz = Float(a[1, 0]), Float(a[1, 1]), Float(a[1, 2])
    everything = wanted.shape[0] == 0
    last, bits, start = np.int32(-1), np.int64(0), np.int64(0)
    red = green = blue = nr = nh = ur = uh = wr = wh = du = dv = _0
    level = size = finer = coarser = taps = np.int64(0)
    s = g.setup
    for i in range(view.width):
        t = owner[i]
        if t < 0 or not (everything or wanted[i]):
            continue
        fresh = t != last
        if fresh:  # what neighbours on the same triangle share
            last = t
            v = g.visual[t]
            if g.stamp[t] != g.version[v]:
                _set_up(g, shadow, t)
                g.stamp[t] = g.version[v]
            bits, start = g.texture_bits[v], g.texture_start[v]
            if bits == 0:
                packed = g.texels[start]
                red, green, blue = Float(packed & LANE) * _INV255, Float((packed >> 21) & LANE) * _INV255, Float(packed >> 42) * _INV255
            else:
                nr, nh = s[t, 26] * rx + s[t, 27] * ry + s[t, 28] * rz, s[t, 26] * hx + s[t, 27] * hy + s[t, 28] * hz
                ur, uh = s[t, 8] * rx + s[t, 9] * ry + s[t, 10] * rz, s[t, 8] * hx + s[t, 9] * hy + s[t, 10] * hz
                wr, wh = s[t, 12] * rx + s[t, 13] * ry + s[t, 14] * rz, s[t, 12] * hx + s[t, 13] * hy + s[t, 14] * hz
        if bits > 0:
            if fresh or i & 7 == 0:  # the footprint changes slowly: once for eight samples is enough
                # How far the point moves for one pixel to the right and one down, staying on the triangle.
                reach, dx, dy, dz = seen[0, i], seen[1, i], seen[2, i], seen[3, i]
                facing = reach / min(s[t, 26] * dx + s[t, 27] * dy + s[t, 28] * dz, Float(-0.01))
                tr, th = nr * facing, nh * facing
                ud, wd = s[t, 8] * dx + s[t, 9] * dy + s[t, 10] * dz, s[t, 12] * dx + s[t, 13] * dy + s[t, 14] * dz
                level, size, finer, coarser, taps, du, dv = _footprint(
                    start, bits, reach * ur - tr * ud, reach * wr - tr * wd, reach * uh - th * ud, reach * wh - th * wd
                )
            px, py, pz = seen[4, i], seen[5, i], seen[6, i]
            packed = _texture(
                g.texels, level, size, finer, coarser, taps, du, dv,
                s[t, 8] * px + s[t, 9] * py + s[t, 10] * pz + s[t, 11], s[t, 12] * px + s[t, 13] * py + s[t, 14] * pz + s[t, 15],
            )  # fmt: skip
            red = Float(packed & LANE) * _UNWEIGHT
            green = Float((packed >> 21) & LANE) * _UNWEIGHT
            blue = Float(packed >> 42) * _UNWEIGHT
        surface[0, i], surface[1, i], surface[2, i] = red, green, blue


@nb.njit(cache=True, error_model="numpy")
def _light(
    view: View, g: Geometry, lights: Lights, shadow: ShadowMap, owner: NDArray[np.int32], wanted: NDArray[np.uint8],
    seen: NDArray[np.float32], light: NDArray[np.float32],
) -> None:  # fmt: skip
    """Light (3, width) that falls on what a row of samples sees, and in light[3] the highlight that it reflects."""
    kx, ky, kz = lights.key[0, 0], lights.key[0, 1], lights.key[0, 2]
    key_r, key_g, key_b = lights.key[1, 0], lights.key[1, 1], lights.key[1, 2]
    la = shadow.axes
    height, width = shadow.nearness.shape
    shadow_map = shadow.nearness.reshape(height * width)
    bias, lift, lift_texels = Float(BIAS * shadow.texel), Float(LIFT * shadow.texel), Float(LIFT)
    everything = wanted.shape[0] == 0
    last, smooth, gloss_of = np.int32(-1), False, _0
    nx = ny = nz = lr0 = lg0 = lb0 = cosine0 = _0
    s = g.setup
    for i in range(view.width):
        t = owner[i]
        if t < 0 or not (everything or wanted[i]):
            continue
        if t != last:
            last = t
            smooth, gloss_of = s[t, 25] > _0, g.gloss[g.visual[t]]
            if not smooth:
                nx, ny, nz = s[t, 16], s[t, 17], s[t, 18]
                lr0, lg0, lb0 = _soft(lights, nx, ny, nz)
                cosine0 = kx * nx + ky * ny + kz * nz
        lr, lg, lb, cosine = lr0, lg0, lb0, cosine0
        if smooth:
            px, py, pz = seen[4, i], seen[5, i], seen[6, i]
            b1 = min(max(s[t, 0] * px + s[t, 1] * py + s[t, 2] * pz - s[t, 3], _0), _1)
            b2 = min(max(s[t, 4] * px + s[t, 5] * py + s[t, 6] * pz - s[t, 7], _0), _1)
            nx = s[t, 16] + b1 * s[t, 19] + b2 * s[t, 22]
            ny = s[t, 17] + b1 * s[t, 20] + b2 * s[t, 23]
            nz = s[t, 18] + b1 * s[t, 21] + b2 * s[t, 24]
            scale = _1 / np.sqrt(max(nx * nx + ny * ny + nz * nz, Float(1e-12)))
            nx, ny, nz = nx * scale, ny * scale, nz * scale
            lr, lg, lb = _soft(lights, nx, ny, nz)
            cosine = kx * nx + ky * ny + kz * nz
        shine = _0
        if cosine > _0:
            lit = _1
            if shadow.on:
                lit = _lit(
                    shadow_map, width, height,
                    seen[7, i] + lift_texels * (nx * la[0, 0] + ny * la[0, 1] + nz * la[0, 2]),
                    seen[8, i] + lift_texels * (nx * la[1, 0] + ny * la[1, 1] + nz * la[1, 2]),
                    seen[9, i] - lift * cosine - bias,
                    s[t, 29], s[t, 30],
                )  # fmt: skip
            gloss = gloss_of * lit
            if gloss > _0:
                # The eye against the mirrored light; a square and a product decide where there is nothing to see.
                dx, dy, dz = seen[1, i], seen[2, i], seen[3, i]
                twice = _2 * cosine
                mirrored = (kx - twice * nx) * dx + (ky - twice * ny) * dy + (kz - twice * nz) * dz
                square = dx * dx + dy * dy + dz * dz
                if mirrored > _0 and mirrored * mirrored > GLINT * square:
                    shine = mirrored * mirrored / square
                    shine *= shine
                    shine *= shine
                    shine *= shine * gloss  # the 16th power of the cosine
            cosine *= lit
            lr += key_r * cosine
            lg += key_g * cosine
            lb += key_b * cosine
        light[0, i], light[1, i], light[2, i], light[3, i] = lr, lg, lb, shine


@nb.njit(cache=True, error_model="numpy")
def _develop(
    lights: Lights, owner: NDArray[np.int32], wanted: NDArray[np.uint8], alpha: float, surface: NDArray[np.float32],
    light: NDArray[np.float32], rgb: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Bytes (width, 3) from surface and light; without owner, the background."""
    for k in range(3):
        colour, amount, shine, key = surface[k], light[k], light[3], lights.key[1, k]
        for i in range(colour.shape[0]):
            colour[i] = min(np.sqrt(colour[i] * colour[i] * amount[i] + shine[i] * key), _1) * _255 + _HALF
    everything = wanted.shape[0] == 0
    cover = Float(alpha)
    for i in range(owner.shape[0]):
        if not (everything or wanted[i]):
            continue
        if owner[i] >= 0:
            if cover < _1:
                for k in range(3):
                    under = Float(rgb[i, k]) + _HALF
                    surface[k, i] = under + cover * (surface[k, i] - under)
            rgb[i, 0], rgb[i, 1], rgb[i, 2] = np.uint8(surface[0, i]), np.uint8(surface[1, i]), np.uint8(surface[2, i])
        elif cover >= _1:
            rgb[i, 0], rgb[i, 1], rgb[i, 2] = lights.background[0], lights.background[1], lights.background[2]


@nb.njit(cache=True, error_model="numpy")
def shade(
    view: View, g: Geometry, lights: Lights, shadow: ShadowMap, nearness: NDArray[np.float32], owner: NDArray[np.int32],
    wanted: NDArray[np.uint8], alpha: float, rgb: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Colour the samples (height, width) that have an owner; the others get the background.

    ``wanted`` (height, width) limits the work to some samples, if it is not empty. With ``alpha`` below 1 the colours are laid over what
    ``rgb`` holds, and samples without owner stay as they are.
    """
    across = np.zeros(view.width, np.float32)
    for i in range(view.width):
        across[i] = (((i << view.shift) + view.origin) / 256.0 - view.cx) / view.focal
    seen = np.zeros((10, view.width), np.float32)
    surface = np.zeros((3, view.width), np.float32)
    light = np.zeros((4, view.width), np.float32)
    for j in range(view.height):
        some = wanted[j] if wanted.shape[0] else wanted[0:0].reshape(0)
        _look(view, shadow, j, nearness[j], across, seen)
        _paint(view, g, shadow, owner[j], some, seen, surface)
        _light(view, g, lights, shadow, owner[j], some, seen, light)
        _develop(lights, owner[j], some, alpha, surface, light, rgb[j])
