"""What the oracle says while what it has done sways, rolls, or is lost."""

from __future__ import annotations

from itertools import groupby

import pytest

import etude
from etude.envs.simulation import Simulation
from etude.policies.scripted import OraclePolicy
from etude.pose import Pose
from etude.skills.aim import AWAY, Aim
from etude.skills.steady import SETTLING, SteadyWords

STEPS = ("clevrskills/stack@train#4", "clevrskills/stack_reversed@train#12", "clevrskills/sort_stack@train#4")


def acted(name: str, **options):
    """The simulation and the words of every step, played by the oracle one by one."""
    policy = OraclePolicy(**options)
    simulation = Simulation(etude.episode(name).under(policy.contract.action))
    policy.reset("", (), name)
    while not simulation.over:
        simulation.step(policy.act({"simulation": simulation}))
        yield simulation, policy.words


@pytest.mark.parametrize("name", STEPS)
def test_what_stands_is_not_picked_up_again_in_words(name):
    words = [(task, step) for _, (task, step) in acted(name) if step.startswith(("Pick", "Place"))]
    turns = [one for one, _ in groupby(words)]
    assert len(turns) == len(set(turns)) == 6  # three things are picked up and put down


@pytest.mark.parametrize("name", ["vlmbench/drop_color@train#0", "vlmbench/drop_color@train#6", "vlmbench/drop_relative@train#8"])
def test_nobody_says_move_to_the_top_of_a_pencil_that_was_let_go(name):
    steps = [step for step, _ in groupby(words[1] for _, words in acted(name, action="ee_delta"))]
    assert sum(step.startswith("Move to the top of") for step in steps) == 1 and steps[-1] == AWAY


def test_what_somebody_took_off_a_tower_is_said_again_when_it_has_stayed_away():
    """While the third thing is picked up, the second is put beside the tower: the oracle turns to it at once, and soon says so."""
    said, taken = [], 0
    for simulation, (task, _) in acted("clevrskills/stack@train#4"):
        said.append(task)
        _, second, third = simulation.monitor.root.members
        if not taken and task == third.goal.words():
            taken = len(said)
            simulation.world.teleport({second.goal.top: Pose.of((0.45, 0.35, 0.05))})
        if taken and len(said) == taken + 2 * SETTLING:
            break
    assert said[taken : taken + SETTLING] == [third.goal.words()] * SETTLING
    assert said[-1] == second.goal.words() and not second.status.satisfied


def test_words_stay_for_as_many_steps_as_there_is_patience_and_a_flicker_costs_none_of_it():
    aim, words = Aim(Pose(), False, task="a", step="x"), SteadyWords()
    other = Aim(Pose(), False, task="b", step="y")
    assert words.of(aim, 2).task == "a"
    assert [words.of(one, 2).task for one in (other, aim, other, other, other, aim)] == ["a", "a", "a", "a", "b", "b"]
    assert words.of(aim, 0).task == "a"
