"""Instructions are read as the questions they ask: those of the original with its words, wrong ones not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_at_random import CARS, PAIR, SPACE, TOP, A, C, cat, place, same_tasks, trial_of, with_distractor
from hypothesis import given
from hypothesis import strategies as st

from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Count, Exist, Get, IsSame, NotSame, Select
from etude.decisions.operator import Operator
from etude.decisions.parse import parse
from etude.decisions.space import LOCATION, VIEW, SeenThing, standard_space
from etude.decisions.text import GRAMMARS, instruction
from etude.decisions.trial import Placed
from etude.names import EtudeError


@st.composite
def original_tasks(draw: st.DrawFn) -> DecisionGraph:
    """What the original can say without doubt: at most one and/or in each part of a switch."""
    frames = draw(st.integers(2, 12))
    select = st.builds(Select, st.integers(0, frames - 1))
    gets = {p: select.map(lambda s, p=p: Get(p, s)) for p in ("category", "identity", LOCATION, VIEW)}
    pairs = [st.tuples(g, g) for g in gets.values()] + [
        st.tuples(st.sampled_from(SPACE.values(p)).map(lambda v, p=p: Const(p, v)), gets[p]).flatmap(st.permutations)
        for p in ("category", LOCATION)
    ]
    atom = st.builds(lambda kind, pair: kind(*pair), st.sampled_from((IsSame, NotSame)), st.one_of(pairs))
    truth = st.one_of(atom, st.builds(And, atom, atom), st.builds(Or, atom, atom))
    plain = st.one_of(truth, *gets.values())
    once = st.builds(Switch, truth, plain, plain)
    node = draw(st.one_of(plain, once, st.builds(Switch, truth, once, plain), st.builds(Switch, truth, plain, once)))
    return DecisionGraph(node, frames)


@given(original_tasks(), st.booleans())
def test_the_original_grammar_is_read_again_where_it_leaves_no_doubt(task: DecisionGraph, anchored: bool) -> None:
    every = frozenset(range(task.frames))  # blank frames in a row are one there
    trial = trial_of((Placed(task),), more=every)
    text = instruction(trial, SPACE, "original", anchored=anchored)
    assert same_tasks(trial, parse(text, SPACE, "original"), text), text


@given(st.data(), st.sampled_from(GRAMMARS))
def test_broken_instructions_are_refused_with_their_place(data: st.DataObject, grammar: str) -> None:
    text = instruction(trial_of((Placed(data.draw(original_tasks())),)), SPACE, grammar)
    words = text.split(" ")
    at = data.draw(st.integers(0, len(words) - 1))
    odd = ["object", "if", "(", "with", "and", '"', "99999999999", "equals", "?", "delay,", "Wait.", "the", "\\", "task 1:", "İ", "\ud800"]
    words[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(odd), max_size=3))
    try:
        parse(" ".join(words), SPACE, grammar)
    except EtudeError as error:
        assert "\n" not in str(error)
        assert "at character" in str(error) or "at its end" in str(error)


# ------------------------------------------------------------------------------------------------ the original


def test_the_original_words_come_out_letter_by_letter() -> None:
    condition = IsSame(Const("category", "lighting"), cat(3))
    then = Or(IsSame(Const("category", "boats"), cat(2)), NotSame(place(0), Const(LOCATION, "bottom left")))
    trial = trial_of((Placed(DecisionGraph(Switch(condition, then, cat(5)), 6)),))
    assert instruction(trial, SPACE, "original") == (
        "observe object 1, delay, observe object 2, observe object 3, delay, observe object 4, if "
        "lighting equals category of object 2, then "
        "boats equals category of object 3 or location of object 4 not equals bottom left? else category of object 1?"
    )


def test_the_original_words_for_two_back() -> None:
    trial = trial_of(tuple(Placed(PAIR, start) for start in range(2)), more=frozenset(range(4)))
    for grammar in ("original", "exact"):
        assert instruction(trial, SPACE, grammar) == (
            "observe object 1, observe object 2, observe object 3, category of object 1 equals category of object 3? "
            "observe object 4, category of object 2 equals category of object 4?"
        )


def test_numbers_of_long_trials_are_right() -> None:
    root = And(IsSame(cat(1), cat(10)), IsSame(cat(11), cat(0)))  # last1 is part of last10 and last11: the original's fault
    trial = trial_of((Placed(DecisionGraph(root, 12)),), more=frozenset(range(12)))
    assert instruction(trial, SPACE, "original").endswith(
        "category of object 11 equals category of object 2 and category of object 1 equals category of object 12?"
    )


def test_the_original_delay_stands_for_any_number_of_blank_frames() -> None:
    task = DecisionGraph(IsSame(cat(5), cat(1)), 6)
    assert instruction(trial_of((Placed(task),)), SPACE, "original").startswith("observe object 1, delay, observe object 2, category")
    anchored = instruction(trial_of((Placed(DecisionGraph(IsSame(cat(4), cat(0)), 5)),)), SPACE, "original", anchored=True)
    assert parse(anchored, SPACE, "original") == (Placed(DecisionGraph(IsSame(cat(4), cat(0)), 5)),)


FIGURES = {
    "figure 6": (
        "observe object 1, observe object 2, delay, observe object 3, observe 4, location of object 3 "
        "equals location of object 2 or location "
        "of object 1 equals location of object 4?",
        [(Or(IsSame(place(1), place(3)), IsSame(place(4), place(0))), 0, 5)],
    ),
    "figure 7": (
        "observe object 1, observe object 2, observe object 3, observe 4, observe object 5, observe object 6, observe object 7, observe 8, "
        "if location of object 7 equals location of object 2 or location of object 8 equals location of "
        "object 4, then location of object 3 "
        "equals location of object 1? else location of object 6 equals location of object 5?",
        [
            (
                Switch(Or(IsSame(place(1), place(6)), IsSame(place(0), place(4))), IsSame(place(5), place(7)), IsSame(place(2), place(3))),
                0,
                8,
            )
        ],
    ),
    "figure 8": (
        "observe object 1, observe object 2, delay, observe object 3, observe 4, observe object 5, delay, "
        "observe object 6, observe object 7, "
        "if location of object 3 not equals top right and location of object 2 equals location of object "
        "5, then location of object 7 equals "
        "top left and location of object 6 equals location of object 4? else location of object 1?",
        [
            (
                Switch(
                    And(NotSame(place(5), Const(LOCATION, "top right")), IsSame(place(7), place(3))),
                    And(IsSame(place(0), Const(LOCATION, "top left")), IsSame(place(1), place(4))),
                    place(8),
                ),
                0,
                9,
            )
        ],
    ),
    "figure 9": (
        "observe object 1, observe object 2, category of object 2 not equals category of object 1? observe object 3,observe object 4 with "
        "location:, top left, category of object 4 equals couches or identity of object 3 equals identity "
        "of object 1? delay, observe object "
        "5, observe object 6, delay, observe object 7, identity of object 7 equals identity of object 6 and identity of object 4 equals "
        "identity of object 3?",
        [
            (NotSame(cat(0), cat(1)), 0, 2),
            (
                Or(
                    IsSame(cat(0), Const("category", "couches")),
                    IsSame(Get("identity", Select(1)), Get("identity", Select(3))),
                ),
                0,
                4,
            ),
            (
                And(
                    IsSame(Get("identity", Select(0)), Get("identity", Select(2))),
                    IsSame(Get("identity", Select(5)), Get("identity", Select(6))),
                ),
                2,
                7,
            ),
        ],
    ),
    "appendix A.5.1": (
        "observe object 1, observe object 2, location of object 1 not equal location: bottom left?",
        [(NotSame(place(1), Const(LOCATION, "bottom left")), 0, 2)],
    ),
    "appendix A.5.3": (
        "observe object 1, observe object 2, delay, observe object 3, observe object 4, observe object 5, "
        "if location of object 5 not equal "
        "location of object 2 , then location of object 1? else category of object 4 not equal tables or category of object 3 not equal "
        "couches?",
        [
            (
                Switch(
                    NotSame(place(0), place(4)),
                    place(5),
                    Or(NotSame(cat(1), Const("category", "tables")), NotSame(cat(2), Const("category", "couches"))),
                ),
                0,
                6,
            )
        ],
    ),
    "before the paper": (
        "observe object 1, observe object 2, if object of object 2 not equal object of object 1 , then "
        "category of object 1 , else location "
        "of object 2 ?",
        [(Switch(NotSame(Get("identity", Select(0)), Get("identity", Select(1))), cat(1), place(0)), 0, 2)],
    ),
}


@pytest.mark.parametrize("source", FIGURES)
def test_the_papers_own_instructions_are_understood(source: str) -> None:
    text, expected = FIGURES[source]
    found = parse(text, SPACE, "original")
    assert [(p.task.root, p.start, p.task.frames) for p in found] == expected


@pytest.mark.parametrize("source", ["figure 6", "figure 7", "figure 8"])
def test_the_papers_own_instructions_come_out_again(source: str) -> None:
    text, _ = FIGURES[source]
    assert instruction(trial_of(parse(text, SPACE, "original")), SPACE, "original") == text.replace(
        "observe 4", "observe object 4"
    ).replace("observe 8", "observe object 8")


def test_and_binds_tighter_than_or_in_the_original() -> None:
    d = IsSame(cat(1), cat(0))
    text = instruction(trial_of((Placed(DecisionGraph(And(Or(A, d), d), 3)),)), SPACE, "original")
    assert parse(text, SPACE, "original")[0].task.root == Or(A, And(d, d))
    assert parse(instruction(trial_of((Placed(DecisionGraph(Or(A, And(d, d)), 3)),)), SPACE, "original"), SPACE, "original")[
        0
    ].task.root == Or(A, And(d, d))


@pytest.mark.parametrize(
    ("root", "fault"),
    [
        (Exist(Select(0, (CARS,))), "Exist"),
        (Negation(A), "Not"),
        (Xor(A, A), "Xor"),
        (C, "Relative"),
        (Count((Select(0),)), "Count"),
        (cat(0, TOP), "Select with conditions"),
        (And(A, Switch(A, A, A)), "Switch"),
        (Switch(A, A, Const("category", "cars")), "Const"),
        (IsSame(Get("identity", Select(0)), Const("identity", "cars 1")), "constant identity"),
    ],
)
def test_the_original_refuses_what_it_has_no_words_for(root: Operator, fault: str) -> None:
    with pytest.raises(EtudeError, match=f"original grammar has no words for .*{fault}.*exact, fluent"):
        instruction(trial_of((Placed(DecisionGraph(root, 3)),)), SPACE, "original")


def test_the_original_refuses_conditions_between_tasks_and_other_names_of_distractors() -> None:
    pair = (Placed(PAIR), Placed(PAIR, 3, after=0, given="true"))
    with pytest.raises(EtudeError, match="depends on an answer"):
        instruction(trial_of(pair), SPACE, "original")
    with pytest.raises(EtudeError, match="cannot name a thing by its identity"):
        instruction(replace(with_distractor(), named=((2, "identity"),)), SPACE, "original")


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "at its end; expected a question"),
        ("observe object 1, delay", "at its end; expected a question"),
        ("category of object 1?", r"at character 1 \('category of object 1\?'\); expected a frame before the first question"),
        ("observe object 2, category of object 1?", r"at character 16 .*expected the number 1"),
        ("observe object 1, category of object 2?", r"at character 38 .*shown before \(1 to 1\)"),
        ("observe object 1, colour of object 1?", r"at character 19 .*unknown property 'colour'"),
        ("observe object 1, category of object 1 equals car?", r"at character 47 .*did you mean 'cars'"),
        ("observe object 1, cars equals boats?", r"at character 19 .*can be compared"),
        (
            "observe object 1, category of object 1 equals cars and category of object 1 equals cars or category of object 1 equals boats?",
            "'\\?'",
        ),
        ("observe object 1, category of object 1 equals location of object 1?", r"at character 19 .*category with location"),
        ("observe object 1 in frame 2, category of object 1?", r"at character 27 \('2, category.*expected frame 1"),
        ("observe object 1, (category of object 1 equals cars?", r"at character 52 .*expected '\)'"),
        ('observe object 1, category of object 1 equals "cars?', r"at character 47 .*quotation mark"),
        ("observe object 1, task 2: category of object 1?", r"at character 19 .*the numbers 1 to 1"),
        ("observe object 1, if the answer to task 1 is true, then do task 1: category of object 1?", "on another task"),
        ("task 2 begins, observe object 1, task 1: category of object 1?", "a question for task 2"),
        ("observe object 1, " + "not (" * 5000, "at most 64"),
        ("observe object 1, number of objects 1, 1?", "each at most once"),
    ],
)
def test_a_text_that_is_no_instruction_is_refused_where_it_goes_wrong(text: str, fault: str) -> None:
    with pytest.raises(EtudeError, match=fault):
        parse(text, SPACE)


def test_endless_chains_of_the_original_are_refused() -> None:
    chain = " and ".join(["category of object 1 equals cars"] * 5000)
    with pytest.raises(EtudeError, match=r"expected '\?'"):
        parse(f"observe object 1, {chain}?", SPACE, "original")


def test_unknown_grammars_are_refused() -> None:
    with pytest.raises(EtudeError, match="did you mean 'exact'"):
        instruction(trial_of((Placed(PAIR),)), SPACE, "exakt")
    with pytest.raises(EtudeError, match="did you mean 'fluent'"):
        parse("Wait.", SPACE, "fluently")


def test_trials_that_cannot_be_told_are_refused() -> None:
    trial = trial_of((Placed(PAIR),))
    with pytest.raises(EtudeError, match="looks 2 frames back, where no object is shown"):
        instruction(replace(trial, frames=((), (), trial.frames[2])), SPACE)
    with pytest.raises(EtudeError, match="task 1 does not lie within the 2 frames"):
        instruction(replace(trial, frames=trial.frames[:2]), SPACE)
    with pytest.raises(EtudeError, match="frame 3 tells its object from a distractor"):
        instruction(replace(with_distractor(), named=()), SPACE)
    with pytest.raises(EtudeError, match="frame 1 shows 2 objects"):
        instruction(replace(trial, frames=((SeenThing(0, 0), SeenThing(1, 1)), *trial.frames[1:])), SPACE)
    with pytest.raises(EtudeError, match=r"grid of \(2, 2\)"):
        instruction(trial, standard_space((3, 3)))
    with pytest.raises(EtudeError, match="not another task"):
        instruction(trial_of((Placed(PAIR, after=0, given="true"),)), SPACE)
