"""Answers from a file: of models that were asked elsewhere, with what exports wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from etude.datasets.decisions import export
from etude.decisions.prompts import expected
from etude.evaluation.decide import decide
from etude.evaluation.plan import Plan
from etude.evaluation.play import Players, play
from etude.library import trial
from etude.names import EtudeError
from etude.policies.answer_file import AnsweringDecider, AnsweringPlanner
from etude.policies.chat_decider import prompt
from etude.policies.loading import load_planner, load_policy
from etude.policies.scripted import OraclePolicy
from etude.render.png import png_url

NAMES = ("iwisdm/low@val#0", "iwisdm/high@val#1", "iwisdm/two_back@val#0")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers") / "out"
    export(NAMES, folder, size=32)
    return folder


def questions(folder: Path) -> list[dict]:
    return [q for line in (folder / "trials.jsonl").read_text().splitlines() for q in json.loads(line)["questions"]]


def written(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"answers:{path}"


def test_what_was_exported_and_answered_elsewhere_is_scored(exported: Path, tmp_path: Path) -> None:
    rows = [{"id": q["id"], "answer": f"The answer is {q['answer']}."} for q in questions(exported)]
    assert len(rows) == 1 + 1 + 4
    made = load_policy(written(tmp_path / "a.jsonl", rows))
    assert isinstance(made, AnsweringDecider)
    assert [decide(made, trial(name)).outcome for name in NAMES] == ["success"] * 3
    rows[-1]["answer"] = "I cannot say."
    record = decide(load_policy(written(tmp_path / "b.jsonl", rows)), trial(NAMES[2]))
    assert (record.outcome, record.cause) == ("failure", "answer that could not be read")


def test_messages_of_an_export_are_those_a_chat_model_is_sent(exported: Path) -> None:
    (single,) = (q for q in questions(exported) if q["id"].startswith(f"{NAMES[0]}~"))
    paths = [p["image_url"]["url"] for p in single["messages"][0]["content"] if p["type"] == "image_url"]
    frames = [np.asarray(Image.open(exported / path)) for path in paths]
    text = json.dumps(single["messages"])
    for path, frame in zip(paths, frames, strict=True):
        text = text.replace(path, png_url(frame))
    assert json.loads(text) == prompt(trial(NAMES[0]), frames)


def test_batches_of_chat_servers_and_tables_are_read_as_they_are(tmp_path: Path) -> None:
    one = trial(NAMES[0])
    body = {"choices": [{"message": {"role": "assistant", "content": expected(one)}}]}
    assert decide(load_policy(written(tmp_path / "a.jsonl", [{"custom_id": one.id, "response": {"body": body}}])), one).success
    (tmp_path / "a.csv").write_text(f"name,answer\n{one.name},{expected(one)}\n")
    assert decide(load_policy(f"answers:{tmp_path / 'a.csv'}"), one).success


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"id": "iwisdm/low@val#1", "answer": "true"}], "has no answer to iwisdm/low@val#0"),
        ([{"id": "iwisdm/low@val#0~0123456789ab", "answer": "true"}], "today: export it again"),
        ([{"id": "iwisdm/low@val#0/1", "answer": "true"}, {"id": "iwisdm/low@val#0/2", "answer": "true"}], "2 answers to a trial with 1"),
    ],
)
def test_answers_to_something_else_are_refused(tmp_path: Path, rows: list[dict], words: str) -> None:
    with pytest.raises(EtudeError, match=words):
        decide(load_policy(written(tmp_path / "a.jsonl", rows)), trial(NAMES[0]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]\n", "line 1: expected an object"),
        ("{'\n", "line 1: not JSON"),
        ('{"id": "a"}\n', "line 1: expected 'id' and 'answer', both as text"),
        ('{"id": "a", "answer": "x"}\n\n{"id": "a", "answer": "y"}\n', "line 3: a is answered twice"),
        ('{"id": "a", "answer": "x", "frame": "ten"}\n', "whole number, got 'ten'"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_by_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(EtudeError, match=words):
        load_policy(f"answers:{tmp_path / 'a.jsonl'}")
    with pytest.raises(EtudeError, match="answers:FILE"):
        load_policy("answers:")


def test_a_planner_answers_questions_about_frames_in_their_order(tmp_path: Path) -> None:
    name = "himan/open_drawer@test#0"
    rows = [{"episode": name, "frame": frame, "answer": "grasp the bottom drawer handle"} for frame in range(200, -10, -10)]
    made = load_planner(written(tmp_path / "a.jsonl", rows))
    assert isinstance(made, AnsweringPlanner)
    record, _ = play(Players(OraclePolicy(), made), name, "offline")
    assert [stage.subtask for stage in record.stages[:2]] == ["grasp the bottom drawer handle"] * 2
    assert record.stages[0].right and not record.stages[-1].right
    with pytest.raises(EtudeError, match="--mode coupled asks as things go, which a file does not know"):
        Plan("oracle", (name,), planner="answers:a.jsonl", modes=("offline", "coupled"))
    short = load_planner(written(tmp_path / "b.jsonl", rows[-1:]))
    with pytest.raises(EtudeError, match="no further answer"):
        play(Players(OraclePolicy(), short), name, "offline")
