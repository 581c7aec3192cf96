"""Constructed patterns: tilings, weaves and prints that a ruler and a compass could draw, in the colours of a scheme."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import arctan2, cos, sin
from etude.catalog.textures.canvas import (
    SIZE,
    TAU,
    Field,
    Image,
    X,
    Y,
    bands,
    darker,
    filled,
    fraction,
    inside,
    mix,
    modulo,
    picked,
    plain,
    ramp,
    ripple,
    shade,
    smoothstep,
    wrapped,
)
from etude.catalog.textures.noise import cells, noise
from etude.catalog.textures.schemes import Scheme
from etude.names import Stream


def per_cell(stream: Stream, row: Field, column: Field, across: int) -> Field:
    """A random value, 0 to 1, for every cell of an ``across``² grid given by whole-numbered (SIZE, SIZE) rows and columns."""
    index = (modulo(row, across) * across + modulo(column, across)).astype(np.intp)
    value: Field = stream.uniforms(0.0, 1.0, across * across)[index]
    return value


def hexagons(stream: Stream, scheme: Scheme) -> Image:
    """Hexagonal tiles with joints."""
    ground, figure, second, accent, outline = scheme
    columns, rows = stream.choice(((5, 6), (7, 8), (12, 14)))
    a0, b0 = wrapped(columns * X + 0.0 * Y), 2.0 * wrapped(rows / 2.0 * Y + 0.0 * X)
    a1, b1 = wrapped(columns * X + 0.5 + 0.0 * Y), 2.0 * wrapped(rows / 2.0 * Y + 0.5 + 0.0 * X)
    b0, b1 = b0 * 0.866, b1 * 0.866
    odd = a1 * a1 + b1 * b1 < a0 * a0 + b0 * b0
    a, b = np.abs(np.where(odd, a1, a0)), np.abs(np.where(odd, b1, b0))
    border = 0.5 - np.maximum(a, 0.5 * a + 0.866 * b)
    row = np.where(odd, 2.0 * np.floor(rows / 2.0 * Y) + 1.0, 2.0 * np.floor(rows / 2.0 * Y + 0.5)) % rows
    column = np.where(odd, np.floor(columns * X), np.floor(columns * X + 0.5)) % columns
    tone = per_cell(stream, row, column, max(rows, columns))
    pixels = SIZE / columns
    glazes = stream.choice([[ground, figure, second], [figure, figure, second, accent], [figure, second, second, ground]])
    image = picked(tone, glazes)
    image = shade(image, 0.94 + 0.12 * per_cell(stream, row, column, max(rows, columns)))
    if stream.chance(0.5):
        image = mix(image, accent, filled((border - 0.25) * pixels))
    return mix(outline, image, filled((border - 0.035) * pixels))


def herringbone(stream: Stream, scheme: Scheme) -> Image:
    """Blocks laid in a zigzag, each in its own tone."""
    ground, figure, second, _, outline = scheme
    length, across = stream.choice(((2, 8), (2, 12), (3, 12), (4, 16)))
    i, j = np.floor(across * X) + 0.0 * Y, np.floor(across * Y) + 0.0 * X
    u, v = across * X - i, across * Y - j
    t = modulo(i - j, 2 * length)
    level = t < length
    along, aside = np.where(level, t + u, 2 * length - 1 - t + v), np.where(level, v, u)
    start_i, start_j = np.where(level, i - t, i), np.where(level, j, j - (2 * length - 1 - t))
    tone = per_cell(stream, start_j, start_i, across)
    edge = np.minimum(np.minimum(along, length - along), np.minimum(aside, 1.0 - aside)) * (SIZE / across)
    image = picked(tone, [figure, figure, second]) if stream.chance(0.5) else mix(figure, second, np.where(level, 1.0, 0.0))
    image = shade(image, 0.88 + 0.24 * per_cell(stream, start_j, start_i, across))
    return mix(stream.choice((outline, ground)), image, filled(edge - 1.0))


def basket(stream: Stream, scheme: Scheme) -> Image:
    """Bundles of strips woven over and under."""
    ground, figure, second, _, outline = scheme
    across, strips = stream.choice(((4, 3), (6, 3), (8, 2), (4, 4), (12, 1)))
    u, v = across * X, across * Y
    upright = (np.floor(u) + np.floor(v)) % 2.0
    a, b = fraction(u) + 0.0 * Y, fraction(v) + 0.0 * X
    aside, along = np.where(upright > 0.5, a, b), np.where(upright > 0.5, b, a)
    strip = np.abs(fraction(strips * aside) - 0.5) * 2.0
    light = (1.0 - 0.35 * strip * strip) * (0.72 + 0.36 * (1.0 - np.square(2.0 * along - 1.0)))
    edge = (1.0 - strip) * 0.5 * SIZE / (across * strips)
    image = shade(mix(figure, stream.choice((second, ground)), upright), light)
    return mix(darker(outline, 0.3), image, filled(edge - 0.8))


def tartan(stream: Stream, scheme: Scheme) -> Image:
    """A sett of coloured threads, the same in both directions, crossed in twill."""
    repeats = stream.choice((2, 4))
    half = SIZE // repeats // 2
    wide, other, *narrow = stream.shuffled(list(scheme))
    widths = [stream.integer(half // 4, half // 2), stream.integer(half // 6, half // 3)]
    sett = [wide] * widths[0] + [other] * widths[1]
    while len(sett) < half:
        sett += [stream.choice(narrow)] * stream.integer(2, max(3, half // 8))
        sett += [stream.choice((wide, other))] * stream.integer(2, 6)
    threads = np.array((sett[:half] + sett[:half][::-1]) * repeats)
    i, j = np.arange(SIZE)[None, :], np.arange(SIZE)[:, None]
    twill = np.where((i + j) % 4 < 2, 0.8, 0.2)
    return mix(threads.T[:, None, :], threads.T[:, :, None], twill)


def chevrons(stream: Stream, scheme: Scheme) -> Image:
    """Zigzag bands."""
    teeth, rows, tall = stream.choice((2, 4, 6, 8)), stream.choice((2, 3, 4)), stream.choice((0.25, 0.5, 0.75))
    phase = rows * Y + tall * 0.5 * ripple(teeth * X)
    if stream.chance(0.3):
        phase = rows * X + tall * 0.5 * ripple(teeth * Y)
    return bands(phase, stream.shuffled(list(scheme))[: stream.integer(2, 5)])


def scales(stream: Stream, scheme: Scheme) -> Image:
    """Overlapping discs of concentric rings, like waves on a Japanese print or the scales of a fish."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((4, 6, 8))
    lift = stream.choice((2, 4))  # rows to a disc's height: fish or waves
    rows = across * lift
    rings = stream.sample([figure, ground, second, accent], stream.integer(2, 4))
    soft = 1.5 * across / SIZE
    edges = [0.12 + 0.88 * n / len(rings) for n in range(len(rings))]
    colours = [outline] + [colour for ring in rings for colour in (ring, ring)]
    stops = [edges[0] - soft] + [stop for a, b in zip(edges, [*edges[1:], 1.2], strict=True) for stop in (a + soft, b - soft)]
    tint = stream.uniforms(0.88, 1.1, rows * across)
    image = plain(ground)
    for k in range(-1, lift // 2 + 2):  # from the top down; discs further up are hidden
        row = np.floor(rows * Y) + k
        along = across * X + 0.5 * (row % 2.0)
        dx, dy = fraction(along) - 0.5, (rows * Y - row - 0.5) / lift
        reach = 1.0 - 1.96 * np.sqrt(dx * dx + dy * dy)
        number = (row % rows * across + np.floor(along) % across).astype(np.intp)
        image = mix(image, shade(ramp(reach, colours, stops), tint[number]), filled(reach * 0.5 * SIZE / across))
    return image


def truchet(stream: Stream, scheme: Scheme) -> Image:
    """Quarter circles in squares turned at random, which join into wandering loops."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((6, 8, 10))
    i, j = np.floor(across * X) + 0.0 * Y, np.floor(across * Y) + 0.0 * X
    flip = per_cell(stream, j, i, across) < 0.5
    u, v = across * X - i, across * Y - j
    u = np.where(flip, 1.0 - u, u)
    near = np.abs(np.sqrt(u * u + v * v) - 0.5)
    far = np.abs(np.sqrt(np.square(1.0 - u) + np.square(1.0 - v)) - 0.5)
    away = np.minimum(near, far) * SIZE / across
    width = 0.5 * SIZE / across
    style = stream.integer(0, 2)
    image = plain(ground)
    if style == 0:
        layers = [(0.36, outline), (0.29, figure), (0.09, accent)]
    elif style == 1:
        layers = [(0.62, second), (0.44, outline), (0.34, figure), (0.2, outline), (0.1, accent)]
    else:
        layers = [(0.46, figure), (0.2, ground)]
    for reach, colour in layers:
        image = mix(image, colour, filled(width * reach * 1.4 - away))
    return image


def maze(stream: Stream, scheme: Scheme) -> Image:
    """A maze without a boundary, every place reachable; its floor changes colour with the distance walked."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((12, 16, 20))
    east, south, depth = _passages(stream, across)
    i, j = np.floor(across * X) + 0.0 * Y, np.floor(across * Y) + 0.0 * X
    u, v = across * X - i, across * Y - j
    column, row = i.astype(np.intp), j.astype(np.intp)
    far = 1.0
    away = np.where(east[row, column], far, 1.0 - u)
    away = np.minimum(away, np.where(east[row, column - 1], far, u))
    away = np.minimum(away, np.where(south[row, column], far, 1.0 - v))
    away = np.minimum(away, np.where(south[row - 1, column], far, v))
    away = np.minimum(away, np.maximum(np.minimum(u, 1.0 - u), np.minimum(v, 1.0 - v)))
    wave = np.abs(fraction(depth[row, column] / (2.5 * across)) - 0.5) * 2.0
    floor = ramp(wave, stream.choice([[ground, figure], [ground, second, figure], [figure, accent], [ground, ground]]))
    return mix(outline, floor, filled((away - stream.choice((0.14, 0.22, 0.3))) * SIZE / across))


def _passages(stream: Stream, across: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Field]:
    """A random spanning tree of the ``across``² torus: open to the east?, open to the south?, steps from the first cell."""
    east, south = np.zeros((across, across), dtype=np.bool_), np.zeros((across, across), dtype=np.bool_)
    depth = np.full((across, across), -1.0)
    depth[0, 0] = 0.0
    trail = [(0, 0)]
    turns = iter(stream.uniforms(0.0, 1.0, 4 * across * across))
    while trail:
        row, column = trail[-1]
        steps = ((0, 1), (1, 0), (0, across - 1), (across - 1, 0))
        ways = [s for s in steps if depth[(row + s[0]) % across, (column + s[1]) % across] < 0.0]
        if not ways:
            trail.pop()
            continue
        down, right = ways[int(next(turns) * len(ways))]
        there = (row + down) % across, (column + right) % across
        depth[there] = depth[row, column] + 1.0
        if right:
            east[row, column if right == 1 else there[1]] = True
        else:
            south[row if down == 1 else there[0], column] = True
        trail.append(there)
    return east, south, depth


def houndstooth(stream: Stream, scheme: Scheme) -> Image:
    """Four dark threads and four light ones, in both directions, in twill."""
    ground, figure, second, _, outline = scheme
    across = stream.choice((2, 4, 6))
    dark_x, dark_y = inside(ripple(across * X + 0.0 * Y)), inside(ripple(across * Y + 0.0 * X))
    twill = inside(ripple(2.0 * across * (X + Y) + 0.25))
    mask = dark_x * twill + dark_y * (1.0 - twill)
    return mix(*stream.choice([(ground, outline), (ground, figure), (second, outline)]), mask)


def argyle(stream: Stream, scheme: Scheme) -> Image:
    """Diamonds in two colours under crossing stitched lines."""
    ground, figure, second, accent, outline = scheme
    across, down = stream.choice(((4, 2), (4, 4), (6, 4), (8, 4)))
    a, b = across * X, down * Y
    diamond = 1.0 - 2.0 * (np.abs(fraction(a) - 0.5) + np.abs(fraction(b) - 0.5))
    odd = np.floor(a) % 2.0
    image = mix(ground, mix(figure, second, odd), inside(diamond))
    shifted = fraction(a + 0.5) - 0.5, fraction(b + 0.5) - 0.5
    cross = np.minimum(np.abs(shifted[0] + shifted[1]), np.abs(shifted[0] - shifted[1]))
    inner = np.minimum(np.abs(fraction(a) + fraction(b) - 1.0), np.abs(fraction(a) - fraction(b)))
    thread = np.minimum(cross, inner) * SIZE / (2.0 * max(across, down))
    dashes = inside(ripple(6.0 * across * X + 0.0 * Y) + 0.3)
    return mix(image, stream.choice((accent, outline)), filled(1.1 - thread) * dashes)


def trellis(stream: Stream, scheme: Scheme) -> Image:
    """Interlocking circles whose overlaps are petals, with rings and dots."""
    ground, figure, second, accent, outline = scheme
    across = stream.choice((3, 4, 5, 6))
    radius = stream.choice((0.5, 0.58, 0.7071))
    pixels = SIZE / across
    count = np.zeros((SIZE, SIZE))
    rims = np.zeros((SIZE, SIZE))
    for at_x in (-0.5, 0.5):
        for at_y in (-0.5, 0.5):
            dx, dy = fraction(across * X) - 0.5 - at_x, fraction(across * Y) - 0.5 - at_y
            reach = (radius - np.sqrt(dx * dx + dy * dy)) * pixels
            count += filled(reach)
            rims = np.maximum(rims, filled(1.2 - np.abs(reach)))
    image = mix(mix(ground, figure, np.minimum(count, 1.0)), second, np.clip(count - 1.0, 0.0, 1.0))
    if stream.chance(0.7):
        image = mix(image, outline, rims)
    for shift, size in ((0.0, 0.1), (0.5, 0.07)):
        dx, dy = fraction(across * X + shift) - 0.5, fraction(across * Y + shift) - 0.5
        image = mix(image, accent, filled((size - np.sqrt(dx * dx + dy * dy)) * pixels))
    return image


def quilt(stream: Stream, scheme: Scheme) -> Image:
    """Squares cut in two along a diagonal and turned: in order, or at random."""
    across = stream.choice((4, 6, 8, 12))
    i, j = np.floor(across * X) + 0.0 * Y, np.floor(across * Y) + 0.0 * X
    u, v = across * X - i, across * Y - j
    turned = per_cell(stream, j, i, across) < 0.5 if stream.chance(0.5) else (i + j) % 2.0 < 0.5
    side = np.where(turned, u - v, u + v - 1.0) * 0.7071 * SIZE / across
    colours = stream.shuffled(list(scheme))
    first = picked(per_cell(stream, j, i, across), colours[:2])
    second = picked(per_cell(stream, j, i, across), colours[2:])
    return mix(first, second, filled(side))


def knit(stream: Stream, scheme: Scheme) -> Image:
    """Rows of V-shaped stitches with a motif knitted in."""
    ground, figure, second, accent, _ = scheme
    across, rows = 16, 16
    u = fraction(across * X) * 2.0 - 1.0 + 0.0 * Y
    height = rows * Y + 0.55 * (1.0 - np.abs(u))
    row, column = np.floor(height) % rows, np.floor(across * X) + 0.0 * Y
    motif = stream.uniforms(0.0, 1.0, 64).reshape(8, 8)
    motif = np.concatenate([motif, motif[:, ::-1]], axis=1)
    motif = np.concatenate([motif, motif[::-1]], axis=0)
    wools = [ground, ground, figure, figure, second, accent][: stream.integer(3, 6)]
    wool = picked(motif[row.astype(np.intp), column.astype(np.intp)], wools)
    t = np.abs(fraction(height) - 0.5) * 2.0
    strand = (1.0 - 0.5 * t * t * t) * (0.72 + 0.32 * smoothstep(0.0, 0.35, np.abs(u)) - 0.3 * smoothstep(0.75, 1.0, np.abs(u)))
    return shade(wool, strand + 0.05 * noise(stream, 128))


def triangles(stream: Stream, scheme: Scheme) -> Image:
    """Triangular facets in many tones."""
    across = stream.choice((4, 6, 8, 10))
    row = np.floor(across * Y)
    lean = across * X + 0.5 * (across * Y - row) + 0.5 * (row % 2.0)
    lean_back = across * X - 0.5 * (across * Y - row) + 0.5 * (row % 2.0)
    i, k = np.floor(lean), np.floor(lean_back)
    upper = (i != k).astype(np.float64)
    index = ((row * across + i % across) * 2 + upper).astype(np.intp) % (2 * across * across)
    hue = stream.uniforms(0.0, 1.0, 2 * across * across)[index]
    tone = stream.uniforms(0.8, 1.12, 2 * across * across)[index]
    colours = stream.shuffled(list(scheme))[: stream.integer(2, 5)]
    image = shade(picked(hue, colours), tone)
    if stream.chance(0.4):
        apart = np.minimum(np.minimum(np.abs(wrapped(lean)), np.abs(wrapped(lean_back))), np.abs(wrapped(across * Y)))
        image = mix(image, scheme[4], filled(1.0 - apart * SIZE / across))
    return image


def stars(stream: Stream, scheme: Scheme) -> Image:
    """Stars of several sizes and colours, turned at random."""
    ground, figure, second, accent, outline = scheme
    across, points = stream.choice((4, 5, 6, 7)), stream.choice((4, 5, 5, 6, 8))
    grid = cells(stream, across, 0.45)
    size = grid.each(stream, 0.22, 0.42)
    sharp = stream.uniform(0.38, 0.6)
    angle = arctan2(grid.dy, grid.dx) + grid.each(stream, 0.0, TAU)
    wedge = np.abs(wrapped(angle * points / TAU)) * TAU / points  # 0 along an arm
    a, b = grid.distance * cos(wedge), grid.distance * sin(wedge)
    inner_x, inner_y = sharp * math.cos(math.pi / points), sharp * math.sin(math.pi / points)
    length = math.sqrt((1.0 - inner_x) ** 2 + inner_y**2)
    reach = ((size - a) * inner_y - b * (1.0 - inner_x)) / length * SIZE / across
    image = mix(ground, outline, filled(reach + 2.0)) if stream.chance(0.5) else plain(ground)
    return mix(image, picked(grid.each(stream), [figure, accent, second]), filled(reach))


def confetti(stream: Stream, scheme: Scheme) -> Image:
    """Short bars and crumbs strewn about."""
    ground, figure, second, accent, outline = scheme
    image = plain(ground)
    slim, short = stream.uniform(0.05, 0.11), stream.uniform(0.14, 0.3)
    for across in (stream.choice((5, 6, 7)), stream.choice((8, 9, 11))):
        grid = cells(stream, across, 0.55)
        turn = grid.each(stream, 0.0, TAU)
        cosine, sine = cos(turn), sin(turn)
        a, b = np.abs(grid.dx * cosine + grid.dy * sine), np.abs(grid.dy * cosine - grid.dx * sine)
        outer = np.maximum(a - short, 0.0)
        reach = (slim - np.sqrt(outer * outer + b * b)) * SIZE / across
        image = mix(image, picked(grid.each(stream), [figure, second, accent, outline]), filled(reach))
    return image


def bubbles(stream: Stream, scheme: Scheme) -> Image:
    """Discs, rings and targets of many sizes."""
    ground, figure, second, accent, outline = scheme
    image = plain(ground)
    for across in (stream.choice((8, 10)), stream.choice((3, 4, 5))):
        grid = cells(stream, across, 0.4)
        size = grid.each(stream, 0.12, 0.36)
        reach = (size - grid.distance) * SIZE / across
        colour = picked(grid.each(stream), [figure, second, accent])
        image = mix(image, colour, filled(reach))
        image = mix(image, ground, filled(reach - 0.35 * size * SIZE / across) * (grid.each(stream) < 0.6))
        image = mix(image, outline, filled(reach - 0.68 * size * SIZE / across) * (grid.each(stream) < 0.5))
    return image
