"""Textures as the shader reads them: pyramids of ever coarser copies, packed into one flat array."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.catalog.textures import texture
from etude.names import EtudeError


class Atlas(NamedTuple):
    """Pyramids one after the other. Level l of side S >> l, S = 2**bits, begins at start + 4 (S² − (S >> l)²) / 3.

    A texel is red + green · 2²¹ + blue · 2⁴²: lanes wide enough to add up weighted texels with one multiplication each.
    """

    texels: NDArray[np.int64]
    start: NDArray[np.int64]  # (T,)
    bits: NDArray[np.int64]  # (T,)


def pack_textures(names: Sequence[str]) -> Atlas:
    """The atlas of these textures, in this order."""
    pyramids = [pyramid(name) for name in names]
    sizes = [len(p) for p in pyramids]
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes else np.zeros(0)
    # A pyramid of side 2**b has (4**(b + 1) − 1) / 3 texels.
    bits = [((3 * n + 1).bit_length() - 1) // 2 - 1 for n in sizes]
    texels = np.concatenate(pyramids) if pyramids else np.zeros(1, np.int64)
    return Atlas(texels, start.astype(np.int64), np.array(bits, np.int64))


@functools.lru_cache(maxsize=256)
def pyramid(name: str) -> NDArray[np.int64]:
    """All levels of the texture ``name``, finest first, flattened to packed texels."""
    image = texture(name)
    side = image.shape[0]
    if image.shape != (side, side, 3) or side & (side - 1) or image.dtype != np.uint8:
        raise EtudeError(f"texture {name!r} must be uint8 (S, S, 3) with S a power of two, got {image.dtype} {image.shape}")
    levels = [_packed(image)]
    # Averaged as light, not as numbers: a fine checker seen from afar is as bright as its squares together. Gamma 2, as in the shader.
    light = np.square(image.astype(np.float64))
    while side > 1:
        side //= 2
        light = (light[0::2, 0::2] + light[1::2, 0::2] + light[0::2, 1::2] + light[1::2, 1::2]) / 4
        levels.append(_packed(np.rint(np.sqrt(light)).astype(np.uint8)))
    flat = np.concatenate(levels)
    flat.flags.writeable = False
    return flat


def _packed(image: NDArray[np.uint8]) -> NDArray[np.int64]:
    r, g, b = (image[..., i].astype(np.int64).reshape(-1) for i in range(3))
    return np.asarray(r | g << 21 | b << 42)
