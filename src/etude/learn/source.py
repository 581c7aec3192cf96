"""Where samples come from: names of a suite's training split, and what is learned of each."""

from __future__ import annotations

import functools
import math
from bisect import bisect
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from etude.library import find_task, tasks
from etude.names import SPARSE, EpisodeName, EtudeError, pick, rng, unknown
from etude.suites.suite import SUITES

TRAINING = ("train",)  # splits that are for training
HELD_OUT = 1 << 20  # the seed of a stream that nobody trains on
SEEDS = 1 << 31  # every seed of a stream has so many numbers for episodes of its own


def refuse_tests(name: str) -> None:
    """Raise if a name is not for training."""
    parsed = EpisodeName.parse(name)
    find_task(parsed)
    if parsed.split not in TRAINING:
        raise EtudeError(f"{name} is for testing: a stream of demonstrations takes episodes of the split {TRAINING[0]!r} alone")


@dataclass(frozen=True)
class SampleSource:
    """Which episodes: of a suite's training split, of some tasks or all that have it, each as often as the others.

    ``weights`` makes tasks more frequent: (("twist", 2.0), …).
    """

    suite: str
    tasks: tuple[str, ...] = ()
    split: str = "train"
    seed: int = 0
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if self.split not in TRAINING:
            raise EtudeError(f"a stream takes the training split alone, {TRAINING[0]!r}; {self.split!r} is for testing")
        if not 0 <= self.seed <= HELD_OUT:
            raise EtudeError(f"a stream's seed is a whole number from 0 to {HELD_OUT - 1}, got {self.seed}")
        chosen = self.chosen()
        for task, weight in self.weights:
            if task not in chosen:
                raise unknown("task with a weight", task, chosen)
            if not weight > 0:
                raise EtudeError(f"the weight of {task} must be positive, got {weight:g}")

    @property
    def count(self) -> int | None:
        """How many episodes there are; None: without end."""
        return None

    def held_out(self) -> Self:
        """Episodes of the same tasks that no stream for training has."""
        return replace(self, seed=HELD_OUT)

    def chosen(self) -> tuple[str, ...]:
        """The tasks, in the suite's order."""
        known = tasks(self.suite)
        able = tuple(name for name, task in known.items() if self.split in task.splits)
        for name in self.tasks:
            if name not in able:
                raise unknown(f"task of {self.suite}@{self.split}", name, able)
        return tuple(name for name in able if name in self.tasks) if self.tasks else able

    def name(self, number: int) -> str:
        """The name of the k-th episode: tasks are drawn, seeds are counted."""
        chosen, upto = _shares(self)
        task = bisect(upto, rng(f"stream/{self.seed}", str(number)).uniform(0.0, upto[-1]))
        return f"{self.suite}/{chosen[min(task, len(chosen) - 1)]}@{self.split}#{self.seed * SEEDS + number}"

    def names(self, count: int) -> list[str]:
        """The names of the first so many that are learned from."""
        return [self.name(k) for k in range(count)]

    def refuse_misfits(self) -> None:
        """Raise if a task has episodes that cannot be learned from; by its own nature a source has none."""

    @property
    def room(self) -> int:
        """Bytes that a sample takes at most."""
        raise NotImplementedError

    @property
    def ahead(self) -> int:
        """Samples that a process may have ready before it waits."""
        return 8

    def packed(self, number: int) -> bytes:
        """What is learned of the k-th episode, as bytes; none where it is left out."""
        raise NotImplementedError

    def unpacked(self, data: bytes | memoryview) -> Any:
        """The sample of these bytes."""
        raise NotImplementedError


@functools.lru_cache(maxsize=8)
def _shares(source: SampleSource) -> tuple[tuple[str, ...], list[float]]:
    """The tasks of a source, and up to where each is drawn: names are asked for thousands of times a second."""
    chosen, weights = source.chosen(), dict(source.weights)
    return chosen, list(accumulate(weights.get(task, 1.0) for task in chosen))


@dataclass(frozen=True)
class ListedSource(SampleSource):
    """The same, or a list. ``plan``: the episodes of this list of the suite's, each once, instead of any number."""

    plan: str = field(default="", metadata=SPARSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.listed:
            refuse_tests(name)

    @property
    def listed(self) -> tuple[str, ...]:
        """The episodes of the plan: the first of every task, then the second of each, so that a part of them has something of all."""
        return _listed(self.suite, self.plan, self.tasks) if self.plan else ()

    @property
    def count(self) -> int | None:
        """How many there are; None: without end."""
        return len(self.listed) if self.plan else None

    def chosen(self) -> tuple[str, ...]:
        """The tasks, in the suite's order."""
        of_plan = {EpisodeName.parse(name).task for name in self.listed}
        return tuple(task for task in super().chosen() if not self.plan or task in of_plan)

    def held_out(self) -> Self:
        """Episodes of the same tasks that neither a stream for training nor a plan has."""
        return replace(super().held_out(), tasks=self.chosen(), plan="")

    def name(self, number: int) -> str:
        """The name of the k-th episode."""
        return self.listed[number] if self.plan else super().name(number)


@functools.lru_cache(maxsize=8)
def _listed(suite: str, plan: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
    turns: dict[str, int] = {}
    found: list[tuple[int, str]] = []
    for name in pick(f"plan of {suite}", plan, SUITES[suite].plans)():
        task = EpisodeName.parse(name).task
        if not chosen or task in chosen:
            turns[task] = turns.get(task, 0) + 1
            found.append((turns[task], name))
    return tuple(name for _, name in sorted(found, key=lambda one: one[0]))


def training_plan(suite: str) -> str:
    """The first of a suite's lists that are for training; none: "" stands for all its episodes."""
    found = SUITES[suite]
    splits = {plan: {found.splits[EpisodeName.parse(name).split] for name in names()} for plan, names in found.plans.items()}
    return next((plan for plan, purposes in splits.items() if purposes == {"training"}), "")


def start_noise(episode: str, *shape: int) -> NDArray[np.float32]:
    """What a policy that samples its actions begins from: drawn by the episode's name."""
    stream = rng(EpisodeName.parse(episode), "learned/start")
    return np.array([stream.normal() for _ in range(math.prod(shape))], np.float32).reshape(shape)
