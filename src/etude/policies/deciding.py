"""Policies for decisions that need no learning: the truth, chance, and a language model behind a chat endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from etude.decisions.trial import SILENT, Trial
from etude.names import EtudeError, rng
from etude.policies.contract import ANSWER, Contract
from etude.policies.policy import Observation, Picture
from etude.pose import Array


class KnowingPolicy:
    """Gives the right answers; with ``wrong``, another one with this probability: a subject with known faults.

    ``noise`` and ``colour_blind`` are the robot's oracle's and mean nothing here: so one text can stand for the oracle of every suite.
    """

    contract = Contract(action=ANSWER, privileged=True)

    def __init__(self, wrong: float = 0.0, noise: float = 0.0, colour_blind: bool = False) -> None:
        if not 0 <= wrong <= 1:
            raise EtudeError(f"the share of wrong answers must be from 0 to 1, got {wrong:g}")
        self._wrong = wrong

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Start the stream of this trial."""
        self._stream = rng(episode, "policy/oracle")

    def act(self, observation: Observation) -> Array:
        """The truth about this frame."""
        trial: Trial = observation["trial"]
        right = trial.answers[observation["step"]]
        if right == SILENT:
            return np.array(0)
        number = trial.choices.index(right)
        if self._stream.chance(self._wrong):
            number = self._stream.choice([k for k in range(len(trial.choices)) if k != number])
        return np.array(1 + number)


class GuessingPolicy:
    """Answers when it is time to, with any of the choices."""

    contract = Contract(action=ANSWER)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Start the stream of this trial."""
        self._stream = rng(episode, "policy/random")

    def act(self, observation: Observation) -> Array:
        """A choice by chance, or silence."""
        return np.array(1 + self._stream.integer(0, len(observation["choices"]) - 1) if observation["cue"] else 0)


class SilentPolicy:
    """Never says anything."""

    contract = Contract(action=ANSWER)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation) -> Array:
        """Silence."""
        return np.array(0)
