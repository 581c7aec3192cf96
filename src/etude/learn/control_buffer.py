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

from etude.learn.buffer import Blocks, Rows
from etude.learn.control import PICTURE_TOKENS, ControlDemonstration, ControlSource
from etude.learn.network_recipes import ControllerRecipe


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

    ``frames`` uint8 (B, K, V, S, S, 3) and ``felt`` (B, K, D); ``labels`` (B, K, H, A): what the oracle did at each look and after it;
    ``counts`` (B, K, H): is there such an action? ``there`` (B, K): is there such a look?
    """

    prompts: ControlPrompts
    frames: Tensor
    felt: Tensor
    there: Tensor
    labels: Tensor
    counts: Tensor


class ControlBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. A recipe says how many looks a window has, how many steps apart, and how many
    actions are learned of each. ``onwards``: a window goes on from its first look, and may end after the episode; otherwise it leads up to
    its last look, and may begin before it."""

    def __init__(self, source: ControlSource, recipe: ControllerRecipe, onwards: bool, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._looks, self._stride, self._chunk, self._onwards = recipe.looks, recipe.execute, recipe.chunk, onwards
        self._frames = Blocks((len(source.cameras), source.size, source.size, 3), torch.uint8, self.device)
        self._pictures = Blocks((source.size, source.size, 3), torch.uint8, self.device)
        self._felt = Rows((source.feels,), torch.float32, self.device)
        self._labels = Rows((source.acts,), torch.float32, self.device)
        self._tokens: list[NDArray[np.int32]] = []  # kind, two buckets, place, row
        self._spans: list[tuple[int, int, int, int]] = []  # first step and how many, first picture and how many

    def __len__(self) -> int:
        return len(self._spans)

    def add(self, demonstrations: Sequence[ControlDemonstration]) -> None:
        """Append episodes in their order."""
        for one in demonstrations:
            self._spans.append((self._felt.count, len(one.labels), self._pictures.count, len(one.pictures)))
            self._tokens.append(np.column_stack([one.kinds, one.words, one.places, one.rows]).astype(np.int32))
            self._frames.append(one.frames)
            self._pictures.append(one.pictures)
            self._felt.append(one.felt)
            self._labels.append(one.labels)

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> ControlBatch:
        """A window of each of these episodes: around a moment that is drawn, or around its middle."""
        lengths = np.array([self._spans[k][1] for k in chosen.tolist()])
        share = np.full(len(lengths), 0.5)
        if shuffle is not None:
            share = torch.rand(len(lengths), generator=shuffle, device=self.device).cpu().numpy()
        return self.windows(chosen.tolist(), np.minimum((share * lengths).astype(np.int64), lengths - 1))

    def windows(self, episodes: Sequence[int], moments: NDArray[np.int64]) -> ControlBatch:
        """Windows around these moments of these episodes. Which rows they have is reckoned here, not on the device: nothing waits."""
        first, length = (np.array([self._spans[k][i] for k in episodes]) for i in (0, 1))
        begin = moments - (self._looks - 1) * self._stride
        if self._onwards:
            begin = np.maximum(begin, moments % self._stride)
        steps = begin[:, None] + self._stride * np.arange(self._looks)
        there = (steps >= 0) & (steps < length[:, None])
        at = first[:, None] + np.where(there, steps, 0)
        wanted = steps[..., None] + np.arange(self._chunk)
        counts = there[..., None] & (wanted < length[:, None, None])
        labels = first[:, None, None] + np.where(counts, wanted, 0)
        return ControlBatch(
            self._prompts(episodes),
            self._frames.gathered(at.ravel()).unflatten(0, at.shape),
            self._felt.values[self._moved(at)],
            self._moved(there),
            self._labels.values[self._moved(labels)],
            self._moved(counts),
        )

    def _prompts(self, episodes: Sequence[int]) -> ControlPrompts:
        longest = max(1, *(len(self._tokens[k]) for k in episodes))
        tokens = np.zeros((len(episodes), longest, 5), np.int64)
        tokens[..., 4] = -1
        used: dict[int, int] = {}  # an episode that was drawn twice has its pictures encoded once
        pictures: list[NDArray[np.int64]] = []
        count = 0
        for row, k in enumerate(episodes):
            _, _, first, shown = self._spans[k]
            if k not in used:
                used[k] = count
                pictures.append(np.arange(first, first + shown))
                count += shown
            told = self._tokens[k]
            tokens[row, : len(told)] = told
            tokens[row, : len(told), 4] += np.where(told[:, 4] >= 0, used[k] * PICTURE_TOKENS, 0)
        moved = self._moved(tokens)
        found = self._pictures.gathered(np.concatenate(pictures))
        return ControlPrompts(moved[..., 0], moved[..., 1:3], moved[..., 3], moved[..., 4], found)

    def _moved(self, values: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device, non_blocking=True)
