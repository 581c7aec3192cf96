"""What ClevrSkills says: prompts as in the paper and as in its code, and sub-tasks that are said once, in words for what is done."""

from __future__ import annotations

import math
import re
from itertools import groupby

import pytest

import etude
from etude.envs.simulation import Simulation
from etude.goals.leaves import RotatedBy
from etude.names import EtudeError
from etude.policies.scripted import OraclePolicy
from etude.pose import multiply, yaw_quat
from etude.skills.subtasks import describe, leaves, vocabulary


def prompts(task: str, seed: int = 0) -> list[str]:
    found = []
    while True:
        try:
            found.append(etude.episode(f"clevrskills/{task}@test#{seed}?prompt={len(found)}").instruction)
        except EtudeError:
            return found


@pytest.mark.parametrize(
    ("task", "starts"),
    [
        ("place", ["Put {image:0} on {image:1}", "Place {image:0} on {image:1}"]),
        ("simple_manipulation", ["Put {image:0} on {image:1}", "Pick and place {image:0} on {image:1}"]),
        ("pick", ["Pick up the {image:0}", "Grab the {image:0}", "Lift the {image:0}"]),
    ],
)
def test_the_papers_words_come_first_and_those_of_the_code_are_there_too(task, starts):
    told = [one.template() for one in prompts(task)]
    assert told[0] == starts[0] and set(starts) < set(told)


def test_swapping_is_told_as_in_the_paper_first():
    manner = [re.search(r"(while|but) rotat", one.text)[1] for one in prompts("swap_rotate")]
    assert manner == ["but", "while"]


def test_sentences_begin_with_capitals_and_articles_fit():
    for task in ("novel_adj", "novel_noun", "novel_adj_noun"):
        for seed in range(25):
            told = etude.episode(f"clevrskills/{task}@test#{seed}").instruction.text
            assert all(sentence[0].isupper() for sentence in told.split(". ")), told
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", told), told


@pytest.mark.parametrize("task", ["rotate", "rotate_restore", "rotate_symmetry", "swap_rotate"])
def test_turning_is_said_in_words_and_means_that_turn(task):
    for seed in range(6):
        found = etude.episode(f"clevrskills/{task}@test#{seed}")
        degrees, direction = re.search(r"(\d+) degrees ([\w-]+)", found.instruction.text).groups()
        turns = [leaf for leaf in _leaves(found.goal) if isinstance(leaf, RotatedBy)]
        assert f"{degrees} degrees {direction}" in turns[0].words()
        sign = 1 if direction == "anti-clockwise" else -1
        start = found.scene.entity(turns[0].thing).pose
        assert turns[0].pose.rotation == pytest.approx(multiply(yaw_quat(sign * math.radians(int(degrees))), start.rotation))
        if task == "rotate_restore":
            other = {"clockwise": "anti-clockwise", "anti-clockwise": "clockwise"}[direction]
            assert turns[1].words().endswith(f"rotate it {degrees} degrees {other}") and turns[1].pose == start


def _leaves(goal):
    return [leaf for part in goal.parts() for leaf in _leaves(part)] or [goal]


def test_told_to_turn_another_thing_one_turns_it_where_it_stands():
    found = etude.episode("clevrskills/rotate@test#1")
    for meanings in vocabulary(found).values():
        leaf = meanings[0].leaf
        start = found.scene.entity(leaf.thing).pose
        thing = leaf.thing.rpartition(" ")[0]
        assert leaf.pose.position == start.position and describe(leaf, found.scene).startswith(f"Pick the {thing} and rotate it")
    assert len(vocabulary(found)) >= 2


def test_sub_tasks_speak_of_things_as_the_instruction_does_and_number_only_those_that_are_alike():
    pick, stack, balance = (etude.episode(f"clevrskills/{name}@train#0") for name in ("pick", "stack", "balance"))
    assert [describe(leaf, pick.scene) for leaf in leaves(pick.goal)] == [pick.instruction.text]
    told = [describe(leaf, stack.scene) for leaf in leaves(stack.goal)]
    pairs = [re.fullmatch(r"Place (the .*) on (the .*) without hitting anything else", text).groups() for text in told]
    assert stack.instruction.text == "Stack " + ", and ".join(f"{top} on {bottom}" for top, bottom in pairs)
    (both,) = (describe(leaf, balance.scene) for leaf in leaves(balance.goal))
    assert re.fullmatch(r"Balance the scale with (the yellow and purple stripe cylinder \d(, | and )?){4}", both)


@pytest.mark.parametrize(
    "name",
    [
        "stack@train#1", "stack_topple@train#1", "sort_stack@train#1", "stack@train#4", "stack_reversed@train#0", "stack_reversed@train#12",
        "stack_topple@train#0", "stack_topple@train#16", "stack_topple@train#19", "sort_stack@train#4", "sort_stack@train#12",
    ],
)  # fmt: skip
def test_no_sub_task_of_a_tower_is_said_again_when_the_tower_sways(name):
    simulation, oracle, said = Simulation(etude.episode(f"clevrskills/{name}")), OraclePolicy(), []
    oracle.reset("", (), simulation.episode.name)
    while not simulation.over:
        simulation.step(oracle.act({"simulation": simulation}))
        said.append(oracle.words[0])
    turns = [words for words, _ in groupby(said)]
    assert simulation.status.satisfied and len(turns) == len(set(turns)) > 1
