"""Tasks in time: where they begin, that all of them are answered as wanted, and that distractors change nothing."""

from __future__ import annotations

import pytest
from agreement import faults, without_distractors
from brute import right_actions

from etude.decisions.asking import asked
from etude.decisions.autotask import auto_question
from etude.decisions.balance import turn, unrepeated, wanted
from etude.decisions.compose import condition, interleave, laid_out, make_trial, overlap, queue
from etude.decisions.distract import Distraction, told_by
from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Or
from etude.decisions.looks import Get, IsSame, NotSame, Select
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import SeenThing, standard_space
from etude.decisions.trial import Placed, Trial
from etude.names import EtudeError, rng
from etude.suites.iwisdm.levels import LOW

DOMAIN = Domain(standard_space())
NAME = "test/made@val#0"


def same(prop: str, earlier: int, later: int = 0) -> Operator:
    return IsSame(Get(prop, Select(earlier)), Get(prop, Select(later)))


PAIR = DecisionGraph(same("category", 1), 2)
SPACED = DecisionGraph(same("category", 2), 3)


def made(tasks: DecisionGraph | tuple[Placed, ...], answers: object, seed: int = 0, **more: object) -> Trial:
    one = make_trial(NAME, tasks, DOMAIN, answers, rng(f"compose/{seed}", "trial"), **more)  # type: ignore[arg-type]
    assert list(faults(one)) == []
    return one


# ------------------------------------------------------------------------------------------------ where tasks begin


def test_queue_begins_each_task_after_the_one_before() -> None:
    assert [p.start for p in queue(PAIR, SPACED, PAIR, gap=1)] == [0, 3, 7]


def test_overlap_shares_objects() -> None:
    one = made(overlap(PAIR, PAIR, PAIR, starts=(0, 1, 2)), ["true", "false", "true"])
    assert one.answers == ("", "true", "false", "true")
    assert [len(things) for things in one.frames] == [1, 1, 1, 1]


def test_interleave_shares_none() -> None:
    one = made(interleave(SPACED, SPACED, starts=(0, 1)), ["false", "true"])
    assert one.answers == ("", "", "false", "true")


def test_condition_asks_for_the_chosen_task_only() -> None:
    for first, expected in (("true", ("", "true", "", "false")), ("false", ("", "false", "", "true"))):
        assert made(condition(PAIR, PAIR, DecisionGraph(same("location", 1), 2)), [first, "false", "true"]).answers == expected


def test_tasks_of_a_condition_may_end_on_different_frames() -> None:
    one = made(condition(PAIR, PAIR, SPACED), ["false", "true", "false"])
    assert one.answers == ("", "false", "", "", "false")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: laid_out(PAIR, PAIR, starts=(0, 0)), "tasks 1 and 2 would both be answered on frame 1"),
        (lambda: laid_out(SPACED, PAIR, SPACED, starts=(0, 4, 3)), "tasks 2 and 3 would both be answered on frame 5"),
        (lambda: overlap(SPACED, SPACED, starts=(0, 1)), "shares no object"),
        (lambda: interleave(PAIR, PAIR, starts=(0, 1)), "shares an object"),
        (lambda: interleave(PAIR, PAIR, starts=(0, 5)), "use queue"),
        (lambda: laid_out(PAIR, starts=(0, 1)), "1 tasks need 1 frames"),
        (lambda: laid_out(PAIR, starts=(-1,)), "begins on frame -1"),
        (lambda: condition(DecisionGraph(Get("category", Select(0)), 1), PAIR, PAIR), "answered with true or false"),
        (lambda: queue(), "at least one task"),
        (lambda: make_trial(NAME, PAIR, DOMAIN, ["true", "true"], rng("x", "y")), "1 tasks need 1 answers"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call: object, reason: str) -> None:
    with pytest.raises(EtudeError, match=reason):
        call()  # type: ignore[operator]


# ------------------------------------------------------------------------------------------------ answers


def test_all_wanted_answers_are_met_over_shared_objects() -> None:
    for seed in range(32):
        answers = ["true" if seed >> k & 1 else "false" for k in range(5)]
        one = made(overlap(*[PAIR] * 5, starts=range(5)), answers, seed)
        assert list(one.answers[1:]) == answers


def test_an_earlier_task_finds_another_way_for_a_later_one() -> None:
    """The first is true by category or by location; the second leaves only the location."""
    either = DecisionGraph(Or(same("category", 1), same("location", 1)), 2)
    later = DecisionGraph(same("category", 2, 1), 3)
    for seed in range(20):
        assert made(laid_out(either, later, starts=(0, 0)), ["true", "false"], seed).answers == ("", "true", "false")


def test_a_later_task_adapts_where_its_answer_is_impossible() -> None:
    opposite = DecisionGraph(NotSame(Get("category", Select(2)), Get("category", Select(1))), 3)
    tasks = laid_out(PAIR, opposite, starts=(0, 0))
    assert made(tasks, ["true", "true"]).answers == ("", "true", "false")
    with pytest.raises(EtudeError, match="cannot be answered with 'true'"):
        made(tasks, ["true", "true"], adapt=False)


def test_an_answer_that_no_task_has_is_an_error() -> None:
    with pytest.raises(EtudeError, match="unknown answer 'maybe'"):
        made(PAIR, "maybe")


def test_objects_that_are_given_are_kept() -> None:
    thing = SeenThing(17, 2, 5)
    assert made(PAIR, "true", given={0: thing}).frames[0] == (thing,)


def test_choices_are_what_the_tasks_can_answer() -> None:
    assert made(PAIR, "true").choices == ("true", "false")
    both = queue(PAIR, DecisionGraph(Get("location", Select(0)), 1))
    assert made(both, ["true", None]).choices == ("true", "false", "top left", "top right", "bottom left", "bottom right")


def test_empty_frames_stay_empty_and_silent() -> None:
    one = made(DecisionGraph(same("category", 4, 2), 6), "true")
    assert [len(things) for things in one.frames] == [0, 1, 0, 1, 0, 0]
    assert one.answers == ("", "", "", "", "", "true")


def test_same_stream_same_bytes() -> None:
    assert made(queue(PAIR, SPACED), [None, None], 3).to_json() == made(queue(PAIR, SPACED), [None, None], 3).to_json()


# ------------------------------------------------------------------------------------------------ distractors


def test_distractors_never_change_an_answer() -> None:
    for seed in range(40):
        stream = rng(f"distracted/{seed}", "task")
        task = auto_question(LOW, stream, DOMAIN).task
        one = made(task, None, seed, distraction=Distraction(time=2, frames=2, each=(1, 3)))
        assert any(t.distractor for things in one.frames for t in things)
        for fewer in without_distractors(one):
            assert right_actions(fewer.to_json()) == list(one.answers)


def test_frame_distractors_are_told_apart_by_what_is_not_asked() -> None:
    one = made(PAIR, "true", distraction=Distraction(frames=9, each=(3, 3)))
    assert one.named == ((0, "location"), (1, "location"))
    assert [len(things) for things in one.frames] == [4, 4]
    other = made(DecisionGraph(same("location", 1), 2), "true", distraction=Distraction(frames=1))
    assert [prop for _, prop in other.named] == ["category"]


def test_what_is_asked_is_not_given_away() -> None:
    space = standard_space()
    assert told_by({"identity"}, ("location", "category"), space) == ["location"]
    assert told_by({"identity", "location"}, ("location", "category"), space) == []


def test_taking_the_distractor_is_usually_wrong() -> None:
    task = DecisionGraph(Get("category", Select(0)), 1)
    wrong = 0
    for seed in range(50):
        one = made(task, "cars", seed, distraction=Distraction(frames=1))
        wrong += all(DOMAIN.space.of("category", t) != 2 for t in one.frames[0] if t.distractor)
    assert wrong == 50


def test_time_distractors_stand_on_empty_frames() -> None:
    one = made(DecisionGraph(same("category", 4), 5), "true", distraction=Distraction(time=2))
    assert sorted(len(things) for things in one.frames) == [0, 1, 1, 1, 1]
    assert one.named == ()


def test_a_crowd_larger_than_the_grid_is_refused() -> None:
    with pytest.raises(EtudeError, match="room for 1 to 3 distractors"):
        made(PAIR, "true", distraction=Distraction(frames=1, each=(1, 4)))


# ------------------------------------------------------------------------------------------------ turns


def test_every_option_has_its_turn_in_every_block() -> None:
    for block in range(20):
        assert {wanted("abcde", "list", 5 * block + k) for k in range(5)} == set("abcde")
    assert [turn("ab", "list", k)[1] for k in range(6)] == [0, 0, 1, 1, 2, 2]
    assert len({tuple(wanted("abcde", "list", 5 * block + k) for k in range(5)) for block in range(20)}) > 10


def test_nothing_is_repeated_before_all_have_been() -> None:
    assert sorted(unrepeated(range(50), "list", k) for k in range(50)) == list(range(50))


def test_a_question_is_remembered() -> None:
    assert asked(PAIR, DOMAIN, 0) is asked(DecisionGraph(same("category", 1), 2), DOMAIN, 0)
    assert asked(DecisionGraph(And(same("category", 1), same("location", 1)), 2), DOMAIN, 0) is not asked(PAIR, DOMAIN, 0)
