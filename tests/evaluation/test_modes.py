"""Who plans and who acts: the modes, and what the record says about which of the two failed first."""

from __future__ import annotations

import pytest

from etude.evaluation.guide import fault_of
from etude.evaluation.play import Players, play
from etude.evaluation.record import GivenSubtask, Record
from etude.library import episode, tasks
from etude.skills.subtasks import describe, right_now, vocabulary

STACK = "clevrskills/stack@train#0"


def played(mode, policy="oracle", planner="oracle", name=STACK, patience=150):
    return play(Players(policy, planner, patience=patience), name, mode)[0]


@pytest.mark.parametrize("name", ["stack", "sort", "neighbour", "rearrange", "swap", "stack_topple", "throw_sort", "follow_order_restore"])
@pytest.mark.parametrize("planner", ["rule", "oracle"])
def test_right_sub_tasks_carried_out_by_the_oracles_skills_solve_the_episode(name, planner):
    record = played("planner", planner=planner, name=f"clevrskills/{name}@train#2", patience=400)
    assert record.success and record.fault is None
    assert all(stage.right and stage.done for stage in record.stages)
    assert [s.begun for s in record.stages][1:] == [s.ended for s in record.stages][:-1]


def test_a_wrong_planner_is_blamed_and_what_it_says_is_really_done():
    record = played("planner", planner="oracle:wrong=1.0")
    assert not record.success and record.fault == "planning"
    assert not any(stage.right for stage in record.stages)
    assert any(stage.done for stage in record.stages)  # the wrong thing was built


def test_a_clumsy_policy_under_a_right_planner_is_blamed_for_its_execution():
    record = played("coupled", policy="noop")
    assert not record.success and record.fault == "execution"
    assert all(stage.right for stage in record.stages) and not any(stage.done for stage in record.stages)


def test_words_nobody_understands_are_not_acted_on():
    record = played("planner", planner="faulty:Wordless")
    assert record.fault == "planning" and {s.subtask for s in record.stages} == {"Dance!"}
    assert record.progress < 0.5


def test_the_policy_is_told_the_sub_task_where_a_planner_speaks():
    told = []

    class Listening:
        from etude.policies.contract import Contract

        contract = Contract()

        def reset(self, instruction, pictures, episode):
            told.append(instruction)

        def act(self, observation):
            told.append(observation["instruction"])
            return [0.0] * 7

    play(Players(Listening(), "rule"), STACK, "rule")
    whole = episode(STACK)
    assert told[0] == whole.instruction.text
    assert told[1] in vocabulary(whole) and told[1] != told[0]


def test_offline_a_planner_is_scored_on_the_oracles_frames():
    good, bad = played("offline"), played("offline", planner="oracle:wrong=1.0")
    assert good.success and good.fault is None
    assert not bad.success and bad.fault == "planning"
    assert [s.expected for s in good.stages] == [s.expected for s in bad.stages]
    assert len(good.stages) >= 2


def test_the_first_fault_decides():
    right_done = GivenSubtask("a", ("a",), True, True, 0, 5)
    right_open = GivenSubtask("a", ("a",), True, False, 5, 9)
    wrong = GivenSubtask("b", ("a",), False, True, 9, 12)
    assert fault_of([right_done, right_open, wrong], success=False) == "execution"
    assert fault_of([right_done, wrong, right_open], success=False) == "planning"
    assert fault_of([right_done], success=False) == "execution"
    assert fault_of([wrong, right_done], success=True) is None


@pytest.mark.parametrize("task", sorted(tasks("clevrskills")))
def test_every_task_can_be_said_in_words_that_are_told_apart(task):
    from etude.envs.simulation import Simulation
    from etude.policies.answers import strict

    found = episode(f"clevrskills/{task}@train#4")
    words = vocabulary(found)
    assert words and all(words) and not any("{" in w for w in words)
    now = right_now(Simulation(found).monitor)
    assert now and set(now) <= set(words)
    assert all(describe(node.goal) == text for text, node in now.items())
    assert all(strict(w, tuple(words)) == w for w in words)


def test_a_record_survives_its_line():
    record = played("planner", planner="oracle:wrong=0.5")
    assert Record.from_line(record.to_line()) == record
