"""Where episodes fail first, in words; and how far they come when goals are composed, conditional, or differ from episode to episode."""

from __future__ import annotations

import pytest
from run_fixtures import record

from etude.evaluation.record import Subgoal
from etude.evaluation.subgoals import failed_part, failure_groups, failure_words, funnels

PICK = "clevrskills/pick@test"


def part(path: str, kind: str, words: str = "", reached: int | None = None, violated: bool = False) -> Subgoal:
    return Subgoal(path, kind, words, reached is not None, 0.0 if reached is None else 1.0, violated, reached)


def composed(grasped: int | None, placed: int | None, end: int | None) -> tuple[Subgoal, ...]:
    steps = (part("goal.1", "Control", "Grasp the moon.", grasped), part("goal.2", "M1", "Put it on the other.", placed))
    return part("goal", "Composed", "", end), part("goal.0", "Piled", "", end), *steps


@pytest.mark.parametrize(
    ("grasped", "placed", "words"),
    [
        (None, None, "Grasp the moon: not reached"),
        (2, None, "Put it on the other: not reached"),
        (2, 5, "In the end: Put it on the other: not reached"),
    ],
)
def test_a_composed_goal_that_failed_as_a_whole_failed_at_its_first_open_step_or_at_its_end(grasped, placed, words):
    failed = record(f"{PICK}#0", False, subgoals=composed(grasped, placed, None), first_failure="goal")
    assert failure_words(failed) == words
    (funnel,) = funnels([failed])
    assert [s.words for s in funnel.steps if s.first_failures] == [words.removesuffix(": not reached")]


def test_a_group_with_words_of_its_own_is_told_by_them():
    subgoals = (part("goal", "Always", "stay clear", violated=True), part("goal.0", "Held", "hold", 3))
    assert failure_words(record(f"{PICK}#0", False, subgoals=subgoals, first_failure="goal")) == "stay clear: violated"


def test_what_was_done_and_lost_is_found_behind_what_still_holds():
    lost = Subgoal("goal.1", "OnTop", "stack b on c", False, 0.4, False, 31)
    subgoals = (part("goal", "All"), part("goal.0", "OnTop", "stack a on b", 9), lost)
    failed = record(f"{PICK}#0", False, subgoals=subgoals, first_failure="goal")
    assert failed_part(failed) == lost and failure_words(failed) == "stack b on c: reached at step 31, then lost"


def test_steps_count_as_reached_where_what_they_lead_to_was_and_the_end_stands_last():
    (funnel,) = funnels([record(f"{PICK}#0", True, subgoals=composed(2, None, 4))])
    assert [(s.path, s.reached) for s in funnel.steps] == [("goal.1", 1), ("goal.2", 1), ("goal.0", 1)]


def test_of_a_condition_only_the_branch_that_was_asked_for_counts():
    def branches(then: int | None, otherwise: int | None) -> tuple[Subgoal, ...]:
        return part("goal", "Conditional"), part("goal.0", "Touched", "touch a", then), part("goal.1", "Touched", "touch b", otherwise)

    won = record(f"{PICK}#0", True, subgoals=branches(5, None))
    lost = record(f"{PICK}#1", False, subgoals=branches(None, None), first_failure="goal.1")
    (funnel,) = funnels([won, lost])
    assert [(s.path, s.episodes, s.reached, s.first_failures) for s in funnel.steps] == [("goal.0", 1, 1, 0), ("goal.1", 1, 0, 1)]


def test_goals_that_differ_from_episode_to_episode_are_counted_by_kind():
    first = (part("goal", "All"), part("goal.0", "Touched", "Touch the red cube", 3), part("goal.1", "OnTop", "Place a on b"))
    second = (part("goal", "All"), part("goal.0", "OnTop", "Place c on d", 4), part("goal.1", "Touched", "Touch the blue bowl", 9))
    (funnel,) = funnels([record(f"{PICK}#0", False, subgoals=first, first_failure="goal.1"), record(f"{PICK}#1", True, subgoals=second)])
    assert funnel.by_kind
    assert [(s.words, s.episodes, s.reached, s.first_failures) for s in funnel.steps] == [
        ("Touch the …", 2, 2, 0),
        ("Place … on …", 2, 1, 1),
    ]


def test_sub_goals_of_one_kind_with_different_verbs_are_counted_apart():
    grasp = (part("goal", "All"), part("goal.0", "Control", "grasp the handle", 3), part("goal.1", "JointAt", "pull it open"))
    take = (part("goal", "All"), part("goal.0", "JointAt", "pull it open"), part("goal.1", "Control", "pick up the cup"))
    played = [record(f"{PICK}#{k}", False, subgoals=goal, first_failure=goal[1 + k].path) for k, goal in enumerate((grasp, take))]
    (funnel,) = funnels(played)
    assert {(s.words, s.reached) for s in funnel.steps} == {("grasp the handle", 1), ("pick up the cup", 0), ("pull it open", 0)}


def test_a_wrong_answer_is_told_as_one():
    asked = (part("task.0", "IsSame", "answer true, given false"), part("task.1", "IsSame", "answer true, given true", 5))
    wrong = record("iwisdm/low@val#0", False, subgoals=asked, first_failure="task.0")
    loud = record("iwisdm/low@val#1", False, subgoals=asked[1:], first_failure="silence")
    assert failure_words(wrong) == "wrong: answer true, given false" and failure_words(loud) == "Answered where nothing was asked"
    assert {(g.words, g.how) for g in failure_groups([wrong, loud])} == {
        ("Answer 1", "wrong answer"),
        ("Answered where nothing was asked", "wrong answer"),
    }
