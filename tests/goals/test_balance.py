"""The balance scale: its physics, its goal, and the oracle that loads it."""

from __future__ import annotations

import math

import pytest

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals.balance import Balanced
from etude.library import episode
from etude.names import rng
from etude.pose import Pose
from etude.scene.scene import Body
from etude.scene.world import World
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.clevrskills.balancing import HEIGHT, LEAN, TOWER, block_heights

FOUR = "clevrskills/balance@train#3"  # 0.158, 0.158, 0.079 and 0.079 kg


def _goal(played: Episode) -> Balanced:
    assert isinstance(played.goal, Balanced)
    return played.goal


def _stack(world: World, blocks: dict[str, int]) -> None:
    """Put blocks on the plates, one upon the other."""
    poses, tops = {}, [world.pose(f"scale/plate {k}").position[2] + 0.0101 for k in (1, 2)]
    for name, side in blocks.items():
        body = world.scene.entity(name)
        assert isinstance(body, Body) and body.size is not None
        x, y, _ = world.pose(f"scale/plate {side + 1}").position
        poses[name] = Pose((x, y, tops[side] + body.size[2] / 2))
        tops[side] += body.size[2] + 1e-4
    world.teleport(poses)


def _wait(simulation: Simulation, seconds: float) -> None:
    for _ in range(round(seconds / 0.05)):
        simulation.step([0.0] * 6 + [-1.0])


def _play(simulation: Simulation) -> None:
    oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
    while not simulation.status.satisfied and simulation.steps < simulation.episode.horizon:
        simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))


def test_splits_are_those_that_weigh_the_same() -> None:
    goal = Balanced("scale", ("a", "b", "c"))
    assert goal.splits([0.1, 0.2, 0.3]) == [(0, 0, 1), (1, 1, 0)]
    assert goal.splits([0.1, 0.2, 0.3005]) == [(0, 0, 1), (1, 1, 0)]  # within 0.1 % of the total
    assert goal.splits([0.1, 0.2, 0.302]) == []


@pytest.mark.parametrize("count", [2, 3, 4])
def test_blocks_can_always_be_shared_out_in_towers_that_are_not_too_high(count: int) -> None:
    goal = Balanced("scale", tuple("abcd"[:count]))
    for seed in range(50):
        heights = block_heights(rng("balance", f"{count}/{seed}"), count)
        assert len(heights) == count and all(HEIGHT[0] <= h <= HEIGHT[1] for h in heights)
        assert sum(heights) / 2 <= TOWER + 1e-9
        assert goal.splits(heights)


def test_goal_survives_json() -> None:
    played = episode(FOUR)
    assert Episode.from_json(played.to_json()) == played


def test_balanced_blocks_satisfy_the_goal_at_once() -> None:
    simulation = Simulation(episode(FOUR))
    a, b, c, d = _goal(simulation.episode).blocks
    _stack(simulation.world, {a: 0, c: 0, b: 1, d: 1})
    _wait(simulation, 0.1)
    assert simulation.status.satisfied
    assert simulation.status.reward == 24.0
    assert abs(simulation.world.joint("scale/beam")) < math.radians(0.1)


def test_wrong_blocks_tip_the_scale_and_count_against_the_others() -> None:
    simulation = Simulation(episode(FOUR))
    a, b, c, d = _goal(simulation.episode).blocks
    _stack(simulation.world, {a: 0, b: 0, c: 1, d: 1})
    _wait(simulation, 2.0)
    assert simulation.world.joint("scale/beam") == pytest.approx(-LEAN, abs=math.radians(0.1))
    assert not simulation.status.satisfied
    memory = simulation.monitor.root.memory
    assert memory["standing"] == {a: 0, b: 0, c: 1, d: 1}
    assert len(_goal(simulation.episode).misplaced(memory["standing"], memory["wanted"])) == 2
    assert simulation.status.reward < 6.0  # two right, two wrong


def test_missing_blocks_leave_the_goal_open_even_in_balance() -> None:
    simulation = Simulation(episode(FOUR))
    a, b, _, _ = _goal(simulation.episode).blocks
    _stack(simulation.world, {a: 0, b: 1})
    _wait(simulation, 0.5)
    assert not simulation.status.satisfied
    assert 12.0 < simulation.status.reward < 15.0


def test_balanced_scale_comes_back_from_its_stop_within_five_seconds() -> None:
    simulation = Simulation(episode(FOUR))
    world = simulation.world
    a, b, c, d = _goal(simulation.episode).blocks
    world.teleport({}, {"scale/beam": LEAN, "scale/plate 1": -LEAN, "scale/plate 2": -LEAN})
    _stack(world, {a: 0, c: 0, b: 1, d: 1})
    _wait(simulation, 1.0)
    assert not simulation.status.satisfied  # still on its way
    _wait(simulation, 4.0)
    assert simulation.status.satisfied


@pytest.mark.parametrize("name", [FOUR, "clevrskills/balance@test#1"])
def test_oracle_balances_the_scale(name: str) -> None:
    simulation = Simulation(episode(name))
    _play(simulation)
    assert simulation.status.satisfied


def test_oracle_takes_wrong_blocks_off_first() -> None:
    simulation = Simulation(episode(FOUR))
    a, b, c, _ = _goal(simulation.episode).blocks
    _stack(simulation.world, {a: 0, c: 0, b: 0})
    _wait(simulation, 1.5)
    _play(simulation)
    assert simulation.status.satisfied
