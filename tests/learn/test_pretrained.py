"""A pretrained T5 reads prompts: its weights stay as they are and where they are, and what is around them learns."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: no pretrained T5 can be read")

from languages import LAYERS, PIECES, tiny_t5  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from toys import SETTINGS  # noqa: E402

from etude.evaluation.play import Players, play  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.header import NAME  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.samples import WORD  # noqa: E402
from etude.learn.stream import played  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.learn.wording import DIGIT  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)
COUNT = 6


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    return tiny_t5(tmp_path_factory.mktemp("languages") / "tiny")


@pytest.fixture(scope="module")
def samples(language):
    """A few demonstrations, told in the pieces of the tiny T5."""
    return [one for _, _, one in played(recipe(language).data.source, COUNT)]


def recipe(language, *more, name="vima/objects-xattn"):
    return recipe_named(name, [*SETTINGS, "schedule.batch=4", f"model.language={language}", *more])


def trained(language, samples, steps, *more, **which):
    """A toy that reads with a T5 after so many steps, and its losses."""
    trainer = Trainer(recipe(language, *more, **which))
    trainer.buffer.add(samples)
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


def frozen(model):
    return {name: value.clone() for name, value in model.pretrained._frozen[0].state_dict().items()}


def changed(before, after):
    return {name for name, value in before.items() if not torch.equal(value, after[name])}


def test_words_are_read_as_the_t5_itself_reads_them(language):
    theirs = transformers.T5EncoderModel.from_pretrained(language.removeprefix("t5:")).eval()
    model = Trainer(recipe(language)).model.eval()
    pieces = torch.tensor([[5, 60, DIGIT + 3, 1], [9, 1, 0, 0]])
    there = pieces > 0
    with torch.no_grad():
        wanted = model.pretrained.out(theirs(input_ids=pieces, attention_mask=there.long()).last_hidden_state)
        words, nothing = torch.stack([pieces // DIGIT, pieces % DIGIT], -1), torch.zeros(2, 4, model.width)
        found = model.pretrained(words, there, nothing, there)
    assert torch.allclose(found[there], wanted[there], atol=1e-5) and found[there].std() > 1e-3


def test_things_stand_in_the_row_between_the_words(language, samples):
    """What is shown changes how the words around it are read; what is not there changes nothing."""
    trainer, _ = trained(language, samples, 0)
    model, one = trainer.averaged, trainer.buffer.batch(torch.arange(1))
    things = model.things(one.crops, one.boxes, one.mask, one.cells)
    said = one.kinds == WORD
    with torch.no_grad():
        plain, there = model._prompts(one, things)
        other, _ = model._prompts(one, things.flip(0))
        wider = {f: torch.nn.functional.pad(getattr(one, f), (0, 3), value=-1 if f == "rows" else 0) for f in ("kinds", "places", "rows")}
        padded, _ = model._prompts(replace(one, words=torch.nn.functional.pad(one.words, (0, 0, 0, 3)), **wider), things)
    assert there.all() and (plain[said] - other[said]).abs().max() > 1e-4
    assert torch.allclose(plain, padded[:, : plain.shape[1]], atol=1e-5)


@pytest.mark.parametrize("name", ["vima/objects-xattn", "vima/objects-concat"])
def test_only_what_is_around_the_t5_learns(language, samples, name):
    trainer = Trainer(recipe(language, name=name))
    trainer.buffer.add(samples)
    before, into = frozen(trainer.model), trainer.model.pretrained.into.weight.clone()
    losses = [float(trainer.step(0.0).sum()) for _ in range(12)]
    assert min(losses[-3:]) < 0.9 * losses[0]
    assert not changed(before, frozen(trainer.model)) and not torch.equal(into, trainer.model.pretrained.into.weight)


def test_its_last_layers_learn_where_that_is_asked_for(language, samples):
    trainer = Trainer(recipe(language, "model.language_layers=1"))
    trainer.buffer.add(samples)
    before = frozen(trainer.model)
    for _ in range(2):
        trainer.step(0.0)
    found = changed(before, frozen(trainer.model))
    assert found and all(f"block.{LAYERS - 1}." in name for name in found)
    assert parameters_of(trainer.model) > parameters_of(Trainer(recipe(language)).model)
    assert changed(before, frozen(trainer.averaged)) == found


@pytest.mark.parametrize("layers", [0, 1])
def test_a_checkpoint_holds_what_was_learned_and_not_the_frozen_weights(language, samples, tmp_path, layers):
    trainer, _ = trained(language, samples, 2, f"model.language_layers={layers}")
    trainer.save(tmp_path)
    kept = load_file(tmp_path / NAME)
    assert sum(value.numel() for value in kept.values()) == parameters_of(trainer.model)
    assert {name.split(".")[1] for name in kept if name.startswith("pretrained.")} == {"into", "out", *["last"] * layers}
    model, found, _ = load_model(tmp_path)
    assert found == trainer.recipe and found.model.language_digest
    batch = trainer.buffer.batch(torch.arange(3))
    with torch.no_grad():
        assert torch.allclose(model.answers(batch), trainer.averaged.answers(batch), atol=0.02)


def test_resuming_gives_the_losses_of_a_run_that_was_never_stopped(language, samples, tmp_path):
    _, losses = trained(language, samples, 5, "model.language_layers=1")
    first, _ = trained(language, samples, 3, "model.language_layers=1")
    first.save(tmp_path)
    second, _ = trained(language, samples, 0, "model.language_layers=1")
    second.resume(tmp_path)
    assert [float(second.step(0.0).sum()) for _ in range(2)] == pytest.approx(losses[3:], abs=1e-6)


def test_it_plays_and_other_or_missing_weights_get_one_line(samples, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    language = tiny_t5(here, seed=4)
    trainer, _ = trained(language, samples, 1)
    trainer.save(tmp_path / "run")
    policy = f"learned:{tmp_path / 'run'}?device=cpu"
    record, *_ = play(Players(policy), "vima/rotate@L1#1")
    assert record.error is None

    shutil.move(here, there)
    with pytest.raises(EtudeError, match="there is no folder") as missing:
        play(Players(policy), "vima/rotate@L1#1")
    moved, *_ = play(Players(f"{policy}&language=t5:{there}"), "vima/rotate@L1#1")
    assert replace(moved, timings={}) == replace(record, timings={})
    tiny_t5(here, seed=5)
    with pytest.raises(EtudeError, match="another pretrained t5") as other:
        play(Players(policy), "vima/rotate@L1#1")
    with pytest.raises(EtudeError, match="another recipe"):
        trained(language, samples, 0)[0].resume(tmp_path / "run")
    assert all("\n" not in str(one.value) and str(here) in str(one.value) for one in (missing, other))


def test_a_policy_with_words_of_its_own_takes_no_language(language, tmp_path):
    Trainer(recipe_named("vima/objects-xattn", SETTINGS)).save(tmp_path)
    with pytest.raises(EtudeError, match="from scratch"):
        Players(f"learned:{tmp_path}?device=cpu&language={language}").policy.contract  # noqa: B018


def test_a_t5_that_is_damaged_or_too_small_gets_one_line(language, tmp_path):
    folder = Path(shutil.copytree(language.removeprefix("t5:"), tmp_path / "t5"))
    weights = folder / "model.safetensors"
    whole = load_file(weights)
    with pytest.raises(EtudeError, match=f"has {LAYERS} layers"):
        Trainer(recipe(language, f"model.language_layers={LAYERS + 1}"))
    lacking = {name: value for name, value in whole.items() if "encoder.block.1." not in name}
    save_file(lacking, weights, {"format": "pt"})
    with pytest.raises(EtudeError, match="lacks") as refusal:
        Trainer(recipe(f"t5:{folder}"))
    assert "\n" not in str(refusal.value)
    save_file({**whole, "shared.weight": whole["shared.weight"][: len(PIECES) - 1].clone()}, weights, {"format": "pt"})
    with pytest.raises(EtudeError, match="cannot be read") as refusal:
        Trainer(recipe(f"t5:{folder}"))
    assert "\n" not in str(refusal.value)
    with pytest.raises(EtudeError, match=f"{len(PIECES)} pieces, .* {len(PIECES) - 2}"):
        Trainer(recipe(tiny_t5(tmp_path / "few", pieces=len(PIECES) - 2)))
    weights.write_bytes(b"nothing")
    with pytest.raises(EtudeError, match="cannot be read") as refusal:
        Trainer(recipe(f"t5:{folder}"))
    assert "\n" not in str(refusal.value)


def test_its_export_is_refused_in_one_line(language):
    pytest.importorskip("onnx", reason="onnx is not installed")
    from etude.learn.onnx_export import exported

    with pytest.raises(EtudeError, match="pretrained parts cannot be exported") as refusal:
        exported(Trainer(recipe(language)).averaged)
    assert "\n" not in str(refusal.value)


def test_it_is_computed_in_bfloat16_where_all_else_is(language, samples):
    """As training does on a GPU: forth and back, with nothing but what is learned getting gradients."""
    trainer, _ = trained(language, samples, 0, "model.language_layers=1")
    batch = trainer.buffer.batch(torch.arange(COUNT))
    plain = trainer.model.losses(batch).mean().item()
    with torch.autocast("cpu", torch.bfloat16):
        rough = trainer.model.losses(batch).float().mean()
    rough.backward()
    assert rough.item() == pytest.approx(plain, rel=0.05)
    assert trainer.model.pretrained.last[0].layer[0].SelfAttention.q.weight.grad.abs().max() > 0
    assert trainer.model.things.crop.stem.weight.grad.abs().max() > 0
    assert all(p.grad is None for p in trainer.model.pretrained._frozen[0].encoder.block[0].parameters())
