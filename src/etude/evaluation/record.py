"""What became of one episode: the line that is kept, and everything else is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from etude.evaluation.schema import SCHEMA, newer, read, written
from etude.names import SPARSE, EpisodeName, EtudeError, json_text, parse_json

Outcome = Literal["success", "failure", "error"]
Fault = Literal["planning", "execution"]
MODES = ("vanilla", "rule", "rule:privileged", "planner", "coupled", "coupled:privileged", "offline", "grasped")


@dataclass(frozen=True)
class Subgoal:
    """How a part of the goal stood at the end. ``reached`` is the control step at which it was first satisfied."""

    path: str
    kind: str
    words: str
    satisfied: bool
    progress: float
    violated: bool
    reached: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GivenSubtask:
    """A sub-task that a planner gave at control step ``begun``, and what it led to.

    ``expected`` are the sub-tasks that would have been right then; ``right`` says whether it was one of them, ``done`` whether it was
    achieved before the next one was asked for at step ``ended``, ``achieved`` whether one of those that were expected was. ``exact`` says
    whether it was right letter for letter, but for the case of letters and spaces around it. Both are None in results from before they
    were noted.
    """

    subtask: str
    expected: tuple[str, ...]
    right: bool
    done: bool
    begun: int
    ended: int
    exact: bool | None = None
    achieved: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EventOutcome:
    """An event of the episode, due at control step ``step``; ``happened``: the action during which it came about, None if it did not."""

    kind: str
    step: int
    happened: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class PlayedStep:
    """One step of an episode while it is played. ``number`` counts from 1; ``observation`` is what the policy was last shown.

    ``info``: of a robot's step ``success``, ``progress``, and what it is doing in words (``subtask``, ``step``); of a decision how many
    questions were ``asked``, and how many of them were answered ``right``.
    """

    number: int
    observation: Mapping[str, Any]
    action: NDArray[np.float64]
    reward: float
    info: Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """One line of ``episodes.jsonl``.

    An *error* is ours or the machine's, never the policy's failure: the episode could not be played to its end. ``fault`` says whether
    planning or execution went wrong first, where a planner took part; ``cause`` what went wrong, in the suite's own categories.
    ``judged`` says by whom, where it was not the goal: "person", of what a robot did (:mod:`etude.evaluation.robot_play`).
    ``unreachable``: of a failure, the number of keyposes that the arm could not come to.
    ``least`` is the smallest number of steps it could have taken, 0 where that is not known. ``timings`` are seconds, and the only part
    that differs between runs. ``extra``: see :mod:`etude.evaluation.schema`.
    """

    id: str
    episode: str
    mode: str
    level: str
    outcome: Outcome
    steps: int = 0
    reward: float = 0.0
    progress: float = 0.0
    subgoals: tuple[Subgoal, ...] = ()
    first_failure: str | None = None
    error: str | None = None
    stages: tuple[GivenSubtask, ...] = ()
    fault: Fault | None = None
    cause: str | None = None
    least: int = 0
    events: tuple[EventOutcome, ...] = field(default=(), metadata=SPARSE)
    unreachable: int = field(default=0, metadata=SPARSE)
    judged: str | None = field(default=None, metadata=SPARSE)
    film: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Was the goal reached?"""
        return self.outcome == "success"

    @property
    def name(self) -> EpisodeName:
        """The episode's name in its parts."""
        return EpisodeName.parse(self.episode)

    @property
    def key(self) -> tuple[str, str]:
        """What a run holds once: the episode and the mode."""
        return self.episode, self.mode

    def to_line(self) -> str:
        """One line of JSON, without its end."""
        data = written(self)
        data["return"] = data.pop("reward")
        data["timings"] = data.pop("timings")  # last, so that lines of two runs differ only at their ends
        return json_text({"schema": SCHEMA, **data}, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_line(cls, line: str) -> Record:
        """The record written as ``line``; raises :class:`EtudeError` when it is none."""
        data = parse_json(line)
        if not isinstance(data, dict) or "return" not in data:
            raise EtudeError("not a result of an episode")
        data["reward"] = data.pop("return")
        found = read(cls, newer(data, "result"), "result")
        if found.mode not in MODES:
            raise EtudeError(f"result.mode: {found.mode!r} is none of {', '.join(MODES)}")
        EpisodeName.parse(found.episode)
        if found.id.partition("~")[0] != found.episode:
            raise EtudeError(f"result.id: {found.id!r} is not an id of {found.episode}")
        return found
