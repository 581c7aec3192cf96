"""One trial as a value: what is asked, what is shown on every frame, and what is right to answer on each."""

from __future__ import annotations

from dataclasses import dataclass

from etude.decisions.graph import DecisionGraph
from etude.decisions.space import SeenThing
from etude.names import EpisodeName, canonical_json, episode_id, from_json

SILENT = ""  # the right action on a frame on which no task ends


@dataclass(frozen=True)
class Placed:
    """A task of a trial: it begins on frame ``start`` and is answered on its last frame.

    ``after`` makes it conditional: it is done only if the task of that number was answered with ``given``.
    """

    task: DecisionGraph
    start: int = 0
    after: int | None = None
    given: str = ""

    @property
    def end(self) -> int:
        """The frame on which it is answered."""
        return self.start + self.task.frames - 1


@dataclass(frozen=True)
class Trial:
    """``frames`` holds the things of every frame, ``answers`` the right action on each: an answer, or :data:`SILENT`.

    ``choices`` are the answers a subject may choose from. ``named`` says for frames with a distractor which property tells what is meant:
    (frame, property). ``fixation`` is "none", "withhold" (a cross until it is time to answer) or "action" (a cross when it is).
    """

    name: str
    tasks: tuple[Placed, ...]
    frames: tuple[tuple[SeenThing, ...], ...]
    answers: tuple[str, ...]
    choices: tuple[str, ...]
    level: str = ""
    stimuli: str = "procedural"
    split: str = "val"
    grid: tuple[int, int] = (2, 2)
    named: tuple[tuple[int, str], ...] = ()
    fixation: str = "withhold"

    @property
    def parsed(self) -> EpisodeName:
        """The name in its parts."""
        return EpisodeName.parse(self.name)

    @property
    def chance(self) -> float:
        """How often one is right who chooses any of the answers."""
        return 1 / len(self.choices)

    @property
    def id(self) -> str:
        """The key of results: the name and a digest of everything else."""
        return episode_id(self.parsed, self.to_json())

    def to_json(self) -> str:
        """The canonical text."""
        return canonical_json(self)

    @classmethod
    def from_json(cls, text: str) -> Trial:
        """The trial written as ``text``."""
        return from_json(cls, text)
