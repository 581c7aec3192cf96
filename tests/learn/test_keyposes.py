"""Keypose policies: what they learn from, that they learn it, what they cannot know, and that they play."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from toys import ThreeNumbers  # noqa: E402

from etude.envs.simulation import Simulation  # noqa: E402
from etude.evaluation.play import Players, Rollout  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.keypose_buffer import KeyposeBuffer  # noqa: E402
from etude.learn.keyposes import BY_SUBTASK, BY_TASK, demonstrated_keyposes, sentence_array  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.clouds import RigidMotion, drawn, from_six_numbers, matrices, six_numbers  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.heatmaps import best_places, place_losses  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.posing import answered, judged_keyposes  # noqa: E402
from etude.learn.recipes import KeyposeRecipe, Recipe  # noqa: E402
from etude.learn.stream import SampleStream  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.names import EpisodeName, EtudeError  # noqa: E402
from etude.pose import Pose, matrix, matrix_quat  # noqa: E402

torch.set_num_threads(1)
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=1", "model.dropout=0.0", "model.jitter=0.0", "model.size=32", "model.turn=0",
    "model.shift=0", "schedule.batch=4", "schedule.warmup=0", "schedule.rate=0.003", "schedule.ema=0.9", "data.source.size=32",
    "data.source.tasks=open_drawer",
)  # fmt: skip
NAMES = ("himan/open_drawer@train#0", "himan/open_drawer@train#1")


def toy(*settings: str) -> KeyposeRecipe:
    found = recipe_named("himan/heatmaps", [*SETTINGS, *settings])
    assert isinstance(found, KeyposeRecipe)
    return found


@functools.cache
def demonstrations():
    """Two of them, played once for all tests of a process."""
    return [(k, name, demonstrated_keyposes(name, toy().data.source)) for k, name in enumerate(NAMES)]


def everything(sentence: int = BY_TASK, words: str | None = None):
    """A batch of all keyposes of the first demonstration, told by one of their sentences, or in these words."""
    buffer = KeyposeBuffer(toy().data.source, 0.0)
    one = demonstrations()[0][2]
    if words is not None:
        one = replace(one, words=np.broadcast_to(sentence_array(words), one.words.shape))
    buffer.add([one])
    count = len(one.labels)
    return buffer.keyposes(np.zeros(count, int), np.arange(count), np.full(count, sentence))


def trained(steps: int, *settings: str):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(toy(*settings))
    trainer.buffer.add([one for _, _, one in demonstrations()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@functools.cache
def adept():
    return trained(40)


# ------------------------------------------------------------------------------------------------ what is learned from


@pytest.mark.parametrize(("level", "count"), [("L1", 200), ("L2", 304), ("L3", 324), ("L4", 368)])
def test_a_data_level_is_a_source_with_an_end(level, count):
    source = recipe_named("himan/heatmaps", [f"data.source.plan={level}"]).data.source
    assert source.count == count == len({source.name(k) for k in range(count)})


def test_the_first_part_of_a_data_level_has_something_of_every_task():
    source = recipe_named("himan/heatmaps").data.source
    parts = [EpisodeName.parse(source.name(k)).task for k in range(50)]
    assert {parts.count(task) for task in source.chosen()} == {5}


def test_lists_for_testing_are_refused():
    with pytest.raises(EtudeError, match="for testing"):
        recipe_named("himan/heatmaps", ["data.source.plan=atomic"])
    with pytest.raises(EtudeError, match="L1"):
        recipe_named("himan/heatmaps", ["data.source.plan=L11"])


def test_what_is_held_out_is_in_no_data_level():
    source = recipe_named("himan/heatmaps", ["data.source.plan=L4"]).data.source
    assert not {*source.held_out().names(50)} & {*source.listed}
    assert {EpisodeName.parse(name).task for name in source.held_out().names(300)} == {*source.chosen()}


def test_what_a_model_gives_of_a_label_solves_the_episode():
    _, name, one = demonstrations()[0]
    simulation = Simulation(episode(name))
    labels = torch.from_numpy(one.labels)
    for label, rotation in zip(one.labels, from_six_numbers(six_numbers(matrices(labels[:, 3:7]))), strict=True):
        simulation.step([*label[:3], *matrix_quat(rotation.double().numpy()), label[7]])
    assert simulation.status.satisfied


def test_clouds_are_where_things_are():
    """The handle that is grasped is among the points, to the size of a pixel."""
    source, one = toy().data.source, demonstrations()[0][2]
    there = (one.points[1] > 0).any(-1)
    places = np.array(source.centre) - source.side / 2 + (one.points[1][there] - 0.5) * source.side / 65535
    assert np.linalg.norm(places - one.labels[1, :3], axis=1).min() < 0.04


def test_a_keypose_is_told_by_its_task_and_by_its_subtask():
    one = demonstrations()[0][2]
    assert (one.words[:, BY_TASK] == sentence_array("open the bottom drawer")).all()
    assert (one.words[0, BY_SUBTASK] == sentence_array("grasp the bottom drawer handle")).all()
    assert (one.words[-1, BY_SUBTASK] == sentence_array("pull the bottom drawer open")).all()


def test_the_share_that_is_told_by_its_subtask_is_drawn():
    task, others = everything().words[0], []
    for share in ("0", "1"):
        buffer = kind_of(toy()).buffer(toy(f"data.by_subtask={share}"), torch.device("cpu"))
        buffer.add([demonstrations()[0][2]])
        drawn_words = buffer.batch(torch.zeros(20, dtype=torch.long), torch.Generator().manual_seed(0)).words
        others.append([torch.equal(words[: len(task)], task) for words in drawn_words])
    assert all(others[0])
    assert not any(others[1])


def test_a_stream_ends_with_its_source():
    with SampleStream(ThreeNumbers("himan"), 2) as stream:
        assert [sample for _, _, sample in itertools.islice(stream, 5)] == [0, 1, 2]
        assert stream.ended


# ------------------------------------------------------------------------------------------------ the parts of the model


def test_the_nearest_point_is_seen_and_gaps_show_larger_pixels():
    places = torch.tensor([[[0.3, 0.3, 0.2], [0.3, 0.3, 0.8], [0.9, 0.1, 0.5], [1.2, 0.5, 0.5]]])
    colours = torch.tensor([[[0.1] * 3, [0.2] * 3, [0.3] * 3, [0.4] * 3]])
    above = drawn(places, colours, torch.ones(1, 4, dtype=torch.bool), 64)[0, 0]
    assert torch.allclose(above[:3, 19, 19], torch.tensor(0.2))  # the higher of the two
    assert torch.allclose(above[3:6, 19, 19], 2 * places[0, 1] - 1)
    assert above[6].sum() == 2 * 16  # each fills a square of four by four pixels, and what is outside is not drawn
    assert torch.allclose(above[0, 56:60, 4:8], torch.tensor(0.3))


def test_points_that_are_not_there_are_not_drawn():
    assert not drawn(torch.full((1, 5, 3), 0.5), torch.ones(1, 5, 3), torch.zeros(1, 5, dtype=torch.bool), 16).any()


def test_rotations_keep_their_meaning_as_six_numbers():
    quaternions = torch.randn(20, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = matrices(quaternions)
    assert np.allclose(found[0].numpy(), matrix(Pose.of((0, 0, 0), quaternions[0].numpy()).rotation), atol=1e-6)
    assert torch.allclose(from_six_numbers(3.0 * six_numbers(found)), found, atol=1e-6)


def test_cloud_and_label_are_moved_together():
    turn, shift = torch.tensor([math.pi / 2]), torch.tensor([[0.1, 0.0, 0.0]])
    motion = RigidMotion(turn, shift)
    assert torch.allclose(motion.moved(torch.tensor([[[0.7, 0.5, 0.2]]])), torch.tensor([[[0.6, 0.7, 0.2]]]), atol=1e-6)
    model = kind_of(toy()).model(toy("model.turn=30", "model.shift=0.1")).train()
    batch = everything()
    now = model._situation(batch)
    place, rotation = (batch.labels[:, :3] - model.low) / model.source.side, matrices(batch.labels[:, 3:7])
    moved, place_then, rotation_then = model._augmented(now, place, rotation)
    far, far_then = ((a.places - b[:, None]).norm(dim=-1) for a, b in ((now, place), (moved, place_then)))
    assert torch.allclose(far, far_then, atol=1e-5)
    assert not torch.allclose(place, place_then, atol=1e-3)
    # What points from the tip to the label, in the label's own frame, is what it was.
    inside, inside_then = (
        torch.einsum("bji,bj->bi", r, a.tip - p) for r, a, p in ((rotation, now, place), (rotation_then, moved, place_then))
    )
    assert torch.allclose(inside, inside_then, atol=1e-5)


def test_maps_of_a_place_are_no_loss_and_give_the_place():
    places = torch.tensor([[0.31, 0.52, 0.77], [0.6, 0.2, 0.4]])
    cells = 28
    bells = -0.5 * (torch.arange(cells) + 0.5 - cells * places[..., None]) ** 2 / 2  # half in each of the two views that show an axis
    x, y, z = bells.unbind(1)
    maps = torch.stack([x[:, :, None] + y[:, None], y[:, :, None] + z[:, None], x[:, :, None] + z[:, None]], 1)
    assert torch.allclose(place_losses(maps, places), torch.zeros(2), atol=1e-4)
    assert (best_places(maps) - places).abs().max() < 0.1 / cells
    assert (place_losses(maps, places.flip(0)) > 1).all()


# ------------------------------------------------------------------------------------------------ learning


def test_a_toy_learns_its_demonstrations():
    trainer, losses = adept()
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    table = judged_keyposes(trainer.averaged, demonstrations(), torch.device("cpu"))
    assert "| open_drawer | sub-task | 6 |" in table
    assert "| open_drawer | task | 6 |" in table


def test_the_same_seed_gives_the_same_losses():
    settings = ("model.turn=20", "model.shift=0.08", "model.jitter=0.1", "model.dropout=0.1")
    assert trained(2, *settings)[1] == trained(2, *settings)[1] != trained(2, *settings, "schedule.seed=1")[1]


def test_who_goes_on_by_the_clock_learns_from_the_whole_list_again(tmp_path):
    trainer, _ = trained(1)
    trainer.next = 20
    trainer.save(tmp_path, clock=True)
    other = Trainer(toy())
    other.resume(tmp_path, clock=True)
    assert (other.done, other.next) == (1, 0)


def test_it_learns_in_half_precision():
    """As on a graphics card: the losses are nearly those of single precision."""
    model, batch = kind_of(toy()).model(toy()).eval(), everything()
    torch.manual_seed(0)
    exact = model.losses(batch)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.allclose(model.losses(batch).float(), exact, atol=0.1, rtol=0.02)


@pytest.mark.parametrize(("sees", "other"), [("cloud", "words"), ("instruction", "colours")])
def test_deaf_and_blind_copies_know_nothing_of_what_they_do_not_see(sees, other):
    batch = everything()
    changed = everything(words="close the top one") if other == "words" else replace(batch, colours=255 - batch.colours)
    for knows in ("both", sees):
        torch.manual_seed(0)
        model = kind_of(toy()).model(toy(f"model.sees={knows}")).eval()
        with torch.no_grad():
            maps = [model.coarse(model._situation(b), torch.full((len(b.felt), 3), 0.5), 1.0).maps for b in (batch, changed)]
        assert torch.allclose(*maps, atol=1e-6) == (knows == sees)


def test_a_policy_has_a_few_million_numbers():
    recipe = recipe_named("himan/heatmaps")
    assert 4e6 < parameters_of(kind_of(recipe).model(recipe)) < 6e6


@pytest.mark.parametrize(
    ("setting", "why"),
    [("model.size=30", "multiple of 8"), ("model.zoom=2", "at most"), ("data.by_subtask=2", "share"), ("data.source.cameras=", "camera")],
)
def test_recipes_that_make_no_sense_are_refused(setting, why):
    with pytest.raises(EtudeError, match=why):
        toy(setting)


def test_every_suite_of_keyposes_has_the_recipe_and_no_other():
    assert recipe_named("vlmbench/heatmaps").data.source.suite == "vlmbench"
    with pytest.raises(EtudeError, match="heatmaps"):
        recipe_named("himan/objects-xattn")
    assert Recipe.from_data(toy().to_data()) == toy()


# ------------------------------------------------------------------------------------------------ playing


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heatmaps")
    adept()[0].save(folder)
    return folder


def test_a_checkpoint_plays_and_follows_what_a_planner_says(checkpoint):
    players = Players(f"learned:{checkpoint}?device=cpu")
    first = {mode: next(iter(Rollout(players, NAMES[0], mode))).action for mode in ("vanilla", "rule")}
    for mode, sentence in (("vanilla", BY_TASK), ("rule", BY_SUBTASK)):
        told = answered(load_model(checkpoint)[0], everything(sentence))
        assert np.allclose(first[mode][:3], told.places[0].numpy(), atol=1e-3)
    assert not np.array_equal(first["vanilla"], first["rule"])
