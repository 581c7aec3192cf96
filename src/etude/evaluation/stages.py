"""The stages of a demonstration as a planner is asked about them: which frames, which stage each belongs to, what went before."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from etude.episodes import Episode
from etude.goals.goal import GoalNode
from etude.goals.monitor import Monitor
from etude.skills.subtasks import describe, right_now
from etude.suites.suite import SUITES


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
    """The stage that is worked on now; None when the goal is reached.

    Leaves next to each other that have the same words are one stage.
    """
    now = next(iter(right_now(monitor).values()), None)
    if now is None:
        return None
    groups = [(text, list(members)) for text, members in groupby(_worded(monitor.root), key=lambda node: describe(node.goal))]
    number = next(k for k, (_, members) in enumerate(groups) if any(member is now for member in members))
    return Position(number, tuple(text for text, _ in groups))


def _worded(node: GoalNode) -> list[GoalNode]:
    """The nodes of a tree that have words, in order."""
    return [node] if node.goal.words() else [found for member in node.members for found in _worded(member)]
