"""Instructions say what is asked without doubt: read again, they are the tasks they were written for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_at_random import AWKWARD, CARS, PAIR, SPACE, TOP, A, B, C, as_read, cat, place, same_tasks, trial_of, trials, with_distractor
from hypothesis import given
from hypothesis import strategies as st

from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Count, Exist, Get, IsSame, Match, NotSame, Select
from etude.decisions.operator import Operator
from etude.decisions.parse import parse
from etude.decisions.space import LOCATION, VIEW, SeenThing
from etude.decisions.text import instruction, question
from etude.decisions.trial import Placed, Trial

# ------------------------------------------------------------------------------------------------ what always holds


@given(trials(SPACE), st.sampled_from(["exact", "fluent"]), st.booleans(), st.booleans())
def test_an_instruction_read_again_is_the_trial_it_was_written_for(trial: Trial, grammar: str, runs: bool, anchored: bool) -> None:
    text = instruction(trial, SPACE, grammar, runs=runs, anchored=anchored)
    assert same_tasks(trial, parse(text, SPACE, grammar), text), text


@given(trials(AWKWARD, 2), st.sampled_from(["exact", "fluent"]))
def test_names_that_read_like_questions_do_no_harm(trial: Trial, grammar: str) -> None:
    text = instruction(trial, AWKWARD, grammar)
    assert same_tasks(trial, parse(text, AWKWARD, grammar), text), text


@given(trials(SPACE, 2), trials(SPACE, 2), st.sampled_from(["exact", "fluent"]))
def test_different_questions_never_have_the_same_words(one: Trial, other: Trial, grammar: str) -> None:
    if instruction(one, SPACE, grammar) == instruction(other, SPACE, grammar):
        assert as_read(one.tasks, False) == as_read(other.tasks, False)


# ------------------------------------------------------------------------------------------------ the words themselves


WORDS = [
    (A, "category of object 1 equals category of object 3?", "Is the category of object 1 the same as the category of object 3?"),
    (
        NotSame(Const(LOCATION, "top left"), place(1)),
        "top left not equals location of object 2?",
        "Is the location of object 2 different from top left?",
    ),
    (B, "object 2 with category cars exists?", "Is there an object 2 with category cars?"),
    (C, "object 1 is left of object 3?", "Is object 1 to the left of object 3?"),
    (Get(VIEW, Select(0)), "view angle of object 3?", "What is the view angle of object 3?"),
    (
        Count((Select(2, (CARS,)), Select(1, (CARS,)), Select(0, (CARS,)))),
        "number of objects 1, 2, 3 with category cars?",
        "What is the number of objects 1, 2 and 3 with category cars?",
    ),
    (
        IsSame(Count((Select(2, (CARS,)), Select(0, (TOP,)))), Const("number", "1")),
        "number of (object 1 with category cars, object 3 with location top left) equals 1?",
        "Is the number of (object 1 with category cars, object 3 with location top left) equal to 1?",
    ),
    (
        And(Or(A, B), Negation(C)),
        "(category of object 1 equals category of object 3 or object 2 with category cars exists) and not (object 1 is left of object 3)?",
        "Is it true that both (the category of object 1 is the same as the category of object 3 or there is an object 2 with category cars "
        "or both) and (it is false that object 1 is to the left of object 3)?",
    ),
    (
        Xor(B, C),
        "object 2 with category cars exists xor object 1 is left of object 3?",
        "Is it true that either there is an object 2 with category cars or object 1 is to the left of object 3 but not both?",
    ),
    (
        Exist(Select(0, (Match("category", cat(1, TOP)), TOP))),
        "object 3 with category of (object 2 with location top left) with location top left exists?",
        "Is there an object 3 with the category of (object 2 with location top left) with location top left?",
    ),
    (
        Switch(B, Switch(C, cat(2), A), Const("category", "boats")),
        "if object 2 with category cars exists, then (if object 1 is left of object 3, then category of "
        "object 1? else category of object 1 "
        "equals category of object 3)? else category boats?",
        "If there is an object 2 with category cars, (if object 1 is to the left of object 3, what is the category of object 1? Otherwise, "
        "is the category of object 1 the same as the category of object 3?) Otherwise, answer category boats.",
    ),
    (
        IsSame(Switch(B, cat(2), cat(1)), cat(0)),
        "(if object 2 with category cars exists, then category of object 1? else category of object 2) equals category of object 3?",
        "Is (if there is an object 2 with category cars, then the category of object 1, otherwise the category of object 2) the same as "
        "the category of object 3?",
    ),
]


@pytest.mark.parametrize(("root", "exact", "fluent"), WORDS)
def test_every_operator_has_its_words(root: Operator, exact: str, fluent: str) -> None:
    trial = trial_of((Placed(DecisionGraph(root, 3)),), more=frozenset(range(3)))
    assert instruction(trial, SPACE) == f"observe object 1, observe object 2, observe object 3, {exact}"
    assert instruction(trial, SPACE, "fluent") == f"Look at object 1. Look at object 2. Look at object 3. {fluent}"
    for grammar in ("exact", "fluent"):
        assert same_tasks(trial, parse(instruction(trial, SPACE, grammar), SPACE, grammar), "")


def test_the_question_of_a_task_alone_numbers_its_own_objects() -> None:
    assert question(PAIR, SPACE) == "category of object 1 equals category of object 2?"
    assert question(PAIR, SPACE, "fluent") == "Is the category of object 1 the same as the category of object 2?"


def test_blank_frames_are_told_one_by_one_or_counted() -> None:
    trial = trial_of((Placed(DecisionGraph(IsSame(cat(5), cat(2)), 6)),))
    asked = "category of object 1 equals category of object 2?"
    assert instruction(trial, SPACE) == f"observe object 1, delay, delay, observe object 2, delay, delay, {asked}"
    assert instruction(trial, SPACE, runs=True) == f"observe object 1, delay for 2 frames, observe object 2, delay for 2 frames, {asked}"
    assert instruction(trial, SPACE, "fluent", runs=True, anchored=True) == (
        "Look at object 1 in frame 1. Wait for 2 frames. Look at object 2 in frame 4. Wait for 2 frames. "
        "Is the category of object 1 the same as the category of object 2?"
    )


def test_tasks_with_blank_frames_first_say_where_they_begin() -> None:
    alone = trial_of((Placed(DecisionGraph(cat(1), 4)),))
    assert instruction(alone, SPACE) == "delay, delay, observe object 1, delay, category of object 1?"
    late = trial_of((Placed(DecisionGraph(cat(1), 3), start=1),))
    assert instruction(late, SPACE) == "delay, task 1 begins, delay, observe object 1, delay, task 1: category of object 1?"


def test_a_task_can_depend_on_an_answer() -> None:
    first, second = Placed(PAIR), Placed(DecisionGraph(place(0), 1), 3, after=0, given="true")
    trial = trial_of((first, second, replace(second, task=DecisionGraph(cat(0), 1), given="false")))
    text = instruction(trial, SPACE)
    assert text == (
        "observe object 1, delay, observe object 2, task 1: category of object 1 equals category of object 2? observe object 3, "
        "if the answer to task 1 is true, then do task 2: location of object 3? "
        "if the answer to task 1 is false, then do task 3: category of object 3?"
    )
    assert parse(text, SPACE) == trial.tasks
    fluent = instruction(trial, SPACE, "fluent")
    assert fluent.endswith("If the answer to task 1 is false, do task 3: What is the category of object 3?")
    assert parse(fluent, SPACE, "fluent") == trial.tasks


def test_the_object_is_told_from_a_distractor() -> None:
    trial = with_distractor()
    question_of_both = "category of object 1 equals category of object 2?"
    assert instruction(trial, SPACE) == f"observe object 1, delay, observe object 2 at location top left, {question_of_both}"
    assert instruction(trial, SPACE, "original") == f"observe object 1, delay, observe object 2 at location: top left, {question_of_both}"
    assert "Look at object 2, the one at location top left." in instruction(trial, SPACE, "fluent")
    named = replace(trial, named=((2, "category"),))
    assert "observe object 2 with category cars, " in instruction(named, SPACE)
    assert "observe object 2 with category: cars, " in instruction(named, SPACE, "original")


def test_an_object_between_frames_that_matter_is_announced_like_others() -> None:
    trial = trial_of((Placed(PAIR),))
    shown = replace(trial, frames=(trial.frames[0], (SeenThing(3, 2, distractor=True),), trial.frames[2]))
    assert (
        instruction(shown, SPACE)
        == "observe object 1, observe object 2, observe object 3, category of object 1 equals category of object 3?"
    )


# ------------------------------------------------------------------------------------------------ speed


def test_trials_of_one_task_share_its_text() -> None:
    trial = trial_of((Placed(PAIR),))
    other = replace(trial, frames=((SeenThing(7, 1),), (), (SeenThing(30, 2),)))
    assert instruction(trial, SPACE) is instruction(other, SPACE)
