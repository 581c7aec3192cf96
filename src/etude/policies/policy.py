"""What a policy and a planner are. Write a class with these methods; nothing has to be inherited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from etude.policies.contract import Contract
from etude.pose import Array

Picture = NDArray[np.uint8]
Observation = dict[str, Any]


@runtime_checkable
class Policy(Protocol):
    """Acts. The observation holds what its contract asks for, under the keys of :class:`etude.envs.env.EpisodeEnv`:

    one entry for each camera and modality (``base``, ``base_depth``, …), ``proprioception``, and ``instruction``: what is to be done now.
    That is the task's text, or the current sub-task's where a planner says what comes next. A privileged policy also gets ``simulation``.
    """

    contract: Contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins. ``pictures`` (H, W, 3) stand for ``{image:k}`` in the instruction of a multimodal policy."""

    def act(self, observation: Observation) -> Array:
        """The next action (D,), or the next few (H, D), in the space the contract names."""


@runtime_checkable
class Planner(Protocol):
    """Says in words what to do next. ``contract`` tells which pictures it wants; ``history`` holds the sub-tasks so far, oldest first."""

    contract: Contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The sub-task to work on now, as text. ``observation["vocabulary"]`` lists the sub-tasks there are words for."""
