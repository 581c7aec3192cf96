"""Demonstrations as questions for planners: the right frames, the right answers, pictures that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from etude import cli
from etude.datasets.questions import export, questions
from etude.library import episode
from etude.names import EtudeError
from etude.policies.subtask_prompts import IMAGE, next_subtask, reasoning

NAME = "himan/open_drawer@test#0"
GRASP, PULL = "grasp the bottom drawer handle", "pull the bottom drawer open"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("questions") / "out"
    arguments = ["export", "--suite", "himan", "--task", "open_drawer", "--split", "test", "--episodes", "1", "--size", "32"]
    done = CliRunner().invoke(cli.app, [*arguments, "--form", "questions", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["episodes"], said["unsolved"], said["questions"]) == (1, [], len(rows(out)))
    assert said["files"] == sum(p.is_file() for p in out.rglob("*"))
    return out


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_tenth_frame_of_an_atomic_task_is_asked_about(folder: Path) -> None:
    found = rows(folder)
    assert [r["frame"] for r in found] == [10 * k for k in range(len(found))]
    assert {r["episode"] for r in found} == {NAME}
    assert {r["instruction"] for r in found} == {"open the bottom drawer"}


def test_answers_are_the_half_stages_in_their_order(folder: Path) -> None:
    found = rows(folder)
    answers = [r["sub_task"] for r in found]
    first = answers.count(GRASP)
    assert 0 < first < len(answers)
    assert answers == [GRASP] * first + [PULL] * (len(answers) - first)
    assert all(r["stages"] == [GRASP, PULL] and r["stages"][r["stage"]] == r["sub_task"] for r in found)
    assert [r["history"] for r in found] == [[]] * first + [[GRASP]] * (len(found) - first)
    ends = [r["end_frame"] for r in found]
    assert len(set(ends)) == 2 and ends == sorted(ends) and all(r["frame"] < r["end_frame"] for r in found)


def test_pictures_are_there_and_small_and_change(folder: Path) -> None:
    found = rows(folder)
    for row in found:
        for views in (row["views"], row["end_views"]):
            assert list(views) == ["front", "wrist"]
            assert all(np.asarray(Image.open(folder / path)).shape == (32, 32, 3) for path in views.values())
            assert all((folder / path).stat().st_size < 32 * 32 * 3 + 500 for path in views.values())
    assert len({(folder / r["views"]["wrist"]).read_bytes() for r in found}) > len(found) // 2


def test_prompts_have_a_place_for_each_picture_and_ask_for_xml(folder: Path) -> None:
    row = rows(folder)[-1]
    assert row["prompt"] == next_subtask("open the bottom drawer", ("front", "wrist"))
    assert row["prompt"].count(IMAGE) == 2 and row["reasoning_prompt"].count(IMAGE) == 4
    assert "<reasoning>" in row["prompt"] and "<sub_task>" in row["prompt"]
    assert "<reasoning>" in row["reasoning_prompt"] and "<sub_task>" not in row["reasoning_prompt"]
    assert row["reasoning_prompt"] == reasoning("open the bottom drawer", ("front", "wrist"), PULL)
    assert not any(text in row["prompt"] for text in row["stages"])  # the answer is not given away
    assert GRASP in row["prompt_with_history"]


def test_the_same_names_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    export([NAME], again, 32)
    one, two = (sorted(p.relative_to(f) for p in f.rglob("*") if p.is_file()) for f in (folder, again))
    assert one == two
    assert all((folder / p).read_bytes() == (again / p).read_bytes() for p in one)


def test_a_composition_is_asked_about_until_its_last_stage_is_done() -> None:
    """The block in the drawer comes to rest after the drawer is shut: there is nothing left to name by then."""
    found = questions(episode("himan/put_in_and_close@test#0"), 16)
    assert found is not None
    assert [one.frame for one in found] == [30 * k for k in range(len(found))]
    assert list(dict.fromkeys(one.position.number for one in found)) == [0, 1, 2, 3, 4, 5]


def test_a_form_that_does_not_fit_the_suite_is_refused(tmp_path: Path) -> None:
    for name in ("iwisdm/low@train#0", "clevrskills/pick@train#0"):
        with pytest.raises(EtudeError, match=r"the form 'questions' is about frames of himan, etudes and himan_real; .* has none"):
            export([name], tmp_path / "new")
    with pytest.raises(EtudeError, match="is not empty; choose another folder"):
        export([NAME], Path(__file__).parent)
    assert not (tmp_path / "new").exists()
    done = CliRunner().invoke(cli.app, ["export", "--suite", "himan", "--task", "open_drawer", "--out", str(tmp_path / "new")])
    assert isinstance(done.exception, EtudeError)
    assert str(done.exception) == "himan has no decisions to write as 'jsonl'; its form is --form questions"
