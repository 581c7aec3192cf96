"""The twins of RoboHiMan's real-robot tasks: the paper's eight, its lists, words of their own, and nothing changed in HiMan-Bench."""

from __future__ import annotations

from collections import Counter

import pytest
from every import every

import etude
from etude.evaluation.choosing import choose
from etude.evaluation.play import Players, Rollout, play
from etude.goals.units import Composed
from etude.library import tasks
from etude.names import EpisodeName, EtudeError, rng
from etude.skills.subtasks import describe, leaves, vocabulary
from etude.suites.himan.recipes import MISSING
from etude.suites.himan.suite import himan
from etude.suites.himan_real.rewording import FORMS, reword
from etude.suites.himan_real.suite import himan_real
from etude.suites.himan_real.tasks import ITEMS

ATOMIC = ("open_drawer", "close_drawer", "box_item_on_table", "table_item_in_opened_drawer")
COMPOSED = (
    "table_item_in_opened_drawer_close", "table_item_in_drawer", "box_item_in_opened_drawer_close", "box_item_in_drawer",
)  # fmt: skip
EVERY = tuple(himan_real.tasks)


def test_they_are_the_papers_eight_and_none_of_himan_benchs():
    assert (*ATOMIC, *COMPOSED) == EVERY
    assert [himan_real.tasks[t].level for t in EVERY] == ["A"] * 4 + ["C"] * 4
    assert tuple(tasks("himan")) == tuple(MISSING)
    assert {EpisodeName.parse(name).suite for name in choose("himan", episodes=1)} == {"himan"}


@every("task", EVERY)
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_oracle_solves_every_task_that_nothing_has_solved_before(task, split):
    record = play(Players("oracle"), f"himan_real/{task}@{split}#1")[0]
    assert record.success and record.steps > 0


@pytest.mark.parametrize(("task", "mode"), [("box_item_in_drawer", "rule"), ("table_item_in_drawer", "rule:privileged")])
def test_the_rule_planner_gets_the_oracles_skills_to_the_end(task, mode):
    record = play(Players("oracle"), f"himan_real/{task}@test#2", mode)[0]
    assert record.success and all(stage.right and stage.done for stage in record.stages)


def test_a_planner_that_is_asked_at_changes_of_the_hand_says_what_the_policy_does():
    record = play(Players("oracle", "oracle"), "himan_real/box_item_in_opened_drawer_close@test#1", "coupled")[0]
    item = ITEMS[1].name
    assert record.success and [stage.subtask for stage in record.stages] == [
        f"pick up the {item} in the box",
        f"place the {item} in the top drawer",
        "move close to the top drawer handle",
        "push the top drawer shut",
    ]


@every("task", EVERY)
def test_what_is_composed_is_made_of_atomic_stages_and_items_take_turns(task):
    found = [etude.episode(f"himan_real/{task}@test#{seed}") for seed in range(3)]
    if "item" in task:
        assert [next(i.name for i in ITEMS if i.name in one.instruction.text) for one in found] == [i.name for i in ITEMS]
    stages = found[0].goal.units if isinstance(found[0].goal.units[0], Composed) else (found[0].goal,)
    assert len(stages) == {"A": 1, "C": 2 if "opened" in task else 3}[found[0].level]
    whole, full, half = (etude.episode(f"himan_real/{task}@test#0?prompt={k}").instruction.text for k in range(3))
    assert "\n" not in whole and full.split("\n") == [stage.text for stage in stages]
    assert half.split("\n") == [describe(leaf, found[0].scene) for leaf in leaves(found[0].goal)]


def test_tasks_with_the_same_things_share_their_vocabulary():
    for group in (ATOMIC[:2], (ATOMIC[3], *COMPOSED[:2]), (ATOMIC[2], *COMPOSED[2:])):
        said = [set(vocabulary(etude.episode(f"himan_real/{task}@test#1"))) for task in group]
        assert all(one == said[0] for one in said)
        assert "pull the middle drawer open" in said[0] and not any("{" in text for text in said[0])
    item = ITEMS[1].name
    assert {f"pick up the {item} in the box", f"pick up the {item} on the table", f"place the {item} in the bottom drawer"} <= said[0]


@every("task", EVERY)
def test_every_instruction_can_be_said_in_other_words_that_keep_what_counts(task):
    for prompt in range(3):
        found = etude.episode(f"himan_real/{task}@test#1?prompt={prompt}")
        said = reword(found.instruction.text, found.parsed, rng(found.parsed, "test"))
        assert said is not None and said != found.instruction.text
        if prompt == 0 and "item" in task:
            assert ITEMS[1].name in said and ("box" in said) == task.startswith("box")
            assert sum(form.reworded(found.instruction.text, rng("x", "y")) is not None for form in FORMS.values()) == 1


def test_the_lists_are_the_papers():
    played = [EpisodeName.parse(name) for name in himan.plans["real"]()]
    assert Counter((n.task, bool(n.perturbations)) for n in played) == {(task, p): 10 for task in COMPOSED for p in (False, True)}
    assert {n.split for n in played} == {"test"}
    bases = {n.base for n in played if not n.perturbations}
    assert {n.base for n in played if n.perturbations} == bases  # every perturbed one beside its control
    trained = [EpisodeName.parse(name) for name in himan_real.plans["training"]()]
    plain = Counter(n.task for n in trained if not n.perturbations)
    assert plain == {**dict.fromkeys(ATOMIC, 40), "box_item_in_drawer": 1} and {n.split for n in trained} == {"train"}
    assert len(set(trained)) == len(trained) == 161 + 4 * 2 + 4


def test_every_perturbed_episode_of_the_lists_can_be_made():
    for name in (*himan.plans["real"](), *himan_real.plans["training"]()):
        if "+" in name and int(name.partition("#")[2].partition("+")[0]) in (0, 1, 2, 3, 40, 41, 42, 43):
            assert etude.episode(name).id


def test_another_place_moves_what_has_to_be_taken_and_nothing_else():
    name = "himan_real/table_item_in_drawer@test#1"
    before, after = etude.episode(name), etude.episode(f"{name}+other_place")
    moved = [a.name for a, b in zip(before.scene.entities, after.scene.entities, strict=True) if a != b]
    assert moved == [ITEMS[1].name] and (before.goal, before.instruction) == (after.goal, after.instruction)
    assert play(Players("oracle"), f"{name}+other_place")[0].success
    with pytest.raises(EtudeError, match="other_place: nothing that is to be taken stands free"):
        etude.episode("himan_real/box_item_in_drawer@test#1+other_place")


def test_a_failure_has_a_cause():
    class Still:
        from etude.policies.contract import Contract

        contract = Contract.etude()

        def reset(self, *told):
            pass

        def act(self, observation):
            return [0.3, 0.0, 1.4, 0.0, 1.0, 0.0, 0.0, -1.0]

    assert Rollout(Players(Still()), "himan_real/open_drawer@test#0").record.cause == "nothing grasped"


def test_demonstrations_are_recorded(tmp_path):
    pytest.importorskip("pyarrow")
    made = etude.demos("himan_real/box_item_on_table", episodes=1, out=tmp_path / "data", workers=1, action="ee_delta")
    assert made is not None and (tmp_path / "data" / "meta" / "info.json").exists()
