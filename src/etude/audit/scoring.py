"""How cheats fare against chance: counts, exact tests, one verdict for each task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from etude.evaluation.inference import holm, wilson

LEVEL = 0.05
DIGITS = 4


@dataclass(frozen=True)
class CheatScore:
    """What a cheat reached on some episodes. ``chances``: for each, how often one is right there who draws (or what must be conceded).

    ``adjusted`` is the exact p that chance does as well, corrected after Holm over the suite.
    """

    task: str
    split: str
    cheat: str
    right: float
    chances: tuple[float, ...]
    adjusted: float = 1.0

    @property
    def episodes(self) -> int:
        """How many there were."""
        return len(self.chances)

    @property
    def rate(self) -> float:
        """How often it was right."""
        return self.right / self.episodes if self.episodes else 0.0

    @property
    def bound(self) -> float:
        """How often it may be."""
        return math.fsum(self.chances) / self.episodes if self.episodes else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 95 %."""
        return wilson(self.right, self.episodes)

    @property
    def p(self) -> float:
        """How likely it is that one who draws is right so often, or more often."""
        return tail(self.chances, math.floor(self.right + 1e-9))

    @property
    def above(self) -> bool:
        """Is it above its bound, beyond doubt?"""
        return self.adjusted < LEVEL


def tail(chances: Sequence[float], right: int) -> float:
    """P(at least ``right`` successes) of independent trials with these probabilities, exactly (Poisson binomial)."""
    if right <= 0:
        return 1.0
    ways = [1.0]
    for p in chances:
        ways = [(ways[k] * (1 - p) if k < len(ways) else 0.0) + (ways[k - 1] * p if k else 0.0) for k in range(len(ways) + 1)]
    return min(1.0, math.fsum(ways[right:]))


def corrected(scores: Sequence[CheatScore]) -> list[CheatScore]:
    """The scores with their p corrected for how many of them there are."""
    return [replace(score, adjusted=p) for score, p in zip(scores, holm([score.p for score in scores]), strict=True)]
