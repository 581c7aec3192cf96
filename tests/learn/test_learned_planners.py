"""Learned planners: what they learn from, that they learn it, what they cannot know, and that they plan."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.datasets.questions import questions  # noqa: E402
from etude.evaluation.play import Players, Rollout  # noqa: E402
from etude.evaluation.store import read_run  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.planner import shifted  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.packing import in_a_row  # noqa: E402
from etude.learn.planning import answered, judged_subtasks  # noqa: E402
from etude.learn.recipes import PlanningRecipe, Recipe  # noqa: E402
from etude.learn.subtask_buffer import SubtaskBuffer  # noqa: E402
from etude.learn.subtasks import NOTHING_SAID, asked_frames  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.learn.training_run import TrainingSettings, run  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.names import EpisodeName, EtudeError  # noqa: E402
from etude.policies.loading import load_planner, load_policy  # noqa: E402
from etude.skills.subtasks import vocabulary  # noqa: E402

torch.set_num_threads(1)
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=2", "model.readers=1", "model.grid=4", "model.dropout=0.0", "model.jitter=0.0",
    "model.shift=0", "schedule.batch=16", "schedule.warmup=0", "schedule.rate=0.001", "schedule.ema=0.9", "data.source.size=32",
    "data.source.tasks=open_drawer",
)  # fmt: skip
BOTTOM = ["grasp the bottom drawer handle", "pull the bottom drawer open"]
NAMES = tuple(f"himan/open_drawer@train#{k}" for k in range(3))  # one for each drawer


def toy(*settings: str) -> PlanningRecipe:
    found = recipe_named("himan/planner", [*SETTINGS, *settings])
    assert isinstance(found, PlanningRecipe)
    return found


@functools.cache
def asked():
    """The questions about three episodes, played once for all tests of a process."""
    return [(k, name, asked_frames(name, toy().data.source)) for k, name in enumerate(NAMES)]


def every_question(buffer: SubtaskBuffer, number: int, last: int | None = None):
    """A batch of all questions about an episode, told what came before or, with ``last``, something else."""
    one = asked()[number][2]
    count = len(one.now)
    return buffer.questions([number] * count, range(count), one.last.tolist() if last is None else [last] * count)


def trained(steps: int, *settings: str):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(toy(*settings))
    trainer.buffer.add([one for _, _, one in asked()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@functools.cache
def adept():
    """A toy that knows its episodes by heart."""
    return trained(80)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Its folder."""
    folder = tmp_path_factory.mktemp("planner")
    adept()[0].save(folder)
    return folder


# ------------------------------------------------------------------------------------------------ what is learned from


def test_questions_are_those_about_frames_and_one_more_wherever_a_sub_task_begins():
    for _, name, one in asked():
        found, said = episode(name), sorted(vocabulary(episode(name)))
        exported = [said.index(question.position.text) for question in questions(found, 32)]
        begun = int(np.flatnonzero(np.diff(one.now))[0]) + 1
        ours = one.now.tolist()
        assert [*ours[:begun], *ours[begun + 1 :]] == exported
        assert one.right[np.arange(len(ours)), one.now].all() and one.right.shape == (len(ours), len(said))
        assert one.last.tolist() == [NOTHING_SAID] * begun + [ours[0]] * (len(ours) - begun)


def test_the_same_name_gives_the_same_questions_and_bytes_hold_all_of_them():
    source = toy().data.source
    again = asked_frames(NAMES[0], source)
    data = in_a_row(vars(again).values())
    assert data == in_a_row(vars(asked()[0][2]).values()) and len(data) < source.room
    back = source.unpacked(data)
    assert all(np.array_equal(value, getattr(back, key)) for key, value in vars(again).items())


def test_a_data_level_is_learned_from_once_each_and_tests_never():
    source = toy("data.source.plan=L4", "data.source.tasks=").data.source
    assert source.count == 368 and len({source.name(k) for k in range(368)}) == 368
    assert {name.split("@")[1][:5] for name in source.listed} == {"train"}
    with pytest.raises(EtudeError, match="for testing"):
        toy("data.source.plan=atomic")
    with pytest.raises(EtudeError, match="for testing"):
        asked_frames("himan/open_drawer@test#0", source)


def test_a_share_of_questions_does_not_tell_the_sub_task_before_and_a_share_tells_the_one_at_work():
    one = asked()[0][2]
    drawn = {}
    for forget, again in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        buffer = SubtaskBuffer(forget, again)
        buffer.add([one])
        batch = buffer.batch(torch.zeros(64, dtype=torch.long), torch.Generator().manual_seed(0))
        now = batch.choices[torch.arange(64), batch.right.int().argmax(1)]
        drawn[forget, again] = [("none" if k < 0 else "now" if k == n else "before") for k, n in zip(batch.last, now, strict=True)]
    assert {*drawn[0.0, 0.0]} == {"none", "before"} and {*drawn[1.0, 0.0]} == {"none"} and {*drawn[0.0, 1.0]} == {"now"}


# ------------------------------------------------------------------------------------------------ that it learns


def test_it_learns_to_name_every_sub_task_of_a_few_episodes():
    trainer, losses = adept()
    assert np.mean(losses[-10:]) < 0.2 * losses[0]
    for number, (_, _, one) in enumerate(asked()):
        for last in (None, NOTHING_SAID, int(one.now[0])):  # whatever it was told: it looks
            said = answered(trainer.averaged, every_question(trainer.buffer, number, last))
            assert (said.numpy() == one.now).mean() > 0.85
    table = judged_subtasks(trainer.averaged, asked(), torch.device("cpu"))
    assert "| open_drawer |" in table and table.splitlines()[-1].startswith("| all |")


def test_who_is_blind_cannot_use_frames_and_who_is_deaf_cannot_use_words():
    for sees, blind in (("words", True), ("frames", False)):
        torch.manual_seed(0)
        model = kind_of(toy()).model(toy(f"model.sees={sees}")).eval()
        buffer = SubtaskBuffer(0.0, 0.0)
        buffer.add([one for _, _, one in asked()])
        batch = every_question(buffer, 0)
        other = replace(batch, frames=255 - batch.frames) if blind else replace(batch, instruction=batch.choices[:, 0], last=batch.last * 0)
        unlike = replace(batch, last=batch.choices[:, 0]) if blind else replace(batch, frames=255 - batch.frames)
        assert torch.equal(model.scores(batch), model.scores(other)) and not torch.allclose(model.scores(batch), model.scores(unlike))


def test_what_can_be_said_is_scored_by_its_words_and_not_by_its_place():
    trainer, _ = adept()
    batch = every_question(trainer.buffer, 1)
    turned = replace(batch, choices=batch.choices.flip(1))
    assert torch.allclose(trainer.averaged.scores(batch), trainer.averaged.scores(turned).flip(1), atol=1e-5)


def test_words_in_another_order_are_another_sub_task():
    model = kind_of(toy()).model(toy()).eval()
    batch = every_question(trained(0)[0].buffer, 0)
    words = batch.sentences.clone()
    row, length = int(batch.choices[0, 0]), int((batch.sentences[int(batch.choices[0, 0]), :, 0] >= 0).sum())
    words[row, :length] = words[row, :length].flip(0)
    assert not torch.allclose(model.scores(batch)[:, 0], model.scores(replace(batch, sentences=words))[:, 0], atol=1e-6)


def test_shifted_frames_are_the_same_frames_moved():
    frames = torch.arange(2 * 1 * 8 * 8 * 3, dtype=torch.int16).to(torch.uint8).view(2, 1, 8, 8, 3)
    torch.manual_seed(1)
    moved = shifted(frames, 2)
    assert moved.shape == frames.shape and not torch.equal(moved, frames)
    windows = [frames[0, 0, 2 + dy : 6 + dy, 2 + dx : 6 + dx] for dy, dx in itertools.product(range(-2, 3), repeat=2)]
    assert any(torch.equal(moved[0, 0, 2:6, 2:6], window) for window in windows)


def test_the_whole_planner_has_a_few_million_parameters():
    with torch.device("meta"):
        recipe = recipe_named("himan/planner")
        assert 1e6 < parameters_of(kind_of(recipe).model(recipe)) < 5e6


# ------------------------------------------------------------------------------------------------ that it plans


def test_a_checkpoint_plans_offline_and_with_somebody_who_follows(saved):
    planner = load_planner(f"learned:{saved}")
    assert planner.contract.cameras == ("front", "wrist") and planner.about["device"] == "cpu"
    offline = Rollout(Players("oracle", planner), NAMES[0], "offline").record
    assert len(offline.stages) == len(questions(episode(NAMES[0]), 32)) and sum(s.right for s in offline.stages) > 0.8 * len(offline.stages)
    coupled = Rollout(Players("oracle", planner), NAMES[0], "coupled").record
    assert coupled.success and [stage.subtask for stage in coupled.stages[:2]] == BOTTOM
    assert Rollout(Players("oracle", planner), NAMES[0], "coupled").record.stages == coupled.stages


def test_half_precision_and_another_vocabulary_do_not_matter(saved):
    model, recipe, contract = load_model(saved)
    assert Recipe.from_data(recipe.to_data()) == recipe and contract.size == (32, 32)
    batch = every_question(adept()[0].buffer, 2)
    assert torch.equal(answered(model, batch), answered(adept()[0].averaged, batch))


def test_planners_are_not_taken_for_policies_nor_policies_for_planners(saved, tmp_path):
    with pytest.raises(EtudeError, match="holds what plans: play it with --planner learned:"):
        load_policy(f"learned:{saved}")
    keyposes = recipe_named("himan/heatmaps", ("model.width=16", "model.heads=2", "model.layers=1", "model.size=32", "data.source.size=32"))
    Trainer(keyposes).save(tmp_path)
    with pytest.raises(EtudeError, match="holds what acts: play it with --policy learned:"):
        load_planner(f"learned:{tmp_path}")


def test_training_plays_held_out_episodes_with_the_oracle_to_carry_out_what_is_said(tmp_path):
    recipe = toy("schedule.steps=2", "data.start=2", "data.most=2")
    said = []
    run(recipe, tmp_path, torch.device("cpu"), TrainingSettings(validate=1), said.append)
    validation = read_run(tmp_path / "validation-2")
    assert validation.plan.modes == ("planner",) and validation.plan.policy == "oracle"
    assert [EpisodeName.parse(record.episode).task for record in validation.records] == ["open_drawer"] and "| all |" in "\n".join(said)


def test_recipes_that_cannot_be_are_refused():
    for setting, words in (
        ("data.forget=0.9", "together at most 1"), ("model.grid=3", "no 3×3 tokens"), ("data.source.every=0", "at least 1 control step"),
        ("data.source.cameras=", "at least one camera"),
    ):  # fmt: skip
        with pytest.raises(EtudeError, match=words):
            toy(setting)


def test_etudes_are_planned_and_acted_by_what_their_own_cameras_see():
    planner, policy = (recipe_named(f"etudes/{form}", ["data.source.tasks=low"]).data.source for form in ("planner", "chunks"))
    assert planner.cameras == policy.cameras == ("base", "hand_view") and policy.action == "ee_delta"
    found = planner.unpacked(planner.packed(0))
    assert found.right.any(1).all() and (found.right[np.arange(len(found.now)), found.now]).all()
