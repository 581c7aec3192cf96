"""Whole episodes of closed-loop control on the device, from which windows of looks are gathered.

Frames are the bulk of it and stay bytes. They lie in blocks that never move, so that what is there is never copied to make room for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.buffer import Blocks, Rows, ranges, sent_to
from etude.learn.control import PICTURE_TOKENS, ControlDemonstration, ControlSource
from etude.learn.network_recipes import ControllerRecipe
from etude.learn.spots import SOUGHT


@dataclass(frozen=True, eq=False)
class ControlPrompts:
    """B prompts: ``kinds``, ``places``, ``rows`` (B, L), ``words`` (B, L, 2). Rows are cells of ``pictures`` uint8 (P, S, S, 3), or −1."""

    kinds: Tensor
    words: Tensor
    places: Tensor
    rows: Tensor
    pictures: Tensor


@dataclass(frozen=True, eq=False)
class ControlBatch:
    """B windows of K looks, as many control steps apart as a policy carries out between two looks, oldest first.

    ``frames`` uint8 (B, K, V, S, S, 3) and ``felt`` (B, K, D); ``aims`` (B, K, 7): to which pose the oracle is bringing the tip; ``labels``
    (B, K, H, A): what it wants at each look and after it; ``spots`` (B, K, 4, V, 2): where what it is told of first is seen;
    ``counts`` (B, K, H): is there such an action, and was all done as the oracle wants until then? ``there`` (B, K): is there such a look?
    ``where`` (N,): which looks of all in a row.
    """

    prompts: ControlPrompts
    frames: Tensor
    felt: Tensor
    aims: Tensor
    spots: Tensor
    there: Tensor
    where: Tensor
    labels: Tensor
    counts: Tensor


class ControlBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. A recipe says how many looks a window has, how many steps apart, and how many
    actions are learned of each. ``onwards``: a window goes on from its first look, and may end after the episode; otherwise it leads up to
    its last look, and may begin before it."""

    def __init__(self, source: ControlSource, recipe: ControllerRecipe, onwards: bool, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._looks, self._stride, self._chunk, self._onwards = recipe.looks, recipe.execute, recipe.chunk, onwards
        self._every = source.every
        self._frames = Blocks((len(source.cameras), source.size, source.size, 3), torch.uint8, self.device)
        self._pictures = Blocks((source.size, source.size, 3), torch.uint8, self.device)
        self._felt = Rows((source.feels,), torch.float32, self.device)
        self._aims = Rows((7,), torch.float32, self.device)
        self._spots = Rows((SOUGHT, len(source.cameras), 2), torch.int16, self.device)
        self._labels = Rows((source.acts,), torch.float32, self.device)
        here = torch.device("cpu")
        self._tokens = Rows((5,), torch.int32, here)  # kind, two buckets, place, row
        self._spans = Rows((8,), torch.int64, here)  # first and how many: steps, looks, pictures, tokens
        self._led = Rows((), torch.int64, here)  # of a step: so many from there on are as the oracle wants

    def __len__(self) -> int:
        return self._spans.count

    def add(self, demonstrations: Sequence[ControlDemonstration]) -> None:
        """Append episodes in their order."""
        for one in demonstrations:
            firsts = self._labels.count, self._felt.count, self._pictures.count, self._tokens.count
            counts = len(one.labels), len(one.felt), len(one.pictures), len(one.kinds)
            self._spans.append(np.array([[n for pair in zip(firsts, counts, strict=True) for n in pair]]))
            self._tokens.append(np.column_stack([one.kinds, one.words, one.places, one.rows]).astype(np.int32))
            self._frames.append(one.frames)
            self._pictures.append(one.pictures)
            self._felt.append(one.felt)
            self._aims.append(one.aims)
            self._spots.append(one.spots)
            self._labels.append(one.labels)
            off = np.append(np.flatnonzero(~one.led), len(one.led))
            steps = np.arange(len(one.led))
            self._led.append(off[np.searchsorted(off, steps)] - steps)

    def lots(self, chosen: Tensor) -> Sequence[Tensor]:
        """All at once."""
        return [chosen]

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> ControlBatch:
        """A window of each of these episodes: around a moment that is drawn, or around its middle."""
        lengths = self._spans.values.numpy()[chosen.numpy(), 1]
        share = np.full(len(lengths), 0.5)
        if shuffle is not None:  # drawn here by the same seed, for a device would have to be waited for
            share = torch.rand(len(lengths), generator=torch.Generator().manual_seed(shuffle.initial_seed())).numpy()
        return self.windows(chosen.numpy(), np.minimum((share * lengths).astype(np.int64), lengths - 1))

    def windows(self, episodes: Sequence[int] | NDArray[np.int64], moments: NDArray[np.int64]) -> ControlBatch:
        """Windows around these moments of these episodes, or rather around the last looks before them. Which rows they have is reckoned
        here, not on the device: nothing waits."""
        chosen = np.asarray(episodes, np.int64)
        first, length, look = self._spans.values.numpy()[chosen, :3].T
        moments = np.asarray(moments) // self._every * self._every
        begin = moments - (self._looks - 1) * self._stride
        if self._onwards:
            begin = np.maximum(begin, moments % self._stride)
        steps = begin[:, None] + self._stride * np.arange(self._looks)
        there = (steps >= 0) & (steps < length[:, None])
        at = first[:, None] + np.where(there, steps, 0)
        seen = look[:, None] + np.where(there, steps // self._every, 0)
        wanted = steps[..., None] + np.arange(self._chunk)
        counts = there[..., None] & (wanted < length[:, None, None])
        counts &= np.arange(self._chunk) <= self._led.values.numpy()[at][..., None]  # what follows a push is an answer to it
        labels = first[:, None, None] + np.where(counts, wanted, 0)
        looks = self._sent(seen)
        return ControlBatch(
            self._prompts(chosen),
            self._frames.gathered(seen.ravel()).unflatten(0, seen.shape),
            self._felt.values[looks],
            self._aims.values[looks],
            self._spots.values[looks],
            self._sent(there),
            self._sent(np.flatnonzero(there)),
            self._labels.values[self._sent(labels)],
            self._sent(counts),
        )

    def _prompts(self, episodes: NDArray[np.int64]) -> ControlPrompts:
        # An episode that was drawn twice has its pictures encoded once; in the order of drawing, whatever their places in the buffer.
        _, first, which = np.unique(episodes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        *_, picture, shown, token, length = self._spans.values.numpy()[episodes[first[order]]].T
        at, told = ranges(token, length)
        tokens = np.where(told[..., None], self._tokens.values.numpy()[at].astype(np.int64), [0, 0, 0, 0, -1])
        before = PICTURE_TOKENS * (np.cumsum(shown) - shown)  # cells of those that come first
        tokens[..., 4] += np.where(tokens[..., 4] >= 0, before[:, None], 0)
        moved = self._sent(tokens[np.argsort(order)[which]])
        pictures, there = ranges(picture, shown)
        return ControlPrompts(moved[..., 0], moved[..., 1:3], moved[..., 3], moved[..., 4], self._pictures.gathered(pictures[there]))

    def _sent(self, values: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return sent_to(self.device, values)
