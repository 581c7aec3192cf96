"""Carrying things round a chest of drawers, and letting go of them beside others."""

from __future__ import annotations

import math

import pytest

import etude
from etude.envs.simulation import Simulation
from etude.names import rng
from etude.pose import Pose
from etude.skills.aim import delta_action
from etude.skills.keypose_motion import Keypose
from etude.skills.oracle import Oracle

CARRIED, STORING = "magenta can 4", "place the magenta can in the bottom drawer"
LOW = Pose((0.393007781, 0.06552764, 0.883380433), (0.0, -0.983394498, -0.181480746, 0.0))  # over the floor of that drawer


def carrying():
    """A can in the hand over the chest, about to be stored in its bottom drawer."""
    episode = etude.episode("etudes/drawers-medium@train#7")
    simulation = Simulation(episode)
    oracle = Oracle(episode, simulation.world, simulation.monitor)
    aim = oracle.aim()
    while aim.step != STORING:
        simulation.step(delta_action(aim, simulation.monitor.watch.tip))
        aim = oracle.aim()
    assert simulation.monitor.watch.between_fingers() == CARRIED
    return simulation


@pytest.mark.parametrize(("searches", "arrives"), [(1, False), (6, True)])
def test_with_several_searches_a_thing_is_carried_to_above_where_no_way_is_found_to(searches, arrives):
    """Straight there, it is swept off the hand by the chest."""
    simulation, journey = carrying(), Keypose(LOW, True, searches=searches).motion(rng("carry", "0"))
    while (aim := journey.aim(simulation.monitor.watch)) is not None:
        simulation.step(delta_action(aim, simulation.monitor.watch.tip))
    watch = simulation.monitor.watch
    assert (watch.between_fingers() == CARRIED) is arrives
    assert (math.dist(watch.tip.position, LOW.position) < 0.03) is arrives


@pytest.mark.parametrize("seed", [68, 84, 203, 244])
def test_fingers_that_let_go_do_not_touch_what_stands_beside(seed):
    """Each forbids to touch a thing that stands where something else is put."""
    record = etude.rollout("oracle", f"etudes/drawers-high@test#{seed}").record
    assert record.success, record.cause
