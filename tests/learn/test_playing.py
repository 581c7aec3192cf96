"""A checkpoint plays: through the policies' own protocol, and many episodes at once."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from refusing import refused, told  # noqa: E402
from toys import SETTINGS, demonstrations  # noqa: E402

from etude.envs.observer import Observer  # noqa: E402
from etude.envs.simulation import Simulation  # noqa: E402
from etude.evaluation.local import Local  # noqa: E402
from etude.evaluation.play import Players, play  # noqa: E402
from etude.evaluation.store import read_run  # noqa: E402
from etude.evaluation.worker import Job  # noqa: E402
from etude.learn.buffer import DemonstrationBuffer  # noqa: E402
from etude.learn.checkpoint import learned_inference, load_model  # noqa: E402
from etude.learn.curve import read_curve  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.policy import StrokeEncoder, prompt_arrays, thing_arrays  # noqa: E402
from etude.learn.samples import Demonstration, action_of, numbers_of  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.library import find  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.policies.loading import load_policy  # noqa: E402

torch.set_num_threads(1)
NAMES = ["vima/rotate@L1#1", "vima/rotate@L1#2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with a policy that has learned next to nothing."""
    trainer = Trainer(recipe_named("vima/objects-xattn", SETTINGS))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    trainer.step(0.0)
    place = tmp_path_factory.mktemp("run")
    trainer.save(place)
    return place


def test_one_process_decides_for_all_simulations_as_each_would_alone(folder, tmp_path):
    policy = f"learned:{folder}?device=cpu"
    players = Players(policy)
    alone = {name: play(players, name)[0] for name in NAMES}
    with Local(Job(policy, str(tmp_path)), workers=2, shared=True) as executor:
        assert executor.hello()["code"]["policy"] == dict(players.policy.about)
        together = {record.episode: record for record in executor.play([(name, "vanilla") for name in NAMES])}
    for name in NAMES:
        assert replace(alone[name], timings={}) == replace(together[name], timings={})


def test_a_run_ends_in_one_line_when_nobody_decides_any_more(folder, tmp_path):
    with Local(Job(f"learned:{folder}?device=cpu", str(tmp_path)), workers=2, shared=True) as executor:
        executor.hello()
        executor._inference.process.kill()
        with pytest.raises(EtudeError, match="decides for all"):
            list(executor.play([(name, "vanilla") for name in NAMES]))


def test_a_checkpoint_that_cannot_be_read_is_told_by_the_process_that_decides(tmp_path):
    executor = Local(Job(f"learned:{tmp_path}?device=cpu", str(tmp_path)), workers=2, shared=True)
    with executor, pytest.raises(EtudeError, match="cannot be read"):
        executor.hello()


def test_the_weights_and_what_computes_them_are_kept_with_a_run(folder):
    about = Players(f"learned:{folder}?device=cpu").policy.about
    assert about["device"] == "cpu" and about["backend"].startswith("torch") and len(about["weights"]) == 16


def test_sessions_are_decided_apart_however_many_ask(folder):
    found = [one for _, _, one in demonstrations()[:3]]
    inference = learned_inference(folder / "model.safetensors", "cpu")
    for session, one in enumerate(found):
        inference.begin(session, prompt_arrays(one.prompt))
    together = inference.decide([0, 1, 2], [thing_arrays(one.seen[0]) for one in found])
    for one, wanted in zip(found, together, strict=True):
        other = learned_inference(folder / "model.safetensors", "cpu")
        other.begin(7, prompt_arrays(one.prompt))
        assert np.array_equal(other.decide([7], [thing_arrays(one.seen[0])])[0], wanted)


def test_what_was_made_before_gives_the_answers_of_a_batch(folder):
    """The way of training and that of playing are one model: over three steps, with what was done between them."""
    _, _, one = next(d for d in demonstrations() if len(d[2].seen) > 0)
    model, _, _ = load_model(folder)
    inference = learned_inference(folder / "model.safetensors", "cpu")
    inference.begin(0, prompt_arrays(one.prompt))
    done = np.zeros((0, 5), np.float32)
    for step in range(1, 4):
        action = inference.decide([0], [thing_arrays(one.seen[0])])[0]
        before = np.concatenate([done, np.zeros((1, 5), np.float32)])
        whole = Demonstration(one.prompt, (one.seen[0],) * step, before, before, np.zeros(step, np.bool_))
        buffer = DemonstrationBuffer()
        buffer.add([whole])
        with torch.no_grad():
            wanted = model.answers(buffer.batch(torch.arange(1))).numpy()[0]
        assert np.allclose(numbers_of(action), numbers_of(action_of(wanted)), atol=1e-4)
        done = np.concatenate([done, numbers_of(action)[None]])


def test_slots_are_shuffled_by_the_policy_itself(folder):
    _, recipe, contract = load_model(folder)
    players = Players(f"learned:{folder}?device=cpu")
    simulation = Simulation(find("vima/rearrange@L1#1"))
    seen = Observer(simulation, contract.cameras, contract.size, contract.modalities).look()
    orders = set()
    for seed in range(8):
        encoder = StrokeEncoder(recipe, contract)
        encoder.told("", (), f"vima/rearrange@L1#{seed}")
        orders.add(encoder.saw(seen)["boxes"].tobytes())
    assert len(orders) > 1 and players.policy.contract == contract.as_etude()


def test_another_suite_is_refused_by_name(folder):
    with pytest.raises(EtudeError, match="camera"):
        play(Players(f"learned:{folder}?device=cpu"), "clevrskills/pick@train#0")


def test_a_wrong_policy_gets_one_line(folder):
    with pytest.raises(EtudeError, match="device"):
        load_policy(f"learned:{folder}?devic=cpu")
    with pytest.raises(EtudeError, match="cannot be read"):
        load_policy("learned:nowhere")
    with pytest.raises(EtudeError, match="before"):
        load_policy(f"learned:{folder}").act({})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu_where_one_was_asked_for_gets_one_line(capsys, monkeypatch, tmp_path):
    assert "no GPU" in refused(capsys, monkeypatch, "train", "vima/objects-xattn", "--out", str(tmp_path))


def test_the_command_trains_and_plays_held_out_episodes_as_it_goes(capsys, monkeypatch, tmp_path):
    settings = [part for setting in (*SETTINGS, "data.start=3", "data.fresh=1", "data.most=4") for part in ("--set", setting)]
    command = ("train", "vima/objects-xattn", "--out", str(tmp_path), "--device", "cpu", "--workers", "1", "--steps", "2", *settings)
    said = told(capsys, monkeypatch, *command, "--validate", "1", "--every", "1")
    assert "parameters" in said and "step 1 of 2: loss" in said and "held-out loss" in said and "rotate" in said
    assert load_model(tmp_path)[1].schedule.steps == 2
    points = read_curve(tmp_path)
    assert [(point.step, point.validated, point.episodes) for point in points] == [(1, 1, 3), (2, 1, 4)]
    for point in points:
        (record,) = read_run(tmp_path / f"validation-{point.step}").records
        assert point.success == record.success and record.name.split == "train"
    page = (tmp_path / "curve.html").read_text()
    assert "Loss: " in page and "Success on held-out" in page and len(page) < 100_000 and "http" not in page.replace("http-equiv", "")
    numbers = json.loads((tmp_path / "measured.json").read_text())
    assert numbers["episodes"] == 4 and numbers["seen"] == 16 / 4 and numbers["stream_episodes_per_second_by_workers"]["1"] > 0
    kept = {name: (tmp_path / name).read_bytes() for name in ("model.safetensors", "curve.jsonl", "state/index.json")}
    told(capsys, monkeypatch, *command)  # there is nothing left to do
    assert kept == {name: (tmp_path / name).read_bytes() for name in kept}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vima/objects-xattn", "--minutes", "1", "--steps", "3"], "not both"),
        (["vima/objects-xattn", "--minutes", "0"], "more than 0 minutes"),
        (["vima/objects-xattn", "--every", "5"], "--validate says how many"),
        (["vima/objects-xattn", "--state", "smal"], "compact"),
        (["vima/objects-xattn", "--device", "gpu"], "cuda or cpu"),
        (["vima/objects-xattn", "--set", "data.source.split=L2"], "for testing"),
        (["vima/patches-xattn", "--data", "somewhere"], "has objects to learn from, but the model sees patches"),
        (["clevrskills/objects-xattn"], "camera: policy wants 'front', clevrskills has"),
        (["iwisdm/objects-xattn"], "iwisdm"),
    ],
)
def test_what_cannot_be_trained_gets_one_line(capsys, monkeypatch, tmp_path, arguments, said):
    command = ["train", *arguments, "--out", str(tmp_path / "run"), "--workers", "1"]
    assert said in refused(capsys, monkeypatch, *command, *(["--device", "cpu"] if "--device" not in arguments else []))
    assert not (tmp_path / "run").exists()
