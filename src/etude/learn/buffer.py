"""Demonstrations on the device: a buffer that grows, from which batches are gathered. The same crops are kept once for all of them.

What a batch consists of is worked out beside the device, where sizes are known without waiting for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.columns import NONE, Columns, columns_of
from etude.learn.samples import NUMBERS, Demonstration
from etude.render.tokens import SIDE

LOTS = 4  # into which a batch is divided, at most
LEAST = 64  # episodes in each
ROOM = 1_500  # tokens that are computed at once, for each GB of a GPU: more lots are more work for the CPU alone, which is slower
BLOCK = 1_600_000_000  # bytes


@dataclass(frozen=True, eq=False)
class Batch:
    """B prompts and histories. ``crops`` (C, 32, 32, 3) are those of N things: ``cells`` (N, V) says which each view has, ``mask`` (N, V)
    whether it has any, ``boxes`` (N, V, 4) where. Prompts and observations name things by their rows; −1 is none.

    ``kinds``, ``places``, ``rows`` (B, L) and ``words`` (B, L, 2) are of the prompts; ``seen`` (B, T, S) of the observations. ``before``
    (B, T, 5) is what was done before each, ``begun`` (B, T) whether anything was; ``labels`` (B, T, 5) is what would have been right,
    ``where`` (M, 2) the episodes and steps that are learned from; ``steps`` (B,) how many there are.
    """

    crops: Tensor
    cells: Tensor
    boxes: Tensor
    mask: Tensor
    kinds: Tensor
    words: Tensor
    places: Tensor
    rows: Tensor
    seen: Tensor
    before: Tensor
    begun: Tensor
    labels: Tensor
    where: Tensor
    steps: Tensor


class Rows:
    """A tensor that grows at its end."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, room: int = 1024) -> None:
        self._values = torch.zeros((room, *shape), dtype=dtype, device=device)
        self.count = 0

    def append(self, values: NDArray[Any]) -> None:
        new = torch.from_numpy(np.ascontiguousarray(values))
        needed = self.count + len(new)
        if needed > len(self._values):
            grown = self._values.new_zeros((max(needed, 3 * len(self._values) // 2), *self._values.shape[1:]))
            grown[: self.count] = self._values[: self.count]
            self._values = grown
        self._values[self.count : needed] = new.to(self._values.device, self._values.dtype, non_blocking=True)
        self.count = needed

    @property
    def values(self) -> Tensor:
        return self._values[: self.count]


class Blocks:
    """The same for rows that are large: they lie in blocks that never move, so that nothing is copied to make room for more."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self._empty = torch.empty((0, *shape), dtype=dtype, device=device)
        self._rows = max(1, BLOCK // (self._empty.element_size() * math.prod(shape)))
        self._blocks: list[Tensor] = []
        self.count = 0

    def append(self, values: NDArray[Any]) -> None:
        new = torch.from_numpy(np.ascontiguousarray(values))
        done = 0
        while done < len(new):
            block, at = divmod(self.count, self._rows)
            if block == len(self._blocks):
                self._blocks.append(self._empty.new_empty((self._rows, *self._empty.shape[1:])))
            part = new[done : done + self._rows - at]
            self._blocks[block][at : at + len(part)] = part.to(self._empty.device)
            self.count, done = self.count + len(part), done + len(part)

    def gathered(self, rows: NDArray[np.int64]) -> Tensor:
        """The rows (N, …) with these numbers: block by block, then in their order. Nothing waits for the device."""
        order = np.argsort(rows, kind="stable")
        found = self._empty.new_empty((len(rows), *self._empty.shape[1:]))
        inside, back = (sent_to(found.device, part) for part in (rows[order] % self._rows, np.argsort(order)))
        ends = np.cumsum(np.bincount(rows // self._rows, minlength=len(self._blocks))).tolist()
        for block, begin, end in zip(self._blocks, [0, *ends], ends, strict=False):
            if end > begin:
                torch.index_select(block, 0, inside[begin:end], out=found[begin:end])
        return found[back]


class DemonstrationBuffer:
    """Grows by :meth:`add` or :meth:`append`, is drawn from by :meth:`batch`."""

    def __init__(self, device: torch.device | str = "cpu", views: int = 2) -> None:
        self.device = torch.device(device)

        def rows(*shape: int, dtype: torch.dtype = torch.int32, here: bool = False) -> Rows:
            return Rows(shape, dtype, torch.device("cpu") if here else self.device)

        self._crops, self._known = rows(SIDE, SIDE, 3, dtype=torch.uint8), dict[int, int]()
        self._cells = rows(views)
        self._boxes = rows(views, 4, dtype=torch.int16)
        self._tokens = rows(5, dtype=torch.int16)
        self._strokes = rows(2, NUMBERS, dtype=torch.float32)
        self._spans = rows(2, here=True)
        self._counts = rows(dtype=torch.bool, here=True)
        self._episodes = rows(6, here=True)

    def __len__(self) -> int:
        return self._episodes.count

    def add(self, demonstrations: Sequence[Demonstration]) -> None:
        """Append demonstrations in their order."""
        if demonstrations:
            self.append(columns_of(demonstrations))

    def append(self, columns: Columns) -> None:
        """Append many demonstrations at once."""
        numbers = np.empty(len(columns.keys) + 1, np.int32)
        numbers[NONE] = NONE
        fresh: list[int] = []
        for k, key in enumerate(columns.keys.tolist()):
            number = self._known.setdefault(key, len(self._known))
            if number == self._crops.count + len(fresh):
                fresh.append(k)
            numbers[k] = number
        at = [self._tokens.count, 0, self._strokes.count, 0, self._cells.count, 0]
        if fresh:
            self._crops.append(columns.crops[fresh])
        self._cells.append(numbers[columns.cells])
        self._boxes.append(columns.boxes)
        self._tokens.append(columns.tokens)
        self._strokes.append(columns.strokes)
        self._spans.append(columns.spans)
        self._counts.append(columns.counts)
        self._episodes.append(columns.episodes + np.array(at, np.int32))

    def lots(self, chosen: Tensor) -> Sequence[Tensor]:
        """These episodes (B,) in lots of like length: a batch is as wide as its longest history, and most are short."""
        _, length, step, steps, _, _ = self._episodes.values.numpy()[chosen.numpy()].astype(np.int64).T
        count = min(LOTS, len(chosen) // LEAST)
        if self.device.type == "cuda":
            slots = self._spans.values.numpy()[ranges(step, steps)[0], 1].max()
            room = ROOM * torch.cuda.get_device_properties(self.device).total_memory // 1_000_000_000
            count = min(count, len(chosen) * (length.max() + steps.max() * slots) // room)
        order = torch.from_numpy(np.lexsort((length, steps)))
        found: Sequence[Tensor] = torch.tensor_split(chosen[order], max(1, int(count)))
        return found

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> Batch:
        """The episodes with these numbers (B,); with a generator, the things of every observation are in a random order."""
        token, length, step, steps, thing, things = self._episodes.values.numpy()[chosen.numpy()].astype(np.int64).T
        at, inside = ranges(token, length)
        when, real = ranges(step, steps)
        offset = np.cumsum(things) - things  # where an episode's things begin among the batch's
        first, count = np.moveaxis(self._spans.values.numpy()[when] * real[..., None], 2, 0)
        seen, there = ranges(first + offset[:, None], count)
        begun = real.copy()
        begun[:, 0] = False
        where = np.argwhere(self._counts.values.numpy()[when] & real)
        used = np.arange(things.sum()) + np.repeat(thing - offset, things)

        def sent(array: NDArray[Any]) -> Tensor:
            return sent_to(self.device, array)

        here = sent(inside)
        tokens = self._tokens.values[sent(at)].long() * here[..., None]
        rows = torch.where(here & (tokens[..., 4] >= 0), tokens[..., 4] + sent(offset)[:, None], NONE)
        shown = sent(np.where(there, seen, NONE))
        if shuffle is not None:
            keys = torch.rand(shown.shape, generator=shuffle, device=self.device) + 2.0 * (shown < 0)
            shown = shown.gather(2, keys.argsort(2))
        strokes = self._strokes.values[sent(when)]
        chosen_things = sent(used)
        cells = self._cells.values[chosen_things].long()
        crops, back = distinct(cells)
        return Batch(
            self._crops.values[crops],
            back,
            self._boxes.values[chosen_things],
            cells >= 0,
            tokens[..., 0],
            tokens[..., 1:3],
            tokens[..., 3],
            rows,
            shown,
            torch.cat([torch.zeros_like(strokes[:, :1, 0]), strokes[:, :-1, 0]], 1),
            sent(begun),
            strokes[:, :, 1],
            sent(where),
            sent(steps),
        )


def ranges(first: NDArray[np.int64], count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """``first + (0, 1, …)`` with one more dimension, as wide as the largest count, and where that is inside; outside it is ``first``."""
    steps = np.arange(count.max(initial=0))
    inside = steps < count[..., None]
    return np.where(inside, first[..., None] + steps, first[..., None]), inside


def distinct(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers (…) that occur, −1 apart, in their order (C,), and which of them stands where (…); −1 stays −1."""
    with_none = torch.cat([numbers.new_full((1,), NONE), numbers.flatten()])  # it comes first then: whether there is any need not be asked
    found, back = torch.unique(with_none, return_inverse=True)
    return found[1:], back[1:].view_as(numbers) - 1


def sent_to(device: torch.device, array: NDArray[Any]) -> Tensor:
    """An array on the device, without waiting for it."""
    found = torch.from_numpy(np.ascontiguousarray(array))
    return found.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else found
