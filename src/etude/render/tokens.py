"""What an object-centric policy sees: of every object and every view a box and a small square crop, cut out by the true segmentation.

The original's cut (VIMA 1.9), with one thing put right: a slot is one object, in every view and at every step. There, what is hidden moves
to the end, and all others change their slots.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from kernels here, nor constants imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.names import EtudeError
from etude.render.picture import Picture

SIDE = 32  # pixels of a crop
LEAST = 2  # pixels by which an object must be seen to count


@dataclass(frozen=True, eq=False)
class ObjectTokens:
    """Objects as V views see them, in N slots.

    ``crops`` uint8 (V, N, 32, 32, 3); ``boxes`` int32 (V, N, 4): x and y of the centre, height and width, in pixels, where an extent is the
    distance of the outermost pixels; ``mask`` bool (V, N): seen by at least two pixels. What is not seen is 0 in all of them.
    """

    crops: NDArray[np.uint8]
    boxes: NDArray[np.int32]
    mask: NDArray[np.bool_]


def tokens(pictures: Iterable[Picture], ids: Sequence[int], slots: int | None = None) -> ObjectTokens:
    """Cut the objects with these segmentation ids, a slot for each in this order, out of the pictures; ``slots`` pads their number."""
    views = tuple(pictures)
    count = len(ids) if slots is None else slots
    if len(ids) > count:
        raise EtudeError(f"{len(ids)} objects do not fit into {count} slots")
    slot_of = np.full(max(ids, default=-1) + 1, -1, np.int32)
    slot_of[list(ids)] = np.arange(len(ids))
    crops = np.zeros((len(views), count, SIDE, SIDE, 3), np.uint8)
    boxes = np.zeros((len(views), count, 4), np.int32)
    mask = np.zeros((len(views), count), np.bool_)
    for v, picture in enumerate(views):
        _cut(picture.rgb, picture.segmentation, slot_of, crops[v], boxes[v], mask[v])
    return ObjectTokens(crops, boxes, mask)


@compiled(error_model="numpy")
def _cut(
    rgb: NDArray[np.uint8], segmentation: NDArray[np.uint16], slot_of: NDArray[np.int32], crops: NDArray[np.uint8],
    boxes: NDArray[np.int32], mask: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Boxes and crops of one view; what is not seen is left as it is."""
    height, width = segmentation.shape
    seen = np.zeros(len(mask), np.int64)
    edges = np.empty((len(mask), 4), np.int64)  # left, top, right, bottom
    for y in range(height):
        for x in range(width):
            number = segmentation[y, x]
            k = slot_of[number] if number < len(slot_of) else -1
            if k < 0:
                continue
            if seen[k] == 0:
                edges[k, 0], edges[k, 1], edges[k, 2] = x, y, x
            seen[k] += 1
            edges[k, 0], edges[k, 2] = min(edges[k, 0], x), max(edges[k, 2], x)
            edges[k, 3] = y
    for k in range(len(mask)):
        if seen[k] < LEAST:
            continue
        mask[k] = True
        left, top, right, bottom = edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3]
        boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3] = (left + right) // 2, (top + bottom) // 2, bottom - top, right - left
        _shrink(rgb[top : bottom + 1, left : right + 1], crops[k])


@compiled(error_model="numpy")
def _shrink(piece: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """The piece on a black square, brought to the size of ``out`` by areas. In whole numbers, so that every machine rounds alike.

    On an axis, pixel p of the square covers [p · n, (p + 1) · n) and pixel i of ``out`` [i · side, (i + 1) · side).
    """
    n = len(out)
    height, width = piece.shape[0], piece.shape[1]
    side = max(height, width)
    above, before = (side - height) // 2, (side - width) // 2
    total = side * side
    for i in range(n):
        y0, y1 = i * side, (i + 1) * side
        first_row, last_row = max(y0 // n, above), min((y1 - 1) // n, above + height - 1)
        for j in range(n):
            x0, x1 = j * side, (j + 1) * side
            first, last = max(x0 // n, before), min((x1 - 1) // n, before + width - 1)
            r, g, b = 0, 0, 0
            for q in range(first_row, last_row + 1):
                tall = min(y1, (q + 1) * n) - max(y0, q * n)
                for p in range(first, last + 1):
                    area = tall * (min(x1, (p + 1) * n) - max(x0, p * n))
                    r += area * piece[q - above, p - before, 0]
                    g += area * piece[q - above, p - before, 1]
                    b += area * piece[q - above, p - before, 2]
            out[i, j, 0] = (2 * r + total) // (2 * total)
            out[i, j, 1] = (2 * g + total) // (2 * total)
            out[i, j, 2] = (2 * b + total) // (2 * total)
