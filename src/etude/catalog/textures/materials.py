"""What things are made of: masonry, wood, stone, plastic, cloth. Painted for their own colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from etude.catalog.textures.canvas import (
    SIZE,
    Field,
    Image,
    X,
    Y,
    filled,
    fraction,
    mix,
    ramp,
    relief,
    ripple,
    shade,
    smoothstep,
    wrapped,
)
from etude.catalog.textures.noise import cells, fractal, grain, noise
from etude.names import Stream


def masonry(rows: int, columns: int, shift: float, joint: float, corner: float = 0.0) -> tuple[Field, Field]:
    """Blocks laid in courses: fields of the signed distance to the block's edge (pixels, positive inside) and the block's number.

    ``shift`` moves each course against the one above (in blocks; rows × shift must be whole), ``joint`` is the mortar's width and
    ``corner`` the corners' radius, in pixels.
    """
    course = np.floor(rows * Y)
    along = columns * X + shift * course
    a, b = np.abs(along - np.floor(along) - 0.5) * (SIZE / columns), np.abs(rows * Y - course - 0.5) * (SIZE / rows)
    a, b = a - (0.5 * (SIZE / columns - joint) - corner), b - (0.5 * (SIZE / rows - joint) - corner)
    outer = np.sqrt(np.square(np.maximum(a, 0.0)) + np.square(np.maximum(b, 0.0)))
    distance = corner - outer - np.minimum(np.maximum(a, b), 0.0)
    number = course * columns + np.floor(along) % columns
    return distance, number


def each(stream: Stream, number: Field, low: float, high: float) -> Field:
    """A random value for every block number, as a field."""
    index = number.astype(np.intp)
    value: Field = stream.uniforms(low, high, int(index.max()) + 1)[index]
    return value


def brick(stream: Stream) -> Image:
    """Red bricks in running bond, each fired a little differently, in pale mortar."""
    rough = fractal(stream, 16, 4)
    distance, number = masonry(8, 4, 0.5, joint=4.5, corner=2.5)
    distance = distance + 0.7 * rough
    tone = each(stream, number, 0.0, 1.0) + 0.16 * rough
    bricks = ramp(tone, [(118, 50, 40), (158, 68, 50), (178, 82, 58), (196, 106, 76)])
    bricks = shade(bricks, relief(np.minimum(distance, 3.0) + 1.2 * rough, 0.07) + 0.05 * grain(stream))
    mortar = shade((196, 186, 172), 0.94 + 0.06 * rough + 0.05 * grain(stream))
    return mix(shade(mortar, 0.82 + 0.18 * smoothstep(-3.0, -0.5, -np.abs(distance + 1.5))), bricks, filled(distance))


def tiles(stream: Stream) -> Image:
    """Glazed blue and white squares with bevelled edges in grey grout."""
    distance, number = masonry(4, 4, 0.0, joint=5.0, corner=4.0)
    cloud = fractal(stream, 4, 4)
    checker = (np.floor(number / 4.0) + number) % 2.0
    tone = each(stream, number, -0.05, 0.05) + 0.035 * cloud
    glaze = mix((226, 232, 232), (104, 150, 172), checker)
    glaze = shade(glaze, (1.0 + tone) * relief(np.minimum(distance, 6.0), 0.035))
    grout = shade((150, 146, 140), 1.0 + 0.08 * grain(stream))
    return mix(grout, glaze, filled(distance))


def timber(stream: Stream, colours: Sequence[ArrayLike], rings: int, knots: int) -> Image:
    """The figure of sawn wood along x: rings that flow round knots, fibres and pores; ``colours`` run from early to late wood."""
    height = rings * (Y + 0.15 * noise(stream, 3, 2) + 0.018 * noise(stream, 3, 10))
    heart = np.zeros((SIZE, SIZE))
    for _ in range(knots):
        dx, dy = wrapped(X - stream.uniform()), wrapped(Y - stream.uniform())
        reach = np.sqrt(0.3 * dx * dx + dy * dy)
        near = 1.0 - smoothstep(0.015, 0.13, reach)
        height = height + near * rings * (1.6 * reach - dy)
        heart = np.maximum(heart, 1.0 - smoothstep(0.004, 0.03, reach))
    ring = fraction(height + 0.16 * noise(stream, 8, 64))
    late = smoothstep(0.1, 0.84, ring) * (1.0 - smoothstep(0.86, 1.0, ring))
    fibre = 0.6 * noise(stream, 6, 128) + 0.4 * noise(stream, 16, SIZE)
    tone = 0.2 + 0.38 * late + 0.14 * noise(stream, 2, 5) + 0.12 * fibre + 0.5 * heart
    pores = smoothstep(0.5, 0.95, noise(stream, 24, SIZE)) * 0.12
    return shade(ramp(tone, colours), 1.0 - pores)


_OAK = ((222, 184, 128), (203, 158, 98), (176, 126, 70), (122, 80, 40))
_BIRCH = ((240, 220, 184), (229, 202, 158), (212, 178, 128), (170, 130, 84))
_WALNUT = ((120, 82, 54), (98, 64, 42), (74, 47, 31), (44, 28, 20))
_PINE = ((226, 176, 112), (206, 150, 88), (176, 118, 64), (116, 70, 36))


def light_wood(stream: Stream) -> Image:
    """A pale birch table top."""
    return timber(stream, _BIRCH, rings=14, knots=0)


def dark_wood(stream: Stream) -> Image:
    """Walnut."""
    return timber(stream, _WALNUT, rings=13, knots=1)


def wooden(stream: Stream) -> Image:
    """A knotty oak board, rings and all."""
    return timber(stream, _OAK, rings=12, knots=2)


def floor_planks(stream: Stream) -> Image:
    """Long pine planks laid in staggered rows, every one cut from another place."""
    distance, number = masonry(8, 2, 0.375, joint=1.6)
    figure = timber(stream, _PINE, rings=16, knots=1)
    shift_x, shift_y = each(stream, number, 0.0, 1.0), each(stream, number, 0.0, 1.0)
    rows = ((np.floor(SIZE * (Y + shift_y))) % SIZE).astype(np.intp)
    columns = ((np.floor(SIZE * (X + shift_x))) % SIZE).astype(np.intp)
    planks = shade(figure[:, rows, columns], each(stream, number, 0.82, 1.1))
    return mix((62, 38, 22), planks, filled(distance, softness=2.0))


def granite(stream: Stream) -> Image:
    """Speckled stone: feldspar, quartz and mica grains of several sizes."""
    image = shade((176, 168, 164), 1.0 + 0.05 * fractal(stream, 6, 3))
    for across, level, colour in (
        (28, 0.25, (150, 140, 138)),
        (40, 0.35, (206, 186, 176)),
        (48, 0.45, (226, 222, 218)),
        (56, 0.42, (112, 106, 108)),
        (72, 0.55, (60, 56, 60)),
        (110, 0.7, (34, 32, 36)),
        (120, 0.85, (240, 238, 234)),
    ):
        image = mix(image, colour, smoothstep(level - 0.08, level + 0.08, noise(stream, across)))
    return shade(image, 1.0 + 0.05 * grain(stream))


def plastic(stream: Stream) -> Image:
    """Moulded turquoise plastic with rows of glossy studs."""
    along, down = 4.0 * X, 4.0 * Y
    a, b = along - np.floor(along) - 0.5, down - np.floor(down) - 0.5
    radius = np.sqrt(a * a + b * b)
    stud = filled((0.32 - radius) * SIZE / 4.0)
    height = 6.0 * smoothstep(-0.36, -0.24, -radius)
    base = shade((38, 166, 178), 1.0 + 0.012 * noise(stream, 96))
    image = shade(base, relief(height, 0.11) + 0.06 * stud)
    gloss = 1.0 - smoothstep(0.0, 0.11, np.sqrt(np.square(a + 0.1) + np.square(b + 0.1)))
    shadow = smoothstep(-0.42, -0.3, -np.sqrt(np.square(a - 0.05) + np.square(b - 0.05))) * (1.0 - stud)
    return mix(shade(image, 1.0 - 0.22 * shadow), (236, 252, 252), 0.75 * gloss)


def magma(stream: Stream) -> Image:
    """Black crust broken into plates; the cracks glow from yellow to dull red."""
    warp = 0.02 * noise(stream, 8) + 0.009 * noise(stream, 24), 0.02 * noise(stream, 8) + 0.009 * noise(stream, 24)
    plate = cells(stream, 6, 0.85, warp)
    width = 0.009 + 0.005 * noise(stream, 4)  # in tiles
    hairline = 0.06 * np.abs(noise(stream, 12)) + 0.02 * smoothstep(-0.5, 0.6, noise(stream, 5)) + 0.008
    gap = np.minimum(plate.border / 6.0, hairline) / width
    heat = 1.0 / (1.0 + gap * gap) + 0.04 * noise(stream, 3)
    rough = fractal(stream, 16, 4)
    crust = shade(ramp(0.45 + 0.4 * rough, [(16, 11, 12), (44, 30, 30), (78, 56, 52)]), relief(rough, 0.5))
    glow = ramp(heat, [(24, 4, 2), (126, 16, 6), (214, 56, 10), (250, 138, 22), (255, 208, 76), (255, 244, 184)])
    return mix(crust, glow, smoothstep(0.03, 0.3, heat))


def concrete(stream: Stream) -> Image:
    """Cast concrete: stains, fine sand and a few air holes."""
    stain = fractal(stream, 3, 5)
    image = shade((164, 162, 156), 1.0 + 0.07 * stain + 0.04 * noise(stream, 96) + 0.03 * grain(stream))
    holes = cells(stream, 14, 0.9)
    size = np.maximum(holes.each(stream, -0.5, 0.16), 0.0)
    pit = filled((size - holes.distance) * SIZE / 14.0) * (size > 0.0)
    return shade(image, 1.0 - 0.3 * pit)


def marble(stream: Stream) -> Image:
    """White marble with grey veins that branch and fade."""
    bend = 0.35 * fractal(stream, 3, 5, gain=0.55)
    base = ramp(0.5 + 0.4 * fractal(stream, 2, 4), [(218, 218, 222), (238, 238, 238), (248, 247, 244)])
    broad = 1.0 - np.abs(ripple(X + Y + bend))
    fine = 1.0 - np.abs(ripple(2.0 * X - Y + 0.9 * bend + 0.3 * fractal(stream, 4, 4)))
    fade = smoothstep(-0.5, 0.7, noise(stream, 4))
    image = mix(base, (150, 152, 160), 0.75 * fade * smoothstep(0.72, 1.0, broad))
    image = mix(image, (110, 112, 122), 0.6 * smoothstep(0.955, 1.0, broad) * (0.3 + 0.7 * fade))
    return mix(image, (150, 148, 150), 0.55 * (1.0 - fade) * smoothstep(0.93, 1.0, fine))


def plaster(stream: Stream) -> Image:
    """A painted wall: off-white, with the faint relief of a trowel."""
    height = fractal(stream, 6, 5, gain=0.6)
    return shade((232, 228, 219), relief(height, 0.10) + 0.012 * noise(stream, 2))


def woven(warp_colour: ArrayLike, weft_colour: ArrayLike, threads: int, stream: Stream) -> Image:
    """Plain weave: threads over and under each other, rounded by light; ``threads`` must be even."""
    a, b = threads * X, threads * Y
    over = (np.floor(a) + np.floor(b)) % 2.0
    u, v = np.abs(a - np.floor(a) - 0.5) * 2.0, np.abs(b - np.floor(b) - 0.5) * 2.0
    upright = shade(warp_colour, (1.0 - 0.42 * u * u) * (1.0 - 0.16 * v * v))
    level = shade(weft_colour, (1.0 - 0.42 * v * v) * (1.0 - 0.16 * u * u))
    uneven = 0.05 * noise(stream, threads, 8) * over + 0.05 * noise(stream, 8, threads) * (1.0 - over)
    return shade(mix(level, upright, over), 1.02 + uneven + 0.03 * grain(stream))


def fabric(stream: Stream) -> Image:
    """Blue-grey canvas."""
    return woven((122, 142, 166), (146, 164, 184), 32, stream)


def carpet(stream: Stream) -> Image:
    """Thick tufted pile in warm grey-red."""
    tufts = cells(stream, 40, 0.9)
    tone = tufts.each(stream, 0.0, 1.0)
    image = ramp(tone, [(112, 58, 56), (134, 72, 66), (152, 88, 78)])
    soft = 1.12 - 0.55 * np.square(tufts.distance)
    return shade(image, soft + 0.05 * noise(stream, 4) + 0.06 * grain(stream))
