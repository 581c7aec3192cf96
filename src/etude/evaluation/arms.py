"""One policy, several arms: success by arm and task, with what an arm could not reach told apart from what the policy got wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from etude.arithmetic import total
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.names import EpisodeName

OWN = "its own"  # the arm of a suite, where a name asks for no other


@dataclass(frozen=True)
class ArmRow:
    """Episodes of a task with an arm. ``failures`` are those in which every keypose was within reach; in ``beyond`` some were not, and the
    episode failed; ``unplayable`` were asked for and left out, because the arm cannot be held over what has to be moved."""

    suite: str
    task: str
    arm: str
    successes: int
    failures: int
    beyond: int
    unplayable: int

    @property
    def episodes(self) -> int:
        """That were played to their end."""
        return self.successes + self.failures + self.beyond

    @property
    def asked(self) -> int:
        """That were played, or would have been."""
        return self.episodes + self.unplayable

    @property
    def unreachable(self) -> float:
        """The share of those that failed over the arm's reach, or could not be played with it."""
        return (self.beyond + self.unplayable) / self.asked if self.asked else 0.0

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "suite": self.suite, "task": self.task, "arm": self.arm, "episodes": self.episodes,
            "success": round(self.successes / self.episodes, 4) if self.episodes else None, "failures": self.failures,
            "out_of_reach": self.beyond, "unplayable": self.unplayable, "unreachable": round(self.unreachable, 4),
        }  # fmt: skip

    def __str__(self) -> str:
        parts = [f"{self.beyond} out of reach"] * bool(self.beyond) + [f"{self.unplayable} unplayable"] * bool(self.unplayable)
        return f"{self.successes}/{self.episodes}" + (f" ({', '.join(parts)})" if parts else "")


def arm_of(name: EpisodeName) -> str:
    """The arm that an episode's name asks for."""
    return dict(name.options).get("robot", OWN)


def other_arms(records: Sequence[Record]) -> bool:
    """Was anything played with another arm than a suite's own?"""
    return any(arm_of(name_of(r)) != OWN for r in records)


def by_arm(records: Sequence[Record], out_of_reach: Sequence[str] = ()) -> list[ArmRow]:
    """A row for each task and arm, in the order in which they were played. ``out_of_reach``: names that were left out for their arm's
    sake."""
    left = [EpisodeName.parse(name) for name in out_of_reach]
    played = [(name_of(r), r) for r in records if r.outcome != "error"]
    keys = dict.fromkeys((name.suite, name.task, arm_of(name)) for name in (*(name for name, _ in played), *left))
    found = []
    for key in keys:
        here = [r for name, r in played if (name.suite, name.task, arm_of(name)) == key]
        beyond = total(not r.success and r.unreachable > 0 for r in here)
        successes = total(r.success for r in here)
        unplayable = total((name.suite, name.task, arm_of(name)) == key for name in left)
        found.append(ArmRow(*key, successes, len(here) - successes - beyond, beyond, unplayable))
    return found
