"""Études by level and by what is new in a split: systematicity, productivity and substitutivity as separate numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from etude.arithmetic import total
from etude.evaluation.inference import wilson
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.etudes.composing import COMBINATIONS, LENGTHS, OPERATORS, WORDS
from etude.suites.etudes.suite import TASKS
from etude.suites.suite import Rows, SuiteTable

KINDS = {
    "test": "nothing",
    COMBINATIONS: "combinations (systematicity)",
    OPERATORS: "operators (systematicity)",
    LENGTHS: "lengths (productivity)",
    WORDS: "words (substitutivity)",
}


def novelty_rows(modes: Mapping[str, Sequence[Record]]) -> Rows:
    """A row for each level and each kind of novelty, with the ability that failed first in most of its failures."""
    found: Rows = []
    for mode, records in modes.items():
        for level in (*TASKS, "own"):
            for split, new in KINDS.items():
                here = [r for r in records if r.outcome != "error" and r.level == level and name_of(r).split == split]
                if here:
                    found.append({"mode": mode, "level": level, "new": new, **_row(here)})
    return found


def _row(records: Sequence[Record]) -> dict[str, str | int | float | None]:
    successes = total(record.success for record in records)
    low, high = wilson(successes, len(records))
    causes = [record.cause.partition(":")[0] for record in records if record.cause]
    usual = max(sorted(set(causes)), key=causes.count) if causes else ""
    return {
        "success": successes / len(records),
        "95 %": f"{100 * low:.0f}–{100 * high:.0f}",
        "failed first": usual,
        "episodes": len(records),
    }


TABLES = (
    SuiteTable(
        "novelty",
        "Generalisation, kind by kind",
        "Success by level and by what no training episode has; everything else is as in training. Failed first: the ability that was "
        "lacking in most of the failures.",
        novelty_rows,
    ),
)
