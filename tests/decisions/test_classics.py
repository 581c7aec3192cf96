"""Classic tasks are laid out as in the books, and every pattern of answers can be had."""

from __future__ import annotations

from itertools import product

import pytest
from agreement import faults

from etude.decisions.classics import contextual_decision, dual_match_to_sample, match_to_sample, n_back, samples_abbcca, samples_abcabc
from etude.decisions.compose import frames_of, make_trial
from etude.decisions.solver import Domain
from etude.decisions.space import standard_space
from etude.decisions.trial import Placed
from etude.names import EtudeError, rng

DOMAIN = Domain(standard_space())


@pytest.mark.parametrize("back", [1, 2, 3])
@pytest.mark.parametrize("step", [1, 2])
def test_n_back_compares_each_object_with_the_one_n_before(back: int, step: int) -> None:
    tasks = n_back(back, decisions=4, step=step)
    assert [sorted(frames_of(p)) for p in tasks] == [[k * step, (k + back) * step] for k in range(4)]
    assert [p.end for p in tasks] == [(k + back) * step for k in range(4)]


@pytest.mark.parametrize("prop", ["category", "location", "identity"])
def test_every_pattern_of_answers_is_possible_in_n_back(prop: str) -> None:
    tasks = n_back(2, prop, decisions=4)
    for number, answers in enumerate(product(("true", "false"), repeat=4)):
        one = make_trial("test/back@val#0", tasks, DOMAIN, answers, rng(f"back/{number}", "trial"), adapt=False)
        assert one.answers == ("", "", *answers)
        assert list(faults(one)) == []


@pytest.mark.parametrize(
    ("tasks", "frames"),
    [(samples_abcabc(), [(0, 6), (2, 8), (4, 10)]), (samples_abbcca(), [(0, 10), (2, 4), (6, 8)])],
    ids=["ABCABC", "ABBCCA"],
)
def test_samples_interlock(tasks: tuple[Placed, ...], frames: list[tuple[int, int]]) -> None:
    assert [tuple(sorted(frames_of(p))) for p in tasks] == frames
    assert [p.end for p in tasks] == [last for _, last in frames]


def test_the_delay_lies_between_sample_and_test() -> None:
    assert match_to_sample(delay=3).seen == (0, 4)
    assert dual_match_to_sample(delay=0, join="or").seen == (0, 1)


def test_context_decides_which_property_of_the_last_two_counts() -> None:
    task = contextual_decision("identity", "location", "category", delay=1)
    assert task.seen == (0, 2, 4)
    for answer, branch in product(("true", "false"), (True, False)):
        one = make_trial("test/context@val#0", task, DOMAIN, answer, rng("context", "trial"), branch=branch)
        first, second, third = (things[0] for things in one.frames if things)
        assert (first.item == second.item) is branch
        agree = second.location == third.location if branch else second.item // 8 == third.item // 8
        assert agree is (answer == "true")


def test_an_n_back_of_nothing_is_refused() -> None:
    with pytest.raises(EtudeError, match="at least 1"):
        n_back(0)
    with pytest.raises(EtudeError, match="unknown join 'nor'; did you mean 'or'"):
        dual_match_to_sample(join="nor")
