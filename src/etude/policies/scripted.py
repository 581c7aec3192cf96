"""Policies that need no learning: the oracle, also with known flaws, chance, doing nothing; and what is made of another policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from etude.envs.actions import numbers
from etude.envs.simulation import Simulation, primitive_bounds
from etude.episodes import PRIMITIVES, ActionSpace
from etude.goals.goal import Goal
from etude.goals.monitor import Monitor
from etude.goals.regions import Region
from etude.names import EpisodeName, EtudeError, pick, rng
from etude.policies.contract import Contract, refuse_conversion
from etude.policies.policy import DescribedPolicy, Observation, Picture, Policy, SpeakingPolicy
from etude.pose import Array
from etude.scene.manipulator import DELTA_POSITION
from etude.scene.scene import Body, Scene
from etude.skills.aim import delta_action
from etude.skills.keypose_motion import Keypose
from etude.skills.oracle import Oracle, held_still
from etude.skills.strokes import Stroke
from etude.skills.subtasks import CurrentSubtask


def idle(simulation: Simulation) -> Array:
    """A primitive that changes nothing: it stays where it is, or reaches for the empty rim of the table."""
    if simulation.episode.control == "keypose":
        return Keypose(simulation.robot.tip(), simulation.robot.closed).to_action()
    return Stroke("pick_place", (0.25, 0.0), (0.25, 0.0)).to_action()


class _Scripted:
    """What they share: a contract, an action space, and the words for videos."""

    def __init__(self, action: ActionSpace | None = None) -> None:
        self.contract = Contract(action=action, privileged=True)
        self.words = ("", "")

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._episode = episode
        self._begun = False

    def act(self, observation: Observation) -> Array:
        """The next action in the contract's space."""
        simulation: Simulation = observation["simulation"]
        if not self._begun:
            self._begun = True
            self._begin(simulation)
        self._told: CurrentSubtask | None = observation.get("subtask")
        if simulation.episode.control in PRIMITIVES:
            return self._stroke(simulation)
        return converted(self._delta(simulation), simulation)

    def _begin(self, simulation: Simulation) -> None:
        """Look at the new episode."""

    def _delta(self, simulation: Simulation) -> Array:
        """The next action as ``ee_delta`` (7,)."""
        raise NotImplementedError

    def _stroke(self, simulation: Simulation) -> Array:
        """The next action as a primitive (12,)."""
        raise NotImplementedError


class OraclePolicy(_Scripted):
    """Solves episodes with the true state (see :class:`etude.skills.oracle.Oracle`), or carries out what a planner says,
    be it right or not.

    ``noise`` shakes its hand: the standard deviation, in metres, of what is added to every step of the tip. ``colour_blind`` makes it
    confuse things that differ only in how they are painted; it knows which shape is meant, and takes one of those that have it. ``wrong``
    is for decisions alone (see :class:`etude.policies.deciding.KnowingPolicy`).
    """

    def __init__(self, noise: float = 0.0, colour_blind: bool = False, action: ActionSpace | None = None, wrong: float = 0.0) -> None:
        super().__init__(action)
        if not 0 <= noise < math.inf:
            raise EtudeError(f"the oracle's noise must not be negative but a number of metres, got {noise:g}")
        if not 0 <= wrong <= 1:
            raise EtudeError(f"the share of wrong answers must be from 0 to 1, got {wrong:g}")
        self._noise, self.colour_blind = noise, colour_blind

    def _begin(self, simulation: Simulation) -> None:
        self._stream = rng(simulation.episode.parsed, "policy/oracle")
        goal = simulation.episode.goal
        mistaken = confused(goal, simulation.episode.scene, self._stream.integer(0, 2**32)) if self.colour_blind else goal
        self._own = None if mistaken == goal else Monitor(mistaken, simulation.world)
        self._fresh = True
        self._oracle = Oracle(simulation.episode, simulation.world, self._own or simulation.monitor)

    def _look(self) -> None:
        if self._own is not None and not self._fresh:
            self._own.update()
        self._fresh = False

    def _stroke(self, simulation: Simulation) -> Array:
        self._look()
        told = self._told
        if told is None:
            stroke = self._oracle.stroke()
        else:
            stroke = None if told.node is None else self._oracle.stroke(told.node, told.parent)
        if stroke is None:
            self.words = (told.text if told is not None else "", "Do nothing")
            return idle(simulation)
        following = told.node if told is not None else (self._own or simulation.monitor).next_leaf()
        self.words = (following.goal.saying(following) if following is not None else "", stroke.label)
        action = stroke.to_action()
        for k in stroke.places if self._noise else ():
            action[k] += self._stream.normal(0.0, self._noise)
        return action

    def _delta(self, simulation: Simulation) -> Array:
        self._look()
        watch, told = simulation.monitor.watch, self._told
        if told is None:
            aim = self._oracle.aim()
        elif told.node is None:
            aim = held_still(watch, simulation.robot.closed, told.text)
        else:
            aim = self._oracle.aim(told.node, told.parent)
        self.words = (aim.task, aim.step)
        delta = delta_action(aim, watch.tip)
        if self._noise:
            shaken = [self._stream.normal(0.0, self._noise / DELTA_POSITION) for _ in range(3)]
            delta = np.concatenate([np.clip(delta[:3] + shaken, -1.0, 1.0), delta[3:]])
        return delta


def confused(goal: Goal, scene: Scene, draw: int) -> Goal:
    """The goal as one who sees no colours understands it: each thing is one of those with its shape and size, drawn by ``draw``."""
    bodies = {e.name: e for e in scene.entities if isinstance(e, Body)}
    taken: dict[str, str] = {}

    def mistaken(name: str) -> str:
        if name not in bodies:
            return name
        if name not in taken:
            body = bodies[name]
            alike = [b.name for b in bodies.values() if (b.shape, b.size, b.fixed) == (body.shape, body.size, body.fixed)]
            free = [a for a in alike if a not in taken.values()]
            taken[name] = free[(draw + len(taken)) % len(free)] if free else name
        return taken[name]

    def changed(value: object) -> object:
        if isinstance(value, str):
            return mistaken(value)
        if isinstance(value, tuple):
            return tuple(changed(item) for item in value)
        if isinstance(value, (Goal, Region)):
            parts = {f.name: changed(getattr(value, f.name)) for f in fields(value)}  # type: ignore[arg-type]
            return replace(value, **parts)  # type: ignore[type-var]
        return value

    found = changed(goal)
    assert isinstance(found, Goal)
    return found


def converted(delta: Array, simulation: Simulation) -> Array:
    """An ``ee_delta`` action (7,) in the episode's own space."""
    if simulation.episode.control == "ee_delta":
        return delta
    target = simulation.robot.delta_target(delta[:6])
    if simulation.episode.control == "joint":
        return np.append(target, delta[6])
    pose = simulation.robot.pose_of(target)
    return np.concatenate([pose.position, pose.rotation, delta[6:]])


class RandomPolicy(_Scripted):
    """Draws every action uniformly from [−1, 1], from a stream of the episode's own; poses and joints near where they are."""

    def _begin(self, simulation: Simulation) -> None:
        self.words = ("", "Act at random")
        self._stream = rng(simulation.episode.parsed, "policy/random")

    def _delta(self, simulation: Simulation) -> Array:
        return self._stream.uniforms(-1.0, 1.0, 7)

    def _stroke(self, simulation: Simulation) -> Array:
        low, high = primitive_bounds(simulation.episode)
        return np.asarray(low + (high - low) * self._stream.uniforms(0.0, 1.0, len(low)))


class NoopPolicy(_Scripted):
    """Keeps still, the hand as it is; where actions are primitives, it reaches for the empty rim of the table."""

    def _delta(self, simulation: Simulation) -> Array:
        self.words = ("", "Do nothing")
        return np.array([0.0] * 6 + [1.0 if simulation.robot.closed else -1.0])

    def _stroke(self, simulation: Simulation) -> Array:
        return idle(simulation)


class Takeover:
    """Before every action the oracle takes over for good with probability ``chance``; until then ``first`` acts, and is asked as often as
    its contract says.

    ``taken`` is the number of actions before that, None while it has not happened.
    """

    def __init__(self, first: Policy, chance: float) -> None:
        if not 0.0 < chance <= 1.0:
            raise EtudeError(f"the chance of a takeover must be above 0 and at most 1, got {chance:g}")
        refuse_conversion(first.contract, "the oracle that takes over")
        self._first, self._chance = first, chance
        self._oracle = OraclePolicy(action=first.contract.action)
        self.contract = replace(first.contract, privileged=True, chunk=1, execute=1)
        self.words = ("", "")

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self.taken: int | None = None
        self._left: list[Array] = []  # of what the first one gave, to be carried out
        self._stream = rng(EpisodeName.parse(episode), "policy/takeover")
        self._first.reset(instruction, pictures, episode)
        self._oracle.reset(instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next action, of the one whose turn it is."""
        simulation: Simulation = observation["simulation"]
        if self.taken is None and self._stream.uniform(0.0, 1.0) < self._chance:
            self.taken = simulation.steps
        if self.taken is None and self._left:
            return self._left.pop(0)
        if self.taken is None:
            self._left = _asked(self._first, observation)
            self.words = self._first.words if isinstance(self._first, SpeakingPolicy) else ("", "")
            return self._left.pop(0)
        action = self._oracle.act(observation)
        self.words = self._oracle.words
        return action


def _asked(policy: Policy, observation: Observation) -> list[Array]:
    """The actions that another policy wants carried out before it is asked again; it is shown no more than it asks for."""
    own = policy.contract.privileged
    seen = observation if own else {k: v for k, v in observation.items() if k not in ("simulation", "subtask")}
    given = numbers(policy.act(seen), "what the policy gave", "an action, as numbers")
    if given.ndim not in (1, 2) or not len(given):
        raise EtudeError(f"the policy gave actions of shape {given.shape}; expected (n, D) or (D,)")
    return list(given[None] if given.ndim == 1 else given[: policy.contract.execute])


KEYPOSE_PARTS = {"position": slice(0, 3), "rotation": slice(3, 7)}


class PartlyTrue:
    """Another policy of keyposes, with one ``part`` of each replaced by the oracle's: the position or the rotation (VLMbench B.3)."""

    def __init__(self, policy: Policy, part: str) -> None:
        self._part = pick("part of a keypose", part, KEYPOSE_PARTS)
        refuse_conversion(policy.contract, "the oracle whose parts are true")
        self._policy, self._oracle = policy, OraclePolicy(action=policy.contract.action)
        self.contract = replace(policy.contract, privileged=True, chunk=1, execute=1)
        self.about = policy.about if isinstance(policy, DescribedPolicy) else {}

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._policy.reset(instruction, pictures, episode)
        self._oracle.reset(instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The policy's next keypose, partly the oracle's."""
        found: Simulation = observation["simulation"]
        if found.episode.control != "keypose":
            raise EtudeError(f"parts of keyposes can be true; {found.episode.name} is acted in by {found.episode.control!r}")
        action = _asked(self._policy, observation)[0].copy()
        action[self._part] = self._oracle.act(observation)[self._part]
        return action


MEASURES = ("proprioception", "_intrinsics", "_extrinsics")  # how keys end whose numbers are not seen, but known


class Blindfolded:
    """Another policy that is told everything and sees nothing: its pictures are black, no object is in them. What it still reaches, it
    reaches by what it was told and by habit."""

    def __init__(self, policy: Policy) -> None:
        if policy.contract.privileged:
            raise EtudeError("a policy that is given the true state cannot be blindfolded; expected one that looks, e.g. blind:zoo:NAME")
        self._policy, self.contract = policy, policy.contract
        self.about = policy.about if isinstance(policy, DescribedPolicy) else {}

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self._policy.reset(instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next action."""
        seen = {key: value for key, value in observation.items() if isinstance(value, np.ndarray) and not key.endswith(MEASURES)}
        return self._policy.act({**observation, **{key: np.zeros_like(value) for key, value in seen.items()}})
