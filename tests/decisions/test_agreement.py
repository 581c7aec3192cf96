"""The second opinion: an evaluator that shares nothing with the package says the same about every trial."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from agreement import faults, some_trials
from brute import in_colours

from etude.suites.iwisdm.benchmarks import LISTS, trial

WORLD = in_colours()


def test_trials_of_all_lists_and_combinations_have_the_right_answers() -> None:
    """Every list in every split; ``python tests/decisions/agreement.py 20000`` goes on for longer."""
    for one in islice(some_trials(), 3 * 2 * len(LISTS)):  # three splits, and random graphs in between
        assert list(faults(one, WORLD)) == [], one.name


def test_a_wrong_answer_is_noticed() -> None:
    one = trial("low", "val", 0)
    other = {"true": "false", "false": "true", "": ""}
    assert "the answers differ" in list(faults(replace(one, answers=tuple(other[a] for a in one.answers)), WORLD))


def test_an_object_that_is_changed_is_noticed() -> None:
    one = trial("perception_category_report", "val", 0)
    (thing,) = one.frames[0]
    changed = replace(one, frames=((replace(thing, item=(thing.item + 32) % 256),),))
    assert "the answers differ" in list(faults(changed, WORLD))
