"""The tutorial's commands run, one after the other, at sizes that take seconds."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

for _module in ("torch", "safetensors"):
    pytest.importorskip(_module, reason=f"{_module} is not installed (extra 'learn')")

from refusing import told  # noqa: E402
from toys import SETTINGS  # noqa: E402

from etude.evaluation.store import read_run  # noqa: E402

PAGE = Path(__file__).parent.parent.parent / "docs/tutorial.md"
SMALL = {"--steps": "2", "--episodes": "1"}
ONE_WORKER = ("train", "evaluate")


def commands() -> list[list[str]]:
    """As they are typed, without the name of the program."""
    blocks = re.findall(r"^```\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line.startswith("etude ")]


def small(words: list[str]) -> list[str]:
    """The same command, for less of everything."""
    found = [SMALL.get(before, word) for before, word in zip(["", *words], words, strict=False)]
    more = [word for one in SETTINGS if not one.startswith("schedule.steps") for word in ("--set", one)] if words[0] == "train" else []
    return [*found, *more, *(["--workers", "1"] if words[0] in ONE_WORKER else [])]


def test_the_tutorial_leads_from_nothing_to_a_policy_that_is_compared(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = {" ".join(words): told(capsys, monkeypatch, *small(words)) for words in commands()}
    assert {words.split()[0] for words in said} == {"doctor", "list", "show", "rollout", "train", "evaluate", "compare", "report"}
    assert (tmp_path / "report.html").exists() and (tmp_path / "runs/small/model.safetensors").exists()
    (played,) = {r.success for r in read_run(tmp_path / "runs/small-L1").records if not r.name.perturbations}
    assert played or list((tmp_path / "runs/small-L1/films").iterdir())
    assert "episodes" in said["compare runs/small-L1 runs/random-L1"]
