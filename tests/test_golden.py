"""Scenes, states and frames are the same bytes over runs, processes and releases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from golden import digests

from etude.scene.examples import EXAMPLES

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden.json").read_text())


@pytest.mark.parametrize("name", EXAMPLES)
def test_scene_state_and_frames_match_their_golden_digests(name):
    assert digests(name) == GOLDEN[name]


def test_two_runs_in_one_process_agree():
    assert digests("clutter") == digests("clutter")


def test_another_process_with_another_hash_seed_agrees():
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, str(HERE / "golden.py")], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == GOLDEN
