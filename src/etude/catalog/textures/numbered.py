"""A family of invented textures, told apart by number: each is a pattern, a scheme of colours, and a stream of its own."""

from __future__ import annotations

from collections.abc import Callable

from etude.catalog.textures import nature, ornament
from etude.catalog.textures.canvas import Image
from etude.catalog.textures.schemes import Scheme, scheme
from etude.names import Stream

NUMBERED = 240  # HiMan-Bench has 213

PATTERNS: tuple[Callable[[Stream, Scheme], Image], ...] = (
    nature.clouds,
    ornament.hexagons,
    nature.camouflage,
    ornament.chevrons,
    nature.terrazzo,
    ornament.tartan,
    nature.leopard,
    ornament.truchet,
    nature.contours,
    ornament.herringbone,
    nature.mosaic,
    ornament.stars,
    nature.waves,
    ornament.maze,
    nature.mud,
    ornament.scales,
    nature.veins,
    ornament.argyle,
    nature.whirls,
    ornament.basket,
    nature.coral,
    ornament.bubbles,
    nature.aurora,
    ornament.quilt,
    nature.zebra,
    ornament.trellis,
    nature.brushed,
    ornament.knit,
    nature.interference,
    ornament.triangles,
    nature.gravel,
    ornament.houndstooth,
    ornament.confetti,
)


def invented(number: int, stream: Stream) -> Image:
    """Texture ``number``: the patterns take turns, and within a pattern the leading hues spread round the circle."""
    turn, pattern = divmod(number, len(PATTERNS))
    turns = -(-NUMBERED // len(PATTERNS))
    hue = (turn + stream.uniform()) / turns + pattern / len(PATTERNS)
    return PATTERNS[pattern](stream, scheme(stream, hue))
