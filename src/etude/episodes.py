"""An episode: scene + goal + instruction, with embodiment inside the scene, control and horizon. The value everything passes around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from etude.goals.goal import Goal
from etude.names import SPARSE, EpisodeName, EtudeError, canonical_json, episode_id, from_json, unknown
from etude.prompts.instruction import Instruction
from etude.scene.bounds import refuse_extremes
from etude.scene.events import Event
from etude.scene.scene import Scene
from etude.scene.viewpoints import with_cameras

ActionSpace = Literal["ee_delta", "ee_pose", "joint", "pick_place", "sweep", "keypose", "answer"]
PRIMITIVES = ("pick_place", "sweep", "keypose")  # actions that take many control steps
MODALITIES = ("rgb", "depth", "segmentation", "points", "objects")  # what can be seen of an episode
LONGEST = 1_000_000  # actions of an episode: 14 hours of control steps
CONTROLS: tuple[ActionSpace, ...] = ("ee_delta", "ee_pose", "joint")  # spaces that every robot has
LARGEST_PICTURE = 4096  # pixels on a side: a slip of the pen, or a peer, must not ask for all memory there is
PRIMITIVE_STEPS = 100  # control steps that one of them counts for, when another space is used instead
KEYPOSE_STEPS = 25  # the same of a keypose, where control steps are told


@dataclass(frozen=True)
class Episode:
    """One task instance: scene, goal and instruction.

    ``name`` is its canonical name; ``horizon`` counts actions: control steps of 50 ms, or primitives.

    ``held`` is the entity that starts in the hand, if any. ``roles`` names the entities that perturbations refer to: "manipulated" and
    "receiving". ``level`` is the suite's own grouping (L0, L1, …). ``least`` is the smallest number of primitives that solves it, 0
    if unknown. ``budget`` is the number of control steps allowed in other action spaces than primitives; 0 stands for
    100 per primitive. ``events`` happen while it is played.

    >>> etude.episode("kitchen/cup_on_plate@test#3").under("joint").horizon
    """

    name: str
    scene: Scene
    goal: Goal
    instruction: Instruction
    horizon: int
    control: ActionSpace = "ee_delta"
    level: str = ""
    held: str = ""
    roles: tuple[tuple[str, str], ...] = ()
    least: int = 0
    budget: int = 0
    events: tuple[Event, ...] = field(default=(), metadata=SPARSE)

    def __post_init__(self) -> None:
        if not 1 <= self.horizon <= LONGEST:
            raise EtudeError(f"{self.name}: horizon must be from 1 to {LONGEST} actions, got {self.horizon}")
        for what, value in (("least", self.least), ("budget", self.budget)):
            if not 0 <= value <= LONGEST:
                raise EtudeError(f"{self.name}: {what} must be from 0 to {LONGEST}, got {value}")
        for event in self.events:
            if not 0 <= event.step <= LONGEST or not 0 <= event.lasting <= LONGEST:
                raise EtudeError(f"{self.name}: the step of an event must be from 0 to {LONGEST}, got {event.step}")

    @property
    def parsed(self) -> EpisodeName:
        """The name in its parts."""
        return EpisodeName.parse(self.name)

    @property
    def id(self) -> str:
        """The key of results: the name and a digest of everything else."""
        return episode_id(self.parsed, self.to_json())

    @property
    def spaces(self) -> tuple[ActionSpace, ...]:
        """Those in which it can be played, its own first. Where control steps are told, the hand can be sent to keyposes too."""
        return tuple(dict.fromkeys((self.control, *CONTROLS, *(("keypose",) if self.control in CONTROLS else ()))))

    def under(self, control: ActionSpace | None) -> Episode:
        """The same episode in another action space, its horizon in actions of that; None leaves it as it is."""
        if control is None or control == self.control:
            return self
        if control not in self.spaces:
            task = f"{self.parsed.suite}/{self.parsed.task}"
            raise unknown(f"action space of {task}", str(control), self.spaces)
        if control == "keypose":
            return replace(self, control=control, horizon=max(1, self.horizon // KEYPOSE_STEPS), budget=self.horizon)
        steps = (self.budget or self.horizon * PRIMITIVE_STEPS) if self.control in PRIMITIVES else self.horizon
        return replace(self, control=control, horizon=steps)

    def seen_by(self, cameras: Iterable[str]) -> Episode:
        """The same episode with those of the cameras in its scene that are one's own (:mod:`etude.scene.viewpoints`)."""
        scene = with_cameras(self.scene, cameras)
        return self if scene is self.scene else replace(self, scene=scene)

    def to_json(self) -> str:
        """The canonical text."""
        return canonical_json(self)

    @classmethod
    def from_json(cls, text: str) -> Episode:
        """The episode written as ``text``."""
        found = from_json(cls, text)
        refuse_extremes(found.scene, found.events)
        return found


def picture_size(size: Any, what: str = "size") -> tuple[int, int]:
    """(width, height) in pixels, if ``size`` is that."""
    form = f"{what} is (width, height) in pixels, from 1 to {LARGEST_PICTURE} each"
    if isinstance(size, str) or not isinstance(size, Sequence | np.ndarray) or len(size) != 2:
        raise EtudeError(f"{form}; got {size!r:.60}")
    sides = tuple(side.item() if isinstance(side, np.integer) else side for side in size)
    if not all(type(side) is int and 1 <= side <= LARGEST_PICTURE for side in sides):
        raise EtudeError(f"{form}; got {size!r:.60}")
    return sides[0], sides[1]
