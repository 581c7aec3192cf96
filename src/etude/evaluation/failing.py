"""Failures by where and how they happened, each counted once: the numbers add up to all that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from etude.evaluation.record import Record
from etude.evaluation.saying import spoken_subgoals
from etude.evaluation.tables import common_words, name_of

How = Literal["never reached", "reached, then lost", "violated", "wrong answer"]


@dataclass(frozen=True)
class FailureGroup:
    """Failed episodes of one task that went wrong first at the same part of the goal, in the same way; ``words`` say which part."""

    suite: str
    task: str
    words: str
    how: How
    episodes: int


def failure_groups(records: Sequence[Record]) -> list[FailureGroup]:
    """All failures among some records, the most frequent kind first. Errors are no failures."""
    found: dict[tuple[str, str, str, How], list[str]] = {}
    for record in records:
        if record.outcome == "failure":
            path, words, how = _first(record)
            found.setdefault((name_of(record).suite, name_of(record).task, path, how), []).append(words)
    groups = [FailureGroup(suite, task, common_words(texts), how, len(texts)) for (suite, task, _, how), texts in found.items()]
    return sorted(groups, key=lambda group: -group.episodes)


def _first(record: Record) -> tuple[str, str, How]:
    """Path and words of the part of the goal that failed first, and how. What has no parts has failed as a whole."""
    spoken = spoken_subgoals([(s.path, s.kind, s.words) for s in record.subgoals])
    part = next((s for s in record.subgoals if s.path == record.first_failure), None)
    if part is None:
        return "", "The whole task", "never reached" if record.subgoals else "wrong answer"
    how: How = "violated" if part.violated else "never reached" if part.reached is None else "reached, then lost"
    return part.path, spoken[part.path], how
