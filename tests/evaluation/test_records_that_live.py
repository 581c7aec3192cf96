"""Runs of the release before this one are read, and so are those of a later one as far as they can be."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from etude.evaluation.plan import read_plan
from etude.evaluation.record import Record
from etude.evaluation.run import merge
from etude.evaluation.store import Store, read_run
from etude.names import PROTOCOL, EtudeError
from etude.report.evaluation import report

OLD = Path(__file__).parents[1] / "data" / "run-0.1"  # written by etude 0.1.0


def test_a_run_of_the_first_release_is_read_and_reported():
    run = read_run(OLD)
    assert len(run.records) == 10 and not run.missing
    assert [r.outcome for r in run.records].count("success") == 9
    assert run.records[5].stages[0].right and run.records[5].stages[0].exact
    page = report([run])
    assert "oracle:noise=0.004" in page and "light_color" in page


def test_it_is_joined_into_a_run_of_this_release(tmp_path):
    joined = merge([OLD], tmp_path / "joined")
    assert joined.records == read_run(OLD).records and joined.plan == read_run(OLD).plan
    first = json.loads((tmp_path / "joined" / "episodes.jsonl").read_text().splitlines()[0])
    assert first["schema"] == 2


def test_its_plan_has_the_digest_it_always_had():
    assert replace(read_plan(OLD / "plan.json"), extra={}).digest == json.loads((OLD / "run.json").read_text())["plan"]


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The same run as a later release might have written it: more fields everywhere, a suite and a perturbation nobody here has."""
    folder = tmp_path / "later"
    shutil.copytree(OLD, folder)
    for name in ("plan.json", "run.json", "episodes.jsonl"):
        text = (folder / name).read_text().replace("clevrskills/", "kitchen/").replace("light_color", "fog")
        (folder / name).write_text(text)
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps({**plan, "protocol": PROTOCOL, "schema": 9, "colour": ["red"]}))
    info = json.loads((folder / "run.json").read_text())
    told = {"suites": {"kitchen": {"tasks": ["wash", "pick"]}}, "perturbations": {"fog": {"plausible": True, "summary": "It is foggy."}}}
    (folder / "run.json").write_text(json.dumps({**info, **told, "schema": 9, "weather": "fine"}))
    lines = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    for line in lines:
        line |= {"schema": 9, "energy": {"joules": 3.5}}
        for subgoal in line["subgoals"]:
            subgoal["colour"] = "blue"
    (folder / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_fields_of_a_later_release_are_kept_through_a_merge(later, tmp_path):
    merge([later], tmp_path / "joined")
    for line in (tmp_path / "joined" / "episodes.jsonl").read_text().splitlines():
        found = json.loads(line)
        assert found["schema"] == 9 and found["energy"] == {"joules": 3.5}
        assert all(subgoal["colour"] == "blue" for subgoal in found["subgoals"])
    assert json.loads((tmp_path / "joined" / "plan.json").read_text())["colour"] == ["red"]
    info = json.loads((tmp_path / "joined" / "run.json").read_text())
    assert info["weather"] == "fine" and info["suites"]["kitchen"]["tasks"] == ["wash", "pick"]


def test_a_run_tells_of_suites_and_perturbations_that_are_not_installed(later):
    run = read_run(later)
    assert run.plausible("fog") is True and run.summary("fog") == "It is foggy." and run.tasks("kitchen") == ("wash", "pick")
    page = report([run])
    assert "It is foggy." in page and "kitchen" in page


def test_nobody_plays_on_in_a_run_of_a_later_release(later):
    with pytest.raises(EtudeError, match="was made with schema 9, this is 2: start a new run"):
        Store(later, read_plan(later / "plan.json"))


def test_what_a_line_lacks_takes_its_default():
    record = Record.from_line('{"id":"a/b@c#0~1","episode":"a/b@c#0","mode":"vanilla","level":"","outcome":"success","return":1}')
    assert record.success and record.steps == 0 and record.subgoals == () and record.reward == 1.0
    with pytest.raises(EtudeError, match="the field 'outcome' is missing"):
        Record.from_line('{"id":"a/b@c#0~1","episode":"a/b@c#0","mode":"vanilla","level":"","return":1}')
