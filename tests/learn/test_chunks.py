"""Long chunks in closed loop, told by tasks and by sub-tasks: what is learned from, that it is learned, and what is heard in an episode."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.envs.simulation import Simulation  # noqa: E402
from etude.evaluation.play import Players, Rollout  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.control import LONGEST, Shaking, demonstrated, prompt_arrays_of  # noqa: E402
from etude.learn.controlling import ControlInference, MemoryTable, judged_control  # noqa: E402
from etude.learn.guided_control import GuidedEncoder  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.packing import in_a_row  # noqa: E402
from etude.learn.recipes import Recipe  # noqa: E402
from etude.learn.source import start_noise  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)
CPU = torch.device("cpu")
SETTINGS = (
    "model.width=32", "model.heads=2", "model.eye_layers=1", "model.prompt_layers=1", "model.layers=1", "model.chunk=12", "model.execute=6",
    "model.grid=2", "model.dropout=0.0", "model.jitter=0.0", "schedule.batch=8", "schedule.warmup=0", "schedule.rate=0.003",
    "schedule.ema=0.9", "data.source.size=32", "data.source.tasks=open_drawer", "data.source.shaking.share=0",
)  # fmt: skip
TASK, SUBTASKS = "open the bottom drawer", ("grasp the bottom drawer handle", "pull the bottom drawer open")


def toy(*settings: str) -> Recipe:
    return recipe_named("himan/chunks", [*SETTINGS, *settings])


SOURCE = toy().data.source


@functools.cache
def demonstration():
    """Played once for all tests of a process."""
    return SOURCE.sample(0)


def filled(*settings):
    buffer = kind_of(toy()).buffer(toy(*settings), CPU)
    buffer.add([demonstration()])
    return buffer


@functools.cache
def trained():
    trainer = Trainer(toy())
    trainer.buffer.add([demonstration()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(40)]


def told(text):
    return {**prompt_arrays_of(text, (), 32), "start": start_noise(SOURCE.name(0), 12, 8)}


def saw(step):
    return {"frames": demonstration().frames[step], "felt": demonstration().felt[step]}


# ------------------------------------------------------------------------------------------------ what is learned from


def test_joint_targets_of_a_list_solve_its_episode_and_know_the_subtask_of_every_step():
    assert SOURCE.count == 20 and SOURCE.cameras == ("front", "wrist") and SOURCE.action == "joint"
    one, simulation = demonstration(), Simulation(episode(SOURCE.name(0)).under("joint"))
    for label in one.labels:
        simulation.step(label)
    assert simulation.status.satisfied
    sentences = [prompt_arrays_of(text, (), 32)["words"] for text in (TASK, *SUBTASKS)]
    assert all(
        np.array_equal(row[: len(words)], words) and (row[len(words) :] == -1).all()
        for row, words in zip(one.sentences, sentences, strict=True)
    )
    assert np.array_equal(np.unique(one.subtasks), [1, 2]) and (np.diff(one.subtasks) >= 0).all()
    again = SOURCE.unpacked(in_a_row(vars(one).values()))
    assert np.array_equal(again.subtasks, one.subtasks) and np.array_equal(again.frames, one.frames)


def test_a_list_is_learned_from_whole_however_much_the_hand_is_shaken():
    steady = replace(SOURCE, tasks=("box_out_of_cupboard",), size=16)
    shaken = replace(steady, shaking=Shaking(1.0, 0.1, 1.0))
    assert demonstrated(shaken.name(0), shaken) is None
    assert np.array_equal(shaken.sample(0).labels, steady.sample(0).labels)


def test_the_share_that_is_told_by_its_subtask_is_drawn_with_the_moment():
    chosen, seed = torch.zeros(30, dtype=torch.long), torch.Generator().manual_seed(0)
    whole, parts = (filled(f"data.by_subtask={share}").batch(chosen, seed) for share in (0, 1))
    assert torch.equal(whole.felt, parts.felt)  # the same moments
    task, first, second = (torch.from_numpy(prompt_arrays_of(text, (), 32)["words"].astype(np.int64)) for text in (TASK, *SUBTASKS))
    assert all(torch.equal(words, task) for words in whole.prompts.words)
    moments = [int(np.flatnonzero((demonstration().felt == felt[-1].numpy()).all(1))[0]) for felt in parts.felt]
    assert {int(demonstration().subtasks[moment]) for moment in moments} == {1, 2}
    for moment, words in zip(moments, parts.prompts.words, strict=True):
        right = (first, second)[int(demonstration().subtasks[moment]) - 1]
        assert torch.equal(words[: len(right)], right)


# ------------------------------------------------------------------------------------------------ the model


def test_what_comes_after_the_last_action_is_to_stay_there():
    model, last = kind_of(toy()).model(toy()), len(demonstration().labels) - 4
    wanted, counts = model._wanted(filled().windows([0], np.array([last])))
    assert counts.all()
    actions = model.actions(wanted, torch.from_numpy(demonstration().felt[[last]]))[0].detach().numpy()
    assert np.allclose(actions[:4], demonstration().labels[last:], atol=1e-5)
    assert np.allclose(actions[4:], demonstration().labels[-1], atol=1e-5)


def test_early_and_late_actions_of_a_chunk_are_of_one_size_to_the_network():
    recipe = recipe_named("himan/chunks", ["data.source.size=32", "model.grid=2"])
    buffer = kind_of(recipe).buffer(recipe, CPU)
    buffer.add([demonstration()])
    steps = np.arange(0, 60, 4)
    wanted, _ = kind_of(recipe).model(recipe)._wanted(buffer.windows([0] * len(steps), steps))
    spread = wanted[..., :-1].std((0, 2))
    assert spread.max() < 2.5 * spread.min() and 0.4 < spread.mean() < 2.5


def test_a_toy_learns_its_demonstration():
    trainer, losses = trained()
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])
    assert "| open_drawer | " in judged_control(trainer.averaged, [(0, SOURCE.name(0), demonstration())], CPU)


def test_a_policy_has_a_few_million_numbers_and_chunks_of_fifty_at_twenty_a_second():
    recipe = recipe_named("himan/chunks")
    assert 4e6 < parameters_of(kind_of(recipe).model(recipe)) < 7e6
    assert recipe.contract.chunk == 50 and recipe.contract.size == (128, 128)


@pytest.mark.parametrize(
    ("setting", "why"), [("model.looks=2", "must be 1"), ("data.source.told=multimodal", "in text"), ("data.by_subtask=2", "share")]
)
def test_recipes_that_make_no_sense_are_refused(setting, why):
    with pytest.raises(EtudeError, match=why):
        toy(setting)
    assert Recipe.from_data(toy().to_data()) == toy()


# ------------------------------------------------------------------------------------------------ playing


def test_many_sessions_at_once_are_decided_as_each_alone():
    model = trained()[0].averaged
    alone, table = ControlInference(model, CPU, {}), MemoryTable(model, CPU, lambda act: act)
    padding = {"kinds": 0, "words": 0, "places": 0, "rows": -1}
    for session, text in enumerate((TASK, *SUBTASKS)):
        given = told(text)
        spare = LONGEST - len(given["kinds"])
        for name, value in padding.items():
            given[name] = np.pad(given[name], ((0, spare), *[(0, 0)] * (given[name].ndim - 1)), constant_values=value)
        alone.begin(session, given)
        table.keep(session, {name: torch.from_numpy(value)[None] for name, value in alone.memory(session).items()})
    for step, asking in ((0, (0, 1, 2)), (6, (2, 0)), (12, (1,))):
        with torch.no_grad():
            together = table.decided([(k, demonstration().frames[step], demonstration().felt[step]) for k in asking])
        assert np.allclose(alone.decide(asking, [saw(step)] * len(asking)), together, atol=1e-5)


def test_who_is_told_something_else_begins_anew():
    recipe, name = toy(), SOURCE.name(0)
    encoder, inference = GuidedEncoder(recipe, recipe.contract), ControlInference(trained()[0].averaged, CPU, {})
    seen = {"front": demonstration().frames[0, 0], "wrist": demonstration().frames[0, 1], "proprioception": demonstration().felt[0]}
    inference.begin(0, encoder.told(TASK, (), name))
    assert "kinds" not in encoder.saw({**seen, "instruction": TASK})
    heard = encoder.saw({**seen, "instruction": SUBTASKS[0]})
    after = inference.decide([0], [heard])[0]
    inference.begin(1, encoder.told(SUBTASKS[0], (), name))
    assert np.array_equal(after, inference.decide([1], [saw(0)])[0])
    inference.begin(2, encoder.told(TASK, (), name))
    assert not np.array_equal(after, inference.decide([2], [saw(0)])[0])


def test_a_checkpoint_plays_and_follows_what_a_planner_says(tmp_path):
    trained()[0].save(tmp_path)
    players = Players(f"learned:{tmp_path}?device=cpu")
    inference, found = ControlInference(load_model(tmp_path)[0], CPU, {}), []
    for session, (mode, text) in enumerate((("vanilla", TASK), ("rule", SUBTASKS[0]))):
        found.append(next(iter(Rollout(players, SOURCE.name(0), mode))).action)
        inference.begin(session, told(text))
        assert np.allclose(found[-1], inference.decide([session], [saw(0)])[0][0], atol=1e-6)
    assert not np.allclose(*found, atol=1e-5)
