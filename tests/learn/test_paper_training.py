"""A paper's protocol as one command: what is learned from is played once, a level after the other is trained, and all of it goes on."""

from __future__ import annotations

import json

import pytest
from controls import SETTINGS
from refusing import refused, told
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.cli import app  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.header import checkpoint_bytes, digest_of  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.papers.models import SHIPPING, models_of  # noqa: E402
from etude.papers.playing import tables_of  # noqa: E402

torch.set_num_threads(1)
TASKS = ("match_pose", "novel_noun")  # one of L0, one of L1
TINY = [*SETTINGS[:-2], "data.source.size=32", f"data.source.tasks={','.join(TASKS)}", "data.source.shaking.share=0.0",
        "schedule.steps=2", "schedule.batch=2", "data.start=2", "data.most=2"]  # fmt: skip


def typed(folder, *more):
    settings = [word for one in TINY for word in ("--set", one)]
    return ["paper", "clevrskills", "--models", str(folder), *settings, "--device", "cpu", "--workers", "1", *more]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The first two phases of one architecture."""
    folder = tmp_path_factory.mktemp("models")
    done = CliRunner().invoke(app, typed(folder, "--train", "--model", "window-L[01]"))
    assert done.exit_code == 0, done.output
    return folder


def test_levels_are_trained_in_turn_each_from_the_weights_before(trained):
    assert sorted(path.name for path in trained.iterdir()) == ["streams", "window-L0", "window-L1"]
    assert sorted(path.name for path in (trained / "streams").iterdir()) == ["L0", "L1"]
    first, second = (load_model(trained / name)[1] for name in ("window-L0", "window-L1"))
    assert first.begun == "" and second.begun == digest_of(checkpoint_bytes(trained / "window-L0" / "model.safetensors"))
    assert first.data.source.chosen() == ("match_pose",) and second.data.source.chosen() == ("novel_noun",)


def test_several_are_trained_at_the_same_time_each_after_the_one_it_goes_on_from(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # sums of weights are those of as many threads
    done = CliRunner().invoke(app, typed(tmp_path, "--train", "--at-once", "2", "--model", "window-L[01]", "--model", "frame-L0"))
    assert done.exit_code == 0, done.output
    for name in ("window-L0", "window-L1"):  # the same weights as one after the other
        here, there = (load_model(folder / name)[0].state_dict() for folder in (tmp_path, trained))
        assert all(torch.equal(here[key], there[key]) for key in there)
    assert (tmp_path / "frame-L0" / "model.safetensors").exists() and (tmp_path / "frame-L0.log").read_text()


def test_one_that_fails_is_told_and_the_others_are_trained(tmp_path):
    (tmp_path / "window-L0" / "curve.jsonl").mkdir(parents=True)  # where a file should be
    done = CliRunner().invoke(app, typed(tmp_path, "--train", "--at-once", "2", "--model", "window-L[01]", "--model", "frame-L0"))
    said = str(done.exception)
    assert isinstance(done.exception, EtudeError) and "2 of 3 were not trained: window-L0 (" in said, done.output
    assert "window-L1 (window-L0, from which it goes on, was not)" in said
    assert (tmp_path / "frame-L0" / "model.safetensors").exists()


def test_what_is_trained_is_not_trained_again_and_plays_the_tables(trained, tmp_path, capsys, monkeypatch):
    before = (trained / "window-L1" / "model.safetensors").stat().st_mtime_ns
    tables = ["--tables", "Table 2,Table 3,Study 5,Study 6", "--episodes", "1"]
    tasks = [word for task in TASKS for word in ("--task", task)]
    text = told(
        capsys, monkeypatch, *typed(trained, "--train", "--model", "window-L[01]", *tables, *tasks, "--out", str(tmp_path), "--json")
    )
    assert (trained / "window-L1" / "model.safetensors").stat().st_mtime_ns == before
    found = {table["number"]: table for table in json.loads(text)["tables"]}
    (ours,) = (line for line in found["Table 2"]["lines"] if line["who"] == "here: JAT")
    assert ours["values"][0] == 0.0 and ours["values"][3] == 0.0 and ours["values"][1] is not None
    (ours,) = (line for line in found["Table 3"]["lines"] if line["who"] == "here: JAT")
    zero, tuned = ours["values"][:3], ours["values"][3:6]
    assert zero[0] == tuned[0] == 0.0 and zero != tuned and ours["values"][9] is None  # nobody was tuned on L2
    lines = {line["block"]: line["values"] for line in found["Study 5"]["lines"]}
    assert lines["L0"][found["Study 5"]["columns"].index("TipAtPose")] == 100.0
    assert lines["L1 fine-tuned"][found["Study 5"]["columns"].index("OnTop")] == 100.0
    (first, *_) = found["Study 6"]["lines"]
    assert first["values"] == [100.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("at_once", ["1", "2"])
def test_models_are_trained_by_the_clock_where_steps_would_take_too_long(tmp_path, capsys, monkeypatch, at_once):
    train = typed(tmp_path, "--train", "--at-once", at_once, "--model", "window-L0", "--set", "schedule.steps=1000000", "--minutes", "0.02")
    done = CliRunner().invoke(app, train)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "window-L0" / "measured.json").read_text())["steps"] < 1_000_000
    assert "window-L0 is trained" in CliRunner().invoke(app, train).output
    assert "give --train too" in refused(capsys, monkeypatch, *typed(tmp_path, "--minutes", "1"))


def test_a_model_comes_after_the_one_it_goes_on_from(trained, capsys, monkeypatch):
    said = refused(capsys, monkeypatch, *typed(trained, "--train", "--model", "readout-L1"))
    assert "readout-L1 goes on from readout-L0, which is not trained to its end" in said
    assert "stream-L0" in refused(capsys, monkeypatch, *typed(trained, "--train", "--model", "stream-L7"))
    assert "--models FOLDER" in refused(capsys, monkeypatch, "paper", "clevrskills", "--train")


def test_all_models_have_the_same_size_within_a_fifth_and_could_ship():
    models = models_of("clevrskills")
    assert len({one.name for one in models}) == len(models) == 22
    sizes = []
    for recipe in {one.recipe: recipe_named(f"clevrskills/{one.recipe}", one.settings) for one in models}.values():
        with torch.device("meta"):
            sizes.append(parameters_of(kind_of(recipe).model(recipe)))
    assert max(sizes) <= 1.2 * min(sizes) and 2 * max(sizes) < SHIPPING - 100_000


def test_every_word_that_cells_ask_for_is_trained_by_a_model():
    asked = {word for table in tables_of("clevrskills") for word in table.trained}
    assert asked == {one.trained for one in models_of("clevrskills")}
