"""Parts of goals over many episodes: how far episodes come, and where and how each failed first, in words a reader understands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from etude.arithmetic import total
from etude.evaluation.record import Record, Subgoal
from etude.evaluation.saying import COMPOSED, IN_THE_END, common_words, spoken_subgoals
from etude.evaluation.tables import grouped, plural
from etude.goals.branching import branch_told

QUESTION = "task."
"""Paths of the questions of a decision begin so; those of a goal with "goal"."""
UNASKED = "Answered where nothing was asked"
MISNAMED = "A sub-task was named wrongly"
"""By a planner that was asked about frames, and not followed."""

How = Literal["never reached", "reached, then lost", "violated", "wrong answer"]


def is_decision(record: Record) -> bool:
    """Was it asked questions, with no world to walk around in?"""
    return any(s.path.startswith(QUESTION) for s in record.subgoals)


def failed_part(record: Record) -> Subgoal | None:
    """The part of the goal that failed first: of a group that was told as a whole, the first of its members that is still open.

    What is composed has its end as first member, and then the steps that lead there: a step that was never done comes before the end.
    """
    members = _members(record)
    part = next((s for s in record.subgoals if s.path == record.first_failure), None)
    while part is not None and not part.words and members[part.path]:
        below = members[part.path]
        ordered = [*below[1:], below[0]] if part.kind in COMPOSED else below
        deeper = next((s for s in ordered if s.violated), None) or next((s for s in ordered if s.reached is None), None)
        if deeper is None:
            deeper = next((s for s in ordered if not s.satisfied), None)
        if deeper is None:
            break
        part = deeper
    return part


def failure_words(record: Record) -> str:
    """Where an episode failed first, in words; of an error its message."""
    if record.outcome == "error":
        return record.error or "no message"
    part = failed_part(record)
    if record.mode == "offline":
        return f"{MISNAMED}: {sum(not stage.right for stage in record.stages)} of {plural(len(record.stages), 'answer')}"
    if part is None:
        return UNASKED if record.first_failure == "silence" else record.first_failure or "not reached"
    what = _spoken(record)[part.path]
    if part.path.startswith(QUESTION):
        return f"wrong: {what}"
    branch = "".join(f" ({words})" for words in branch_words(record))
    if part.violated:
        return f"{what}: violated{branch}"
    return f"{what}: {'not reached' if part.reached is None else f'reached at step {part.reached}, then lost'}{branch}"


def branch_words(record: Record) -> list[str]:
    """How each condition came out that was looked at, and which branch was taken."""
    return [branch_told(s.extra["held"], s.extra.get("taken")) for s in record.subgoals if "held" in s.extra]


def _members(record: Record) -> dict[str, list[Subgoal]]:
    found: dict[str, list[Subgoal]] = {s.path: [] for s in record.subgoals}
    for s in record.subgoals:
        if (above := s.path.rpartition(".")[0]) in found:
            found[above].append(s)
    return found


def _spoken(record: Record) -> dict[str, str]:
    return spoken_subgoals([(s.path, s.kind, s.words) for s in record.subgoals])


# ------------------------------------------------------------------------------------------------ failures


@dataclass(frozen=True)
class FailureGroup:
    """Failed episodes of one task that went wrong first at the same part of the goal, in the same way; ``words`` say which part."""

    suite: str
    task: str
    words: str
    how: How
    episodes: int


@dataclass(frozen=True)
class FirstFailure:
    """Where and how an episode failed first: ``place`` is the same in all episodes of a task that failed at the same part of the goal."""

    record: Record
    place: str
    words: str
    how: How


def first_failures(records: Sequence[Record]) -> list[FirstFailure]:
    """Those of one task's records that failed. Errors are no failures."""
    by_kind = _structures_differ(records)
    return [_failure(r, by_kind) for r in records if r.outcome == "failure"]


def failure_groups(records: Sequence[Record]) -> list[FailureGroup]:
    """All failures among some records, the most frequent kind first: each is counted once."""
    found: list[FailureGroup] = []
    for (suite, task), members in grouped(records, ("suite", "task")).items():
        parts: dict[tuple[str, How], list[str]] = {}
        for failure in first_failures(members):
            parts.setdefault((failure.place, failure.how), []).append(failure.words)
        found += [FailureGroup(suite, task, common_words(texts), how, len(texts)) for (_, how), texts in parts.items()]
    return sorted(found, key=lambda group: -group.episodes)


def _failure(record: Record, by_kind: bool) -> FirstFailure:
    part = failed_part(record)
    if record.mode == "offline":
        return FirstFailure(record, "", MISNAMED, "wrong answer")
    if part is None:
        words = UNASKED if record.first_failure == "silence" else "The whole task"
        return FirstFailure(record, "", words, "never reached" if record.subgoals and words != UNASKED else "wrong answer")
    if part.path.startswith(QUESTION):
        return FirstFailure(record, part.path, _question(record, part.path), "wrong answer")
    how: How = "violated" if part.violated else "never reached" if part.reached is None else "reached, then lost"
    words = _spoken(record)[part.path]
    return FirstFailure(record, _sort(part, words) if by_kind else part.path, words, how)


def _sort(part: Subgoal, words: str) -> str:
    """Parts of one sort are counted together where goals differ: those of one kind that are told with the same verb."""
    verb = words.removeprefix(IN_THE_END).partition(" ")[0].lower()
    return f"{part.kind} ({verb})" if verb else part.kind


def _question(record: Record, path: str) -> str:
    """Which of the questions of a decision it is."""
    return "The answer" if len(record.subgoals) == 1 else f"Answer {int(path.removeprefix(QUESTION)) + 1}"


# ------------------------------------------------------------------------------------------------ funnels


@dataclass(frozen=True)
class FunnelStep:
    """One sub-goal over the episodes of a task: in how many it was asked for and ever ``reached``, and how many failed here first.

    Where goals differ from episode to episode, it stands for all sub-goals of a sort, which ``path`` then names, and ``episodes`` counts
    these. ``place`` says where it stands among the others.
    """

    path: str
    kind: str
    words: str
    episodes: int
    reached: int
    first_failures: int
    place: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Funnel:
    """The sub-goals of a task in their order; ``by_kind``: its goals differ from episode to episode."""

    suite: str
    task: str
    episodes: int
    successes: int
    steps: tuple[FunnelStep, ...]
    by_kind: bool = False


def funnels(records: Sequence[Record]) -> list[Funnel]:
    """How far episodes of each task come: a row for every leaf of the goal, and for any other place where an episode failed first."""
    found = []
    for (suite, task), members in grouped(records, ("suite", "task")).items():
        played = [r for r in members if r.outcome != "error"]
        by_kind = _structures_differ(played)
        failures = Counter(failure.place for failure in first_failures(played))
        seen: dict[str, list[tuple[str, str, bool, tuple[tuple[int, str], ...]]]] = {}
        for record in played:
            spoken, parts = _spoken(record), _asked_for(record)
            for s in parts:
                leaf = not any(other.path.startswith(f"{s.path}.") for other in record.subgoals)
                key = _sort(s, spoken[s.path]) if by_kind else s.path
                if leaf or (key in failures and not by_kind):
                    words = _question(record, s.path) if s.path.startswith(QUESTION) else spoken[s.path]
                    seen.setdefault(key, []).append((s.kind, words, _reached(record, s), _place(record, s.path)))
        if not seen:
            continue
        steps = [
            FunnelStep(
                key, Counter(k for k, _, _, _ in parts).most_common(1)[0][0], common_words([w for _, w, _, _ in parts]), len(parts),
                total(r for _, _, r, _ in parts), failures[key], min(place for _, _, _, place in parts),
            )
            for key, parts in seen.items()
        ]  # fmt: skip
        ordered = tuple(sorted(steps, key=lambda step: step.place))
        found.append(Funnel(suite, task, len(played), total(r.success for r in played), ordered, by_kind))
    return found


def _structures_differ(records: Sequence[Record]) -> bool:
    """Does a path lead to leaves of different kinds in different episodes? Then it is not the same part of the goal."""
    kinds: dict[str, str] = {}
    for record in records:
        members = _members(record)
        for s in record.subgoals:
            if not members[s.path] and not s.path.startswith(QUESTION) and kinds.setdefault(s.path, s.kind) != s.kind:
                return True
    return False


def _asked_for(record: Record) -> list[Subgoal]:
    """The parts that were asked for: of a condition only the branch that was to be taken, once that was known. Records from before that was
    written down show it by what was begun."""
    members, failed = _members(record), record.first_failure or ""
    idle: list[str] = []
    for s in record.subgoals:
        if "held" in s.extra:
            idle.append(f"{s.path}.{1 if s.extra['held'] else 0}")
        elif s.kind == "Conditional":
            begun = [b.path for b in members[s.path] if f"{failed}.".startswith(f"{b.path}.") or _begun(record, b.path)]
            idle += [b.path for b in members[s.path] if b.path not in begun]
    return [s for s in record.subgoals if not any(f"{s.path}.".startswith(f"{branch}.") for branch in idle)]


def _begun(record: Record, path: str) -> bool:
    return any(f"{s.path}.".startswith(f"{path}.") and (s.reached is not None or s.progress > 0) for s in record.subgoals)


def _reached(record: Record, part: Subgoal) -> bool:
    """Was it ever reached, or made needless because the end that its steps lead to was?"""
    if part.reached is not None:
        return True
    above = part.path.rpartition(".")[0]
    return any(s.path == above and s.kind in COMPOSED and s.reached is not None for s in record.subgoals)


def _place(record: Record, path: str) -> tuple[tuple[int, str], ...]:
    """Where a part stands among the others; the end of what is composed comes after its steps."""
    kinds = {s.path: s.kind for s in record.subgoals}
    numbers = list(path_order(path))
    parts = path.split(".")
    for k in range(1, len(parts)):
        if kinds.get(".".join(parts[:k])) in COMPOSED and numbers[k][0] == 0:
            numbers[k] = (len(record.subgoals), "")
    return tuple(numbers)


def path_order(path: str) -> list[tuple[int, str]]:
    """Sorts "goal.2" before "goal.10"."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in path.split(".")]
