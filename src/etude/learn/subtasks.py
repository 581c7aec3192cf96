"""Sub-tasks to learn to name, as plain arrays: frames of a demonstration, what could be said in the episode, and what was right.

An episode is one sample: the questions about it are those that the mode ``offline`` asks, and one more wherever a sub-task begins, when a
planner is asked that somebody follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.questions import demonstrated_stages
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.evaluation.guide import Position
from etude.learn.keyposes import LONGEST_SENTENCE, sentence_array
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.source import SEEDS, ListedSource, refuse_tests, training_plan
from etude.library import episode, tasks
from etude.names import EtudeError
from etude.policies.contract import Contract, refuse_mismatches
from etude.policies.halves import Arrays
from etude.policies.policy import Observation
from etude.skills.subtasks import LONGEST, right_now, vocabulary
from etude.suites.suite import SUITES

NOTHING_SAID = -1
STAGES = 32  # sub-tasks that an episode may have, where room is made for samples
HISTORY = "history"  # in an observation: the sub-tasks so far


@dataclass(frozen=True, eq=False)
class AskedFrames:
    """Q questions about an episode. ``frames`` uint8 (Q, V, S, S, 3); ``sentences`` int16 (1 + C, 64, 2): buckets of the words of the
    instruction, then of everything that could be said, −1 where there are no more. Of what could be said, ``last`` int16 (Q,) is the
    sub-task before, −1 for none, ``now`` int16 (Q,) the one that is worked on; ``right`` bool (Q, C): all that would be right."""

    frames: NDArray[np.uint8]
    sentences: NDArray[np.int16]
    last: NDArray[np.int16]
    now: NDArray[np.int16]
    right: NDArray[np.bool_]


@dataclass(frozen=True)
class SubtaskSource(ListedSource):
    """Which episodes, seen by which ``cameras`` in square pictures of ``size`` pixels; asked about ``every`` so many control steps."""

    cameras: tuple[str, ...] = ()
    size: int = 128
    every: int = 10  # RoboHiMan C.1

    def __post_init__(self) -> None:
        if not self.cameras:
            raise EtudeError("a planner needs at least one camera in data.source.cameras")
        if self.every < 1:
            raise EtudeError(f"data.source.every must be at least 1 control step, got {self.every}")
        super().__post_init__()

    @property
    def contract(self) -> Contract:
        """What a planner asks for that has learned from it."""
        return Contract(cameras=self.cameras, size=(self.size, self.size), told="text")

    def refuse_misfits(self) -> None:
        """Raise if a task has episodes that cannot be seen like this."""
        names = [f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS}" for task in self.chosen()]
        refuse_mismatches(self.contract, [episode(name) for name in names])

    @property
    def room(self) -> int:
        """Bytes that the questions about an episode take at most."""
        longest = max(max(task.budget, task.horizon) for name, task in tasks(self.suite).items() if name in self.chosen())
        asked = longest // self.every + STAGES
        return asked * (3 * len(self.cameras) * self.size**2 + 2 * LONGEST) + LONGEST * LONGEST_SENTENCE * 4

    def packed(self, number: int) -> bytes:
        """The questions about the k-th episode."""
        return in_a_row(vars(asked_frames(self.name(number), self)).values())

    def unpacked(self, data: bytes | memoryview) -> AskedFrames:
        """The questions of these bytes."""
        return AskedFrames(*arrays_in(data))


def plain_subtask_source(suite: str) -> SubtaskSource:
    """The first of a suite's lists that are for training, or all its episodes."""
    return SubtaskSource(suite, plan=training_plan(suite), cameras=SUITES[suite].two_views())


def asked_frames(name: str, source: SubtaskSource) -> AskedFrames:
    """Play an episode with the oracle, and ask. One that it does not solve is no demonstration."""
    refuse_tests(name)
    found = episode(name)
    simulation = Simulation(found.under("ee_delta"))
    observer = Observer(simulation, source.cameras, (source.size, source.size), ("rgb",))
    said = sorted(vocabulary(found))
    frames, last, now, right = [], [], [], []
    before: Position | None = None
    for here in demonstrated_stages(simulation):
        if here != before or simulation.steps % source.every == 0:
            frames.append(_frames(observer.look(), source))
            last.append(said.index(here.earlier[-1]) if here.earlier else NOTHING_SAID)
            now.append(said.index(here.text))
            good = right_now(simulation.monitor)
            right.append([text in good for text in said])
        before = here
    if not simulation.status.satisfied:
        raise EtudeError(f"{name}: the oracle does not solve it")
    sentences = _sentences(found.instruction.text, said)
    return AskedFrames(np.stack(frames), sentences, np.array(last, np.int16), np.array(now, np.int16), np.array(right))


def _frames(observation: Mapping[str, Any], source: SubtaskSource) -> NDArray[np.uint8]:
    return np.stack([observation[camera] for camera in source.cameras])


def _sentences(instruction: str, said: Sequence[str]) -> NDArray[np.int16]:
    return np.stack([sentence_array(text) for text in (instruction, *said)])


class PlannerEncoder:
    """Makes questions ready for a learned planner. Everything comes with every question, and nothing is remembered."""

    def __init__(self, recipe: Any, contract: Contract) -> None:
        self.contract = contract
        self._source: SubtaskSource = recipe.data.source

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins."""
        return {}

    def saw(self, observation: Observation) -> Arrays:
        """``frames`` (V, S, S, 3), ``sentences`` (1 + C, 64, 2) and ``last`` (1,) as of a sample."""
        said, history = list(observation["vocabulary"]), observation[HISTORY]
        last = said.index(history[-1]) if history and history[-1] in said else NOTHING_SAID
        sentences = _sentences(observation["instruction"], said)
        return {"frames": _frames(observation, self._source), "sentences": sentences, "last": np.array([last], np.int16)}
