"""A running episode: world, monitor and action spaces, without cameras. Environments, rollouts and recorders are built on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.envs.actions import numbers
from etude.episodes import PRIMITIVES, Episode
from etude.goals.goal import Status
from etude.goals.markers import changed_markers, marked
from etude.goals.monitor import Memory, Monitor
from etude.names import EtudeError, rng
from etude.pose import Array
from etude.scene.events import Event, ThingMoved
from etude.scene.scene import Body
from etude.scene.world import World, WorldState
from etude.skills.aim import delta
from etude.skills.keypose_motion import Keypose, KeyposeMotion, pose_of
from etude.skills.strokes import Kind, Motion, Stroke
from etude.suites.building import reach, workspace
from etude.suites.suite import SUITES

SETTLING = 25  # control steps before the first observation (ClevrSkills 1.2)
CALM = 60  # control steps, at most, until things have come to rest after a primitive
SIZES = {"ee_delta": 7, "ee_pose": 8, "pick_place": 12, "sweep": 12, "keypose": 8}


def primitive_bounds(episode: Episode) -> tuple[Array, Array]:
    """The least and the greatest numbers of a primitive: places in the suite's workspace, or of the tip in its reach; then quaternions."""
    suite = SUITES[episode.parsed.suite]
    if episode.control == "keypose":
        lower, upper = reach(suite, episode.scene)
        return np.array([*lower, *[-1.0] * 5]), np.array([*upper, *[1.0] * 5])
    low, high = workspace(suite, episode.scene)
    return np.array([*low, *[-1.0] * 4] * 2), np.array([*high, *[1.0] * 4] * 2)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """An exact state of a simulation, and the name of its episode."""

    episode: str
    world: WorldState
    monitor: Memory
    steps: int
    periods: int
    happened: tuple[int | None, ...]


class Simulation:
    """Plays one episode. ``step`` takes an action of the episode's space; the hand's last number closes it when positive."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.heartbeat: Callable[[], None] | None = None  # called after every control step
        self.world = World(episode.scene)
        if self.world.robot is None:
            raise EtudeError(f"{episode.name} has no robot to act with")
        self.robot = self.world.robot
        self._begin()

    def reset(self, episode: Episode | None = None) -> None:
        """Start again, with another episode if one is given."""
        if episode is not None:
            self.episode = episode
        self.world.reset(self.episode.scene)
        assert self.world.robot is not None
        self.robot = self.world.robot
        self._begin()

    def _begin(self) -> None:
        self._shape = (self.action_size,)
        self._expected = f"{self.action_size} numbers of {self.episode.control!r}"
        self.steps = 0
        self.periods = 0  # control steps, of which a primitive takes many
        self.happened: list[int | None] = [None] * len(self.episode.events)  # the action during which each event came about
        self.unreachable = 0  # keyposes that the arm could not come to
        self.granted = 0  # steps beyond the horizon: as many as were not the policy's own
        if self.episode.held:
            self.robot.grip(True)
            self.world.attach(self.episode.held)
        self.world.step(SETTLING)
        self.monitor = Monitor(self.episode.goal, self.world)
        self._marked = marked(self.monitor.nodes())
        self._show()

    def _show(self) -> None:
        """Let the looks of the scene follow the progress of the goal."""
        changed = changed_markers(self.monitor.nodes(), self.world.scene) if self._marked else []
        if changed:
            self.world.restyle(*changed)

    @property
    def status(self) -> Status:
        """How the goal stands."""
        return self.monitor.status

    @property
    def over(self) -> bool:
        """Is there nothing left to play for: success, a goal that can never be reached any more, or no time left?"""
        status = self.monitor.root.status
        return status.satisfied or status.violated or self.steps >= self.episode.horizon + self.granted

    def proprioception(self) -> NDArray[np.float32]:
        """What the robot feels: joint values (n) and velocities (n), pose of the tip (position, quaternion wxyz), hand closed, something
        held, opening (m)."""
        tip, robot = self.monitor.watch.tip, self.robot
        arm = (*robot.joints().tolist(), *robot.joint_velocities().tolist(), *tip.position, *tip.rotation)
        return np.array([*arm, robot.closed, robot.held is not None, robot.opening()], np.float32)

    def save(self) -> Snapshot:
        """The exact state; whatever is done afterwards, ``restore`` brings it back to the last bit."""
        return Snapshot(self.episode.name, self.world.save(), self.monitor.save(), self.steps, self.periods, tuple(self.happened))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a saved state of this episode."""
        if not isinstance(snapshot, Snapshot):
            raise EtudeError(f"restore takes what save() gave, got a {type(snapshot).__name__}")
        if snapshot.episode != self.episode.name:
            raise EtudeError(f"this state was saved in {snapshot.episode}; it cannot be restored in {self.episode.name}")
        self.world.restore(snapshot.world)
        self.monitor.restore(snapshot.monitor)
        self.steps, self.periods, self.happened = snapshot.steps, snapshot.periods, list(snapshot.happened)
        self._show()

    @property
    def action_size(self) -> int:
        """Numbers in an action."""
        return SIZES.get(self.episode.control, self.robot.chain.count + 1)

    def step(self, action: ArrayLike) -> Status:
        """One control step of 50 ms. Actions outside their bounds are clipped; those that are not numbers are refused."""
        values = numbers(action, "the action", self._expected)
        if values.shape != self._shape:
            raise EtudeError(f"an action of {self.episode.control!r} has {self.action_size} numbers, got shape {values.shape}")
        if not all(map(math.isfinite, values.tolist())):
            raise EtudeError(f"an action must be finite, got {values.tolist()}")
        if self.episode.control in PRIMITIVES:
            self._stroke(values)
        else:
            self._command(values)
            self.robot.grip(bool(values[-1] > 0))
            self._period()
        self.steps += 1
        return self.status

    def _period(self) -> None:
        """Let one control period pass, and look."""
        self._disturb()
        self.world.step()
        self.periods += 1
        self.monitor.update()
        self._show()
        if self.heartbeat is not None:
            self.heartbeat()

    def _disturb(self) -> None:
        """Let the events happen that are due."""
        for k, event in enumerate(self.episode.events):
            age = self.periods - event.step
            if age == 0:
                self._begun(k, event)
            elif 0 < age <= event.lasting and self.happened[k] is not None:
                event.happen(self.world, age)

    def _begun(self, k: int, event: Event) -> None:
        thing = event.thing if isinstance(event, ThingMoved) else ""
        before = self.world.frame(thing)[0].copy() if thing else None
        if event.happen(self.world, 0):
            self.happened[k] = self.steps + 1
            if before is not None:
                self.monitor.displaced(thing, self.world.frame(thing)[0] - before)

    def _stroke(self, values: Array) -> None:
        """Carry out a primitive, and wait until things have come to rest; both are bounded in simulated time."""
        low, high = primitive_bounds(self.episode)
        if self.episode.control == "keypose":
            motion = Keypose.from_action(values).motion(rng(self.episode.parsed, f"keypose/{self.steps}"))
            outside = bool((values[:3] < low[:3]).any() or (values[:3] > high[:3]).any())
            if not outside:
                self._carry_out(motion)
            self.unreachable += outside or motion.unreachable
        else:
            kind: Kind = "sweep" if self.episode.control == "sweep" else "pick_place"
            self._carry_out(Motion(Stroke.from_action(kind, np.clip(values, low, high))))
            self.robot.grip(False)
        self.robot.move_by(np.zeros(6))
        loose = [e.name for e in self.world.scene.entities if isinstance(e, Body) and not e.fixed]
        for _ in range(CALM):
            self._period()
            if self.world.still() and all(self.monitor.watch.static(name) for name in loose):
                break

    def _carry_out(self, motion: Motion | KeyposeMotion) -> None:
        while (aim := motion.aim(self.monitor.watch)) is not None:
            self.robot.move_by(delta(aim, self.monitor.watch.tip))
            self.robot.grip(aim.closed)
            self._period()

    def _command(self, values: Array) -> None:
        if self.episode.control == "ee_delta":
            self.robot.move_by([min(max(v, -1.0), 1.0) for v in values[:6].tolist()])
        elif self.episode.control == "ee_pose":
            self.robot.move_to(pose_of(values, "ee_pose"))
        else:
            self.robot.move_joints(values[:-1])
