"""Pictures that were drawn once, kept while there is room for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rgba = NDArray[np.uint8]
Key = tuple[int, int, int]  # item, view, pixels

KEPT = 400 * 2**20  # bytes: all training views of the procedural set at 112 pixels


class Album:
    """Draws pictures on demand and forgets the least used ones when they take more than ``limit`` bytes.

    Drawing is done by one thread at a time.
    """

    def __init__(self, draw: Callable[[int, int, int], Rgba], limit: int = KEPT) -> None:
        self._draw = draw
        self._limit = limit
        self._held = 0
        self._pictures: OrderedDict[Key, Rgba] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, item: int, view: int, pixels: int) -> Rgba:
        """The picture, read-only."""
        key = item, view, pixels
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
            picture = self._draw(item, view, pixels)
            picture.flags.writeable = False
            self._pictures[key] = picture
            self._held += picture.nbytes
            while self._held > self._limit and len(self._pictures) > 1:
                self._held -= self._pictures.popitem(last=False)[1].nbytes
            return picture
