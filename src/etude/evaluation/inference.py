"""How far a result can be trusted: intervals, tests and the number of episodes a claim needs.

Rates and differences of rates are fractions in [−1, 1] everywhere; only :func:`verdict` speaks of percentages. Two runs on the same
episodes are *paired*: what tells them apart are the *discordant* pairs, the episodes where only one of the two succeeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Literal, Self

import numpy as np

from etude.names import EtudeError, rng

NORMAL = NormalDist()


# ------------------------------------------------------------------------------------------------ rates and their differences


def wilson(successes: float, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a rate; (0, 1) without trials. Partial credit may be summed into ``successes``: it only widens."""
    if not 0 <= successes <= trials:
        raise EtudeError(f"{successes} successes in {trials} trials; expected between 0 and the number of trials")
    if trials == 0:
        return 0.0, 1.0
    z = _two_sided(confidence)
    rate, z2 = successes / trials, z * z
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = z * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    # rounding must not push the rate itself out at 0 and 1
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def newcombe_paired(both: int, only_a: int, only_b: int, neither: int, confidence: float = 0.95) -> tuple[float, float, float]:
    """Difference of the rates of a and b on the same episodes with its interval: (difference, low, high).

    The counts say in how many episodes both, only a, only b or neither succeeds. Newcombe, Stat. Med. 17:2635 (1998), method 10.
    """
    episodes = both + only_a + only_b + neither
    if episodes == 0:
        raise EtudeError("a difference of paired rates needs at least one pair of episodes")
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    association = float(both * neither - only_a * only_b)
    if association > 0:  # Newcombe's continuity correction: small tables show a helpful correlation by chance
        association = max(0.0, association - episodes / 2)
    correlation = association / math.sqrt(margins) if margins else 0.0
    difference = (only_a - only_b) / episodes
    down, up = _square_and_add((both + only_a, episodes), (both + only_b, episodes), correlation, confidence)
    return difference, difference - down, difference + up


def _square_and_add(first: tuple[int, int], second: tuple[int, int], correlation: float, confidence: float) -> tuple[float, float]:
    """How far the difference of two rates, each given as (successes, trials), reaches down and up from its estimate."""
    p1, p2 = first[0] / first[1], second[0] / second[1]
    (l1, u1), (l2, u2) = wilson(*first, confidence), wilson(*second, confidence)

    def reach(x: float, y: float) -> float:
        return math.sqrt(x * x - 2 * correlation * x * y + y * y)

    return reach(p1 - l1, u2 - p2), reach(u1 - p1, p2 - l2)


def _two_sided(confidence: float) -> float:
    """Standard deviations to each side that hold ``confidence`` of a normal distribution."""
    return -NORMAL.inv_cdf(_tail(confidence))


def _tail(confidence: float) -> float:
    """The probability left out on each side."""
    if not 0 < confidence < 1:
        raise EtudeError(f"a confidence of {confidence}; expected a fraction between 0 and 1, such as 0.95")
    return (1 - confidence) / 2


# ------------------------------------------------------------------------------------------------ several tasks


@dataclasses.dataclass(frozen=True)
class MeanInterval:
    """A mean over episodes and its interval. ``clustered`` is False where a single task left only its episodes to resample."""

    mean: float
    low: float
    high: float
    clusters: int
    clustered: bool


def paired_bootstrap(
    differences_by_task: Mapping[str, Sequence[float]], confidence: float = 0.95, resamples: int = 10_000, *, seed: str
) -> MeanInterval:
    """The mean difference between two runs on the same episodes, resampled by task.

    Episodes of one task succeed and fail together, so whole tasks are drawn with replacement; each episode counts the same in the
    mean. Works for any score. Where all differences agree it has no width: for successes, :func:`newcombe_paired` still has one.
    Of intervals meant to hold 95 % of the time, about 95 % do with ten tasks or more, 92 % with five and only 80 % with three.
    """
    if (episodes := sum(map(len, differences_by_task.values()))) < 2:
        raise EtudeError(f"a bootstrap needs at least two paired episodes, got {episodes}")
    return _bootstrap(differences_by_task, confidence, resamples, seed)


def clustered_interval(
    values_by_task: Mapping[str, Sequence[float]], confidence: float = 0.95, resamples: int = 10_000, *, seed: str
) -> MeanInterval:
    """The mean success rate (values in [0, 1]) over several tasks, whose seeds are not independent of each other.

    Tasks are resampled as in :func:`paired_bootstrap`. The interval is never narrower than Wilson's for independent episodes:
    a bootstrap of nothing but successes would claim certainty.
    """
    interval = _bootstrap(values_by_task, confidence, resamples, seed)
    low, high = wilson(math.fsum(map(math.fsum, values_by_task.values())), sum(map(len, values_by_task.values())), confidence)
    return dataclasses.replace(interval, low=min(low, interval.low), high=max(high, interval.high))


def _bootstrap(values_by_task: Mapping[str, Sequence[float]], confidence: float, resamples: int, seed: str) -> MeanInterval:
    """Expanded percentile interval (Hesterberg 2015) of the mean over episodes, with tasks as the units that are drawn."""
    # sorted, so that the order in which tasks were played changes nothing
    tasks = [np.asarray(values_by_task[task], np.float64) for task in sorted(values_by_task) if len(values_by_task[task])]
    if not tasks:
        raise EtudeError("a mean over tasks needs at least one episode")
    units = tasks if len(tasks) > 1 else list(tasks[0].reshape(-1, 1))
    sums, sizes = np.array([unit.sum() for unit in units]), np.array([unit.size for unit in units])
    mean, count = float(sums.sum() / sizes.sum()), len(units)
    if count == 1:
        return MeanInterval(mean, mean, mean, clusters=1, clustered=False)
    stream = rng(seed, "bootstrap")
    drawn_sum, drawn_size = np.zeros(resamples), np.zeros(resamples)
    for _ in range(count):  # one unit for all resamples at a time: memory does not grow with the number of units
        unit = stream.uniforms(0, count, resamples).astype(np.intp)
        drawn_sum += sums[unit]
        drawn_size += sizes[unit]
    # plain percentiles are too narrow for few units: they divide by count, not count − 1, and take a t for a normal distribution
    tail = NORMAL.cdf(math.sqrt(count / (count - 1)) * student_quantile(_tail(confidence), count - 1))
    low, high = np.quantile(drawn_sum / drawn_size, [tail, 1 - tail])
    return MeanInterval(mean, float(low), float(high), clusters=len(tasks), clustered=len(tasks) > 1)


# ------------------------------------------------------------------------------------------------ paired tests


@dataclasses.dataclass(frozen=True)
class PairedTable:
    """Outcomes of two policies on the same episodes: the number of episodes where both, only a, only b or neither succeeds."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @classmethod
    def count(cls, pairs: Iterable[tuple[bool, bool]]) -> Self:
        """The table of pairs (success of a, success of b)."""
        outcomes = [(bool(a), bool(b)) for a, b in pairs]
        return cls(*(outcomes.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def episodes(self) -> int:
        """Number of episodes, each played by both."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def discordant(self) -> int:
        """Number of episodes where exactly one succeeds."""
        return self.only_a + self.only_b

    @property
    def correlation(self) -> float:
        """How outcomes go together, from −1 to 1 (φ); 0 where one of the two always or never succeeds, and so nothing can be seen of it."""
        margins = (self.both + self.only_a) * (self.only_b + self.neither) * (self.both + self.only_b) * (self.only_a + self.neither)
        return (self.both * self.neither - self.only_a * self.only_b) / math.sqrt(margins) if margins else 0.0

    def swapped(self) -> PairedTable:
        """The same episodes with a and b exchanged."""
        return PairedTable(self.both, self.only_b, self.only_a, self.neither)


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p of the hypothesis that a discordant pair favours either side with probability 1/2; 1 without any."""
    count = only_a + only_b
    ways = extremes = 1  # in which so many pairs, and so many or fewer, favour the weaker side
    for k in range(min(only_a, only_b)):
        ways = ways * (count - k) // (k + 1)
        extremes += ways
    return min(1.0, 2 * extremes / (1 << count))


def holm(values: Sequence[float]) -> list[float]:
    """Several p corrected for how many of them there are: one in twenty would seem significant by chance."""
    found, worst = list(values), 0.0
    for rank, k in enumerate(sorted(range(len(found)), key=lambda k: values[k])):
        worst = max(worst, min(1.0, (len(found) - rank) * values[k]))
        found[k] = worst
    return found


@dataclasses.dataclass(frozen=True)
class Anytime:
    """State of the anytime-valid test: ``decided_at`` counts pairs from 1 and stays None, as ``favours``, until it has decided."""

    e_value: float
    p_value: float
    decided_at: int | None
    favours: Literal["a", "b"] | None


def anytime(pairs: Iterable[tuple[bool, bool]], alpha: float = 0.05) -> Anytime:
    """A two-sided paired test that may be looked at after every pair (success of a, success of b) and stopped whenever one likes.

    A gambler who starts with 1 bets on the winner of each discordant pair, at fair odds, the share (wins so far + 1) / (all so far
    + 2) on each side. If neither policy is better the odds are fair whatever has happened before, so the wealth is a martingale;
    by Ville's inequality it ever reaches 1/alpha with probability at most alpha. The wealth after a and b wins is
    ∫ θ^a (1−θ)^b dθ / 2^−(a+b), a uniform mixture over all bets: it grows whichever side is the better one, however much.

    ``e_value`` is the wealth at the end, ``p_value`` one over the most it has been.
    """
    wins = {"a": 0, "b": 0}
    log_wealth = log_most = 0.0
    decided_at: int | None = None
    favours: Literal["a", "b"] | None = None
    for number, (a, b) in enumerate(pairs, start=1):
        if bool(a) == bool(b):
            continue
        winner: Literal["a", "b"] = "a" if a else "b"
        log_wealth += math.log(2 * (wins[winner] + 1) / (wins["a"] + wins["b"] + 2))
        wins[winner] += 1
        log_most = max(log_most, log_wealth)
        if decided_at is None and log_wealth >= -math.log(alpha):
            decided_at, favours = number, winner
    # e^700 is close to the largest float; more wealth than that says nothing more
    return Anytime(math.exp(min(log_wealth, 700.0)), math.exp(-log_most), decided_at, favours)


# ------------------------------------------------------------------------------------------------ how many episodes


def discordant_share(rate_a: float, rate_b: float, correlation: float) -> float:
    """The share of pairs with different outcomes, of two success rates and the correlation (φ) of outcomes, where they allow that one."""
    apart = rate_a * (1 - rate_b) + rate_b * (1 - rate_a)
    together = 2 * correlation * math.sqrt(rate_a * (1 - rate_a) * rate_b * (1 - rate_b))
    return min(max(apart - together, abs(rate_a - rate_b)), rate_a + rate_b, 2 - rate_a - rate_b)


def pairs_needed(rate_discordant: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Pairs of episodes with which :func:`mcnemar` finds ``difference`` at level ``alpha`` with probability ``power``; None for 0.

    ``rate_discordant`` is the fraction of pairs with different outcomes. Miettinen's formula with a continuity correction, because
    the exact test is the stricter one: without it, five wins to none would be promised to suffice (p = 0.06).
    """
    gap = abs(difference)
    if not gap <= rate_discordant + 1e-9 <= 1 + 1e-9:  # both are often quotients, rounded apart
        raise EtudeError(f"a difference of {difference} with {rate_discordant} of the pairs discordant; expected |difference| ≤ rate ≤ 1")
    if gap == 0:
        return None
    reach = _two_sided(1 - alpha) * math.sqrt(rate_discordant) + NORMAL.inv_cdf(power) * math.sqrt(max(0.0, rate_discordant - gap * gap))
    return math.ceil(((reach + math.sqrt(reach * reach + 4 * gap)) / (2 * gap)) ** 2)


# ------------------------------------------------------------------------------------------------ in words


def verdict(name_a: str, name_b: str, pairs: PairedTable, confidence: float = 0.95, power: float = 0.8) -> str:
    """What a comparison on the same episodes has shown, in a sentence or two that name the better policy first.

    A difference is significant if the exact McNemar p is below 1 − ``confidence``.
    """
    if pairs.episodes == 0:
        return f"{name_a} and {name_b} have no episodes in common: nothing can be said about their difference."
    if pairs.only_b > pairs.only_a:
        return verdict(name_b, name_a, pairs.swapped(), confidence, power)
    difference, low, high = newcombe_paired(pairs.both, pairs.only_a, pairs.only_b, pairs.neither, confidence)
    p = mcnemar(pairs.only_a, pairs.only_b)
    share = pairs.discordant / pairs.episodes
    episodes = f"{pairs.episodes:,} paired episode{'s' if pairs.episodes > 1 else ''}"
    interval = f"{100 * confidence:g} % interval {_points(low, pairs.episodes)} to {_points(high, pairs.episodes)}"
    details = f"{_percent(share)} of them with different outcomes; exact McNemar {_p_value(p)}"
    if pairs.discordant == 0:
        both = _percent(pairs.both / pairs.episodes)
        return (
            f"{name_a} and {name_b} never differ in {episodes} (both succeed in {both} of them; difference 0, {interval}"
            " percentage points): no significant difference."
        )
    if difference == 0:
        return (
            f"{name_a} and {name_b} succeed equally often in {episodes} (difference 0, {interval} percentage points; {details}):"
            " no significant difference."
        )
    gap = _points(difference, pairs.episodes) if difference >= 0.0005 else "less than 0.1"
    finding = f"{name_a} succeeds in {gap} percentage points more episodes than {name_b} ({interval}; {episodes}, {details})"
    if p < 1 - confidence:
        return f"{finding}: significant, in favour of {name_a}."
    needed = pairs_needed(share, difference, power, 1 - confidence)
    assert needed is not None  # the difference is not 0
    return (
        f"{finding}: not significant. About {_about(needed)} pairs would be needed for {_percent(power)} power at this difference,"
        f" {_about(needed - pairs.episodes)} more than there are."
    )


def _points(fraction: float, episodes: int) -> str:
    """A difference in percentage points; below 100 episodes, a single one weighs more than the first decimal."""
    text = f"{100 * fraction:.{1 if episodes >= 100 else 0}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f} %" if fraction == 0 or fraction >= 0.01 else f"{100 * fraction:.1g} %"


def _p_value(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _about(count: int) -> str:
    """Two digits: the difference this was computed from is known no better."""
    return f"{round(count, -max(0, len(str(count)) - 2)):,}"


def student_central(angle: float, freedom: int) -> float:
    """The probability that Student's t is, without its sign, below √freedom · tan(angle), for an angle from 0 to π/2.

    In closed form, for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, series = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        series += term
        term *= cosine * cosine * k / (k + 1)
    return (angle + sine * series) * 2 / math.pi if odd else sine * series


def student_quantile(probability: float, freedom: int) -> float:
    """Student's t below which a share ``probability`` (0 to 1, both excluded) of the distribution lies."""
    wanted = abs(1 - 2 * probability)
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_central(middle, freedom) < wanted else (low, middle)
    return math.copysign(math.sqrt(freedom) * math.tan(low), probability - 0.5)
