"""One episode from its name to its record. Everything else in this folder is about doing this many times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from etude.decisions.trial import Trial
from etude.envs.actions import numbers
from etude.envs.prompt_assets import told_views
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, ActionSpace, Episode
from etude.evaluation.fault import misled_at
from etude.evaluation.guide import Guide
from etude.evaluation.hand import HandTransitions, simulated_hand
from etude.evaluation.plan import PATIENCE, PLANNED
from etude.evaluation.record import MODES, EventOutcome, Fault, GivenSubtask, PlayedStep, Record, Subgoal
from etude.foreign import called, in_a_line
from etude.goals.units import Control
from etude.library import find, find_task, told_in
from etude.names import EpisodeName, EtudeError, rng, unknown
from etude.policies.calling import fitting
from etude.policies.contract import Contract, refuse_mismatches
from etude.policies.conventions import ContractObserver, action_conversion
from etude.policies.loading import address_of, load_decider, load_planner, load_policy
from etude.policies.planners import OrderPlanner, RulePlanner
from etude.policies.policy import AdaptingPlanner, Observation, Picture, Planner, Policy, SpeakingPolicy
from etude.policies.scripted import OraclePolicy, converted
from etude.pose import Array
from etude.prompts.pictures import multimodal
from etude.prompts.views import Views
from etude.skills.aim import delta_action
from etude.skills.keypose_motion import Keypose, KeyposeMotion
from etude.skills.oracle import Oracle
from etude.skills.subtasks import describe
from etude.suites.suite import SUITES, Witness


class Players:
    """The policy and the planner of a run, used for one episode after the other: given as live objects, or loaded from texts.

    ``renderer`` and ``patience`` (control steps that a planner waits for a sub-task) can move a result, and so stand with them.
    ``inference_address``: where the process is that decides for all simulations, if there is one.
    """

    def __init__(
        self,
        policy: Policy | str,
        planner: Planner | str | None = None,
        renderer: str = "raster",
        patience: int = PATIENCE,
        inference_address: str = "",
    ) -> None:
        self.address, self.planner_address = address_of(policy), address_of(planner)
        self.renderer, self.patience = renderer, patience
        self.policy = (
            load_policy(policy, inference_address) if isinstance(policy, str) else fitting("policy", type(policy).__name__, policy)
        )
        self.planner: Planner | None = None
        if isinstance(planner, str):
            self.planner = load_planner(planner) if planner else None
        elif planner is not None:
            self.planner = fitting("planner", type(planner).__name__, planner)
        self._rules: dict[str, Planner] = {"rule": OrderPlanner(), "rule:privileged": RulePlanner()}
        self._decider: Policy | None = None if isinstance(policy, str) else self.policy

    def roles(self, mode: str) -> tuple[Policy, Planner | None]:
        """Who acts and who plans; no planner means that nobody says anything."""
        if mode not in MODES:
            raise unknown("mode", mode, MODES)
        policy = OraclePolicy() if mode in ("offline", "planner") else self.policy
        if mode in PLANNED and self.planner is None:
            raise EtudeError(f"--mode {mode} needs a planner; there is none")
        planner = self.planner if mode in PLANNED else self._rules.get(mode)
        if planner is not None and isinstance(policy, OraclePolicy) and policy.colour_blind:
            raise EtudeError(f"oracle:colour_blind mistakes a whole goal, but --mode {mode} gives sub-tasks: use oracle, or oracle:noise=…")
        return policy, planner

    def decider(self, mode: str) -> Policy:
        """Who answers questions: policies may have a form of their own for decisions; there is nothing to plan."""
        if mode != "vanilla":
            raise EtudeError(f"--mode {mode} is for robots: decisions have no sub-tasks")
        if self._decider is None:
            self._decider = load_decider(self.address) or self.policy
        return self._decider

    def contracts(self) -> dict[str, Any]:
        """What policy and planner ask for, as plain data."""
        return {"policy": self.policy.contract.to_data(), "planner": self.planner.contract.to_data() if self.planner else None}


@dataclass
class Trajectory:
    """What happened in an episode, step by step: enough to make a video of it or to play it again."""

    actions: list[Array]
    words: list[tuple[str, str]]
    episode: Episode | None  # None where there is nothing to record on video: a decision
    simulation: Simulation | None = None  # as it ended


class Rollout:
    """One episode being played, until it is over: at success, when success has become impossible, or at its horizon.

    It gives its steps one by one; ``record`` plays what is left of them. ``trajectory`` holds what was done so far.
    """

    def __init__(self, players: Players, name: str, mode: str = "vanilla") -> None:
        self._begun = time.perf_counter()
        self._record: Record | None = None
        found = find(name)
        self.trajectory = Trajectory([], [], None)
        if isinstance(found, Trial):
            self._steps = self._decided(players.decider(mode), found)
            return
        policy, planner = players.roles(mode)
        contract = policy.contract
        refuse_mismatches(contract, [found])
        # Frames on which a planner is scored are those of every control step, not those between keyposes.
        control: ActionSpace | None = "ee_delta" if mode == "offline" and found.control == "keypose" else contract.action
        seen = (*contract.cameras, *(planner.contract.cameras if planner is not None else ()))
        played = found.under(control)
        stage = _Stage(played.seen_by(seen), contract, policy, planner, mode, players)
        self.trajectory = Trajectory([], [], played, stage.simulation)
        self._steps = self._played(stage, found, mode)

    def __iter__(self) -> Iterator[PlayedStep]:
        return self._steps

    @property
    def record(self) -> Record:
        """What became of the episode."""
        for _ in self._steps:
            pass
        if self._record is None:
            raise EtudeError("the episode was broken off, so that nothing is known about its end")
        return self._record

    def _decided(self, policy: Policy, trial: Trial) -> Iterator[PlayedStep]:
        from etude.evaluation.decide import deciding

        self._record = yield from deciding(policy, trial)

    def _played(self, stage: _Stage, found: Episode, mode: str) -> Iterator[PlayedStep]:
        simulation, done = stage.simulation, self.trajectory
        reached: dict[str, int] = {}
        _note(simulation, reached)
        total = 0.0
        while not simulation.over:
            action = stage.action()
            status = simulation.step(action)
            total += status.reward
            stage.stepped()
            _note(simulation, reached)
            words = stage.words()
            done.actions.append(action)
            done.words.append(words)
            yield PlayedStep(simulation.steps, stage.seen, action, status.reward, {
                "success": status.satisfied, "progress": status.progress, "subtask": words[0], "step": words[1],
            })  # fmt: skip
        stages, asked = stage.finished(), mode == "offline"  # what the planner is asked is all that counts then, not what the oracle does
        success = all(s.right for s in stages) if asked else simulation.status.satisfied
        fault = stage.fault(success)
        self._record = Record(
            id=found.id,
            episode=found.name,
            mode=mode,
            level=found.level,
            outcome="success" if success else "failure",
            steps=simulation.steps,
            reward=round(total, 6),
            progress=round(simulation.status.progress, 6),
            subgoals=_subgoals(simulation, reached),
            first_failure=None if asked else simulation.monitor.first_failure(),
            stages=stages,
            fault=fault,
            cause=None if success or asked else stage.cause(misled_at(stages, fault)),
            events=tuple(EventOutcome(e.json_kind, e.step, h) for e, h in zip(simulation.episode.events, simulation.happened, strict=True)),
            unreachable=0 if success or asked else simulation.unreachable,
            least=found.least if stage.episode.control in PRIMITIVES else 0,
            timings={k: round(v, 4) for k, v in {"seconds": time.perf_counter() - self._begun, **stage.seconds}.items()},
        )


def play(players: Players, name: str, mode: str = "vanilla") -> tuple[Record, Trajectory]:
    """Run one episode until it is over."""
    rollout = Rollout(players, name, mode)
    return rollout.record, rollout.trajectory


def attempted(players: Players, name: str, mode: str = "vanilla") -> tuple[Record, Trajectory | None]:
    """The same, whatever happens: what breaks is an error beside the results, never taken for a failure of the policy."""
    begun = time.perf_counter()
    try:
        return play(players, name, mode)
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


def _note(simulation: Simulation, reached: dict[str, int]) -> None:
    for node in simulation.monitor.nodes():
        if node.status.satisfied and node.path not in reached:
            reached[node.path] = simulation.steps


def _subgoals(simulation: Simulation, reached: dict[str, int]) -> tuple[Subgoal, ...]:
    return tuple(
        Subgoal(
            n.path,
            n.goal.json_kind,
            describe(n.goal, simulation.episode.scene),
            n.status.satisfied,
            round(n.status.progress, 6),
            n.status.violated,
            reached.get(n.path),
            n.goal.noted(n),
        )
        for n in simulation.monitor.nodes()
    )


def words_of(policy: Policy) -> tuple[str, str]:
    """What a :class:`~etude.policies.policy.SpeakingPolicy` says of its latest action: the sub-task and the step, for videos and labels."""
    found: object = called("policy", getattr, policy, "words")
    if not isinstance(found, tuple) or len(found) != 2 or not all(isinstance(text, str) for text in found):
        raise EtudeError(f"the policy's attribute 'words' must be two texts in a tuple, the sub-task and the step; got {found!r:.60}")
    return found


def told_to(contract: Contract, episode: Episode) -> tuple[str, Sequence[Picture | Views]]:
    """The instruction in the form that a contract asks for: the text, and the pictures in it."""
    told = episode.instruction
    if contract.told == "text":
        return told.text, ()
    size = contract.size or SUITES[episode.parsed.suite].size
    if contract.told == "views":
        return told.template(), told_views(episode, size, contract.camera_names)
    return multimodal(told, told_in(episode), size[0])


def checked_chunk(given: object, contract: Contract, control: str, width: int) -> list[Array]:
    """What a policy gave, as actions that are carried out before it is asked again; what is none is refused."""
    shape = f"(n, {width})"
    found = numbers(given, "what the policy gave", f"actions {shape}, as numbers")
    chunk = found[None] if found.ndim == 1 else found
    if chunk.ndim != 2 or not len(chunk) or chunk.shape[1] != width:
        raise EtudeError(f"the policy gave actions of shape {found.shape}; {control!r} takes {shape}")
    if len(chunk) > contract.chunk:
        raise EtudeError(f"the policy gave {len(chunk)} actions at once; its contract says at most {contract.chunk}")
    if not np.isfinite(chunk).all():
        raise EtudeError("the policy gave an action that is not finite")
    return list(chunk[: contract.execute])


class _Stage:
    """A running episode with those who act in it."""

    def __init__(self, episode: Episode, contract: Contract, policy: Policy, planner: Planner | None, mode: str, players: Players) -> None:
        self.episode, self.contract, self._policy = episode, contract, policy
        self.simulation = Simulation(episode)
        self._witness = self._looking_on()
        self._observer = ContractObserver(self.simulation, contract, players.renderer)
        self._conversion = action_conversion(contract, self.simulation)
        self._width = self._conversion.width if self._conversion is not None else self.simulation.action_size
        self._parts: list[Array] = []  # of an action that is being converted
        if (begin := beginning(mode)) is not None:
            begin(self.simulation)
        self._words = ("", "")
        self._speaks: bool | None = None  # found out when it has acted: not before that need its words be there
        self._queue: list[Array] = []
        self.seen: Observation = {}
        self.seconds = {"policy": 0.0}
        called("policy", policy.reset, *told_to(contract, episode), episode.name)
        self._guide: Guide | None = None
        self._hand = HandTransitions(episode.control, simulated_hand(self.simulation)) if mode in ("rule", "coupled") else None
        self._start = Keypose(self.simulation.robot.tip(), False, step="Move home")
        self._home: KeyposeMotion | None = None
        if planner is not None:
            self.seconds["planner"] = 0.0
            wanted = planner.contract
            if isinstance(planner, AdaptingPlanner):
                wanted = called("planner", planner.contract_for, [c.name for c in episode.scene.cameras])
            looker = ContractObserver(self.simulation, wanted, players.renderer)
            called("planner", planner.reset, *told_to(wanted, episode), episode.name)
            self._guide = Guide(self.simulation, planner, looker, players.patience, mode != "offline", self._hand)

    def _looking_on(self) -> Witness | None:
        """Who will have to say what went wrong, where a suite has somebody for that."""
        witness = SUITES[self.episode.parsed.suite].witness
        found = witness(self.simulation) if witness is not None else None
        if found is not None:
            self.simulation.heartbeat = found.look
        return found

    def cause(self, misled: int | None) -> str | None:
        """What went wrong in an episode that failed; ``misled``: the step at which a planner said what was never made good."""
        sorts = SUITES[self.episode.parsed.suite].cause
        if self._witness is not None:
            return self._witness.cause(misled, self._guide is not None and self._guide.follows)
        return sorts(self.simulation) if sorts is not None else None

    def action(self) -> Array:
        """The next action; a planner is asked first where it is time to."""
        if self._home is not None and (homewards := self._homewards(self._home)) is not None:
            return homewards
        self._words = ("", "")
        if self._guide is not None and self._guide.waiting:
            begun = time.perf_counter()
            self._guide.ask()
            self.seconds["planner"] += time.perf_counter() - begun
            if self._guide.follows:
                self._queue.clear()  # what was meant for the last sub-task
                self._parts.clear()
            if self._hand is not None and self.simulation.steps:
                called("policy", self._policy.reset, self._guide.text, (), self.episode.name)
        if not self._queue and not self._parts:
            begun = time.perf_counter()
            self._queue = self._chunk(self._policy)
            self.seconds["policy"] += time.perf_counter() - begun
        if self._conversion is None:
            return self._queue.pop(0)
        self._parts = self._parts or self._conversion.parts(self._queue.pop(0))
        return self._conversion.action(self._parts.pop(0))

    def _homewards(self, motion: KeyposeMotion) -> Array | None:
        """The way back to where the arm began, which takes nothing from the policy's time; None when it is there."""
        simulation = self.simulation
        self._words = ("", self._start.step)
        if simulation.episode.control == "keypose":
            self._home, action = None, self._start.to_action()
        elif (aim := motion.aim(simulation.monitor.watch)) is None:
            self._home = None
            return None
        else:
            action = converted(delta_action(aim, simulation.monitor.watch.tip), simulation)
        simulation.granted += 1
        return action

    def _chunk(self, policy: Policy) -> list[Array]:
        self.seen = seen = self._observer.look()
        if self._guide is not None and self._guide.follows:
            seen["instruction"] = self._guide.text
            if self.contract.privileged:
                seen["subtask"] = self._guide.subtask
        if self.contract.privileged:
            seen["simulation"] = self.simulation
        return checked_chunk(called("policy", policy.act, seen), self.contract, self.episode.control, self._width)

    def stepped(self) -> None:
        """A control step is over."""
        if self._guide is None or self._guide.waiting:  # it waits while the arm moves home
            return
        self._guide.stepped()
        simulation = self.simulation
        if self._guide.waiting and self._hand is not None and self._hand.leaves_home:
            self._home = self._start.motion(rng(simulation.episode.parsed, f"home/{simulation.steps}"))

    def words(self) -> tuple[str, str]:
        """Sub-task and step of the latest action, where somebody knows them."""
        if self._words[1] == self._start.step and self._guide is not None and self._guide.waiting:
            return self._words
        if self._speaks is None:
            self._speaks = called("policy", isinstance, self._policy, SpeakingPolicy)
        if self._speaks:
            self._words = words_of(self._policy)
        return (self._guide.text, self._words[1]) if self._guide is not None and self._guide.follows else self._words

    def fault(self, success: bool) -> Fault | None:
        """Whose fault a failure was, where there is a planner."""
        return self._guide.fault(success) if self._guide is not None else None

    def finished(self) -> tuple[GivenSubtask, ...]:
        """The sub-tasks that were given, in order, once nobody has to look any more."""
        if self._witness is not None:
            self.simulation.heartbeat = None  # or simulation and witness would hold each other for a long time
        return self._guide.finished() if self._guide is not None else ()


def beginning(mode: str) -> Callable[[Simulation], None] | None:
    """What is done in this mode before the first action, for those who carry out the actions again."""
    return (lambda s: take_hold(s, Oracle(s.episode, s.world, s.monitor))) if mode == "grasped" else None


LONGEST = 8  # keyposes for a grasp
STEPS = 400  # control steps for one
LIFTED = 0.04  # m by which the thing is raised


def take_hold(simulation: Simulation, oracle: Oracle) -> None:
    """Have the oracle carry out the first unit of the episode's goal, lifting included. What it takes counts as steps."""
    node = next((n for n in simulation.monitor.nodes() if isinstance(n.goal, Control)), None)
    if node is None:
        raise EtudeError(f"{simulation.episode.name} does not begin with a grasp")
    assert isinstance(node.goal, Control)
    if simulation.episode.control in PRIMITIVES:
        left = LONGEST
        while left and not simulation.over:
            held = node.status.satisfied
            if held and not node.goal.lift:
                break
            stroke = oracle.stroke(node)
            if stroke is None:
                break
            simulation.step(stroke.to_action())
            left = 0 if held else left - 1
        return
    raised = 0.0
    for _ in range(STEPS):
        if simulation.over:
            return
        if node.status.satisfied:
            raised = raised or simulation.robot.tip().position[2]
            if not node.goal.lift or simulation.robot.tip().position[2] > raised + LIFTED:
                return
        aim = oracle.aim(node)
        simulation.step(np.asarray(converted(delta_action(aim, simulation.monitor.watch.tip), simulation)))
