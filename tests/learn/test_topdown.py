"""Keyposes from a map of the table: what the map shows, how poses are put into numbers, that it learns, and that it plays."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.envs.simulation import Simulation  # noqa: E402
from etude.evaluation.local import Local  # noqa: E402
from etude.evaluation.play import Players, Rollout  # noqa: E402
from etude.evaluation.run import RunSettings  # noqa: E402
from etude.evaluation.worker import Job  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.keypose_buffer import KeyposeBatch, KeyposeBuffer  # noqa: E402
from etude.learn.keyposes import BY_TASK, demonstrated_keyposes, sentence_array  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.clouds import matrices  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.keypose_model import Situation  # noqa: E402
from etude.learn.models.strokes import Axis, best, softened  # noqa: E402
from etude.learn.models.topdown import (  # noqa: E402
    AXES,
    ChangeBins,
    best_of_map,
    from_tilt_and_twist,
    map_losses,
    tilt_and_twist,
    topdown_map,
)
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.posing import answered, judged_keyposes  # noqa: E402
from etude.learn.recipes import Recipe, TopdownKeyposes  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.papers.filling import filled  # noqa: E402
from etude.papers.models import model_lines, trained_models  # noqa: E402
from etude.papers.playing import chosen_tables, play, tables_of  # noqa: E402
from etude.pose import matrix_quat  # noqa: E402
from etude.suites.vlmbench.causes import CAUSES  # noqa: E402
from etude.suites.vlmbench.models import settings  # noqa: E402

torch.set_num_threads(1)
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=1", "model.dropout=0.0", "model.jitter=0.0", "model.size=32", "model.turn=0",
    "model.shift=0", "schedule.batch=4", "schedule.warmup=0", "schedule.rate=0.003", "schedule.ema=0.9", "data.source.size=32",
    "data.source.tasks=pick_color", "data.by_subtask=0",
)  # fmt: skip
NAMES = ("vlmbench/pick_color@train#0", "vlmbench/pick_color@train#1")


def toy(*settings: str) -> TopdownKeyposes:
    found = recipe_named("vlmbench/topdown", [*SETTINGS, *settings])
    assert isinstance(found, TopdownKeyposes)
    return found


@functools.cache
def demonstrations():
    """Two of them, played once for all tests of a process."""
    return [(k, name, demonstrated_keyposes(name, toy().data.source)) for k, name in enumerate(NAMES)]


def everything(words: str | None = None) -> KeyposeBatch:
    """A batch of all keyposes of the first demonstration, told by its task, or in these words."""
    one = demonstrations()[0][2]
    if words is not None:
        one = replace(one, words=np.broadcast_to(sentence_array(words), one.words.shape))
    buffer = KeyposeBuffer(toy().data.source, 0.0)
    buffer.add([one])
    count = len(one.labels)
    return buffer.keyposes(np.zeros(count, int), np.arange(count), np.full(count, BY_TASK))


def trained(steps: int, *settings: str):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(toy(*settings))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@functools.cache
def adept():
    return trained(40)


def some_rotations(count: int = 50):
    """Rotations whose hands point anywhere but up."""
    found, _ = torch.linalg.qr(torch.randn(4 * count, 3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64))
    found = found * torch.linalg.det(found)[:, None, None]
    return found[found[:, 2, 2] < 0.7][:count]


# ------------------------------------------------------------------------------------------------ poses in numbers


def test_tilt_and_twist_are_another_way_to_write_a_rotation():
    rotations = some_rotations()
    assert torch.allclose(from_tilt_and_twist(tilt_and_twist(rotations)), rotations, atol=1e-9)


def test_a_hand_that_points_down_has_no_tilt_and_turning_the_room_turns_both():
    down = from_tilt_and_twist(torch.tensor([[0.0, 0.0, 0.4]]))
    assert torch.allclose(down[0, :, 2], torch.tensor([0.0, 0.0, -1.0])) and torch.allclose(tilt_and_twist(down)[0, :2], torch.zeros(2))
    turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    numbers = torch.tensor([[1.2, 0.3, 0.5]])
    turned = tilt_and_twist(turn @ from_tilt_and_twist(numbers))
    assert torch.allclose(turned, torch.tensor([[-0.3, 1.2, 0.5 + np.pi / 2]]), atol=1e-5)


def read_back(numbers, axes) -> torch.Tensor:
    """Numbers (N, K) after they were put into bins as labels are."""
    return torch.stack([best(softened(numbers[:, k], axis).log(), axis) for k, axis in enumerate(axes)], 1)


def test_labels_in_bins_solve_the_episode():
    """What bins lose of a label is too little to matter."""
    _, name, one = demonstrations()[0]
    model, labels = kind_of(toy()).model(toy("model.size=144")), torch.from_numpy(one.labels)
    place = (labels[:, :3] - model.low) / model.source.side
    numbers = read_back(torch.cat([tilt_and_twist(matrices(labels[:, 3:7])), place[:, 2:]], 1), AXES)
    piece = Axis(0.0, model.recipe.zoom / model.source.side, model.recipe.size // 2)
    inside = 0.4 * piece.high + read_back(torch.full_like(place[:, :2], 0.6 * piece.high), (piece, piece)) - piece.high
    places = model.low + torch.cat([place[:, :2] + inside, numbers[:, 3:]], 1) * model.source.side
    simulation = Simulation(episode(name))
    for at, rotation, label in zip(places, from_tilt_and_twist(numbers[:, :3]), one.labels, strict=True):
        simulation.step([*at.tolist(), *matrix_quat(rotation.double().numpy()), label[7]])
    assert simulation.status.satisfied


def test_a_number_may_be_told_by_its_change():
    for axis, now, change, then in ((AXES[2], 3.0, 10, 3.0 + 10 * 2 * np.pi / 72 - 2 * np.pi), (AXES[3], 0.3, -12, 0.3 - 12 / 128)):
        bins = ChangeBins(axis)
        with torch.no_grad():
            for layer in (bins.plain, bins.change, bins.which):
                layer.weight.zero_()
                layer.bias.zero_()
            bins.which.bias.fill_(-20.0)
            bins.change.bias[(change + bins.reach) % len(bins.change.bias)] = 20.0
            found = best(bins(torch.zeros(1, bins.plain.in_features), torch.tensor([now])), axis)
        assert float(found[0]) == pytest.approx(then, abs=1e-4)


# ------------------------------------------------------------------------------------------------ the map


def test_the_map_shows_what_is_highest_and_what_is_lowest_and_where_the_tip_is():
    size = 32
    now = Situation(
        torch.tensor([[[0.3, 0.3, 0.2], [0.3, 0.3, 0.8], [0.9, 0.1, 0.5]]]), torch.tensor([[[0.1] * 3, [0.2] * 3, [0.3] * 3]]),
        torch.ones(1, 3, dtype=torch.bool), torch.tensor([[0.6, 0.7, 0.5]]), from_tilt_and_twist(torch.tensor([[1.5708, 0.0, 0.0]])),
        torch.zeros(1, 3), torch.zeros(1, 1, 2),
    )  # fmt: skip
    found = topdown_map(now, torch.full((1, 3), 0.5), torch.ones(3), size)[0]
    at, beside = int(0.3 * size), (int(0.9 * size), int(0.1 * size))
    assert [float(found[k, at, at]) for k in (0, 7)] == pytest.approx([0.2, 0.1])
    assert [float(found[(k, *beside)]) for k in (0, 7)] == pytest.approx([0.3, 0.3])
    x, y, along, across, bell = found[14:]
    tip = divmod(int(bell.argmax()), size)
    assert tip == (int(0.6 * size), int(0.7 * size)) and abs(x[tip]) < 1 / size and abs(y[tip]) < 1 / size
    assert torch.allclose(along, x, atol=1e-4) and torch.allclose(across, -y, atol=1e-4)  # the hand points along x


def test_a_map_of_a_place_is_no_loss_and_gives_the_place():
    places = torch.tensor([[0.31, 0.52], [0.6, 0.2]])
    cells = Axis(0.0, 1.0, 24)
    down, across = (softened(places[:, k], cells).clamp(min=1e-30).log() for k in (0, 1))
    maps = down[:, :, None] + across[:, None]
    assert torch.allclose(map_losses(maps, places), torch.zeros(2), atol=1e-4)
    assert (best_of_map(maps) - places).abs().max() < 0.1 / 24
    assert (map_losses(maps, places.flip(0)) > 1).all()


# ------------------------------------------------------------------------------------------------ learning


def test_a_toy_learns_its_demonstrations():
    trainer, losses = adept()
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    assert "| pick_color | task | 8 |" in judged_keyposes(trainer.averaged, demonstrations(), torch.device("cpu"))


def test_the_same_seed_gives_the_same_losses():
    settings = ("model.turn=10", "model.shift=0.04", "model.jitter=0.1", "model.dropout=0.1")
    assert trained(2, *settings)[1] == trained(2, *settings)[1] != trained(2, *settings, "schedule.seed=1")[1]


def test_it_learns_in_half_precision():
    """As on a graphics card: the losses are nearly those of single precision."""
    model, batch = kind_of(toy()).model(toy()).eval(), everything()
    torch.manual_seed(0)
    exact = model.losses(batch)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.allclose(model.losses(batch).float(), exact, atol=0.1, rtol=0.02)


def test_clouds_are_turned_and_shifted_but_not_lifted():
    """Heights are those of the room, and are read from it to the millimetre."""
    model, batch = kind_of(toy()).model(toy("model.turn=10", "model.shift=0.1")).train(), everything()
    now = model._situation(batch)
    moved, place, _ = model._lesson(batch)
    for one, other in ((moved.places, now.places), (moved.tip, now.tip)):
        assert torch.allclose(one[..., 2], other[..., 2], atol=1e-6)
    assert not torch.allclose(moved.places[..., :2], now.places[..., :2], atol=1e-3)
    assert torch.allclose(place[:, 2], (batch.labels[:, 2] - model.low[2]) / model.source.side)


def test_answers_do_not_depend_on_who_else_is_asking():
    model, batch = adept()[0].averaged, everything()
    together = answered(model, batch)
    first = answered(model, KeyposeBatch(**{name: values[:1] for name, values in vars(batch).items() if values is not None}))
    assert torch.allclose(together.places[:1], first.places, atol=1e-4)
    assert torch.allclose(together.rotations[:1], first.rotations, atol=1e-3)


@pytest.mark.parametrize(("sees", "other"), [("cloud", "words"), ("instruction", "colours")])
def test_deaf_and_blind_copies_know_nothing_of_what_they_do_not_see(sees, other):
    batch = everything()
    changed = everything("Pick up the blue one.") if other == "words" else replace(batch, colours=255 - batch.colours)
    for knows in ("both", sees):
        torch.manual_seed(0)
        model = kind_of(toy()).model(toy(f"model.sees={knows}")).eval()
        found = [answered(model, one) for one in (batch, changed)]
        assert torch.allclose(found[0].places, found[1].places, atol=1e-6) == (knows == sees)


def test_a_policy_has_a_few_million_numbers_and_its_recipe_is_json():
    recipe = recipe_named("vlmbench/topdown")
    with torch.device("meta"):
        assert 4e6 < parameters_of(kind_of(recipe).model(recipe)) < 8e6
    assert Recipe.from_data(recipe.to_data()) == recipe and recipe.data.source.count == 4783


def test_heat_maps_learn_the_same_demonstrations():
    recipe = recipe_named("vlmbench/heatmaps", [*SETTINGS, "data.source.cameras=front,wrist,left_shoulder,right_shoulder,overhead"])
    trainer = Trainer(recipe)
    trainer.buffer.add([one for _, _, one in demonstrations()])
    losses = [float(trainer.step(0.0).sum()) for _ in range(30)]
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])


# ------------------------------------------------------------------------------------------------ playing


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of the paper's models, with one of them."""
    folder = tmp_path_factory.mktemp("models")
    trained(3, *settings("both"))[0].save(folder / "topdown")
    return folder


def test_a_checkpoint_plays(models):
    model = load_model(models / "topdown")[0]
    action = next(iter(Rollout(Players(f"learned:{models / 'topdown'}?device=cpu"), NAMES[0]))).action
    told = answered(model, everything())
    assert np.allclose(action[:3], told.places[0].numpy(), atol=1e-3)


def test_one_process_decides_for_those_who_are_given_the_truth_too(models, tmp_path):
    policy = f"true:position:learned:{models / 'topdown'}?device=cpu"
    with Local(Job(policy, str(tmp_path)), workers=1, shared=True) as executor:
        (together,) = executor.play([(NAMES[0], "vanilla")])
    assert replace(together, timings={}) == replace(Rollout(Players(policy), NAMES[0]).record, timings={})


def test_the_papers_agents_play_from_one_checkpoint(models, tmp_path):
    """Tables of steps and the figure of causes, of the model as it is and of those that are given a part of the truth."""
    lines = model_lines(trained_models("vlmbench", models), "cpu")
    assert [line.name for line in lines] == ["6D-CLIPort", "6D-CLIPort (GT Ori)", "6D-CLIPort (GT Pos)"]
    tables = chosen_tables(tables_of("vlmbench"), ["Figure 7"])
    found = play(tables, lines[2:], tmp_path, episodes={"Figure 7": 1}, task=("pick_color",), settings=RunSettings(workers=1))
    (seen,) = (line for line in filled(tables[0], lines[2:], found).lines if line.block == "Seen")
    (record,) = found.records[lines[2].address("", "vanilla"), "seen-vanilla"]
    assert record.success or seen.values[CAUSES.index(record.cause)] == 100.0
