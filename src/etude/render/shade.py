"""From a visibility buffer to colour: light, shadow and texture for every sample that is seen, and for no other.

Light is added up in gamma-2 space (a byte is the square root of light): exact albedo under unit light, close to sRGB elsewhere, and made of
nothing but IEEE multiplications and square roots, so the bytes are the same on every machine.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from here, nor constants imported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.render.geometry import Surfaces
from etude.render.lighting import Lights, Notes, ShadowMap
from etude.render.raster import Projection

Float = np.float32
Scalar = Any  # a float32 or an int64 inside the kernels
_0, _HALF, _1, _2, _4 = Float(0), Float(0.5), Float(1), Float(2), Float(4)
_255 = Float(255)
WEIGHT = 128  # 64 times this is the sum of the weights of all texels in a sample: three lanes of 21 bits hold 255 · 8192
_UNWEIGHT = Float(1 / (255 * 64 * WEIGHT))
LANE = (1 << 21) - 1
SHARP = Float(0.5)  # how far filtering goes, against the full square of a pixel: crisp, and still calm in motion
UP, SIDE = Float(0.15), Float(0.85)  # ambient light comes a little more from above
BIAS, LIFT = 0.25, 0.6  # texels by which a receiver is moved towards the light, and along its normal, before the shadow test

TILE = 4  # bits: as in shadow.py

# Samples are shaded in blocks. The quantities of a block lie in one array at fixed distances, which lets the compiler see that they do not
# overlap, and turn the loops over them into vector instructions.
BLOCK, PITCH, ROWS = 256, 272, 19
X, REACH, ASIDE, LX, LY, LZ = 0 * PITCH, 1 * PITCH, 2 * PITCH, 3 * PITCH, 4 * PITCH, 5 * PITCH
NX, NY, NZ, GLOSS, SX, SY = 6 * PITCH, 7 * PITCH, 8 * PITCH, 9 * PITCH, 10 * PITCH, 11 * PITCH
RED, GREEN, BLUE, LIT, LR, LG, LB = 12 * PITCH, 13 * PITCH, 14 * PITCH, 15 * PITCH, 16 * PITCH, 17 * PITCH, 18 * PITCH

# Columns of a triangle's setup, the same here and in setup.py: barycentrics p and q and the texture's u and v as linear forms of a point,
# each with its offset after them; the normal of a corner and its steps along p and q; whether these bend it; the normal of the triangle
# itself; and its slope towards the light, across and down the shadow map.
FORM_P, FORM_Q, FORM_U, FORM_V, OFFSET = 0, 4, 8, 12, 3
NORMAL, ALONG_P, ALONG_Q, BENT, FACE, SLOPE_X, SLOPE_Y = 16, 19, 22, 25, 26, 29, 30


class Eye(NamedTuple):
    """How a row of samples looks at the world: the point it sees is (x, y, z) + reach · (dx, dy, dz) + aside · (rx, ry, rz).

    ``reach`` is its distance along the view. Whatever is linear in space then takes two products per sample, and never the point itself.
    """

    x: Scalar
    y: Scalar
    z: Scalar
    dx: Scalar
    dy: Scalar
    dz: Scalar
    rx: Scalar  # right
    ry: Scalar
    rz: Scalar
    hx: Scalar  # down
    hy: Scalar
    hz: Scalar
    pixel: Scalar  # metres, at unit distance
    perspective: bool


class Block(NamedTuple):
    """Up to BLOCK samples of a row: their quantities, columns, owners, places in the shadow map with the comparisons there, and texels
    weighted together."""

    values: NDArray[np.float32]  # (ROWS · PITCH,)
    column: NDArray[np.int32]
    owner: NDArray[np.int32]
    at: NDArray[np.int32]
    lit: NDArray[np.uint8]
    packed: NDArray[np.int64]


@compiled(error_model="numpy", inline="always")
def _bilinear(texels: NDArray[np.int64], start: Scalar, bits: Scalar, u: Scalar, v: Scalar, weight: Scalar) -> Scalar:
    """Four texels around (u, v) of a level of side 2**bits, weighted so that they sum to 64 · ``weight``, in three lanes of 21 bits.

    Unsigned indices spare numba's test for negative ones.
    """
    side = Float(1 << bits)
    x, y = int(np.floor(u * (Float(64) * side) - Float(32))), int(np.floor(v * (Float(64) * side) - Float(32)))
    mask = (1 << bits) - 1
    i0, i1 = (x >> 6) & mask, ((x >> 6) + 1) & mask
    r0, r1 = start + (((y >> 6) & mask) << bits), start + ((((y >> 6) + 1) & mask) << bits)
    right, low = x & 63, (weight * (y & 63)) >> 6
    # The lanes are mixed all at once: what one borrows from the next on the way is given back in the sum.
    a, c = texels[np.uintp(r0 + i0)], texels[np.uintp(r1 + i0)]
    upper = (a << 6) + (texels[np.uintp(r0 + i1)] - a) * right
    lower = (c << 6) + (texels[np.uintp(r1 + i1)] - c) * right
    return upper * weight + (lower - upper) * low


@compiled(error_model="numpy", inline="always")
def _footprint(start: Scalar, bits: Scalar, ux: Scalar, vx: Scalar, uy: Scalar, vy: Scalar) -> tuple[Scalar, ...]:
    """How to read a texture where a step of one pixel moves by (ux, vx) to the right and (uy, vy) down.

    Gives start and size of the level of the pyramid, the weights of its texels and of those of the next one, and the number of taps (its
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


@compiled(error_model="numpy", inline="always")
def _form(s: NDArray[np.float32], t: Scalar, k: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    """The linear form s[t, k:k + 3] of a vector."""
    return s[t, np.uintp(k)] * x + s[t, np.uintp(k + 1)] * y + s[t, np.uintp(k + 2)] * z


@compiled(error_model="numpy", inline="always")
def _pick(
    begin: int, across: NDArray[np.float32], nearness: NDArray[np.float32], owner: NDArray[np.int32], wanted: NDArray[np.uint8], b: Block
) -> Scalar:
    """Put the samples of a row that are to be shaded, from ``begin`` on, side by side into a block; gives how many."""
    w, who, column, end = b.values, b.owner, b.column, min(begin + BLOCK, owner.shape[0])
    if wanted.shape[0] == 0:
        for i in range(end - begin):
            w[np.uintp(X + i)] = across[np.uintp(begin + i)]
            w[np.uintp(REACH + i)] = nearness[np.uintp(begin + i)]
        for i in range(end - begin):
            who[np.uintp(i)] = owner[np.uintp(begin + i)]
            column[np.uintp(i)] = np.int32(begin + i)
        return end - begin
    n = 0
    for i in range(begin, end):
        if wanted[i]:
            w[np.uintp(X + n)], w[np.uintp(REACH + n)] = across[i], nearness[i]
            who[np.uintp(n)], column[np.uintp(n)] = owner[i], np.int32(i)
            n += 1
    return n


@compiled(error_model="numpy", inline="always")
def _look(e: Eye, shadow: ShadowMap, n: int, w: NDArray[np.float32]) -> None:
    """What follows from how near the samples are: their place, as reach and aside (see :class:`Eye`), also in the light's frame."""
    if e.perspective:
        for i in range(n):
            reach = _1 / w[np.uintp(REACH + i)]
            w[np.uintp(REACH + i)] = reach
            w[np.uintp(ASIDE + i)] = w[np.uintp(X + i)] * reach
    else:
        for i in range(n):
            w[np.uintp(REACH + i)] = -w[np.uintp(REACH + i)]
            w[np.uintp(ASIDE + i)] = w[np.uintp(X + i)]
            w[np.uintp(X + i)] = _0
    scale = Float(1.0 / shadow.texel)
    a = shadow.axes
    ax, ay, az = a[0, 0] * scale, a[0, 1] * scale, a[0, 2] * scale
    bx, by, bz = a[1, 0] * scale, a[1, 1] * scale, a[1, 2] * scale
    cx, cy, cz = a[2, 0], a[2, 1], a[2, 2]
    # The shadow map's own shift of half a texel is taken off here.
    a0 = ax * e.x + ay * e.y + az * e.z + Float(shadow.cx - 0.5)
    b0 = bx * e.x + by * e.y + bz * e.z + Float(shadow.cy - 0.5)
    c0 = cx * e.x + cy * e.y + cz * e.z
    a1, b1, c1 = ax * e.dx + ay * e.dy + az * e.dz, bx * e.dx + by * e.dy + bz * e.dz, cx * e.dx + cy * e.dy + cz * e.dz
    a2, b2, c2 = ax * e.rx + ay * e.ry + az * e.rz, bx * e.rx + by * e.ry + bz * e.rz, cx * e.rx + cy * e.ry + cz * e.rz
    for i in range(n):
        reach, aside = w[np.uintp(REACH + i)], w[np.uintp(ASIDE + i)]
        w[np.uintp(LX + i)] = a0 + reach * a1 + aside * a2
        w[np.uintp(LY + i)] = b0 + reach * b1 + aside * b2
        w[np.uintp(LZ + i)] = c0 + reach * c1 + aside * c2


@compiled(error_model="numpy", inline="always")
def _runs(e: Eye, g: Surfaces, n: int, apart: bool, b: Block) -> None:
    """Texture, gloss, normal and slope of the samples, triangle by triangle; with ``apart``, also by gaps between columns."""
    w, packed, column, owner, s, texels, visual, gloss_of = b.values, b.packed, b.column, b.owner, g.setup, g.texels, g.visual, g.gloss
    bits_of, start_of = g.texture_bits, g.texture_start
    last = 0
    while last < n:
        first, t = last, owner[np.uintp(last)]
        last += 1
        while last < n and owner[np.uintp(last)] == t and not (apart and column[np.uintp(last)] != column[np.uintp(last - 1)] + 1):
            last += 1
        if t < 0:
            for i in range(first, last):
                w[np.uintp(GLOSS + i)], w[np.uintp(SX + i)], w[np.uintp(SY + i)] = _0, _0, _0
                w[np.uintp(NX + i)], w[np.uintp(NY + i)], w[np.uintp(NZ + i)] = _0, _0, _0
                packed[np.uintp(i)] = 0
            continue
        t = np.uintp(t)
        v = np.uintp(visual[t])
        nx, ny, nz, gloss, sx, sy = s[t, NORMAL], s[t, NORMAL + 1], s[t, NORMAL + 2], gloss_of[v], s[t, SLOPE_X], s[t, SLOPE_Y]
        for i in range(first, last):
            w[np.uintp(GLOSS + i)], w[np.uintp(SX + i)], w[np.uintp(SY + i)] = gloss, sx, sy
            w[np.uintp(NX + i)], w[np.uintp(NY + i)], w[np.uintp(NZ + i)] = nx, ny, nz
        if s[t, BENT] > _0:
            _bend(e, s, t, first, last, w)
        bits, start = bits_of[v], start_of[v]
        if bits == 0:
            whole = texels[np.uintp(start)] * (64 * WEIGHT)
            for i in range(first, last):
                packed[np.uintp(i)] = whole
            continue
        u0 = _form(s, t, FORM_U, e.x, e.y, e.z) + s[t, FORM_U + OFFSET]
        u1, u2 = _form(s, t, FORM_U, e.dx, e.dy, e.dz), _form(s, t, FORM_U, e.rx, e.ry, e.rz)
        v0 = _form(s, t, FORM_V, e.x, e.y, e.z) + s[t, FORM_V + OFFSET]
        v1, v2 = _form(s, t, FORM_V, e.dx, e.dy, e.dz), _form(s, t, FORM_V, e.rx, e.ry, e.rz)
        n1, n2, nh = _form(s, t, FACE, e.dx, e.dy, e.dz), _form(s, t, FACE, e.rx, e.ry, e.rz), _form(s, t, FACE, e.hx, e.hy, e.hz)
        uh, vh = _form(s, t, FORM_U, e.hx, e.hy, e.hz), _form(s, t, FORM_V, e.hx, e.hy, e.hz)
        for begin in range(first, last, 8):  # the footprint changes slowly: once for eight samples is enough
            end = min(begin + 8, last)
            middle = (begin + end) >> 1
            # How far the point moves for one pixel to the right and one down, staying on the triangle.
            x = w[np.uintp(X + middle)]
            reach = e.pixel * (w[np.uintp(REACH + middle)] if e.perspective else _1)
            facing = reach / min(n1 + x * n2, Float(-0.01))
            tr, th, ud, vd = n2 * facing, nh * facing, u1 + x * u2, v1 + x * v2
            level, size, finer, coarser, taps, du, dv = _footprint(
                start, bits, reach * u2 - tr * ud, reach * v2 - tr * vd, reach * uh - th * ud, reach * vh - th * vd
            )
            if taps == 0 and coarser == 0:
                for i in range(begin, end):
                    reach, aside = w[np.uintp(REACH + i)], w[np.uintp(ASIDE + i)]
                    packed[np.uintp(i)] = _bilinear(texels, level, size, u0 + reach * u1 + aside * u2, v0 + reach * v1 + aside * v2, WEIGHT)
                continue
            offset = Float((1 << taps) - 1) * _HALF
            for i in range(begin, end):
                reach, aside = w[np.uintp(REACH + i)], w[np.uintp(ASIDE + i)]
                tu, tv = u0 + reach * u1 + aside * u2 - offset * du, v0 + reach * v1 + aside * v2 - offset * dv
                total = np.int64(0)
                for _ in range(1 << taps):
                    total += _bilinear(texels, level, size, tu, tv, finer)
                    if coarser > 0:
                        total += _bilinear(texels, level + (1 << (2 * size)), size - 1, tu, tv, coarser)
                    tu, tv = tu + du, tv + dv
                packed[np.uintp(i)] = total


@compiled(error_model="numpy", inline="always")
def _bend(e: Eye, s: NDArray[np.float32], t: Scalar, first: Scalar, last: Scalar, w: NDArray[np.float32]) -> None:
    """Normals of a smooth triangle, mixed from those of its corners."""
    p0 = _form(s, t, FORM_P, e.x, e.y, e.z) - s[t, FORM_P + OFFSET]
    p1, p2 = _form(s, t, FORM_P, e.dx, e.dy, e.dz), _form(s, t, FORM_P, e.rx, e.ry, e.rz)
    q0 = _form(s, t, FORM_Q, e.x, e.y, e.z) - s[t, FORM_Q + OFFSET]
    q1, q2 = _form(s, t, FORM_Q, e.dx, e.dy, e.dz), _form(s, t, FORM_Q, e.rx, e.ry, e.rz)
    ax, ay, az = s[t, NORMAL], s[t, NORMAL + 1], s[t, NORMAL + 2]
    bx, by, bz = s[t, ALONG_P], s[t, ALONG_P + 1], s[t, ALONG_P + 2]
    cx, cy, cz = s[t, ALONG_Q], s[t, ALONG_Q + 1], s[t, ALONG_Q + 2]
    for i in range(first, last):
        reach, aside = w[np.uintp(REACH + i)], w[np.uintp(ASIDE + i)]
        p, q = min(max(p0 + reach * p1 + aside * p2, _0), _1), min(max(q0 + reach * q1 + aside * q2, _0), _1)
        nx, ny, nz = ax + p * bx + q * cx, ay + p * by + q * cy, az + p * bz + q * cz
        scale = _1 / np.sqrt(max(nx * nx + ny * ny + nz * nz, Float(1e-12)))
        w[np.uintp(NX + i)], w[np.uintp(NY + i)], w[np.uintp(NZ + i)] = nx * scale, ny * scale, nz * scale


@compiled(error_model="numpy", inline="always")
def _shadow(lights: Lights, shadow: ShadowMap, n: int, b: Block) -> None:
    """How much of the key light reaches the samples: 2×2 comparisons with the shadow map, blended."""
    w, at, bits = b.values, b.at, b.lit
    if not shadow.on:
        for i in range(n):
            w[np.uintp(LIT + i)] = _1
            at[np.uintp(i)] = -1
        return
    height, width = shadow.nearness.shape
    m = shadow.nearness.reshape(height * width)
    kx, ky, kz = lights.key[0, 0], lights.key[0, 1], lights.key[0, 2]
    la, lift = shadow.axes, Float(LIFT)
    ax, ay, az = la[0, 0] * lift, la[0, 1] * lift, la[0, 2] * lift
    bx, by, bz = la[1, 0] * lift, la[1, 1] * lift, la[1, 2] * lift
    bias, deep = Float(BIAS * shadow.texel), Float(LIFT * shadow.texel)
    right, bottom, pitch = Float(width - 1), Float(height - 1), np.int32(width)
    for i in range(n):
        nx, ny, nz = w[np.uintp(NX + i)], w[np.uintp(NY + i)], w[np.uintp(NZ + i)]
        cosine = kx * nx + ky * ny + kz * nz
        x = w[np.uintp(LX + i)] + (nx * ax + ny * ay + nz * az)
        y = w[np.uintp(LY + i)] + (nx * bx + ny * by + nz * bz)
        z = w[np.uintp(LZ + i)] - deep * cosine - bias
        c, r = np.floor(x), np.floor(y)
        counts = (cosine > _0) & (c >= _0) & (r >= _0) & (c < right) & (r < bottom)
        fx, fy = x - c, y - r
        # The receiver is followed along its own plane to the centre of each texel, so that it cannot shadow itself.
        z -= fx * w[np.uintp(SX + i)] + fy * w[np.uintp(SY + i)]
        w[np.uintp(LX + i)], w[np.uintp(LY + i)], w[np.uintp(LZ + i)] = fx, fy, z
        c, r = c if counts else _0, r if counts else _0
        at[np.uintp(i)] = np.int32(r) * pitch + np.int32(c) if counts else np.int32(-1)
    for i in range(n):
        lit, where = _1, at[np.uintp(i)]
        if where >= 0:
            fx, fy, z = w[np.uintp(LX + i)], w[np.uintp(LY + i)], w[np.uintp(LZ + i)]
            sx, sy = w[np.uintp(SX + i)], w[np.uintp(SY + i)]
            a, b1 = z + m[np.uintp(where)] <= _0, z + sx + m[np.uintp(where + 1)] <= _0
            c, d = z + sy + m[np.uintp(where + width)] <= _0, z + sx + sy + m[np.uintp(where + width + 1)] <= _0
            bits[np.uintp(i)] = a | b1 << 1 | c << 2 | d << 3
            ul, ur, ll, lr = _1 if a else _0, _1 if b1 else _0, _1 if c else _0, _1 if d else _0
            upper, lower = ul + (ur - ul) * fx, ll + (lr - ll) * fx
            lit = upper + (lower - upper) * fy
        w[np.uintp(LIT + i)] = lit


@compiled(error_model="numpy", inline="always")
def _note(shadow: ShadowMap, j: int, n: int, b: Block, notes: Notes) -> None:
    """Write down how the samples were compared with the shadow map."""
    width = shadow.nearness.shape[1]
    for i in range(n):
        column, at = np.uintp(b.column[np.uintp(i)]), b.at[np.uintp(i)]
        notes.tile[j, column] = 0
        if at >= 0:
            r = at // width
            notes.tile[j, column] = 1 + (r >> TILE) * (width >> TILE) + (at - r * width >> TILE)
            notes.where[j, column], notes.lit[j, column] = at, b.lit[np.uintp(i)]
            notes.deep[j, column] = b.values[np.uintp(LZ + i)]


@compiled(error_model="numpy", inline="always")
def _soft(lights: Lights, n: int, w: NDArray[np.float32]) -> None:
    """The light that casts no shadows, ambient and fills."""
    r, g, b = lights.ambient[0], lights.ambient[1], lights.ambient[2]
    for i in range(n):
        ambient = SIDE + UP * w[np.uintp(NZ + i)]
        w[np.uintp(LR + i)], w[np.uintp(LG + i)], w[np.uintp(LB + i)] = r * ambient, g * ambient, b * ambient
    for k in range(lights.fills.shape[0]):
        x, y, z = lights.fills[k, 0, 0], lights.fills[k, 0, 1], lights.fills[k, 0, 2]
        r, g, b = lights.fills[k, 1, 0], lights.fills[k, 1, 1], lights.fills[k, 1, 2]
        for i in range(n):
            cosine = max(x * w[np.uintp(NX + i)] + y * w[np.uintp(NY + i)] + z * w[np.uintp(NZ + i)], _0)
            w[np.uintp(LR + i)] += r * cosine
            w[np.uintp(LG + i)] += g * cosine
            w[np.uintp(LB + i)] += b * cosine


@compiled(error_model="numpy", inline="always")
def _develop(e: Eye, lights: Lights, n: int, b: Block) -> None:
    """Colours of the samples, 0.5 to 255.5, from texture and light."""
    w, packed = b.values, b.packed
    for i in range(n):
        texel = packed[np.uintp(i)]
        w[np.uintp(RED + i)] = Float(np.int32(texel & LANE)) * _UNWEIGHT
        w[np.uintp(GREEN + i)] = Float(np.int32((texel >> 21) & LANE)) * _UNWEIGHT
        w[np.uintp(BLUE + i)] = Float(np.int32(texel >> 42)) * _UNWEIGHT
    kx, ky, kz = lights.key[0, 0], lights.key[0, 1], lights.key[0, 2]
    key_r, key_g, key_b = lights.key[1, 0], lights.key[1, 1], lights.key[1, 2]
    ex, ey, ez, rx, ry, rz = e.dx, e.dy, e.dz, e.rx, e.ry, e.rz
    for i in range(n):
        x, nx, ny, nz, lit = w[np.uintp(X + i)], w[np.uintp(NX + i)], w[np.uintp(NY + i)], w[np.uintp(NZ + i)], w[np.uintp(LIT + i)]
        cosine = max(kx * nx + ky * ny + kz * nz, _0)
        dx, dy, dz = ex + x * rx, ey + x * ry, ez + x * rz
        # The eye against the mirrored light.
        mirrored = max(kx * dx + ky * dy + kz * dz - _2 * cosine * (nx * dx + ny * dy + nz * dz), _0)
        shine = mirrored * mirrored / (dx * dx + dy * dy + dz * dz)
        shine *= shine
        shine *= shine
        shine *= shine * w[np.uintp(GLOSS + i)] * lit  # the 16th power of the cosine
        shine = shine if cosine > _0 else _0
        cosine *= lit
        red, green, blue = w[np.uintp(RED + i)], w[np.uintp(GREEN + i)], w[np.uintp(BLUE + i)]
        red = red * red * (w[np.uintp(LR + i)] + key_r * cosine) + shine * key_r
        green = green * green * (w[np.uintp(LG + i)] + key_g * cosine) + shine * key_g
        blue = blue * blue * (w[np.uintp(LB + i)] + key_b * cosine) + shine * key_b
        w[np.uintp(RED + i)] = min(np.sqrt(red), _1) * _255 + _HALF
        w[np.uintp(GREEN + i)] = min(np.sqrt(green), _1) * _255 + _HALF
        w[np.uintp(BLUE + i)] = min(np.sqrt(blue), _1) * _255 + _HALF


@compiled(error_model="numpy", inline="always")
def _lay(lights: Lights, alpha: float, n: int, b: Block, rgb: NDArray[np.uint8]) -> None:
    """Write the colours into a row (width, 3); without owner, the background."""
    w, owner, column, cover = b.values, b.owner, b.column, Float(alpha)
    red, green, blue = lights.background[0], lights.background[1], lights.background[2]
    for i in range(n):
        at = np.uintp(column[np.uintp(i)])
        if owner[np.uintp(i)] >= 0:
            if cover < _1:
                for k in range(3):
                    under = Float(rgb[at, k]) + _HALF
                    w[RED + k * PITCH + i] = under + cover * (w[RED + k * PITCH + i] - under)
            rgb[at, 0] = np.uint8(w[np.uintp(RED + i)])
            rgb[at, 1] = np.uint8(w[np.uintp(GREEN + i)])
            rgb[at, 2] = np.uint8(w[np.uintp(BLUE + i)])
        elif cover >= _1:
            rgb[at, 0], rgb[at, 1], rgb[at, 2] = red, green, blue


@compiled(error_model="numpy", inline="always")
def _eye(view: Projection, j: int) -> Eye:
    """Row j of a view."""
    a = view.axes
    y = (((j << view.shift) + view.origin) / 256.0 - view.cy) / view.focal
    turn, move = (y, 0.0) if view.perspective else (0.0, y)
    return Eye(
        Float(view.eye[0] + move * a[1, 0]), Float(view.eye[1] + move * a[1, 1]), Float(view.eye[2] + move * a[1, 2]),
        Float(a[2, 0] + turn * a[1, 0]), Float(a[2, 1] + turn * a[1, 1]), Float(a[2, 2] + turn * a[1, 2]),
        Float(a[0, 0]), Float(a[0, 1]), Float(a[0, 2]), Float(a[1, 0]), Float(a[1, 1]), Float(a[1, 2]),
        Float(1.0 / view.focal), view.perspective,
    )  # fmt: skip


@compiled(error_model="numpy")
def shade(
    view: Projection, g: Surfaces, lights: Lights, shadow: ShadowMap, nearness: NDArray[np.float32], owner: NDArray[np.int32],
    wanted: NDArray[np.uint8], notes: Notes, alpha: float, rgb: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Colour the samples (height, width) that have an owner; the others get the background.

    ``wanted`` (height, width) limits the work to some samples, if it is not empty. With ``alpha`` below 1 the colours are laid over what
    ``rgb`` holds, and samples without owner stay as they are. The triangles must be :func:`set up <etude.render.setup.set_up>`.

    ``notes`` that are not empty are taken of the comparisons with the shadow map; then ``wanted`` must be that of
    :func:`outdated <etude.render.setup.outdated>`, and what is coloured gets the very colours that it has in a whole picture.
    """
    across = np.zeros(view.width, np.float32)
    for i in range(view.width):
        across[i] = (((i << view.shift) + view.origin) / 256.0 - view.cx) / view.focal
    b = Block(
        np.zeros(ROWS * PITCH, np.float32), np.zeros(BLOCK, np.int32), np.zeros(BLOCK, np.int32), np.zeros(BLOCK, np.int32),
        np.zeros(BLOCK, np.uint8), np.zeros(BLOCK, np.int64),
    )  # fmt: skip
    noted = notes.where.shape[0] > 0
    for j in range(view.height):
        if noted and not notes.rows[j]:
            continue
        e = _eye(view, j)
        some = wanted[j] if wanted.shape[0] else wanted[0:0].reshape(0)
        for begin in range(0, view.width, BLOCK):
            n = _pick(begin, across, nearness[j], owner[j], some, b)
            if n:
                _look(e, shadow, n, b.values)
                _runs(e, g, n, noted, b)
                _shadow(lights, shadow, n, b)
                if noted:
                    _note(shadow, j, n, b, notes)
                _soft(lights, n, b.values)
                _develop(e, lights, n, b)
                _lay(lights, alpha, n, b, rgb[j])
