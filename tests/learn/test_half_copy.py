"""What computes on a GPU is the model in half precision; what is learned stays whole."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

import controls  # noqa: E402
from toys import SETTINGS, demonstrations  # noqa: E402

from etude.learn.half_copy import HalfCopy  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402

torch.set_num_threads(1)
LOTS = torch.arange(20).split(10)


def toy():
    trainer = Trainer(recipe_named("vima/objects-xattn", SETTINGS))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    return trainer


def computed(trainer, model, after=lambda: None):
    """Losses and gradients of all demonstrations in two lots."""
    trainer.model.zero_grad()
    losses = []
    for lot in LOTS:
        with torch.autocast("cpu", torch.bfloat16):
            found = model.losses(trainer.buffer.batch(lot)).float()
        found.sum().backward()
        losses.append(found.detach().sum().item())
        after()
    return losses, torch.cat([p.grad.flatten() for p in trainer.model.parameters()])


def test_losses_and_gradients_are_those_of_weights_rounded_in_passing():
    trainer = toy()
    half = HalfCopy(trainer.model)
    losses, gradient = computed(trainer, trainer.model)
    ours, given = computed(trainer, half.computing, half.hand_over)
    assert ours == pytest.approx(losses, rel=2e-3)
    assert torch.cosine_similarity(gradient, given, 0) > 0.999 and given.norm().item() == pytest.approx(gradient.norm().item(), rel=0.01)


def test_weights_are_rounded_anew_after_they_have_changed():
    trainer = toy()
    half = HalfCopy(trainer.model)
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter += 1.0
    half.refresh()
    for (name, whole), (other, ours) in zip(trainer.model.named_parameters(), half.computing.named_parameters(), strict=True):
        assert name == other and (ours is whole or torch.equal(ours, whole.bfloat16()))
    rounded = [module for module in half.computing.modules() if isinstance(module, torch.nn.Linear | torch.nn.Conv2d)]
    assert rounded and all(module.weight.dtype == torch.bfloat16 for module in rounded)
    assert half.computing.steps.weight is trainer.model.steps.weight  # a table of vectors, which is looked up and not multiplied


def test_what_asks_for_full_precision_is_left_alone():
    model = Trainer(controls.recipe("stream")).model
    computing = HalfCopy(model).computing
    assert computing.head.out[0].weight is model.head.out[0].weight and computing.head.lstm.weight_hh_l0 is model.head.lstm.weight_hh_l0
    assert computing.pointer.keys.weight is model.pointer.keys.weight


def final_loss(form):
    """The loss of a toy after forty steps."""
    trainer = toy() if form == "strokes" else Trainer(controls.recipe(form))
    if form != "strokes":
        trainer.buffer.add([sample for _, _, sample in controls.demonstrations(1 if form == "window" else 2)])
    trainer.allowed = len(trainer.buffer)
    losses = [float(trainer.step(step / 40).sum()) for step in range(40)]
    assert all(parameter.dtype == torch.float32 for parameter in trainer.model.parameters())
    return sum(losses[-5:])


@pytest.mark.parametrize("form", ["strokes", "stream", "window", "readout", "frame"])
def test_toys_learn_as_much_in_half_precision(form, monkeypatch):
    whole = final_loss(form)
    monkeypatch.setattr(Trainer, "half_precision", True)
    assert final_loss(form) == pytest.approx(whole, rel=0.1)
