"""iWISDM's own tables: confusions, response times, delays as pairs; and the lines its lists are shown with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from etude.decisions.trial import SILENT
from etude.evaluation.decide import said_and_right, score
from etude.evaluation.plan import make_names
from etude.evaluation.record import Record
from etude.library import named_plan, trial
from etude.suites.iwisdm.tables import confusion_rows, delay_rows, time_rows
from etude.suites.suite import SUITES


def answered(name: str, said: str | None = None, seconds: float = 1.0, remark: str = "") -> Record:
    """The record of one who says the right thing, or something else."""
    one = trial(name)
    given = [a if said is None or a == SILENT else said for a in one.answers]
    return replace(score(one, given, [remark]), timings={"seconds": seconds})


def test_confusions_count_what_was_said_instead() -> None:
    names = make_names(["iwisdm"], ["low", "high"], ["val"], episodes=30)
    records = [answered(name, "false", remark="said (so)") for name in names] + [answered(names[-1], SILENT)]
    rows = confusion_rows({"vanilla": records})
    assert [row["level"] for row in rows] == sorted((row["level"] for row in rows), key=("low", "high").index)
    low = {row["right answer"]: row for row in rows if row["level"] == "low"}
    assert (low["true"]["false"], low["true"]["true"], low["false"]["right"]) == (15, 0, 1.0)
    assert sum(int(row["nothing"] or 0) for row in rows) == 1
    assert said_and_right(records[0]) == [("false", trial(names[0]).answers[-1])]


def test_times_are_told_by_level_and_correctness() -> None:
    names = make_names(["iwisdm"], ["medium"], ["val"], episodes=21)
    records = [answered(name, seconds=k) for k, name in enumerate(names)] + [answered("iwisdm/low@val#0", "false", 9.0)]
    rows = time_rows({"vanilla": records})
    assert [(row["level"], row["trials"]) for row in rows] == [("low", 1), ("medium", 21)]
    assert (rows[1]["answered"], rows[1]["5 %"], rows[1]["median"], rows[1]["95 %"]) == ("rightly", "1.00", "10.00", "19.00")


def test_delays_are_compared_on_the_same_trials() -> None:
    plan = named_plan("iwisdm-delays")
    assert plan is not None
    names = [name for name in plan() if "#1?" in name or "#2?" in name]
    assert len(plan()) == 2 * 7 * 50 and len(names) == 2 * 7 * 2
    records = [answered(name, "no such answer" if name.endswith("#2?delay=8") else None) for name in names]
    rows = {(row["list"], row["delay"]): row for row in delay_rows({"vanilla": records})}
    assert rows["match_to_sample_category", 8]["right"] == 0.5
    assert rows["match_to_sample_category", 8]["against the shortest"] == pytest.approx(-0.5)
    assert rows["match_to_sample_location", 4]["against the shortest"] == 0
    assert rows["match_to_sample_location", 0]["against the shortest"] is None


def test_every_list_says_what_it_asks() -> None:
    tasks = SUITES["iwisdm"].tasks
    assert tasks["high"].summary.startswith("9 frames, 1 to 2 And or Or, 1 Switch; roots IsSame And Or NotSame Get")
    assert tasks["memory_category_report"].summary == "As memory: categories only, told"
    assert len({task.summary for task in tasks.values()}) == len(tasks)
