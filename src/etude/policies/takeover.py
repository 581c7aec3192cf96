"""The oracle takes over from another policy: demonstrations that begin in states which that policy reached, as DAgger wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from etude.envs.actions import numbers
from etude.envs.simulation import Simulation
from etude.names import EpisodeName, EtudeError, rng
from etude.policies.policy import Observation, Picture, Policy, SpeakingPolicy
from etude.policies.scripted import OraclePolicy
from etude.pose import Array


class Takeover:
    """Before every action the oracle takes over for good with probability ``chance``; until then ``first`` acts, one action at a time.

    ``taken`` is the number of actions before that, None while it has not happened.
    """

    def __init__(self, first: Policy, chance: float) -> None:
        if not 0.0 < chance <= 1.0:
            raise EtudeError(f"the chance of a takeover must be above 0 and at most 1, got {chance:g}")
        self._first, self._chance = first, chance
        self._oracle = OraclePolicy(action=first.contract.action)
        self.contract = replace(first.contract, privileged=True, chunk=1, execute=1)
        self.words = ("", "")

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self.taken: int | None = None
        self._stream = rng(EpisodeName.parse(episode), "policy/takeover")
        self._first.reset(instruction, pictures, episode)
        self._oracle.reset(instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next action, of the one whose turn it is."""
        simulation: Simulation = observation["simulation"]
        if self.taken is None and self._stream.uniform(0.0, 1.0) < self._chance:
            self.taken = simulation.steps
        if self.taken is None:
            seen = observation if self._first.contract.privileged else {k: v for k, v in observation.items() if k != "simulation"}
            given = numbers(self._first.act(seen), "what the policy gave", "an action, as numbers")
            if given.ndim not in (1, 2) or not len(given):
                raise EtudeError(f"the policy gave actions of shape {given.shape}; expected (n, D) or (D,)")
            self.words = self._first.words if isinstance(self._first, SpeakingPolicy) else ("", "")
            return np.asarray(given if given.ndim == 1 else given[0])
        action = self._oracle.act(observation)
        self.words = self._oracle.words
        return action
