"""What a paper's models have played outlives their weights: tables are made of small files, and nothing in them is played again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from checkpoint_fixtures import written_checkpoint
from refusing import refused, told
from run_fixtures import record

import etude
from etude.evaluation.plan import Plan
from etude.evaluation.run import Quiet, RunSettings
from etude.evaluation.store import Run, read_run
from etude.names import EtudeError
from etude.papers.kept import ENDING, KeptResults, packed, unpacked
from etude.papers.models import models_of, trained_models
from etude.papers.playing import ANY, PaperPlayers, PolicyLine, play, tables_of

NAME = "objects-xattn-paraphrases"
SUFFIXES = ("", "+gobbledygook_words", "+gobbledygook_tokens")
TASK = "visual_manipulation"
TORCH, ONNX = "torch 2.13.0 on cpu", "onnxruntime 1.31.1 on cpu"


def checkpoint(folder, name: str = NAME, suite: str = "vima") -> None:
    (model,) = (one for one in models_of(suite) if one.name == name)
    written_checkpoint(folder / name, f"{suite}/{model.recipe}", *model.settings)


def shelf_of(tmp_path, suite: str = "vima") -> KeptResults:
    models = tmp_path / "models"
    found = KeptResults(tmp_path / "kept", suite, models_of(suite), trained_models(suite, models), models)
    found.stand({one.model.name: one.address() for one in found.models})
    return found


def player(tmp_path, name: str = NAME, planner: str | None = None, mode: str = "vanilla") -> PaperPlayers:
    return PaperPlayers(f"learned:{tmp_path}/models/{name}", planner and f"learned:{tmp_path}/models/{planner}", mode)


def records(seeds: int = 2, level: str = "L1"):
    names = [f"vima/{TASK}@{level}#{seed}{suffix}" for suffix in SUFFIXES for seed in range(seeds)]
    return [record(name, suffix < 4, level=level, steps=1 + suffix % 2, least=1) for suffix, name in enumerate(names)]


def test_results_are_the_same_after_they_were_packed(tmp_path):
    names = ["himan/open_drawer@test#0", "iwisdm/low@test#0", "vima/rotate@L1#0", "vima/rotate@L1#1+paraphrase"]
    played = etude.evaluate("oracle", names, out=tmp_path / "run").records
    found = {one.episode: one for one in unpacked(json.loads(json.dumps(packed(played))))}
    assert list(found) == sorted(names)
    for one in played:
        again, spoken = found[one.episode], one.episode.startswith("iwisdm")  # the answers that were given are words of their own
        wordless = tuple(replace(goal, words=goal.words if spoken else "") for goal in one.subgoals)
        assert (again.outcome, again.steps, again.reward, again.least, again.subgoals) == (
            one.outcome, one.steps, one.reward, one.least, wordless,
        )  # fmt: skip
        assert again.mode == one.mode and again.first_failure == one.first_failure and not again.timings


def test_what_is_kept_grows_and_belongs_to_its_weights(tmp_path):
    checkpoint(tmp_path / "models")
    shelf, who = shelf_of(tmp_path), player(tmp_path)
    assert shelf.known(who) == {} and shelf.absent(who) == ""
    shelf.keep(who, records(1), TORCH)
    shelf.keep(who, records(2)[1:], TORCH)
    assert set(shelf_of(tmp_path).known(who)) == {one.episode for one in records(2)}
    shutil.rmtree(tmp_path / "models")
    gone = shelf_of(tmp_path)
    assert [one.model.name for one in gone.models] == [NAME] and not gone.models[0].here
    assert len(gone.known(who)) == 6 and gone.absent(who) == f"the weights of {NAME} are not there"
    checkpoint(tmp_path / "models")
    file = tmp_path / "models" / NAME / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    with pytest.raises(EtudeError, match=r"has results of other weights \(\w{16}\) than those in .* \(\w{16}\): keep these in another"):
        shelf_of(tmp_path)


def test_a_model_that_played_on_two_backends_says_how_many_episodes_on_each(tmp_path, capsys, monkeypatch):
    models, kept = tmp_path / "models", tmp_path / "kept"
    checkpoint(models)
    listed = ["paper", "vima", "--models", str(models), "--kept", str(kept)]
    shelf_of(tmp_path).keep(player(tmp_path), records(2), TORCH)
    assert shelf_of(tmp_path).backends() == {NAME: {TORCH: 6}}
    text = told(capsys, monkeypatch, *listed)
    assert "played on" in text and TORCH in text and "6 episodes" not in text
    shelf_of(tmp_path).keep(player(tmp_path), records(3)[2:4], ONNX)  # one that is there already, and a new one
    assert shelf_of(tmp_path).backends() == {NAME: {TORCH: 5, ONNX: 2}}
    shutil.rmtree(models)
    assert f"{TORCH} (5 episodes) and {ONNX} (2 episodes)" in told(capsys, monkeypatch, *listed)
    assert "played on" not in told(capsys, monkeypatch, "paper", "vima", "--models", str(models))


@pytest.mark.parametrize(
    ("backends", "expected"), [(("onnxruntime 1",), "onnxruntime 1 on cpu"), (("torch 2", "torch 3"), "torch 2 on cpu and torch 3 on cpu")]
)
def test_what_is_played_is_kept_with_the_backend_that_its_run_names(tmp_path, backends, expected):
    checkpoint(tmp_path / "models")
    shelf, who = shelf_of(tmp_path), player(tmp_path)
    first, *later = ({"policy": {"weights": "w", "backend": one, "device": "cpu"}, "planner": None} for one in backends)
    run = Run(tmp_path, Plan("p", ("vima/rotate@L1#0",)), {"code": first, "sittings": [{"code": one} for one in later]}, ())
    shelf.keep(who, records(1), run.backend)
    assert shelf.backends() == {NAME: {expected: 3}}


def test_results_with_a_planner_belong_to_both(tmp_path):
    policy, planner = "heatmaps-L1", next(one.name for one in models_of("himan") if one.recipe == "planner" and one.trained == "L1")
    for name in (policy, planner):
        checkpoint(tmp_path / "models", name, "himan")
    who = player(tmp_path, policy, planner, "coupled")
    one = record("himan/open_drawer@test#0", mode="coupled", fault=None)
    shelf = shelf_of(tmp_path, "himan")
    shelf.keep(who, [one], TORCH)
    assert set(shelf.known(who)) == {one.episode} and shelf.known(player(tmp_path, policy, None, "rule")) == {}
    shelf.keep(PaperPlayers("oracle", who.planner, "offline"), [record("himan/open_drawer@test#1", mode="offline")], TORCH)
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {f"{policy}{ENDING}", f"{planner}{ENDING}"}
    file = tmp_path / "models" / planner / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    (tmp_path / "kept" / f"{planner}{ENDING}").unlink()
    with pytest.raises(EtudeError, match=r"other weights .* of the planner"):
        shelf_of(tmp_path, "himan").known(who)


def test_tables_are_made_of_what_is_kept_when_the_weights_are_gone(tmp_path, capsys, monkeypatch):
    models, kept = tmp_path / "models", tmp_path / "kept"
    checkpoint(models)
    for level in ("L1", "L2", "L3"):
        shelf_of(tmp_path).keep(player(tmp_path), records(2, level), TORCH)
    shutil.rmtree(models)
    command = [
        "paper",
        "vima",
        "--models",
        str(models),
        "--kept",
        str(kept),
        "--tables",
        "3",
        "--task",
        TASK,
        "--out",
        str(tmp_path / "out"),
    ]
    text = told(capsys, monkeypatch, *command, "--episodes", "2")
    assert "here: Cross-Attn + Obj-Centric" in text and "18 episodes played" in text
    assert not list((tmp_path / "out").glob("**/plan.json"))  # nobody played
    text = told(capsys, monkeypatch, *command, "--episodes", "3")
    assert f"3 of 9 episodes are missing: the weights of {NAME} are not there" in text
    listed = told(capsys, monkeypatch, "paper", "vima", "--models", str(models), "--kept", str(kept))
    assert "4.00 to 2.00" in listed


class Stopping(Quiet):
    """Somebody interrupts after the first episode."""

    def ended(self, record) -> None:
        raise KeyboardInterrupt


class Shelf:
    """Remembers what it is given."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def known(self, who):
        return {}

    def absent(self, who):
        return ""

    def keep(self, who, records, backend) -> None:
        self.kept += [one.episode for one in records]


def test_what_was_finished_before_an_interrupt_is_kept(tmp_path):
    (table,) = (one for one in tables_of("vima") if one.number == "Table 6")
    shelf, line = Shelf(), PolicyLine("noop", {ANY: "noop"})
    settings = RunSettings(workers=1)
    with pytest.raises(KeyboardInterrupt):
        play([table], [line], tmp_path, episodes={"Table 6": 2}, task=[TASK], settings=settings, progress=Stopping(), shelf=shelf)
    assert shelf.kept == [record.episode for record in read_run(next(tmp_path.glob("*/vanilla"))).records]
    assert len(shelf.kept) >= 1 and len(set(shelf.kept)) == len(shelf.kept)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"no results", "damaged, or something else"), (None, "results of the suite 'himan', expected 'vima'")],
)
def test_files_that_hold_something_else_are_refused(tmp_path, capsys, monkeypatch, content, why):
    models, kept = tmp_path / "models", tmp_path / "kept"
    checkpoint(models)
    shelf_of(tmp_path).keep(player(tmp_path), records(1), TORCH)
    file = kept / f"{NAME}{ENDING}"
    if content is None:
        checkpoint(models, "heatmaps-L1", "himan")
        shelf = KeptResults(kept, "himan", models_of("himan"), trained_models("himan", models), models)
        shelf.stand({one.model.name: one.address() for one in shelf.models})
        shelf.keep(player(tmp_path, "heatmaps-L1"), records(1), TORCH)
        content = (kept / f"heatmaps-L1{ENDING}").read_bytes()
    file.write_bytes(content)
    assert why in refused(capsys, monkeypatch, "paper", "vima", "--models", str(models), "--kept", str(kept), "--out", str(tmp_path / "o"))


def test_what_is_kept_is_of_the_papers_models(tmp_path, capsys, monkeypatch):
    line = refused(capsys, monkeypatch, "paper", "vima", "--policy", "oracle", "--kept", str(tmp_path), "--out", str(tmp_path / "o"))
    assert "say with --models FOLDER where they are" in line
