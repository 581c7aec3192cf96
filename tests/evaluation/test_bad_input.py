"""What users get wrong: one line that names the fix, and nothing is overwritten."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from refusing import refused, told
from test_resuming import Quiet

from etude.evaluation.plan import Plan
from etude.evaluation.run import RunSettings, evaluate

SUITE = [
    "evaluate",
    "--suite",
    "clevrskills",
    "--task",
    "touch",
    "--split",
    "train",
    "--episodes",
    "1",
    "--policy",
    "noop",
    "--workers",
    "1",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad") / "run"
    evaluate(Plan("noop", ("clevrskills/touch@train#0",)), folder, RunSettings(workers=1), Quiet())
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate"], "say what to play: --suite NAME, --plan FILE, or --out FOLDER"),
        (["evaluate", "--suite", "clevrskils"], "unknown suite 'clevrskils'; did you mean 'clevrskills'"),
        (
            ["evaluate", "--suite", "clevrskills", "--task", "pik", "--policy", "noop"],
            "unknown task of clevrskills 'pik'; did you mean 'pick'",
        ),
        (
            ["evaluate", "--suite", "clevrskills", "--split", "tset", "--policy", "noop"],
            "unknown split of clevrskills 'tset'; did you mean 'test'",
        ),
        (["evaluate", "--suite", "clevrskills", "--episodes", "0", "--policy", "noop"], "--episodes must be at least 1, got 0"),
        (["evaluate", "--suite", "clevrskills", "--episodes", "many", "--policy", "noop"], "--episodes"),
        (["evaluate", "--suite", "clevrskills", "--first-seed", "-1", "--policy", "noop"], "--first-seed must not be negative"),
        (["evaluate", "--suite", "clevrskills", "--perturb", "mask_langage", "--policy", "noop"], "did you mean 'mask_language'"),
        (
            ["evaluate", "--suite", "clevrskills", "--perturb", "light_color+light_color", "--policy", "noop"],
            "'light_color' is given twice",
        ),
        (["evaluate", "--suite", "clevrskills", "--perturb", "a+", "--policy", "noop"], "unknown perturbation 'a'"),
        (["evaluate", "--suite", "clevrskills", "--difficulty", "extreme", "--policy", "noop"], "unknown option of clevrskills/"),
        (["evaluate", "--suite", "clevrskills", "--option", "robot", "--policy", "noop"], "--option 'robot' is not of the form key=value"),
        (["evaluate", "--suite", "clevrskills", "--option", "robt=panda", "--policy", "noop"], "did you mean 'robot'"),
        (
            ["evaluate", "--suite", "clevrskills", "--mode", "couple", "--planner", "rule", "--policy", "noop"],
            "unknown mode 'couple'; did you mean 'coupled'",
        ),
        (["evaluate", "--suite", "clevrskills", "--mode", "coupled", "--policy", "noop"], "--mode coupled needs a planner"),
        (
            ["evaluate", "--suite", "clevrskills", "--planner", "rule", "--policy", "noop"],
            "is used by the modes planner, coupled and offline",
        ),
        (["evaluate", "--suite", "clevrskills", "--patience", "0", "--policy", "noop"], "--patience must be at least 1"),
        (["evaluate", "--suite", "clevrskills", "--shard", "3", "--policy", "noop"], "--shard '3' is not of the form i/n"),
        (["evaluate", "--suite", "clevrskills", "--shard", "8/8", "--policy", "noop"], "shards are counted from 0 to 7"),
        (["evaluate", "--suite", "clevrskills", "--shard", "auto", "--policy", "noop"], "SLURM_ARRAY_TASK_ID"),
        (["evaluate", "--suite", "clevrskills", "--workers", "-2", "--policy", "noop"], "--workers must not be negative"),
        (["evaluate", "--suite", "clevrskills", "--timeout", "0", "--policy", "noop"], "--timeout must be more than 0 seconds"),
        (["evaluate", "--suite", "clevrskills", "--memory", "-1", "--policy", "noop"], "--memory must be more than 0 GiB"),
        (["evaluate", "--suite", "clevrskills", "--record", "failure", "--policy", "noop"], "did you mean 'failures'"),
        (["evaluate", "--suite", "clevrskills", "--executor", "slurm", "--policy", "noop"], "unknown executor 'slurm'"),
        (["evaluate", "--suite", "clevrskills", "--renderer", "vulkan", "--policy", "noop"], "unknown renderer 'vulkan'"),
        (["evaluate", "--suite", "clevrskills"], "say who plays: --policy oracle, random, noop"),
        (["evaluate", "--suite", "clevrskills", "--no-control", "--policy", "noop"], "but no --perturb is given"),
        (["evaluate", "--suite", "clevrskills", "--level", "L9", "--policy", "noop"], "unknown level of clevrskills 'L9'"),
        (["rollout", "clevrskills/pick@train#1"], "Missing option '--policy'"),
        (["evaluate", "--suite", "clevrskills", "--plan", "x.txt", "--policy", "noop"], "either --suite or --plan, not both"),
        (
            ["evaluate", "--plan", "nowhere.txt"],
            "there is no file 'nowhere.txt'; --plan takes a text file with one episode name on each line",
        ),
        (
            ["evaluate", "--plan", "himan-atomik"],
            "there is no file 'himan-atomik'; taken as SUITE-PLAN: unknown list of episodes 'himan-atomik'; did you mean 'himan-atomic'",
        ),
        (["evaluate", "--plan", "nowhere.json"], "there is no file 'nowhere.json'"),
        (["evaluate", "--suit", "clevrskills"], "No such option: --suit"),
        (["evaluat"], "No such command 'evaluat'. Did you mean 'evaluate'"),
        (["report", "nowhere"], "there is no run folder 'nowhere'"),
        (["report"], "Missing argument"),
        (["compare", "nowhere", "elsewhere"], "there is no run folder 'nowhere'"),
        (["merge", "nowhere", "--out", "x"], "there is no run folder 'nowhere'"),
        (["rollout", "clevrskills/pick", "--policy", "noop"], "the split ('@…') is missing"),
        (["rollout", "clevrskills/pick@train#1+nothing", "--policy", "noop"], "unknown perturbation 'nothing'"),
        (["rollout", "clevrskills/pick@train#1", "--mode", "rul", "--policy", "noop"], "unknown mode 'rul'; did you mean 'rule'"),
        (["serve-policy", "oracle"], "privileged"),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SLURM_", "JOB_COMPLETION", "RANK", "WORLD_SIZE")):
            monkeypatch.delenv(name)
    assert words in refused(capsys, monkeypatch, *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("oracl", "unknown policy 'oracl'; did you mean 'oracle'"),
        ("oracle:nose=1", "did you mean 'noise'"),
        ("nowhere:Policy", "there is no module 'nowhere' here"),
        ("replay:nowhere", "has no recorded actions to replay"),
        ("ws://127.0.0.1:9?connect=0", "no policy server at ws://127.0.0.1:9"),
        ("faulty:WrongRate", "rate: policy has 7 Hz, environment has 20 Hz"),
    ],
)
def test_a_policy_that_cannot_play_is_refused_before_any_episode(policy, words, capsys, monkeypatch, tmp_path):
    line = refused(capsys, monkeypatch, *SUITE[:-3], policy, "--workers", "1", "--out", str(tmp_path / "run"))
    assert words in line
    assert (tmp_path / "run" / "episodes.jsonl").read_text() == ""


def tampered(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def edited(folder: Path, key: str, value: object) -> None:
    data = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps({**data, key: value}))


SAME = ["--suite", "clevrskills", "--task", "touch", "--split", "train", "--episodes", "1", "--policy", "noop", "--workers", "1"]
CORRUPTIONS = {
    "a plan that is not JSON": (lambda f: tampered(f, "plan.json", "{"), "plan.json is not JSON"),
    "a plan that is a list": (lambda f: tampered(f, "plan.json", "[]"), "plan.json is not a JSON object"),
    "foreign JSON in place of the plan": (lambda f: tampered(f, "plan.json", '{"name": "x"}'), "is not a plan"),
    "a plan of another protocol": (lambda f: edited(f, "protocol", "etude-v0"), "with protocol 'etude-v0', this is 'etude-v2'"),
    "a plan of a later schema": (lambda f: edited(f, "schema", 99), "was made with schema 99"),
    "a plan with an unknown task": (lambda f: edited(f, "names", ["clevrskills/tuch@train#0"]), "holds a run of 1 other episodes"),
    "a plan with a name that is none": (lambda f: edited(f, "names", ["tuch"]), "the suite and '/' are missing"),
    "a plan with nothing in it": (lambda f: edited(f, "names", []), "at least one episode"),
    "a plan that is not text": (lambda f: (f / "plan.json").write_bytes(b"\xff\xfe\x00"), "is not text"),
    "a damaged line": (lambda f: tampered(f, "episodes.jsonl", "garbage\n"), "line 1 is damaged"),
    "a foreign line": (lambda f: tampered(f, "episodes.jsonl", '{"return": 1}\n'), "line 1 is damaged"),
    "a result of another run": (
        lambda f: tampered(f, "episodes.jsonl", (f / "episodes.jsonl").read_text().replace("touch@train#0", "touch@train#7")),
        "is not in plan.json",
    ),
    "two verdicts on one episode": (
        lambda f: tampered(
            f, "episodes.jsonl", (t := (f / "episodes.jsonl").read_text()) + t.replace('"outcome":"failure"', '"outcome":"success"')
        ),
        "has two different results",
    ),
    "results of an episode that has changed": (
        lambda f: tampered(f, "episodes.jsonl", (f / "episodes.jsonl").read_text().replace("~", "~0")),
        "is no longer the episode",
    ),
    "an id that is not its episode's": (
        lambda f: tampered(f, "episodes.jsonl", (f / "episodes.jsonl").read_text().replace("touch@train#0~", "touch@train#1~")),
        "is not an id of clevrskills/touch@train#0",
    ),
    "results without a plan": (lambda f: (f / "plan.json").unlink(), "has results but no plan.json"),
    "another policy's run": (lambda f: edited(f, "policy", "random"), "holds a run with policy 'random', not 'noop'"),
    "other episodes": (lambda f: edited(f, "names", ["clevrskills/pick@train#0"]), "holds a run of 1 other episodes"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CORRUPTIONS))
def test_a_corrupt_run_folder_is_refused_and_left_as_it_is(case, finished, capsys, monkeypatch, tmp_path):
    damage, words = CORRUPTIONS[case]
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    damage(folder)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert words in refused(capsys, monkeypatch, "evaluate", *SAME, "--out", str(folder))
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_folder_with_other_things_in_it_is_left_alone(capsys, monkeypatch, tmp_path):
    (tmp_path / "thesis.tex").write_text("dear")
    assert "holds other files (thesis.tex, …)" in refused(capsys, monkeypatch, "evaluate", *SAME, "--out", str(tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_where_the_folder_should_be_is_refused(capsys, monkeypatch, tmp_path):
    (tmp_path / "run").write_text("a file")
    assert "cannot be made" in refused(capsys, monkeypatch, "evaluate", *SAME, "--out", str(tmp_path / "run"))
    assert (tmp_path / "run").read_text() == "a file"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a place where nobody can write")
def test_an_unwritable_place_is_refused(capsys, monkeypatch):
    assert "cannot be made" in refused(capsys, monkeypatch, "evaluate", *SAME, "--out", "/proc/run")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clevrskills/pick@train\n", "the seed ('#…') is missing"),
        ("clevrskills/pik@train#1\n", "did you mean 'pick'"),
        ("clevrskills/pick@train#1\nclevrskills/pick@train#1\n", "the plan has clevrskills/pick@train#1 twice"),
    ],
)
def test_a_list_of_names_with_a_mistake_is_refused(text, words, capsys, monkeypatch, tmp_path):
    path = tmp_path / "names.txt"
    path.write_text(text)
    assert words in refused(capsys, monkeypatch, "evaluate", "--plan", str(path), "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_joining_runs_of_different_policies_is_refused(finished, capsys, monkeypatch, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(finished, other)
    edited(other, "policy", "random")
    line = refused(capsys, monkeypatch, "merge", str(finished), str(other), "--out", str(tmp_path / "joined"))
    assert f"{finished} has policy 'noop' and {other} has 'random': they cannot be joined; 'etude compare' sets" in line
    assert not (tmp_path / "joined").exists()


def test_joining_into_a_run_that_is_there_is_refused(finished, capsys, monkeypatch, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(finished, other)
    assert "already holds a run" in refused(capsys, monkeypatch, "merge", str(finished), "--out", str(other))


def test_an_edited_id_is_told_by_a_comparison(finished, capsys, monkeypatch, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(finished, other)
    tampered(other, "episodes.jsonl", (other / "episodes.jsonl").read_text().replace("~", "~0"))
    text = told(capsys, monkeypatch, "compare", str(finished), str(other))
    assert "Left out: 1 pair whose episode had changed." in text
    assert "changed: clevrskills/touch@train#0 is not the same episode in both runs" in text


def test_a_start_that_failed_is_repeated_with_other_episodes_and_another_policy(capsys, monkeypatch, tmp_path):
    folder = tmp_path / "run"
    assert "did you mean 'noop'" in refused(capsys, monkeypatch, *SUITE[:-4], "--policy", "nop", "--workers", "1", "--out", str(folder))
    other = [*SUITE[:7], "--episodes", "2", "--policy", "noop", "--workers", "1", "--json", "--out", str(folder)]
    assert json.loads(told(capsys, monkeypatch, *other))["groups"][0]["episodes"] == 2


def test_a_policy_that_asks_to_end_the_process_is_no_success(capsys, monkeypatch):
    line = refused(capsys, monkeypatch, "rollout", "clevrskills/touch@test#1", "--policy", "faulty:Quitter?at=later")
    assert line.startswith("error: SystemExit: 0 (in the policy: ") and "faulty.py:" in line


def test_a_policy_that_cannot_be_written_down_is_refused(capsys, monkeypatch, tmp_path):
    line = refused(capsys, monkeypatch, *SUITE[:-4], "--policy", "m\udc80:P", "--out", str(tmp_path / "run"))
    assert "has characters that cannot be written down" in line
