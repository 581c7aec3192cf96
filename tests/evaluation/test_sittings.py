"""A run that is gone on with under other conditions: refused where they can move a result, written down where they cannot."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_resuming import NAMES, PLAN, Quiet

from etude.cli import main
from etude.evaluation.plan import Plan
from etude.evaluation.run import RunSettings, evaluate, merge
from etude.evaluation.store import INFO, LINES, read_run
from etude.names import EtudeError
from etude.report.evaluation import report

ONE = RunSettings(workers=1)
MIXED = RunSettings(workers=1, allow_mixed=True)


def begun(plan: Plan, folder: Path) -> Path:
    """A run that was interrupted after its first episode."""
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, folder, ONE, Quiet(stop_after=1))
    return folder


@pytest.fixture
def part(whole: Path, tmp_path: Path) -> Path:
    """A run of which one episode is missing."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    kept = (folder / LINES).read_text().splitlines(keepends=True)[:-1]
    (folder / LINES).write_text("".join(kept))
    return folder


def info(folder: Path) -> dict:
    return json.loads((folder / INFO).read_text())


def edited(folder: Path, **changes: object) -> None:
    (folder / INFO).write_text(json.dumps({**info(folder), **changes}))


@pytest.mark.parametrize("what", ["protocol", "renderer", "python", "etude", "mujoco-core", "numpy", "numba"])
def test_a_run_is_not_gone_on_with_under_another_version_of_what_moves_results(what, part):
    versions = info(part)["standards"]
    edited(part, standards={**versions, what: "0.0.1"})
    before = {p.name: p.read_bytes() for p in part.iterdir()}
    with pytest.raises(EtudeError) as refused:
        evaluate(PLAN, part, MIXED, Quiet())
    assert f"was begun with {what} 0.0.1, this is {versions[what]}: results of both are not mixed" in str(refused.value)
    assert {p.name: p.read_bytes() for p in part.iterdir()} == before


def test_results_that_nobody_knows_the_origin_of_are_not_added_to(part):
    (part / INFO).unlink()
    with pytest.raises(EtudeError, match=r"has results but no run\.json to say what made them"):
        evaluate(PLAN, part, ONE, Quiet())


def test_a_run_that_is_said_to_be_made_with_nonsense_is_not_gone_on_with(part):
    edited(part, standards=3)
    with pytest.raises(EtudeError, match=r"run\.json: standards is int, which no run of ours wrote"):
        evaluate(PLAN, part, ONE, Quiet())


def test_errors_are_not_played_again_under_another_version(part):
    """Also where nothing but errors is there: run.json would name a version that none of the results is of."""
    lines = [json.loads(line) for line in (part / LINES).read_text().splitlines()]
    (part / LINES).write_text("".join(json.dumps({**line, "outcome": "error", "error": "broken"}) + "\n" for line in lines))
    edited(part, standards={**info(part)["standards"], "numpy": "0.0.1"})
    with pytest.raises(EtudeError, match=r"was begun with numpy 0\.0\.1"):
        evaluate(PLAN, part, RunSettings(workers=1, retry_errors=True), Quiet())


def test_a_change_of_the_rest_is_written_down(part, whole):
    first = info(part)
    elsewhere = {**first["machine"], "processor": "a slower one", "python": "3.11.0"}
    edited(part, machine=elsewhere)
    evaluate(PLAN, part, ONE, Quiet())
    found = info(part)
    assert found["machine"] == elsewhere
    (sitting,) = found["sittings"]
    assert sitting["machine"] == first["machine"] and sitting["done"] == len(NAMES) - 1
    assert "mixed" not in found and read_run(part).mixed == ""


def test_a_sitting_like_the_last_is_not_written_down_again(part):
    evaluate(PLAN, part, ONE, Quiet())
    assert info(part)["sittings"] == []


def test_another_command_is_a_sitting_of_its_own(part, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["etude", "evaluate", "--workers", "1"])
    evaluate(PLAN, part, ONE, Quiet())
    monkeypatch.setattr(sys, "argv", ["my program.py", "--few"])
    evaluate(PLAN, part, ONE, Quiet(), more=1)
    assert [sitting["command"] for sitting in info(part)["sittings"]] == ["etude evaluate --workers 1", "python 'my program.py' --few"]


POLICY = """
import numpy as np
import helping
from etude.policies.contract import Contract

class Mine:
    contract = Contract.etude("ee_delta")
    def reset(self, instruction, pictures, episode):
        import lazily
    def act(self, observation):
        return np.zeros(7)
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy and what it imports, where we are."""
    place = tmp_path / "lab"
    place.mkdir()
    (place / "mine.py").write_text(POLICY)
    (place / "helping.py").write_text("GAIN = 1\n")
    (place / "lazily.py").write_text("GAIN = 1\n")
    monkeypatch.chdir(place)
    return place


def committed(place: Path) -> None:
    git = ["git", "-C", str(place), "-c", "user.name=etude", "-c", "user.email=etude@localhost"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "mine.py", "helping.py", "lazily.py"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a policy"], check=True)


def test_results_of_changed_code_are_refused_or_marked_and_every_reader_is_told(lab, capsys, monkeypatch):
    plan = Plan("mine:Mine", NAMES[:2])
    begun(plan, lab / "runs" / "a")
    begun(plan, lab / "runs" / "b")
    (lab / "helping.py").write_text("GAIN = 2\n")
    with pytest.raises(EtudeError, match=r"the code of the policy 'mine:Mine' has changed since .* \(source: .*--allow-mixed") as refused:
        evaluate(plan, lab / "runs" / "a", ONE, Quiet())
    assert "\n" not in str(refused.value) and len(read_run(lab / "runs" / "a").records) == 1
    run = evaluate(plan, lab / "runs" / "a", MIXED, Quiet())
    words = "mine:Mine (a): the code of the policy changed during the run, and it holds results of both"
    assert run.mixed == words and len(info(run.folder)["sittings"]) == 1
    assert words in report([run])
    for command in (["compare", "runs/a", "runs/b"], ["report", "runs/a"]):
        with monkeypatch.context() as patched, pytest.raises(SystemExit) as ended:
            patched.setattr(sys, "argv", ["etude", *command])
            main()
        assert ended.value.code == 0 and f"mixed: {words}" in capsys.readouterr().out
    evaluate(plan, lab / "runs" / "a", ONE, Quiet(), more=1)  # by code that is known by now
    assert len(info(run.folder)["sittings"]) == 1


def test_the_state_of_the_repository_counts_where_there_is_one(lab):
    committed(lab)
    plan = Plan("mine:Mine", NAMES[:3])
    begun(plan, lab / "runs" / "a")
    code = info(lab / "runs" / "a")["code"]["policy"]
    assert code["module"] == "mine" and len(code["commit"]) == 40 and code["changes"] == ""
    with pytest.raises(KeyboardInterrupt):  # what runs leave behind is no change of code
        evaluate(plan, lab / "runs" / "a", ONE, Quiet(stop_after=1))
    (lab / "lazily.py").write_text("GAIN = 2\n")
    with pytest.raises(EtudeError, match=r"has changed since .* \(changes: none before"):
        evaluate(plan, lab / "runs" / "a", ONE, Quiet())


def test_shards_played_by_different_code_are_joined_only_with_a_mark(lab):
    halves = [lab / "half-0", lab / "half-1"]
    for k, folder in enumerate(halves):
        (lab / "helping.py").write_text(f"GAIN = {k}\n")
        evaluate(Plan("mine:Mine", NAMES[:2], shard=(k, 2)), folder, ONE, Quiet())
    with pytest.raises(EtudeError, match="were played by different code of the policy: join them with --allow-mixed"):
        merge(halves, lab / "joined")
    assert not (lab / "joined").exists()
    run = merge(halves, lab / "joined", allow_mixed=True)
    assert run.mixed and len(info(run.folder)["sittings"]) == 1


def test_shards_of_different_versions_are_not_joined(whole, part, tmp_path):
    edited(part, standards={**info(part)["standards"], "mujoco-core": "0.0.1"})
    with pytest.raises(EtudeError, match="cannot be joined: their standards differ in mujoco"):
        merge([whole, part], tmp_path / "joined")
