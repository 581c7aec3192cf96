"""Models learn what they are shown, and what they have learned is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from toys import SETTINGS, demonstrations  # noqa: E402

from etude.learn import buffer  # noqa: E402
from etude.learn.buffer import DemonstrationBuffer  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.demonstrating import demonstrate  # noqa: E402
from etude.learn.header import NAME  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.strokes import AXES, best, softened  # noqa: E402
from etude.learn.named_recipes import recipe_named, recipe_names  # noqa: E402
from etude.learn.stream import GivenSamples  # noqa: E402
from etude.learn.train import Trainer, train  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)


def trained(steps, name="vima/objects-xattn", **changed):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(recipe_named(name, [*SETTINGS, *(f"model.{k}={v}" for k, v in changed.items())]))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@pytest.mark.parametrize("name", ["vima/objects-xattn", "vima/objects-concat"])
def test_a_toy_learns_twenty_demonstrations_by_heart(name):
    trainer, losses = trained(1, name)
    for step in range(80):
        trainer.step(step / 80)
    with torch.no_grad():
        after = float(trainer.model.eval().losses(trainer.buffer.batch(torch.arange(20))).mean(0).sum())
    assert after < 0.25 * losses[0]


@pytest.mark.parametrize(
    ("name", "numbers", "wanted"),
    [("vima/objects-xattn", 494_614, [12.0661, 11.9324, 10.3353]), ("vima/objects-concat", 490_326, [11.6432, 11.8019, 10.7803])],
)
def test_a_model_with_words_of_its_own_is_the_one_it_was(name, numbers, wanted):
    trainer, losses = trained(3, name)
    assert parameters_of(trainer.model) == numbers and losses == pytest.approx(wanted, abs=1e-3)


def test_a_batch_in_lots_of_like_length_is_learned_from_as_if_it_were_whole(monkeypatch):
    monkeypatch.setattr(buffer, "LEAST", 4)
    short = [one for _, _, one in demonstrations()][:6]
    twice = [replace(d, seen=d.seen * 2, **{k: np.concatenate([getattr(d, k)] * 2) for k in ("done", "labels", "counts")}) for d in short]
    found = []
    for lots in (1, 3):
        monkeypatch.setattr(buffer, "LOTS", lots)
        trainer = Trainer(recipe_named("vima/objects-xattn", [*SETTINGS, "model.dropout=0", "model.jitter=0"]))
        trainer.buffer.add(twice + short)
        drawn = trainer.buffer.lots(torch.arange(12))
        assert len(drawn) == lots and sorted(torch.cat(list(drawn)).tolist()) == list(range(12))
        steps = [trainer.buffer.batch(lot).seen.shape[1] for lot in drawn]
        found.append(([float(trainer.step(0.0).sum()) for _ in range(3)], steps))
    (whole, wide), (divided, rising) = found
    assert divided == pytest.approx(whole, abs=1e-4) and wide == [max(rising)] and rising[0] < rising[-1]


@pytest.mark.parametrize("changed", [{"chained": "false"}, {"pointing": "false"}, {"slot_positions": "true"}])
def test_variants_of_the_model_learn_too(changed):
    _, losses = trained(12, **changed)
    assert min(losses[-3:]) < 0.9 * losses[0]


@pytest.mark.parametrize("name", ["vima/patches-xattn", "vima/patches-concat"])
def test_models_that_see_patches_learn_from_the_same_episodes(name):
    trainer = Trainer(recipe_named(name, [*SETTINGS, "schedule.batch=3"]))
    shown = [demonstrate(name, "patches") for _, name, _ in demonstrations()[:3]]
    assert all(len(things) == 8 for one in shown for things in one.seen)
    trainer.buffer.add(shown)
    losses = [float(trainer.step(0.0).sum()) for _ in range(8)]
    assert min(losses[-3:]) < 0.9 * losses[0]


@pytest.mark.parametrize("name", recipe_names("vima"))
def test_a_checkpoint_of_every_recipe_is_at_most_ten_megabytes(name):
    recipe = recipe_named(f"vima/{name}")
    assert 3e6 < parameters_of(kind_of(recipe).model(recipe)) < 4.95e6


def test_what_comes_later_changes_nothing_that_was_decided_before():
    trainer, _ = trained(2)
    long = demonstrate("vima/same_shape@train#0", "objects")
    whole, first = DemonstrationBuffer(), DemonstrationBuffer()
    whole.add([long])
    first.add([type(long)(long.prompt, long.seen[:1], long.done[:1], long.labels[:1], long.counts[:1])])
    with torch.no_grad():
        guesses = [trainer.averaged.guesses(buffer.batch(torch.arange(1)))[0] for buffer in (whole, first)]
    assert torch.allclose(guesses[0], guesses[1], atol=1e-4)


def test_the_order_of_slots_means_nothing_to_a_model_without_positions():
    trainer, _ = trained(2)
    buffer = trainer.buffer
    with torch.no_grad():
        plain, mixed = (trainer.averaged.losses(buffer.batch(torch.arange(8), g)) for g in (None, torch.Generator().manual_seed(1)))
    assert torch.allclose(plain, mixed, atol=1e-4)


def test_a_number_comes_back_from_its_distribution():
    for axis in AXES:
        values = torch.linspace(axis.low + 0.02, axis.high - 0.02, 37)
        width = (axis.high - axis.low) / axis.bins
        assert (best(softened(values, axis).log(), axis) - values).abs().max() < 0.2 * width


def test_a_checkpoint_holds_its_recipe_and_answers_as_before(tmp_path):
    trainer, _ = trained(3)
    trainer.save(tmp_path)
    model, recipe, contract = load_model(tmp_path)
    assert recipe == trainer.recipe and contract.told == "views" and contract.modalities == ("objects",)
    batch = trainer.buffer.batch(torch.arange(4))
    with torch.no_grad():
        assert torch.allclose(model.answers(batch), trainer.averaged.answers(batch), atol=0.02)


def test_resuming_gives_the_losses_of_a_run_that_was_never_stopped(tmp_path):
    whole, losses = trained(8)
    first, _ = trained(4)
    first.save(tmp_path)
    second = Trainer(first.recipe)
    second.buffer.add([one for _, _, one in demonstrations()])
    second.resume(tmp_path)
    assert [float(second.step(0.0).sum()) for _ in range(4)] == pytest.approx(losses[4:], abs=1e-6)
    assert whole.done == second.done == 8


def test_going_on_by_the_clock_waits_for_what_was_there_before_if_it_is_read_again(tmp_path):
    first = Trainer(recipe_named("vima/objects-xattn", [*SETTINGS, "data.start=2"]))
    first.buffer.add([one for _, _, one in demonstrations()])
    first.step(0.0)
    first.save(tmp_path, clock=True)
    second = Trainer(first.recipe)
    second.resume(tmp_path, clock=True, saved=True)
    assert list(train(second, GivenSamples(demonstrations()), minutes=60, asked=lambda: second.done > first.done))
    assert second.there == second.episodes == first.episodes == 20


class SlowToBegin(GivenSamples):
    """Demonstrations whose first takes as long as all of the training."""

    def fill(self, buffer, timeout=0.0):
        clock.now += 60.0 * (not len(buffer))
        super().fill(buffer, timeout)


class Clock:
    """A second goes by between any two looks."""

    now = 0.0

    def perf_counter(self):
        self.now += 1.0
        return self.now


clock = Clock()


def test_the_clock_begins_when_there_is_something_to_learn_from(monkeypatch):
    monkeypatch.setattr("etude.learn.train.time", clock)
    trainer = Trainer(recipe_named("vima/objects-xattn", [*SETTINGS, "data.start=20"]))
    points = list(train(trainer, SlowToBegin(demonstrations()), minutes=1.0))
    assert trainer.done >= 10 and points[-1].seconds < 66.0


def test_training_takes_from_the_stream_what_each_step_asks_for():
    recipe = recipe_named("vima/objects-xattn", [*SETTINGS, "data.start=4", "data.fresh=2", "schedule.steps=3"])
    trainer = Trainer(recipe)
    assert [point.step for point in train(trainer, GivenSamples(demonstrations()))] == [3]
    assert trainer.done == 3 and len(trainer.buffer) == 8


def test_a_damaged_or_foreign_checkpoint_gets_one_line(tmp_path):
    trainer, _ = trained(1)
    trainer.save(tmp_path)
    data = (tmp_path / NAME).read_bytes()
    for wrong in (data[:5000], b"nothing", data.replace(b"etude-learned-1", b"another-formats")):
        (tmp_path / NAME).write_bytes(wrong)
        with pytest.raises(EtudeError) as refusal:
            load_model(tmp_path)
        assert "\n" not in str(refusal.value) and NAME in str(refusal.value)
    with pytest.raises(EtudeError, match="cannot be read"):
        load_model(tmp_path / "nowhere")
    other = Trainer(recipe_named("vima/objects-xattn", [*SETTINGS, "model.width=64"]))
    with pytest.raises(EtudeError, match="another recipe"):
        other.resume(tmp_path)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("vima", [], "objects-xattn"),
        ("vima/objects-xatn", [], "objects-xattn"),
        ("vimma/objects-xattn", [], "vima"),
        ("vima/objects-xattn", ["schedule.bach=3"], "batch"),
        ("vima/objects-xattn", ["schedule.batch=many"], "number"),
        ("vima/objects-xattn", ["schedule"], "key=value"),
        ("vima/objects-xattn", ["schedule=3"], "parts"),
        ("vima/objects-xattn", ["schedule.batch=0"], "at least 1"),
        ("vima/objects-xattn", ["model.width=100"], "heads"),
        ("vima/objects-xattn", ["model.chained=perhaps"], "true or false"),
        ("vima/objects-xattn", ["data.source.split=L1"], "for testing"),
        ("vima/objects-xattn", ["model.look=patches"], "patches"),
        ("vima/objects-xattn", ["data.source.seed=1048576"], "held out"),
    ],
)
def test_a_wrong_recipe_gets_one_line(name, settings, said):
    with pytest.raises(EtudeError, match=said) as refusal:
        recipe_named(name, settings)
    assert "\n" not in str(refusal.value)
