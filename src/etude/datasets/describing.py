"""A description of a suite or a dataset in numbers: lengths, solvers, actions, instructions, and what is covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import total
from etude.datasets.described_episodes import EpisodeFacts
from etude.names import EtudeError
from etude.perturb.tokenizer import Tokenizer, built_in, local_tokenizer, tokenizer_file

TENTHS = 10  # parts of an episode, however long it is
BINS = 20  # of the range of an action's number
CURVES, POINTS = 100, 40  # episodes of a task whose actions are drawn, and moments of each


@dataclass(frozen=True)
class Spread:
    """Some counts: how many there are, and where they lie."""

    count: int
    mean: float
    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Spread | None:
        """Of the values that there are; None where there are none."""
        known = [float(v) for v in values if v is not None]
        if not known:
            return None
        mean, median = total(known) / len(known), float(np.median(known))
        return cls(len(known), round(mean, 3), round(median, 3), min(known), max(known))

    def to_data(self) -> dict[str, float]:
        """As plain JSON data."""
        return dict(vars(self))


@dataclass(frozen=True)
class ActionSpread:
    """How diverse the actions of a task in one space are; with an empty ``task``, those of all tasks in that space. For each number: its
    range, its deviation, and its ``coverage``.

    Coverage: at each tenth of an episode, the share of twenty equal parts of the whole range in which some episode is then; on average.
    ``courses`` (E, points, A) are the actions of the first episodes of a task, each at as many moments; none where tasks are together.
    """

    task: str
    control: str
    episodes: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    deviation: tuple[float, ...]
    coverage: tuple[float, ...]
    courses: NDArray[Any] | None = field(default=None, repr=False, compare=False)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data; courses are for drawings."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in vars(self).items() if key != "courses"}


@dataclass(frozen=True)
class GroupFacts:
    """The episodes of one task, or of one level."""

    name: str
    level: str
    episodes: int
    length: Spread | None
    seconds: Spread | None
    solvers: Spread | None
    subtasks: Spread | None
    words: Spread
    tokens: Spread | None
    instructions: int
    """How many different ones."""


@dataclass(frozen=True)
class Description:
    """All of it. ``unsolved``: episodes that were left out because the oracle did not solve them; ``about``: how a dataset was made."""

    what: str
    kind: str
    tasks: tuple[GroupFacts, ...]
    levels: tuple[GroupFacts, ...]
    actions: tuple[ActionSpread, ...]
    shapes: dict[str, int]
    textures: dict[str, int]
    verbs: dict[str, int]
    unsolved: int = 0
    tokenizer: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def episodes(self) -> int:
        """How many there are."""
        return int(total(group.episodes for group in self.tasks))

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data: the form that ``etude describe --json`` promises."""

        def group(one: GroupFacts) -> dict[str, Any]:
            return {key: value.to_data() if isinstance(value, Spread) else value for key, value in vars(one).items()}

        return {
            "what": self.what, "kind": self.kind, "episodes": self.episodes, "unsolved": self.unsolved, "tokenizer": self.tokenizer or None,
            "tasks": [group(one) for one in self.tasks], "levels": [group(one) for one in self.levels],
            "actions": [one.to_data() for one in self.actions],
            "shapes": self.shapes, "textures": self.textures, "verbs": self.verbs, "about": self.about,
        }  # fmt: skip


def find_tokenizer(name: str) -> Tokenizer:
    """``built-in``, or the one in a file or folder."""
    if name == "built-in":
        return built_in()
    try:
        return local_tokenizer(tokenizer_file(Path(name)))
    except EtudeError as error:
        raise EtudeError(f"--tokenizer: {error}; or take 'built-in'") from None


def describe(
    what: str, kind: str, found: Iterable[EpisodeFacts | None], tokenizer: str = "", about: dict[str, Any] | None = None
) -> Description:
    """Count episodes; None stands for one that was not solved."""
    count = find_tokenizer(tokenizer).encode if tokenizer else None
    every, unsolved = [], 0
    for one in found:
        if one is None:
            unsolved += 1
        else:
            every.append(one)
    if not every:
        raise EtudeError(f"there is nothing to describe in {what}")
    return Description(
        what,
        kind,
        _groups(every, lambda f: (f"{f.suite}/{f.task}", f.level), count),
        _groups(every, lambda f: (f"{f.suite} {f.level}", f.level), count),
        tuple(_spreads(every)),
        _counted(name for f in every for name in f.shapes),
        _counted(name for f in every for name in f.textures),
        _counted(verb for f in every for verb in f.verbs),
        unsolved,
        tokenizer,
        about or {},
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _groups(
    every: Sequence[EpisodeFacts], key: Callable[[EpisodeFacts], tuple[str, str]], count: Callable[[str], list[int]] | None
) -> tuple[GroupFacts, ...]:
    table: dict[tuple[str, str], list[EpisodeFacts]] = {}
    for one in every:
        table.setdefault(key(one), []).append(one)
    rows = []
    for (name, level), members in table.items():
        words = Spread.of(len(f.instruction.split()) for f in members)
        assert words is not None
        rows.append(
            GroupFacts(
                name,
                level,
                len(members),
                Spread.of(f.length for f in members),
                Spread.of(f.seconds for f in members),
                Spread.of(f.solvers for f in members),
                Spread.of(f.subtasks for f in members),
                words,
                Spread.of(len(count(f.instruction)) for f in members) if count else None,
                len({f.instruction for f in members}),
            )
        )
    return tuple(rows)


def _spreads(every: Sequence[EpisodeFacts]) -> Iterable[ActionSpread]:
    """Of all tasks that act in a space together, where there are several, and of each."""
    spaces: dict[tuple[str, int], dict[str, list[NDArray[Any]]]] = {}
    for one in every:
        if one.actions is not None and len(one.actions):
            actions = np.asarray(one.actions, float)
            if one.control == "ee_delta":  # as the simulation takes them
                actions = np.clip(actions, -1.0, 1.0)
            spaces.setdefault((one.control, actions.shape[1]), {}).setdefault(f"{one.suite}/{one.task}", []).append(actions)
    for (control, _), tasks in spaces.items():
        if len(tasks) > 1:
            yield _spread("", control, [actions for episodes in tasks.values() for actions in episodes])
        for task, episodes in tasks.items():
            courses = np.stack([_course(actions) for actions in episodes[:CURVES]])
            yield replace(_spread(task, control, episodes), courses=courses)


def _spread(task: str, control: str, episodes: Sequence[NDArray[Any]]) -> ActionSpread:
    whole = np.vstack(episodes)
    low, high = whole.min(0), whole.max(0)
    rows = (low, high, whole.std(0), _coverage(episodes, low, high))
    least, most, deviation, coverage = (tuple(round(float(v), 4) for v in row) for row in rows)
    return ActionSpread(task, control, len(episodes), least, most, deviation, coverage)


def _course(actions: NDArray[Any]) -> NDArray[Any]:
    """Of an episode (N, A), the actions at as many moments (points, A), from the first to the last."""
    return np.asarray(actions[np.linspace(0, len(actions) - 1, POINTS).round().astype(int)])


def _coverage(episodes: Sequence[NDArray[Any]], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """(A,) for each number of an action."""
    visited = np.zeros((TENTHS, len(low), BINS), bool)
    span = np.where(high > low, high - low, 1.0)
    for actions in episodes:
        tenths = np.arange(len(actions)) * TENTHS // len(actions)
        bins = np.minimum(BINS - 1, ((actions - low) / span * BINS).astype(int))
        visited[tenths[:, None], np.arange(len(low)), bins] = True
    seen = visited.any((1, 2))  # an episode of two actions has no third tenth
    return np.asarray(visited[seen].mean((0, 2)))
