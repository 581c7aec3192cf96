"""A small decider: what it learns from, that it learns, and what it cannot know."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.decisions.graph import fifth, walk  # noqa: E402
from etude.decisions.showing import told  # noqa: E402
from etude.evaluation.play import Players, play  # noqa: E402
from etude.evaluation.store import read_run  # noqa: E402
from etude.learn.checkpoint import load_model  # noqa: E402
from etude.learn.curve import read_curve  # noqa: E402
from etude.learn.deciding import answered, judged_trials  # noqa: E402
from etude.learn.kinds import kind_of  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.packing import in_a_row  # noqa: E402
from etude.learn.recipes import DecisionRecipe, Recipe  # noqa: E402
from etude.learn.stream import GivenSamples, SampleStream  # noqa: E402
from etude.learn.train import Trainer, train  # noqa: E402
from etude.learn.training_run import TrainingSettings, run  # noqa: E402
from etude.learn.trial_buffer import TrialBuffer  # noqa: E402
from etude.learn.trials import TrialSource, solve  # noqa: E402
from etude.library import trial  # noqa: E402
from etude.names import EpisodeName, EtudeError  # noqa: E402
from etude.policies.loading import load_policy  # noqa: E402

torch.set_num_threads(1)
SOURCE = TrialSource("iwisdm", tasks=("perception_location_report", "perception_category_report"), seed=3)
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=2", "model.dropout=0.0", "model.jitter=0.0", "schedule.batch=32", "schedule.warmup=0",
    "schedule.rate=0.002", "schedule.ema=0.9", "schedule.steps=60", "data.start=32", "data.most=32", "data.source.seed=3",
    "data.source.tasks=perception_location_report,perception_category_report",
)  # fmt: skip


@functools.cache
def solved():
    """32 trials, solved once for all tests of a process."""
    return [(k, SOURCE.name(k), SOURCE.sample(k)) for k in range(32)]


def trained(steps, *settings):
    """A toy after so many steps, and its losses."""
    trainer = Trainer(recipe_named("iwisdm/decider", [*SETTINGS, *settings]))
    trainer.buffer.add([one for _, _, one in solved()])
    return trainer, [float(trainer.step(0.0).sum()) for _ in range(steps)]


@functools.cache
def adept():
    """A toy that knows its trials by heart."""
    return trained(60)


def scores(model, *trials):
    buffer = TrialBuffer(4)
    buffer.add(trials)
    with torch.no_grad():
        return model.eval().scores(buffer.batch(torch.arange(len(trials))))


def test_a_toy_learns_32_trials_by_heart():
    trainer, _ = adept()
    batch = trainer.buffer.batch(torch.arange(32))
    right = answered(trainer.averaged, batch) == batch.right
    assert len(right) == 32 and right.float().mean() > 0.9


def test_the_same_seed_gives_the_same_curve():
    _, losses = adept()
    assert trained(5)[1] == pytest.approx(losses[:5], abs=1e-6)


def test_two_processes_deliver_what_one_solves_in_the_same_order():
    with SampleStream(SOURCE, 2) as stream:
        arrived = list(itertools.islice(stream, 4))
    for (number, name, one), (number_here, name_here, one_here) in zip(arrived, solved(), strict=False):
        assert (number, name) == (number_here, name_here)
        assert in_a_row(vars(one).values()) == in_a_row(vars(one_here).values())


def test_all_lists_are_learned_from_and_no_name_is_for_testing():
    names = [EpisodeName.parse(TrialSource("iwisdm").name(k)) for k in range(2000)]
    assert {name.split for name in names} == {"train"} and len({name.task for name in names}) > 80
    with pytest.raises(EtudeError, match="for testing"):
        TrialSource("iwisdm", split="val")


@functools.cache
def pair():
    """Two trials of which the same is told, but not the same shown: one answer is right for the one, another for the other."""
    known = {}
    for seed in range(400):
        one = trial(f"iwisdm/single_frame_location@train#{seed}")
        other = known.setdefault(told(one), one)
        if other.answers != one.answers:
            return solve(one, 64), solve(other, 64)
    raise AssertionError("no pair among 400 trials")


def test_a_blind_copy_cannot_tell_trials_that_differ_in_frames_alone():
    blind, seeing = trained(1, "model.sees=instruction")[0].model, trained(1)[0].model
    one, other = scores(blind, *pair())
    assert torch.equal(one, other)
    one, other = scores(seeing, *pair())
    assert not torch.equal(one, other)


def test_a_deaf_copy_cannot_tell_trials_that_differ_in_words_alone():
    one = pair()[0]
    other = replace(one, words=np.ascontiguousarray(one.words[::-1]))
    deaf, hearing = trained(1, "model.sees=frames")[0].model, trained(1)[0].model
    assert torch.equal(*scores(deaf, one, other))
    assert not torch.equal(*scores(hearing, one, other))


def test_what_is_shown_after_an_answer_does_not_change_it():
    several = solve(trial("iwisdm/one_back_location@train#0"), 64)
    assert len(several.asked) > 1
    changed = several.seen.copy()
    changed[several.asked[0] + 1 :] = several.seen[0]
    assert not np.array_equal(changed, several.seen)
    model = adept()[0].averaged
    before, after = (scores(model, one)[0] for one in (several, replace(several, seen=changed)))
    assert torch.allclose(before, after, atol=1e-5)


def test_the_order_in_which_answers_are_offered_means_nothing():
    one = pair()[0]
    turned = replace(one, choices=np.ascontiguousarray(one.choices[::-1]))
    plain, other = scores(adept()[0].averaged, one, turned)
    assert torch.allclose(plain, other.flip(0), atol=1e-5)


def test_cells_that_come_again_are_kept_once():
    buffer = TrialBuffer(4)
    one = pair()[0]
    buffer.add([one])
    buffer.add([one, one])
    assert len(buffer) == 3 and buffer._cells.count == len(one.cells)
    batch = buffer.batch(torch.arange(3))
    assert batch.seen[2, 0].tolist() == one.seen[0].tolist() and np.array_equal(batch.cells.numpy(), one.cells)


@pytest.mark.parametrize(
    ("changed", "of"),
    [
        ({"without": ("Or",)}, lambda task: any(node.json_kind == "Or" for node in walk(task.root))),
        ({"delays": 1}, lambda task: task.frames - len(task.seen) > 1),
        ({"fifth": 2}, lambda task: fifth(task.root) == 2),
    ],
)
def test_what_is_left_out_never_comes(changed, of):
    source = TrialSource("iwisdm", tasks=("low", "match_to_sample"), **changed)
    found = [trial(source.name(k)) for k in range(30)]
    left_out = [any(of(placed.task) for placed in one.tasks) for one in found]
    assert True in left_out and False in left_out
    assert [source.leaves_out(one) for one in found] == left_out
    assert [source.packed(k) == b"" for k in range(30)] == left_out
    assert source.names(5) == [one.name for one, out in zip(found, left_out, strict=True) if not out][:5]


def test_a_stream_passes_over_what_is_left_out():
    source = TrialSource("iwisdm", tasks=("low",), without=("Or",))
    kept = [k for k in range(30) if not source.leaves_out(trial(source.name(k)))]
    with SampleStream(source, 1) as stream:
        assert [number for number, _, _ in itertools.islice(stream, 5)] == kept[:5]
        assert not stream.missing


def test_a_checkpoint_plays_what_its_model_answers(tmp_path):
    trainer, _ = adept()
    trainer.save(tmp_path)
    players = Players(f"learned:{tmp_path}?device=cpu")
    assert dict(players.policy.about)["device"] == "cpu"
    right = asked = 0
    for number, name, one in solved()[:6]:
        record, _ = play(players, name)
        batch = trainer.buffer.batch(torch.tensor([number]))
        expected = (answered(trainer.averaged, batch) == batch.right).tolist()
        assert [goal.satisfied for goal in record.subgoals] == expected
        right, asked = right + sum(expected), asked + len(one.asked)
    assert f"| all | {asked} | {100 * right / asked:.1f} |" in judged_trials(trainer.averaged, solved()[:6], torch.device("cpu"))
    with pytest.raises(EtudeError, match="answers"):
        play(players, "vima/rotate@L1#0")
    assert load_policy(f"learned:{tmp_path}?device=cpu").contract == trainer.recipe.contract


def test_training_takes_from_the_stream_what_each_step_asks_for():
    recipe = recipe_named("iwisdm/decider", [*SETTINGS, "data.start=4", "data.fresh=2", "schedule.steps=3"])
    trainer = Trainer(recipe)
    list(train(trainer, GivenSamples(solved())))
    assert trainer.done == 3 and len(trainer.buffer) == 8


def test_a_run_is_validated_on_trials_that_are_not_left_out(tmp_path):
    settings = ("data.start=8", "data.most=8", "schedule.steps=2", "data.source.tasks=low", "data.source.without=Or")
    recipe, lines = recipe_named("iwisdm/decider", [*SETTINGS, *settings]), []
    run(recipe, tmp_path / "run", torch.device("cpu"), TrainingSettings(validate=3), lines.append)
    played = read_run(tmp_path / "run" / "validation-2").records
    assert [str(record.name) for record in played] == recipe.data.source.held_out().names(3)
    assert any("| all | " in line for line in lines)
    assert len(read_curve(tmp_path / "run")[-1].axes) == 1
    assert isinstance(load_model(tmp_path / "run")[1], DecisionRecipe)


def test_a_checkpoint_is_at_most_ten_megabytes():
    recipe = recipe_named("iwisdm/decider")
    assert 3e6 < parameters_of(kind_of(recipe).model(recipe)) < 4.95e6


def test_a_recipe_comes_back_from_its_data_and_the_first_ones_had_strokes_alone():
    recipe = recipe_named("iwisdm/decider", SETTINGS)
    assert Recipe.from_data(recipe.to_data()) == recipe
    strokes = recipe_named("vima/objects-xattn")
    data = strokes.to_data()
    assert data.pop("kind") == "strokes"
    assert Recipe.from_data(data) == strokes


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("iwisdm/objects-xattn", [], "decider"),
        ("vima/decider", [], "objects-xattn"),
        ("iwisdm/decider", ["data.source.size=100"], "multiple of 32"),
        ("iwisdm/decider", ["data.source.fifth=6"], "1 to 5"),
        ("iwisdm/decider", ["data.source.without=Orr"], "Or"),
        ("iwisdm/decider", ["data.source.split=val"], "for testing"),
        ("iwisdm/decider", ["data.source.tasks=lw"], "low"),
        ("iwisdm/decider", ["model.sees=nothing"], "instruction"),
        ("iwisdm/decider", ["data.shuffle=true"], "key"),
    ],
)
def test_a_wrong_recipe_gets_one_line(name, settings, said):
    with pytest.raises(EtudeError, match=said) as refusal:
        recipe_named(name, settings)
    assert "\n" not in str(refusal.value)
