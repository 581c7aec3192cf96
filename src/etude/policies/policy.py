"""What a policy and a planner are: what they must have (:class:`Policy`, :class:`Planner`), and what they may have (all the others).

Write a class with these methods; nothing has to be inherited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    That is the task's text, or the current sub-task's where a planner says what comes next. A privileged policy also gets ``simulation``,
    and ``subtask``, what the words of a planner stand for (a :class:`~etude.skills.subtasks.CurrentSubtask`).
    """

    contract: Contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins: forget what was before. ``pictures`` (H, W, 3) stand for ``{image:k}`` in the instruction of a
        multimodal policy. Some modes of evaluation call it within an episode too, with the text of the next sub-task."""

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


# ------------------------------------------------------------------------------------------------ what a policy may have


@runtime_checkable
class SpeakingPolicy(Protocol):
    """Says what it is doing: videos and datasets show it."""

    @property
    def words(self) -> tuple[str, str]:
        """Sub-task and step of the latest action."""


@runtime_checkable
class DescribedPolicy(Protocol):
    """Says what it is made of beyond its code, such as the digest of its weights and what computes them: runs keep it, and results of
    different ones are not mixed."""

    @property
    def about(self) -> Mapping[str, str]:
        """Each by its name."""


@runtime_checkable
class RemarkingPolicy(Protocol):
    """Has a note on each of its answers to a decision, such as what a model said in full."""

    @property
    def remarks(self) -> Sequence[str]:
        """One text for each answer; empty where there is nothing to say."""


@runtime_checkable
class TakingOverPolicy(Protocol):
    """Lets another act first: only what follows is recorded as a demonstration."""

    @property
    def taken(self) -> int | None:
        """The number of actions of the other; None while it has not taken over."""


@runtime_checkable
class BatchPolicy(Protocol):
    """Answers several clients of a server in one call. Its ``reset`` and ``act`` are not called there.

    It keeps what it remembers by session: a small number, one for each open connection, used again after its end.
    """

    def act_batch(self, observations: list[Observation], sessions: list[int]) -> list[Array]:
        """The actions (H, D) or (D,) for each observation; ``sessions`` says whose each is."""


@runtime_checkable
class SessionPolicy(Protocol):
    """A :class:`BatchPolicy` that is told when an episode begins; without this it is taken to remember nothing."""

    def reset_session(self, session: int, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins in this session."""


@runtime_checkable
class RememberingPolicy(Protocol):
    """Puts aside what it remembers of an episode and goes on from it: with a state of the simulation, from any step again."""

    def save(self) -> Any:
        """All that is remembered of the episode; what is done afterwards does not change it."""

    def restore(self, memory: Any) -> None:
        """Go on from what was remembered."""


@runtime_checkable
class ForkingPolicy(Protocol):
    """Makes another of itself on the same weights, for one more client of a server; others are copied."""

    def new_session(self) -> Policy:
        """Another policy, or itself if it remembers nothing."""


# ------------------------------------------------------------------------------------------------ what a planner may have


@runtime_checkable
class AdaptingPlanner(Protocol):
    """Takes the cameras it finds: its contract depends on them."""

    def contract_for(self, cameras: Sequence[str]) -> Contract:
        """The contract where there are these cameras."""


@runtime_checkable
class StrictPlanner(Protocol):
    """Wants its answers taken letter for letter."""

    @property
    def strict(self) -> bool:
        """Whether it does."""


@runtime_checkable
class QuotingPlanner(Protocol):
    """Remembers what its model said in full, where ``next_subtask`` gives what was understood of it."""

    @property
    def last_answer(self) -> str:
        """The latest answer as it came."""
