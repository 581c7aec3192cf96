"""The canvas every texture is painted on: a square torus of pixels, its coordinates, masks and colour mixing.

A *field* is a float array that broadcasts to (SIZE, SIZE); a *mask* is a field in [0, 1]. An *image* is a float array that
broadcasts to (3, SIZE, SIZE), one plane per channel, sRGB-encoded 0 to 255. Everything is periodic in both directions.

Sums, products and square roots are exact to the last bit on every machine; sines and powers are as good as its C library, which is why
:func:`quantised` keeps away from ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Field = NDArray[np.float64]
Image = NDArray[np.float64]

SIZE = 256  # pixels along each side
TAU = 2.0 * np.pi

_CENTRES: Field = (np.arange(SIZE) + 0.5) / SIZE
X: Field = _CENTRES[None, :]  # (1, SIZE) across, left to right, in tiles
Y: Field = _CENTRES[:, None]  # (SIZE, 1) down, top to bottom, in tiles
X.flags.writeable = Y.flags.writeable = False


# ------------------------------------------------------------------------------------------------ masks


def smoothstep(low: float, high: float, field: Field) -> Field:
    """0 below ``low``, 1 above ``high``, a smooth S between."""
    t = np.clip((field - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def slope(field: Field) -> Field:
    """The length of the gradient, per pixel; never zero."""
    field = np.broadcast_to(field, (SIZE, SIZE))
    across = np.empty((SIZE, SIZE))
    down = np.empty((SIZE, SIZE))
    np.subtract(field[:, 2:], field[:, :-2], out=across[:, 1:-1])
    across[:, 0], across[:, -1] = field[:, 1] - field[:, -1], field[:, 0] - field[:, -2]
    np.subtract(field[2:], field[:-2], out=down[1:-1])
    down[0], down[-1] = field[1] - field[-1], field[0] - field[-2]
    length: Field = np.sqrt(across * across + down * down) * 0.5
    return np.maximum(length, 1e-9)


def filled(distance: Field, softness: float = 1.4) -> Field:
    """The antialiased mask of a shape given by signed distance, in pixels, positive inside."""
    return smoothstep(-0.5 * softness, 0.5 * softness, distance)


def inside(field: Field, softness: float = 1.4) -> Field:
    """The antialiased mask of where ``field`` > 0; the edge is about ``softness`` pixels wide whatever the field's scale."""
    return smoothstep(-0.5, 0.5, field / (slope(field) * softness))


def line(field: Field, width: float) -> Field:
    """The antialiased mask of the curve ``field`` = 0, drawn ``width`` pixels wide."""
    return smoothstep(-0.7, 0.7, 0.5 * width - np.abs(field) / slope(field))


def fraction(field: Field) -> Field:
    """The part after the point, 0 to 1."""
    return field - np.floor(field)


def modulo(field: Field, period: int) -> Field:
    """Whole numbers brought to 0 … period - 1; NumPy's own remainder is ten times slower."""
    rest: Field = field - period * np.floor(field / period)
    return rest


def ripple(phase: Field) -> Field:
    """A triangle wave of period 1, from -1 at whole numbers to 1 at halves: like a cosine, but exact and of even slope."""
    return 1.0 - 4.0 * np.abs(fraction(phase) - 0.5)


def wrapped(offset: Field) -> Field:
    """An offset on the torus, in tiles, brought to [-0.5, 0.5)."""
    return offset - np.floor(offset + 0.5)


def relief(height: Field, strength: float) -> Field:
    """Brightness factors, about 1, of a bumpy surface lit from the top left."""
    height = np.broadcast_to(height, (SIZE, SIZE))
    rise = np.roll(height, (-1, -1), (0, 1)) - np.roll(height, (1, 1), (0, 1))
    return 1.0 + np.clip(strength * rise, -0.45, 0.45)


# ------------------------------------------------------------------------------------------------ colour


def planes(colour: ArrayLike) -> Image:
    """A (3,) colour as a (3, 1, 1) image; an image as it is."""
    image = np.asarray(colour, dtype=np.float64)
    return image[:, None, None] if image.ndim == 1 else image


def plain(colour: ArrayLike) -> Image:
    """A whole image of one colour; read-only."""
    return np.broadcast_to(planes(colour), (3, SIZE, SIZE))


def mix(under: ArrayLike, over: ArrayLike, mask: Field) -> Image:
    """``over`` painted on ``under`` where the mask says so; both are images or (3,) colours."""
    below, above = planes(under), planes(over)
    image: Image = (above - below) * mask
    image += below
    return image


def shade(image: ArrayLike, factor: Field) -> Image:
    """An image or a (3,) colour with its brightness multiplied."""
    return planes(image) * factor


def ramp(field: Field, colours: Sequence[ArrayLike], stops: Sequence[float] | None = None) -> Image:
    """The field's values, 0 to 1, looked up along a run of colours (evenly spaced unless ``stops`` are given)."""
    table = np.array([np.asarray(c, dtype=np.float64) for c in colours])
    at = np.linspace(0.0, 1.0, len(table)) if stops is None else np.array(stops)
    index = np.floor(np.clip(np.broadcast_to(field, (SIZE, SIZE)), 0.0, 1.0) * 1024.0 + 0.499).astype(np.intp)
    return np.stack([np.interp(np.linspace(0.0, 1.0, 1025), at, channel).take(index) for channel in table.T])


def picked(choice: Field, colours: Sequence[ArrayLike]) -> Image:
    """One of the colours for every pixel, by a value from 0 to 1."""
    table = np.array([np.asarray(c, dtype=np.float64) for c in colours])
    index = np.minimum((np.broadcast_to(choice, (SIZE, SIZE)) * len(table)).astype(np.intp), len(table) - 1)
    return np.stack([channel.take(index) for channel in table.T])


def bands(phase: Field, colours: Sequence[ArrayLike]) -> Image:
    """Equal bands of the colours, in turn, once for every whole step of the phase."""
    image, total = np.zeros((3, SIZE, SIZE)), np.zeros((SIZE, SIZE))
    for k, colour in enumerate(colours):
        share = inside(0.5 / len(colours) - np.abs(wrapped(phase - (k + 0.5) / len(colours))))
        image += planes(colour) * share
        total += share
    return image / total


def lighter(colour: ArrayLike, amount: float) -> NDArray[np.float64]:
    """A (3,) colour moved towards white."""
    base = np.asarray(colour, dtype=np.float64)
    return base + (255.0 - base) * amount


def darker(colour: ArrayLike, amount: float) -> NDArray[np.float64]:
    """A (3,) colour moved towards black."""
    return np.asarray(colour, dtype=np.float64) * (1.0 - amount)


def quantised(image: Image) -> NDArray[np.uint8]:
    """The image as (SIZE, SIZE, 3) bytes.

    Symmetric designs put many values exactly halfway between two bytes, where the last bit of a sine would decide; so the
    rounding threshold stands a little off the half.
    """
    whole = np.floor(np.clip(np.broadcast_to(image, (3, SIZE, SIZE)), 0.0, 255.0) + 0.499)
    return np.ascontiguousarray(np.moveaxis(whole.astype(np.uint8), 0, -1))
