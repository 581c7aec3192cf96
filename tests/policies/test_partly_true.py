"""Policies that are given a part of the truth."""

from __future__ import annotations

import numpy as np
import pytest

from etude.evaluation.play import Players, Rollout, play
from etude.names import EtudeError
from etude.policies.loading import load_policy

NAME = "himan/open_drawer@test#0"


def first(policy: str):
    return next(iter(Rollout(Players(policy), NAME))).action


@pytest.mark.parametrize(("part", "true", "own"), [("position", slice(0, 3), slice(3, 8)), ("rotation", slice(3, 7), [0, 1, 2, 7])])
def test_one_part_is_the_oracles_and_the_rest_the_policys(part, true, own):
    found, oracle, noop = (first(policy) for policy in (f"true:{part}:noop", "oracle", "noop"))
    assert np.array_equal(found[true], oracle[true])
    assert np.array_equal(found[own], noop[own])
    assert not np.array_equal(found, oracle)


def test_who_is_right_already_stays_right():
    record, _ = play(Players("true:position:true:rotation:oracle"), NAME)
    assert record.success


@pytest.mark.parametrize(("policy", "why"), [("true:position", "true:PART:POLICY"), ("true:posture:noop", "position")])
def test_what_makes_no_sense_is_refused(policy, why):
    with pytest.raises(EtudeError, match=why):
        load_policy(policy)


def test_other_actions_have_no_such_parts():
    with pytest.raises(EtudeError, match="pick_place"):
        next(iter(Rollout(Players("true:position:noop"), "vima/rotate@train#0")))
