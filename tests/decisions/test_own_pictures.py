"""A folder of pictures from one end to the other: named, shown, exported, evaluated, asked of a model and of people, reported."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from test_image_folder import make
from typer.testing import CliRunner

from etude import cli
from etude.decisions.prompts import expected
from etude.decisions.showing import domain_of, pictures, told
from etude.evaluation.store import read_run
from etude.library import trial
from etude.names import EtudeError
from etude.policies.chat_decider import Prompting, prompt
from etude.web.study import Study, study_plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("own") / "my pictures"
    made.mkdir()
    make(made)
    return made


def named(folder: Path, task: str, seed: int = 0) -> str:
    return f"iwisdm/{task}@test#{seed}?stimuli={quote(str(folder), safe=' ')}"


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("task", ["low", "high_balanced", "match_to_sample_category", "perception", "two_back_identity", "auto"])
def test_lists_are_drawn_from_the_pictures_of_a_folder(folder: Path, task: str) -> None:
    for seed in range(8):
        one = trial(named(folder, task, seed))
        assert one.name == named(folder, task, seed)
        assert {t.item for things in one.frames for t in things} <= set(range(4)) and {t.view for f in one.frames for t in f} == {30}
        assert not {"boats", "cars"} & {*one.choices, *told(one).split()}


def test_what_is_shown_is_what_the_folder_holds(folder: Path) -> None:
    one = trial(named(folder, "single_frame_category"))
    (thing,) = one.frames[0]
    shown = pictures(one, 64)[0]
    grey = np.unique(np.asarray(Image.open(folder / f"{('cups', 'hats')[thing.item // 2]}-{thing.item % 2 + 1}-30.png")))
    assert grey[0] in np.unique(shown)


def test_a_model_is_told_what_there_is(folder: Path) -> None:
    one = trial(named(folder, "low"))
    text = json.dumps(prompt(one, pictures(one, 32), Prompting(examples=True)))
    assert "cups" in text and "hats" in text and "benches" not in text


def test_every_command_takes_them(folder: Path, tmp_path: Path) -> None:
    run("show", named(folder, "low"), "--out", str(tmp_path / "trial.html"))
    assert (tmp_path / "trial.html").stat().st_size > 1000
    chosen = ["--suite", "iwisdm", "--task", "low", "--split", "test", "--episodes", "2", "--option", f"stimuli={folder}"]
    run("export", *chosen, "--out", str(tmp_path / "set"), "--size", "32")
    rows = [json.loads(line) for line in (tmp_path / "set" / "trials.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == [named(folder, "low", seed) for seed in range(2)]
    assert rows[0]["stimuli_version"].startswith("folder-") and (tmp_path / "set" / rows[0]["frames"][0]).is_file()
    run("evaluate", *chosen, "--policy", "oracle", "--workers", "1", "--out", str(tmp_path / "run"))
    assert [r.outcome for r in read_run(tmp_path / "run").records] == ["success"] * 2
    run("report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html"))
    assert "Confusions" in (tmp_path / "page.html").read_text()


def test_people_are_shown_them(folder: Path, tmp_path: Path) -> None:
    name = named(folder, "low")
    with Study(study_plan("ann", (name,)), tmp_path / "run") as study:
        shown = study.state()["trial"]
        assert shown["name"] == name and len(shown["frames"]) == 6
        study.answer(name, [expected(trial(name))], [1.0])
    assert read_run(tmp_path / "run").records[0].success


def test_a_split_without_pictures_is_refused(folder: Path) -> None:
    with pytest.raises(EtudeError, match="there are no val views"):
        trial(named(folder, "low").replace("@test", "@val"))
    assert domain_of(quote(str(folder), safe=" "), "train").space.items == 4
