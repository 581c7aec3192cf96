"""From records to numbers: the one place where episodes are counted. Pages, exports and the terminal only show what is counted here.

Errors are ours or the machine's, so they are counted beside the episodes and never among them.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from etude.evaluation.inference import clustered_interval, wilson
from etude.evaluation.record import Record
from etude.names import EpisodeName, pick

KEYS = ("suite", "task", "split", "level", "difficulty", "perturbation", "mode")
WORDS_OF_LEVELS = ("low", "medium", "high")
EXAMPLES = 3
"""Episodes that are named for each kind of error."""

_parsed = functools.lru_cache(maxsize=1 << 16)(EpisodeName.parse)


def name_of(record: Record) -> EpisodeName:
    """The record's episode name in its parts, parsed once however often it is asked for."""
    return _parsed(record.episode)


def control_key(record: Record) -> tuple[str, tuple[tuple[str, str], ...], str]:
    """What an episode and the same without its perturbations have in common."""
    name = name_of(record)
    return name.base, name.options, record.mode


def odd_returns(records: Sequence[Record]) -> str:
    """Why failures have a higher return than successes, where they do in some task; otherwise nothing."""
    returns: dict[tuple[str, str, str], dict[bool, list[float]]] = {}
    for record in records:
        if record.outcome != "error":
            name = name_of(record)
            returns.setdefault((name.suite, name.task, record.mode), {}).setdefault(record.success, []).append(record.reward)
    for (suite, task, _), found in returns.items():
        if len(found) == 2 and fmean(found[False]) > fmean(found[True]):
            return (
                f"{suite}/{task}: failures have a higher return than successes. The reward is paid at every step, so that one who never"
                ' finishes is paid for longer; environments with reward="gain" pay for what is gained alone.'
            )
    return ""


def perturbation_of(record: Record) -> str:
    """The perturbations of the episode, joined with "+"; empty for none."""
    return "+".join(name_of(record).perturbations)


def plain(records: Sequence[Record]) -> tuple[Record, ...]:
    """Those on which success is stated: the unperturbed ones; all, where every one is perturbed."""
    return tuple(r for r in records if not name_of(r).perturbations) or tuple(records)


def level_order(label: str) -> tuple[str, ...]:
    """Sorts levels as readers expect: low, medium, high; else by the alphabet, L0 before L1."""
    return tuple(str(WORDS_OF_LEVELS.index(word)) if word in WORDS_OF_LEVELS else word for word in label.split())


def plural(count: int, word: str, rest: str = "") -> str:
    """ "1 episode", "2,000 episodes that failed"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}{rest}"


def percent(fraction: float) -> str:
    """A rate for readers; neither 0 % nor 100 % is said of what is only close to it."""
    if 0 < fraction < 0.01:
        return "<1 %"
    if 0.99 < fraction < 1:
        return ">99 %"
    return f"{100 * fraction:.0f} %"


def points(fraction: float) -> str:
    """A difference of rates in whole percentage points, with its sign."""
    value = round(100 * fraction)
    return f"+{value}" if value > 0 else f"−{-value}" if value < 0 else "0"


def p_value(p: float) -> str:
    """A p value for readers."""
    return "<0.001" if p < 0.001 else f"{p:.2g}"


# ------------------------------------------------------------------------------------------------ sums


@dataclass(frozen=True)
class Tally:
    """Sums over some episodes. ``episodes`` were played to their end; ``interval`` holds the success rate with 95 % confidence."""

    episodes: int
    successes: int
    errors: int
    mean_steps: float | None
    mean_return: float | None
    reward_per_step: float | None
    interval: tuple[float, float]

    @property
    def rate(self) -> float:
        """Successes for each episode; 0 without episodes."""
        return self.successes / self.episodes if self.episodes else 0.0

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "episodes": self.episodes, "successes": self.successes, "errors": self.errors, "mean_steps": self.mean_steps,
            "mean_return": self.mean_return, "reward_per_step": self.reward_per_step, "interval": [round(v, 4) for v in self.interval],
        }  # fmt: skip


def tally(records: Sequence[Record]) -> Tally:
    """The sums over records; seeds of several tasks are not independent, so their interval is clustered by task."""
    played = [r for r in records if r.outcome != "error"]
    steps = sum(r.steps for r in played)
    total = sum(r.reward for r in played)
    return Tally(
        episodes=len(played),
        successes=sum(r.success for r in played),
        errors=len(records) - len(played),
        mean_steps=round(steps / len(played), 2) if played else None,
        mean_return=round(total / len(played), 3) if played else None,
        reward_per_step=round(total / steps, 3) if steps else None,
        interval=_interval(played),
    )


def _interval(played: Sequence[Record]) -> tuple[float, float]:
    values: dict[str, list[float]] = {}
    for record in played:
        name = name_of(record)
        values.setdefault(f"{name.suite}/{name.task}", []).append(float(record.success))
    if len(values) < 2:
        return wilson(sum(r.success for r in played), len(played))
    found = clustered_interval(values, seed="tables/success")
    return found.low, found.high


@dataclass(frozen=True)
class Group:
    """The sums over seeds of one task under the same conditions."""

    suite: str
    task: str
    split: str
    level: str
    difficulty: str
    perturbation: str
    mode: str
    tally: Tally

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data: the form that ``etude evaluate --json`` promises."""
        return {**{key: getattr(self, key) for key in KEYS}, **self.tally.to_data()}


@dataclass(frozen=True)
class Sum:
    """The sums over all episodes that agree in some keys, such as the level; ``tasks`` says over how many tasks they go."""

    keys: tuple[tuple[str, str], ...]
    tasks: int
    tally: Tally

    @property
    def label(self) -> str:
        """The values of the keys."""
        return " ".join(value for _, value in self.keys)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {**dict(self.keys), "tasks": self.tasks, **self.tally.to_data()}


def groups(records: Sequence[Record]) -> list[Group]:
    """One row for each suite, task, split, level, difficulty, perturbation and mode, in the order of first appearance."""
    table = grouped(records, KEYS)
    return [Group(**dict(zip(KEYS, values, strict=True)), tally=tally(members)) for values, members in table.items()]


def by(records: Sequence[Record], *keys: str) -> list[Sum]:
    """The sums over any grouping, e.g. ``by(records, "level")``; without keys one row over everything."""
    rows = []
    for values, members in grouped(records, keys).items():
        tasks = {(name.suite, name.task) for name in map(name_of, members)}
        rows.append(Sum(tuple(zip(keys, values, strict=True)), len(tasks), tally(members)))
    return rows


def headline(records: Sequence[Record]) -> list[Sum]:
    """The success of each mode, as terminal, page and comparisons state it: perturbed episodes are counted apart (:func:`plain`)."""
    return [row for members in grouped(records, ("mode",)).values() for row in by(plain(members), "mode")]


def grouped(records: Sequence[Record], keys: Sequence[str]) -> dict[tuple[str, ...], list[Record]]:
    """The records that agree in some keys, by their values, in the order of first appearance."""
    readers = [pick("key to group by:", key, _READERS) for key in keys]
    levels: dict[tuple[str, str, str], str] = {}
    for record in records:
        if record.level:
            levels.setdefault(_place(record), record.level)
    table: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        # an episode that could not even be made does not know its level: it is counted where its task is
        level = record.level or levels.get(_place(record), "")
        table.setdefault(tuple(level if read is _level else read(record) for read in readers), []).append(record)
    return table


def _place(record: Record) -> tuple[str, str, str]:
    name = name_of(record)
    return name.suite, name.task, name.split


def _level(record: Record) -> str:
    return record.level


_READERS: dict[str, Callable[[Record], str]] = {
    "suite": lambda r: name_of(r).suite,
    "task": lambda r: name_of(r).task,
    "split": lambda r: name_of(r).split,
    "level": _level,
    "difficulty": lambda r: dict(name_of(r).options).get("difficulty", "default"),
    "perturbation": perturbation_of,
    "mode": lambda r: r.mode,
}


# ------------------------------------------------------------------------------------------------ planning and execution


@dataclass(frozen=True)
class FaultRow:
    """What went wrong first in the episodes in which a planner took part; ``task`` is empty in the row over all tasks."""

    suite: str
    task: str
    mode: str
    episodes: int
    successes: int
    planning: int
    execution: int
    other: int
    stages: int
    stages_right: int
    stages_exact: int | None

    @property
    def accuracy(self) -> float | None:
        """The share of sub-tasks that were right when they were given."""
        return self.stages_right / self.stages if self.stages else None

    @property
    def exact(self) -> float | None:
        """The share of sub-tasks that were right letter for letter, but for case; None where that was not noted."""
        return self.stages_exact / self.stages if self.stages and self.stages_exact is not None else None


def faults(records: Sequence[Record]) -> list[FaultRow]:
    """Planner against execution: for each mode a row over all tasks, then one for each task."""
    rows = []
    for (mode,), members in grouped(records, ("mode",)).items():
        if any(r.stages or r.fault for r in members):
            rows.append(_fault_row("", "", mode, members))
            rows += [_fault_row(suite, task, mode, part) for (suite, task), part in grouped(members, ("suite", "task")).items()]
    return rows


def _fault_row(suite: str, task: str, mode: str, members: Sequence[Record]) -> FaultRow:
    played = [r for r in members if r.outcome != "error"]
    failed = Counter(r.fault for r in played if not r.success)
    stages = [stage for r in played for stage in r.stages]
    exact = [stage.exact for stage in stages if stage.exact is not None]
    return FaultRow(
        suite, task, mode, len(played), sum(r.success for r in played), failed["planning"], failed["execution"], failed[None],
        len(stages), sum(stage.right for stage in stages), sum(exact) if len(exact) == len(stages) else None,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ errors


@dataclass(frozen=True)
class ErrorRow:
    """A message, how often it came, and some of the episodes in which it did."""

    message: str
    count: int
    examples: tuple[str, ...]


def errors(records: Sequence[Record]) -> list[ErrorRow]:
    """The errors by message, the most frequent first."""
    table: dict[str, list[str]] = {}
    for record in records:
        if record.outcome == "error":
            table.setdefault(record.error or "no message", []).append(record.episode)
    rows = [ErrorRow(message, len(names), tuple(names[:EXAMPLES])) for message, names in table.items()]
    return sorted(rows, key=lambda row: -row.count)
