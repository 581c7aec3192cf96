"""Trials on the device: the same cells are kept once for all of them. A batch has a row for every answer that is due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.buffer import Rows, distinct, ranges, sent_to
from etude.learn.trials import CHOICE_WORDS, NO_WORD, NOTHING_THERE, SolvedTrial
from etude.render.tokens import SIDE


@dataclass(frozen=True, eq=False)
class TrialBatch:
    """R answers that are due, on the frames ``now`` (R,), each with what was shown until then.

    ``words`` (R, L, 2) and ``clauses`` (R, L) of instructions, where there is something ``told`` (R, L); ``seen`` (R, T, P): which of the
    ``cells`` (N, 32, 32, 3) each frame has, −1 where it is empty and after it is asked; ``choices`` (R, C, W, 2): words,
    −1 where there are none; ``right`` (R,).
    ``trials`` (R,): which of those that were chosen it is about.
    """

    words: Tensor
    clauses: Tensor
    told: Tensor
    cells: Tensor
    seen: Tensor
    now: Tensor
    choices: Tensor
    right: Tensor
    trials: Tensor


class TrialBuffer:
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. ``room``: for so many rows of each sort to begin with."""

    def __init__(self, cells: int, device: torch.device | str = "cpu", room: int = 1024) -> None:
        self.device = torch.device(device)

        def rows(*shape: int, dtype: torch.dtype = torch.int32, here: bool = False) -> Rows:
            return Rows(shape, dtype, torch.device("cpu") if here else self.device, room)

        self._cells, self._known = rows(SIDE, SIDE, 3, dtype=torch.uint8), dict[int, int]()
        self._words = rows(3, dtype=torch.int16)  # two buckets, and the clause
        self._frames = rows(cells)
        self._choices = rows(CHOICE_WORDS, 2, dtype=torch.int16)
        self._asked = rows(2, here=True)  # on which frame, and what is right
        self._trials = rows(8, here=True)  # first and how many: words, frames, choices, answers

    def __len__(self) -> int:
        return self._trials.count

    def add(self, trials: Sequence[SolvedTrial]) -> None:
        """Append trials in their order."""
        if not trials:
            return
        at = [self._words.count, self._frames.count, self._choices.count, self._asked.count]
        fresh: list[NDArray[np.uint8]] = []
        frames, spans = [], []
        for one in trials:
            numbers = np.empty(len(one.keys), np.int32)
            for k, key in enumerate(one.keys.tolist()):
                number = self._known.setdefault(key, len(self._known))
                if number == self._cells.count + len(fresh):
                    fresh.append(one.cells[k])
                numbers[k] = number
            frames.append(np.append(numbers, NOTHING_THERE).astype(np.int32)[one.seen])
            counts = [len(one.words), len(one.seen), len(one.choices), len(one.asked)]
            spans.append([n for pair in zip(at, counts, strict=True) for n in pair])
            at = [a + n for a, n in zip(at, counts, strict=True)]
        if fresh:
            self._cells.append(np.stack(fresh))
        self._words.append(np.concatenate([np.column_stack([one.words, one.clauses]) for one in trials]))
        self._frames.append(np.concatenate(frames))
        self._choices.append(np.concatenate([one.choices for one in trials]))
        self._asked.append(np.concatenate([np.stack([one.asked, one.right], 1) for one in trials]))
        self._trials.append(np.array(spans, np.int32))

    def lots(self, chosen: Tensor) -> Sequence[Tensor]:
        """All at once."""
        return [chosen]

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> TrialBatch:
        """All answers that are due in the trials with these numbers (B,). Nothing in them has an order that could be shuffled."""
        word, length, frame, _, choice, choices, first, answers = self._trials.values.numpy()[chosen.numpy()].astype(np.int64).T
        at, due = ranges(first, answers)
        trials = np.nonzero(due)[0]
        now, right = self._asked.values.numpy()[at[due]].astype(np.int64).T
        words, told = ranges(word[trials], length[trials])
        shown, there = ranges(frame[trials], now + 1)
        offered, real = ranges(choice[trials], choices[trials])

        def sent(array: NDArray[Any]) -> Tensor:
            return sent_to(self.device, array)

        heard = sent(told)
        texts = self._words.values[sent(words)].long() * heard[..., None]
        cells, seen = distinct(torch.where(sent(there)[..., None], self._frames.values[sent(shown)].long(), NOTHING_THERE))
        return TrialBatch(
            texts[..., :2],
            texts[..., 2],
            heard,
            self._cells.values[cells],
            seen,
            sent(now),
            torch.where(sent(real)[..., None, None], self._choices.values[sent(offered)].long(), NO_WORD),
            sent(right),
            sent(trials),
        )
