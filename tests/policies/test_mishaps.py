"""The oracle that makes mistakes on purpose: it makes them, mends them, and in other episodes does what the oracle does."""

from __future__ import annotations

import json

import numpy as np
import pytest
from demo_fixtures import made, order

from etude.datasets.demos import acting
from etude.datasets.extra import extras
from etude.datasets.replaying import replay
from etude.evaluation.play import Players, play
from etude.library import episode
from etude.names import EtudeError

PLACE = "clevrskills/simple_manipulation@train"


@pytest.fixture(scope="module")
def clumsy():
    return Players("mishap:1:ee_delta")


def played(players, seed):
    record, course = play(players, f"{PLACE}#{seed}")
    return record, course, players.policy


def test_the_hand_comes_up_empty_and_takes_it_then(clumsy):
    record, course, policy = played(clumsy, 2)
    assert policy.kind == "grasp" and record.success and policy.taken
    plain, _ = play(Players("oracle"), f"{PLACE}#2")
    assert record.steps > plain.steps
    assert course.actions[policy.taken - 1][6] > 0 and course.simulation.episode == episode(f"{PLACE}#2")  # closed on nothing


def test_what_is_carried_is_dropped_and_picked_up_again(clumsy):
    record, course, policy = played(clumsy, 1)
    assert policy.kind == "drop" and record.success
    assert all(action[6] < 0 for action in course.actions[policy.taken - 6 : policy.taken])
    assert course.words[policy.taken][1].startswith("Pick")


def test_where_nothing_goes_wrong_it_is_the_oracle():
    cast = Players("mishap:0.3:ee_delta")
    for seed in range(20):
        cast.policy.reset("", (), f"{PLACE}#{seed}")
        if cast.policy.taken == 0:
            break
    own, oracles = play(cast, f"{PLACE}#{seed}")[1], play(Players("oracle"), f"{PLACE}#{seed}")[1]
    assert np.array_equal(own.actions, oracles.actions)


def test_about_the_share_that_was_asked_for_goes_wrong():
    policy = Players("mishap:0.3:ee_delta").policy
    wrong = 0
    for seed in range(300):
        policy.reset("", (), f"{PLACE}#{seed}")
        wrong += policy.taken is None
    assert 65 < wrong < 115


@pytest.mark.parametrize("name", ["vima/visual_manipulation@train#1", "himan/box_in_cupboard@train#0"])
def test_primitives_go_wrong_too(name):
    cast = Players("mishap:1:own")
    record, _ = play(cast, name)
    assert record.success and cast.policy.taken > 0 and record.steps > play(Players("oracle"), name)[0].steps


def test_a_data_set_states_how_many_begin_after_a_mistake(tmp_path):
    names = [f"{PLACE}#1", f"{PLACE}#2"]
    folder = made(order(names, policy=acting("oracle", None, "ee_delta", 1.0), size=(32, 32)), tmp_path / "set")
    assert json.loads((folder / "meta/etude.json").read_text())["recoveries"] == 2
    assert "2 of them begin where the oracle takes over" in (folder / "README.md").read_text()
    assert all(len(extra.arrays["lead"]) for extra in extras(folder)) and all(one.same for one in replay(folder))


def test_where_nothing_is_carried_the_hand_comes_up_empty_instead(tmp_path):
    """In seeds 0 and 3 a drop is drawn, for which picking gives no chance."""
    names = [f"clevrskills/pick@train#{seed}" for seed in (0, 3)]
    folder = made(order(names, policy=acting("oracle", None, "ee_delta", 1.0), size=(32, 32)), tmp_path / "set")
    about = json.loads((folder / "meta/etude.json").read_text())
    assert (len(about["episodes"]), about["recoveries"], about["failures"]) == (2, 2, [])


def test_shares_and_forms_that_make_no_sense_are_refused():
    for text, words in (("mishap:0:ee_delta", "share of mishaps"), ("mishap:0.5", "of the form"), ("mishap:0.5:ee_delt", "did you mean")):
        with pytest.raises(EtudeError, match=words):
            Players(text)
    with pytest.raises(EtudeError, match="for the oracle alone"):
        acting("random", None, "ee_delta", 0.5)
