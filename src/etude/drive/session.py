"""A person's way through episodes: one is driven at a time, step by step, and what is kept of it is handed over."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from etude.drive.steering import Leash, Steering
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.repeating import with_robot_seen
from etude.evaluation.view import PERIOD, Viewing, sees_robot
from etude.library import find, read_episode
from etude.names import EtudeError, json_text, legible, parse_json

_log = logging.getLogger(__name__)
CONTROL: Final = "ee_delta"
State = Literal["ready", "driving", "paused", "success", "failure"]


@dataclass(frozen=True, eq=False)
class DrivenEpisode:
    """What a person did in an episode, which is in the action space of ``actions`` (N, 7). ``solved``: it ended in success."""

    episode: Episode
    actions: NDArray[np.float32]
    policy: str
    solved: bool
    command: str = ""

    def to_json(self) -> str:
        """As text, exactly."""
        told = {"policy": self.policy, "solved": self.solved, "command": self.command, "actions": self.actions.astype(float).tolist()}
        return json_text({"episode": json.loads(self.episode.to_json()), **told})

    @classmethod
    def from_json(cls, text: str) -> DrivenEpisode:
        """From its text."""
        match parse_json(text):
            case {"episode": dict(episode), "actions": [*actions], "policy": str(policy), "solved": bool(solved), "command": str(command)}:
                return cls(read_episode(json.dumps(episode)), np.array(actions, np.float32), policy, solved, command)
        raise EtudeError(f"{legible(text[:60])} is not an episode that was driven")


def drivable(name: str) -> Episode:
    """The episode of this name in the action space in which people drive."""
    episode = find(name)
    if not isinstance(episode, Episode):
        raise EtudeError(f"{name} is a decision, without a robot to drive; 'etude study' has people answer")
    if episode.scene.robot is None:
        raise EtudeError(f"{name} has no robot to drive")
    return episode.under(CONTROL)


class DrivingSession:
    """Episodes by ``names``, and the one that is driven now. ``keep`` takes what is kept, ``failures`` says that it need not be solved.

    People are slower than policies: they have ``time`` times an episode's horizon. ``done`` are names that are not to be driven again.
    """

    def __init__(
        self,
        names: Sequence[str],
        keep: Callable[[DrivenEpisode], None],
        policy: str = "human",
        failures: bool = False,
        time: float = 1.0,
        done: Collection[str] = (),
        command: str = "",
    ) -> None:
        self.names, self.failures, self._time = tuple(names), failures, time
        self._keep, self._policy, self._command = keep, policy, command
        self.done = {name for name in names if name in done}
        self.start = 0  # how often an episode has begun: what is said about an earlier one is not about this
        self.number = next((k for k, name in enumerate(names) if name not in self.done), 0)
        self.load(self.number)

    def load(self, number: int) -> None:
        """Begin the episode with this number, from the start; refused, with all as it was, where it cannot be made."""
        episode = drivable(self.names[number])
        simulation = Simulation(with_robot_seen(episode))
        self.number, self.episode, self._simulation = number, episode, simulation
        self.start += 1
        simulation.granted = round(episode.horizon * (self._time - 1))
        self._viewing = Viewing(sees_robot(episode))
        note = self._viewing.begin(simulation)
        simulation.heartbeat = lambda: note(("", ""))
        self._leash = Leash(simulation.robot.tip())
        self._actions: list[NDArray[np.float32]] = []
        self._changes = self._viewing.changes()
        self.state: State = "ready"

    @property
    def simulation(self) -> Simulation:
        """The running episode."""
        return self._simulation

    @property
    def closed(self) -> bool:
        """Is the hand told to close?"""
        return self._simulation.robot.closed

    # ---------------------------------------------------------------------------------------- driving

    def steer(self, steering: Steering) -> None:
        """Begin with the first thing that is held down: before it, time stands still."""
        if self.state == "ready" and (not steering.idle or steering.closed != self.closed):
            self.state = "driving"

    def pause(self, paused: bool) -> None:
        """Let time stand still, or go on."""
        if self.state in ("driving", "paused"):
            self.state = "paused" if paused else "driving"

    def step(self, steering: Steering) -> None:
        """One control step, if it is being driven."""
        if self.state != "driving":
            return
        simulation = self._simulation
        action = self._leash.action(steering, simulation.robot.tip())
        simulation.step(action)
        self._actions.append(action)
        if simulation.status.satisfied:
            self.state = "success"
        elif simulation.over:
            self.state = "failure"

    # ---------------------------------------------------------------------------------------- what becomes of it

    def keep(self) -> None:
        """Keep what was driven, and go to the next episode; after the last, begin that again."""
        if self.state != "success":
            if not self.failures:
                raise EtudeError("only what succeeds is kept; start with --keep-failures to keep the rest too")
            if not self._actions:
                raise EtudeError("nothing has been driven yet")
        self._keep(DrivenEpisode(self.episode, np.array(self._actions), self._policy, self.state == "success", self._command))
        self.done.add(self.names[self.number])
        self.state = "ready"  # it is kept, once
        self.go(1)

    def again(self) -> None:
        """Throw away what was driven, and begin the episode again."""
        self.load(self.number)

    def go(self, step: int) -> None:
        """To the next episode that can be made, or to the one before; at the end, this one begins again. A success is kept or thrown away
        first."""
        if self.state == "success":
            raise EtudeError("keep this one, or throw it away, before you go on")
        last = len(self.names) - 1 if step > 0 else 0
        for number in range(self.number + step, last + step, step):
            try:
                self.load(number)
                return
            except EtudeError as error:
                _log.warning("%s is left out: %s", self.names[number], error)
        self.load(self.number)

    # ---------------------------------------------------------------------------------------- what a page shows

    def scene(self) -> dict[str, Any]:
        """All that a page needs to show the episode, once."""
        self._changes = self._viewing.changes()
        view = self._viewing.data(self._policy, "")
        table = self.episode.scene.table
        told = {"view": view, "number": self.number, "of": len(self.names), "floor": table.height if table is not None else 0.0}
        return {**told, **self.moment(), "surroundings": self._viewing.surroundings()}

    def moment(self) -> dict[str, Any]:
        """The present moment; with what is to be seen, where that has changed."""
        simulation = self._simulation
        left = simulation.episode.horizon + simulation.granted - simulation.steps
        told = {
            "start": self.start, "state": self.state, "steps": simulation.steps, "left": round(left * PERIOD, 2), "closed": self.closed,
            "held": simulation.robot.held or "", "tip": [round(v, 5) for v in simulation.robot.tip().position],
            "kept": self.names[self.number] in self.done, "done": len(self.done), **self._viewing.latest(),
        }  # fmt: skip
        if self._viewing.changes() == self._changes:
            return told
        self._changes = self._viewing.changes()
        return {**told, "surroundings": {**self._viewing.surroundings(), **self._viewing.models()}}
