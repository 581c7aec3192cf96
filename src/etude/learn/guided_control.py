"""Closed-loop control that is told by sub-tasks, as a planner would, or by the whole task: what is learned from, and what is heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.simulation import Simulation
from etude.learn.control import ControlDemonstration, ControlEncoder, ControlSource, Shaking, demonstrated, plain_source, prompt_arrays_of
from etude.learn.keyposes import NO_WORD
from etude.learn.packing import arrays_in
from etude.learn.source import ListedSource, training_plan
from etude.library import episode
from etude.names import EtudeError
from etude.policies.halves import Arrays
from etude.policies.policy import Observation
from etude.skills.subtasks import right_now
from etude.suites.suite import SUITES

VIEWS = 2


@dataclass(frozen=True, eq=False)
class GuidedDemonstration(ControlDemonstration):
    """``sentences`` int16 (N, L, 2): the task's words, then those of its sub-tasks, −1 where there are no more; ``subtasks`` int16 (T,):
    which of them is worked on at a step."""

    sentences: NDArray[np.int16]
    subtasks: NDArray[np.int16]


@dataclass(frozen=True)
class GuidedSource(ListedSource, ControlSource):
    """The same episodes, all told in text, with the sub-task at every step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.told != "text":
            raise EtudeError(f"sub-tasks are told in text, got data.source.told={self.told}; expected text")

    def sample(self, number: int) -> GuidedDemonstration | None:
        """The demonstration of the k-th episode, or None where the hand was shaken too much."""
        name = self.name(number)
        found = _demonstrated_subtasks(name, self)
        if found is None and self.plan:  # a list is learned from whole
            return _demonstrated_subtasks(name, replace(self, shaking=Shaking(0.0)))
        return found

    def unpacked(self, data: bytes | memoryview) -> GuidedDemonstration:
        """The demonstration of these bytes."""
        return GuidedDemonstration(*arrays_in(data))


def plain_guided_source(suite: str) -> GuidedSource:
    """The first of a suite's lists for training, or all its episodes. Joints are told where to be, where demonstrations are keyposes."""
    plain, control = plain_source(suite, VIEWS), SUITES[suite].control
    action = "joint" if control == "keypose" else plain.action
    return GuidedSource(suite, cameras=plain.cameras, told="text", action=action, joints=plain.joints, plan=training_plan(suite))


def _demonstrated_subtasks(name: str, source: GuidedSource) -> GuidedDemonstration | None:
    task = episode(name).instruction.text
    sentences = {task: 0}
    subtasks: list[int] = []

    def note(simulation: Simulation) -> None:
        subtasks.append(sentences.setdefault(next(iter(right_now(simulation.monitor)), task), len(sentences)))

    found = demonstrated(name, source, noted=note)
    if found is None:
        return None
    words = [prompt_arrays_of(text, (), source.size)["words"] for text in sentences]
    rows = np.full((len(words), max(len(one) for one in words), 2), NO_WORD, np.int16)
    for row, one in zip(rows, words, strict=True):
        row[: len(one)] = one
    return GuidedDemonstration(**vars(found), sentences=rows, subtasks=np.array(subtasks, np.int16))


class GuidedEncoder(ControlEncoder):
    """Hears what is to be done with every observation. When that is something else than before, the episode begins anew for the model."""

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins."""
        self._heard, self._episode = instruction, episode
        return super().told(instruction, pictures, episode)

    def saw(self, observation: Observation) -> Arrays:
        """``frames`` and ``felt``, and what is told where it is new."""
        found = super().saw(observation)
        if observation["instruction"] != self._heard:
            found |= self.told(observation["instruction"], (), self._episode)
        return found
