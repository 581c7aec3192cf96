"""Lists of trials: frozen, balanced, without repetitions, and fair to guessers."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from every import every

from etude.decisions.graph import operators
from etude.decisions.logic import Switch
from etude.decisions.meaning import answer
from etude.decisions.showing import domain_of
from etude.decisions.solver import Domain
from etude.decisions.space import SPLITS, standard_space
from etude.decisions.trial import Trial
from etude.names import EtudeError, digest
from etude.suites.iwisdm.benchmarks import LISTS, trial

SHORTEST = (  # so few frames that the same trial could come twice
    "single_frame_location",
    "single_frame_category",
    "perception",
    "perception_category_report",
    "perception_location_report",
    "perception_location_compare",
    "memory_category_report",
    "spatial_attention_category_report",
    "match_to_sample_identity",
    "dual_match_to_sample",
)
PUBLISHED = ("high", "high_location", "high_category")  # most of their answers are true or false
FROZEN = {  # of the first ten trials
    "single_frame_location": "ccb06a866057",
    "single_frame_category": "673a3c26c8f8",
    "low": "04864f0c9a49",
    "medium": "b141cfb1993e",
    "high": "68f18e864d4a",
    "high_category": "fca7608b13c8",
    "low_balanced": "6c3c3ce30350",
    "high_balanced": "b0f56bd27916",
    "cvr_low": "dbaae0ec6189",
    "perception": "fbef7eef3627",
    "spatial_attention": "6dc215b20133",
    "temporal_attention": "7601245c092e",
    "match_to_sample": "bcf2aa57f98a",
    "two_back": "8c810bbcfee5",
    "contextual_decision": "b6c52c29daad",
    "samples_abbcca": "532f935fd973",
    "queue": "caa5f949399c",
    "overlap": "67517e35912b",
    "interleave": "b13d508c266c",
    "condition": "d6654a4f5782",
}


drawn = functools.cache(trial)  # for tests that look at the same lists


def some(task: str, count: int, split: str = "val") -> list[Trial]:
    return [drawn(task, split, seed) for seed in range(count)]


@every("task", FROZEN)
def test_lists_are_frozen(task: str) -> None:
    assert digest([one.id for one in some(task, 10)]) == FROZEN[task]


def test_trials_depend_on_nothing_but_their_name() -> None:
    """Neither on what was made before, nor on Python's hash seed."""
    code = "from etude.suites.iwisdm.benchmarks import trial; print(trial('high', 'val', 7).id, trial('overlap', 'test', 3).id)"
    lines = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert lines == {f"{trial('high', 'val', 7).id} {trial('overlap', 'test', 3).id}\n"}


@every("task", LISTS)
def test_every_list_in_every_split_is_balanced_and_never_repeats(task: str) -> None:
    """Within what can be answered: a list of several kinds of questions is balanced in each kind."""
    trials = some(task, 1000 if task in SHORTEST else 120)
    assert len({replace(one, name="") for one in trials}) == len(trials)
    kinds: dict[tuple[str, ...], Counter[str]] = {}
    for one in trials:
        key = one.choices if one.level not in ("high_balanced", "cvr_high") else ()
        kinds.setdefault(key, Counter()).update(a for a in one.answers if a)
        assert one.name == f"iwisdm/{task}@val#{one.parsed.seed}"
    if task not in ("auto", "cvr_high", *PUBLISHED):  # of any space of tasks; two kinds of lists in one, whose answers partly agree
        for counts in kinds.values():
            assert max(counts.values()) - min(counts.values()) <= max(0.02 * counts.total(), 1)
    for split in ("train", "test"):
        assert trial(task, split, 0).split == split


def test_high_complexity_has_all_fourteen_answers_equally_often() -> None:
    counts = Counter(a for one in some("high_balanced", 280) for a in one.answers if a)
    assert len(counts) == 14
    assert max(counts.values()) - min(counts.values()) <= 0.02 * 280


def test_given_what_a_question_can_answer_all_its_answers_are_equally_likely() -> None:
    """Otherwise its text would tell something."""
    counts = Counter(one.answers[-1] for one in some("high_balanced_category", 1500) if len(one.choices) == 10)
    assert max(counts.values()) / counts.total() < 0.13


@pytest.mark.parametrize(
    ("task", "frames", "joins", "switches"),
    [("low", 6, {1}, 0), ("medium_balanced_category", 8, {1}, 1), ("high_balanced", 9, {1, 2}, 1), ("single_frame_category", 1, {0}, 0)],
)
def test_levels_are_those_of_the_paper(task: str, frames: int, joins: set[int], switches: int) -> None:
    found = set()
    for one in some(task, 100):
        counts = operators(one.tasks[0].task.root)
        found.add(counts.get("And", 0) + counts.get("Or", 0))
        assert len(one.frames) == frames and counts.get("Switch", 0) == switches
        assert all(len(things) <= 1 for things in one.frames)
    assert found == joins


@pytest.mark.parametrize(("task", "objects", "truths", "offered"), [("low", 4, 1, 2), ("medium", 6.2, 1, 2), ("high", 7.04, 0.77, 14)])
def test_levels_are_distributed_as_published(task: str, objects: float, truths: float, offered: int) -> None:
    trials = some(task, 200)
    assert sum(len(things) for one in trials for things in one.frames) / 200 == pytest.approx(objects, abs=0.12)
    assert sum(one.answers[-1] in ("true", "false") for one in trials) / 200 == truths
    assert {len(one.choices) for one in trials} == {offered}
    assert abs(sum(one.answers[-1] == "true" for one in trials) / 200 - truths / 2) <= 0.02


def test_both_branches_are_taken_equally_often() -> None:
    for task in ("medium", "high"):
        then = 0
        for one in some(task, 200):
            root = one.tasks[0].task.root
            assert isinstance(root, Switch)
            then += answer(replace(one.tasks[0].task, root=root.condition), one.frames, domain_of("procedural", "val").space) == "true"
        assert abs(then / 200 - 0.5) <= 0.02


def test_splits_show_different_views() -> None:
    shown = {s: {t.view for one in some("low", 60, s) for things in one.frames for t in things} for s in SPLITS}
    assert all(shown[a].isdisjoint(shown[b]) for a in SPLITS for b in SPLITS if a != b)


def test_chance_is_one_of_the_choices() -> None:
    assert trial("low", "val", 0).chance == 0.5
    assert trial("perception_category_report", "val", 0).chance == 1 / 8


def test_abilities_take_the_forms_of_their_suites() -> None:
    for one in some("spatial_attention", 40):
        assert all(2 <= len(things) <= 4 for things in one.frames)
        assert {prop for _, prop in one.named} == {"location"}
    for one in some("feature_attention", 40):
        assert {prop for _, prop in one.named} == {"category"}
    for one in some("temporal_attention", 40):
        assert all(len(things) == 1 for things in one.frames)
        assert any(things[0].distractor for things in one.frames)
    for one in some("memory", 40):
        assert not one.frames[-1] and one.answers[-1]


def test_another_stimulus_set_brings_its_own_domain() -> None:
    one = trial("low", "train", 0, Domain(standard_space(grid=(3, 3)), views=(0,)), stimuli="mine")
    assert (one.grid, one.stimuli) == ((3, 3), "mine")
    assert {t.view for things in one.frames for t in things} == {0}


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(EtudeError, match="did you mean 'medium'"):
        trial("medum", "val", 0)
    with pytest.raises(EtudeError, match="unknown split 'L1'; valid: test, train, val"):
        trial("low", "L1", 0)
