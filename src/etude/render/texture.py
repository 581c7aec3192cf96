"""Textures as the shader reads them: pyramids of ever coarser copies, packed into one flat array."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.catalog.textures import texture
from etude.catalog.textures.canvas import SIZE
from etude.compiled import compiled
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
            image = _image(name)
            bits = len(image).bit_length() - 1
            count = (4 ** (bits + 1) - 1) // 3
            _fill(image, self.texels[self.used : self.used + count])
            self.places[name] = (self.used, bits)
            self.used += count
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


def _image(name: str) -> NDArray[np.uint8]:
    """The texture ``name``, refused where no pyramid can be made of it."""
    image = texture(name)
    side = image.shape[0]
    if image.shape != (side, side, 3) or side & (side - 1) or side > SIZE or image.dtype != np.uint8:
        raise EtudeError(f"texture {name!r} must be uint8 (S, S, 3) with S a power of two up to {SIZE}, got {image.dtype} {image.shape}")
    return np.ascontiguousarray(image)


@compiled
def _fill(image: NDArray[np.uint8], texels: NDArray[np.int64]) -> None:
    """Write all levels of an image (S, S, 3), finest first, into the texels of its pyramid."""
    side = len(image)
    light = np.empty((side, side, 3), np.uint32)  # of as many texels as a coarser one stands for: 255² · 256² fits
    at = 0
    for y in range(side):
        for x in range(side):
            r, g, b = np.int64(image[y, x, 0]), np.int64(image[y, x, 1]), np.int64(image[y, x, 2])
            texels[at] = r | g << 21 | b << 42
            # Averaged as light, not as numbers: a fine checker seen from afar is as bright as its squares. Gamma 2, as in the shader.
            light[y, x, 0], light[y, x, 1], light[y, x, 2] = r * r, g * g, b * b
            at += 1
    area, side = 1, side // 2
    while side:
        area *= 4
        for y in range(side):
            for x in range(side):
                packed = np.int64(0)
                for c in range(3):  # coarser ones take the place of finer ones that have been read
                    left = light[2 * y, 2 * x, c] + light[2 * y + 1, 2 * x, c]
                    light[y, x, c] = left + light[2 * y, 2 * x + 1, c] + light[2 * y + 1, 2 * x + 1, c]
                    packed |= np.int64(np.rint(math.sqrt(light[y, x, c] / area))) << (21 * c)
                texels[at] = packed
                at += 1
        side //= 2
