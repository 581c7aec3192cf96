"""VIMA's T2 and T4 to T9: when they count as done, when not, and that the oracle does them."""

from __future__ import annotations

import math

import pytest
from vima_episodes import DIFFICULTIES, TASKS, TASKS_AND_SPLITS, bodies, cast_of, episode, in_the_way, in_turn, leaves

import etude
from etude.envs.simulation import Simulation
from etude.evaluation.play import Players, play
from etude.goals.laying import Laid
from etude.pose import Pose
from etude.scene.scene import Body

FAR = (0.3, -0.42)


@pytest.mark.parametrize(("task", "split"), TASKS_AND_SPLITS)
def test_nothing_is_done_or_spoilt_before_anything_is_done(task, split):
    for difficulty in ("distracting", "extreme"):
        for seed in range(2):
            simulation = Simulation(episode(task, split, seed, difficulty=difficulty, failure="final"))
            assert not simulation.status.satisfied and not simulation.status.violated
            assert not any(n.status.satisfied for n in simulation.monitor.nodes() if isinstance(n.goal, Laid))


def moved_to(simulation: Simulation, poses: dict[str, tuple[float, float]], above: float = 0.0) -> None:
    """Set things elsewhere, upright, and let them come to rest."""
    simulation.world.teleport(
        {
            name: Pose((*place, simulation.world.pose(name).position[2] + above), simulation.world.pose(name).rotation)
            for name, place in poses.items()
        }
    )
    for _ in range(20):
        simulation.world.step()
        simulation.monitor.update()


@pytest.mark.parametrize("task", ["scene_understanding", "novel_adj", "novel_noun", "novel_adj_and_noun"])
def test_only_the_right_object_in_the_base_and_no_other_beside_it_counts(task):
    for seed in range(30):
        found = episode(task, TASKS[task][0], seed)
        (target,), _, others = cast_of(found)
        (leaf,) = leaves(found.goal, Laid)
        loose = [b for b in others if not b.fixed]
        if loose and math.dist(FAR, leaf.place) > 0.2:
            break
    simulation = Simulation(found)
    moved_to(simulation, {loose[0].name: leaf.place}, 0.1)
    assert not simulation.status.satisfied
    moved_to(simulation, {target.name: (leaf.place[0] + 0.04, leaf.place[1])}, 0.2)
    assert not simulation.status.satisfied  # the other one is still there
    moved_to(simulation, {loose[0].name: FAR})
    assert simulation.status.satisfied
    moved_to(simulation, {target.name: FAR}, 0.1)
    assert not simulation.status.satisfied

    strict = Simulation(episode(task, TASKS[task][0], seed, failure="final"))
    assert not strict.status.violated
    moved_to(strict, {loose[0].name: leaf.place}, 0.1)
    assert strict.status.violated


def test_an_object_left_where_a_distractor_lies_ends_the_episode_where_failure_is_final():
    for seed in range(30):
        found = episode("novel_noun", seed=seed)
        (target,), _, (other,) = cast_of(found)
        if not other.fixed:
            break
    x, y, _ = other.pose.position
    usual, strict = (Simulation(episode("novel_noun", seed=seed, **options)) for options in ({}, {"failure": "final"}))
    for simulation in (usual, strict):
        moved_to(simulation, {target.name: (x, y)}, 0.1)
    assert strict.status.violated and not usual.status.violated
    beside = Simulation(episode("novel_noun", seed=seed, failure="final"))
    moved_to(beside, {other.name: target.pose.position[:2]}, 0.1)  # the object itself was left nowhere
    assert not beside.status.violated


def rearranged(task: str, **options: str) -> tuple[Simulation, list[Laid], list[Body]]:
    """An episode with two objects or more and something in the way."""
    for seed in range(40):
        found = episode(task, "train", seed, difficulty="extreme", **options)
        moved, _, _ = cast_of(found)
        if len(moved) > 1:
            return Simulation(found), leaves(found.goal, Laid), in_the_way(found)
    raise AssertionError


def test_what_is_in_the_way_must_be_moved_before_a_rearrangement_counts():
    simulation, goals, blocking = rearranged("rearrange")
    assert len(blocking) == 2
    moved_to(simulation, {leaf.thing: leaf.place for leaf in goals}, 0.06)  # on top of what lies there
    assert not simulation.status.satisfied and simulation.status.progress > 0.5
    free = [(0.3, -0.4), (0.3, 0.4), (0.7, 0.4), (0.7, -0.4)]
    free = [p for p in free if all(math.dist(p, leaf.place) > 0.15 for leaf in goals)]
    moved_to(simulation, dict(zip([b.name for b in blocking], free, strict=False)))
    assert simulation.status.satisfied
    simulation.robot.grip(True)
    simulation.world.attach(blocking[0].name)
    simulation.monitor.update()
    assert not simulation.status.satisfied  # in the hand it is not out of the way


def test_without_mistakes_objects_may_not_be_put_on_what_is_in_the_way():
    simulation, goals, _ = rearranged("rearrange", failure="final")
    assert not simulation.status.violated
    moved_to(simulation, {leaf.thing: leaf.place for leaf in goals[: len(goals) // 2]}, 0.06)
    assert simulation.status.violated


def test_where_an_object_lies_counts_but_not_how_it_is_turned_and_only_when_it_is_its_own_place():
    for seed in range(40):
        found = episode("rearrange", seed=seed)
        if len(cast_of(found)[0]) == 2:
            break
    first, second = leaves(found.goal, Laid)
    simulation = Simulation(found)
    moved_to(simulation, {first.thing: second.place, second.thing: first.place})
    assert not simulation.status.satisfied
    moved_to(simulation, {first.thing: first.place, second.thing: (second.place[0] + 0.07, second.place[1])})
    assert simulation.status.satisfied


def test_what_was_once_rearranged_need_not_stay_there():
    for seed in range(40):
        found = episode("rearrange", seed=seed)
        if len(cast_of(found)[0]) == 2:
            break
    first, second = leaves(found.goal, Laid)
    simulation, start = Simulation(found), bodies(found)[first.thing].pose.position[:2]
    moved_to(simulation, {first.thing: first.place})
    moved_to(simulation, {first.thing: start})
    assert not simulation.status.satisfied
    moved_to(simulation, {second.thing: second.place})
    assert simulation.status.satisfied


def test_restoring_counts_only_after_rearranging():
    for seed in range(40):
        found = episode("rearrange_then_restore", seed=seed)
        if len(cast_of(found)[0]) == 2:
            break
    goals = leaves(found.goal, Laid)
    there, back = goals[:2], goals[2:]
    simulation = Simulation(found)
    moved_to(simulation, {leaf.thing: leaf.place for leaf in back})
    assert not simulation.status.satisfied  # they were there all the time
    moved_to(simulation, {there[0].thing: there[0].place})
    moved_to(simulation, {back[0].thing: back[0].place})
    assert not simulation.status.satisfied  # the other one has not been moved yet
    moved_to(simulation, {leaf.thing: leaf.place for leaf in there})
    assert not simulation.status.satisfied
    moved_to(simulation, {leaf.thing: leaf.place for leaf in back})
    assert simulation.status.satisfied


def test_an_object_turned_too_little_is_not_twisted():
    for seed in range(40):
        found = episode("twist", seed=seed)
        if len(cast_of(found)[0]) == 1:
            break
    (leaf,) = leaves(found.goal, Laid)
    start = bodies(found)[leaf.thing].pose
    simulation = Simulation(found)
    for off, right in ((20, False), (-20, False), (12, True)):
        simulation.world.teleport({leaf.thing: Pose.flat(*start.position, leaf.yaw + math.radians(off))})
        for _ in range(10):
            simulation.world.step()
            simulation.monitor.update()
        assert simulation.status.satisfied == right


# ---------------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize(("task", "split", "difficulty"), in_turn(TASKS, DIFFICULTIES))
def test_the_oracle_needs_as_few_actions_as_can_be(task, split, difficulty):
    """Every task on each of its splits and in each difficulty, not all of their pairs; ``etude evaluate`` plays those."""
    name = f"vima/{task}@{split}#{DIFFICULTIES.index(difficulty)}?difficulty={difficulty}"
    record, _ = play(Players("oracle"), name)
    assert record.outcome == "success" and record.steps == etude.episode(name).least


@pytest.mark.parametrize("name", ["rearrange_then_restore@train#1?difficulty=extreme", "twist@L3#1?angles=wide", "novel_adj@L2#0"])
def test_the_oracle_solves_it_in_small_steps_too(name):
    record, _ = play(Players("oracle:action=ee_delta"), f"vima/{name}")
    assert record.outcome == "success"
