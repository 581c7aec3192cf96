"""Episodes so far, as a model of strokes reads them: what inference keeps of its sessions, whatever computes the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from etude.learn.samples import NUMBERS, PAD, STEPS, WORD, action_of, numbers_of
from etude.names import EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

ROOM = 2048  # things that an episode may have: of its prompt, and of all that is seen


@dataclass
class History:
    """Prompt tokens, the rows of things seen at each step, and what was done. Things are rows of a memory, of which ``used`` are taken."""

    told: Arrays
    used: int = 0
    seen: list[NDArray[np.int64]] = field(default_factory=list)
    done: list[NDArray[np.float32]] = field(default_factory=list)

    def shape(self) -> tuple[int, int, int]:
        """Prompt tokens, steps, and things of a step: at least so many are there."""
        return max(1, len(self.told["kinds"])), len(self.seen), max(1, *map(len, self.seen))

    def notice(self, things: Arrays) -> list[tuple[Arrays, int]]:
        """Note what is seen now; gives the things that are new, and the row at which each lot begins."""
        if len(self.seen) == STEPS:
            raise EtudeError(f"a learned policy remembers {STEPS} steps; this episode has more")
        new = []
        for lot in (self.told, things) if not self.seen else (things,):
            new.append((lot, self.used))
            rows = np.arange(self.used, self.used + len(lot["crops"]))
            self.used += len(rows)
        self.seen.append(rows)
        if self.used > ROOM:
            raise EtudeError(f"an episode shows more than the {ROOM} things a learned policy remembers")
        return new

    def act(self, stroke: NDArray[np.float32]) -> Array:
        """The action (12,) of a stroke (5,), which is taken for done."""
        action = action_of(stroke.tolist())
        self.done.append(numbers_of(action))
        return action


def history_arrays(histories: Sequence[History], shape: tuple[int, int, int], batch: int, first: Sequence[int]) -> Arrays:
    """What a model reads of these histories, whose things begin at these rows; whoever is missing in the batch has one word to read."""
    tokens, steps, slots = shape
    kinds, words = np.full((batch, tokens), PAD, np.int64), np.zeros((batch, tokens, 2), np.int64)
    kinds[:, 0] = WORD
    places, rows = np.zeros((batch, tokens), np.int64), np.full((batch, tokens), -1, np.int64)
    seen, before = np.full((batch, steps, slots), -1, np.int64), np.zeros((batch, steps, NUMBERS), np.float32)
    begun, count = np.zeros((batch, steps), np.bool_), np.ones(batch, np.int64)
    for k, history in enumerate(histories):
        told = history.told
        length = len(told["kinds"])
        kinds[k, :length], words[k, :length], places[k, :length] = told["kinds"], told["words"], told["places"]
        rows[k, :length] = np.where(told["rows"] >= 0, told["rows"].astype(np.int64) + first[k], -1)
        for step, there in enumerate(history.seen):
            seen[k, step, : len(there)] = there + first[k]
        if history.done:
            before[k, 1 : 1 + len(history.done)], begun[k, 1 : 1 + len(history.done)] = history.done, True
        count[k] = len(history.seen)
    return {
        "kinds": kinds,
        "words": words,
        "places": places,
        "rows": rows,
        "seen": seen,
        "before": before,
        "begun": begun,
        "steps": count,
    }
