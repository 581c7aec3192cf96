"""What is learned from a cluster is what is learned at home, to the bit: also when a machine is lost half-way; and both commands."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import DOOMED, SMALL, patiently
from numbered import HELD

from etude.evaluation.ray_team import RaySettings
from etude.evaluation.store import read_run
from etude.learn.cluster_stream import ClusterStream

pytestmark = pytest.mark.ray  # trainings need torch, which is imported where one begins: who collects all tests may not have it


def test_a_machine_that_is_lost_while_training_learns_from_it_changes_no_bit(nodes: Any, tmp_path: Path) -> None:
    from trainings import OneTraining, learned_at_home, one_thread, waiting

    mark = tmp_path / "begun"

    def lose(doomed: Any) -> None:
        while not mark.exists():
            time.sleep(0.05)
        nodes.remove_node(doomed, allow_graceful=False)

    with one_thread():
        with ClusterStream(waiting(mark), RaySettings(nodes.address)) as stream:
            training = OneTraining(stream)
            first = training.step()
            assert first is not None and first.step == 1 and first.episodes < HELD
            doomed = patiently(nodes.add_node, **SMALL, env_vars={DOOMED: "1"})
            losing = threading.Thread(target=lose, args=(doomed,))
            losing.start()
            losses, weights = training.learned()
            losing.join()
            assert mark.exists() and not stream.missing and training.trainer.stock > HELD
        assert (losses, weights) == learned_at_home()
    assert len(losses) == 5


def typed(*command: object, folder: Path) -> str:
    """What etude prints, typed in a folder."""
    line = [sys.executable, "-m", "etude", *map(str, command)]
    done = subprocess.run(line, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_etude_train_learns_from_a_cluster_what_it_learns_at_home(nodes: Any, tmp_path: Path) -> None:
    from trainings import RECIPE, SMALLER, kept

    settings = [part for setting in SMALLER for part in ("--set", setting)]
    for out, more in (("there", ("--stream", "ray", "--ray-address", nodes.address)), ("here", ())):
        told = typed("train", RECIPE, *settings, "--steps", 3, "--device", "cpu", "--workers", 1, "--out", out, *more, folder=tmp_path)
        assert '"steps": 3' in told
    losses, weights = kept(tmp_path / "there")
    assert (losses, weights) == kept(tmp_path / "here")
    assert [step for step, *_ in losses] == [3] and weights


def test_etude_evaluate_plays_on_a_cluster_what_it_plays_at_home(nodes: Any, tmp_path: Path) -> None:
    choice = ("--suite", "clevrskills", "--task", "pick", "--episodes", 3, "--policy", "oracle:noise=0.01", "--workers", 1, "--memory", 2)
    for out, more in (("there", ("--executor", "ray", "--ray-address", nodes.address)), ("here", ())):
        typed("evaluate", *choice, "--out", out, *more, folder=tmp_path)
    there, here = ([replace(r, timings={}).to_line() for r in read_run(tmp_path / out).records] for out in ("there", "here"))
    assert there == here and len(here) == 3
