"""An oracle that first makes a mistake on purpose, and then mends it: what is recorded begins after the mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, ActionSpace
from etude.names import EpisodeName, EtudeError, Stream, rng
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.policies.scripted import OraclePolicy, converted
from etude.pose import Array, Pose, rotate
from etude.skills.keypose_motion import Keypose
from etude.skills.strokes import Stroke

Kind = Literal["grasp", "drop"]
KINDS: tuple[Kind, ...] = ("grasp", "drop")
RISE = (4, 8)  # control steps in which the empty hand rises
RISING = 0.15  # of full deflection: 1.5 cm for each control step
CARRIED = (2, 8)  # control steps for which a thing is carried before it is dropped
OPENED = 6  # control steps for which the hand stays open then
RAISED = 0.08  # m by which an empty hand rises in a keypose
MISSED = 0.04, 0.08  # m by which a stroke misses


class MishapOracle:
    """In a ``share`` of the episodes the hand first comes up empty from a grasp, or drops what it carries; then the oracle takes over.

    ``taken`` is the number of actions before that: 0 where nothing goes wrong, None while it has not. ``other``: the mistake is the other
    one than is drawn, where an episode gives that no chance.
    """

    def __init__(self, share: float, action: ActionSpace | None = None) -> None:
        if not 0.0 < share <= 1.0:
            raise EtudeError(f"the share of mishaps must be above 0 and at most 1, got {share:g}")
        self._share = share
        self._oracle = OraclePolicy(action=action)
        self.contract: Contract = replace(self._oracle.contract, chunk=1, execute=1)
        self.words = ("", "")
        self.other = False

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        stream = rng(EpisodeName.parse(episode), "policy/mishap")
        self.taken: int | None = None if stream.chance(self._share) else 0
        drawn: Kind = stream.choice(KINDS)
        self.kind = next(kind for kind in KINDS if (kind != drawn) == self.other)
        self._stream = stream
        self._going_wrong: Iterator[Array] | None = None
        self._told = instruction, pictures, episode
        self._oracle.reset(*self._told)

    def act(self, observation: Observation) -> Array:
        """The next action: the oracle's, unless something is just going wrong."""
        simulation: Simulation = observation["simulation"]
        if self.taken is None:
            if self._going_wrong is None:
                found = self._oracle.act(observation)
                self.words = self._oracle.words
                self._going_wrong = self._mishap(simulation, found)
                if self._going_wrong is None:
                    return found
            wrong = next(self._going_wrong, None)
            if wrong is not None:
                return wrong
            self.taken = simulation.steps
            self._oracle.reset(*self._told)  # it looks at what has become of it
        found = self._oracle.act(observation)
        self.words = self._oracle.words
        return found

    def _mishap(self, simulation: Simulation, action: Array) -> Iterator[Array] | None:
        """What is done instead of an action of the oracle from now on; None while all goes well."""
        if simulation.episode.control == "keypose":
            return _wrong_keypose(self.kind, simulation, action)
        if simulation.episode.control in PRIMITIVES:
            return iter([_wrong_stroke(self.kind, simulation, action, self._stream)])
        closing, closed = action[-1] > 0, simulation.robot.closed
        if self.kind == "grasp" and closing and not closed:
            return _empty(simulation, self._stream.integer(*RISE))
        if self.kind == "drop" and closing and closed and _carries(simulation):
            return _dropped(simulation, self._oracle, self._stream.integer(*CARRIED))
        return None


def _carries(simulation: Simulation) -> bool:
    """Is a loose thing in the hand, and off what it stood on?"""
    watch = simulation.monitor.watch
    held = watch.held or watch.between_fingers()
    return held in simulation.world.loose and all(t.startswith(("hand", "robot")) for t in watch.touching(held or ""))


def _empty(simulation: Simulation, steps: int) -> Iterator[Array]:
    """The hand rises without having taken anything, and closes on nothing."""
    for k in range(steps):
        # up in the world, seen from the tip, which may point anywhere
        up = rotate(simulation.robot.tip().inverse().rotation, (0.0, 0.0, RISING))
        yield converted(np.array([*up, 0.0, 0.0, 0.0, 1.0 if 2 * k > steps else -1.0]), simulation)


def _dropped(simulation: Simulation, oracle: OraclePolicy, steps: int) -> Iterator[Array]:
    """What is carried is carried on for a while, and let go."""
    for _ in range(steps):
        action = oracle.act({"simulation": simulation})
        if action[-1] <= 0:  # it would be put down now
            break
        yield action
    for _ in range(OPENED):
        yield converted(np.array([0.0] * 6 + [-1.0]), simulation)


def _wrong_keypose(kind: Kind, simulation: Simulation, action: Array) -> Iterator[Array] | None:
    closing, closed = action[-1] > 0, simulation.robot.closed
    found = Keypose.from_action(action)
    if kind == "grasp" and closing and not closed:
        x, y, z = found.tip.position
        return iter([replace(found, closed=False).to_action(), Keypose(Pose((x, y, z + RAISED), found.tip.rotation), True).to_action()])
    if kind == "drop" and closing and closed and simulation.monitor.watch.between_fingers() in simulation.world.loose:
        return iter([replace(found, closed=False).to_action()])
    return None


def _wrong_stroke(kind: Kind, simulation: Simulation, action: Array, stream: Stream) -> Array:
    """A stroke that misses what it should take, or where it should put it."""
    stroke = Stroke.from_action("sweep" if simulation.episode.control == "sweep" else "pick_place", action)
    dx, dy = (stream.uniform(*MISSED) * (1 if stream.chance(0.5) else -1) for _ in range(2))
    (x, y), (u, v) = stroke.start, stroke.end
    missed = replace(stroke, start=(x + dx, y + dy)) if kind == "grasp" else replace(stroke, end=(u + dx, v + dy))
    return missed.to_action()
