"""A state from which training goes on: exact or small, in pieces, and whole whatever happens while it is written."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from small_disks import files_of_at_most  # noqa: E402
from toys import SETTINGS, demonstrations  # noqa: E402

from etude.learn import state  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named, recipe_names  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)


def toy(*settings):
    trainer = Trainer(recipe_named("vima/objects-xattn", [*SETTINGS, *settings]))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    return trainer


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A toy after four steps, its folders, and the four losses that came afterwards."""
    trainer = toy()
    for _ in range(4):
        trainer.step(0.0)
    folders = {}
    for form in state.STATE_FORMS:
        folders[form] = tmp_path_factory.mktemp(form)
        trainer.save(folders[form], form)
    return folders, [float(trainer.step(0.0).sum()) for _ in range(4)]


@pytest.mark.parametrize(("form", "near"), [("full", 0.0), ("compact", 1e-3)])
def test_going_on_gives_the_losses_of_a_run_that_was_never_stopped(stopped, form, near):
    folders, losses = stopped
    trainer = toy()
    trainer.resume(folders[form])
    assert trainer.done == 4 and trainer.drawn == 32
    assert [float(trainer.step(0.0).sum()) for _ in range(4)] == pytest.approx(losses, abs=near, rel=0)


@pytest.mark.parametrize("name", recipe_names("vima"))
def test_every_recipe_has_a_state_of_at_most_sixty_megabytes_with_its_policy(name):
    """Ten bytes for each weight, and two more in the policy; names and shapes are small."""
    recipe = recipe_named(f"vima/{name}")
    count = parameters_of(kind_of(recipe).model(recipe))
    assert 12 * count + 200_000 <= 60e6


def test_no_piece_is_larger_than_asked_for_and_the_set_before_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "PIECE", 100_000)
    trainer = toy()
    kept = []
    for _ in range(2):
        trainer.step(0.0)
        trainer.save(tmp_path, "compact")
        kept.append({path.name: path.stat().st_size for path in (tmp_path / "state").iterdir() if path.name != state.INDEX})
    assert len(kept[1]) > 3 and max(kept[1].values()) <= 100_000
    assert not kept[0].keys() & kept[1].keys()
    whole = sum(kept[1].values())
    assert whole < 11 * parameters_of(trainer.model) + 100_000
    again = toy()
    again.resume(tmp_path)
    assert again.done == 2


@pytest.mark.parametrize("room", [10, 250_000, 320_000])
def test_on_a_full_disk_the_last_good_state_and_policy_stay(tmp_path, monkeypatch, room):
    """There is room for nothing, for some pieces, or for all pieces but not for the policy."""
    monkeypatch.setattr(state, "PIECE", 300_000)
    trainer = toy()
    trainer.step(0.0)
    trainer.save(tmp_path)
    there = {path.name for path in (tmp_path / "state").iterdir()}
    policy = (tmp_path / "model.safetensors").read_bytes()
    assert len(policy) > 320_000 and len(there) > 3
    trainer.step(0.0)
    with files_of_at_most(room), pytest.raises(EtudeError, match="cannot be written: File too large") as refusal:
        trainer.save(tmp_path)
    assert "\n" not in str(refusal.value)
    assert (tmp_path / "model.safetensors").read_bytes() == policy and load_model(tmp_path)
    again = toy()
    again.resume(tmp_path)
    if room < 300_000:
        assert again.done == 1 and {path.name for path in (tmp_path / "state").iterdir()} == there
    else:
        assert again.done == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.safetensors", "state"]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: next(folder.glob("*.part")).unlink(), "lacks its piece"),
        (lambda folder: _flip(next(folder.glob("*.part"))), "damaged"),
        (lambda folder: (folder / state.INDEX).write_text("{"), "not JSON"),
        (lambda folder: (folder / state.INDEX).write_text("[]"), "no list"),
        (lambda folder: (folder / state.INDEX).write_text(json.dumps({"format": "theirs", "pieces": {}})), "'theirs'"),
        (lambda folder: (folder / state.INDEX).write_text(json.dumps({"format": state.FORMAT, "pieces": {}})), "damaged"),
    ],
)
def test_a_damaged_or_foreign_state_gets_one_line(tmp_path, harm, said):
    trainer = toy()
    trainer.save(tmp_path)
    harm(tmp_path / "state")
    with pytest.raises(EtudeError, match=said) as refusal:
        trainer.resume(tmp_path)
    assert "\n" not in str(refusal.value)


def _flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_another_recipe_or_another_schedule_is_not_gone_on_with(stopped):
    folders, _ = stopped
    with pytest.raises(EtudeError, match="another recipe"):
        toy("schedule.rate=0.002").resume(folders["full"])
    with pytest.raises(EtudeError, match="to a number of steps, not by the clock"):
        toy().resume(folders["full"], clock=True)
