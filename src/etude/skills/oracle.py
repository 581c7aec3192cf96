"""The oracle: chooses the next unsatisfied leaf greedily, and asks the skill for that kind of leaf what to do next.

It reads the true state and keeps nothing but hints, so it can take over from whatever state another policy left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from etude.episodes import Episode
from etude.goals.goal import Goal, GoalNode
from etude.goals.monitor import Monitor
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream, rng
from etude.pose import Pose
from etude.scene.world import World
from etude.skills.aim import GENTLE, Aim
from etude.skills.journeys import Journey, Keypose
from etude.skills.strokes import Motion, Stroke

T = TypeVar("T")
G = TypeVar("G", bound=Goal)


@dataclass
class Context:
    """What a skill may use: the look at the world, the leaf's node, a stream, a scratch pad for this leaf, and what it is part of."""

    watch: Watch
    node: GoalNode
    stream: Stream
    hints: dict[str, object]
    parent: GoalNode | None = None

    def goal(self, kind: type[G]) -> G:
        """The leaf, which is of the kind that the skill is registered for."""
        assert isinstance(self.node.goal, kind)
        return self.node.goal


Skill = Callable[[Context], Aim]
Plan = Callable[[Context], Stroke | Keypose]
_SKILLS: dict[type[Goal], Skill] = {}
_PLANS: dict[type[Goal], Plan] = {}


def skill(*kinds: type[Goal]) -> Callable[[Skill], Skill]:
    """Register a function, in whatever module, as the skill for leaves of these kinds and of kinds derived from them."""

    def register(function: Skill) -> Skill:
        for kind in kinds:
            there = _SKILLS.setdefault(kind, function)
            if there is not function:
                raise EtudeError(f"the skill of {function.__module__} for {kind.__name__} is there already, from {there.__module__}")
        return function

    return register


def planned(*kinds: type[Goal]) -> Callable[[Plan], Plan]:
    """Register a function that says with which stroke to work on leaves of these kinds; it serves as their skill too."""

    def register(function: Plan) -> Plan:
        def follow(context: Context) -> Aim:
            if "motion" not in context.hints:  # what is being carried out is not thought over at every step
                context.hints["motion"] = function(context).motion(context.stream)
            motion = context.hints["motion"]
            assert isinstance(motion, (Motion, Journey))
            aim = motion.aim(context.watch)
            if aim is None:
                del context.hints["motion"]
                robot = context.watch.world.robot
                return held_still(context.watch, robot is not None and robot.closed, context.node.goal.saying(context.node))
            return replace(aim, task=context.node.goal.saying(context.node))

        skill(*kinds)(functools.wraps(function)(follow))
        _PLANS.update(dict.fromkeys(kinds, function))
        return function

    return register


class Oracle:
    """Solves an episode with the true state. ``aim`` once before every control step."""

    def __init__(self, episode: Episode, world: World, monitor: Monitor) -> None:
        from etude.skills import repertoire  # noqa: F401  (registers the skills)

        self._episode, self._world, self._monitor = episode, world, monitor
        self._path = ""
        self._hints: dict[str, object] = {}
        self._visits = 0
        self._parent: GoalNode | None = None
        self._looked = False

    def aim(self, node: GoalNode | None = None) -> Aim:
        """What to do next: for this leaf, or for the one that comes next in the goal."""
        self._refuse_unknown(_SKILLS, "skill")
        node = node or self._monitor.next_leaf()
        robot = self._world.robot
        assert robot is not None
        if node is None:
            return Aim(robot.tip(), robot.closed, task="Done", step="Do nothing")
        return _function(_SKILLS, "skill", node.goal)(self._context(node))

    def stroke(self, node: GoalNode | None = None) -> Stroke | Keypose | None:
        """The same as one primitive: what to pick and where to place it, or how to sweep; None when all is done."""
        self._refuse_unknown(_PLANS, "stroke")
        node = node or self._monitor.next_leaf()
        if node is None:
            return None
        return _function(_PLANS, "stroke", node.goal)(self._context(node))

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

    def _context(self, node: GoalNode) -> Context:
        if node.path != self._path:
            self._path, self._hints, self._parent = node.path, {}, self._monitor.parent(node)
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
    return Aim(Pose(watch.tip.position, watch.tip.rotation), closed, GENTLE, task, "Do nothing")


def named(aim: Aim, task: str) -> Aim:
    """The aim with its sub-task in words."""
    return replace(aim, task=task)
