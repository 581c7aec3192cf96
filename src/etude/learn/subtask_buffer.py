"""Questions for planners on the device: sentences are kept once for all of them, and a batch has one question of each episode drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.keyposes import trimmed
from etude.learn.subtasks import NOTHING_SAID, AskedFrames

NO_CHOICE = -1


@dataclass(frozen=True, eq=False)
class SubtaskBatch:
    """B questions. ``frames`` uint8 (B, V, S, S, 3); the other tensors name rows of ``sentences`` (U, L, 2), words that are −1 where there
    are no more: ``instruction`` (B,), ``last`` (B,), −1 where nothing was said before, ``choices`` (B, C), −1 where there are none.
    ``right`` bool (B, C)."""

    frames: Tensor
    sentences: Tensor
    instruction: Tensor
    last: Tensor
    choices: Tensor
    right: Tensor


@dataclass(frozen=True, eq=False)
class _KeptQuestions:
    frames: Tensor
    sentences: NDArray[np.int64]  # by their numbers in the table: the instruction, then the choices
    last: NDArray[np.int16]
    now: NDArray[np.int16]
    right: NDArray[np.bool_]


class SubtaskBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. Of what is drawn, ``forget`` is the share that is not told the sub-task before,
    and ``again`` the share that is told the one that is worked on, as when it was tried and failed."""

    def __init__(self, forget: float, again: float, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._forget, self._again = forget, again
        self._kept: list[_KeptQuestions] = []
        self._numbers: dict[bytes, int] = {}
        self._table: list[NDArray[np.int16]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, episodes: Sequence[AskedFrames]) -> None:
        """Append episodes in their order."""
        for one in episodes:
            numbers = np.array([self._number(sentence) for sentence in one.sentences], np.int64)
            frames = torch.from_numpy(np.ascontiguousarray(one.frames)).to(self.device)
            self._kept.append(_KeptQuestions(frames, numbers, one.last, one.now, one.right))

    def _number(self, sentence: NDArray[np.int16]) -> int:
        number = self._numbers.setdefault(sentence.tobytes(), len(self._table))
        if number == len(self._table):
            self._table.append(sentence)
        return number

    def lots(self, chosen: Tensor) -> Sequence[Tensor]:
        """All at once."""
        return [chosen]

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> SubtaskBatch:
        """A question about each of these episodes: one that is drawn, as is what it is told, or the first as it is."""
        kept = [self._kept[k] for k in chosen.tolist()]
        share = np.zeros((2, len(kept)))
        if shuffle is not None:
            share = torch.rand(2, len(kept), generator=shuffle, device=self.device).cpu().numpy()
        numbers = [min(int(at * len(one.now)), len(one.now) - 1) for at, one in zip(share[0], kept, strict=True)]
        last = [int(one.last[n]) for one, n in zip(kept, numbers, strict=True)]
        if shuffle is not None:
            for k, (one, n) in enumerate(zip(kept, numbers, strict=True)):
                if share[1, k] < self._forget:
                    last[k] = NOTHING_SAID
                elif share[1, k] < self._forget + self._again:
                    last[k] = int(one.now[n])
        return self.questions(chosen.tolist(), numbers, last)

    def questions(self, episodes: Sequence[int], numbers: Sequence[int], last: Sequence[int]) -> SubtaskBatch:
        """The questions of these episodes with these numbers, told that these of their choices came before."""
        kept = [self._kept[k] for k in episodes]
        most = max(one.right.shape[1] for one in kept)
        rows = np.full((len(kept), 2 + most), NO_CHOICE, np.int64)  # the instruction, the sub-task before, what can be said
        right = np.zeros((len(kept), most), np.bool_)
        for row, good, one, n, before in zip(rows, right, kept, numbers, last, strict=True):
            count = one.right.shape[1]
            row[0], row[2 : 2 + count] = one.sentences[0], one.sentences[1:]
            row[1] = one.sentences[1 + before] if before != NOTHING_SAID else NOTHING_SAID
            good[:count] = one.right[n]
        used, at = np.unique(rows[rows >= 0], return_inverse=True)
        rows[rows >= 0] = at
        told = torch.from_numpy(rows).to(self.device)
        return SubtaskBatch(
            torch.stack([one.frames[n] for one, n in zip(kept, numbers, strict=True)]),
            torch.from_numpy(trimmed(np.stack([self._table[k] for k in used.tolist()]))).to(self.device),
            told[:, 0],
            told[:, 1],
            told[:, 2:],
            torch.from_numpy(right).to(self.device),
        )
