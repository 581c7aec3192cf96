"""DAgger: what a policy itself comes to while it is trained is learned from, as the oracle would go on from there."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from controls import SETTINGS, SOURCE, recipe
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.cli import app  # noqa: E402
from etude.learn.checkpoint import load_model, save_model  # noqa: E402
from etude.learn.control import Shaking, demonstrated  # noqa: E402
from etude.learn.control_buffer import ControlBuffer  # noqa: E402
from etude.learn.control_plan import ControlPlan  # noqa: E402
from etude.learn.dagger import FIRST, LearnerHand, round_folder, round_names  # noqa: E402
from etude.learn.header import checkpoint_bytes, digest_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.packing import in_a_row  # noqa: E402
from etude.learn.recipes import Recipe  # noqa: E402
from etude.learn.saved_stream import save_stream  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.learn.training_run import TrainingSettings, run  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.policies.halves import WholePolicy  # noqa: E402
from etude.policies.loading import halves_of  # noqa: E402

torch.set_num_threads(1)
CPU = torch.device("cpu")
NAME = "clevrskills/touch@train#1"
TOY = ("data.source.tasks=match_pose", "data.source.shaking.share=0.0", "schedule.batch=4", "schedule.steps=4")
PLAYING = ("data.dagger.share=0.5", "data.dagger.every=2", "data.dagger.episodes=1")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """One that has learned nothing."""
    path = tmp_path_factory.mktemp("dagger") / "policy.safetensors"
    made = recipe("stream")
    save_model(path, Trainer(made).averaged, made)
    return WholePolicy(halves_of(f"learned:{path}?device=cpu"))


@pytest.fixture(scope="module")
def played(policy):
    """An episode in which it acts now and then."""
    found = demonstrated(NAME, SOURCE, LearnerHand(policy, 0.5))
    assert found is not None
    return found


def test_the_oracle_says_what_is_right_wherever_the_policy_comes_to_and_brings_it_to_a_good_end(policy, played):
    plain = demonstrated(NAME, SOURCE.held_out())
    assert np.array_equal(played.frames[0], plain.frames[0]) and np.array_equal(played.labels[0], plain.labels[0])
    assert not played.led[0] and played.led[-1] and 0.05 < played.led.mean() < 0.99
    both = min(len(plain.felt), len(played.felt))
    assert np.abs(plain.felt[:both, -10:-7] - played.felt[:both, -10:-7]).max() > 0.02  # m
    again = demonstrated(NAME, SOURCE, LearnerHand(policy, 0.5))
    assert in_a_row(vars(again).values()) == in_a_row(vars(played).values())


def test_of_a_chunk_that_counts_which_was_led_up_to_by_the_oracle_alone(played):
    buffer = ControlBuffer(SOURCE, recipe("stream").model, onwards=False)
    buffer.add([played])
    counts = buffer.windows([0] * len(played.led), np.arange(len(played.led))).counts[:, -1].numpy()
    for step in range(len(played.led)):
        rest = played.led[step : step + 4]
        expected = [all(rest[:later]) for later in range(len(rest))]
        assert counts[step].tolist() == expected + [False] * (4 - len(rest))
    assert counts[:, 0].all() and not counts[played.led.argmin(), 1:].any()


def test_rounds_have_episodes_of_their_own_that_depend_on_the_seed_alone():
    how = recipe("stream", *PLAYING, "data.dagger.episodes=3").dagger
    first, second = (round_names(SOURCE, how, number) for number in (1, 2))
    assert len({*first, *second}) == 6 and first == round_names(SOURCE, how, 1)
    assert not {*first} & {SOURCE.name(k) for k in range(100)} and first[0] == SOURCE.name(FIRST)


def test_a_step_draws_the_declared_share_from_what_the_policy_played():
    trainer = Trainer(recipe("stream", *PLAYING))
    one = demonstrated(NAME, SOURCE.held_out())
    trainer.buffer.add([one] * 2)
    trainer.add_own([one] * 3)
    trainer.buffer.add([one])
    trainer.there = trainer.stock
    chosen = trainer._chosen(7)
    assert trainer.stock == 3 and {*chosen[:4].tolist()} <= {2, 3, 4} and {*chosen[4:].tolist()} <= {0, 1, 5}
    assert torch.equal(chosen, trainer._chosen(7)) and not torch.equal(chosen, trainer._chosen(8))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of four steps, in which the policy plays once, and a copy of its folder as it was then."""
    place = tmp_path_factory.mktemp("run")
    made = recipe("stream", *TOY, *PLAYING)
    save_stream(ControlPlan(made.data.source, 3), place / "stream", 1)
    lines = []

    def say(text):
        lines.append(text)
        if text.startswith("round 1"):
            shutil.copytree(place / "run", place / "copy")

    run(made, place / "run", CPU, TrainingSettings(stream=place / "stream"), say)
    assert any(line.startswith("round 1: 1 of 1") for line in lines) and not any(line.startswith("round 2") for line in lines)
    return made, place


def test_training_that_goes_on_finds_what_the_policy_played_and_ends_with_the_same_weights(trained):
    made, place = trained
    before = {path.name: path.stat().st_mtime_ns for path in round_folder(place / "copy", 1).iterdir()}
    assert load_model(round_folder(place / "run", 1) / "policy.safetensors")[1] == made
    run(made, place / "copy", CPU, TrainingSettings(stream=place / "stream"))
    assert {path.name: path.stat().st_mtime_ns for path in round_folder(place / "copy", 1).iterdir()} == before
    one, other = (load_model(place / folder)[0].state_dict() for folder in ("run", "copy"))
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_fine_tuning_begins_with_the_weights_of_another_run_and_goes_on_without_them(trained, tmp_path):
    _, place = trained
    tuned = Trainer(recipe("stream", "data.source.tasks=touch"))
    tuned.begin(place / "run")
    theirs = load_model(place / "run")[0].state_dict()
    assert all(torch.equal(theirs[key], value) for key, value in tuned.model.state_dict().items())
    with pytest.raises(EtudeError, match="another network"):
        Trainer(recipe("window")).begin(place / "run")


def test_both_are_options_of_the_command_line(trained, tmp_path):
    _, place = trained
    settings = [word for one in (*SETTINGS, *TOY, "data.dagger.every=3", "schedule.steps=1") for word in ("--set", one)]
    typed = ["train", "clevrskills/stream", *settings, "--stream", str(place / "stream"), "--device", "cpu", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, [*typed, "--from", str(place / "run"), "--dagger"])
    assert done.exit_code == 0, done.output
    made = load_model(tmp_path / "run")[1]
    assert made.dagger.share == 0.5 and made.begun == digest_of(checkpoint_bytes(place / "run" / "model.safetensors"))


def test_recipes_say_what_the_policy_plays_and_are_written_as_before_where_it_does_not():
    plain, playing = recipe("stream"), recipe("stream", *PLAYING)
    assert plain.dagger is None and "dagger" not in plain.to_data()["data"] and "begun" not in plain.to_data()
    assert playing.dagger.every == 2 and Recipe.from_data(playing.to_data()) == playing
    for wrong in ("share=1", "reach=0", "every=0", "episodes=0"):
        with pytest.raises(EtudeError, match=f"data.dagger.{wrong.split('=')[0]}"):
            recipe_named("clevrskills/stream", [*SETTINGS, f"data.dagger.{wrong}"])


def test_a_shaken_hand_is_not_led_while_it_is_pushed():
    one = demonstrated(NAME, recipe("stream", "data.source.shaking.share=1.0").data.source)
    assert Shaking().share == 0.5 and one.led.any() and not one.led.all()
