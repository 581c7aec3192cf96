"""One policy, several arms: what an arm cannot reach is told apart from what the policy gets wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import run_fixtures

import etude
from etude.evaluation.arms import OWN, ArmRow, by_arm
from etude.evaluation.choosing import choose
from etude.evaluation.play import Players, play
from etude.evaluation.record import Record
from etude.evaluation.store import Store, read_run
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.report.arms import arm_rows, arms_section
from etude.report.contestants import contestants
from etude.report.exports import collect


class Pointing:
    """Sends the hand to one place, again and again."""

    contract = Contract.etude("keypose")

    def __init__(self, place):
        self._action = np.array([*place, 0.0, 1.0, 0.0, 0.0, -1.0])

    def reset(self, *told):
        pass

    def act(self, observation):
        return self._action


def test_a_failure_counts_the_keyposes_that_the_arm_could_not_come_to():
    far, near = (play(Players(Pointing(p)), "himan/open_drawer@test#0?robot=xarm6")[0] for p in ((0.77, -0.65, 0.75), (0.25, 0.0, 1.3)))
    assert not far.success and far.unreachable == 15 and not near.success and near.unreachable == 0
    assert Record.from_line(far.to_line()) == far and "unreachable" not in near.to_line()


def record(arm, seed, success, unreachable=0, task="open_drawer"):
    option = "" if arm == OWN else f"?robot={arm}"
    return replace(run_fixtures.record(f"himan/{task}@test#{seed}{option}", success, mode="rule"), unreachable=unreachable)


def test_rows_tell_failures_reach_and_what_was_not_played_apart():
    records = [
        record("xarm6", 0, True), record("xarm6", 1, False), record("xarm6", 2, False, 3), record(OWN, 0, True), record(OWN, 1, True),
    ]  # fmt: skip
    rows = by_arm(records, ["himan/open_drawer@test#3?robot=xarm6", "himan/close_drawer@test#0?robot=xarm6"])
    assert rows == [
        ArmRow("himan", "open_drawer", "xarm6", 1, 1, 1, 1), ArmRow("himan", "open_drawer", OWN, 2, 0, 0, 0),
        ArmRow("himan", "close_drawer", "xarm6", 0, 0, 0, 1),
    ]  # fmt: skip
    assert str(rows[0]) == "1/3 (1 out of reach, 1 unplayable)" and rows[0].unreachable == 0.5 and str(rows[1]) == "2/2"
    assert rows[2].to_data()["success"] is None and rows[2].unreachable == 1.0


def test_runs_with_several_arms_are_one_table_of_tasks_by_arms(tmp_path):
    runs = [
        run_fixtures.run_of([record(arm, seed, arm == OWN, seed) for seed in range(2)], tmp_path / arm.replace(" ", "-"), "mine")
        for arm in (OWN, "xarm6", "ur5")
    ]
    found = contestants(runs)
    assert [(label, row.arm, str(row)) for label, row in arm_rows(found)] == [
        ("mine, rule", OWN, "2/2"), ("mine, rule", "xarm6", "0/2 (1 out of reach)"), ("mine, rule", "ur5", "0/2 (1 out of reach)"),
    ]  # fmt: skip
    section = arms_section(found)
    assert section.count("<tr>") == 2 and "0/2 (1 out of reach)" in section
    assert [len(t.rows) for t in collect(runs) if t.name == "arms"] == [3]
    assert not arms_section(contestants(runs[:1])) and all(t.name != "arms" for t in collect(runs[:1]))


def test_what_an_arm_cannot_play_stays_with_the_plan(tmp_path, monkeypatch):
    """Nothing of HiMan-Bench is beyond the arms that come with etude: one task is made to be."""
    import etude.suites.arms as arms

    whole = arms.rearmed

    def short(draft, arm):
        if any(name == "block" for _, name in draft.roles):
            raise arms.NoRoom("the arm is too short")
        return whole(draft, arm)

    monkeypatch.setattr(arms, "rearmed", short)
    left: list[str] = []
    what = ["himan/open_drawer@test#0", "himan/put_in_opened_drawer@test#0"]
    names = choose(what, options={"robot": "xarm6"}, left_out=left)
    assert names == ("himan/open_drawer@test#0?robot=xarm6",) and left == ["himan/put_in_opened_drawer@test#0?robot=xarm6"]
    run = etude.evaluate(Pointing((0.25, 0.0, 1.3)), what, options={"robot": "xarm6"}, out=tmp_path / "run")
    assert run.plan.out_of_reach == tuple(left) and read_run(tmp_path / "run").plan == run.plan
    assert [str(row) for _, row in arm_rows(contestants([run]))] == ["0/1", "0/0 (1 unplayable)"]
    with Store(tmp_path / "run", run.plan) as store:
        assert not store.missing
    with pytest.raises(EtudeError, match="too short"):
        choose(what[1:], options={"robot": "xarm6"})
