"""The oracle: chooses the next unsatisfied leaf greedily, and asks the skill for that kind of leaf what to do next.

It reads the true state and keeps nothing but hints, so it can take over from whatever state another policy left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

from etude.episodes import Episode
from etude.goals.goal import SWAYING, Goal, GoalNode
from etude.goals.monitor import Monitor
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream, rng
from etude.scene.world import World
from etude.skills.aim import GENTLE, NOTHING, Aim
from etude.skills.keypose_motion import Keypose
from etude.skills.steady import LeafWords
from etude.skills.strokes import Stroke

T = TypeVar("T")
G = TypeVar("G", bound=Goal)
G_co = TypeVar("G_co", bound=Goal, covariant=True)


@dataclass
class Context(Generic[G_co]):
    """What a skill may use: the look at the world, the leaf's node, a stream, a scratch pad for this leaf, and what it is part of."""

    watch: Watch
    node: GoalNode
    stream: Stream
    hints: dict[str, Any]
    parent: GoalNode | None = None

    @property
    def goal(self) -> G_co:
        """The leaf."""
        return cast(G_co, self.node.goal)


Skill = Callable[[Context[G]], Aim]
Plan = Callable[[Context[G]], Stroke | Keypose]
_SKILLS: dict[type[Goal], Skill[Any]] = {}
_PLANS: dict[type[Goal], Plan[Any]] = {}


def skill(*kinds: type[G]) -> Callable[[Skill[G]], Skill[G]]:
    """Register a function, in whatever module, as the skill for leaves of these kinds and of kinds derived from them."""

    def register(function: Skill[G]) -> Skill[G]:
        for kind in kinds:
            there = _SKILLS.setdefault(kind, function)
            if there is not function:
                raise EtudeError(f"the skill of {function.__module__} for {kind.__name__} is there already, from {there.__module__}")
        return function

    return register


def planned(*kinds: type[G], steered: bool = True) -> Callable[[Plan[G]], Plan[G]]:
    """Register a function that says with which stroke to work on leaves of these kinds; where it is ``steered`` by, as their skill too."""

    def register(function: Plan[G]) -> Plan[G]:
        def follow(context: Context[G]) -> Aim:
            if "motion" not in context.hints:  # what is being carried out is not thought over at every step
                context.hints["motion"] = function(context).motion(context.stream)
            aim: Aim | None = context.hints["motion"].aim(context.watch)
            if aim is None:
                del context.hints["motion"]
                return held_still(context.watch, context.watch.robot.closed, context.goal.saying(context.node))
            return replace(aim, task=context.goal.saying(context.node))

        if steered:
            skill(*kinds)(functools.wraps(function)(follow))
        _PLANS.update(dict.fromkeys(kinds, function))
        return function

    return register


class Oracle:
    """Solves an episode with the true state. ``aim`` once before every control step."""

    def __init__(self, episode: Episode, world: World, monitor: Monitor) -> None:
        from etude.skills import repertoire  # noqa: F401  (registers the skills)

        self._episode, self._world, self._monitor = episode, world, monitor
        self._worked_on: tuple[str, Goal | None, int] = ("", None, 0)
        self._hints: dict[str, Any] = {}
        self._visits = 0
        self._parent: GoalNode | None = None
        self._looked = False
        self._words = LeafWords()

    def aim(self, node: GoalNode | None = None, parent: GoalNode | None = None) -> Aim:
        """What to do next: for this leaf, or for the one that comes next in the goal. ``parent``: for one that is no part of it."""
        self._refuse_unknown(_SKILLS, "skill")
        told, node = node is not None, node or self._next_leaf()
        robot = self._world.robot
        assert robot is not None
        if node is None:
            return Aim(robot.tip(), robot.closed, task="Done", step=NOTHING)
        aim = _function(_SKILLS, "skill", node.goal)(self._context(node, parent))
        return aim if told else self._words.of(node, aim)

    def _next_leaf(self) -> GoalNode | None:
        """The leaf that comes next in the goal; or the one at work, where what was done before it only sways under it."""
        node = self._monitor.next_leaf()
        if node is None or not node.reached or node.status.progress < SWAYING or node.path == self._worked_on[0]:
            return node
        path, goal, _ = self._worked_on
        return next((n for n in self._monitor.nodes() if (n.path, n.goal) == (path, goal) and not n.status.satisfied), node)

    def stroke(self, node: GoalNode | None = None, parent: GoalNode | None = None) -> Stroke | Keypose | None:
        """The same as one primitive: what to pick and where to place it, or how to sweep; None when all is done."""
        self._refuse_unknown(_PLANS, "stroke")
        node = node or self._monitor.next_leaf()
        if node is None:
            return None
        return _function(_PLANS, "stroke", node.goal)(self._context(node, parent))

    def _refuse_unknown(self, table: dict[type[Goal], T], what: str) -> None:
        """Before the first step, refuse a goal with a leaf that could not be worked on when its turn comes."""
        nodes = [] if self._looked else [self._monitor.root]
        self._looked = True
        while nodes:
            node = nodes.pop()
            if node.members and _known(table, node.goal) is None:
                nodes.extend(node.members)
            else:
                _function(table, what, node.goal)

    def _context(self, node: GoalNode, parent: GoalNode | None) -> Context[Any]:
        now = (node.path, node.goal, self._monitor.interventions)  # another planner's leaf may have the same path
        if now != self._worked_on:  # what was thought of before somebody moved a thing is thought over
            self._worked_on, self._hints, self._parent = now, {}, parent or self._monitor.parent(node)
            self._visits += 1
        stream = rng(self._episode.parsed, f"oracle/{node.path}/{self._visits}")
        return Context(self._monitor.watch, node, stream, self._hints, self._parent)


def _known(table: dict[type[Goal], T], goal: Goal) -> T | None:
    return next((table[kind] for kind in type(goal).__mro__ if kind in table), None)


def _function(table: dict[type[Goal], T], what: str, goal: Goal) -> T:
    found = _known(table, goal)
    if found is None:
        kind, way = type(goal).__name__, "skill" if table is _SKILLS else "planned"
        raise EtudeError(f"the oracle has no {what} for the goal {kind}; register a function for it with @{way}({kind})")
    return found


def held_still(watch: Watch, closed: bool, task: str = "") -> Aim:
    """Stay where we are."""
    return Aim(watch.tip, closed, GENTLE, task, NOTHING)


def named(aim: Aim, task: str) -> Aim:
    """The aim with its sub-task in words."""
    return replace(aim, task=task)
