"""Questions know exactly which answers they can have, and meet the one that is asked for."""

from __future__ import annotations

import pytest
from brute import World, all_answers

from etude.decisions.asking import Degenerate, Question
from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Exist, Get, IsSame, Match, NotSame, Relative, Select
from etude.decisions.meaning import answer
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import StimulusSpace, standard_space
from etude.names import EtudeError, Stream, rng

SMALL = StimulusSpace(  # so small that all there is can be gone through
    {"category": (0, 0, 1), "identity": (0, 1, 2)}, {"category": ("cups", "pots"), "identity": ("a", "b", "c")}, views=1, grid=(2, 1)
)
WORLD = World(
    [{"category": "cups", "identity": "a"}, {"category": "cups", "identity": "b"}, {"category": "pots", "identity": "c"}],
    ["row 1 column 1", "row 1 column 2"],
    columns=2,
)
PROPERTIES = ("category", "identity", "location")


def any_truth(stream: Stream, depth: int) -> Operator:
    """Any question that is true or false, sensible or not, about three frames."""
    if depth and stream.chance(0.6):
        kind = stream.choice((And, Or, Xor, Negation))
        return (
            Negation(any_truth(stream, depth - 1)) if kind is Negation else kind(any_truth(stream, depth - 1), any_truth(stream, depth - 1))
        )
    prop = stream.choice(PROPERTIES)
    first, second = stream.sample(range(3), 2)
    how = stream.integer(0, 4)
    if how == 0:
        return Relative(stream.choice(("left of", "right of")), Select(first), Select(second))
    constant = Const(prop, stream.choice(SMALL.values(prop)))
    if how == 1:
        return Exist(Select(first, (Match(prop, constant if stream.chance(0.5) else Get(prop, Select(second))),)))
    other = constant if how == 2 else Get(prop, Select(second))
    return stream.choice((IsSame, NotSame))(Get(prop, Select(first)), other)


def any_task(number: int) -> DecisionGraph:
    stream = rng(f"small/{number}", "task")
    if stream.chance(0.5):
        return DecisionGraph(any_truth(stream, 2), 3)
    ends = [any_truth(stream, 1) if stream.chance(0.5) else Get(stream.choice(PROPERTIES), Select(stream.integer(0, 2))) for _ in range(2)]
    return DecisionGraph(Switch(any_truth(stream, 1), *ends), 3)


def test_possible_answers_are_those_found_by_trying_everything() -> None:
    domain = Domain(SMALL)
    accepted = 0
    for number in range(150):
        task = any_task(number)
        found = all_answers(task.to_json(), WORLD)
        try:
            question = Question(task, SMALL, domain=domain)
        except Degenerate:
            continue
        accepted += 1
        assert set(question.answers) == set(found), task
    assert accepted > 50


def test_questions_with_one_answer_are_refused() -> None:
    alone = 0
    for number in range(300):
        task = any_task(number)
        if len(all_answers(task.to_json(), WORLD)) < 2:
            alone += 1
            with pytest.raises(Degenerate):
                Question(task, SMALL)
    assert alone >= 5


def test_the_wanted_answer_is_met() -> None:
    domain, stream = Domain(SMALL), rng("small", "things")
    for number in range(150):
        try:
            question = Question(any_task(number), SMALL, domain=domain)
        except Degenerate:
            continue
        for wanted in question.answers:
            things = question.things(wanted, stream)
            assert answer(question.task, [(things[f],) if f in things else () for f in range(3)], SMALL) == wanted


def category_of(when: int) -> Get:
    return Get("category", Select(when))


@pytest.mark.parametrize(
    "root",
    [
        Or(IsSame(category_of(1), category_of(0)), NotSame(category_of(1), category_of(0))),
        Or(NotSame(Get("identity", Select(1)), Get("identity", Select(0))), IsSame(category_of(1), category_of(0))),
        Switch(
            IsSame(Get("identity", Select(1)), Get("identity", Select(0))),
            IsSame(category_of(1), category_of(0)),
            IsSame(Get("location", Select(1)), Get("location", Select(0))),
        ),
        Switch(IsSame(category_of(1), Const("category", "cars")), category_of(1), category_of(0)),
    ],
    ids=["tautology", "tautology by identity", "a branch that is known", "an answer that is known"],
)
def test_trivial_questions_of_the_original_are_refused(root: Operator) -> None:
    with pytest.raises(Degenerate):
        Question(DecisionGraph(root, 2), standard_space())


def test_the_other_branch_says_something_else() -> None:
    space = standard_space()
    then, otherwise = (IsSame(Get(p, Select(1)), Get(p, Select(0))) for p in ("location", "category"))
    question = Question(DecisionGraph(Switch(IsSame(category_of(2), category_of(1)), then, otherwise), 3), space)
    for seed in range(40):
        things = question.things("true", rng(f"branches/{seed}", "things"))
        frames = [(things[f],) for f in range(3)]
        assert {answer(DecisionGraph(branch, 3), frames, space) for branch in (then, otherwise)} == {"true", "false"}


def test_only_one_part_of_an_and_is_false() -> None:
    space = standard_space()
    left, right = IsSame(category_of(3), category_of(2)), IsSame(category_of(1), category_of(0))
    question = Question(DecisionGraph(And(left, right), 4), space)
    for seed in range(40):
        things = question.things("false", rng(f"parts/{seed}", "things"))
        frames = [(things[f],) for f in range(4)]
        assert {answer(DecisionGraph(part, 4), frames, space) for part in (left, right)} == {"true", "false"}


def test_views_of_other_splits_are_not_shown() -> None:
    space = standard_space()
    question = Question(DecisionGraph(IsSame(category_of(1), category_of(0)), 2), space, domain=Domain(space, views=(3, 5)))
    stream = rng("views", "things")
    assert {t.view for _ in range(30) for t in question.things("true", stream).values()} == {3, 5}


def test_with_one_view_nothing_differs_in_view() -> None:
    space = standard_space(views=1)
    with pytest.raises(Degenerate):
        Question(DecisionGraph(IsSame(Get("view angle", Select(1)), Get("view angle", Select(0))), 2), space)


def test_an_impossible_answer_is_an_error_that_names_the_possible_ones() -> None:
    question = Question(DecisionGraph(IsSame(category_of(1), category_of(0)), 2), standard_space())
    with pytest.raises(EtudeError, match="unknown answer 'yes'"):
        question.things("yes", rng("x", "y"))


def test_contradictions_far_from_each_other_are_found_at_once() -> None:
    """Eight objects in pairs, one of which cannot be: the search must not go through all the others."""
    pairs = [IsSame(Get("identity", Select(2 * k + 1)), Get("identity", Select(2 * k))) for k in range(4)]
    hopeless = And(pairs[0], NotSame(category_of(1), category_of(0)))
    root = Or(And(pairs[1], pairs[2]), And(pairs[3], hopeless))
    with pytest.raises(Degenerate):
        Question(DecisionGraph(root, 8), standard_space())
