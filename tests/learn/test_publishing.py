"""A run becomes a folder for others, with a card that says what it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from checkpoint_fixtures import HISTORY, written_checkpoint

from etude.evaluation.plan import Plan
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.learn.header import NAME, digest_of
from etude.learn.named_recipes import recipe_named, recipe_names
from etude.learn.origins import family_of, training_command
from etude.learn.publishing import write_model
from etude.names import EtudeError


@pytest.mark.parametrize("name", [f"{suite}/{name}" for suite in ("vima", "himan", "iwisdm") for name in recipe_names(suite)])
def test_every_recipe_is_known_by_its_name_and_its_command_gives_it_again(name):
    recipe = recipe_named(name, ["schedule.batch=24", "data.source.seed=5"])
    assert f"{recipe.data.source.suite}/{family_of(recipe)}" == name
    _, _, said, *words = training_command(recipe, {**HISTORY, "steps": recipe.schedule.steps}).split()
    settings = [words[k + 1] for k, word in enumerate(words) if word == "--set"]
    assert recipe_named(said, settings) == replace(recipe)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """Two episodes whose run says that the weights of a checkpoint played them."""
    run = written_checkpoint(tmp_path_factory.mktemp("trained"), "vima/objects-xattn", "data.source.tasks=rotate")
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    evaluate(Plan("noop", ("vima/rotate@L1#1", "vima/rotate@L1#1+paraphrase")), folder, RunSettings(workers=1), Quiet())
    info = json.loads((folder / "run.json").read_text())
    info["code"]["policy"] = {"weights": digest_of((run / NAME).read_bytes())}
    (folder / "run.json").write_text(json.dumps(info))
    return run, folder


def test_a_card_tells_how_to_play_and_train_it_and_how_well_it_does(evaluated, tmp_path):
    run, results = evaluated
    write_model(run, tmp_path, "my-lab/turner", [results])
    assert {path.name for path in tmp_path.iterdir()} == {NAME, "curve.jsonl", "README.md"}
    card = (tmp_path / "README.md").read_text()
    for said in (
        "pipeline_tag: robotics", "library_name: etude", "hf download my-lab/turner --local-dir models/turner", "6 parameters",
        "20 episodes of vima@train (rotate), each drawn 24 times", "--set data.source.tasks=rotate", "| L1 | paraphrase | 1 | 0 % |",
        "Loss by step: 0: 4.00, 1: 3.00, 2: 2.00.", '"told": "views"',
    ):  # fmt: skip
        assert said in card
    (listed,) = re.findall(r"^model-index: (.*)$", card, re.MULTILINE)  # JSON is YAML
    ((name, rows),) = [(one["name"], one["results"]) for one in json.loads(listed)]
    assert name == "turner" and [row["dataset"]["name"] for row in rows] == ["vima@L1", "vima@L1+paraphrase"]
    assert rows[0]["metrics"][0]["value"] == 0.0


def test_results_of_another_policy_are_refused(evaluated, tmp_path):
    other = written_checkpoint(tmp_path / "other", "vima/objects-concat")
    with pytest.raises(EtudeError, match="results of another policy"):
        write_model(other, tmp_path, "my-lab/turner", [evaluated[1]])
