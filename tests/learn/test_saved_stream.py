"""Streams that are played once and kept on a disk give what the stream itself would."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from toys import SETTINGS, SOURCE

from etude.learn.columns import Columns, columns_of
from etude.learn.demonstrating import demonstrate
from etude.learn.packing import arrays_in
from etude.learn.saved_stream import PLAN, SavedStream, read_checked, read_plan, save_stream
from etude.learn.stream_plans import StrokePlan
from etude.names import EtudeError

COUNT = 5


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The first few demonstrations of a stream, in every look and also paraphrased."""
    folder = tmp_path_factory.mktemp("saved") / "stream"
    assert save_stream(StrokePlan(SOURCE, COUNT, perturbs=("", "paraphrase")), folder, 1) == 0
    return folder


class Collected:
    """A buffer that keeps what it is given."""

    def __init__(self) -> None:
        self.lots = []

    def append(self, columns) -> None:
        self.lots.append(columns)


def things(columns, episode):
    """Token rows, boxes, crops and strokes of one episode, whatever stands beside it."""
    token, length, step, steps, thing, count = columns.episodes[episode]
    cells = columns.cells[thing : thing + count]
    crops = np.where((cells >= 0)[..., None, None, None], columns.crops[cells], 0)
    return columns.tokens[token : token + length], columns.boxes[thing : thing + count], crops, columns.strokes[step : step + steps]


@pytest.mark.parametrize("look", ["objects", "patches"])
@pytest.mark.parametrize("perturb", ["", "paraphrase"])
def test_it_gives_the_demonstrations_of_the_stream_in_their_order(saved, look, perturb):
    source = replace(SOURCE, look=look, perturb=perturb)
    stream, buffer = SavedStream(saved, source), Collected()
    stream.fill(buffer, 10.0)
    assert stream.ended and stream.next == COUNT and len(buffer.lots[0]) == COUNT
    for number in (0, COUNT - 1):
        played = columns_of([demonstrate(source.name(number), look)])
        for ours, theirs in zip(things(buffer.lots[0], number), things(played, 0), strict=True):
            assert np.array_equal(ours, theirs)


def test_two_processes_share_its_demonstrations_without_one_in_common(saved):
    whole, parts = Collected(), [Collected(), Collected()]
    SavedStream(saved, SOURCE).fill(whole, 10.0)
    for k, part in enumerate(parts):
        SavedStream(saved, SOURCE, k, 2).fill(part, 10.0)
    assert [len(part.lots[0]) for part in parts] == [3, 2]
    assert sorted(row.tolist() for part in parts for row in part.lots[0].episodes) == whole.lots[0].episodes.tolist()


def test_what_is_missing_is_played_again_and_nothing_else(saved):
    kept, again = saved / "objects-000000.demos", saved / "patches-000000.demos"
    before = kept.read_bytes()
    again.unlink()
    save_stream(read_plan(saved), saved, 1)
    assert again.exists() and kept.read_bytes() == before
    assert len(Columns(*arrays_in(read_checked(again)))) == 2 * COUNT


def test_it_can_be_learned_from_while_it_grows(saved, tmp_path):
    growing = tmp_path / "growing"
    growing.mkdir()
    (growing / PLAN).write_bytes((saved / PLAN).read_bytes())
    stream, buffer = SavedStream(growing, SOURCE), Collected()
    stream.fill(buffer, 0.01)
    assert not buffer.lots and not stream.ended
    (growing / "objects-000000.demos").write_bytes((saved / "objects-000000.demos").read_bytes())
    stream.fill(buffer, 10.0)
    assert len(buffer.lots[0]) == COUNT and stream.ended


def test_training_from_it_gives_the_losses_of_the_stream(saved, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
    from etude.learn.named_recipes import recipe_named
    from etude.learn.stream import GivenSamples, played
    from etude.learn.train import Trainer, train

    torch.set_num_threads(1)
    recipe = recipe_named("vima/objects-xattn", [*SETTINGS, "data.start=3", "data.fresh=1", "data.most=4", "schedule.steps=3"])
    curves = [
        [point.axes for point in train(Trainer(recipe), source)]
        for source in (SavedStream(saved, SOURCE), GivenSamples(played(SOURCE, COUNT)))
    ]
    assert curves[0] == curves[1]


def test_what_does_not_fit_gets_one_line(saved, tmp_path):
    for source, said in (
        (replace(SOURCE, seed=4), "seed"),
        (replace(SOURCE, perturb="gobbledygook"), "gobbledygook"),
        (replace(SOURCE, tasks=()), "tasks"),
    ):
        with pytest.raises(EtudeError, match=said) as refusal:
            SavedStream(saved, source)
        assert "\n" not in str(refusal.value)
    with pytest.raises(EtudeError, match="no saved stream"):
        SavedStream(tmp_path, SOURCE)
    with pytest.raises(EtudeError, match="another stream"):
        save_stream(StrokePlan(replace(SOURCE, seed=4), COUNT), saved, 1)
    with pytest.raises(EtudeError, match="other words"):
        save_stream(StrokePlan(SOURCE, 1, ("objects",), ("", "light_color")), tmp_path / "lit", 1)
    damaged = tmp_path / "objects-000000.demos"
    damaged.write_bytes((saved / "objects-000000.demos").read_bytes()[:-1])
    with pytest.raises(EtudeError, match="damaged"):
        read_checked(damaged)


def test_who_is_told_to_end_leaves_nobody_playing_behind(tmp_path):
    out = tmp_path / "stream"
    command = [sys.executable, "-m", "etude", "stream", "vima", "--look", "objects", "--episodes", "100000", "--workers", "2", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            while not list(out.glob("*.demos")):
                assert process.poll() is None
                time.sleep(0.1)
            process.terminate()
            assert process.wait() == 130 and b"Traceback" not in process.stderr.read()
            with pytest.raises(ProcessLookupError):  # nobody of its group is left
                for _ in range(100):
                    os.killpg(process.pid, 0)
                    time.sleep(0.1)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
