"""What is scored without doing the task, and that the report would notice a list that gives answers away."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from etude.decisions.compose import actions
from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import Or, Switch
from etude.decisions.looks import Get, IsSame, Select
from etude.decisions.meaning import answer
from etude.decisions.shortcuts import answers_due, report
from etude.decisions.showing import domain_of
from etude.decisions.space import SeenThing
from etude.decisions.trial import Placed, Trial
from etude.names import rng
from etude.suites.iwisdm.benchmarks import trial

DOMAIN = domain_of("procedural", "val")


@functools.cache
def trials_of(task: str) -> list[Trial]:
    return [trial(task, "val", seed) for seed in range(400)]


def scores(trials: list[Trial]) -> dict[str, float]:
    return {row.name: row.score for row in report(trials, DOMAIN)}


@pytest.mark.parametrize(
    "task", ["low", "medium", "high", "high_category", "low_balanced", "high_balanced", "contextual_decision", "two_back", "condition"]
)
def test_no_shortcut_pays_more_than_it_must(task: str) -> None:
    for row in report(trials_of(task), DOMAIN):
        assert row.applies < 200 or row.excess <= 0.05, row  # of fewer, so little is noise


def test_the_original_levels_leave_more() -> None:
    """0.75 for ignoring the condition and 0.8 for half a conjunction there; 0.5 and 0.75 are the least there can be."""
    medium = scores(trials_of("medium"))
    low = scores(trials_of("low"))
    assert max(medium["always then"], medium["always else"]) <= 0.55
    assert (low["first part"] + low["second part"]) / 2 <= 0.77


def at_random(task: DecisionGraph, seed: int) -> Trial:
    """A trial with any objects, as one gets them without asking for an answer."""
    stream = rng(f"careless/{seed}", "objects")
    frames = tuple((SeenThing(stream.integer(0, 255), stream.integer(0, 3), 4),) for _ in range(task.frames))
    placed = (Placed(task),)
    said = answer(task, frames, DOMAIN.space)
    assert said is not None
    return Trial(f"test/careless@val#{seed}", placed, frames, actions(placed, [said], task.frames), ("true", "false"))


def same(prop: str, earlier: int, later: int) -> IsSame:
    return IsSame(Get(prop, Select(earlier)), Get(prop, Select(later)))


@pytest.mark.parametrize("task", ["match_to_sample_identity", "two_back_identity", "low_identity"])
def test_identity_is_told_neither_by_colour_nor_by_category(task: str) -> None:
    found = scores(trials_of(task))
    assert max(found["colour"], found["category"], found["colour and category"]) < 0.56


def test_identities_that_a_colour_tells_are_noticed() -> None:
    """The same questions with objects whose colour is that of the number of their identity: as if each wore one of its own."""
    colours = len(DOMAIN.space.values("colour"))

    def painted(one: SeenThing) -> SeenThing:
        which = one.item // colours
        return replace(one, item=which * colours + which % colours)

    told = [replace(one, frames=tuple(tuple(map(painted, frame)) for frame in one.frames)) for one in trials_of("match_to_sample_identity")]
    found = scores(told)
    assert found["colour"] > 0.85 and found["colour and category"] > 0.85


def test_a_mixture_is_bound_as_its_parts_are() -> None:
    """Half of these questions are answered on the only frame there is, and the other half cannot be answered from it."""
    rows = {row.name: row for row in report([trial("perception", "val", seed) for seed in range(64)], DOMAIN)}
    assert (rows["last frame"].score, rows["last frame"].floor) == (0.75, 0.5)
    assert rows["last frame"].excess == pytest.approx(0)


def test_the_moment_of_the_second_answer_does_not_tell_the_first() -> None:
    from etude.policies.chat_decider import questions

    for one in trials_of("condition"):
        first, then, otherwise = one.tasks
        assert first.end < then.end == otherwise.end == len(one.frames) - 1
        assert questions(one)[-1] == one  # nothing is cut


def test_a_careless_list_is_noticed() -> None:
    tasks = DecisionGraph(Switch(same("category", 5, 4), same("location", 3, 2), Or(same("category", 1, 0), same("location", 1, 0))), 6)
    found = scores([at_random(tasks, seed) for seed in range(300)])
    assert found["majority"] > 0.6 and found["text"] > 0.6
    assert found["always else"] > 0.9
    assert found["first part"] > 0.75


def test_a_last_frame_that_tells_is_noticed() -> None:
    shown = [trial("perception_category_report", "val", seed) for seed in range(64)]
    assert scores(shown)["last frame"] == 1.0
    hidden = [trial("memory_category_report", "val", seed) for seed in range(64)]
    assert scores(hidden)["last frame"] == pytest.approx(1 / 8)


def test_only_answers_that_are_due_count() -> None:
    one = trial("condition", "val", 0)
    assert len(list(answers_due(one))) == 2
    assert [a.right for a in answers_due(one)] == [a for a in one.answers if a]


def test_only_shortcuts_that_apply_are_scored() -> None:
    rows = report([trial("low", "val", seed) for seed in range(20)], DOMAIN)
    assert not any(row.applies for row in rows if row.name == "always then")  # there is no condition in these
    assert replace(rows[0], score=0.9).excess == pytest.approx(0.4)
