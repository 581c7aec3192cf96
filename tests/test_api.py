"""The Python API: one episode step by step, a run, a comparison; and the commands say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from refusing import refused, told
from run_fixtures import record, run_of

from etude import api
from etude.cli import evaluating
from etude.evaluation.pairs import comparison
from etude.evaluation.store import Run, Store, read_run
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.scripted import OraclePolicy
from etude.report.evaluation import report

PICK = "clevrskills/pick@train#7"


class Still:
    """Stays where it is."""

    contract = Contract.etude("ee_delta", size=(16, 16), cameras=("base",))

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return np.zeros(7)


def test_a_rollout_gives_its_steps_and_then_its_record():
    played = api.rollout("oracle", PICK)
    steps = list(played)
    assert [s.number for s in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].info["success"] and not steps[0].info["success"] and steps[0].action.shape == (7,)
    assert played.record.success and played.record.steps == len(steps)
    assert played.record.reward == pytest.approx(sum(s.reward for s in steps), abs=1e-5)
    assert played.record.to_line().partition(',"timings"')[0] == api.rollout("oracle", PICK).record.to_line().partition(',"timings"')[0]


def test_a_rollout_that_is_left_early_is_finished_for_its_record():
    played = api.rollout(Still(), "clevrskills/touch@train#0")
    first = next(iter(played))
    assert first.observation["base"].shape == (16, 16, 3)
    assert played.record.outcome == "failure" and played.record.steps == len(played.trajectory.actions)


def test_a_decision_is_rolled_out_frame_by_frame():
    played = api.rollout("oracle", "iwisdm/low@val#0")
    steps = list(played)
    assert played.record.success and len(steps) == played.record.steps
    assert sum(s.info["asked"] for s in steps) == sum(s.info["right"] for s in steps) >= 1


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Run, Run]:
    """A live oracle with perturbed episodes, and a live policy that stays where it is."""
    home = tmp_path_factory.mktemp("api")
    good = api.evaluate(OraclePolicy(), "clevrskills/pick@train", episodes=2, perturb="light_color", out=home / "good")
    return good, api.evaluate(Still(), "clevrskills/pick@train", episodes=2, out=home / "still")


def test_a_live_policy_is_evaluated_and_counted(runs):
    good, still = runs
    assert good.plan.policy == "etude.policies.scripted:OraclePolicy" and not good.missing
    assert [(r["perturbation"], r["successes"], r["episodes"]) for r in good.table().rows] == [("", 2, 2), ("light_color", 2, 2)]
    assert [r.outcome for r in still.records] == ["failure", "failure"]
    assert still.info["code"]["policy"]["module"] == "test_api"
    assert good.info["perturbations"]["light_color"]["plausible"] is True and "pick" in good.info["suites"]["clevrskills"]["tasks"]


def test_the_same_call_goes_on_with_what_is_there(runs):
    class Refusing(OraclePolicy):
        def reset(self, instruction, pictures, episode):
            raise AssertionError("everything was played before")

    Refusing.__module__, Refusing.__qualname__ = OraclePolicy.__module__, OraclePolicy.__qualname__
    again = api.evaluate(Refusing(), "clevrskills/pick@train", episodes=2, perturb="light_color", out=runs[0].folder)
    assert again.records == runs[0].records


def test_a_live_policy_is_refused_by_several_workers(tmp_path):
    with pytest.raises(EtudeError, match="give it as text: 'test_api:Still'"):
        api.evaluate(Still(), "clevrskills/pick@train", episodes=1, workers=2, out=tmp_path / "run")


def test_a_comparison_is_a_table_a_verdict_and_a_page(runs, tmp_path):
    found = api.compare(runs[0], runs[1].folder)
    assert [(r["task"], r["pairs"], r["rate_a"], r["rate_b"]) for r in found.table().rows] == [("", 2, 1.0, 0.0), ("pick", 2, 1.0, 0.0)]
    assert "clevrskills/pick" in str(found.table()) and "not significant" in found.verdict
    assert "test_api:Still" in found.report(tmp_path / "page.html").read_text()


def test_runs_without_common_episodes_are_not_compared(runs, capsys, monkeypatch, tmp_path):
    other = api.evaluate(Still(), "clevrskills/touch@train#0", out=tmp_path / "other")
    with pytest.raises(EtudeError, match="have no episode in common"):
        api.compare(runs[0], other)
    assert "have no episode in common" in refused(capsys, monkeypatch, "compare", str(runs[0].folder), str(other.folder))


# ------------------------------------------------------------------------------------------------ one truth


@pytest.fixture
def mixed(tmp_path) -> Run:
    """Nine of twelve succeed: all six plain ones, and half of the perturbed."""
    names = [f"clevrskills/{task}@train#{k}" for task in ("pick", "touch") for k in range(3)]
    dark = [record(f"{n}+dark", n in (names[0], names[3], names[4])) for n in names]
    made = run_of([*map(record, names), *dark], tmp_path / "mixed", "mine")
    with Store(made.folder, made.plan) as store:
        store.write_info(made.info)
        for one in made.records:
            store.add(one)
    return read_run(made.folder)


def test_terminal_page_and_comparison_state_the_same_success(mixed, capsys, monkeypatch, tmp_path):
    assert sum(r.success for r in mixed.records) == 9
    text = told(capsys, monkeypatch, "report", str(mixed.folder))
    assert "vanilla: 6 of 6 episodes succeed, 61–100 % (95 %, clustered by task); 0 errors; 6 perturbed episodes counted separately" in text
    assert "6 of 6 episodes" in re.sub("<[^>]+>", "", report([mixed]))
    assert (overall := comparison(mixed, mixed).overall.difference).pairs == 6 and overall.rate_a == 1.0
    said = json.loads(told(capsys, monkeypatch, "compare", str(mixed.folder), str(mixed.folder), "--json"))
    assert (said["overall"]["pairs"], said["overall"]["rate_a"]) == (6, 1.0)
    assert len(said["overall"]["task_interval"]) == 2
    assert "6 pairs of perturbed episodes" in told(capsys, monkeypatch, "compare", str(mixed.folder), str(mixed.folder))


def test_levels_of_different_suites_are_not_pooled():
    played = run_of([record("clevrskills/pick@train#0", level="L1"), record("vima/rotate@L1#0", False, level="L1")])
    page = report([played])
    assert "clevrskills L1" in page and "vima L1" in page


def test_a_table_that_is_piped_is_not_cut(capsys, monkeypatch, tmp_path):
    wide = run_of([record(f"clevrskills/pick@train#0+{'x' * 120}"), record("vima/rotate@L1#0")], tmp_path / "wide")
    with Store(wide.folder, wide.plan) as store:
        store.write_info(wide.info)
        for one in wide.records:
            store.add(one)
    text = told(capsys, monkeypatch, "report", str(wide.folder))
    assert "x" * 120 in text and "…" not in text


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys, monkeypatch, mixed):
    monkeypatch.setattr(evaluating, "EVERY", 0.0)
    with evaluating.ProgressBar() as shown, Store(mixed.folder, mixed.plan) as store:
        shown.began(store)
        shown.began(store)  # as when it is extended
        shown.ended(record("clevrskills/pick@train#0", False))
    error = capsys.readouterr().err
    assert error.count("all 12 episodes are there already") == 1 and re.search(r"13 of 12 episodes, 69 % success, [\d.]+/s", error)


def test_the_command_and_the_function_make_the_same_plan(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told(
        capsys,
        monkeypatch,
        "evaluate",
        "--suite",
        "clevrskills",
        "--task",
        "touch",
        "--episodes",
        "1",
        "--policy",
        "noop",
        "--workers",
        "1",
    )
    run = api.evaluate("noop", "clevrskills", task="touch", episodes=1, workers=1)
    assert [p.name for p in Path("runs").iterdir()] == [run.folder.name]
