"""Decisions broken down by what was asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from run_fixtures import drawn, run_of

from etude.decisions.trial import SILENT
from etude.evaluation.decide import score
from etude.evaluation.decisions import ALL, TRUTH, Slice, answers_of, breakdowns, decided, shortcuts, unchanged
from etude.evaluation.inference import wilson
from etude.evaluation.record import Record
from etude.library import trial
from etude.report.evaluation import report
from etude.report.exports import collect

LEVELS = ("low", "high")


def played(task: str, seeds: int, right: bool = True, seconds: float = 2.0) -> list[Record]:
    """Trials of a list, answered rightly or wrongly throughout."""
    found = []
    for seed in range(seeds):
        one = trial(f"iwisdm/{task}@val#{seed}")
        given = [a if right or a == SILENT else next(c for c in one.choices if c != a) for a in one.answers]
        found.append(replace(score(one, given), timings={"seconds": seconds}))
    return found


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Low complexity answered rightly, high wrongly."""
    return [*played("low", 12), *played("high", 30, right=False)]


def of(slices: list[Slice], breakdown: str, level: str = ALL) -> dict[str, Slice]:
    return {s.value: s for s in slices if (s.breakdown, s.level) == (breakdown, level)}


def test_levels_are_told_apart_with_chance_and_intervals(records):
    found = of(breakdowns(answers_of(records)), "level")
    assert [(s.value, s.right, s.answers) for s in found.values()] == [("low", 12, 12), ("high", 0, 30)]
    assert found["low"].interval == wilson(12, 12) and found["low"].chance == 0.5
    choices = [len(trial(r.episode).choices) for r in records if r.level == "high"]
    assert found["high"].chance == pytest.approx(sum(1 / c for c in choices) / 30)


def test_levels_stand_in_the_order_of_their_complexity(records):
    found = breakdowns(answers_of([*reversed(records), *played("medium", 2)]))
    assert list(of(found, "level")) == ["low", "medium", "high"]


def test_every_breakdown_counts_every_answer_once(records):
    slices = breakdowns(answers_of(records))
    names = {s.breakdown for s in slices}
    assert {"level", "property asked", "number of Switch", "number of And", "number of Or", "delays", "stimuli", "answer type"} <= names
    assert "number of IsSame and NotSame" in names
    for name in names:
        assert sum(s.answers for s in slices if (s.breakdown, s.level) == (name, ALL)) == 42


def test_what_a_question_is_made_of_is_counted(records):
    slices = breakdowns(answers_of(records))
    switches = of(slices, "number of Switch")
    assert (switches["0"].right, switches["0"].answers) == (12, 12) and switches["1"].answers == 30
    kinds = of(slices, "answer type")
    assert kinds[TRUTH].answers + kinds["category"].answers + kinds["location"].answers == 42
    delays = of(slices, "delays", "high")
    assert all(0 <= int(value) <= 2 for value in delays) and sum(s.answers for s in delays.values()) == 30


def test_numbers_are_in_the_order_of_numbers():
    values = [s.value for s in breakdowns(answers_of(played("low_balanced", 40))) if s.breakdown == "delays"]
    assert len(values) > 1 and values == sorted(values, key=int)


def test_a_trial_with_several_questions_counts_once_for_each():
    one = trial("iwisdm/two_back@val#1")
    asked = [k for k, a in enumerate(one.answers) if a != SILENT]
    given = list(one.answers)
    given[asked[1]] = next(c for c in one.choices if c != given[asked[1]])
    found = answers_of([score(one, given)])
    assert [a.right for a in found] == [True, False, True, True]
    assert [a.asked.placed.end for a in found] == asked


def test_a_branch_that_was_not_due_is_not_counted():
    found = answers_of(played("condition", 4))
    assert len(found) == 8 and all(a.right for a in found)


def test_robots_and_errors_are_left_out(records):
    robots = drawn({"pick": "L0"}, "p", {"L0": 1.0}, 3, split="train").records
    broken = replace(records[0], outcome="error")
    assert decided([*robots, broken, records[1]]) == [records[1]]


def test_a_trial_that_is_made_otherwise_today_is_left_out(records):
    old = replace(records[0], id=f"{records[0].episode}~000000000000")
    assert unchanged([old, records[1]]) == [records[1]]
    page = report([run_of([old, *records[1:]], Path("x"))])
    assert "1 trial of these runs" in page


def test_shortcuts_are_those_of_the_trials_that_were_answered(records):
    found = {(level, row.name): row for level, _, row in shortcuts([*records, *records])}
    assert found["low", "majority"].applies == 12 and found["high", "always then"].applies == 30
    assert ("low", "always then") not in found


def test_the_page_has_a_section_only_where_decisions_were_asked_for(records):
    page = report([run_of(records, Path("x"), policy="human:ann")])
    assert 'id="decisions"' in page and "Median seconds" in page and "always then" in page
    assert 'id="decisions"' not in report([drawn({"pick": "L0"}, "p", {"L0": 1.0}, 3, split="train")])


def test_the_tables_can_be_exported(records):
    tables = {t.name: t for t in collect([run_of(records, Path("x"), policy="human:ann")])}
    rows = [dict(zip(tables["decisions"].columns, row, strict=True)) for row in tables["decisions"].rows]
    low = next(r for r in rows if (r["breakdown"], r["value"]) == ("level", "low"))
    assert (low["accuracy"], low["chance"], low["median_seconds"]) == (1.0, 0.5, 2.0)
    assert "majority" in {row[tables["shortcuts"].columns.index("shortcut")] for row in tables["shortcuts"].rows}
