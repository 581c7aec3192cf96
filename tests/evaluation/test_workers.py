"""Workers: what they may start, what becomes of it, and who takes their place."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faulty import BAD
from forked_process import Copy, command
from test_resuming import Quiet, alive

from etude.evaluation.plan import Plan, make_names
from etude.evaluation.run import RunSettings, evaluate
from etude.evaluation.store import read_run
from etude.names import EtudeError

NAMES = make_names(["clevrskills"], ["touch"], episodes=3)
HERE = Path(__file__).parent
TOUCH = ["evaluate", "--suite", "clevrskills", "--task", "touch", "--workers", "1"]
ETUDE = [sys.executable, "-c", "from etude.cli import main; main()", *TOUCH]
CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]


def may_unshare() -> bool:
    try:
        return subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not may_unshare(), reason="this system does not let us make a PID namespace")
def test_a_run_that_is_process_1_of_a_container_is_played(tmp_path):
    """What a policy starts falls to process 1 when its worker is ended: the run waits for it, and nothing is left of it."""
    place = tmp_path / "pids"
    place.mkdir()
    policy = f"faulty:Parent?place={place}&fault=crash"
    done = subprocess.run(
        [*CONTAINER, *ETUDE, "--episodes", "3", "--policy", policy, "--out", str(tmp_path / "run")],
        cwd=HERE, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [r.outcome for r in read_run(tmp_path / "run").records] == ["failure", "error", "failure"]
    assert len(list(place.iterdir())) == 3


def pids(place: Path) -> list[int]:
    return [int(path.stem) for path in place.glob("*.pid")]


def gone(processes: list[int]) -> bool:
    """Do they all end within a while?"""
    ends = time.monotonic() + 30
    while any(map(alive, processes)) and time.monotonic() < ends:
        time.sleep(0.05)
    return not any(map(alive, processes))


def test_a_policy_may_start_processes_which_end_with_it(tmp_path):
    policy = f"faulty:Parent?place={tmp_path}"
    run = evaluate(Plan(policy, NAMES), tmp_path / "run", RunSettings(workers=1, timeout=4.0), Quiet())
    outcomes = {r.episode: (r.outcome, r.error) for r in run.records}
    assert set(outcomes) == set(NAMES) and outcomes.pop(BAD) == ("error", "no result within 4 seconds")
    assert set(outcomes.values()) == {("failure", None)}
    assert len(pids(tmp_path)) == 3 and gone(pids(tmp_path))


@contextmanager
def hanging(place: Path) -> Iterator[Copy]:
    """A run whose policy hangs, and has started a process before."""
    policy = f"faulty:Parent?place={place}"
    with (place / "said").open("w") as said:
        run = command(*TOUCH, "--episodes", "2", "--policy", policy, "--out", str(place / "run"))
        process = Copy(run, HERE, errors=said.fileno())
    try:
        while len(pids(place)) < 2:
            assert process.wait(0.05) is None, (place / "said").read_text()
        yield process
    finally:
        process.kill()


@pytest.mark.parametrize(("kind", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)])
def test_a_run_that_is_ended_leaves_nothing_behind(kind, code, tmp_path):
    with hanging(tmp_path) as process:
        started = [*pids(tmp_path), *(int(pid) for pid in subprocess.check_output(["pgrep", "-P", str(process.pid)], text=True).split())]
        assert len(started) >= 3 and all(map(alive, started))
        process.send(kind)
        assert process.wait(60) == code and gone(started)


def test_libraries_that_a_policy_loads_compute_on_one_thread(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    run = evaluate(Plan(f"faulty:Told?place={tmp_path}", NAMES[:1]), tmp_path / "run", RunSettings(workers=1), Quiet())
    assert [r.outcome for r in run.records] == ["failure"]
    assert (tmp_path / "threads").read_text() == "1"


def test_a_worker_that_dies_while_loading_is_replaced(tmp_path):
    place = tmp_path / "starts"
    place.mkdir()
    run = evaluate(Plan(f"faulty:Unsteady?place={place}&first=1&last=2", NAMES[:1]), tmp_path / "run", RunSettings(workers=1), Quiet())
    assert [r.outcome for r in run.records] == ["failure"]
    assert len(list(place.iterdir())) == 3


def test_those_that_load_play_on_when_no_other_does(tmp_path, caplog):
    place = tmp_path / "starts"
    place.mkdir()
    policy = f"faulty:Unsteady?place={place}&first=2&last=99&met=4"
    with caplog.at_level(logging.WARNING):
        run = evaluate(Plan(policy, make_names(["clevrskills"], ["touch"], episodes=15)), tmp_path / "run", RunSettings(workers=2), Quiet())
    assert {r.outcome for r in run.records} == {"failure"} and not run.missing
    assert f"loading the policy '{policy}' ended its worker, 3 times in a row (exit status 3): 1 of 2 workers play" in caplog.text
    assert len(list(place.iterdir())) == 4


def test_a_policy_that_never_loads_ends_the_run_with_one_line(tmp_path):
    with pytest.raises(EtudeError) as refused:
        evaluate(Plan("faulty:Heavy", NAMES), tmp_path / "run", RunSettings(workers=2), Quiet())
    assert str(refused.value) == "loading the policy 'faulty:Heavy' ended its worker, 3 times in a row (exit status 3)"
