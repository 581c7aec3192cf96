"""Episodes on a robot that is somewhere else: etude leads, the policy is asked by its contract, a person judges.

What is asked for is that of the episode, by its name: instruction, sub-tasks, horizon. Its scene is for the person to set up; nothing of
the true state is known here, and nothing of it is used.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from etude.envs.observer import Observation
from etude.envs.simulation import SIZES
from etude.episodes import PRIMITIVES, Episode
from etude.evaluation.code import code_of
from etude.evaluation.fault import fault_of
from etude.evaluation.hand import FeltHand, HandTransitions
from etude.evaluation.judge import VERDICTS, Judge, JudgedEpisode, Verdict
from etude.evaluation.play import Players, broken, checked_chunk, told_to
from etude.evaluation.record import GivenSubtask, Record
from etude.foreign import called, in_a_line
from etude.library import episode as find_episode
from etude.names import EpisodeName, EtudeError, unknown
from etude.perturb.perturbation import find_perturbation
from etude.policies.answers import given, lenient, strict
from etude.policies.contract import Contract, converted, refuse_mismatches
from etude.policies.conventions import action_conversion, seen_as
from etude.policies.policy import AdaptingPlanner, Planner, Policy, QuotingPlanner, StrictPlanner
from etude.policies.robot_client import RemoteRobot
from etude.policies.robot_wire import CLOSED, OPENING, RobotFacts, RobotFeeling
from etude.pose import Array, Pose
from etude.scene.scene import Camera
from etude.skills.subtasks import describe, leaves, vocabulary

PERSON = "person"  # who judged, in records
REST, NEAR, IDLE = 0.005, 0.08, 20  # m: a tip that is at rest, and one near where it began; control steps for which it is idle there


class AtFault(EtudeError):
    """A person says that the robot or the set-up was at fault."""


@dataclass
class RobotBody:
    """The robot as actions are converted for it: where it is, by what it felt last."""

    episode: Episode
    feeling: RobotFeeling

    @property
    def robot(self) -> RobotBody:
        """Itself: it knows where its tip is."""
        return self

    def tip(self) -> Pose:
        """Of the tip, in the world."""
        return self.feeling.tip

    @property
    def action_size(self) -> int:
        """Numbers in an action."""
        return SIZES.get(self.episode.control, self.feeling.joints + 1)

    def hand(self) -> FeltHand:
        """What its hand knows of itself."""
        felt = self.feeling.proprioception
        return FeltHand(bool(felt[CLOSED] > 0.5), int(self.feeling.held), float(felt[OPENING]))


def subtasks(episode: Episode) -> tuple[str, ...]:
    """The sub-tasks of an episode's goal in their order; those next to each other with the same words are one."""
    return tuple(text for text, _ in groupby(describe(leaf, episode.scene) for leaf in leaves(episode.goal)))


@dataclass
class JudgedGuide:
    """Who says what comes next, and what the person said came of it. Without a ``planner`` the sub-tasks are given in their order."""

    episode: Episode
    planner: Planner | None
    order: tuple[str, ...]
    text: str = ""
    waiting: bool = True
    stages: list[GivenSubtask] = field(default_factory=list)
    _asked: int = 0
    _achieved: int = 0  # sub-tasks of the order that were done, one after the other
    _begun: int = 0
    _exact: bool = False

    @property
    def finished(self) -> bool:
        """Were all sub-tasks done, in their order?"""
        return self._achieved >= len(self.order)

    def ask(self, robot: RemoteRobot, wanted: Contract, steps: int) -> None:
        """Have the next sub-task said."""
        if self.planner is None:
            answer = raw = self.order[self._asked % len(self.order)]
            known: tuple[str, ...] = self.order
            read = strict
        else:
            known = tuple(sorted(vocabulary(self.episode)))
            seen = {**seen_as(wanted, robot.look(wanted)), "instruction": self.episode.instruction.text, "vocabulary": known}
            history = tuple(stage.subtask for stage in self.stages)
            answer = called("planner", self.planner.next_subtask, seen, self.episode.instruction.text, history)
            raw = called("planner", getattr, self.planner, "last_answer") if isinstance(self.planner, QuotingPlanner) else answer
            if not isinstance(answer, str) or not isinstance(raw, str):
                raise EtudeError(f"the planner said {answer!r:.60} ({type(answer).__name__}); expected the next sub-task as text")
            literal = called("planner", isinstance, self.planner, StrictPlanner) and called("planner", getattr, self.planner, "strict")
            read = strict if literal else lenient
        self._asked += 1
        self.text = read(answer, known) or answer.strip()
        self._exact = given(raw).strip().lower() in (text.lower() for text in self._expected)
        self._begun, self.waiting = steps, False

    @property
    def _expected(self) -> tuple[str, ...]:
        return self.order[self._achieved : self._achieved + 1]

    def close(self, done: bool, steps: int) -> None:
        """The sub-task is over."""
        expected = self._expected
        right = self.text in expected
        self._achieved += right and done
        self.stages.append(GivenSubtask(self.text, expected, right, done, self._begun, steps, right and self._exact, right and done))
        self.waiting = True


class Idleness:
    """Is the arm idle near where it began (RoboHiMan 4.7)? To be asked once after every action."""

    def __init__(self, body: RobotBody) -> None:
        self._body, self._home, self._last = body, body.tip(), body.tip()
        self._resting, self._left = 0, False

    def happened(self) -> bool:
        tip = self._body.tip()
        near, rests = math.dist(tip.position, self._home.position) < NEAR, math.dist(tip.position, self._last.position) < REST
        self._last = tip
        self._left = self._left or not near
        self._resting = self._resting + 1 if rests and near and self._left else 0
        enough = 1 if self._body.episode.control in PRIMITIVES else IDLE
        if self._resting < enough:
            return False
        self._resting, self._left = 0, False
        return True


class RobotRollout:
    """One episode on a robot, from its beginning to what a person says came of it."""

    def __init__(self, robot: RemoteRobot, judge: Judge, players: Players, advance: str) -> None:
        self._robot, self._judge, self._players, self._advance = robot, judge, players, advance

    def play(self, name: str, mode: str, number: int, total: int) -> Record:
        """Play it. A robot that is not there before it begins ends the run; what breaks later is an error of this episode alone."""
        self._robot.reach()
        begun = time.perf_counter()
        try:
            return self._played(find_episode(name), mode, number, total, begun)
        except KeyboardInterrupt:
            self._robot.close()  # its server stops it
            raise
        except AtFault as error:
            return self._marked(broken(name, mode, str(error), time.perf_counter() - begun))
        except Exception as error:
            self._robot.close()
            return self._marked(broken(name, mode, in_a_line(error), time.perf_counter() - begun))

    def _marked(self, record: Record) -> Record:
        return replace(record, judged=PERSON)

    def _played(self, found: Episode, mode: str, number: int, total: int, begun: float) -> Record:
        policy, planner = self._roles(mode)
        contract = policy.contract
        played = _on(found.under(contract.action), self._robot.facts)
        order = subtasks(found)
        shown = JudgedEpisode(number, total, found.name, mode, found.instruction.text, order, _changes(found))
        seconds = {"person": 0.0, "policy": 0.0, "robot": 0.0, "planner": 0.0}
        self._timed(seconds, "person", self._judge.ready, shown, self._robot.stop)
        body = RobotBody(played, self._timed(seconds, "robot", self._robot.begin, found.name, found.instruction.text, played.control))
        called("policy", policy.reset, *told_to(contract, found), found.name)
        guide, wanted = None, contract
        if mode != "vanilla":
            guide = JudgedGuide(found, planner, order)
            if planner is not None:
                wanted = _planner_contract(planner, self._robot.facts)
                called("planner", planner.reset, *told_to(wanted, found), found.name)
        steps = self._acted(policy, contract, guide, wanted, body, seconds)
        verdict = self._verdict(seconds, self._judge.episode, found.instruction.text)
        stages = tuple(guide.stages) if guide is not None else ()
        success = verdict == "done"
        done = sum(bool(stage.achieved) for stage in stages)
        return Record(
            id=found.id,
            episode=found.name,
            mode=mode,
            level=found.level,
            outcome="success" if success else "failure",
            steps=steps,
            progress=1.0 if success else round(min(done / len(order), 1.0), 6) if order else 0.0,
            stages=stages,
            fault=fault_of(stages, success, self._players.patience) if guide is not None else None,
            judged=PERSON,
            timings={k: round(v, 4) for k, v in {"seconds": time.perf_counter() - begun, **seconds}.items() if v or k != "planner"},
        )

    def _acted(
        self, policy: Policy, contract: Contract, guide: JudgedGuide | None, wanted: Contract, body: RobotBody, seconds: dict[str, float]
    ) -> int:
        """Have the policy act until the episode is over; gives the number of its actions."""
        robot, judge, control = self._robot, self._judge, body.episode.control
        conversion = action_conversion(contract, body)
        width = conversion.width if conversion is not None else body.action_size
        over = _transitions(self._advance, body) if guide is not None else None
        queue: list[Array] = []
        parts: list[Array] = []
        steps, told = 0, body.episode.instruction.text
        while steps < body.episode.horizon:
            word = self._timed(seconds, "person", judge.heard)
            if word == "end":
                break
            if guide is not None and not guide.waiting and word == "next":
                self._close(guide, steps, seconds)
                if guide.finished:
                    break
            if guide is not None and guide.waiting:
                self._timed(seconds, "planner", guide.ask, robot, wanted, steps)
                told = guide.text
                queue.clear()
                parts.clear()
                if steps:
                    called("policy", policy.reset, told, (), body.episode.name)
            if not queue and not parts:
                seen: Observation = {**seen_as(contract, self._timed(seconds, "robot", robot.look, contract)), "instruction": told}
                answer = self._timed(seconds, "policy", called, "policy", policy.act, seen)
                queue = checked_chunk(answer, contract, control, width)
            if conversion is not None:
                parts = parts or conversion.parts(queue.pop(0))
                action = conversion.action(parts.pop(0))
            else:
                action = queue.pop(0)
            body.feeling = self._timed(seconds, "robot", robot.act, action)
            steps += 1
            if body.feeling.stopped:
                break
            if guide is not None and over is not None and over.happened():
                self._close(guide, steps, seconds)
                if guide.finished:
                    break
                if isinstance(over, HandTransitions) and over.leaves_home and steps < body.episode.horizon:
                    body.feeling = self._timed(seconds, "robot", robot.home)
        if guide is not None and not guide.waiting:
            self._close(guide, steps, seconds)
        return steps

    def _close(self, guide: JudgedGuide, steps: int, seconds: dict[str, float]) -> None:
        guide.close(self._verdict(seconds, self._judge.subtask, guide.text) == "done", steps)

    def _verdict(self, seconds: dict[str, float], ask: Any, text: str) -> Verdict:
        said: Verdict = self._timed(seconds, "person", called, "judge", ask, text)
        if said not in VERDICTS:
            raise unknown("verdict of the judge", str(said), VERDICTS)
        if said == "at fault":
            raise AtFault(f"judged at fault, robot or set-up: {text}")
        return said

    def _timed(self, seconds: dict[str, float], who: str, function: Any, *arguments: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            seconds[who] += time.perf_counter() - begun

    def _roles(self, mode: str) -> tuple[Policy, Planner | None]:
        if mode == "rule":
            return self._players.policy, None  # the goal's sub-tasks in their order, which need no true state
        return self._players.roles(mode)


def _transitions(advance: str, body: RobotBody) -> HandTransitions | Idleness | None:
    """What ends a sub-task besides a person's word."""
    if advance == "idle":
        return Idleness(body)
    return HandTransitions(body.episode.control, body.hand) if advance == "hand" else None


def _on(episode: Episode, facts: RobotFacts) -> Episode:
    """The episode with the robot's own base and cameras, for what is converted and checked by them."""
    scene = episode.scene
    assert scene.robot is not None
    robot = scene.robot if not facts.base else replace(scene.robot, base=Pose.of(facts.base[:3], facts.base[3:]))
    cameras = tuple(Camera(name, Pose(), 40.0) for name in facts.cameras)
    return replace(episode, scene=replace(scene, robot=robot, cameras=cameras))


def _planner_contract(planner: Planner, facts: RobotFacts) -> Contract:
    if isinstance(planner, AdaptingPlanner):
        found: Contract = called("planner", planner.contract_for, list(facts.cameras))
        return found
    return planner.contract


def _changes(episode: Episode) -> tuple[str, ...]:
    return tuple(f"{name}: {find_perturbation(name).summary}" for name in episode.parsed.perturbations)


class RobotExecutor:
    """Plays the episodes of a run on a robot, one after the other, with a person who judges. As a context it reaches the robot at ``url``
    and loads who plays; its end lets go of the robot, whose server stops it. ``folder`` is the run's."""

    def __init__(self, url: str, judge: Judge, players: Callable[[], Players], folder: Path, advance: str) -> None:
        self._url, self._judge, self._make_players, self._folder, self._advance = url, judge, players, folder, advance

    def __enter__(self) -> Self:
        self._robot = RemoteRobot(self._url)
        self._players = self._make_players()
        return self

    def __exit__(self, *_: object) -> None:
        self._robot.close()

    def hello(self) -> dict[str, Any]:
        """What policy and planner ask for, what they are made of, and what the robot says of itself."""
        contracts, code = self._players.contracts(), code_of(self._players, self._folder)
        return {"contracts": contracts, "code": code, "robot": self._robot.facts.to_data()}

    def adapted(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Refuse what cannot be played on this robot, before the first step; gives what will be converted, by role."""
        facts, found = self._robot.facts, dict[str, list[str]]()
        players = {"policy": self._players.policy, "planner": self._players.planner}
        firsts = {(n.suite, n.task): n for n in map(EpisodeName.parse, reversed(names))}
        for name in map(EpisodeName.parse, names):
            for one in (find_perturbation(p) for p in name.perturbations):
                if one.phase == "observation":
                    raise EtudeError(f"{name}: {one.name} changes what is seen, which the cameras of a robot do not: leave it out")
        for role, player in players.items():
            if player is None:
                continue
            contract = _planner_contract(player, facts) if isinstance(player, Planner) else player.contract
            if contract.privileged:
                raise EtudeError(f"the {role} wants the true state, which no robot knows{'; --mode rule needs none' * (role == 'planner')}")
            for modality in contract.modalities if contract.cameras else ():
                if modality not in facts.modalities:
                    raise EtudeError(f"the {role} wants {modality!r}, the robot {facts.name} has {', '.join(map(repr, facts.modalities))}")
            episodes = [_on(find_episode(name), facts) for name in firsts.values()]
            refuse_mismatches(contract, episodes)
            if role == "policy":
                for episode in episodes:
                    if (space := contract.action or episode.control) not in facts.actions:
                        raise EtudeError(
                            f"action: policy gives {space!r}, the robot {facts.name} takes {', '.join(map(repr, facts.actions))}"
                        )
                words = list(dict.fromkeys(one for episode in episodes for one in converted(contract, episode)))
                found |= {role: words} if words else {}
        return found

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in the order of the plan."""
        todo = list(items)
        rollout = RobotRollout(self._robot, self._judge, self._players, self._advance)
        for number, (name, mode) in enumerate(todo, 1):
            yield rollout.play(name, mode, number, len(todo))
