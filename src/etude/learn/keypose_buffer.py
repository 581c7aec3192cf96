"""Keyposes on the device: a batch has one keypose of each episode that was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.buffer import Blocks, Rows, sent_to
from etude.learn.control import TIP
from etude.learn.keyposes import (
    ACTION,
    BY_SUBTASK,
    BY_TASK,
    LONGEST_SENTENCE,
    SENTENCES,
    KeyposeDemonstration,
    KeyposeSource,
    trimmed,
)


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


class KeyposeBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. ``by_subtask``: the share of what is drawn that is told by its sub-task."""

    def __init__(self, source: KeyposeSource, by_subtask: float, device: torch.device | str = "cpu") -> None:
        self.device, here = torch.device(device), torch.device("cpu")
        self._by_subtask = by_subtask
        self._points, self._colours = (Blocks((source.points, 3), kind, self.device) for kind in (torch.int16, torch.uint8))
        self._felt, self._labels = (Rows((count,), torch.float32, self.device) for count in (TIP, ACTION))
        self._words = Rows((len(SENTENCES), LONGEST_SENTENCE, 2), torch.int16, here)
        self._spans = Rows((2,), torch.int64, here)  # the first keypose of an episode, and how many

    def __len__(self) -> int:
        return self._spans.count

    def add(self, demonstrations: Sequence[KeyposeDemonstration]) -> None:
        """Append episodes in their order."""
        for one in demonstrations:
            self._spans.append(np.array([(self._felt.count, len(one.labels))]))
            self._points.append(one.points.view(np.int16))
            self._colours.append(one.colours)
            self._felt.append(one.felt)
            self._labels.append(one.labels)
            self._words.append(one.words)

    def lots(self, chosen: Tensor) -> Sequence[Tensor]:
        """All at once."""
        return [chosen]

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> KeyposeBatch:
        """A keypose of each of these episodes: one that is drawn, with words that are drawn, or the first, told by its task."""
        episodes = chosen.cpu().numpy()
        lengths = self._spans.values.numpy()[episodes, 1]
        share = np.zeros((2, len(lengths)))
        if shuffle is not None:  # drawn here, where rows are reckoned: nothing waits for the device
            share = torch.rand(2, len(lengths), generator=torch.Generator().manual_seed(shuffle.initial_seed())).numpy()
        sentences = np.where((share[1] < self._by_subtask) & (shuffle is not None), BY_SUBTASK, BY_TASK)
        return self.keyposes(episodes, np.minimum((share[0] * lengths).astype(np.int64), lengths - 1), sentences)

    def keyposes(self, episodes: NDArray[np.int64], numbers: NDArray[np.int64], sentences: NDArray[np.int64]) -> KeyposeBatch:
        """The keyposes of these episodes with these numbers, told by these of their sentences."""
        rows = self._spans.values.numpy()[episodes, 0] + numbers
        at = sent_to(self.device, rows)
        return KeyposeBatch(
            self._points.gathered(rows),
            self._colours.gathered(rows),
            self._felt.values[at],
            sent_to(self.device, trimmed(self._words.values.numpy()[rows, sentences])),
            self._labels.values[at],
        )
