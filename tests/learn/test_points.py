"""Keyposes that flow out of noise among point tokens; and many looks at once, of any keypose policy."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.evaluation.play import Players, Rollout  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.keyposes import BY_SUBTASK, BY_TASK, KeyposeEncoder, demonstrated_keyposes, sentence_array  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.flow import flown, on_the_way  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.posing import KeyposeInference, LookTable, answered, judged_keyposes  # noqa: E402
from etude.learn.recipes import PointFlowRecipe, Recipe  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)
CPU = torch.device("cpu")
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=1", "model.dropout=0.0", "model.jitter=0.0", "model.turn=0", "model.shift=0",
    "schedule.batch=4", "schedule.warmup=0", "schedule.rate=0.003", "schedule.ema=0.9", "data.source.size=32",
    "data.source.tasks=open_drawer",
)  # fmt: skip
FORMS = {"points": ("model.head_layers=1",), "heatmaps": ("model.size=32",)}
NAME = "himan/open_drawer@train#0"


def toy(*settings: str, form: str = "points") -> Recipe:
    return recipe_named(f"himan/{form}", [*SETTINGS, *FORMS[form], *settings])


@functools.cache
def demonstration():
    """Played once for all tests of a process."""
    return demonstrated_keyposes(NAME, toy().data.source)


def everything(sentence: int = BY_TASK, words: str | None = None):
    """A batch of all keyposes, told by one of their sentences, or in these words."""
    one, recipe = demonstration(), toy()
    if words is not None:
        one = replace(one, words=np.broadcast_to(sentence_array(words), one.words.shape))
    buffer = kind_of(recipe).buffer(recipe, CPU)
    buffer.add([one])
    count = len(one.labels)
    return buffer.keyposes(np.zeros(count, int), np.arange(count), np.full(count, sentence))


def trained(steps: int, *settings: str):
    trainer = Trainer(toy(*settings))
    trainer.buffer.add([demonstration()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@functools.cache
def adept():
    return trained(40)


def looks():
    one = demonstration()
    return [
        {"points": one.points[k], "colours": one.colours[k], "felt": one.felt[k], "words": one.words[k, k % 2]}
        for k in range(len(one.labels))
    ]


# ------------------------------------------------------------------------------------------------ flows


def test_who_knows_where_a_way_ends_gets_there_in_any_number_of_steps():
    end, start = torch.tensor([[1.0, -2.0, 0.5]]), torch.tensor([[0.3, 0.1, -4.0]])
    for steps in (1, 3, 10):
        assert torch.allclose(flown(lambda x, moment: end, start, steps), end, atol=1e-6)


def test_what_is_on_the_way_is_between_noise_and_what_is_wanted():
    torch.manual_seed(0)
    wanted = torch.full((100, 2, 3), 5.0)
    moment, at = on_the_way(wanted)
    noise = (at - moment[:, None, None] * wanted) / (1 - moment[:, None, None])
    assert abs(float(noise[moment < 0.9].mean())) < 0.15 and 0.85 < float(noise[moment < 0.9].std()) < 1.15
    assert moment.min() >= 0 and moment.max() < 1 and len(moment.unique()) > 90


# ------------------------------------------------------------------------------------------------ learning


def test_a_toy_learns_its_demonstrations():
    trainer, losses = adept()
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    table = judged_keyposes(trainer.averaged, [(0, NAME, demonstration())], CPU)
    assert "| open_drawer | sub-task | 3 |" in table and "| open_drawer | task | 3 |" in table


def test_the_same_seed_gives_the_same_losses():
    settings = ("model.turn=20", "model.shift=0.08", "model.jitter=0.1", "model.dropout=0.1")
    assert trained(2, *settings)[1] == trained(2, *settings)[1] != trained(2, *settings, "schedule.seed=1")[1]


def test_it_learns_in_half_precision():
    model, batch, losses = adept()[0].averaged, everything(), []
    for half in (False, True):
        torch.manual_seed(0)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=half):
            losses.append(model.losses(batch).float())
    assert torch.allclose(*losses, atol=0.1, rtol=0.05)


def test_a_token_is_at_the_mean_of_its_points_and_shows_nothing_of_what_is_not_there():
    model, batch = kind_of(toy()).model(toy()).eval(), everything()
    now = model._situation(batch)
    places, there, _ = model._tokens(now)
    patch = (slice(None), slice(0, 32 * 8))  # the first eight rows of the first camera
    corner = now.there[patch].view(-1, 8, 32)[:, :, 8:16].flatten(1)
    points = now.places[patch].view(-1, 8, 32, 3)[:, :, 8:16].flatten(1, 2)
    mean = (points * corner[..., None]).sum(1) / corner.sum(1).clamp(min=1)[:, None]
    assert torch.allclose(places[:, 1], mean, atol=1e-5)
    assert torch.equal(there[:, 1], corner.any(1))
    hidden = replace(now, colours=torch.where(now.there[..., None], now.colours, 1 - now.colours))
    assert torch.equal(model._tokens(hidden)[2], model._tokens(now)[2])


@pytest.mark.parametrize(("sees", "other"), [("cloud", "words"), ("instruction", "cloud")])
def test_deaf_and_blind_copies_know_nothing_of_what_they_do_not_see(sees, other):
    batch = everything()
    changed = everything(words="close the top one") if other == "words" else replace(batch, points=batch.points.flip(1))
    for knows in ("both", sees):
        torch.manual_seed(0)
        model = kind_of(toy()).model(toy(f"model.sees={knows}")).eval()
        places = [answered(model, one).rotations for one in (batch, changed)]
        assert torch.allclose(*places, atol=1e-5) == (knows == sees)


def test_a_policy_has_a_few_million_numbers():
    recipe = recipe_named("himan/points")
    assert 3e6 < parameters_of(kind_of(recipe).model(recipe)) < 6e6


@pytest.mark.parametrize(
    ("setting", "why"), [("data.source.size=30", "multiple of 8"), ("model.steps=0", "at least 1"), ("data.by_subtask=2", "share")]
)
def test_recipes_that_make_no_sense_are_refused(setting, why):
    with pytest.raises(EtudeError, match=why):
        toy(setting)


def test_a_recipe_comes_back_from_its_data():
    assert isinstance(toy(), PointFlowRecipe)
    assert Recipe.from_data(toy().to_data()) == toy()


# ------------------------------------------------------------------------------------------------ playing


def test_answers_flow_out_of_noise_that_is_the_episodes_own():
    encoder = KeyposeEncoder(toy(), toy().contract)
    first, again, other = (encoder.told("", (), name) for name in (NAME, NAME, "himan/open_drawer@train#1"))
    assert np.array_equal(first["start"], again["start"]) and not np.array_equal(first["start"], other["start"])
    inference = KeyposeInference(kind_of(toy()).model(toy()).eval(), CPU, {})
    for session, told in enumerate((first, again, other)):
        inference.begin(session, told)
    one, same, different = inference.decide([0, 1, 2], [looks()[0]] * 3)
    assert np.array_equal(one, same) and not np.allclose(one, different, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_many_looks_at_once_are_decided_as_each_alone(form):
    recipe = toy(form=form)
    torch.manual_seed(0)
    model = kind_of(recipe).model(recipe).eval()
    inference, table = KeyposeInference(model, CPU, {}), LookTable(model, CPU, lambda answer: answer)
    told = [KeyposeEncoder(recipe, recipe.contract).told("", (), f"himan/open_drawer@train#{k}") for k in range(3)]
    for session, one in enumerate(told):
        inference.begin(session, one)
    for asking in ((0, 1, 2), (2,), (1, 0)):  # rows of the table still hold those who asked before
        apart = inference.decide(asking, [looks()[k] for k in asking])
        with torch.no_grad():
            together = table.decided([{**looks()[k], **told[k]} for k in asking])
        assert np.allclose(apart, together, atol=1e-4)


def test_a_checkpoint_plays_and_follows_what_a_planner_says(tmp_path):
    adept()[0].save(tmp_path)
    players = Players(f"learned:{tmp_path}?device=cpu")
    first = {mode: next(iter(Rollout(players, NAME, mode))).action for mode in ("vanilla", "rule")}
    start = torch.from_numpy(KeyposeEncoder(toy(), toy().contract).told("", (), NAME)["start"])
    for mode, sentence in (("vanilla", BY_TASK), ("rule", BY_SUBTASK)):
        batch = everything(sentence)
        told = answered(load_model(tmp_path)[0], replace(batch, start=start.expand(len(batch.felt), -1)))
        assert np.allclose(first[mode][:3], told.places[0].numpy(), atol=1e-3)
    assert not np.array_equal(first["vanilla"], first["rule"])
