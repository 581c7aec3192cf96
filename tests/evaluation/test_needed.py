"""How many episodes a claim needs: what is promised is kept in simulation, and what is known of pairs is used."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused, told
from run_fixtures import record, run_of

from etude.evaluation.inference import PairedTable, discordant_share, mcnemar
from etude.evaluation.needed import TYPICAL, episodes_needed
from etude.evaluation.store import Store
from etude.names import EtudeError

rates = st.floats(0.02, 0.98)


def table_of(rate_a: float, rate_b: float, correlation: float) -> list[float]:
    """Probabilities of both, only a, only b, neither."""
    apart = discordant_share(rate_a, rate_b, correlation)
    only_a, only_b = (apart + rate_a - rate_b) / 2, (apart - rate_a + rate_b) / 2
    return [rate_a - only_a, only_a, only_b, 1 - rate_a - only_b]


@given(rates, rates, st.floats(-1, 1))
def test_a_share_of_discordant_pairs_is_one_that_the_rates_allow(rate_a, rate_b, correlation):
    assert min(table_of(rate_a, rate_b, correlation)) > -1e-9


def test_the_share_of_a_table_comes_back_from_its_rates_and_its_correlation():
    table = PairedTable(250, 48, 32, 70)
    assert discordant_share(298 / 400, 282 / 400, table.correlation) == pytest.approx(80 / 400)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_so_many_episodes_show_the_difference_as_often_as_promised(correlation):
    draw = np.random.default_rng(0)
    known = PairedTable(*(round(100_000 * share) for share in table_of(0.5, 0.5, correlation)))
    plan = episodes_needed(0.1, 0.6, power=0.8, known=known)
    assert plan.rows[0].correlation == pytest.approx(correlation, abs=1e-3)
    played = draw.multinomial(plan.pairs, table_of(0.7, 0.6, correlation), size=3000)
    found = np.mean([mcnemar(only_a, only_b) < 0.05 for _, only_a, only_b, _ in played.tolist()])
    assert 0.77 < found < 0.85


def test_the_more_alike_outcomes_are_the_fewer_episodes_it_takes():
    alike = episodes_needed(0.05, known=PairedTable(50, 8, 10, 32))
    assert alike.baseline == 0.6
    measured, unrelated, nested = (row.pairs for row in alike.rows)
    assert nested < measured < unrelated and alike.pairs == measured
    plain = episodes_needed(0.05, 0.6)
    usual = plain.rows[1]
    assert plain.pairs == unrelated and [row.pairs for row in plain.rows] == [unrelated, usual.pairs, nested]
    assert usual.correlation == TYPICAL and nested < usual.pairs < unrelated and not plain.note


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (PairedTable(0, 0, 0, 20), "In all 20 pairs both runs fail"),
        (PairedTable(20, 0, 0, 0), "In all 20 pairs both runs succeed"),
        (PairedTable(0, 6, 0, 14), "In all 20 pairs one of the runs fails"),
        (PairedTable(12, 0, 8, 0), "In all 20 pairs one of the runs succeeds"),
    ],
)
def test_pairs_that_tell_nothing_are_said_to_and_not_counted_as_a_correlation(known, words):
    asked = episodes_needed(0.05, 0.6, known=known)
    assert asked.note.startswith(words) and "cannot be told" in asked.note
    assert asked.rows == episodes_needed(0.05, 0.6).rows


def test_at_a_rate_of_zero_there_is_one_row():
    """Every correlation would give the same: the share of pairs that differ is the difference."""
    for known in (None, PairedTable(0, 0, 0, 20)):
        found = episodes_needed(0.05, 0.0, known=known)
        (row,) = found.rows
        assert row.discordant == pytest.approx(0.05) and "0 or 100 % it makes no difference" in found.note
    (row,) = episodes_needed(0.3, 0.7).rows
    assert row.discordant == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"difference": 0.05}, "say the success rate that is to be beaten"),
        ({"difference": 0.0, "baseline": 0.5}, "the difference is not 0"),
        ({"difference": 0.5, "baseline": 0.6}, "a difference of 50 points from 60 % is not possible"),
        ({"difference": -0.5, "baseline": 0.4}, "a difference of -50 points from 40 % is not possible"),
        ({"difference": 0.1, "baseline": 0.4, "power": 80}, "a power of 80 at p < 0.05 is not possible"),
    ],
)
def test_a_claim_that_nothing_could_show_is_refused(arguments, words):
    with pytest.raises(EtudeError, match=words):
        episodes_needed(**arguments)


def test_rates_that_come_from_runs_are_told_with_three_digits():
    assert "that one succeeds in 16.1 % and the other in 11.1 % (exact" in str(episodes_needed(0.05, 1 / 9))


def test_the_command_says_it_in_words_and_as_data(capsys, monkeypatch):
    asked = ("plan", "--difference", "5", "--baseline", "60", "--power", "0.8")
    said = told(capsys, monkeypatch, *asked)
    data = json.loads(told(capsys, monkeypatch, *asked, "--json"))
    assert data["pairs"] == data["rows"][0]["pairs"] == episodes_needed(0.05, 0.6).pairs
    assert f"{data['pairs']:,} episodes, played by both, show with 80 % power that one succeeds in 65 % and the other in 60 %" in said
    assert "as alike as once measured" in said and "makes no difference" in told(capsys, monkeypatch, "plan", "--baseline", "0")
    assert "say the success rate that is to be beaten (--baseline 60)" in refused(capsys, monkeypatch, "plan")


def test_two_runs_tell_how_alike_outcomes_are_and_a_comparison_how_many_more(capsys, monkeypatch, tmp_path):
    solved = {"mine": set(range(18)), "theirs": {*range(14), 18}}
    for name, seeds in solved.items():
        made = run_of([record(f"clevrskills/pick@test#{k}", k in seeds) for k in range(30)], tmp_path / name, name)
        with Store(made.folder, made.plan) as store:
            store.write_info(made.info)
            for one in made.records:
                store.add(one)
    folders = [str(tmp_path / name) for name in solved]
    planned = json.loads(told(capsys, monkeypatch, "plan", *folders, "--difference", "10", "--json"))
    assert planned["baseline"] == 0.5
    assert planned["rows"][0]["correlation"] == pytest.approx(PairedTable(14, 4, 1, 11).correlation)
    overall = json.loads(told(capsys, monkeypatch, "compare", *folders, "--json"))["overall"]
    assert overall["pairs"] + overall["more"] == planned["pairs"]
    assert overall["more"] == 118 and "About 150 pairs would be needed for 80 % power at this difference, 120 more than there are" in told(
        capsys, monkeypatch, "compare", *folders
    )
    assert "got 1" in refused(capsys, monkeypatch, "plan", folders[0])
