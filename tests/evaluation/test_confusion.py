"""What was taken for what: planners' words, deeds of policies by themselves, and nothing of decisions."""

from __future__ import annotations

from typing import Any

from run_fixtures import record

from etude.evaluation.confusion import FINISHED, LONGEST, Confusion, confusions
from etude.evaluation.record import GivenSubtask, Subgoal

PICK, DRAWER = "clevrskills/pick@test", "himan/open_drawer@test"
RED, BLUE = "Pick up the red cube 1", "Pick up the dark blue swirl cube 2"


def given(subtask: str, *expected: str) -> GivenSubtask:
    return GivenSubtask(subtask, expected, subtask in expected, True, 0, 5)


def failed(seed: int, cause: str | None, **more: Any):
    subgoals = (Subgoal("goal", "Held", f"hold the {('red', 'blue')[seed % 2]} cube", False, 0.1, False, None),)
    return record(f"{PICK}#{seed}", False, subgoals=subgoals, first_failure="goal", cause=cause, **more)


def test_a_planners_words_are_counted_beside_what_was_right_without_the_looks_of_things():
    stages = (given(RED, BLUE), given("Let go", BLUE), given("Let go", RED), given(BLUE, BLUE), given("Let go"))
    silent = record(f"{DRAWER}#0", False, mode="coupled", stages=(given("", "go", "stay"),))
    played = [record(f"{PICK}#0", True, mode="coupled", stages=stages), silent]
    pick = "Pick up the … cube …"
    assert confusions(played) == [
        Confusion("clevrskills", "", True, pick, "Let go", 2, 4),
        Confusion("clevrskills", "", True, pick, f"{pick}, of another thing", 1, 4),
        Confusion("clevrskills", "", True, FINISHED, "Let go", 1, 1),
        Confusion("himan", "", True, "go or stay", "nothing", 1, 1),
    ]


def test_a_speech_is_cut_short():
    (row,) = confusions([record(f"{PICK}#0", True, mode="coupled", stages=(given("well " * 100, RED),))])
    assert row.instead.endswith("…") and len(row.instead) == LONGEST + 1


def test_deeds_are_causes_beside_the_part_of_the_goal_that_failed_first():
    played = [failed(0, "wrong thing grasped"), failed(1, "wrong thing grasped"), failed(2, "put elsewhere"), record(f"{PICK}#3", True)]
    assert confusions(played) == [
        Confusion("clevrskills", "pick", False, "hold the … cube", "wrong thing grasped", 2, 4),
        Confusion("clevrskills", "pick", False, "hold the … cube", "put elsewhere", 1, 4),
    ]


def test_no_row_where_nobody_knows_what_was_done_or_where_a_planner_spoke_rightly():
    stages = (given(RED, RED),)
    assert confusions([failed(0, None), failed(1, "put elsewhere", mode="coupled", stages=stages), record(f"{PICK}#2", "error")]) == []


def test_decisions_have_tables_of_answers_instead():
    subgoals = (Subgoal("task.0", "Is", "answer true, given false", False, 0.0, False, None),)
    assert confusions([record("iwisdm/low@val#0", False, subgoals=subgoals, first_failure="task.0", cause="wrong answer")]) == []
