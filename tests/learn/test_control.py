"""Closed-loop policies: what they learn from, that they learn, and that they play as they have learned."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
from dataclasses import replace

import numpy as np
import pytest
from controls import SOURCE, demonstrations, recipe

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")


from etude.envs.observer import Observer  # noqa: E402
from etude.envs.simulation import Simulation  # noqa: E402
from etude.evaluation.inference_process import InferenceProcess  # noqa: E402
from etude.evaluation.play import Players, play  # noqa: E402
from etude.evaluation.store import read_run  # noqa: E402
from etude.learn.control import LONGEST, PICTURE_TOKENS, ControlEncoder, Shaking, demonstrated, prompt_arrays_of  # noqa: E402
from etude.learn.control_buffer import ControlBuffer  # noqa: E402
from etude.learn.controlling import ControlInference, MemoryTable, judged_control  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import CONTROLLERS, recipe_named  # noqa: E402
from etude.learn.packing import in_a_row  # noqa: E402
from etude.learn.recipes import Recipe  # noqa: E402
from etude.learn.stream import SampleStream  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.learn.training_run import TrainingSettings, run  # noqa: E402
from etude.library import episode  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.policies.halves import NearPolicy, WholePolicy  # noqa: E402
from etude.policies.loading import halves_of  # noqa: E402

torch.set_num_threads(1)
FORMS = tuple(CONTROLLERS)
CPU = torch.device("cpu")


@functools.cache
def trained(form, steps=30):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(recipe(form))
    trainer.buffer.add([one for _, _, one in demonstrations(len(trainer.recipe.data.source.cameras))])
    return trainer, [trainer.step(0.0).tolist() for _ in range(steps)]


def refuses(asked, said):
    with pytest.raises(EtudeError, match=said) as refusal:
        asked()
    assert "\n" not in str(refusal.value)


def heard(one, model):
    """What a policy is told at the beginning of this demonstration."""
    start = np.random.default_rng(0).normal(size=(model.chunk, model.numbers)).astype(np.float32)
    return {name: getattr(one, name) for name in ("kinds", "words", "places", "rows", "pictures")} | {"start": start}


def saw(one, step):
    return {"frames": one.frames[step], "felt": one.felt[step]}


# ------------------------------------------------------------------------------------------------ what is learned from


@pytest.mark.parametrize("action", ["ee_delta", "ee_pose", "joint"])
def test_what_is_learned_from_solves_the_episode_when_it_is_carried_out(action):
    source = replace(SOURCE, action=action, shaking=Shaking(0.0))
    one = demonstrated("clevrskills/touch@train#1", source)
    assert one.labels.shape == (len(one.frames), source.acts) and one.felt.shape == (len(one.frames), source.feels)
    simulation = Simulation(episode("clevrskills/touch@train#1").under(action))
    for label in one.labels:
        assert not simulation.over
        simulation.step(label)
    assert simulation.status.satisfied


def test_a_hand_that_is_pushed_aside_comes_back_by_what_the_oracle_wants():
    plain, pushed = (demonstrated("clevrskills/touch@train#1", replace(SOURCE, shaking=Shaking(share))) for share in (0.0, 1.0))
    assert np.array_equal(plain.frames[0], pushed.frames[0]) and np.array_equal(plain.labels[0], pushed.labels[0])
    both = min(len(plain.felt), len(pushed.felt))
    apart = np.abs(plain.felt[:both, -10:-7] - pushed.felt[:both, -10:-7]).max(1)  # m
    assert apart.max() > 0.01 and apart[0] == 0
    assert np.abs(pushed.labels[:, :3]).max() <= np.abs(plain.labels[:, :3]).max() + 0.1  # nobody wants to be pushed


@pytest.mark.parametrize("form", ["stream", "window"])
def test_looks_that_are_never_taken_in_play_are_not_kept(form):
    model, onwards = recipe(form).model, form == "stream"
    dense, thin = SOURCE, replace(SOURCE, every=model.execute)
    every = model.execute
    one, other = (demonstrated("clevrskills/touch@train#1", replace(source, shaking=Shaking(1.0))) for source in (dense, thin))
    assert np.array_equal(other.frames, one.frames[::every]) and np.array_equal(other.felt, one.felt[::every])
    assert np.array_equal(other.labels, one.labels) and np.array_equal(other.led, one.led)
    buffers = [ControlBuffer(source, model, onwards) for source in (dense, thin)]
    for buffer, shown in zip(buffers, (one, other), strict=True):
        buffer.add([shown, shown])
    last = len(one.labels) - 1
    for moment in (0, every, 4 * every, last // every * every):
        wanted, found = (buffer.windows([1], np.array([moment])) for buffer in buffers)
        for name in ("frames", "felt", "there", "where", "labels", "counts"):
            assert torch.equal(getattr(wanted, name), getattr(found, name)), (moment, name)
    between = buffers[1].windows([1], np.array([every + 1]))
    assert torch.equal(between.frames, buffers[0].windows([1], np.array([every])).frames)  # a moment is that of the look before it
    with pytest.raises(EtudeError, match=r"multiple of data\.source\.every"):
        recipe(form, f"data.source.every={every + 1}")


def test_prompts_have_pictures_or_words_alone():
    told, text = (demonstrated("clevrskills/touch@train#1", replace(SOURCE, told=how)) for how in ("multimodal", "text"))
    assert len(told.pictures) == 1 and (told.rows >= 0).sum() == PICTURE_TOKENS
    assert len(text.pictures) == 0 and (text.rows == -1).all() and len(text.words) > 3
    assert recipe("window", "data.source.told=text").contract.told == "text"


def test_two_processes_deliver_what_one_plays_in_the_same_order():
    with SampleStream(SOURCE, 2) as stream:
        arrived = list(itertools.islice(stream, 3))
    for (number, name, one), (number_here, name_here, one_here) in zip(arrived, demonstrations(), strict=True):
        assert (number, name) == (number_here, name_here)
        assert in_a_row(vars(one).values()) == in_a_row(vars(one_here).values())


def test_levels_choose_tasks():
    level0 = recipe_named("clevrskills/window", ["data.source.levels=L0"]).data.source
    assert len(level0.chosen()) == 12 and "touch" in level0.chosen() and "stack" not in level0.chosen()
    assert len(recipe_named("clevrskills/window").data.source.chosen()) == 33


def test_test_names_are_refuses():
    with pytest.raises(EtudeError, match="for testing"):
        demonstrated("clevrskills/touch@test#0", SOURCE)


def test_every_suite_with_a_robot_has_closed_loop_recipes():
    seen = {suite: recipe_named(f"{suite}/stream").data.source for suite in ("vima", "vlmbench", "himan")}
    assert seen["vima"].cameras == ("top", "front") and seen["himan"].cameras == ("front", "wrist")
    assert [source.joints for source in seen.values()] == [6, 7, 7]
    replace(seen["himan"], tasks=("open_drawer",)).refuse_misfits()
    refuses(lambda: replace(seen["himan"], tasks=("open_drawer",), joints=6).refuse_misfits(), "7 joints")


# ------------------------------------------------------------------------------------------------ windows


def test_a_window_leads_up_to_its_last_look_and_has_nothing_before_the_beginning():
    _, _, one = demonstrations()[0]
    made = recipe("window")
    buffer = ControlBuffer(SOURCE, made.model, onwards=False)
    buffer.add([one])
    last = len(one.labels) - 2
    batch = buffer.windows([0, 0], np.array([4, last]))
    assert batch.there.tolist() == [[False, False, True, True], [True] * 4]
    assert np.array_equal(batch.frames[0, 2:].numpy(), one.frames[[1, 4]])
    assert np.array_equal(batch.felt[1].numpy(), one.felt[[last - 9, last - 6, last - 3, last]])
    assert np.array_equal(batch.labels[0, -1].numpy(), one.labels[4:8])
    assert batch.counts[1, -1].tolist() == [True, True, False, False]


def test_a_window_that_goes_on_begins_in_the_episode_and_has_nothing_after_its_end():
    _, _, one = demonstrations()[0]
    buffer = ControlBuffer(SOURCE, recipe("stream").model, onwards=True)
    buffer.add([one])
    last = len(one.labels) - 1
    batch = buffer.windows([0, 0], np.array([4, last + 3]))
    assert np.array_equal(batch.frames[0].numpy(), one.frames[[1, 4, 7, 10]])
    assert batch.there[1].tolist() == [True, True, True, False]
    assert not batch.counts[1, 3].any() and batch.counts[1, 2].tolist() == [True, False, False, False]


def test_prompts_of_a_batch_are_those_of_its_episodes():
    found = [one for _, _, one in demonstrations()]
    buffer = ControlBuffer(SOURCE, recipe("stream").model, onwards=True)
    buffer.add(found)
    prompts = buffer.batch(torch.tensor([2, 0, 2])).prompts
    assert len(prompts.pictures) == len(found[0].pictures) + len(found[2].pictures)  # an episode that was drawn twice has them once
    last = int(prompts.rows[1].max()) // PICTURE_TOKENS
    assert np.array_equal(prompts.pictures[last].numpy(), found[0].pictures[-1])
    assert torch.equal(prompts.rows[0], prompts.rows[2])


def test_frames_stay_where_they_are_when_more_come(monkeypatch):
    _, _, one = demonstrations()[0]
    monkeypatch.setattr("etude.learn.buffer.BLOCK", 7 * one.frames[0].nbytes)
    buffer = ControlBuffer(SOURCE, recipe("window").model, onwards=False)
    buffer.add([one])
    first = buffer._frames._blocks[0].data_ptr()
    buffer.add([one])
    assert buffer._frames._blocks[0].data_ptr() == first and len(buffer._frames._blocks) > 2
    assert np.array_equal(buffer.windows([1], np.array([20])).frames[0, -1].numpy(), one.frames[20])


# ------------------------------------------------------------------------------------------------ models


def test_the_four_models_have_the_same_size_within_a_fifth_and_fit_ten_megabytes():
    sizes = []
    for form in FORMS:
        plain = recipe_named(f"clevrskills/{form}")
        sizes.append(parameters_of(kind_of(plain).model(plain)))
    assert max(sizes) < 1.2 * min(sizes) and max(sizes) < 4.95e6


@pytest.mark.parametrize(("error", "power"), [("squared", 2), ("absolute", 1)])
@pytest.mark.parametrize("form", ["stream", "window"])
def test_how_far_the_arm_is_off_counts_as_the_recipe_says(form, error, power):
    trainer = Trainer(recipe(form, f"model.error={error}"))
    trainer.buffer.add([one for _, _, one in demonstrations(views=len(trainer.recipe.data.source.cameras))])
    model, batch = trainer.model.eval(), trainer.buffer.windows([0, 1, 2], np.array([9, 12, 15]))
    with torch.no_grad():
        losses = model.losses(batch)[:, 0]
        answers = model.chunks(batch)
        guess, right, counts = answers.found, answers.wanted, answers.counts
    off = (((guess - right)[..., :-1].abs() ** power).mean(2) * counts).sum(1) / counts.sum(1).clamp(min=1)
    assert torch.allclose(losses, off, atol=1e-5) and float(losses.min()) > 0


@pytest.mark.parametrize("form", FORMS)
def test_a_toy_learns_what_moves_the_arm(form):
    trainer, _ = trained(form)
    batch = trainer.buffer.windows([0, 0, 1, 1, 2, 2], np.array([8, 20] * 3))
    errors = []
    for model in (Trainer(recipe(form)).model.eval(), trainer.averaged):
        with torch.no_grad():
            answers = model.chunks(batch)
        guess, right, counts = answers.found, answers.wanted, answers.counts
        errors.append(float((guess - right)[counts][:, :-1].abs().mean()))
    assert errors[1] < 0.92 * errors[0]  # after 30 steps of eight windows


@pytest.mark.parametrize("form", FORMS)
def test_the_same_seed_gives_the_same_curve(form):
    again = Trainer(recipe(form))
    again.buffer.add([one for _, _, one in demonstrations(len(again.recipe.data.source.cameras))])
    assert np.allclose([again.step(0.0).tolist() for _ in range(2)], trained(form)[1][:2], atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_policy_does_look_by_look_what_its_model_makes_of_the_window(form):
    model = trained(form)[0].averaged
    _, _, one = demonstrations(len(model.source.cameras))[0]
    inference = ControlInference(model, CPU, {})
    told = heard(one, model)
    inference.begin(0, told)
    steps = range(0, 12 if form == "stream" else 21, 3)  # beyond four looks a stream knows more than its window
    played = [inference.decide([0], [saw(one, step)])[0] for step in steps]
    buffer = ControlBuffer(model.source, model.recipe, model.onwards)
    buffer.add([one])
    for look, step in enumerate(steps):
        batch = buffer.windows([0], np.array([max(step, 9) if model.onwards else step]))
        with torch.no_grad():
            if form == "readout":
                made, _, hints, _ = model.read_last(batch)
                made = model._flown(torch.cat([made, hints], 1), torch.from_numpy(told["start"])[None])
            else:
                made = model.chunks(batch).found
            at = min(look, 3) if model.onwards else 0
            expected = model.actions(made[at], torch.from_numpy(one.felt[step])).numpy()
        assert np.allclose(played[look], expected, atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_many_sessions_at_once_are_decided_as_each_alone(form):
    model = trained(form)[0].averaged
    found = [one for _, _, one in demonstrations(len(model.source.cameras))]
    alone, table = ControlInference(model, CPU, {}), MemoryTable(model, CPU, lambda act: act)
    for k, one in enumerate(found):
        told = heard(one, model)
        spare = LONGEST - len(told["kinds"])
        padding = {"kinds": (0, 0), "words": (0, 0), "places": (0, 0), "rows": (-1, -1)}
        for name, values in padding.items():
            width = ((0, spare), (0, 0)) if name == "words" else (0, spare)
            told[name] = np.pad(told[name], width, constant_values=values[0])
        alone.begin(k, told)
        table.keep(k, {name: torch.from_numpy(value)[None] for name, value in alone.memory(k).items()})
    for step, asking in ((0, (0, 1, 2)), (3, (2, 0)), (6, (1,)), (9, (0, 1, 2)), (12, (0, 2))):
        apart = alone.decide(asking, [saw(found[k], step) for k in asking])
        with torch.no_grad():
            together = table.decided([(k, found[k].frames[step], found[k].felt[step]) for k in asking])
        assert np.allclose(apart, together, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_what_a_policy_remembers_has_one_size_and_can_be_put_aside(form):
    model = trained(form)[0].averaged
    _, _, one = demonstrations(len(model.source.cameras))[0]
    inference = ControlInference(model, CPU, {})
    inference.begin(0, heard(one, model))
    sizes = {name: value.shape for name, value in inference.memory(0).items()}
    for step in range(12):
        inference.decide([0], [saw(one, step)])
    kept = {name: value.copy() for name, value in inference.memory(0).items()}
    assert {name: value.shape for name, value in kept.items()} == sizes
    first = inference.decide([0], [saw(one, 12)])[0]
    assert not np.array_equal(first, inference.decide([0], [saw(one, 20)])[0])
    inference.recall(5, kept)
    assert np.array_equal(inference.decide([5], [saw(one, 12)])[0], first)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_seen_before_matters_to_what_is_done_now(form):
    model = trained(form)[0].averaged
    _, _, one = demonstrations(len(model.source.cameras))[0]
    inference = ControlInference(model, CPU, {})
    for session, before in ((0, 0), (1, 25)):
        inference.begin(session, heard(one, model))
        inference.decide([session], [saw(one, before)])
    assert not np.allclose(*inference.decide([0, 1], [saw(one, 12)] * 2), atol=1e-6)
    if model.onwards:  # what is made of a look by itself, and within a stream
        assert np.allclose(*(inference.memory(session)["row"][1] for session in (0, 1)), atol=1e-6) == (form == "frame")


@pytest.mark.parametrize("form", FORMS)
def test_who_is_told_nothing_acts_all_the_same(form):
    model = trained(form)[0].averaged
    _, _, one = demonstrations(len(model.source.cameras))[0]
    inference = ControlInference(model, CPU, {})
    inference.begin(0, {**heard(one, model), **prompt_arrays_of("", (), 32)})
    assert np.isfinite(inference.decide([0], [saw(one, 0)])[0]).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sees", ["both", "frames", "instruction"])
def test_a_deaf_copy_does_not_hear_and_a_blind_one_does_not_see(form, sees):
    model = Trainer(recipe(form, f"model.sees={sees}")).averaged
    _, _, one = demonstrations(len(model.source.cameras))[0]
    other = {**saw(one, 0), "frames": one.frames[20]}
    inference = ControlInference(model, CPU, {})
    for session, words in enumerate(({}, prompt_arrays_of("push it away", (), 32), {})):
        inference.begin(session, {**heard(one, model), **words})
    plain, told, shown = inference.decide([0, 1, 2], [saw(one, 0), saw(one, 0), other])
    assert np.allclose(plain, told, atol=1e-5) == (sees == "frames")
    assert np.allclose(plain, shown, atol=1e-5) == (sees == "instruction")


# ------------------------------------------------------------------------------------------------ playing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with a policy that has learned next to nothing."""
    path = tmp_path_factory.mktemp("control")
    trained("stream")[0].save(path)
    return path


def test_a_checkpoint_plays_in_chunks_and_twice_the_same(folder):
    players = Players(f"learned:{folder}?device=cpu")
    assert players.policy.contract.chunk == 4 and players.policy.contract.execute == 3
    name = "clevrskills/match_pose@test#0"
    first, second = (play(players, name)[0] for _ in range(2))
    assert first.steps > 3 and replace(first, timings={}) == replace(second, timings={})


def test_the_oracle_takes_over_from_a_learned_policy(folder):
    players = Players(f"takeover:0.05:learned:{folder}?device=cpu")
    record, _ = play(players, "clevrskills/touch@val#0")
    assert record.success and players.policy.taken is not None


def scene_of(policy):
    found = episode("clevrskills/touch@val#0").under("ee_delta")
    simulation = Simulation(found)
    observer = Observer(simulation, policy.contract.cameras, policy.contract.size, ("rgb",))
    policy.reset(found.instruction.text, (), found.name)
    return simulation, observer


def test_an_episode_goes_on_from_a_saved_state_as_it_went_on_before(folder):
    policy = WholePolicy(halves_of(f"learned:{folder}?device=cpu"))
    simulation, observer = scene_of(policy)

    def on(looks):
        chunks = []
        for _ in range(looks):
            chunks.append(policy.act(observer.look()))
            for action in chunks[-1][: policy.contract.execute]:
                simulation.step(action)
        return chunks

    on(3)
    state, memory = simulation.save(), policy.save()
    first = on(3)
    simulation.restore(state)
    policy.restore(memory)
    assert np.array_equal(first, on(3))


def test_inference_in_another_process_gives_out_what_it_remembers(folder):
    text = f"learned:{folder}?device=cpu"
    started = []

    def start(function, given):
        started.append(multiprocessing.get_context("fork").Process(target=function, args=(*given, dict(os.environ)), daemon=True))
        started[-1].start()
        return started[-1]

    process = InferenceProcess(text, (), start)
    try:
        near, whole = NearPolicy(halves_of(text).encoder(), process.address), WholePolicy(halves_of(text))
        _, observer = scene_of(near)
        scene_of(whole)
        seen = observer.look()
        assert np.array_equal(near.act(seen), whole.act(seen))
        memory = near.save()
        assert {name: value.shape for name, value in memory.items()} == {name: value.shape for name, value in whole.save().items()}
        first = near.act(seen)
        near.restore(memory)
        assert np.array_equal(near.act(seen), first)
    finally:
        started[0].terminate()
        started[0].join()
        process.close()


def test_held_out_episodes_are_judged_by_task():
    trainer, _ = trained("window")
    table = judged_control(trainer.averaged, demonstrations(1), CPU)
    looks = sum(-(-len(one.labels) // 3) for _, _, one in demonstrations(1))
    assert f"| touch | {looks} |" in table
    assert f"| touch | {looks} |" in judged_control(trained("stream")[0].averaged, demonstrations(), CPU)


def test_a_run_from_stream_to_checkpoint_is_validated(tmp_path):
    lines = []
    made = recipe("window", "schedule.steps=2", "data.source.tasks=match_pose")
    run(made, tmp_path / "run", CPU, TrainingSettings(validate=1), lines.append)
    played = read_run(tmp_path / "run" / "validation-2").records
    assert [str(record.name) for record in played] == made.data.source.held_out().names(1)
    assert any("| match_pose | " in line for line in lines)


# ------------------------------------------------------------------------------------------------ mistakes


def test_a_recipe_comes_back_from_its_data():
    for form in FORMS:
        assert Recipe.from_data(recipe(form).to_data()) == recipe(form)


def test_another_robot_and_a_prompt_that_is_too_long_get_one_line():
    made = recipe("window")
    encoder = ControlEncoder(made, made.contract)
    seen = {"base": np.zeros((32, 32, 3), np.uint8), "proprioception": np.zeros(24, np.float32)}
    refuses(lambda: encoder.saw(seen), "6 joints; this one has 7")
    refuses(lambda: prompt_arrays_of("word " * 300, (), 32), "300 tokens")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["model.execute=9"], "execute"),
        (["model.grid=3"], "multiple of 24"),
        (["model.looks=0"], "at least 1"),
        (["model.form=windw"], "window"),
        (["data.source.action=keypose"], "ee_pose"),
        (["data.source.levels=L7"], "L2"),
        (["data.source.cameras="], "at least one camera"),
        (["data.source.shaking.share=2"], "from 0 to 1"),
        (["data.source.split=test"], "for testing"),
        (["data.source.told=views"], "multimodal"),
        (["data.stored=somewhere"], "key"),
    ],
)
def test_a_wrong_recipe_gets_one_line(settings, said):
    refuses(lambda: recipe_named("clevrskills/window", settings), said)
