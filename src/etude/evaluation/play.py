"""One episode from its name to its record. Everything else in this folder is about doing this many times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from etude.decisions.trial import Trial
from etude.envs.actions import numbers
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, ActionSpace, Episode
from etude.evaluation.decide import decide
from etude.evaluation.granting import take_hold
from etude.evaluation.guide import Guide, fault_of
from etude.evaluation.record import MODES, GivenSubtask, Record, Subgoal
from etude.library import find, find_task, told_in
from etude.names import EpisodeName, EtudeError, unknown
from etude.policies.calling import PLANNER, POLICY, called, fitting, in_a_line
from etude.policies.contract import Contract, refuse_mismatches
from etude.policies.loading import load_decider, load_planner, load_policy
from etude.policies.policy import Observation, Picture, Planner, Policy
from etude.policies.scripted import OraclePolicy, converted, idle
from etude.pose import Array
from etude.prompts.pictures import multimodal
from etude.prompts.views import Views, part_views
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle, held_still
from etude.skills.subtasks import describe


@dataclass(frozen=True)
class Work:
    """Who plays, as text, and what else can move a result: all that a worker has to be told."""

    policy: str
    planner: str = ""
    renderer: str = "raster"
    patience: int = 150
    decides: bool = False  # nothing but decisions: no robot's policy has to be loaded


class Players:
    """The policy and the planner of a run, loaded once and used for one episode after the other."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.policy: Policy = (load_decider(work.policy) if work.decides else None) or load_policy(work.policy)
        self.planner: Planner | None = load_planner(work.planner) if work.planner else None
        self._rule = load_planner("rule")
        self._decider: Policy | None = None

    def roles(self, mode: str) -> tuple[Policy | None, Planner | None]:
        """Who acts and who plans: no policy means that the oracle's skills carry out what is said, no planner that nobody says anything."""
        if mode not in MODES:
            raise unknown("mode", mode, MODES)
        policy: Policy | None = None
        planner: Planner | None = None
        if mode == "offline":
            policy = OraclePolicy()
        elif mode != "planner":
            policy = fitting("policy", type(self.policy).__name__, self.policy, POLICY)
        if mode in ("planner", "coupled", "offline"):
            if self.planner is None:
                raise EtudeError(f"--mode {mode} needs a planner; there is none")
            planner = fitting("planner", type(self.planner).__name__, self.planner, PLANNER)
        elif mode == "rule":
            planner = self._rule
        return policy, planner

    def decider(self, mode: str) -> Policy:
        """Who answers questions. Ours by name have a form of their own for decisions; there is nothing to plan."""
        if mode != "vanilla":
            raise EtudeError(f"--mode {mode} is for robots: decisions have no sub-tasks")
        if self._decider is None:
            self._decider = load_decider(self.work.policy) or self.policy
        return fitting("policy", type(self._decider).__name__, self._decider, POLICY)

    def contracts(self) -> dict[str, Any]:
        """What policy and planner ask for, as plain data."""
        return {"policy": self.policy.contract.to_data(), "planner": self.planner.contract.to_data() if self.planner else None}


@dataclass
class Trajectory:
    """What happened in an episode, step by step: enough to film it or to play it again."""

    actions: list[Array]
    words: list[tuple[str, str]]
    episode: Episode | None  # None where there is nothing to film: a decision
    simulation: Simulation | None = None  # as it ended


def play(cast: Players, name: str, mode: str = "vanilla") -> tuple[Record, Trajectory]:
    """Run one episode until it is over: at success, when success has become impossible, or at its horizon."""
    begun = time.perf_counter()
    found = find(name)
    if isinstance(found, Trial):
        return decide(cast.decider(mode), found), Trajectory([], [], None)
    policy, planner = cast.roles(mode)
    contract = policy.contract if policy is not None else Contract(privileged=True)
    refuse_mismatches(contract, [found])
    # Frames on which a planner is scored are those of every control step, not those between keyposes.
    control: ActionSpace | None = "ee_delta" if mode == "offline" and found.control == "keypose" else contract.action
    stage = _Stage(found.under(control), contract, policy, planner, mode, cast.work)
    simulation, course = stage.simulation, Trajectory([], [], stage.episode, stage.simulation)
    reached: dict[str, int] = {}
    _note(simulation, reached)
    total = 0.0
    while not simulation.over:
        action = stage.action()
        total += simulation.step(action).reward
        stage.stepped()
        _note(simulation, reached)
        course.actions.append(action)
        course.words.append(stage.words())
    stages = stage.finished()
    success = simulation.status.satisfied if mode != "offline" else all(s.right for s in stages)
    record = Record(
        id=found.id,
        episode=found.name,
        mode=mode,
        level=found.level,
        outcome="success" if success else "failure",
        steps=simulation.steps,
        reward=round(total, 6),
        progress=round(simulation.status.progress, 6),
        subgoals=_subgoals(simulation, reached),
        first_failure=simulation.monitor.first_failure(),
        stages=stages,
        fault=fault_of(stages, success) if planner is not None else None,
        cause=None if success else _cause(simulation),
        least=found.least if stage.episode.control in PRIMITIVES else 0,
        timings={k: round(v, 4) for k, v in {"seconds": time.perf_counter() - begun, **stage.seconds}.items()},
    )
    return record, course


def attempted(cast: Players, name: str, mode: str = "vanilla") -> tuple[Record, Trajectory | None]:
    """The same, whatever happens: what breaks is an error beside the results, never taken for a failure of the policy."""
    begun = time.perf_counter()
    try:
        return play(cast, name, mode)
    except Exception as error:
        return broken(name, mode, in_a_line(error), time.perf_counter() - begun), None


def broken(name: str, mode: str, error: str, seconds: float = 0.0) -> Record:
    """The record of an episode that could not be played to its end."""
    try:
        found = find(name)
        identity, level = found.id, found.level
    except EtudeError:
        identity, level = name, find_task(EpisodeName.parse(name)).level
    return Record(identity, name, mode, level, "error", error=error[:500], timings={"seconds": round(seconds, 4)})


def _cause(simulation: Simulation) -> str | None:
    found = simulation.monitor.cause()
    return "unreachable" if found == "wrong grasp pose" and simulation.unreachable else found or None


def _note(simulation: Simulation, reached: dict[str, int]) -> None:
    for node in simulation.monitor.nodes():
        if node.status.satisfied and node.path not in reached:
            reached[node.path] = simulation.steps


def _subgoals(simulation: Simulation, reached: dict[str, int]) -> tuple[Subgoal, ...]:
    return tuple(
        Subgoal(
            n.path,
            n.goal.json_kind,
            describe(n.goal),
            n.status.satisfied,
            round(n.status.progress, 6),
            n.status.violated,
            reached.get(n.path),
        )
        for n in simulation.monitor.nodes()
    )


def words_of(policy: Policy) -> tuple[str, str]:
    """What a policy says of its latest action, where it does: the sub-task and the step, for films and labels."""
    found = called("policy", getattr, policy, "words", ("", ""))
    if not isinstance(found, tuple) or len(found) != 2 or not all(isinstance(text, str) for text in found):
        raise EtudeError(f"the policy's attribute 'words' must be two texts in a tuple, the sub-task and the step; got {found!r:.60}")
    return found


class _Stage:
    """A running episode with those who act in it."""

    def __init__(self, episode: Episode, contract: Contract, policy: Policy | None, planner: Planner | None, mode: str, work: Work) -> None:
        self.episode, self.contract, self._policy, self._mode = episode, contract, policy, mode
        self.simulation = Simulation(episode)
        self._observer = Observer(self.simulation, contract.cameras, contract.size, contract.modalities, work.renderer)
        self._oracle = Oracle(episode, self.simulation.world, self.simulation.monitor)
        if mode == "grasped":
            take_hold(self.simulation, self._oracle)
        self._words = ("", "")
        self._queue: list[Array] = []
        self.seconds = {"policy": 0.0}
        if policy is not None:
            called("policy", policy.reset, *self._told(contract), episode.name)
        self._guide: Guide | None = None
        if planner is not None:
            self.seconds["planner"] = 0.0
            suited = called("planner", getattr, planner, "contract_for", None)  # of one that takes the cameras it finds
            eyes: Contract = planner.contract if suited is None else called("planner", suited, [c.name for c in episode.scene.cameras])
            looker = Observer(self.simulation, eyes.cameras, eyes.size, eyes.modalities, work.renderer)
            called("planner", planner.reset, *self._told(eyes), episode.name)
            self._guide = Guide(self.simulation, planner, looker, work.patience, follows=mode != "offline")

    def _told(self, contract: Contract) -> tuple[str, Sequence[Picture | Views]]:
        told = self.episode.instruction
        if contract.told == "text":
            return told.text, ()
        if contract.told == "views":
            scene = told_in(self.episode)
            return told.template(), [part_views(part, scene, contract.size, contract.cameras) for part in told.pictures()]
        return multimodal(told, told_in(self.episode), contract.size[0])

    def action(self) -> Array:
        """The next action; a planner is asked first where it is time to."""
        if self._guide is not None and self._guide.waiting:
            begun = time.perf_counter()
            self._guide.ask()
            self.seconds["planner"] += time.perf_counter() - begun
            if self._mode == "coupled" or self._mode == "rule":
                self._queue.clear()  # what was meant for the last sub-task
        if self._policy is None:
            return self._skilled()
        if not self._queue:
            begun = time.perf_counter()
            self._queue = self._chunk(self._policy)
            self.seconds["policy"] += time.perf_counter() - begun
        return self._queue.pop(0)

    def _skilled(self) -> Array:
        """The oracle's skills carry out what the planner said; what nobody understands is not acted on."""
        assert self._guide is not None
        watch = self.simulation.monitor.watch
        node = self._guide.node
        if self.episode.control in PRIMITIVES:
            stroke = None if node is None else self._oracle.stroke(node)
            self._words = (self._guide.text, stroke.label if stroke is not None else "Do nothing")
            return idle(self.simulation) if stroke is None else stroke.to_action()
        aim = held_still(watch, self.simulation.robot.closed) if node is None else self._oracle.aim(node)
        self._words = (aim.task, aim.step)
        return converted(delta_action(aim, watch.tip), self.simulation)

    def _chunk(self, policy: Policy) -> list[Array]:
        seen: Observation = self._observer.look()
        if self._guide is not None and self._guide.follows:
            seen["instruction"] = self._guide.text
        if self.contract.privileged:
            seen["simulation"] = self.simulation
        shape = f"(n, {self.simulation.action_size})"
        given = numbers(called("policy", policy.act, seen), "what the policy gave", f"actions {shape}, as numbers")
        chunk = given[None] if given.ndim == 1 else given
        if chunk.ndim != 2 or not len(chunk) or chunk.shape[1] != self.simulation.action_size:
            raise EtudeError(f"the policy gave actions of shape {given.shape}; {self.episode.control!r} takes {shape}")
        if len(chunk) > self.contract.chunk:
            raise EtudeError(f"the policy gave {len(chunk)} actions at once; its contract says at most {self.contract.chunk}")
        if not np.isfinite(chunk).all():
            raise EtudeError("the policy gave an action that is not finite")
        return list(chunk[: self.contract.execute])

    def stepped(self) -> None:
        """A control step is over."""
        if self._guide is not None:
            self._guide.stepped()

    def words(self) -> tuple[str, str]:
        """Sub-task and step of the latest action, where somebody knows them."""
        if self._policy is not None:
            self._words = words_of(self._policy)
        return (self._guide.text, self._words[1]) if self._guide is not None and self._guide.follows else self._words

    def finished(self) -> tuple[GivenSubtask, ...]:
        """The sub-tasks that were given, in order."""
        return self._guide.finished() if self._guide is not None else ()
