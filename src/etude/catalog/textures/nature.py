"""Grown patterns: clouds, hides, stones, water, in the colours of a scheme."""

from __future__ import annotations

import numpy as np

from etude.arithmetic import arctan2, cos, sin
from etude.catalog.textures.canvas import (
    SIZE,
    TAU,
    Image,
    X,
    Y,
    bands,
    filled,
    inside,
    line,
    mix,
    picked,
    plain,
    ramp,
    relief,
    ripple,
    shade,
    smoothstep,
)
from etude.catalog.textures.noise import cells, fractal, grain, noise, twisted
from etude.catalog.textures.schemes import Scheme
from etude.names import Stream


def clouds(stream: Stream, scheme: Scheme) -> Image:
    """Soft billows through several colours."""
    field = 0.5 + 0.45 * fractal(stream, stream.choice((2, 3, 4)), 6, gain=stream.uniform(0.45, 0.65))
    return ramp(field, stream.shuffled(list(scheme))[: stream.integer(3, 4)])


def aurora(stream: Stream, scheme: Scheme) -> Image:
    """Smooth gradients that bend like curtains of light."""
    bend = stream.uniform(0.15, 0.4) * noise(stream, 2) + 0.05 * noise(stream, 5)
    field = 0.5 + 0.5 * ripple((X if stream.chance(0.5) else Y) * stream.choice((1, 2)) + bend)
    smooth = field * field * (3.0 - 2.0 * field)
    return ramp(smooth, stream.shuffled(list(scheme))[:4])


def camouflage(stream: Stream, scheme: Scheme) -> Image:
    """Blotches laid over each other."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((4, 5, 7, 9))
    image = plain(ground)
    for colour, level in ((figure, -0.05), (second, 0.2), (stream.choice((accent, outline)), 0.4)):
        image = mix(image, colour, inside(fractal(stream, across, 3, gain=0.45) - level))
    return image


def terrazzo(stream: Stream, scheme: Scheme) -> Image:
    """Stone chips of two sizes set in cement."""
    ground, figure, second, accent, outline = scheme
    image = shade(ground, 1.0 + 0.03 * noise(stream, 64))
    for across in (stream.choice((14, 18)), stream.choice((6, 8, 10))):
        chips = cells(stream, across, 0.95)
        margin = chips.each(stream, 0.04, 0.42)
        stone = picked(chips.each(stream), [figure, second, accent, outline])
        image = mix(image, stone, filled((chips.border - margin) * SIZE / across))
    return image


def mosaic(stream: Stream, scheme: Scheme) -> Image:
    """Irregular cells of stained glass in leads."""
    across = stream.choice((6, 8, 10, 13))
    glass = cells(stream, across, 0.85)
    image = picked(glass.each(stream), list(scheme)[: stream.integer(3, 4)])
    image = shade(image, glass.each(stream, 0.86, 1.1) + 0.12 * (glass.border - 0.2))
    return mix(scheme[4], image, filled(glass.border * SIZE / across - stream.uniform(0.9, 2.4)))


def leopard(stream: Stream, scheme: Scheme) -> Image:
    """Broken rosettes on a pelt."""
    ground, figure, second, _, outline = scheme
    across, arcs = stream.choice((6, 7, 8)), stream.choice((2, 3))
    spots = cells(stream, across, 0.45, (0.02 * noise(stream, 10), 0.02 * noise(stream, 10)))
    edge = 0.33 + 0.06 * noise(stream, 14) - spots.distance
    angle = arctan2(spots.dy, spots.dx) * arcs + spots.each(stream, 0.0, TAU)
    arc = np.minimum(0.08 - np.abs(edge - 0.06), 0.12 * cos(angle) + spots.each(stream, 0.03, 0.1))
    pelt = shade(mix(ground, second, 0.4 * smoothstep(-0.5, 0.8, noise(stream, 3))), 1.0 + 0.05 * noise(stream, 96, 48))
    pixels = SIZE / across
    return mix(mix(pelt, figure, 0.45 * filled(edge * pixels)), outline, filled(arc * pixels))


def contours(stream: Stream, scheme: Scheme) -> Image:
    """The lines of equal height of a map."""
    ground, figure, second, accent, outline = scheme
    height = fractal(stream, stream.choice((2, 3, 4)), 2, gain=0.35)
    steps = stream.choice((5, 7, 9))
    tints = stream.choice([[ground, ground], [ground, figure], [ground, second, accent], [figure, ground, second]])
    image = ramp(0.5 + 0.4 * height, tints)
    level = height * steps
    thin = line(level - np.floor(level + 0.5), stream.uniform(1.2, 2.2))
    thick = line(level / 4.0 - np.floor(level / 4.0 + 0.5), 3.2)
    return mix(image, outline, np.maximum(thin * 0.8, thick))


def mud(stream: Stream, scheme: Scheme) -> Image:
    """Dried earth, cracked into plates and these, in places, into smaller ones."""
    coarse, fine = stream.choice((4, 5, 7)), stream.choice((11, 13, 16))
    warp = 0.014 * noise(stream, 10), 0.014 * noise(stream, 10)
    plate, shard = cells(stream, coarse, 0.8, warp), cells(stream, fine, 0.8, warp)
    healed = 5.0 * smoothstep(-0.35, 0.35, noise(stream, 4))
    gap = np.minimum(plate.border * SIZE / coarse - 1.8, shard.border * SIZE / fine + healed - 0.9)
    rough = fractal(stream, 12, 4)
    earth = ramp(plate.each(stream, 0.2, 0.8) + 0.2 * rough, [scheme[0], scheme[1], scheme[2]])
    earth = shade(earth, relief(np.minimum(gap, 5.0) + 0.8 * rough, 0.045))
    return mix(scheme[4] * 0.55, earth, filled(gap, softness=2.0))


def veins(stream: Stream, scheme: Scheme) -> Image:
    """Polished stone with veins."""
    ground, figure, second, accent, outline = scheme
    bend = stream.uniform(0.35, 0.6) * fractal(stream, 3, 5, gain=0.55)
    image = ramp(0.5 + 0.4 * fractal(stream, 2, 4), [ground, figure])
    broad = 1.0 - np.abs(ripple(X * stream.choice((1, 2)) + Y + bend))
    fine = 1.0 - np.abs(ripple(X - 2.0 * Y + 1.4 * bend))
    image = mix(image, second, 0.8 * smoothstep(0.55, 1.0, broad))
    image = mix(image, outline, smoothstep(0.93, 1.0, broad))
    return mix(image, accent, smoothstep(0.92, 1.0, fine))


def waves(stream: Stream, scheme: Scheme) -> Image:
    """Rolling bands like a sea of paper."""
    tall, rows = stream.uniform(0.1, 0.35), stream.choice((2, 3, 4))
    phase = rows * Y + tall * sin(TAU * stream.choice((1, 2, 3, 4)) * X) + stream.uniform(0.0, 0.25) * noise(stream, 4, 3)
    return bands(phase, stream.shuffled(list(scheme))[: stream.integer(3, 5)])


def brushed(stream: Stream, scheme: Scheme) -> Image:
    """Broad strokes of a dry brush."""
    strokes = 0.6 * noise(stream, 3, stream.choice((16, 28))) + 0.4 * noise(stream, 8, 72) + 0.25 * noise(stream, 5, 200)
    if stream.chance(0.5):
        strokes = strokes.T
    return ramp(0.5 + 0.5 * strokes, stream.shuffled(list(scheme))[: stream.integer(2, 4)])


def interference(stream: Stream, scheme: Scheme) -> Image:
    """Rings of several stones thrown into still water."""
    total = np.zeros((SIZE, SIZE))
    for _ in range(stream.integer(2, 3)):
        at_x, at_y = stream.uniform(), stream.uniform()
        # distance on the torus without a crease at the far side
        reach = np.sqrt(np.square(sin(np.pi * (X - at_x))) + np.square(sin(np.pi * (Y - at_y))))
        total = total + cos(TAU * stream.choice((5, 6, 7, 8)) * reach)
    field = 0.5 + total / 5.0
    colours = stream.shuffled(list(scheme))[: stream.integer(2, 4)]
    return ramp(field, colours) if stream.chance(0.5) else bands(field, colours)


def whirls(stream: Stream, scheme: Scheme) -> Image:
    """Stripes stirred into whirlpools."""
    centres = [
        (stream.uniform(), stream.uniform(), stream.uniform(0.22, 0.45), stream.choice((-1.0, 1.0)) * stream.uniform(0.5, 1.3))
        for _ in range(stream.integer(3, 5))
    ]
    x, y = twisted(centres)
    return bands(stream.choice((1, 2, 3)) * x + stream.choice((0, 1)) * y, stream.shuffled(list(scheme))[: stream.integer(2, 4)])


def coral(stream: Stream, scheme: Scheme) -> Image:
    """Labyrinths like those of brain coral."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((10, 14, 18))
    field = noise(stream, across) - 0.4 * noise(stream, across // 2)
    image = mix(ground, figure, inside(field))
    if stream.chance(0.6):
        image = mix(image, accent, inside(field - 0.45))
    if stream.chance(0.5):
        image = mix(image, outline, line(field, 2.4))
    else:
        image = mix(image, second, inside(-0.5 - field))
    return image


def zebra(stream: Stream, scheme: Scheme) -> Image:
    """Stripes that fork and taper."""
    ground, figure, second, _, outline = scheme
    count = stream.choice((5, 7, 9))
    wave = ripple(count * X + 0.5 * noise(stream, 3, 2) + 0.14 * noise(stream, 9, 5))
    mask = inside(wave + 1.0 * noise(stream, count, 4) - stream.uniform(-0.1, 0.35))
    mask = mask.T if stream.chance(0.5) else mask
    return mix(ground, stream.choice((outline, figure, second)), mask)


def gravel(stream: Stream, scheme: Scheme) -> Image:
    """Rounded pebbles, packed close and lit from above."""
    across = stream.choice((9, 12, 16, 20))
    pebbles = cells(stream, across, 0.85, (0.006 * noise(stream, 16), 0.006 * noise(stream, 16)))
    dome = smoothstep(0.0, 0.32, pebbles.border)
    image = shade(picked(pebbles.each(stream), list(scheme)[:4]), pebbles.each(stream, 0.8, 1.15) + 0.05 * grain(stream))
    return mix(scheme[4] * 0.3 + scheme[0] * 0.1, shade(image, relief(dome, 1.6)), smoothstep(0.02, 0.12, pebbles.border))
