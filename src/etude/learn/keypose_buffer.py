"""Keyposes on the device: every cloud is a tensor of its own, and a batch has one keypose of each episode that was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.keyposes import BY_SUBTASK, BY_TASK, NO_WORD, KeyposeDemonstration


@dataclass(frozen=True, eq=False)
class KeyposeBatch:
    """B keyposes. ``points`` int16 (B, P, 3): the bits of cells of the cube; ``colours`` uint8 (B, P, 3); ``felt`` (B, 10); ``words``
    (B, L, 2), −1 where there are none; ``labels`` (B, 8). ``start`` (B, 10): the noise of each, for those whose answers flow out of it;
    None: some noise, always the same."""

    points: Tensor
    colours: Tensor
    felt: Tensor
    words: Tensor
    labels: Tensor
    start: Tensor | None = None


@dataclass(frozen=True, eq=False)
class _Kept:
    points: Tensor
    colours: Tensor
    felt: Tensor
    labels: Tensor


class KeyposeBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. ``by_subtask``: the share of what is drawn that is told by its sub-task."""

    def __init__(self, by_subtask: float, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._by_subtask = by_subtask
        self._kept: list[_Kept] = []
        self._words: list[NDArray[np.int16]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, demonstrations: Sequence[KeyposeDemonstration]) -> None:
        """Append episodes in their order."""
        for one in demonstrations:
            arrays = one.points.view(np.int16), one.colours, one.felt, one.labels
            self._kept.append(_Kept(*(torch.from_numpy(np.ascontiguousarray(a)).to(self.device) for a in arrays)))
            self._words.append(one.words)

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> KeyposeBatch:
        """A keypose of each of these episodes: one that is drawn, with words that are drawn, or the first, told by its task."""
        lengths = np.array([len(self._words[k]) for k in chosen.tolist()])
        share = np.zeros((2, len(lengths)))
        if shuffle is not None:
            share = torch.rand(2, len(lengths), generator=shuffle, device=self.device).cpu().numpy()
        sentences = np.where((share[1] < self._by_subtask) & (shuffle is not None), BY_SUBTASK, BY_TASK)
        return self.keyposes(chosen.tolist(), np.minimum((share[0] * lengths).astype(np.int64), lengths - 1), sentences)

    def keyposes(self, episodes: Sequence[int], numbers: NDArray[np.int64], sentences: NDArray[np.int64]) -> KeyposeBatch:
        """The keyposes of these episodes with these numbers, told by these of their sentences."""
        rows = list(zip(episodes, numbers.tolist(), strict=True))
        words = np.stack([self._words[k][n, s] for (k, n), s in zip(rows, sentences.tolist(), strict=True)])
        return KeyposeBatch(
            torch.stack([self._kept[k].points[n] for k, n in rows]),
            torch.stack([self._kept[k].colours[n] for k, n in rows]),
            torch.stack([self._kept[k].felt[n] for k, n in rows]),
            torch.from_numpy(trimmed(words)).to(self.device),
            torch.stack([self._kept[k].labels[n] for k, n in rows]),
        )


def trimmed(words: NDArray[np.int16]) -> NDArray[np.int64]:
    """Sentences (B, L, 2) no longer than the longest of them, but for one word at least."""
    longest = int((words[..., 0] != NO_WORD).sum(1).max())
    return words[:, : max(1, longest)].astype(np.int64)
