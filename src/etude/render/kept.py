"""What a camera that stays where it is need not draw again: the things at rest, and the colours that cannot have changed."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.render.geometry import Triangles
from etude.render.lighting import Notes
from etude.render.raster import Projection, Scratch, clear, draw

SAMPLES = 1 << 20  # kept at most, of all views together; each takes about 30 bytes
GLANCES = 16  # views that are remembered for having been seen once
REST = 4  # moves of other things, after which a thing counts as being at rest again

Key = tuple[Any, ...]


def take_notes(shape: tuple[int, int]) -> Notes:
    """Room for notes about so many samples."""
    return Notes(
        np.zeros(shape, np.int16), np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(shape, np.uint8),
        np.zeros(shape[0], np.uint8),
    )  # fmt: skip


class Kept:
    """The memory of one view: samples (height, width).

    ``nearness`` and ``owner`` show the visuals ``still`` alone, as they stood at their ``drawn`` versions; ``over`` are the others. ``rgb``
    is the latest picture, without markers, of the owners ``before``; it was shaded with visuals of these ``versions`` and a shadow map of
    this ``fit`` and ``tick``, with ``notes`` about it.
    """

    def __init__(self, view: Projection, shown: NDArray[np.uint8]) -> None:
        shape, visuals = (view.height, view.width), len(shown)
        self.nearness, self.owner = np.empty(shape, np.float32), np.empty(shape, np.int32)
        self.still, self.drawn = np.zeros(visuals, np.uint8), np.full(visuals, -1, np.int64)
        self.over = shown
        self.before, self.rgb = np.full(shape, -2, np.int32), np.empty((*shape, 3), np.uint8)
        self.notes, self.wanted = take_notes(shape), np.empty(shape, np.uint8)
        self.versions, self.tick = np.full(visuals, -1, np.int64), -1
        self.fit: object = None
        clear(view, self.nearness, self.owner)

    def layer(
        self,
        view: Projection,
        g: Triangles,
        body: NDArray[np.int64],
        shown: NDArray[np.uint8],
        moves: int,
        moved: NDArray[np.int64],
        s: Scratch,
    ) -> None:
        """Bring ``nearness`` and ``owner`` up to date; ``over`` are those of the ``shown`` visuals that are to be drawn over them.

        Visuals ride on these bodies; ``moved`` says for every body at which of the ``moves`` it was the last time among those that moved.
        """
        if settle(g.version, body, shown, moves, moved, self.still, self.drawn):
            clear(view, self.nearness, self.owner)
            draw(view, g, self.still, s, self.nearness, self.owner)
            self.over = shown & (self.still == 0)


@compiled(error_model="numpy")
def settle(
    version: NDArray[np.int64], body: NDArray[np.int64], shown: NDArray[np.uint8], moves: int, moved: NDArray[np.int64],
    still: NDArray[np.uint8], drawn: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Whether another set of visuals, of these versions on these bodies, should be ``still`` now; if so, it is.

    ``drawn`` are the versions in which they were drawn, ``shown`` those to choose from."""
    stirred = False
    for v in range(len(still)):
        stirred |= drawn[v] != version[v] if still[v] else shown[v] and moves - moved[body[v]] >= REST
    if stirred:
        for v in range(len(still)):
            still[v], drawn[v] = shown[v] and moved[body[v]] < moves, version[v]
    return stirred


class Memory:
    """The views of one renderer, the latest last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._glances: OrderedDict[Key, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Key, view: Projection, shown: NDArray[np.uint8]) -> Kept | None:
        """The memory of a view; None the first time it is seen, for most that are seen once, from a moving hand, are never seen again."""
        size = view.width * view.height
        if key not in self._kept:
            if key not in self._glances or size > SAMPLES:
                self._glances[key] = None
                if len(self._glances) > GLANCES:
                    self._glances.popitem(last=False)
                return None
            while self._kept and size + sum(int(k.owner.size) for k in self._kept.values()) > SAMPLES:
                self._kept.popitem(last=False)
            self._kept[key] = Kept(view, shown)
        self._kept.move_to_end(key)
        return self._kept[key]
