"""Trials as datasets: what is written is what was made, in forms that others read."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from etude import cli
from etude.datasets.decisions import LISTS, answer_type, columns, described, export, flat, png_frames
from etude.decisions.graph import DecisionGraph, walk
from etude.decisions.meaning import answer
from etude.decisions.prompts import messages
from etude.decisions.showing import pictures, space_of, told
from etude.decisions.space import SeenThing
from etude.decisions.trial import Placed
from etude.library import trial
from etude.names import EtudeError, decode

NAMES = ("iwisdm/high@val#0", "iwisdm/condition@val#1", "iwisdm/one_back@train#2")


def decoded(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "RGB"
        return np.asarray(image)


# ------------------------------------------------------------------------------------------------ pictures


@pytest.mark.parametrize("name", NAMES)
def test_frames_as_files_are_the_frames(name: str) -> None:
    made = trial(name)
    for size in (224, 50):
        assert np.array_equal([decoded(data) for data in png_frames(made, size)], pictures(made, size))


@pytest.mark.parametrize("grid", ((2, 2), (3, 2), (1, 1)))
def test_frames_with_many_objects_and_a_cross_are_the_frames(grid: tuple[int, int]) -> None:
    made = trial(NAMES[0])
    things = tuple(SeenThing(item=37 * k, location=k, view=4) for k in range(grid[0] * grid[1]))
    for fixation in ("withhold", "action"):
        crowded = replace(made, frames=(things, things[1:], ()), answers=("", "", "true"), grid=grid, fixation=fixation)
        for size in (65, 224):
            assert np.array_equal([decoded(data) for data in png_frames(crowded, size)], pictures(crowded, size))


def test_pictures_that_fill_their_cells_and_lie_under_the_cross_are_the_frames(tmp_path: Path) -> None:
    rows, stream = ["file,category,identity,view,split"], np.random.default_rng(3)
    for k in range(4):
        Image.fromarray(stream.integers(0, 256, (20, 20, 3)).astype(np.uint8)).save(tmp_path / f"{k}.png")
        rows.append(f"{k}.png,{'ab'[k // 2]},{k},0,val")
    (tmp_path / "properties.csv").write_text("\n".join(rows))
    things = tuple(SeenThing(item=k, location=k) for k in range(4))
    made = replace(trial(NAMES[0]), stimuli=quote(str(tmp_path), safe=""), frames=(things, things[:1]), answers=("", "true"))
    assert np.array_equal([decoded(data) for data in png_frames(made, 40)], pictures(made, 40))


# ------------------------------------------------------------------------------------------------ JSON lines


def test_a_line_tells_all_about_a_trial(tmp_path: Path) -> None:
    assert export(NAMES, tmp_path / "out", size=64) == 1 + sum(len(trial(n).frames) for n in NAMES)
    rows = [json.loads(line) for line in (tmp_path / "out" / "trials.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["name"] for row in rows] == list(NAMES)
    for row in rows:
        made = trial(row["name"])
        assert (row["instruction"], row["instruction_fluent"]) == (told(made), told(made, "fluent"))
        assert (row["id"], row["level"], row["n_frames"]) == (made.id, made.level, len(made.frames))
        assert (tuple(row["answers"]), tuple(row["choices"])) == (made.answers, made.choices)
        assert row["n_objects"] + row["n_delays"] >= row["n_frames"]
        shown = [np.asarray(Image.open(tmp_path / "out" / path)) for path in row["frames"]]
        assert np.array_equal(shown, pictures(made, 64))


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_and_the_objects_in_a_line_are_those_of_the_trial(name: str) -> None:
    made, row = trial(name), described(trial(name))
    space = space_of("procedural")
    tasks = decode(tuple[Placed, ...], row["graph"], "graph")
    assert tasks == made.tasks
    assert all(isinstance(p.task, DecisionGraph) for p in tasks)
    for k, things in enumerate(made.frames):
        listed = [o for o in row["objects"] if o["frame"] == k]
        for thing, told_of in zip(things, listed, strict=True):
            for prop in ("category", "identity", "colour", "location"):
                assert told_of[prop] == space.values(prop)[space.of(prop, thing)]
    for placed in tasks:
        assert placed.after is not None or answer(placed.task, made.frames, space, placed.start) == made.answers[placed.end]


def test_operators_are_counted_and_answers_have_a_type() -> None:
    made = trial("iwisdm/high@val#3")
    row = described(made)
    assert row["operators"] == Counter(type(node).__name__ for node in walk(made.tasks[0].task.root))
    assert row["operators"]["Switch"] == 1
    space = space_of("procedural")
    assert [answer_type(a, space) for a in ("true", "top left", "boats", "red", "3")] == [
        "bool",
        "location",
        "category",
        "colour",
        "number",
    ]


def test_trials_that_ask_the_same_share_their_task_id() -> None:
    made = trial("iwisdm/high@val#0")
    other = replace(made, name="iwisdm/high@val#9", frames=tuple(tuple(replace(t, view=4) for t in things) for things in made.frames))
    assert described(made)["task_id"] == described(other)["task_id"] != described(trial("iwisdm/high@val#1"))["task_id"]


def test_the_same_names_give_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        export(NAMES[:2], tmp_path / folder, size=32)
    one, two = (sorted(p for p in (tmp_path / f).rglob("*") if p.is_file()) for f in ("one", "two"))
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in two]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(EtudeError, match="is not empty; choose another folder"):
        export(NAMES, tmp_path)
    with pytest.raises(EtudeError, match="unknown form of export 'jsnl'; did you mean 'jsonl'"):
        export(NAMES, tmp_path / "new", "jsnl")
    with pytest.raises(EtudeError, match="is not a decision"):
        export(["clevrskills/pick@train#0"], tmp_path / "new")


def test_the_command_writes_trials(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["export", "--suite", "iwisdm", "--task", "low", "--episodes", "3", "--size", "32", "--out", str(out), "--json"]
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["trials"] == 3
    assert len((out / "trials.jsonl").read_text().splitlines()) == 3


# ------------------------------------------------------------------------------------------------ parquet


def test_a_row_has_every_column_and_one_placeholder_for_each_picture() -> None:
    row = flat(trial(NAMES[0]), 32)
    assert row.keys() == {*columns(), *LISTS, "images", "messages", "reward_model"}
    (message,) = row["messages"]
    assert sum(p["type"] == "image" for p in message["content"]) == len(row["images"]) == row["n_frames"]
    made = trial(NAMES[0])
    (asked,) = messages(made, [""] * len(made.frames), space_of("procedural"))
    assert [p["text"] for p in message["content"]] == [p.get("text") for p in asked["content"]]


def test_parquet_files_hold_the_rows_and_say_what_is_a_picture(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow (extra 'parquet') is not installed")
    assert export(NAMES, tmp_path, "parquet", 32) == 2
    files = sorted((tmp_path / "data").iterdir())
    assert [f.name for f in files] == ["train-00000-of-00001.parquet", "val-00000-of-00001.parquet"]
    table = pq.read_table(files[1])
    assert table.to_pylist() == [flat(trial(name), 32) for name in NAMES[:2]]
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["images"] == [{"_type": "Image"}]
    assert list(features) == table.schema.names


def test_datasets_of_hugging_face_show_the_pictures(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="Hugging Face datasets is not installed")
    if not hasattr(datasets, "load_dataset"):  # then this folder of tests was found by that name
        pytest.skip("Hugging Face datasets is not installed")
    export(NAMES, tmp_path / "out", "parquet", 32)
    found = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in found.items()} == {"train": 1, "val": 2}
    row, made = found["val"][0], trial(NAMES[0])
    assert np.array_equal([np.asarray(image) for image in row["images"]], pictures(made, 32))
    assert (row["question"], row["answer"]) == (told(made), made.answers[-1])


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(EtudeError, match=r"pip install 'etude\[parquet\]'"):
        export(NAMES, tmp_path / "out", "parquet")
    assert not (tmp_path / "out").exists()
