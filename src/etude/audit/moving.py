"""Cheats that move: policies that cannot do what a task is about, played with physics. What they reach is not the task's ability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from etude.audit.cheats import cheat
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, Episode
from etude.evaluation.play import Players, Rollout, attempted
from etude.evaluation.record import Record
from etude.goals.contact import Untouched
from etude.goals.goal import Always, every
from etude.goals.tip import TipAtPose, TipAtPosition
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.policies.scripted import converted, idle
from etude.pose import Array, Pose
from etude.skills.aim import Aim, delta_action

EASY = 0.1  # how often a cheat that moves may succeed where there is nothing to choose


class MovingCheat:
    """A policy that sees the true state but does only one thing. ``lesson`` is what it learnt about the task, once for all episodes."""

    contract = Contract(privileged=True)

    def __init__(self, lesson: Sequence[Array] = ()) -> None:
        self.lesson = lesson

    @staticmethod
    def applies(episode: Episode) -> bool:
        """Is this an episode it could be a cheat in?"""
        return True

    @staticmethod
    def learn(name: str) -> Sequence[Array]:
        """What can be learnt from an episode of the task that is never played otherwise."""
        return ()

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""

    def act(self, observation: Observation) -> Array:
        """The next action."""
        simulation: Simulation = observation["simulation"]
        if simulation.episode.control in PRIMITIVES:
            return idle(simulation)
        return converted(self.delta(simulation), simulation)

    def delta(self, simulation: Simulation) -> Array:
        """The next action as ``ee_delta`` (7,)."""
        raise NotImplementedError


@cheat("straight line", sees="the goal, nothing that is in the way")
class StraightLine(MovingCheat):
    """Goes straight to where the hand shall be, through whatever must not be touched."""

    @staticmethod
    def applies(episode: Episode) -> bool:
        return bool(_tips(episode)) and bool(every(episode.goal, Always) or every(episode.goal, Untouched))

    def delta(self, simulation: Simulation) -> Array:
        tip = simulation.monitor.watch.tip
        goal = _tips(simulation.episode)[-1]
        to = goal.pose if isinstance(goal, TipAtPose) else Pose(goal.position, tip.rotation)
        return delta_action(Aim(to, simulation.robot.closed), tip)


@cheat("drop at once", sees="nothing")
class DropAtOnce(MovingCheat):
    """Lets go of what is in the hand, and waits."""

    @staticmethod
    def applies(episode: Episode) -> bool:
        return bool(episode.held)

    def delta(self, simulation: Simulation) -> Array:
        return np.array([0.0] * 6 + [-1.0])


@cheat("still", sees="nothing")
class StandStill(MovingCheat):
    """Does nothing at all."""

    def delta(self, simulation: Simulation) -> Array:
        return np.array([0.0] * 6 + [1.0 if simulation.robot.closed else -1.0])


@cheat("by heart", sees="nothing: what solved another episode")
class ByHeart(MovingCheat):
    """Moves as the oracle moved in another episode of the task, whatever is on the table."""

    @staticmethod
    def learn(name: str) -> Sequence[Array]:
        try:
            rollout = Rollout(Players("oracle"), name)
            rollout.record  # noqa: B018  (plays it)
        except EtudeError:
            return ()
        return tuple(rollout.trajectory.actions)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        self._actions = list(self.lesson)

    def act(self, observation: Observation) -> Array:
        simulation: Simulation = observation["simulation"]
        if self._actions and len(self._actions[0]) == simulation.action_size:
            return self._actions.pop(0)
        return super().act(observation)

    def delta(self, simulation: Simulation) -> Array:
        return np.array([0.0] * 6 + [1.0 if simulation.robot.closed else -1.0])


def _tips(episode: Episode) -> list[TipAtPose | TipAtPosition]:
    return [*every(episode.goal, TipAtPose), *every(episode.goal, TipAtPosition)]


def played(policy: object, name: str) -> Record:
    """One episode, played by a cheat or by the policy of this name."""
    record, _ = attempted(Players(policy), name, "vanilla")  # type: ignore[arg-type]
    return record
