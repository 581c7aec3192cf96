"""A run becomes a policy of the zoo, which answers as torch does."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

for _module, _extra in (("torch", "learn"), ("safetensors", "learn"), ("onnxruntime", "zoo")):
    pytest.importorskip(_module, reason=f"{_module} is not installed (extra {_extra!r})")
pytest.importorskip("onnx", reason="onnx is not installed; policies are exported with it (pip install onnx)")

import torch  # noqa: E402
from refusing import refused  # noqa: E402
from toys import SETTINGS, demonstrations  # noqa: E402
from typer.testing import CliRunner  # noqa: E402
from zoos import install  # noqa: E402

from etude.cli import app  # noqa: E402
from etude.evaluation.plan import Plan  # noqa: E402
from etude.evaluation.play import Players, play  # noqa: E402
from etude.evaluation.run import Quiet, RunSettings, evaluate  # noqa: E402
from etude.learn import shipping  # noqa: E402
from etude.learn.checkpoint import learned_inference, load_model, save_model  # noqa: E402
from etude.learn.control import PICTURE_TOKENS  # noqa: E402
from etude.learn.keyposes import LONGEST_SENTENCE, NO_WORD, POSE_NUMBERS  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.onnx_export import exported  # noqa: E402
from etude.learn.onnx_inference import OnnxStrokeInference  # noqa: E402
from etude.learn.origins import training_command  # noqa: E402
from etude.learn.policy import prompt_arrays, thing_arrays  # noqa: E402
from etude.learn.samples import OBJECT, WORD, numbers_of  # noqa: E402
from etude.learn.zoo import cards_in  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.policies.loading import load_policy  # noqa: E402

torch.set_num_threads(1)
HISTORY = {"steps": 60, "drawn": 480, "episodes": 20, "seconds": 90.0}


def checkpoint(folder, name="vima/objects-xattn", seed=0, settings=SETTINGS):
    """A run of a tiny model that has learned nothing."""
    recipe = recipe_named(name, settings)
    torch.manual_seed(seed)
    save_model(folder / "model.safetensors", kind_of(recipe).model(recipe), recipe, **HISTORY)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return checkpoint(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def zoo(run, tmp_path_factory):
    """A distribution with the run's policy, and an evaluation of it on the card."""
    folder = tmp_path_factory.mktemp("distribution")
    package = folder / "src" / "shipped_zoo"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    evaluate(Plan(f"learned:{run}?device=cpu", ("vima/rotate@L1#1",)), run / "validation-60", RunSettings(workers=1), Quiet())
    done = CliRunner().invoke(
        app, ["zoo", "add", str(run), "--name", "toy-objects", "--zoo", str(folder), "--page", str(folder / "zoo.md")]
    )
    assert done.exit_code == 0, done.output
    return folder


def by_torch_and_onnx(run):
    """The policy of a run by torch, and by onnxruntime."""
    file = run / "model.safetensors"
    return learned_inference(file, "cpu"), OnnxStrokeInference(exported(load_model(file)[0]), "the export")


SMALL = ("model.width=32", "model.heads=2", "model.layers=1", "data.source.size=32")
KEYPOSES = {
    "himan/heatmaps": ("model.fine_layers=1", "model.size=32"),
    "himan/topdown": ("model.fine_layers=1", "model.size=32"),
    "himan/points": (),
}
TOLD_IN_TEXT = "data.source.told=text"
CONTROLS = {f"clevrskills/{form}": "model.looks=2" for form in ("window", "readout", "frame", "stream")}
CONTROLS["himan/chunks"] = "model.looks=1"


def both(folder, name, *more):
    """A model that has learned nothing, and its policy by torch and by onnxruntime."""
    file = checkpoint(folder, name, settings=(*SMALL, *more)) / "model.safetensors"
    return load_model(file)[0], learned_inference(file, "cpu"), learned_inference(file, "onnx")


@pytest.mark.parametrize(("name", "more"), KEYPOSES.items())
def test_exported_keyposes_are_those_of_torch(name, more, tmp_path):
    """With points at nearly the same depth, sentences of several lengths, and noise that counts where answers flow out of it."""
    model, *inferences = both(tmp_path, name, *more)
    draw = np.random.default_rng(0)
    for length in (0, 1, 9, LONGEST_SENTENCE):
        words = np.full((LONGEST_SENTENCE, 2), NO_WORD, np.int16)
        words[:length] = draw.integers(0, 99, (length, 2))
        look = {
            "points": draw.integers((0, 0, 30_000), (1 << 16, 1 << 16, 36_000), (model.source.points, 3), np.uint16),
            "colours": draw.integers(0, 256, (model.source.points, 3), np.uint8),
            "felt": np.array([0.1, 0, 0.3, 0, 1, 0, 0, 0, 0, 0.04], np.float32),
            "words": words,
        }
        told = {"start": draw.normal(size=POSE_NUMBERS).astype(np.float32)}
        one, other = (answered(inference, told, [look]) for inference in inferences)
        assert np.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "settings"), [(name, (looks,)) for name, looks in CONTROLS.items()] + [("clevrskills/frame", ("model.looks=2", TOLD_IN_TEXT))]
)
def test_exported_closed_loops_act_as_torch_does(name, settings, tmp_path):
    """Told with pictures and without, for longer than they remember; two episodes by turns, one of them put aside and taken up."""
    model, torchs, onnxs = both(tmp_path, name, *settings, "model.eye_layers=1", "model.prompt_layers=1", "model.grid=4")
    draw = np.random.default_rng(0)
    shown = 0 if TOLD_IN_TEXT in settings else 2
    episodes = [
        (toy_prompt(draw, model, words, pictures), [toy_look(draw, model) for _ in range(4)]) for words, pictures in ((5, shown), (3, 0))
    ]
    one = [answered(torchs, told, seen) for told, seen in episodes]
    for session, (told, _) in enumerate(episodes):
        onnxs.begin(session, told)
    other = [[], []]
    for k in range(4):
        onnxs.recall(7, onnxs.memory(0))
        for session, at in ((1, 1), (0, 7)):
            other[session] += onnxs.decide([at], [episodes[session][1][k]])
        onnxs.recall(0, onnxs.memory(7))
    assert np.allclose(one, other, atol=1e-4) and not np.allclose(one[0][0], one[0][1], atol=1e-4)


def toy_prompt(draw, model, words, pictures):
    cells = PICTURE_TOKENS * pictures
    return {
        "kinds": np.array([WORD] * words + [OBJECT] * cells, np.uint8),
        "words": draw.integers(0, 99, (words + cells, 2)).astype(np.int16),
        "places": np.arange(words + cells, dtype=np.int16),
        "rows": np.append(np.full(words, -1), np.arange(cells)).astype(np.int16),
        "pictures": draw.integers(0, 256, (pictures, model.source.size, model.source.size, 3), np.uint8),
        "start": draw.normal(size=(model.chunk, model.numbers)).astype(np.float32),
    }


def toy_look(draw, model):
    size = model.source.size
    frames = draw.integers(0, 256, (len(model.source.cameras), size, size, 3), np.uint8)
    return {"frames": frames, "felt": draw.normal(size=model.source.feels).astype(np.float32)}


def answered(inference, told, seen):
    """What is done after each look of an episode."""
    inference.begin(0, told)
    return [inference.decide([0], [look])[0] for look in seen]


def strokes(inference, told_arrays, seen, session=0):
    inference.begin(session, told_arrays)
    return np.array([numbers_of(inference.decide([session], [things])[0]) for things in seen])


@pytest.mark.parametrize(
    ("name", "more"),
    [("vima/objects-xattn", ()), ("vima/objects-concat", ("model.slot_positions=true", "model.pointing=false", "model.chained=false"))],
)
def test_the_export_answers_as_torch_does(name, more, tmp_path):
    """Over three steps of some episodes, with what was done between them, and where there is nothing to see or to read."""
    torchs, onnxs = by_torch_and_onnx(checkpoint(tmp_path, name, settings=(*SETTINGS, *more)))
    found = [one for _, _, one in demonstrations()[:4]]
    cases = [(prompt_arrays(one.prompt), [thing_arrays(other.seen[0]) for other in (one, *found[:2])]) for one in found]
    told_arrays, seen = cases[0]
    nothing = {name: array[:0] for name, array in seen[0].items()}
    cases += [({name: array[:0] for name, array in told_arrays.items()}, [nothing, seen[0], nothing])]
    for told_to_both, shown in cases:
        assert np.allclose(strokes(torchs, told_to_both, shown), strokes(onnxs, told_to_both, shown), atol=1e-3)


def test_sessions_of_the_export_do_not_know_of_each_other(zoo):
    inference = OnnxStrokeInference((zoo / "src" / "shipped_zoo" / "toy-objects.onnx").read_bytes(), "the export")
    found = [one for _, _, one in demonstrations()[:3]]
    for session, one in enumerate(found):
        inference.begin(session, prompt_arrays(one.prompt))
    together = inference.decide([2, 0, 1], [thing_arrays(found[k].seen[0]) for k in (2, 0, 1)])
    for k, action in zip((2, 0, 1), together, strict=True):
        assert np.array_equal(
            strokes(inference, prompt_arrays(found[k].prompt), [thing_arrays(found[k].seen[0])], 5)[0], numbers_of(action)
        )


def test_weights_take_two_bytes_each(zoo):
    (card,) = cards_in(zoo / "src" / "shipped_zoo")
    assert card.bytes < 2 * card.parameters + 120_000  # the rest is the graph


def test_a_policy_of_the_zoo_plays_and_says_what_computes_it(zoo, run, monkeypatch):
    install(zoo / "src" / "shipped_zoo", monkeypatch)
    players = Players("zoo:toy-objects")
    about = players.policy.about
    assert about["backend"].startswith("onnxruntime") and about["device"] == "cpu" and len(about["weights"]) == 16
    mine, theirs = (play(p, "vima/rotate@L1#2")[0] for p in (players, Players(f"learned:{run}?device=cpu")))
    assert (mine.steps, mine.success) == (theirs.steps, theirs.success) and mine.reward == pytest.approx(theirs.reward, abs=0.05)
    file = zoo / "src" / "shipped_zoo" / "toy-objects.onnx"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    try:
        with pytest.raises(EtudeError, match="damaged"):
            load_policy("zoo:toy-objects")
    finally:
        file.write_bytes(whole)


def test_a_checkpoint_is_played_by_onnxruntime_where_that_is_asked_for(run, tmp_path):
    played = evaluate(Plan(f"learned:{run}?device=onnx", ("vima/rotate@L1#1",)), tmp_path / "run", RunSettings(workers=1), Quiet())
    told = json.loads((tmp_path / "run" / "run.json").read_text())["code"]["policy"]
    assert told["backend"].startswith("onnxruntime") and told["weights"] == load_policy(f"learned:{run}?device=cpu").about["weights"]
    (record,) = played.records
    (other,) = evaluate(
        Plan(f"learned:{run}?device=cpu", ("vima/rotate@L1#1",)), tmp_path / "other", RunSettings(workers=1), Quiet()
    ).records
    assert (record.outcome, record.steps) == (other.outcome, other.steps)
    decider = checkpoint(tmp_path / "decider", "iwisdm/decider", settings=("model.width=48", "model.layers=1"))
    with pytest.raises(EtudeError, match="has learned decisions; what is exported and played by onnxruntime is strokes, keyposes"):
        load_policy(f"learned:{decider}?device=onnx")


def test_what_is_no_graph_is_told_in_one_line():
    with pytest.raises(EtudeError, match="cannot read the weights of zoo:x"):
        OnnxStrokeInference(b"nothing", "the weights of zoo:x")


def test_the_card_has_what_the_run_knows(zoo):
    (card,) = cards_in(zoo / "src" / "shipped_zoo")
    assert card.suite == "vima" and card.family == "objects-xattn" and card.difference <= 1e-3
    assert card.trained_on == "20 episodes of vima@train (rotate), each drawn 24 times"
    assert [(row["split"], row["episodes"]) for row in card.results] == [("L1", 1)] and card.tasks[0]["task"] == "rotate"
    assert "zoo:toy-objects" in (zoo / "zoo.md").read_text()


@pytest.mark.parametrize("settings", [SETTINGS, (*SETTINGS, "data.source.weights=rotate:2", "data.shuffle=false", "schedule.steps=70")])
def test_the_command_on_a_card_trains_the_same_recipe(settings):
    recipe = recipe_named("vima/objects-concat", settings)
    _, _, name, length, number, *words = shlex.split(training_command(recipe, HISTORY))
    given = [word for word in words if "=" in word]
    if recipe.schedule.steps == HISTORY["steps"]:
        assert length == "--steps"
        given.append(f"schedule.steps={number}")
    else:
        assert (length, number) == ("--minutes", "1.5")
    assert recipe_named(name, given) == recipe


def test_results_of_another_policy_are_refused(zoo, run, tmp_path):
    other = checkpoint(tmp_path, seed=1)
    with pytest.raises(EtudeError, match="results of another policy"):
        shipping.add_to_zoo(other, "other", zoo, tmp_path / "zoo.md", [run / "validation-60"])


def test_a_run_that_learned_decisions_is_no_policy_of_the_zoo(zoo, tmp_path, capsys, monkeypatch):
    decider = checkpoint(tmp_path, "iwisdm/decider", settings=("model.width=16", "model.heads=2", "model.layers=1"))
    said = refused(capsys, monkeypatch, "zoo", "add", str(decider), "--name", "decider", "--zoo", str(zoo))
    assert f"{decider} has learned decisions; what is exported and played by onnxruntime is strokes" in said
    assert [card.name for card in cards_in(zoo / "src" / "shipped_zoo")] == ["toy-objects"]


def test_bad_names_and_places_get_one_line(run, tmp_path, capsys, monkeypatch):
    assert "no name for a policy" in refused(capsys, monkeypatch, "zoo", "add", str(run), "--name", "Mine!")
    assert "no distribution" in refused(capsys, monkeypatch, "zoo", "add", str(run), "--name", "mine", "--zoo", str(tmp_path))


def test_a_policy_that_is_too_large_or_answers_otherwise_is_not_added(zoo, run, tmp_path, monkeypatch):
    page = tmp_path / "zoo.md"
    with monkeypatch.context() as patch, pytest.raises(EtudeError, match="smaller model"):
        patch.setattr(shipping, "MOST", 1000)
        shipping.add_to_zoo(run, "large", zoo, page)
    with monkeypatch.context() as patch, pytest.raises(EtudeError, match="differ from torch"):
        patch.setattr(shipping, "APART", -1.0)
        shipping.add_to_zoo(run, "other", zoo, page)
    assert [card.name for card in cards_in(zoo / "src" / "shipped_zoo")] == ["toy-objects"] and not page.exists()


def test_an_export_that_nothing_was_compared_on_is_refused(run, monkeypatch):
    torchs, onnxs = by_torch_and_onnx(run)
    monkeypatch.setattr(shipping, "CHECKED", 0)
    with pytest.raises(EtudeError, match="to compare the exported policy on"):
        shipping.largest_difference(torchs, onnxs, load_model(run)[1])
