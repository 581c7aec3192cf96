"""Policies that need no learning: the oracle, chance, and doing nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from etude.envs.simulation import Simulation
from etude.names import pick, rng
from etude.pose import Array
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle


class Policy(Protocol):
    """Acts in a simulation. ``words`` are the sub-task and the step of the latest action, where the policy knows them."""

    words: tuple[str, str]

    def reset(self, simulation: Simulation) -> None:
        """A new episode begins."""

    def act(self, simulation: Simulation) -> Array:
        """The next action, in the episode's action space."""


class OraclePolicy:
    """Solves episodes with the true state (see :class:`etude.skills.oracle.Oracle`)."""

    def __init__(self) -> None:
        self.words = ("", "")

    def reset(self, simulation: Simulation) -> None:
        """Look at the new episode."""
        self._oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)

    def act(self, simulation: Simulation) -> Array:
        """The oracle's aim as an action of the episode's space."""
        aim = self._oracle.aim()
        self.words = (aim.task, aim.step)
        return _converted(delta_action(aim, simulation.monitor.watch.tip), simulation)


def _converted(delta: Array, simulation: Simulation) -> Array:
    """An ``ee_delta`` action (7,) in the episode's own space."""
    if simulation.episode.control == "ee_delta":
        return delta
    target = simulation.robot.delta_target(delta[:6])
    if simulation.episode.control == "joint":
        return np.append(target, delta[6])
    pose = simulation.robot.pose_of(target)
    return np.concatenate([pose.position, pose.rotation, delta[6:]])


class RandomPolicy:
    """Draws every action uniformly from its space, from a stream of the episode's own."""

    def __init__(self) -> None:
        self.words = ("", "Act at random")

    def reset(self, simulation: Simulation) -> None:
        """Start the stream of this episode."""
        self._stream = rng(simulation.episode.parsed, "policy/random")

    def act(self, simulation: Simulation) -> Array:
        """Uniform in [−1, 1] for each number; poses and joints near where they are."""
        return _converted(self._stream.uniforms(-1.0, 1.0, 7), simulation)


class NoopPolicy:
    """Keeps still, the hand as it is."""

    def __init__(self) -> None:
        self.words = ("", "Do nothing")

    def reset(self, simulation: Simulation) -> None:
        """Nothing to prepare."""

    def act(self, simulation: Simulation) -> Array:
        """Stay."""
        hand = [1.0 if simulation.robot.closed else -1.0]
        if simulation.episode.control == "ee_delta":
            return np.array([0.0] * 6 + hand)
        if simulation.episode.control == "joint":
            return np.append(simulation.robot.joints(), hand)
        tip = simulation.robot.tip()
        return np.array([*tip.position, *tip.rotation, *hand])


POLICIES: dict[str, Callable[[], Policy]] = {"oracle": OraclePolicy, "random": RandomPolicy, "noop": NoopPolicy}


def policy(name: str) -> Policy:
    """A policy by name."""
    return pick("policy", name, POLICIES)()
