"""The real client library of openpi at our server, and in a server that our evaluations play. ``make test-openpi`` runs this.

The library wants a NumPy that is older than etude's: its half are programs of an environment of its own (``ETUDE_OPENPI_PYTHON``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looking import Looking

import etude
from etude.evaluation.store import read_run

pytestmark = pytest.mark.openpi
HERE = Path(__file__).parent
TASK, SEED = "clevrskills/touch@test", 3
SPOKEN = (
    "layout=libero&action=ee_delta&frame=tip&rotation=axis_angle&scale=0.1&closes=1&rate=20&cameras=base,hand_view&size=64x48"
    "&orientation=upright&chunk=10&execute=5"
)


def theirs(program: str, *arguments: object) -> list[str]:
    """A program of the environment in which openpi's client is."""
    return [os.environ["ETUDE_OPENPI_PYTHON"], str(HERE / program), *map(str, arguments)]


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def served(key: str = "") -> Iterator[str]:
    """Our server with the looking policy; its address."""
    command = [sys.executable, "-m", "etude", "serve-policy", "looking:Looking", "--port", "0", "--key", key]
    with started(command, cwd=HERE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        assert told.startswith("serving looking:Looking at ws://"), told + process.stderr.read()
        yield told.rpartition(" ")[2].strip()


def asked(folder: Path, *prompts: str) -> Path:
    """A file of observations, one for each of the prompts."""
    random = np.random.default_rng(5)
    base = random.integers(0, 256, (len(prompts), 8, 16, 3), np.uint8)
    np.savez(folder / "asked.npz", base=base, proprioception=random.normal(size=(len(prompts), 24)).astype(np.float32), prompt=prompts)
    return folder / "asked.npz"


def answers(url: str, folder: Path, *prompts: str, key: str = "") -> subprocess.CompletedProcess[str]:
    command = theirs("client_program.py", url, key, asked(folder, *prompts), folder / "answered.npz")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def expected(file: Path) -> np.ndarray[Any, Any]:
    """What the policy says to the same observations in this process."""
    policy, chunks = Looking(), []
    with np.load(file) as found:
        for base, felt, prompt in zip(found["base"], found["proprioception"], found["prompt"], strict=True):
            if not chunks:
                policy.reset(str(prompt), [], "")
            chunks.append(policy.act({"base": base, "proprioception": felt, "instruction": str(prompt)}))
    return np.array(chunks)


def test_openpis_client_gets_from_our_server_what_the_policy_says(tmp_path: Path) -> None:
    with served() as url:
        done = answers(url, tmp_path, "Touch the red cube", "Touch it")
    assert done.returncode == 0, done.stderr
    introduced = json.loads(done.stdout)["etude"]
    assert introduced == {"contract": Looking.contract.to_data(), "reset": True}
    with np.load(tmp_path / "answered.npz") as found:
        chunks, single = found["chunks"], found["single"]
    right = expected(tmp_path / "asked.npz")
    assert chunks.dtype == right.dtype == np.float64 and np.array_equal(chunks, right)
    assert np.array_equal(single, right.reshape(-1, 7))  # one by one, over a connection of its own: an episode begins with it


def test_openpis_client_shows_its_key(tmp_path: Path) -> None:
    with served("open sesame") as url:
        assert "HTTP 401" in answers(url, tmp_path, "Touch it", key="close").stderr
        assert "HTTP 401" in answers(url, tmp_path, "Touch it").stderr
        done = answers(url, tmp_path, "Touch it", key="open sesame")
    assert done.returncode == 0, done.stderr


def test_openpis_client_is_told_what_the_policy_raised(tmp_path: Path) -> None:
    with served() as url:
        done = answers(url, tmp_path, "Touch it", "fail")
    error = json.loads(done.stdout)["error"]
    assert error.startswith("Error in inference server:") and error.rstrip().endswith("ValueError: out of luck")


def test_a_server_with_openpis_messages_is_evaluated_as_the_actions_that_it_gives(tmp_path: Path) -> None:
    home = etude.rollout("oracle", f"{TASK}#{SEED}")
    record = home.record
    np.save(tmp_path / "actions.npy", np.asarray(home.trajectory.actions, np.float64))
    with started(theirs("server_program.py", tmp_path / "actions.npy", 10, 5, tmp_path / "heard"), stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        address = f"ws://127.0.0.1:{int(server.stdout.readline())}?{SPOKEN}"
        choice = ("--suite", TASK, "--first-seed", SEED, "--episodes", 1, "--workers", 1, "--policy", address, "--out", tmp_path / "run")
        command = [sys.executable, "-m", "etude", "evaluate", *map(str, choice)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (played,) = read_run(tmp_path / "run").records
    assert record.success and not played.error
    assert (played.id, played.success, played.steps, played.reward) == (record.id, True, record.steps, record.reward)
    heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    assert len(heard) == -(-record.steps // 5)
    for observation in heard:
        assert set(observation) == {"observation/image", "observation/wrist_image", "observation/state", "prompt"}
        assert observation["prompt"] == etude.episode(f"{TASK}#{SEED}").instruction.text
        assert observation["observation/state"][:2] == ["<f4", [8]]
        for picture in ("observation/image", "observation/wrist_image"):
            assert observation[picture][:2] == ["|u1", [48, 64, 3]] and observation[picture][2] > 0
