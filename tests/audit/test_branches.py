"""Cheats on conditions: at chance where outcomes are fair, found out where they are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import etude
from etude.audit.branches import BranchCase, branch_scores, branches
from etude.audit.scoring import corrected

TEXT = "If the colour of the cube is equal to red, then touch the heart, otherwise touch the star."


@pytest.fixture(scope="module")
def fair() -> list[list[BranchCase]]:
    return [list(branches(etude.episode(f"etudes/compose@train#{seed}?graph={TEXT}"))) for seed in range(40)]


def caught(episodes: list[list[BranchCase]]) -> set[str]:
    return {score.cheat for score in corrected(list(branch_scores(("compose", "train"), episodes))) if score.above}


def test_a_condition_holds_as_the_table_says(fair):
    for (case,) in fair:
        assert case.held is any(look == ("red", "cube") for look in case.looks)


def test_no_cheat_is_above_chance_where_words_and_outcomes_are_fair(fair):
    found = {score.cheat: score for score in branch_scores(("compose", "train"), fair)}
    assert set(found) == {"always the first branch", "only possible branch", "usual branch", "blind branch", "deaf branch"}
    assert not caught(fair) & {"always the first branch", "usual branch", "blind branch"}


def test_outcomes_that_lean_to_one_side_are_found_out(fair):
    leaning = [[replace(case, held=True) for case in each] for each in fair]
    assert {"always the first branch", "usual branch", "blind branch"} <= caught(leaning)


def test_words_that_give_the_outcome_away_are_found_out(fair):
    telling = [[replace(case, text=f"{case.text} {'Yes' if case.held else 'No'}") for case in each] for each in fair]
    assert "blind branch" in caught(telling) and "usual branch" not in caught(telling)


def test_tables_that_give_the_outcome_away_are_found_out(fair):
    """A red cube on the table is all that this one condition asks for: who always hears the same need not listen."""
    assert "deaf branch" in caught([[replace(case, looks=(("red" if case.held else "blue", "cube"),)) for case in each] for each in fair])


def test_goals_without_conditions_have_no_cases():
    assert not list(branches(etude.episode("etudes/compose@train#0?graph=Touch the cube.")))
    assert not list(branch_scores(("compose", "train"), [[], []]))
