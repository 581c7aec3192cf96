"""Closed-loop control that is played once and kept on a disk: what every architecture learns from it is what the stream would give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from controls import SETTINGS, SOURCE, demonstrations
from typer.testing import CliRunner

from etude.cli import app
from etude.learn.control_plan import ControlPlan, squeezed, unsqueezed
from etude.learn.named_recipes import recipe_named
from etude.learn.packing import in_a_row
from etude.learn.saved_stream import SavedStream, read_plan
from etude.names import EtudeError

COUNT = 4


class Kept:
    """A buffer that keeps what it is given."""

    def __init__(self) -> None:
        self.found = []

    def add(self, demonstrations) -> None:
        self.found += demonstrations


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("control") / "stream"
    source = [word for one in ("seed=3", "tasks=touch", "size=32", "every=1") for word in ("--set", one)]
    typed = ["stream", "clevrskills", "--look", "frames", *source, "--episodes", str(COUNT), "--workers", "1", "--out", str(folder)]
    done = CliRunner().invoke(app, typed)
    assert done.exit_code == 0, done.output
    return folder


def read(folder, source, *part):
    stream, buffer = SavedStream(folder, source, *part), Kept()
    stream.fill(buffer, 10.0)
    assert stream.ended and stream.next == COUNT
    return buffer.found


def same(ours, theirs):
    return in_a_row(vars(ours).values()) == in_a_row(vars(theirs).values())


def test_frames_come_back_to_the_byte_from_a_third_of_the_room():
    for _, _, one in demonstrations():
        small = squeezed(one)
        assert same(unsqueezed(small), one)
        assert sum(array.nbytes for array in small) < 0.5 * one.frames.nbytes


@pytest.mark.parametrize("form", ["stream", "window"])
@pytest.mark.parametrize("told", ["multimodal", "text"])
def test_one_stream_gives_every_architecture_what_it_would_have_played(saved, form, told):
    source = recipe_named(f"clevrskills/{form}", [*SETTINGS, f"data.source.told={told}"]).data.source
    played = [one for k in range(COUNT) if (one := source.sample(k)) is not None]
    found = read(saved, source)
    assert len(found) == len(played) and found[0].frames.shape[1] == len(source.cameras)
    assert all(same(ours, theirs) for ours, theirs in zip(found, played, strict=True))


def test_two_processes_share_its_episodes(saved):
    whole, parts = read(saved, SOURCE), [read(saved, SOURCE, k, 2) for k in range(2)]
    mixed = [parts[k % 2][k // 2] for k in range(len(whole))]
    assert all(same(ours, theirs) for ours, theirs in zip(mixed, whole, strict=True))


def test_what_does_not_fit_gets_one_line(saved, tmp_path):
    assert read_plan(saved) == ControlPlan(SOURCE, COUNT)
    strokes = recipe_named("clevrskills/objects-xattn").data.source
    for source, said in (
        (replace(SOURCE, cameras=("base", "elsewhere")), "elsewhere"),
        (replace(SOURCE, size=64), "size"),
        (replace(SOURCE, every=2), "every is 1, not 2"),
        (replace(SOURCE, tasks=("pick",)), "tasks"),
        (strokes, "closed-loop"),
    ):
        with pytest.raises(EtudeError, match=said) as refusal:
            SavedStream(saved, source)
        assert "\n" not in str(refusal.value)
    with pytest.raises(EtudeError, match="words and pictures"):
        ControlPlan(replace(SOURCE, told="text"), 1)


def test_training_from_it_gives_the_losses_of_the_stream(saved):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
    from etude.learn.stream import GivenSamples
    from etude.learn.train import Trainer, train

    torch.set_num_threads(1)
    made = recipe_named("clevrskills/stream", [*SETTINGS, "schedule.steps=2", "schedule.batch=4"])
    curves = [[point.axes for point in train(Trainer(made), s)] for s in (SavedStream(saved, SOURCE), GivenSamples(demonstrations()))]
    assert curves[0] == curves[1]
    assert np.isfinite(curves[0]).all()
