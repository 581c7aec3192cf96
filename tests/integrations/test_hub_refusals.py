"""What is refused before anything is recorded or pushed. What is pushed is tested with the real client (make test-hub)."""

from __future__ import annotations

import importlib.util

import pytest
from refusing import refused

DEMOS = ("demos", "--suite", "clevrskills", "--task", "pick", "--episodes", "1", "--out", "data", "--push")


BOARD = ("board", "run", "--out", "site")


def test_a_name_that_is_no_repository_is_refused(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert "expected OWNER/NAME" in refused(capsys, monkeypatch, *DEMOS, "stacking")
    assert "expected OWNER/NAME" in refused(capsys, monkeypatch, *BOARD, "--push", "board")
    assert not list(tmp_path.iterdir())


def test_private_is_for_what_is_pushed(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for command in (DEMOS[:-1], BOARD):
        assert "--private is for --push OWNER/NAME" in refused(capsys, monkeypatch, *command, "--private")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(importlib.util.find_spec("huggingface_hub") is not None, reason="the client of the Hub is installed")
def test_where_the_client_is_missing_it_is_said_how_to_get_it(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert "pip install 'etude[hub]'" in refused(capsys, monkeypatch, *DEMOS, "my-lab/stacking")
    assert not (tmp_path / "data").exists()


def test_several_formats_have_no_card_in_common(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    line = refused(capsys, monkeypatch, *DEMOS, "my-lab/stacking", "--format", "lerobot", "--format", "folders")
    assert "--push takes a dataset of one --format" in line
