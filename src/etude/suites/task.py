"""What a task is: a sampler from random streams to the parts of an episode, registered under a name.

Samplers raise :class:`~etude.scene.placement.NoRoom` when a layout cannot be completed; another one is drawn then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from etude.decisions.trial import Trial
from etude.episodes import ActionSpace
from etude.goals.goal import Goal
from etude.names import EpisodeName, Stream, rng
from etude.prompts.instruction import Instruction
from etude.scene.scene import Scene


@dataclass(frozen=True)
class Draw:
    """What a sampler draws from: random streams by purpose, the split, and the options of the episode's name."""

    name: EpisodeName
    attempt: int = 0

    @property
    def split(self) -> str:
        """The split of the name."""
        return self.name.split

    def rng(self, purpose: str) -> Stream:
        """The stream for a purpose. Layouts that found no room are drawn again from another one."""
        return rng(self.name, purpose if self.attempt == 0 else f"{purpose}/{self.attempt}")

    def option(self, key: str, default: str) -> str:
        """An option of the name, or its default."""
        return dict(self.name.options).get(key, default)


@dataclass(frozen=True)
class Draft:
    """What a sampler gives: the parts of an episode. The first of the instructions is the usual one; ``?prompt=k`` takes another."""

    scene: Scene
    goal: Goal
    instructions: tuple[Instruction, ...]
    held: str = ""
    roles: tuple[tuple[str, str], ...] = ()
    least: int = 0


Sampler = Callable[[Draw], Draft | Trial]  # decisions have neither scene nor goal: their sampler gives the whole trial


@dataclass(frozen=True)
class Task:
    """A task of a suite. ``horizon`` and ``budget`` as in an :class:`~etude.episodes.Episode`; ``without``: factors it is not given."""

    suite: str
    name: str
    sample: Sampler
    level: str
    splits: tuple[str, ...]
    horizon: int
    options: tuple[str, ...] = ()
    control: ActionSpace = "ee_delta"
    budget: int = 0
    without: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """First line of the sampler's docstring."""
        return (self.sample.__doc__ or "").strip().splitlines()[0]


TASKS: dict[str, dict[str, Task]] = {}  # suite → name → task, in order of registration


def task(
    suite: str,
    name: str,
    *,
    level: str,
    splits: tuple[str, ...],
    horizon: int,
    options: tuple[str, ...] = (),
    control: ActionSpace = "ee_delta",
    budget: int = 0,
) -> Callable[[Callable[[Draw], Draft]], Callable[[Draw], Draft]]:
    """Register a sampler as a task."""

    def register(sample: Callable[[Draw], Draft]) -> Callable[[Draw], Draft]:
        table = TASKS.setdefault(suite, {})
        if name in table:
            raise ValueError(f"the task {suite}/{name} is registered twice")
        table[name] = Task(suite, name, sample, level, splits, horizon, options, control, budget)
        return sample

    return register
