"""Intervals cover what they promise, tests raise no more false alarms than they say, and verdicts read as the numbers do."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import binom, multinomial
from scipy.stats import t as student

from etude.evaluation import inference
from etude.evaluation.inference import (
    PairedTable,
    anytime,
    clustered_interval,
    mcnemar,
    newcombe_paired,
    paired_bootstrap,
    pairs_needed,
    verdict,
    wilson,
)
from etude.names import EtudeError

Interval = tuple[float, float]

counts = st.integers(0, 60)
confidences = st.floats(0.5, 0.999)
tables = st.builds(PairedTable, counts, counts, counts, counts).filter(lambda table: table.episodes > 0)
outcomes = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=200)
scores = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=3), st.lists(st.floats(-1, 1), min_size=1, max_size=6), min_size=2, max_size=6
)


@st.composite
def rates(draw: st.DrawFn) -> tuple[int, int]:
    """(successes, trials)"""
    trials = draw(st.integers(1, 500))
    return draw(st.integers(0, trials)), trials


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def cells(table: PairedTable) -> tuple[int, int, int, int]:
    return table.both, table.only_a, table.only_b, table.neither


def close(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return np.allclose(first, second, rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------------------ one rate


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(confidence: float) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for trials in (1, 7, 50, 1000):
        for successes in {0, 1, trials // 3, trials - 1, trials}:
            expected = proportion.proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
            assert close(wilson(successes, trials, confidence), expected)


def test_wilson_knows_nothing_without_trials() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(EtudeError, match="6 successes in 5 trials"):
        wilson(6, 5)


def test_wilson_covers_95_percent_where_the_textbook_interval_does_not() -> None:
    def textbook(successes: int, trials: int) -> Interval:
        rate = successes / trials
        half = 1.96 * math.sqrt(rate * (1 - rate) / trials)
        return rate - half, rate + half

    def coverages(interval: Callable[[int, int], Interval]) -> list[float]:
        low, high = np.array([interval(successes, 30) for successes in range(31)]).T
        return [binom.pmf(np.arange(31), 30, p)[(low <= p) & (p <= high)].sum() for p in np.linspace(0.05, 0.95, 91)]

    assert 0.945 < np.mean(coverages(wilson)) < 0.96
    assert min(coverages(wilson)) > 0.92
    assert min(coverages(textbook)) < 0.8


@given(rates(), confidences)
def test_wilson_contains_the_rate_and_stays_within_0_and_1(rate: tuple[int, int], confidence: float) -> None:
    low, high = wilson(*rate, confidence)
    assert 0 <= low <= rate[0] / rate[1] <= high <= 1


@given(rates(), confidences)
def test_wilson_rises_with_successes_widens_with_confidence_and_narrows_with_trials(rate: tuple[int, int], confidence: float) -> None:
    successes, trials = rate
    assume(successes < trials)
    low, high = wilson(successes, trials, confidence)
    assert wilson(successes + 1, trials, confidence) > (low, high)
    surer, broader = wilson(successes, trials, confidence + 0.0005)
    assert surer <= low and broader >= high and broader - surer > high - low
    more = wilson(2 * successes, 2 * trials, confidence)
    assert more[1] - more[0] < high - low


@given(rates())
def test_exchanging_success_and_failure_mirrors_wilson(rate: tuple[int, int]) -> None:
    low, high = wilson(*rate)
    assert close(wilson(rate[1] - rate[0], rate[1]), (1 - high, 1 - low))


# ------------------------------------------------------------------------------------------------ differences of two rates


# Fagerland, Lydersen & Laake, Statistical Analysis of Contingency Tables, chapter 8: Bentur et al. 2009, Cavo et al. 2012
@pytest.mark.parametrize(
    ("table", "published"), [((1, 1, 7, 12), (-0.286, -0.507, -0.026)), ((59, 6, 16, 80), (-0.0621, -0.1186, -0.0046))]
)
def test_newcombe_paired_agrees_with_published_examples(table: tuple[int, int, int, int], published: tuple[float, ...]) -> None:
    assert newcombe_paired(*table) == pytest.approx(published, abs=0.0005)


def test_newcombe_paired_covers_95_percent() -> None:
    n = 30
    possible = [(i, j, k, n - i - j - k) for i in range(n + 1) for j in range(n + 1 - i) for k in range(n + 1 - i - j)]
    _, low, high = np.array([newcombe_paired(*table) for table in possible]).T
    coverages = []
    for chances in generator(2).dirichlet([1, 1, 1, 1], size=200):
        truth = chances[1] - chances[2]
        coverages.append(multinomial.pmf(possible, n, chances)[(low <= truth) & (truth <= high)].sum())
    assert 0.945 < np.mean(coverages) < 0.96
    assert min(coverages) > 0.92


@given(tables, confidences)
def test_newcombe_paired_contains_the_difference_and_stays_within_minus_1_and_1(table: PairedTable, confidence: float) -> None:
    difference, low, high = newcombe_paired(*cells(table), confidence)
    assert -1 - 1e-12 <= low <= difference <= high <= 1 + 1e-12
    assert difference == (table.only_a - table.only_b) / table.episodes


@given(tables, confidences)
def test_swapping_a_and_b_flips_newcombe_paired(table: PairedTable, confidence: float) -> None:
    difference, low, high = newcombe_paired(*cells(table), confidence)
    assert close(newcombe_paired(*cells(table.swapped()), confidence), (-difference, -high, -low))


def test_differences_need_episodes() -> None:
    with pytest.raises(EtudeError, match="at least one pair"):
        newcombe_paired(0, 0, 0, 0)


# ------------------------------------------------------------------------------------------------ several tasks


def test_clustered_interval_covers_95_percent_when_tasks_differ_and_wilson_does_not() -> None:
    random, runs, covered, covered_unclustered = generator(3), 400, 0, 0
    for run in range(runs):
        difficulty = random.beta(2, 2, size=20)
        values = {f"task{i}": (random.random(20) < p).astype(float).tolist() for i, p in enumerate(difficulty)}
        interval = clustered_interval(values, resamples=1000, seed=str(run))
        low, high = wilson(sum(map(sum, values.values())), 400)
        covered += interval.low <= 0.5 <= interval.high
        covered_unclustered += low <= 0.5 <= high
    assert 0.92 < covered / runs < 0.98
    assert covered_unclustered / runs < 0.75


def test_paired_bootstrap_covers_95_percent_when_tasks_differ_and_episodes_alone_do_not() -> None:
    random, runs, covered, covered_unclustered = generator(4), 400, 0, 0
    for run in range(runs):
        sizes = random.integers(10, 30, size=15)
        advantage = random.normal(0.1, 0.25, size=15)  # of a over b, different in each task
        differences = {f"task{i}": random.normal(d, 0.5, size=n).tolist() for i, (d, n) in enumerate(zip(advantage, sizes, strict=True))}
        interval = paired_bootstrap(differences, resamples=1000, seed=str(run))
        pooled = paired_bootstrap({"all": [d for values in differences.values() for d in values]}, resamples=1000, seed=str(run))
        covered += interval.low <= 0.1 <= interval.high
        covered_unclustered += pooled.low <= 0.1 <= pooled.high
    assert 0.92 < covered / runs < 0.98
    assert covered_unclustered / runs < 0.8


def test_with_few_tasks_the_bootstrap_is_as_wide_as_students_interval_of_their_means() -> None:
    ratios = []
    for run in range(60):
        means = generator(run).normal(size=8)
        interval = paired_bootstrap({f"task{i}": [mean] * 3 for i, mean in enumerate(means)}, resamples=2000, seed=str(run))
        ratios.append((interval.high - interval.low) / (2 * student.ppf(0.975, 7) * means.std(ddof=1) / math.sqrt(8)))
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


def test_a_single_task_is_resampled_by_episode_and_says_so() -> None:
    differences = generator(5).normal(0.2, 1.0, size=100)
    interval = paired_bootstrap({"only": differences.tolist()}, seed="x")
    assert (interval.clustered, interval.clusters) == (False, 1)
    half = 1.984 * differences.std(ddof=1) / 10  # Student, 99 degrees of freedom
    assert (interval.low, interval.high) == pytest.approx((differences.mean() - half, differences.mean() + half), abs=0.02)


def test_several_tasks_are_clusters_and_empty_ones_do_not_count() -> None:
    interval = paired_bootstrap({"a": [1.0, 0.0], "b": [0.0], "c": [1.0], "none": []}, seed="x")
    assert (interval.clustered, interval.clusters, interval.mean) == (True, 3, 0.5)


@given(scores)
def test_paired_bootstrap_contains_the_mean_and_ignores_the_order_of_tasks(differences: dict[str, list[float]]) -> None:
    interval = paired_bootstrap(differences, resamples=500, seed="x")
    assert interval.low - 1e-12 <= interval.mean <= interval.high + 1e-12
    assert interval == paired_bootstrap(dict(reversed(differences.items())), resamples=500, seed="x")


@given(scores)
def test_swapping_the_runs_flips_paired_bootstrap(differences: dict[str, list[float]]) -> None:
    interval = paired_bootstrap(differences, resamples=500, seed="x")
    flipped = paired_bootstrap({task: [-d for d in values] for task, values in differences.items()}, resamples=500, seed="x")
    assert close((flipped.low, flipped.mean, flipped.high), (-interval.high, -interval.mean, -interval.low))


def test_equal_seeds_give_equal_bootstraps_and_other_seeds_do_not() -> None:
    differences = {f"task{i}": generator(i).normal(size=10).tolist() for i in range(12)}
    assert paired_bootstrap(differences, seed="x") == paired_bootstrap(differences, seed="x")
    assert paired_bootstrap(differences, seed="x") != paired_bootstrap(differences, seed="y")


def test_nothing_but_successes_is_not_certainty() -> None:
    interval = clustered_interval({"a": [1.0] * 10, "b": [1.0] * 10}, seed="x")
    assert (interval.low, interval.high) == wilson(20, 20)


def test_means_over_tasks_need_episodes() -> None:
    with pytest.raises(EtudeError, match="at least two paired episodes, got 1"):
        paired_bootstrap({"a": [1.0], "b": []}, seed="x")
    with pytest.raises(EtudeError, match="at least one episode"):
        clustered_interval({"a": []}, seed="x")
    one = clustered_interval({"a": [1.0]}, seed="x")
    assert (one.low, one.high) == wilson(1, 1)


# ------------------------------------------------------------------------------------------------ paired tests


def test_mcnemar_agrees_with_statsmodels() -> None:
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    for only_a in range(0, 30, 3):
        for only_b in range(0, 40, 3):
            if only_a + only_b:
                expected = contingency.mcnemar([[5, only_a], [only_b, 8]], exact=True).pvalue
                assert mcnemar(only_a, only_b) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_sees_nothing_without_discordant_pairs() -> None:
    assert mcnemar(0, 0) == 1.0


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_symmetric_and_falls_with_the_imbalance(only_a: int, only_b: int) -> None:
    assert mcnemar(only_a, only_b) == mcnemar(only_b, only_a)
    more, fewer = max(only_a, only_b), min(only_a, only_b)
    if fewer:
        assert mcnemar(more + 1, fewer - 1) < mcnemar(more, fewer)


@given(outcomes)
def test_a_table_counts_each_pair_once(pairs: list[tuple[bool, bool]]) -> None:
    table = PairedTable.count(pairs)
    assert table.episodes == len(pairs)
    assert table.both + table.only_a == sum(a for a, _ in pairs)
    assert table.both + table.only_b == sum(b for _, b in pairs)


@given(st.integers(0, 25), st.integers(0, 25), st.randoms(use_true_random=False))
def test_e_value_is_the_uniform_mixture_over_all_bets_in_any_order(only_a: int, only_b: int, random: Random) -> None:
    pairs = [(True, False)] * only_a + [(False, True)] * only_b + [(True, True)] * 3
    random.shuffle(pairs)
    likelihood, _ = integrate.quad(lambda theta: (2 * theta) ** only_a * (2 * (1 - theta)) ** only_b, 0, 1)
    assert anytime(pairs).e_value == pytest.approx(likelihood, rel=1e-6)


def test_peeking_after_every_pair_raises_false_alarms_with_mcnemar_but_not_anytime() -> None:
    runs, length = 1500, 250
    wins = generator(6).random((runs, length)) < 0.5
    alarms = np.mean([anytime((bool(a), not a) for a in run).decided_at is not None for run in wins])
    significant = np.array([[mcnemar(a, n - a) < 0.05 if a <= n else False for a in range(length + 1)] for n in range(length + 1)])
    peeked = np.mean(significant[np.arange(1, length + 1), wins.cumsum(axis=1)].any(axis=1))
    assert 0 < alarms <= 0.05
    assert peeked > 0.15


def test_anytime_finds_a_real_difference_soon_and_names_the_better_one() -> None:
    random, runs = generator(7), 300
    results = []
    for _ in range(runs):  # half of the pairs discordant, three of four for b
        draws = random.random(400)
        results.append(anytime([(bool(d < 0.125), bool(0.125 <= d < 0.5)) for d in draws]))
    assert np.mean([result.favours == "b" for result in results]) > 0.99
    assert np.median([result.decided_at or math.inf for result in results]) < 100


@given(outcomes)
@example([(True, False)] * 12)
def test_swapping_a_and_b_changes_only_whom_anytime_favours(pairs: list[tuple[bool, bool]]) -> None:
    result, swapped = anytime(pairs), anytime([(b, a) for a, b in pairs])
    assert (result.e_value, result.p_value, result.decided_at) == (swapped.e_value, swapped.p_value, swapped.decided_at)
    assert (result.favours, swapped.favours) in {(None, None), ("a", "b"), ("b", "a")}


@given(outcomes, outcomes)
def test_more_pairs_never_take_an_anytime_decision_back(pairs: list[tuple[bool, bool]], more: list[tuple[bool, bool]]) -> None:
    before, after = anytime(pairs, alpha=0.37), anytime(pairs + more, alpha=0.37)
    assert after.p_value <= before.p_value
    assert before.decided_at is None or (after.decided_at, after.favours) == (before.decided_at, before.favours)
    assert (after.decided_at is not None) == (after.p_value <= 0.37)


def test_anytime_decides_at_the_pair_where_wealth_reaches_one_over_alpha() -> None:
    streak = [(True, True)] + [(True, False)] * 8  # wealth 2^n / (n + 1): 18.3 after seven wins, 28.4 after eight
    assert anytime(streak[:-1]).decided_at is None
    decided = anytime(streak)
    assert (decided.decided_at, decided.favours) == (9, "a")
    assert decided.e_value == pytest.approx(256 / 9)
    assert decided.p_value == pytest.approx(9 / 256)


def test_anytime_survives_thousands_of_one_sided_pairs() -> None:
    result = anytime([(True, False)] * 5000)
    assert math.isfinite(result.e_value) and result.p_value == 0.0


# ------------------------------------------------------------------------------------------------ how many episodes


@pytest.mark.parametrize(("discordant", "difference"), [(0.2, 0.04), (0.2, 0.1), (0.5, 0.1), (0.5, -0.3), (0.1, 0.05)])
def test_pairs_needed_gives_mcnemar_its_power(discordant: float, difference: float) -> None:
    needed = pairs_needed(discordant, difference)
    assert needed is not None
    only_a, only_b = (discordant + difference) / 2, (discordant - difference) / 2

    def power(pairs: int) -> float:
        drawn = generator(8).multinomial(pairs, [only_a, only_b, 1 - discordant], size=4000)
        return float(np.mean([mcnemar(int(a), int(b)) < 0.05 for a, b, _ in drawn]))

    assert 0.78 < power(needed) < 0.84
    assert power(int(0.85 * needed)) < 0.78


def test_no_number_of_episodes_resolves_no_difference() -> None:
    assert pairs_needed(0.2, 0.0) is None


@given(st.floats(0.01, 1), st.floats(0.05, 0.95))
def test_smaller_differences_and_more_power_need_more_pairs(discordant: float, share: float) -> None:
    needed = pairs_needed(discordant, share * discordant)
    assert needed == pairs_needed(discordant, -share * discordant)
    smaller, surer = pairs_needed(discordant, 0.9 * share * discordant), pairs_needed(discordant, share * discordant, power=0.95)
    assert needed is not None and smaller is not None and surer is not None
    assert smaller >= needed and surer >= needed


def test_six_wins_to_none_are_the_fewest_that_resolve_anything() -> None:
    assert pairs_needed(1.0, 1.0) == 6
    assert mcnemar(6, 0) < 0.05 < mcnemar(5, 0)


def test_a_difference_beyond_the_discordant_pairs_is_refused() -> None:
    with pytest.raises(EtudeError, match=r"difference of 0\.3 with 0\.2"):
        pairs_needed(0.2, 0.3)


@given(tables)
def test_a_comparison_that_is_not_significant_always_asks_for_more_pairs_than_it_has(table: PairedTable) -> None:
    assume(table.only_a != table.only_b and mcnemar(table.only_a, table.only_b) >= 0.05)
    needed = pairs_needed(table.discordant / table.episodes, (table.only_a - table.only_b) / table.episodes)
    assert needed is not None and needed > table.episodes


# ------------------------------------------------------------------------------------------------ in words


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            PairedTable(250, 48, 32, 70),
            "A succeeds in 4.0 percentage points more episodes than B (95 % interval −0.4 to 8.4; 400 paired episodes, 20 % of them with "
            "different outcomes; exact McNemar p = 0.093): not significant. About 1,000 pairs would be needed for 80 % power at this "
            "difference, 630 more than there are.",
        ),
        (
            PairedTable(250, 32, 60, 58),
            "B succeeds in 7.0 percentage points more episodes than A (95 % interval 2.3 to 11.7; 400 paired episodes, 23 % of them with "
            "different outcomes; exact McNemar p = 0.0046): significant, in favour of B.",
        ),
        (
            PairedTable(5, 6, 0, 1),
            "A succeeds in 50 percentage points more episodes than B (95 % interval 12 to 73; 12 paired episodes, 50 % of them with "
            "different outcomes; exact McNemar p = 0.031): significant, in favour of A.",
        ),
        (
            PairedTable(250, 40, 40, 70),
            "A and B succeed equally often in 400 paired episodes (difference 0, 95 % interval −4.4 to 4.4 percentage points; 20 % of them "
            "with different outcomes; exact McNemar p = 1): no significant difference.",
        ),
        (
            PairedTable(300, 0, 0, 100),
            "A and B never differ in 400 paired episodes (both succeed in 75 % of them; difference 0, 95 % interval −0.7 to 0.7 percentage "
            "points): no significant difference.",
        ),
        (PairedTable(0, 0, 0, 0), "A and B have no episodes in common: nothing can be said about their difference."),
    ],
)
def test_verdict_says_what_was_found(table: PairedTable, words: str) -> None:
    assert verdict("A", "B", table) == words


def test_verdict_does_not_round_a_difference_to_nothing() -> None:
    assert "less than 0.1 percentage points more" in verdict("A", "B", PairedTable(6000, 401, 400, 3199))


@given(tables)
def test_swapping_the_policies_does_not_change_the_verdict(table: PairedTable) -> None:
    assume(table.only_a != table.only_b)
    words = verdict("A", "B", table)
    assert words == verdict("B", "A", table.swapped())
    assert words.startswith("A succeeds" if table.only_a > table.only_b else "B succeeds")
    assert "-" not in words


@given(tables)
def test_a_verdict_is_significant_exactly_when_mcnemar_is(table: PairedTable) -> None:
    assert ("significant, in favour of" in verdict("A", "B", table)) == (mcnemar(table.only_a, table.only_b) < 0.05)


def test_importing_inference_does_not_import_scipy() -> None:
    code = f"import sys, {inference.__name__}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
