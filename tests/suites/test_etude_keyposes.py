"""Études at a chest are played by keyposes too."""

from __future__ import annotations

import pytest
from every import every

import etude
from etude.envs.simulation import primitive_bounds
from etude.learn.keyposes import plain_keypose_source
from etude.names import EtudeError
from etude.suites.suite import SUITES


@every("name", [f"etudes/drawers-{level}@train#{seed}" for level in ("low", "medium", "high") for seed in range(3)])
def test_the_oracle_plays_them_by_keyposes(name):
    record = etude.rollout("oracle:action=keypose", name).record
    assert record.success, record.cause
    assert record.steps <= 40


def test_where_control_steps_are_told_the_hand_can_be_sent_to_keyposes():
    pick = etude.episode("clevrskills/pick@train#0")
    assert pick.spaces == ("ee_delta", "ee_pose", "joint", "keypose")
    sent = pick.under("keypose")
    assert (sent.control, sent.horizon, sent.budget) == ("keypose", pick.horizon // 25, pick.horizon)
    assert sent.under("joint").horizon == pick.horizon
    with pytest.raises(EtudeError, match="unknown action space of vima/rotate 'keypose'"):
        etude.episode("vima/rotate@train#0").under("keypose")


def test_a_suite_of_two_rooms_has_the_reach_and_the_views_of_each():
    table, chest = (etude.episode(f"etudes/{task}@train#0") for task in ("low", "drawers-low"))
    low, high = primitive_bounds(chest.under("keypose"))
    assert low[2] > 0.7 and high[2] < 1.8
    assert primitive_bounds(table.under("keypose"))[0][2] == 0.0
    views = SUITES["etudes"].two_views
    assert views(table.scene) == ("base", "hand_view") and views(chest.scene) == ("front", "wrist")


def test_keyposes_are_learned_where_the_oracle_has_them():
    source = plain_keypose_source("etudes")
    assert source.tasks == ("drawers-low", "drawers-medium", "drawers-high")
    source.refuse_misfits()
    found = source.unpacked(source.packed(1))
    assert len(found.labels) >= 3 and found.points.any(-1).mean() > 0.5
