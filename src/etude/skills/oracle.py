"""The oracle: chooses the next unsatisfied leaf greedily, and asks the skill for that kind of leaf what to do next.

It reads the true state and keeps nothing but hints, so it can take over from whatever state another policy left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from etude.episode import Episode
from etude.goals.goal import Goal, Node
from etude.goals.monitor import Monitor
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream, rng
from etude.pose import Pose
from etude.scene.world import World
from etude.skills.aim import GENTLE, Aim


@dataclass
class Context:
    """What a skill may use: the look at the world, the leaf's node, a stream of its own, and a scratch pad of hints for this leaf."""

    watch: Watch
    node: Node
    stream: Stream
    hints: dict[str, object]


Skill = Callable[[Context], Aim]
_SKILLS: dict[type[Goal], Skill] = {}


def skill(*kinds: type[Goal]) -> Callable[[Skill], Skill]:
    """Register a function as the skill for leaves of these kinds."""

    def register(function: Skill) -> Skill:
        for kind in kinds:
            _SKILLS[kind] = function
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

    def aim(self, node: Node | None = None) -> Aim:
        """What to do next: for this leaf, or for the one that comes next in the goal."""
        node = node or self._monitor.next_leaf()
        robot = self._world.robot
        assert robot is not None
        if node is None:
            return Aim(robot.tip(), robot.closed, task="Done", step="Do nothing")
        if node.path != self._path:
            self._path, self._hints = node.path, {}
            self._visits += 1
        try:
            work = _SKILLS[type(node.goal)]
        except KeyError:
            raise EtudeError(f"the oracle has no skill for {type(node.goal).__name__}") from None
        stream = rng(self._episode.parsed, f"oracle/{node.path}/{self._visits}")
        return work(Context(self._monitor.watch, node, stream, self._hints))


def held_still(watch: Watch, closed: bool, task: str = "") -> Aim:
    """Stay where we are."""
    return Aim(Pose(watch.tip.position, watch.tip.rotation), closed, GENTLE, task, "Do nothing")


def named(aim: Aim, task: str) -> Aim:
    """The aim with its sub-task in words."""
    return replace(aim, task=task)
