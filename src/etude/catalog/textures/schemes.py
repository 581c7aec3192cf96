"""Colour schemes for invented textures, drawn in a perceptual space (OKLCH), so that contrast and harmony hold for every hue."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from etude.names import Stream

Colour = NDArray[np.float64]  # (3,) sRGB-encoded, 0 to 255, whole numbers
Scheme = tuple[Colour, Colour, Colour, Colour, Colour]  # ground, figure, second figure, accent, outline

# Hue offsets, in turns, of the four colours against the first.
_HARMONIES = (
    (0.0, 0.0, 0.03, 0.5),  # one hue and its complement
    (0.0, 0.06, 0.12, 0.56),  # neighbours
    (0.0, 0.33, 0.67, 0.33),  # triad
    (0.0, 0.5, 0.42, 0.08),  # split complement
    (0.0, 0.25, 0.5, 0.75),  # square
)
# Lightness of ground, figure, second figure, accent, outline.
_VALUES = (
    (0.93, 0.62, 0.76, 0.55, 0.32),
    (0.86, 0.45, 0.66, 0.70, 0.25),
    (0.30, 0.72, 0.55, 0.86, 0.92),
    (0.22, 0.58, 0.42, 0.80, 0.95),
    (0.62, 0.88, 0.40, 0.76, 0.22),
    (0.52, 0.30, 0.70, 0.88, 0.94),
)
_CHROMAS = (0.045, 0.085, 0.13, 0.19)  # muted, natural, strong, vivid


def oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """The colour of a lightness (0 to 1), chroma (0 to about 0.3) and hue (turns); chroma gives way where sRGB ends."""
    for _ in range(24):
        linear = _linear(lightness, chroma, hue)
        if all(-1e-4 <= c <= 1.0001 for c in linear):
            break
        chroma *= 0.9
    encoded = (12.92 * c if c <= 0.0031308 else 1.055 * math.pow(c, 1 / 2.4) - 0.055 for c in (min(max(c, 0.0), 1.0) for c in linear))
    return np.array([math.floor(255.0 * c + 0.499) for c in encoded], dtype=np.float64)


def _linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(math.tau * hue), chroma * math.sin(math.tau * hue)
    # Ottosson's OKLab matrices
    long = math.pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3)
    medium = math.pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3)
    short = math.pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3)
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def scheme(stream: Stream, hue: float) -> Scheme:
    """Five colours that go together around a hue (turns)."""
    harmony, values, chroma = stream.choice(_HARMONIES), stream.choice(_VALUES), stream.choice(_CHROMAS)
    pale = 0.6 if values[0] > 0.8 else 0.85  # a strong ground would drown what is printed on it
    ground = oklch(values[0], chroma * pale, hue + harmony[0])
    figure, second, accent = (oklch(values[k], chroma, hue + harmony[k]) for k in (1, 2, 3))
    return ground, figure, second, accent, oklch(values[4], 0.35 * chroma, hue)
