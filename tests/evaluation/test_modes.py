"""Who plans and who acts: the modes, and what the record says about which of the two failed first."""

from __future__ import annotations

import functools

import pytest
from constructed import constructions, named
from every import every

from etude.envs.simulation import Simulation
from etude.evaluation.fault import fault_of
from etude.evaluation.guide import FEWEST
from etude.evaluation.hand import announced
from etude.evaluation.plan import Plan, refuse_foreign_modes
from etude.evaluation.play import Players, Rollout, play
from etude.evaluation.record import GivenSubtask, Record
from etude.evaluation.subgoals import failure_groups, failure_words
from etude.library import episode, tasks
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.skills.subtasks import describe, right_now, vocabulary

STACK = "clevrskills/stack@train#0"
DRAWER = "himan/put_in_without_close@test#0"
HALVES = ["grasp the bottom drawer handle", "pull the bottom drawer open", "pick up the block on the drawer's surface",
          "place the block in the bottom drawer"]  # fmt: skip


@functools.cache
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


@pytest.mark.parametrize("mode", ["coupled", "coupled:privileged"])
def test_a_clumsy_policy_under_a_right_planner_is_blamed_for_its_execution(mode):
    record = played(mode, policy="noop", name=DRAWER)
    assert not record.success and record.fault == "execution"
    assert all(stage.right for stage in record.stages) and not any(stage.done for stage in record.stages)
    assert (len(record.stages) == 1) == (mode == "coupled")  # nothing happened to the hand


class Snapping:
    """Closes its empty hand and opens it again, where it is."""

    contract = Contract(privileged=True)

    def __init__(self):
        self.told = []

    def reset(self, instruction, pictures, episode):
        self.told.append(instruction)

    def act(self, observation):
        robot = observation["simulation"].robot
        return [*robot.tip().position, *robot.tip().rotation, -1.0 if robot.closed else 1.0]


def test_the_rule_planner_goes_by_the_hand_and_knows_nothing_of_what_was_done():
    policy = Snapping()
    record = play(Players(policy), DRAWER, "rule")[0]
    assert [s.subtask for s in record.stages] == [HALVES[k % 4] for k in range(len(record.stages))]
    assert [s.ended - s.begun for s in record.stages] == [1] * len(record.stages)
    assert record.fault == "execution" and not any(s.done for s in record.stages)
    assert policy.told == [episode(DRAWER).instruction.text, *(s.subtask for s in record.stages[1:])]  # it is to forget what was


def test_the_arm_moves_home_when_the_hand_opens_and_that_costs_the_policy_nothing():
    rollout = Rollout(Players(Snapping()), DRAWER, "rule")
    record, words = rollout.record, [step for _, step in rollout.trajectory.words]
    homes = words.count("Move home")
    assert homes and record.steps == episode(DRAWER).horizon + homes
    opened = [k for k, action in enumerate(rollout.trajectory.actions) if action[-1] < 0 and words[k] != "Move home"]
    assert [k + 1 for k in opened if k + 1 < len(words)] == [k for k, word in enumerate(words) if word == "Move home"]
    again = Simulation(rollout.trajectory.episode)
    start = again.robot.tip().position
    for action in rollout.trajectory.actions[: words.index("Move home") + 1]:  # the same actions lead to the same places
        again.step(action)
    assert again.robot.tip().position == pytest.approx(start, abs=0.004)


@pytest.mark.parametrize("policy", ["oracle", "oracle:action=ee_delta"])
def test_under_the_rule_planner_the_oracles_skills_do_one_half_after_the_other(policy):
    record = played("rule", policy=policy, planner=None, name=DRAWER)
    assert record.success and [s.subtask for s in record.stages] == HALVES
    assert all(s.right and s.done and s.achieved for s in record.stages)


def test_the_oracle_obeys_a_planner_that_is_wrong():
    record = played("coupled", planner="oracle:wrong=1.0", name="himan/open_drawer@test#2")
    assert not record.success and record.fault == "planning"
    assert any(stage.done and not stage.right for stage in record.stages)  # another drawer was taken by its handle
    with pytest.raises(EtudeError, match="oracle:colour_blind mistakes a whole goal, but --mode coupled gives sub-tasks"):
        played("coupled", policy="oracle:colour_blind")


def test_a_rule_that_counts_changes_of_the_hand_is_refused_where_sub_tasks_have_others():
    with pytest.raises(EtudeError, match=r"--mode rule is for suites .* not for clevrskills; there, --mode rule:privileged"):
        refuse_foreign_modes(Plan("oracle", (STACK,), modes=("rule",)))
    refuse_foreign_modes(Plan("oracle", (DRAWER,), modes=("rule",)))


@pytest.mark.parametrize("name", ["vlmbench/pour_color@train#0", "vlmbench/wipe_color@train#0"])
def test_where_a_sub_task_ends_with_the_hand_as_it_was_the_next_begins_when_patience_ends(name):
    assert not announced(episode(name)) and announced(episode(DRAWER))
    record = played("rule", name=name)
    assert record.success and all(stage.right for stage in record.stages)
    assert record.stages[1].ended - record.stages[1].begun == FEWEST


def test_the_cause_of_a_failure_is_named_where_it_was_built_in():
    found = list(named("himan/box_exchange@test#2", 1))
    assert {kind for kind, _, _ in found} == set(constructions(1))
    assert [(kind, said) for kind, _, said in found] == [(kind, truth) for kind, truth, _ in found]


def test_words_nobody_understands_are_not_acted_on():
    record = played("planner", planner="faulty:Wordless")
    assert record.fault == "planning" and {s.subtask for s in record.stages} == {"Dance!"}
    assert record.progress < 0.5


def test_the_policy_is_told_the_sub_task_where_a_planner_speaks():
    told = []

    class Listening:
        contract = Contract.etude("ee_delta")

        def reset(self, instruction, pictures, episode):
            told.append(instruction)

        def act(self, observation):
            told.append(observation["instruction"])
            return [0.0] * 7

    play(Players(Listening()), STACK, "rule:privileged")
    whole = episode(STACK)
    assert told[0] == whole.instruction.text
    assert told[1] in vocabulary(whole) and told[1] != told[0]


def test_offline_a_planner_is_scored_on_the_oracles_frames():
    good, bad = played("offline"), played("offline", planner="oracle:wrong=1.0")
    assert good.success and good.fault is None
    assert not bad.success and bad.fault == "planning"
    assert [s.expected for s in good.stages] == [s.expected for s in bad.stages]
    assert len(good.stages) >= 2


def test_offline_nothing_is_said_of_a_world_in_which_the_oracle_acts():
    """It got everything done: the dirt is in the dustpan although the planner named the wrong thing every time."""
    record = play(Players("oracle", "oracle:wrong=1.0"), "himan/rubbish_in_dustpan@train#0", "offline")[0]
    assert record.progress == 1.0 and record.outcome == "failure" and record.fault == "planning"
    assert (record.cause, record.first_failure, record.unreachable) == (None, None, 0)
    count = len(record.stages)
    assert failure_words(record) == f"A sub-task was named wrongly: {count} of {count} answers"
    (group,) = failure_groups([record])
    assert (group.words, group.how) == ("A sub-task was named wrongly", "wrong answer")


def test_the_first_stage_whose_right_sub_task_was_never_done_decides():
    def stage(text, expected, achieved, steps=9):
        return GivenSubtask(text, (expected,), text == expected, achieved and text == expected, 0, steps, achieved=achieved)

    slow, then, wrong = stage("a", "a", False), stage("a", "a", True), stage("x", "b", False)
    assert fault_of([slow, then, wrong], False, 5) == "planning"
    assert fault_of([stage("x", "a", False), then, stage("b", "b", False)], False, 5) == "execution"  # the wrong one was made good
    assert fault_of([stage("x", "a", False), then, stage("b", "b", False, 4)], False, 5) == "planning"  # but took the time
    assert fault_of([slow, stage("x", "a", False)], False, 5) == "execution"
    assert fault_of([stage("x", "a", False), slow], False, 5) == "execution"  # the right thing was said too, and had time
    assert fault_of([stage("x", "a", False), stage("a", "a", False, 4)], False, 5) == "planning"
    assert fault_of([then], False, 5) == "execution" and fault_of([stage("x", "a", True)], False, 5) == "planning"
    assert fault_of([wrong, then], True, 5) is None


@every("task", sorted(tasks("clevrskills")))
def test_every_task_can_be_said_in_words_that_are_told_apart(task):
    from etude.policies.answers import strict

    found = episode(f"clevrskills/{task}@train#4")
    words = vocabulary(found)
    assert words and all(words) and not any("{" in w for w in words)
    now = right_now(Simulation(found).monitor)
    assert now and set(now) <= set(words)
    assert all(describe(node.goal, found.scene) == text for text, node in now.items())
    assert all(strict(w, tuple(words)) == w for w in words)


def test_a_record_survives_its_line():
    record = played("planner", planner="oracle:wrong=1.0")
    assert record.stages and Record.from_line(record.to_line()) == record
