"""Decisions broken down by what was asked: complexity, properties, operators, delays, stimuli, answers (iWISDM figures 2, 10 to 14).

Records name their trials, and names give the trials again; so any run can be broken down, whoever answered. What is counted are answers:
a trial with several questions counts once for each.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from etude.decisions.graph import fifth, operators, properties_of
from etude.decisions.operator import Operator
from etude.decisions.shortcuts import Asked, Shortcut, answers_due, report
from etude.decisions.showing import domain_of, space_of
from etude.decisions.trial import Trial
from etude.evaluation.inference import wilson
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.library import tasks
from etude.library import trial as find_trial
from etude.names import EpisodeName, pick
from etude.suites.suite import SUITES

ALL = "all"
"""Stands for the level in rows over all of them."""
TRUTH = "true or false"
COMPARISONS = ("IsSame", "NotSame")
UNCOUNTED = ("Select", "Get", "Const", *COMPARISONS)  # one by one

_trial = functools.lru_cache(maxsize=1 << 14)(find_trial)


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer that was due: to what, in which trial, whether it was right, and how long the whole trial took."""

    trial: Trial
    asked: Asked
    right: bool
    seconds: float | None


@dataclass(frozen=True)
class Slice:
    """The answers of a level that agree in something: ``value`` of ``breakdown``. ``chance`` is the mean over what could be chosen."""

    breakdown: str
    level: str
    value: str
    answers: int
    right: int
    interval: tuple[float, float]
    chance: float
    seconds: float | None

    @property
    def accuracy(self) -> float:
        """Right answers for each that was due."""
        return self.right / self.answers


def decided(records: Iterable[Record]) -> list[Record]:
    """The records of decisions that were made to their end."""
    return [r for r in records if decides(name_of(r)) and r.outcome != "error"]


def decides(name: EpisodeName) -> bool:
    """Is it the name of a decision? A run may be older than the suites of today: what is not known is none."""
    task = tasks(name.suite).get(name.task) if name.suite in SUITES else None
    return task is not None and task.control == "answer" and name.split in task.splits


def unchanged(records: Iterable[Record]) -> list[Record]:
    """Those whose trials are still what they were when they were answered: only these can be looked into."""
    return [r for r in records if _trial(r.episode).id == r.id]


def answers_of(records: Iterable[Record]) -> list[JudgedAnswer]:
    """Every answer that was due in these records."""
    found = []
    for record in records:
        trial = _trial(record.episode)
        due = sorted(answers_due(trial), key=lambda one: one.placed.end)  # in the order in which they were asked for, as sub-goals are
        for one, goal in zip(due, record.subgoals, strict=True):
            found.append(JudgedAnswer(trial, one, goal.satisfied, record.timings.get("seconds")))
    return found


def breakdowns(answers: Sequence[JudgedAnswer]) -> list[Slice]:
    """All breakdowns that tell anything apart, over all levels and, where there are several, within each."""
    answers = sorted(answers, key=lambda a: _place(a.trial))
    levels = list(dict.fromkeys(a.trial.level for a in answers))
    found = _slices("level", ALL, answers, lambda a: a.trial.level)
    parts = {ALL: answers, **({level: [a for a in answers if a.trial.level == level] for level in levels} if len(levels) > 1 else {})}
    for name, key in _breakdowns().items():
        for level, members in parts.items():
            slices = _slices(name, level, members, key)
            found += slices if len(slices) > 1 else ()
    return found


def sliced(answers: Sequence[JudgedAnswer], breakdown: str) -> dict[str, Slice]:
    """One breakdown over all levels, by its values."""
    key = pick("breakdown", breakdown, _breakdowns())
    return {one.value: one for one in _slices(breakdown, ALL, answers, key)}


def _place(trial: Trial) -> int:
    """Where the list of a trial stands among those of its suite: levels are shown in this order."""
    return list(tasks(trial.parsed.suite)).index(trial.parsed.task)


def shortcuts(records: Iterable[Record]) -> list[tuple[str, str, Shortcut]]:
    """(level, split, shortcut): what the trials of these records would have given to one who takes it."""
    groups: dict[tuple[str, str, str], dict[str, Trial]] = {}
    for trial in sorted((_trial(record.episode) for record in records), key=_place):
        groups.setdefault((trial.level, trial.split, trial.stimuli), {})[trial.name] = trial
    return [
        (level, split, row)
        for (level, split, shown), trials in groups.items()
        for row in report(trials.values(), domain_of(shown, split))
        if row.applies
    ]


def _slices(name: str, level: str, answers: Sequence[JudgedAnswer], key: Callable[[JudgedAnswer], str]) -> list[Slice]:
    groups: dict[str, list[JudgedAnswer]] = {}
    for one in answers:
        groups.setdefault(key(one), []).append(one)
    ordered = groups if name == "level" else dict(sorted(groups.items(), key=lambda g: (len(g[0]) if g[0].isdigit() else 99, g[0])))
    return [_slice(name, level, value, members) for value, members in ordered.items()]


def _slice(name: str, level: str, value: str, members: Sequence[JudgedAnswer]) -> Slice:
    right = sum(one.right for one in members)
    chance = statistics.fmean(1 / len(one.asked.choices) for one in members)
    times = [one.seconds for one in members if one.seconds is not None]
    seconds = round(statistics.median(times), 3) if times else None
    return Slice(name, level, value, len(members), right, wilson(right, len(members)), chance, seconds)


# ------------------------------------------------------------------------------------------------ what answers are told apart by


def properties_asked(root: Operator) -> str:
    """The properties a question is about."""
    return " + ".join(sorted(properties_of(root))) or "presence"


def answer_type(one: Asked, trial: Trial) -> str:
    """What the right answer is: a truth, a number, or a value of a property."""
    if one.right in ("true", "false"):
        return TRUTH
    space = space_of(trial.stimuli, trial.grid)
    return next((p for p in space.known if one.right in space.values(p) and not one.right.isdigit()), "number")


def _stimuli(one: Asked) -> int:
    return sum(len(things) for things in one.frames[one.placed.start : one.placed.end + 1])


def _counted(kinds: Sequence[str]) -> Callable[[JudgedAnswer], str]:
    def key(answer: JudgedAnswer) -> str:
        found = operators(answer.asked.root)
        return str(sum(found.get(kind, 0) for kind in kinds))

    return key


def _breakdowns() -> dict[str, Callable[[JudgedAnswer], str]]:
    return {
        "property asked": lambda a: properties_asked(a.asked.root),
        **{f"number of {kind}": _counted((kind,)) for kind in Operator.kinds if kind not in UNCOUNTED},
        "number of IsSame and NotSame": _counted(COMPARISONS),
        "delays": lambda a: str(a.asked.placed.task.frames - len(a.asked.placed.task.seen)),
        "stimuli": lambda a: str(_stimuli(a.asked)),
        "answer type": lambda a: answer_type(a.asked, a.trial),
        "fifth of structures": lambda a: str(fifth(a.asked.root)),
    }
