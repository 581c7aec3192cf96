"""A paper's conclusions, held against what was played: each holds here, does not, or cannot be told, by one rule for all.

Two sides are compared on the same episodes where they have any in common (the same task, level and seed, whatever else was changed), else
as two samples. Tasks are what is resampled. With the 95 % interval of the first side minus the second:

- *above*: it holds if all of the interval is above 0. It does not if the interval reaches neither beyond 0 nor up to :data:`MARGIN`.
- *alike*: it holds if all of the interval lies within ± :data:`MARGIN`. It does not if none of it does.
- Else it cannot be told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from etude.evaluation.inference import PairedTable, clustered_interval, newcombe_paired, paired_bootstrap, wilson
from etude.papers.playing import Played, PolicyLine
from etude.suites.paper import ClaimSide, PaperClaim, Scores

MARGIN = 5.0  # percentage points: less than that is no difference worth the name
LEAST = 2  # episodes of which anything is said
Keyed = Mapping[tuple[Any, ...], float]  # by whatever tells episodes apart; the last three are task, level and seed
Verdict = Literal["holds", "does not hold", "cannot be told"]


@dataclass(frozen=True)
class Effect:
    """How far one side is above another, in percentage points, with its 95 % interval."""

    mean: float
    low: float
    high: float
    pairs: int
    paired: bool


@dataclass(frozen=True)
class Conclusion:
    """A claim and what became of it; without an ``effect``, one of its sides was not played. ``models``: of how many of its models."""

    claim: PaperClaim
    effect: Effect | None
    verdict: Verdict
    models: int

    @property
    def behind(self) -> str:
        """What stands behind it, in words."""
        if self.effect is None:
            return "not played"
        pairs = f"{self.effect.pairs:,} {'pairs' if self.effect.paired else 'episodes, no two of them the same'}"
        every = len(self.claim.first.who)
        return pairs if self.models == every else f"{pairs} of {self.models} of {every} models"

    def __str__(self) -> str:
        if self.effect is None:
            return f"{self.claim.says}: {self.verdict} here ({self.behind})"
        one = self.effect
        return f"{self.claim.says}: {self.verdict} here ({one.mean:+.1f} points, {one.low:+.1f} to {one.high:+.1f}; {self.behind})"

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        claim, effect = self.claim, None if self.effect is None else asdict(self.effect)
        known = {"name": claim.name, "section": claim.section, "says": claim.says, "own": claim.own}
        return {**known, "verdict": self.verdict, "models": self.models, "effect": effect}


def by_task(values: Keyed) -> dict[str, list[float]]:
    """Values by the task of their keys."""
    found: dict[str, list[float]] = {}
    for key, value in values.items():
        found.setdefault(str(key[-3]), []).append(value)
    return found


def interval(values: Scores) -> tuple[float, float] | None:
    """The 95 % interval of a mean of successes, in per cent: Wilson's for one task, with tasks resampled for several."""
    tasks = by_task(values)
    if not tasks:
        return None
    if len(tasks) == 1:
        low, high = wilson(math.fsum(values.values()), len(values))
    else:
        found = clustered_interval(tasks, seed="paper")
        low, high = found.low, found.high
    return 100 * low, 100 * high


def compared(first: Keyed, second: Keyed) -> Effect | None:
    """The first minus the second; None with too few episodes to say anything."""
    common = [key for key in first if key in second]
    if not common and min(len(first), len(second)) >= LEAST:
        return _apart(first, second)
    if len(common) < LEAST:
        return None
    pairs = [(first[key], second[key]) for key in common]
    found = paired_bootstrap(by_task({key: first[key] - second[key] for key in common}), seed="paper")
    if {*map(float, (value for pair in pairs for value in pair))} <= {0.0, 1.0}:
        table = PairedTable.count((bool(a), bool(b)) for a, b in pairs)
        _, low, high = newcombe_paired(table.both, table.only_a, table.only_b, table.neither)
    else:  # what never happened in n episodes may still happen in three of n
        low, high = found.mean - 3 / len(pairs), found.mean + 3 / len(pairs)
    return Effect(100 * found.mean, 100 * min(low, found.low), 100 * max(high, found.high), len(pairs), paired=True)


def _apart(first: Keyed, second: Keyed) -> Effect:
    """Two samples with nothing in common: the intervals of their means, squared and added (Newcombe 1998, method 10 for two samples)."""
    a, b = (clustered_interval(by_task(side), seed="paper") for side in (first, second))
    mean = a.mean - b.mean
    low = mean - math.hypot(a.mean - a.low, b.high - b.mean)
    high = mean + math.hypot(a.high - a.mean, b.mean - b.low)
    return Effect(100 * mean, 100 * low, 100 * high, len(first) + len(second), paired=False)


def judged(direction: Literal["above", "alike"], effect: Effect | None) -> Verdict:
    """The rule."""
    if effect is None:
        return "cannot be told"
    if direction == "above":
        return "holds" if effect.low > 0 else "does not hold" if effect.high < MARGIN else "cannot be told"
    if effect.low > -MARGIN and effect.high < MARGIN:
        return "holds"
    return "does not hold" if effect.low >= MARGIN or effect.high <= -MARGIN else "cannot be told"


def conclusions(claims: Sequence[PaperClaim], lines: Sequence[PolicyLine], played: Played) -> list[Conclusion]:
    """What became of every claim."""
    named = {name: line for line in lines for name in (line.name, *line.also)}
    found = []
    for claim in claims:
        first, second = (_scores(side, named, played) for side in (claim.first, claim.second))
        effect, models = compared(first, second), {key[0] for key in first} & {key[0] for key in second}
        found.append(Conclusion(claim, effect, judged(claim.direction, effect), len(models)))
    return found


def _scores(side: ClaimSide, lines: Mapping[str, PolicyLine], played: Played) -> dict[tuple[Any, ...], float]:
    """By which of its models, task, level and seed; models that were not played have none."""
    found: dict[tuple[Any, ...], float] = {}
    for number, who in enumerate(side.who):
        address = lines[who].address(side.trained, side.condition.mode) if who in lines else None
        records = played.records.get((address, side.condition.key), ()) if address is not None else ()
        found |= {(number, *key): value for key, value in side.scores(records).items()}
    if side.less is None:
        return found
    less = _scores(side.less, lines, played)
    return {key: value - less[key] for key, value in found.items() if key in less}
