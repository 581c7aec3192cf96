"""What a page says a policy has understood: each sentence follows from an interval, and from nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_fixtures import record, run_of

import etude
from etude.evaluation.pairs import perturbation_costs
from etude.perturb.perturbation import known_perturbations
from etude.policies.contract import Contract
from etude.policies.scripted import OraclePolicy
from etude.report.contestants import contestants
from etude.report.evaluation import report
from etude.report.exports import collect
from etude.report.understanding import understanding
from etude.skills.strokes import Stroke

TASKS = ("pick", "rotate", "stack", "sort")
KNOWN = {"dark": {"plausible": True, "varies": "the light"}, "no_words": {"plausible": False, "varies": "the words"}}

KNOWING = {"policy": {"privileged": True}, "planner": None}


def played(policy: str, solved: dict[str, int], kept: dict[str, int] | None = None, seeds: int = 12, **info):
    """A run of ``seeds`` episodes of each task, of which so many are ``solved``; under perturbations so many of each task are ``kept``."""
    places = [(task, k) for task in TASKS for k in range(seeds)]
    found = [record(f"clevrskills/{task}@test#{k}", k < solved[task]) for task, k in places]
    for perturbation, count in (kept or {}).items():
        found += [record(f"clevrskills/{task}@test#{k}+{perturbation}", k < min(count, solved[task])) for task, k in places]
    return run_of(found, Path(policy.replace(":", "-")), policy, perturbations=KNOWN, **info)


def oracle(seeds: int = 12):
    return played("oracle", dict.fromkeys(TASKS, seeds), seeds=seeds, contract=KNOWING)


def findings(*runs):
    arms = contestants(runs)
    return {
        arm.label: {one.ability: one for one in found}
        for arm, found in understanding(arms, [perturbation_costs(a.records, a.run.plausible) for a in arms])
    }


ALL = dict.fromkeys(TASKS, 12)
NONE = dict.fromkeys(TASKS, 0)


@pytest.mark.parametrize(
    ("perturbation", "kept", "understood", "words"),
    [
        ("dark", 12, "yes", "Does not depend on the light: under dark it keeps 48 of the 48 that it solves without"),
        ("dark", 2, "no", "Depends on the light: under dark it keeps 8 of the 48"),
        ("dark", 11, "cannot be told", "Cannot be told whether it depends on the light: under dark it keeps 44 of the 48"),
        ("no_words", 12, "no", "Does not need the words: under no_words it keeps 48 of the 48"),
        ("no_words", 0, "yes", "Uses the words: under no_words it keeps 0 of the 48"),
        ("no_words", 6, "in part", "Uses the words, but not everywhere: under no_words it keeps 24 of the 48"),
    ],
)
def test_what_should_matter_has_to_cost_success_and_what_should_not_must_not(perturbation, kept, understood, words):
    (found,) = findings(played("mine", ALL, {perturbation: kept})).values()
    (one,) = found.values()
    assert one.understood == understood and one.words.startswith(words)
    low, high = one.interval
    assert low <= one.difference <= high and one.pairs == 48


def test_who_solves_too_little_cannot_show_that_it_uses_anything():
    (found,) = findings(played("mine", {**NONE, "pick": 4}, {"no_words": 4})).values()
    assert found["the words"].understood == "cannot be told" and found["the words"].claim == "whether it uses the words"
    assert "it solves 4, too few to lose any" in found["the words"].words


def test_tasks_are_held_against_a_blind_copy_and_the_oracle():
    mine = played("zoo:mine", {"pick": 12, "rotate": 7, "stack": 0, "sort": 12})
    blind = played("blind:zoo:mine", {"pick": 0, "rotate": 0, "stack": 0, "sort": 12})
    found = findings(oracle(), mine, blind, played("random", ALL, contract=KNOWING))
    assert list(found) == ["zoo:mine"]  # who cannot see, and who has the true state, has nothing to understand
    assert {name: one.understood for name, one in found["zoo:mine"].items()} == {
        "all tasks": "in part",
        "pick": "yes",
        "rotate": "in part",
        "stack": "no",
        "sort": "cannot be told",
    }
    assert found["zoo:mine"]["stack"].words.startswith(
        "No better than blind, as far as can be told, and short of the oracle: it solves 0 of 12 episodes, blind:zoo:mine 0 (0 points, "
    )


def test_a_few_episodes_of_many_tasks_tell_nothing_of_each():
    few = {"pick": 2, "rotate": 2, "stack": 0, "sort": 1}
    found = findings(oracle(2), played("mine", few, seeds=2), played("random", NONE, seeds=2))["mine"]
    assert {one.understood for name, one in found.items() if name in TASKS} == {"cannot be told"}


def test_the_page_opens_with_it_and_exports_have_it():
    runs = [oracle(), played("zoo:mine", ALL, {"dark": 12, "no_words": 12}), played("blind:zoo:mine", NONE)]
    text = report(runs)
    assert text.index('id="headline"') < text.index('id="understanding"') < text.index('id="tasks"')
    assert "Does not need the words: under" in text and "<dt>Not understood</dt><dd>does not need the words</dd>" in text
    table = next(t for t in collect(runs) if t.name == "understanding")
    assert ("zoo:mine", "the light", "yes", "dark", 48) in {row[:5] for row in table.rows}


def test_nothing_is_said_of_one_who_was_neither_perturbed_nor_compared():
    assert "understanding" not in report([played("mine", ALL)])


def test_every_perturbation_of_ours_says_what_it_varies_and_others_are_called_by_their_names():
    assert [name for name, one in known_perturbations().items() if one.module.startswith("etude.") and not one.varies] == []
    assert run_of([record("clevrskills/pick@test#0")]).varied("hurry") == "what hurry changes"


class Still:
    """Looks at nothing, and moves nothing."""

    contract = Contract.etude("pick_place")

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return Stroke("pick_place", (0.25, 0.0), (0.25, 0.0)).to_action()


def test_a_run_knows_whether_its_policy_had_the_true_state(tmp_path):
    for policy, privileged in ((OraclePolicy(), True), (Still(), False)):
        run = etude.evaluate(policy, "vima/rotate@L1", episodes=1, out=tmp_path / str(privileged))
        assert run.privileged is privileged
