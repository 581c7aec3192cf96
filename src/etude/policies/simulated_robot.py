"""A robot that is one of our simulations, seen from outside: to try an evaluation on a robot without one, as a pattern for one's own."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from etude.envs.observer import Observation, Observer
from etude.envs.simulation import Simulation, primitive_bounds
from etude.episodes import MODALITIES, PRIMITIVES, ActionSpace
from etude.library import episode as find_episode
from etude.names import EtudeError, rng
from etude.policies.robot_wire import RobotFacts, RobotFeeling
from etude.policies.scripted import converted
from etude.pose import Array
from etude.skills.aim import delta_action
from etude.skills.keypose_motion import Keypose
from etude.suites.suite import SUITES

REACH = 2.0  # m from the origin of the world that a tip may be sent to


class RobotStopped(Exception):
    """A simulated robot was stopped in the middle of something."""


class SimulatedRobot:
    """The robot of a suite. ``verdicts``: a file into which the simulation writes, after everything it was told, how the goal stands; who
    leads the robot does not see it."""

    def __init__(self, suite: str, verdicts: Path | None = None) -> None:
        room = SUITES[suite].room
        if room is None:
            raise EtudeError(f"the suite {suite} has no room with a robot")
        cameras = tuple(camera.name for camera in room().cameras if camera.name != "render")
        actions: tuple[ActionSpace, ...] = ("keypose", "ee_delta", "ee_pose", "joint")
        self.facts = RobotFacts(f"simulated {suite}", actions, cameras, tuple(MODALITIES))
        self._verdicts = verdicts
        self._halted = threading.Event()
        self.simulation: Simulation | None = None

    @property
    def _running(self) -> Simulation:
        if self.simulation is None:
            raise EtudeError("no episode was begun")
        return self.simulation

    def begin(self, episode: str, instruction: str, action: ActionSpace) -> RobotFeeling:
        """Set the scene up, as a person would: the episode's name says how."""
        self._halted.clear()
        self.simulation = Simulation(find_episode(episode).under(action))
        self.simulation.heartbeat = self._heartbeat
        self._home = Keypose(self.simulation.robot.tip(), False, step="Move home")
        return self._felt()

    def limits(self) -> tuple[Array, Array]:
        """Least and greatest numbers of an action: keyposes in the suite's reach, tips near the table, joints within one turn."""
        simulation = self._running
        control = simulation.episode.control
        if control in PRIMITIVES:
            return primitive_bounds(simulation.episode)
        if control == "ee_delta":
            high = np.ones(simulation.action_size)
        elif control == "ee_pose":
            high = np.array([REACH] * 3 + [1.0] * 5)
        else:
            high = np.array([2 * np.pi] * (simulation.action_size - 1) + [1.0])
        return -high, high

    def look(self, cameras: Sequence[str], size: tuple[int, int] | None, modalities: Sequence[str]) -> Observation:
        """What its cameras see now."""
        return Observer(self._running, tuple(cameras), size, tuple(modalities)).look()

    def act(self, action: Array) -> RobotFeeling:
        """One action, to its end."""
        if self._halted.is_set():
            return self._felt()
        with contextlib.suppress(RobotStopped):
            self._running.step(action)
        return self._felt()

    def home(self) -> RobotFeeling:
        """Back to where the episode began, by a free way."""
        simulation = self._running
        with contextlib.suppress(RobotStopped):
            if simulation.episode.control == "keypose":
                simulation.step(self._home.to_action())
            else:
                motion = self._home.motion(rng(simulation.episode.parsed, f"home/{simulation.steps}"))
                while (aim := motion.aim(simulation.monitor.watch)) is not None:
                    simulation.step(converted(delta_action(aim, simulation.monitor.watch.tip), simulation))
        return self._felt()

    def stop(self) -> None:
        """From another thread: the simulation looks at it after every control step."""
        self._halted.set()

    def _heartbeat(self) -> None:
        if self._halted.is_set():
            raise RobotStopped

    def _felt(self) -> RobotFeeling:
        simulation = self._running
        between = simulation.monitor.watch.between_fingers() if simulation.robot.closed else None
        held = (simulation.robot.held or between) in simulation.world.loose
        if self._verdicts is not None:
            reached = [n.path for n in simulation.monitor.nodes() if n.status.satisfied]
            told = {"steps": simulation.steps, "success": simulation.status.satisfied, "reached": reached}
            with self._verdicts.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"episode": simulation.episode.name, **told}) + "\n")
        return RobotFeeling(simulation.proprioception().astype(float), held, stopped=self._halted.is_set())
