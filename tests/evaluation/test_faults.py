"""What breaks is an error beside the results, never a failure of the policy; and the run goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from faulty import BAD
from test_resuming import Quiet

from etude.evaluation.plan import Plan, make_names
from etude.evaluation.play import Players, play
from etude.evaluation.record import Record
from etude.evaluation.run import RunSettings, evaluate
from etude.names import EtudeError

NAMES = make_names(["clevrskills"], ["touch"], episodes=3)


def records(policy, tmp_path, **settings):
    run = evaluate(Plan(policy, NAMES), tmp_path / "run", RunSettings(workers=settings.pop("workers", 1), **settings), Quiet())
    return {r.episode: r for r in run.records}


@pytest.mark.parametrize(
    ("fault", "words", "settings"),
    [
        ("crash", "the worker ended (signal SIGSEGV)", {}),
        ("leave", "the worker ended (exit status 7)", {}),
        ("memory", "more than the 0.9 allowed", {"memory": 0.9}),
        ("raise", "RuntimeError: out of luck (in the policy: ", {}),
        ("surrogate", r"RuntimeError: no file \udc80.npz", {}),
        ("text", "what the policy gave is text ('left'); expected actions (n, 7), as numbers", {}),
    ],
)
def test_a_broken_episode_is_an_error_and_the_others_are_played(fault, words, settings, tmp_path):
    """One that hangs is in test_workers, with what it had started."""
    found = records(f"faulty:Faulty?fault={fault}", tmp_path, **settings)
    assert set(found) == set(NAMES)
    assert found[BAD].outcome == "error" and words in found[BAD].error
    assert "\n" not in found[BAD].error and found[BAD].id.startswith(BAD + "~")
    assert all(r.outcome == "failure" and r.error is None for name, r in found.items() if name != BAD)


def test_errors_are_played_again_when_asked(tmp_path):
    records("faulty:Faulty?fault=raise", tmp_path)
    seen = Quiet()
    evaluate(Plan("faulty:Faulty?fault=raise", NAMES), tmp_path / "run", RunSettings(workers=1), seen)
    assert seen.played == []
    evaluate(Plan("faulty:Faulty?fault=raise", NAMES), tmp_path / "run", RunSettings(workers=1, retry_errors=True), seen)
    assert seen.played == [BAD]
    assert (tmp_path / "run" / "episodes.jsonl").read_text().count("\n") == len(NAMES)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("faulty:Quitter?at=once", "the policy faulty:Quitter cannot be made: SystemExit: 0 ("),
        ("faulty:WrongRate", "rate: policy has 7 Hz, environment has 20 Hz"),
        ("faulty:Nothing", "unknown attribute of faulty 'Nothing'"),
        ("faulty:Faulty", "needs 'fault'"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_before_the_first_step(policy, words, tmp_path):
    with pytest.raises(EtudeError) as error:
        records(policy, tmp_path)
    assert words in str(error.value)
    assert (tmp_path / "run" / "episodes.jsonl").read_text() == ""


def test_a_policy_that_asks_to_end_the_process_has_broken_its_episode(tmp_path):
    found = records("faulty:Quitter?at=later", tmp_path)
    assert [r.outcome for r in found.values()] == ["failure", "error", "failure"]
    assert found[BAD].error.startswith("SystemExit: 0 (in the policy: ")


def test_what_utf_8_cannot_hold_is_written_out_in_every_text_of_a_record(tmp_path):
    plan = Plan("noop", NAMES[:1], "faulty:Garbled", ("planner",))
    run = evaluate(plan, tmp_path / "run", RunSettings(workers=1, keep="all"), Quiet())
    (record,) = run.records
    assert record.outcome == "failure" and record.film is not None
    assert {stage.subtask for stage in record.stages} == {r"Dance \udc80"}
    assert Record.from_line(replace(record, cause="\ud83d").to_line()).cause == r"\ud83d"


def test_a_policy_sees_exactly_what_its_contract_asks_for():
    record, course = play(Players("faulty:Looking"), "clevrskills/pick@train#0")
    assert record.outcome == "failure" and len(course.actions) == record.steps == 200
