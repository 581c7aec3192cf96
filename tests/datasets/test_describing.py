"""`etude describe`: what is counted of suites and of datasets, and the datasheet."""

from __future__ import annotations

import json

import numpy as np
import pytest
from demo_fixtures import made, order
from typer.testing import CliRunner

from etude.cli import app
from etude.datasets.datasheet import datasheet
from etude.datasets.described_episodes import dataset_facts, facts_of, suite_facts
from etude.datasets.describing import describe, find_tokenizer
from etude.decisions.space import CATEGORIES
from etude.library import episode
from etude.names import EtudeError

NAMES = ("clevrskills/pick@train#0", "clevrskills/touch@train#0")
FORMATS = ("lerobot", "lerobot-v2.1", "robomimic", "folders")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return made(order(NAMES, formats=FORMATS), tmp_path_factory.mktemp("described") / "sets")


def test_every_format_is_described_alike(sets):
    """Folders are in the order of their paths; everything else is equal."""
    found = [describe("set", "dataset", dataset_facts(sets / form)).to_data() for form in FORMATS]
    for one in found:
        one["tasks"].sort(key=lambda row: row["name"])
        for what in ("shapes", "textures", "verbs"):
            one[what] = dict(sorted(one[what].items()))
    assert found[0] == found[1] == found[2] == found[3]
    (pick, touch), verbs = found[0]["tasks"], found[0]["verbs"]
    assert pick["name"] == "clevrskills/pick" and pick["length"]["median"] == 20 * pick["seconds"]["median"] > 20
    assert pick["words"]["median"] == len(episode(NAMES[0]).instruction.text.split())
    assert {"pick", "touch"} <= set(verbs) and "do" not in verbs and touch["solvers"]["median"] >= 1


def test_a_suite_is_described_as_it_is_played():
    names = ("clevrskills/pick@train#0", "clevrskills/stack@train#0")
    played = describe("clevrskills", "suite", suite_facts(names, played=True), "built-in")
    pick, stack = played.tasks
    assert stack.solvers.mean > pick.solvers.mean and stack.length.mean > pick.length.mean
    assert pick.tokens.mean >= pick.words.mean and played.actions[0].control == "ee_delta"
    drawn = describe("clevrskills", "suite", suite_facts(names, played=False))
    assert drawn.shapes == played.shapes and drawn.tasks[0].length is None and not drawn.actions


def test_coverage_grows_with_what_is_done():
    one = episode(NAMES[0])
    still, everywhere = np.zeros((20, 7)), np.tile(np.linspace(-1, 1, 200)[:, None], (1, 7))
    poor = describe("x", "dataset", [facts_of(one, still)]).actions[0]
    rich = describe("x", "dataset", [facts_of(one, np.roll(everywhere, k, axis=0)) for k in range(0, 200, 10)]).actions[0]
    assert set(poor.coverage) == {0.05} and set(poor.deviation) == {0.0}
    assert min(rich.coverage) == 1.0 and rich.low == (-1.0,) * 7 and rich.high == (1.0,) * 7


def test_decisions_are_counted_in_frames():
    found = describe("iwisdm", "suite", suite_facts(("iwisdm/low@test#0",), played=True))
    assert found.tasks[0].length.mean == 6 and "Select" in found.verbs
    assert set(found.textures) <= {"red", "blue", "green", "brown"} and all(name.split()[0] in CATEGORIES for name in found.shapes)
    page = CliRunner().invoke(app, ["describe", "iwisdm", "--task", "low", "--episodes", "1", "--workers", "1"]).stdout
    assert "An instance is a trial" in page and "**Operators**" in page and "solvers" not in page


def test_the_command_gives_a_datasheet_or_json(sets, tmp_path):
    run = CliRunner()
    told = json.loads(run.invoke(app, ["describe", str(sets / "lerobot"), "--json"]).stdout)
    assert told["kind"] == "dataset" and told["episodes"] == 2 and told["about"]["policy"] == "oracle:action=ee_delta"
    page = tmp_path / "sheet.md"
    done = run.invoke(app, ["describe", "clevrskills", "--task", "pick", "--episodes", "1", "--no-play", "--out", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert all(f"## {title}" in text for title in ("Composition", "Instructions", "What is covered", "Where it comes from", "Uses"))
    assert "clevrskills/pick" in text and "## Actions" not in text


def test_what_cannot_be_described_is_refused_in_one_line(tmp_path):
    with pytest.raises(EtudeError, match="is no dataset"):
        list(dataset_facts(tmp_path))
    with pytest.raises(EtudeError, match="nothing to describe"):
        describe("x", "suite", [None])
    with pytest.raises(EtudeError, match="--tokenizer: there is no tokenizer 'no-such/tokenizer'"):
        find_tokenizer("no-such/tokenizer")
    refused = CliRunner().invoke(app, ["describe", str(tmp_path), "--split", "train"])
    assert isinstance(refused.exception, EtudeError) and "--split is for suites" in str(refused.exception)


def test_a_datasheet_keeps_its_tables_whole(sets):
    page = datasheet(describe("set", "dataset", dataset_facts(sets / "lerobot")))
    for block in page.split("\n\n"):
        rows = [line.count("|") for line in block.splitlines() if line.startswith("|")]
        assert len(set(rows)) <= 1


def test_actions_are_counted_for_each_task_and_for_all_together():
    first, second = episode(NAMES[0]), episode(NAMES[1])
    low, high = np.full((30, 7), -0.5), np.full((50, 7), 0.5)
    both = describe("x", "dataset", [facts_of(first, low), facts_of(second, high), facts_of(second, low)])
    found = {one.task: one for one in both.actions}
    assert list(found) == ["", "clevrskills/pick", "clevrskills/touch"] and found[""].courses is None
    assert found["clevrskills/pick"].high == (-0.5,) * 7 and found[""].high == found["clevrskills/touch"].high == (0.5,) * 7
    assert found["clevrskills/touch"].courses.shape == (2, 40, 7) and set(found["clevrskills/touch"].courses[0].flat) == {0.5}
    assert [row["task"] for row in both.to_data()["actions"]] == list(found) and "courses" not in both.to_data()["actions"][1]
    page = datasheet(both)
    assert "all tasks, 3 episodes" in page and "| clevrskills/touch | 2 | 10 % |" in page


def test_figures_stand_beside_the_page_a_panel_of_each_number_and_a_line_of_each_episode(tmp_path):
    page = tmp_path / "sheet.md"
    names = ["--task", "pick", "--task", "match_pose"]
    done = CliRunner().invoke(app, ["describe", "clevrskills", *names, "--episodes", "2", "--workers", "1", "--out", str(page)])
    assert done.exit_code == 0 and "with 4 figures beside it" in done.stdout, done.output
    text = page.read_text(encoding="utf-8")
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    assert all(f"({name})" in text for name in drawn) and len(drawn) == 4
    curves = drawn["sheet-actions-clevrskills-pick-ee_delta.svg"]
    assert curves.count("number ") == curves.count("<path") == 7 and curves.count("M") == 14
    assert drawn["sheet-solvers.svg"].count("clevrskills L0") == 1


def test_the_share_of_recoveries_is_stated_in_words(tmp_path):
    names = [f"clevrskills/place@train#{seed}" for seed in range(4)]
    folder = made(order(names, policy="mishap:0.7:ee_delta"), tmp_path / "mended")
    came = json.loads((folder / "meta/etude.json").read_text())["recoveries"]
    page = CliRunner().invoke(app, ["describe", str(folder)]).stdout
    assert "## Motivation" in page and "## Preprocessing, cleaning and labelling" in page
    assert "in 70 % of the episodes, drawn from their names, the oracle was to fail a grasp" in page
    count = json.loads((folder / "meta/info.json").read_text())["total_episodes"]
    assert 0 < came < count and f"; {came} of {count} episodes ({100 * came / count:.3g} %) begin after such a mistake" in page
