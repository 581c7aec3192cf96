"""What was taken for what: what a planner said where something else was right; without a planner, what was done and what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from etude.evaluation.record import Record
from etude.evaluation.saying import without_looks
from etude.evaluation.subgoals import first_failures, is_decision
from etude.evaluation.tables import grouped, name_of

FINISHED = "nothing more"
"""What would be right to say where all is done."""
LONGEST = 90
"""Characters of what a planner said; more is no sub-task."""


@dataclass(frozen=True)
class Confusion:
    """So many ``times`` it was ``instead`` where it should have been ``asked``, ``of`` all the times when that was asked.

    ``planner``: these are sub-tasks that a planner said; otherwise episodes that failed, and ``instead`` is their cause. ``task`` is empty
    for sub-tasks, which tasks of a suite share. Things are told without their looks and numbers, which differ from episode to episode.
    """

    suite: str
    task: str
    planner: bool
    asked: str
    instead: str
    times: int
    of: int


def confusions(records: Sequence[Record]) -> list[Confusion]:
    """All rows, planners' first, the most frequent of each first. Decisions have tables of answers, and no rows here."""
    played = [r for r in records if r.outcome != "error" and not is_decision(r)]
    found = [*_said([r for r in played if r.stages]), *_done([r for r in played if not r.stages])]
    return sorted(found, key=lambda row: (not row.planner, -row.times, row.suite, row.task, row.asked, row.instead))


def _said(records: Sequence[Record]) -> list[Confusion]:
    times: Counter[tuple[str, str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    for record in records:
        suite = name_of(record).suite
        for stage in record.stages:
            right = " or ".join(dict.fromkeys(map(without_looks, stage.expected))) or FINISHED
            asked[suite, right] += 1
            if not stage.right:
                said = without_looks(stage.subtask)
                said = f"{said[:LONGEST]}…" if len(said) > LONGEST else said
                times[suite, right, f"{said}, of another thing" if said == right else said or "nothing"] += 1
    return [Confusion(s, "", True, right, said, n, asked[s, right]) for (s, right, said), n in times.items()]


def _done(records: Sequence[Record]) -> list[Confusion]:
    found = []
    for (suite, task), members in grouped(records, ("suite", "task")).items():
        parts = Counter((without_looks(f.words), f.record.cause) for f in first_failures(members) if f.record.cause)
        found += [Confusion(suite, task, False, asked, cause, times, len(members)) for (asked, cause), times in parts.items()]
    return found
