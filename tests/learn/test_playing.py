"""A checkpoint plays: through the policies' own protocol, and many episodes at once."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from refusing import refused, told  # noqa: E402
from toys import SETTINGS, demonstrations  # noqa: E402

from etude.evaluation.play import Players, play  # noqa: E402
from etude.learn.playing import play_all  # noqa: E402
from etude.learn.policy import learned_policy  # noqa: E402
from etude.learn.recipes import recipe_named  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
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
    trainer.save(tmp_path_factory.mktemp("run"))
    return tmp_path_factory.getbasetemp() / "run0"


def test_a_policy_plays_alone_as_it_plays_in_a_batch(folder):
    players = Players(f"learned:{folder}?device=cpu")
    alone = {name: play(players, name)[0] for name in NAMES}
    together = {o.episode: o for o in play_all(learned_policy(f"{folder}?device=cpu"), NAMES, workers=2, together=1)}
    for name in NAMES:
        assert alone[name].steps == together[name].steps
        assert (alone[name].outcome == "success") == together[name].success


def test_slots_are_shuffled_by_the_policy_itself(folder):
    policy = learned_policy(str(folder))
    _, name, one = next(d for d in demonstrations() if len(d[2].seen[0]) > 1)
    orders = set()
    for seed in range(8):
        history = policy.begin(one.prompt, f"{name}{seed}")
        policy.look(history, one.seen[0])
        orders.add(history.seen[0].boxes.tobytes())
    assert len(orders) > 1


def test_another_suite_is_refused_by_name(folder):
    with pytest.raises(EtudeError, match="camera"):
        play(Players(f"learned:{folder}?device=cpu"), "clevrskills/pick@train#0")


def test_a_wrong_policy_gets_one_line(folder):
    with pytest.raises(EtudeError, match="device"):
        load_policy(f"learned:{folder}?devic=cpu")
    with pytest.raises(EtudeError, match="cannot be read"):
        load_policy("learned:nowhere")
    with pytest.raises(EtudeError, match="before"):
        learned_policy(str(folder)).act({})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu_where_one_was_asked_for_gets_one_line(capsys, monkeypatch, tmp_path):
    assert "no GPU" in refused(capsys, monkeypatch, "train", "vima/objects-xattn", "--out", str(tmp_path))


def test_the_command_trains_and_goes_on(capsys, monkeypatch, tmp_path):
    settings = [part for setting in (*SETTINGS, "data.start=3", "data.fresh=1", "data.most=4") for part in ("--set", setting)]
    command = ("train", "vima/objects-xattn", "--out", str(tmp_path), "--device", "cpu", "--workers", "1", "--steps", "2", *settings)
    said = told(capsys, monkeypatch, *command, "--validate", "1")
    assert "parameters" in said and "| rotate | 0 of 1 |" in said
    assert learned_policy(f"{tmp_path}?device=cpu").recipe.schedule.steps == 2
    kept = (tmp_path / "model.safetensors").read_bytes()
    told(capsys, monkeypatch, *command)  # there is nothing left to do
    assert (tmp_path / "model.safetensors").read_bytes()[-1000:] == kept[-1000:]


def test_minutes_and_steps_exclude_each_other(capsys, monkeypatch, tmp_path):
    both = ("--minutes", "1", "--steps", "3")
    assert "not both" in refused(capsys, monkeypatch, "train", "vima/objects-xattn", "--out", str(tmp_path), *both)
