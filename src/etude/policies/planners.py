"""Planners that need no language model: two follow the goal's order, one looks at the true state."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.names import EtudeError, rng
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.skills.subtasks import describe, leaves, right_now


def _in_order(episode: Episode) -> list[str]:
    """The sub-tasks of an episode's goal."""
    return [describe(leaf, episode.scene) for leaf in leaves(episode.goal)]


class OrderPlanner:
    """Gives the sub-tasks of the goal in their order, the next one whenever it is asked, and after the last the first again.

    Asked when the hand has changed, it is the rule-based planner of RoboHiMan.
    """

    contract = Contract(privileged=True)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._asked = 0

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The next sub-task in order; units next to each other with the same words are one."""
        simulation: Simulation = observation["simulation"]
        order = [text for text, _ in groupby(_in_order(simulation.episode))]
        self._asked += 1
        return order[(self._asked - 1) % len(order)]


class RulePlanner:
    """Gives the sub-tasks of the goal in their order, the next one as soon as the last is done; what comes undone later is not repaired.

    This is the rule-based planner of RoboHiMan, with the true end of a sub-task in place of a change of the gripper.
    """

    contract = Contract(privileged=True)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._next = 0

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The first sub-task in order that has not been done yet."""
        simulation: Simulation = observation["simulation"]
        order = _in_order(simulation.episode)
        open_now = right_now(simulation.monitor)
        while self._next < len(order) - 1 and order[self._next] not in open_now:
            self._next += 1
        return order[self._next]


class OraclePlanner:
    """Says what is right by the true state. With ``wrong``, it says something else with this probability: a planner with known faults."""

    contract = Contract(privileged=True)

    def __init__(self, wrong: float = 0.0) -> None:
        if not 0 <= wrong <= 1:
            raise EtudeError(f"the share of wrong sub-tasks must be from 0 to 1, got {wrong:g}")
        self._wrong = wrong

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._stream = rng(episode, "planner/oracle")

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """A sub-task that is right now, or a wrong one."""
        simulation: Simulation = observation["simulation"]
        right = list(right_now(simulation.monitor))
        vocabulary: tuple[str, ...] = observation["vocabulary"]
        others = [v for v in vocabulary if v not in right]
        if others and self._stream.chance(self._wrong):
            return self._stream.choice(others)
        return right[0] if right else "Done"
