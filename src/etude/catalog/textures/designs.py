"""Printed designs in chosen colours: stripes, polka dots, swirls, paisley, and the patterns of VIMA's own names."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from etude.arithmetic import arctan2, cos, sin
from etude.catalog.textures.canvas import (
    SIZE,
    Field,
    Image,
    X,
    Y,
    darker,
    filled,
    inside,
    lighter,
    mix,
    ramp,
    ripple,
    shade,
    smoothstep,
)
from etude.catalog.textures.noise import noise, twisted
from etude.names import Stream

INK = (28, 26, 30)
PAPER = (248, 246, 240)


def stripes(first: ArrayLike, second: ArrayLike) -> Image:
    """Diagonal stripes of equal width, four of each colour."""
    return mix(first, second, inside(ripple(4.0 * (X + Y))))


def polka_dots(ground: ArrayLike, dots: ArrayLike) -> Image:
    """Dots in staggered rows, thirty-two to a tile."""
    along, down = 4.0 * X, 4.0 * Y
    distance = np.full((SIZE, SIZE), np.inf)
    for shift in (0.0, 0.5):
        dx, dy = along + shift - np.floor(along + shift) - 0.5, down + shift - np.floor(down + shift) - 0.5
        np.minimum(distance, np.sqrt(dx * dx + dy * dy), out=distance)
    return mix(ground, dots, filled((0.25 - distance) * SIZE / 4.0))


def checkerboard(first: ArrayLike, second: ArrayLike) -> Image:
    """Eight by eight squares; their edges fall on pixel edges."""
    odd = (np.floor(8.0 * X) + np.floor(8.0 * Y)) % 2.0
    return mix(first, second, odd)


def swirl(colour: ArrayLike) -> Image:
    """Ribbons of a colour, its shade, its tint and white, stirred into whirls that turn against each other."""
    x, _ = twisted([(0.25, 0.25, 0.38, 1.9), (0.75, 0.75, 0.38, 1.9), (0.75, 0.25, 0.33, -1.6), (0.25, 0.75, 0.33, -1.6)])
    wave = ripple(2.0 * x + 0.25)
    image = mix(colour, darker(colour, 0.3), inside(-0.45 - wave))
    image = mix(image, lighter(colour, 0.5), inside(wave - 0.2))
    return mix(image, PAPER, inside(wave - 0.55))


def _teardrop(a: Field, b: Field) -> Field:
    """Signed distance, positive inside, to a teardrop with a curled tip; head of radius 0.42 at the origin."""
    steps = 18
    distance = np.full(np.broadcast(a, b).shape, -np.inf)
    for k in range(steps):
        s = 1.0 - math.pow(1.0 - k / (steps - 1), 1.5)  # closer towards the tip, where the discs are small
        angle = 2.1 * s
        at_x, at_y = 0.52 * (1.0 - math.cos(angle)), -0.56 * math.sin(angle) - 0.12 * s
        radius = 0.42 * math.pow(1.0 - s, 0.8) * (1.0 - 0.25 * s) + 0.02
        dx, dy = a - at_x, b - at_y
        np.maximum(distance, radius - np.sqrt(dx * dx + dy * dy), out=distance)
    return distance


def _flower(a: Field, b: Field, radius: float, petals: int) -> Field:
    """Signed distance (nearly), positive inside, to a flower of round petals."""
    angle = arctan2(b, a)
    reach: Field = radius * (0.78 + 0.22 * cos(petals * angle)) - np.sqrt(a * a + b * b)
    return reach


def paisley(colour: ArrayLike) -> Image:
    """Teardrops with curled tips, head up and head down in turn, filled with bands and a flower, with blossoms between."""
    cream, deep = lighter(colour, 0.86), darker(colour, 0.45)
    pixels = SIZE / 4.0  # of the local unit: a cell is two units wide
    row = np.floor(2.0 * Y)
    across = 2.0 * X[:, : SIZE // 2] + 0.5 * row  # the two columns are alike; paint one
    a, b = 2.0 * (across - np.floor(across)) - 1.0, 2.0 * (2.0 * Y - row) - 1.0
    turned = 1.0 - 2.0 * (row % 2.0)
    a, b = a * turned, b * turned
    u, v = a + 0.2, b - 0.3
    drop = _teardrop(u / 1.08, v / 1.08) * 1.08

    around = arctan2(v + 0.12, u - 0.12)
    tip = np.sqrt(np.square(u - 0.84) + np.square(v + 0.65))
    beads = smoothstep(-0.3, 0.2, sin(26.0 * around)) * smoothstep(0.14, 0.2, tip)
    image = mix(colour, cream, filled((0.045 - np.abs(drop + 0.085)) * pixels) * beads)
    image = mix(image, cream, filled(drop * pixels))
    image = mix(image, deep, filled((drop - 0.055) * pixels))
    image = mix(image, colour, filled((drop - 0.1) * pixels))
    image = mix(image, cream, filled((0.018 - np.abs(drop - 0.15)) * pixels))
    image = mix(image, cream, filled(_flower(u, v, 0.27, 8) * pixels))
    image = mix(image, deep, filled(_flower(u, v, 0.17, 8) * pixels))
    image = mix(image, cream, filled((0.06 - np.sqrt(u * u + v * v)) * pixels))
    for at_a, at_b, size in ((0.76, 0.62, 0.22), (-0.72, -0.62, 0.17)):
        p, q = a - at_a, b - at_b
        image = mix(image, cream, filled(_flower(p, q, size, 5) * pixels))
        image = mix(image, deep, filled((0.3 * size - np.sqrt(p * p + q * q)) * pixels))
    for at_a, at_b, size in ((0.42, 0.82, 0.05), (-0.32, -0.84, 0.05), (-0.74, -0.2, 0.05), (-0.88, -0.08, 0.03)):
        image = mix(image, cream, filled((size - np.sqrt(np.square(a - at_a) + np.square(b - at_b))) * pixels))
    return np.concatenate([image, image], axis=2)


def tiger(stream: Stream) -> Image:
    """Black stripes that swell, break and taper on orange fur, paler in broad patches."""
    fur = ramp(0.5 + 0.5 * noise(stream, 3, 2), [(222, 112, 24), (238, 144, 46), (250, 192, 112)])
    hairs = noise(stream, 128, 32)
    bend = 0.75 * noise(stream, 3, 3) + 0.12 * noise(stream, 5, 9)
    wave = ripple(8.0 * Y + bend)
    taper = 1.2 * noise(stream, 6, 8) + 0.1 * noise(stream, 48, 20)
    return mix(shade(fur, 1.0 + 0.07 * hairs), shade(INK, 1.0 + 0.25 * hairs), inside(wave + taper - 0.3, softness=2.0))


def rainbow() -> Image:
    """The spectrum from top to bottom; violet runs back into red."""
    spectrum = ((236, 60, 60), (246, 146, 40), (250, 222, 60), (88, 190, 80), (60, 190, 214), (62, 98, 214), (152, 80, 200))
    return ramp(np.broadcast_to(Y, (SIZE, SIZE)), [*spectrum, spectrum[0]])
