"""Textures as the shader reads them: pyramids of ever coarser copies, packed into one flat array."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.catalog.textures import texture
from etude.catalog.textures.canvas import SIZE
from etude.names import EtudeError


class Atlas(NamedTuple):
    """Pyramids one after the other. Level l of side S >> l, S = 2**bits, begins at start + 4 (S² − (S >> l)²) / 3.

    A texel is red + green · 2²¹ + blue · 2⁴²: lanes wide enough to add up weighted texels with one multiplication each.
    """

    texels: NDArray[np.int64]
    start: NDArray[np.int64]  # (T,)
    bits: NDArray[np.int64]  # (T,)


MOST = (4 * SIZE**2 - 1) // 3  # texels of the largest pyramid
ROOM = 256 * MOST  # of an atlas: what is not in use takes no memory
MANY = 4096  # textures of an atlas, plain colours among them


class _Filling:
    """The atlas to which textures are added when they are first asked for. All scenes share it; when it is full, a new one is begun."""

    def __init__(self, room: int) -> None:
        self.texels = np.empty(room, np.int64)
        self.used = 0
        self.places: dict[str, tuple[int, int]] = {}  # start and bits

    def place(self, name: str) -> tuple[int, int]:
        if name not in self.places:
            texels = pyramid(name)
            self.texels[self.used : self.used + len(texels)] = texels
            # A pyramid of side 2**b has (4**(b + 1) − 1) / 3 texels.
            self.places[name] = (self.used, ((3 * len(texels) + 1).bit_length() - 1) // 2 - 1)
            self.used += len(texels)
        return self.places[name]

    def has_room_for(self, names: Sequence[str]) -> bool:
        new = sum(name not in self.places for name in names)
        return self.used + MOST * new <= len(self.texels) and len(self.places) + new <= MANY


_filling: list[_Filling] = []
_alone = threading.Lock()


def pack_textures(names: Sequence[str]) -> Atlas:
    """An atlas with these textures in it; starts and bits are in their order."""
    with _alone:
        if not (_filling and _filling[-1].has_room_for(names)):
            _filling[:] = [_Filling(max(ROOM, MOST * len(names)))]
        filling = _filling[-1]
        places = [filling.place(name) for name in names]
    start, bits = np.array(places, np.int64).reshape(-1, 2).T.copy()
    return Atlas(filling.texels, start, bits)


def pyramid(name: str) -> NDArray[np.int64]:
    """All levels of the texture ``name``, finest first, flattened to packed texels."""
    image = texture(name)
    side = image.shape[0]
    if image.shape != (side, side, 3) or side & (side - 1) or side > SIZE or image.dtype != np.uint8:
        raise EtudeError(f"texture {name!r} must be uint8 (S, S, 3) with S a power of two up to {SIZE}, got {image.dtype} {image.shape}")
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    levels = [_packed(planes)]
    # Averaged as light, not as numbers: a fine checker seen from afar is as bright as its squares together. Gamma 2, as in the shader.
    light = np.square(planes.astype(np.uint32))  # of as many texels as a coarser one stands for: 255² · 256² fits
    while light.shape[1] > 1:
        pairs = light[:, 0::2] + light[:, 1::2]
        light = pairs[:, :, 0::2] + pairs[:, :, 1::2]
        levels.append(_packed(np.rint(np.sqrt(light / (side // light.shape[1]) ** 2)).astype(np.uint8)))
    return np.concatenate(levels)


def _packed(planes: NDArray[np.uint8]) -> NDArray[np.int64]:
    r, g, b = planes.reshape(3, -1).astype(np.int64)
    return np.asarray(r | g << 21 | b << 42)
