"""Demonstrations on the device: rows of all lengths in a few growing tensors, from which batches are gathered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.samples import NUMBERS, Demonstration
from etude.render.tokens import SIDE


@dataclass(frozen=True, eq=False)
class Batch:
    """B prompts and histories. Things are rows of ``crops`` (N, V, 32, 32, 3), ``boxes`` (N, V, 4) and ``mask`` (N, V); −1 is none.

    ``kinds``, ``places``, ``rows`` (B, L) and ``words`` (B, L, 2) are of the prompts; ``seen`` (B, T, S) of the observations. ``before``
    (B, T, 5) is what was done before each, ``begun`` (B, T) whether anything was; ``labels`` (B, T, 5) and ``counts`` (B, T) what is
    learned from; ``steps`` (B,) how many there are.
    """

    crops: Tensor
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
    counts: Tensor
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
            grown = self._values.new_zeros((max(needed, 2 * len(self._values)), *self._values.shape[1:]))
            grown[: self.count] = self._values[: self.count]
            self._values = grown
        self._values[self.count : needed] = new.to(self._values.device, self._values.dtype, non_blocking=True)
        self.count = needed

    @property
    def values(self) -> Tensor:
        return self._values[: self.count]


class DemonstrationBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`."""

    def __init__(self, device: torch.device | str = "cpu", views: int = 2) -> None:
        self.device = torch.device(device)

        def rows(*shape: int, dtype: torch.dtype = torch.int32) -> Rows:
            return Rows(shape, dtype, self.device)

        self._crops = rows(views, SIDE, SIDE, 3, dtype=torch.uint8)
        self._boxes = rows(views, 4, dtype=torch.int16)
        self._mask = rows(views, dtype=torch.bool)
        self._tokens = rows(5)  # kind, two buckets, place, row among the things
        self._steps = rows(2)  # first thing and how many
        self._strokes = rows(2, NUMBERS, dtype=torch.float32)  # done, and what would have been right
        self._counts = rows(dtype=torch.bool)
        self._episodes = rows(4)  # first token and how many, first step and how many

    def __len__(self) -> int:
        return self._episodes.count

    def add(self, demonstrations: Sequence[Demonstration]) -> None:
        """Append demonstrations in their order."""
        if not demonstrations:
            return
        thing, token, step = self._crops.count, self._tokens.count, self._steps.count
        things, tokens, steps, episodes = [], [], [], []
        for one in demonstrations:
            told = one.prompt
            rows = np.where(told.rows >= 0, told.rows.astype(np.int64) + thing, -1)
            tokens.append(np.column_stack([told.kinds, told.words, told.places, rows]).astype(np.int32))
            episodes.append((token, len(told.kinds), step, len(one.seen)))
            things.append(told.things)
            thing += len(told.things)
            for seen in one.seen:
                things.append(seen)
                steps.append((thing, len(seen)))
                thing += len(seen)
            token += len(told.kinds)
            step += len(one.seen)
        self._crops.append(np.concatenate([t.crops for t in things]))
        self._boxes.append(np.concatenate([t.boxes for t in things]))
        self._mask.append(np.concatenate([t.mask for t in things]))
        self._tokens.append(np.concatenate(tokens))
        self._steps.append(np.array(steps, np.int32))
        self._strokes.append(np.concatenate([np.stack([d.done, d.labels], 1) for d in demonstrations]))
        self._counts.append(np.concatenate([d.counts for d in demonstrations]))
        self._episodes.append(np.array(episodes, np.int32))

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> Batch:
        """The episodes with these numbers (B,); with a generator, the things of every observation are in a random order."""
        token, length, step, steps = self._episodes.values[chosen.to(self.device)].long().unbind(1)
        at, inside = ranges(token, length)
        tokens = self._tokens.values[at].long() * inside[..., None]
        rows = torch.where(inside, tokens[..., 4], -1)
        when, real = ranges(step, steps)
        first, count = (self._steps.values[when].long() * real[..., None]).unbind(2)
        seen, there = ranges(first, count)
        seen = torch.where(there, seen, -1)
        if shuffle is not None:
            keys = torch.rand(seen.shape, generator=shuffle, device=self.device) + 2.0 * ~there
            seen = seen.gather(2, keys.argsort(2))
        strokes = self._strokes.values[when]
        before = torch.cat([torch.zeros_like(strokes[:, :1, 0]), strokes[:, :-1, 0]], 1)
        begun = real.clone()
        begun[:, 0] = False
        used, back = torch.unique(torch.cat([rows.flatten(), seen.flatten()]), return_inverse=True)
        back = back - (used[0] < 0).long()  # −1 comes first, where there is any
        used = used[used >= 0]
        return Batch(
            self._crops.values[used],
            self._boxes.values[used],
            self._mask.values[used],
            tokens[..., 0],
            tokens[..., 1:3],
            tokens[..., 3],
            back[: rows.numel()].view_as(rows),
            back[rows.numel() :].view_as(seen),
            before,
            begun,
            strokes[:, :, 1],
            self._counts.values[when] & real,
            steps,
        )


def ranges(first: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """``first + (0, 1, …)`` with one more dimension, as wide as the largest count, and where that is inside; outside it is ``first``."""
    steps = torch.arange(int(count.max()), device=first.device)
    inside = steps < count[..., None]
    return torch.where(inside, first[..., None] + steps, first[..., None]), inside
