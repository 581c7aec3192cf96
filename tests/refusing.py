"""The command line in this process, given something it must refuse."""

from __future__ import annotations

import sys

import pytest

from etude.cli import main


def refused(capsys, monkeypatch, *arguments: str) -> str:
    """The one line with which a command is refused."""
    monkeypatch.setattr(sys, "argv", ["etude", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    assert ended.value.code == 2, error
    assert out == "" and "Traceback" not in error
    (line,) = error.strip().splitlines()
    return line


def told(capsys, monkeypatch, *arguments: str) -> str:
    """What a command that succeeds says on its standard output."""
    monkeypatch.setattr(sys, "argv", ["etude", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    assert ended.value.code == 0, error
    return out
