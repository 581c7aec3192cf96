"""A planner at work in an episode: when it is asked, what it said, whether that was right, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, Episode
from etude.evaluation.fault import fault_of
from etude.evaluation.hand import HandTransitions, announced
from etude.evaluation.record import Fault, GivenSubtask
from etude.foreign import called
from etude.goals.goal import GoalNode
from etude.goals.monitor import Monitor
from etude.names import EtudeError
from etude.policies.answers import given, lenient, plain, strict
from etude.policies.policy import Planner, QuotingPlanner, StrictPlanner
from etude.skills.subtasks import CurrentSubtask, describe, meant, right_now, vocabulary
from etude.suites.suite import SUITES

SHORTEST = 10  # control steps between questions: a planner that repeats what is done already shall not be asked at every step
FEWEST = 8  # primitives, at most, that a sub-task may take before the planner is asked again


class Guide:
    """Asks the planner at the start, when a sub-task is done, and when it has not been for ``patience`` control steps.

    With a ``hand`` it is asked when that has changed instead, whether or not the sub-task was done: nothing of the true state is used.
    Patience then counts only where the end of a sub-task may leave the hand as it is, as in pouring.

    With ``follows`` False nobody follows what it says (the offline mode): it is asked whenever what would be right changes, or about
    frames at a fixed distance in suites that have it so (:func:`~etude.evaluation.guide.asked_every`). Those are questions apart from each
    other: the sub-tasks so far are then those of the demonstration, and answers count that are right once normalised. Otherwise answers
    are read leniently, unless the planner is a :class:`~etude.policies.policy.StrictPlanner`.
    """

    def __init__(
        self,
        simulation: Simulation,
        planner: Planner,
        observer: Observer,
        patience: int,
        follows: bool = True,
        hand: HandTransitions | None = None,
    ) -> None:
        primitive = simulation.episode.control in PRIMITIVES
        self._patience, self._shortest = (min(patience, FEWEST), 1) if primitive else (patience, SHORTEST)
        self._simulation, self._planner, self._observer, self.follows = simulation, planner, observer, follows
        self._hand = hand
        self._announced = announced(simulation.episode)
        known = vocabulary(simulation.episode)
        self._vocabulary = {text: known[text] for text in sorted(known)}  # the goal's own order would give the answer away
        self._every = 0 if follows else asked_every(simulation.episode)
        literal = called("planner", isinstance, planner, StrictPlanner) and called("planner", getattr, planner, "strict")
        self._read = strict if literal else plain if self._every else lenient
        self._stages: list[GivenSubtask] = []
        self._history: list[str] = []
        self._begun = 0
        self._right: dict[str, GoalNode] = {}
        self._own: Monitor | None = None  # judges a sub-task that is not one of the goal's, or not its turn
        self._done = False
        self._exact = False
        self.waiting = True
        self.text = ""
        self.node: GoalNode | None = None

    @property
    def subtask(self) -> CurrentSubtask:
        """What was said last, and what it stands for."""
        return CurrentSubtask(self.text, self.node, self._parent)

    @property
    def _parent(self) -> GoalNode | None:
        """What the sub-task is a unit of, where that is no part of the goal."""
        return None if self._own is None or self.node is self._own.root else self._own.root

    @property
    def _brought_about(self) -> bool:
        """Is what the last unit of a sequence leads to there? What falls into its place is where it was let go for a moment only."""
        return (
            self._own is not None
            and self._parent is not None
            and self._own.root.status.satisfied
            and self.node is self._own.root.members[-1]
        )

    def ask(self) -> None:
        """Have the planner say what comes next."""
        simulation = self._simulation
        seen = {**self._observer.look(), "vocabulary": tuple(self._vocabulary)}
        if self._planner.contract.privileged:
            seen["simulation"] = simulation
        if self._every:
            now = position(simulation.monitor)
            self._history = list(now.earlier) if now is not None else []
        told = (seen, simulation.episode.instruction.text, tuple(self._history))
        answer = called("planner", self._planner.next_subtask, *told)
        raw = called("planner", getattr, self._planner, "last_answer") if isinstance(self._planner, QuotingPlanner) else answer
        for text in (answer, raw):
            if not isinstance(text, str):
                raise EtudeError(f"the planner said {text!r:.60} ({type(text).__name__}); expected the next sub-task as text")
        self._right = right_now(simulation.monitor)
        if self._every:
            answer = raw
        understood = self._read(answer, tuple(self._vocabulary))
        self._exact = given(raw).strip().lower() in (text.lower() for text in self._right)
        self.text = understood or answer.strip()
        self._history.append(self.text)
        self._begun, self.waiting, self._done, self._own = simulation.steps, False, False, None
        self.node = None
        if understood in self._right:
            self.node = self._right[understood]
        elif understood is not None and (meaning := meant(self._vocabulary[understood], simulation.monitor.watch)) is not None:
            self._own = Monitor(meaning.whole, simulation.world)
            self.node = next(node for node in self._own.nodes() if node.goal == meaning.leaf)
            self.node.judge(self._own.watch)

    def stepped(self) -> None:
        """A control step is over: is it time to ask again?"""
        if self._own is not None and self.node is not None:
            self._own.update()
            self.node.judge(self._own.watch)  # whether or not it is its turn in the whole
        if self._hand is not None:
            self._done = self._done or self._finished
            if self._finished:
                self._onwards()
            if self._hand.happened() or (not self._announced and self._simulation.steps - self._begun >= self._patience):
                self._close()
            return
        if self.follows:
            self._done = self._finished
        else:
            self._done = list(right_now(self._simulation.monitor)) != list(self._right)
        taken = self._simulation.steps - self._begun
        if self._every:  # nothing is asked while what is done has yet to come to rest
            if taken % self._every == 0 and position(self._simulation.monitor) is not None:
                self._close()
        elif (self._done and (self.text in self._right or taken >= self._shortest)) or taken >= self._patience:
            self._close()

    @property
    def _finished(self) -> bool:
        return self.node is not None and (self.node.status.satisfied or self._brought_about)

    def _onwards(self) -> None:
        """Words may stand for several units in a row, and nobody says them again when one is done: what is meant now is the next."""
        if self._own is None:
            self.node = right_now(self._simulation.monitor).get(self.text, self.node)
        else:
            units = self._own.root.members
            at = next((k for k, unit in enumerate(units) if unit is self.node), len(units))
            if at + 1 < len(units) and describe(units[at + 1].goal, self._simulation.episode.scene) == self.text:
                self.node = units[at + 1]

    def _close(self) -> None:
        right = self.text in self._right
        done = self._done or not self.follows
        exact = right and self._exact
        achieved = any(node.status.satisfied for node in self._right.values())
        steps = self._simulation.steps
        self._stages.append(GivenSubtask(self.text, tuple(self._right), right, done, self._begun, steps, exact, achieved))
        self.waiting = True

    def finished(self) -> tuple[GivenSubtask, ...]:
        """Every sub-task that was given, the last one closed."""
        if not self.waiting:
            self._close()
        return tuple(self._stages)

    def fault(self, success: bool) -> Fault | None:
        """Whose fault it was that the episode failed; known when it is finished. Where nobody follows the planner, it can only be his."""
        if not self.follows:
            return None if success else "planning"
        return fault_of(self._stages, success, self._patience)


def asked_every(episode: Episode) -> int:
    """The number of control steps from one question about a frame to the next; 0 where a suite asks about changes, not about frames."""
    return SUITES[episode.parsed.suite].asked_every.get(episode.level, 0)


@dataclass(frozen=True)
class Position:
    """Where a demonstration stands: the number of the stage that is worked on, and the texts of all of them in order."""

    number: int
    stages: tuple[str, ...]

    @property
    def text(self) -> str:
        """The stage that is worked on."""
        return self.stages[self.number]

    @property
    def earlier(self) -> tuple[str, ...]:
        """The stages before it, oldest first."""
        return self.stages[: self.number]


def position(monitor: Monitor) -> Position | None:
    """The stage that is worked on now; None when all are done, and the goal is reached or will be once things have come to rest.

    Leaves next to each other that have the same words are one stage.
    """
    now = next(iter(right_now(monitor).values()), None)
    if now is None:
        return None
    scene = monitor.watch.world.scene
    groups = [(text, list(members)) for text, members in groupby(_worded(monitor.root), key=lambda node: describe(node.goal, scene))]
    number = next(k for k, (_, members) in enumerate(groups) if any(member is now for member in members))
    return Position(number, tuple(text for text, _ in groups))


def _worded(node: GoalNode) -> list[GoalNode]:
    """The nodes of a tree that have words, in order."""
    if not node.goal.sayable:
        return []
    return [node] if node.goal.words() else [found for member in node.members for found in _worded(member)]
