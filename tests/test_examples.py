"""Every script in examples/ runs as its first line says, with tiny sizes, and leaves what it promises."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from forked_process import forked

from etude.evaluation.pairs import FEWEST_PAIRS
from etude.evaluation.plan import read_names
from etude.names import EpisodeName
from etude.policies.robot_client import RemoteRobot

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))
# script → its arguments, files it leaves, words it prints
RUNS = {
    "ask_a_planner.py": (("run", "1"), ("run/episodes.jsonl",), ("place@test#0", "first at fault: planning", "wrong and done")),
    "compare_runs.py": (("runs", "1"), ("runs/steady/run.json", "runs/shaky/run.json", "runs/report.html"), ("2 paired episodes",)),
    "count_etudes.py": (("20", "1", "2"), (), ("structures of", "drawn", "episodes")),
    "draw_etudes.py": (("3", "1", "low"), (), ("| low | ", "/")),
    "evaluate_my_policy.py": (("run", "1"), ("run/report.html",), ("touch", "0 of 1 episode", "0 errors")),
    "gymnasium_loop.py": (("7", "5"), (), ("clevrskills/stack@train#7", "5 steps", "success False")),
    "measure_etudes.py": (("runs", "1", "1"), ("runs/high/run.json",), ("| low | 1 | 0 |", "| high | 1 | 0 |", "| 1/1 |")),
    "measure_recovery.py": (
        ("runs", "1", "oracle", "clevrskills/touch"), ("runs/clevrskills/run.json",), ("move_object", "touch@train", "1/1"),
    ),
    "measure_robots.py": (
        ("runs", "1", "oracle", "clevrskills/touch"), ("runs/clevrskills/run.json",), ("touch@train | 1/1 | 1/1 | 1/1 |",),
    ),
    "order_objects.py": (("vima/rearrange@train#0",), (), ("default, step 0: ", "permuted, step 0: ", "permuted, step 1: ")),
    "planner_or_policy.py": (
        ("run", "himan/open_drawer@test#0"), ("run/episodes.jsonl",), ("| rule | 1 | 0 | 0 |",),
    ),
    "train_ppo.py": (
        ("touch", "--steps", "1", "--judged", "2", "--workers", "0", "--out", "curve.csv"), ("curve.csv",), ("trained 0", "trained 2048"),
    ),
    "train_stable_baselines.py": (("touch", "gain", "1", "model.zip"), ("model.zip",), ("total_timesteps",)),
    "record_demos.py": (("data", "1"), ("data/meta/info.json",), ("1 episodes at 20 frames a second", "first frame (64, 64, 3)")),
}  # fmt: skip


SERVERS = ("robot_server.py",)  # until they are interrupted
NEEDS = {"train_ppo.py": "torch", "train_stable_baselines.py": "stable_baselines3"}


def test_every_script_is_run_here_is_short_and_says_how_it_is_called():
    assert {*RUNS, *SERVERS} == set(SCRIPTS)
    for name in SCRIPTS:
        lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
        # A learner that can be read from top to bottom is longer than the use of one.
        assert len(lines) < (180 if name.startswith("train_") else 40) and f"python examples/{name} " in lines[0], name


@pytest.mark.parametrize("name", RUNS)
def test_a_script_does_what_it_says(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    arguments, files, words = RUNS[name]

    def program() -> None:
        sys.argv = [name, *arguments]
        sys.path.insert(0, str(EXAMPLES))  # as Python does for a script
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    done = forked(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / file).exists() for file in files)
    assert all(word in done.stdout for word in words), done.stdout


def test_the_robots_server_serves_a_simulation_that_writes_down_what_it_thinks(tmp_path):
    command = [sys.executable, "-u", str(EXAMPLES / "robot_server.py"), "0", "verdicts.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert "left_shoulder" in server.stdout.readline()
            robot = RemoteRobot(server.stdout.readline().split()[-1])
            robot.begin("himan_real/open_drawer@test#0", "open the top drawer", "ee_delta")
            assert robot.facts.name == "simulated himan_real" and not robot.act(np.zeros(7)).stopped
            robot.stop()
            assert robot.act(np.zeros(7)).stopped
            robot.close()
        finally:
            server.terminate()
    assert '"steps": 1, "success": false' in (tmp_path / "verdicts.jsonl").read_text()


def test_the_demo_looks_into_understanding_by_four_perturbations_each_with_its_control():
    names = [EpisodeName.parse(name) for name in read_names(EXAMPLES / "understanding.txt")]
    plain = {name.base for name in names if not name.perturbations}
    perturbed = [name for name in names if name.perturbations]
    assert {name.base for name in perturbed} <= plain
    kinds = Counter(name.perturbations for name in perturbed)
    assert len(kinds) == 4 and min(kinds.values()) == max(kinds.values()) >= FEWEST_PAIRS
