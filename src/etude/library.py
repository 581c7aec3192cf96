"""From names to episodes: finds the task, samples, applies options. Suites register their tasks here when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from etude.episode import Episode
from etude.goals.goal import Goal
from etude.names import EpisodeName, EtudeError, Stream, pick, rng, unknown
from etude.prompts.instruction import Instruction
from etude.scene.placement import NoRoom
from etude.scene.scene import Scene

SUITES = ("clevrskills",)
RESAMPLES = 20  # layouts tried before an episode is given up


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


Sampler = Callable[[Draw], Draft]


@dataclass(frozen=True)
class Task:
    """A task of a suite."""

    suite: str
    name: str
    sample: Sampler
    level: str
    splits: tuple[str, ...]
    horizon: int
    options: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """First line of the sampler's docstring."""
        return (self.sample.__doc__ or "").strip().splitlines()[0]


_TASKS: dict[str, dict[str, Task]] = {}


def task(
    suite: str, name: str, *, level: str, splits: tuple[str, ...], horizon: int, options: tuple[str, ...] = ()
) -> Callable[[Sampler], Sampler]:
    """Register a sampler as a task."""

    def register(sample: Sampler) -> Sampler:
        table = _TASKS.setdefault(suite, {})
        if name in table:
            raise ValueError(f"the task {suite}/{name} is registered twice")
        table[name] = Task(suite, name, sample, level, splits, horizon, options)
        return sample

    return register


def tasks(suite: str) -> dict[str, Task]:
    """The tasks of a suite, by name, in the suite's order."""
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES)
    importlib.import_module(f"etude.suites.{suite}")
    return _TASKS[suite]


def episode(name: str | EpisodeName) -> Episode:
    """The episode of this name. Equal names give equal episodes, anywhere."""
    parsed = EpisodeName.parse(name) if isinstance(name, str) else name
    found = pick(f"task of {parsed.suite}", parsed.task, tasks(parsed.suite))
    if parsed.split not in found.splits:
        raise unknown(f"split of {parsed.suite}/{parsed.task}", parsed.split, found.splits)
    if parsed.perturbations:
        raise unknown("perturbation", parsed.perturbations[0], ())
    for key, _ in parsed.options:
        if key not in ("prompt", *found.options):
            raise unknown(f"option of {parsed.suite}/{parsed.task}", key, ("prompt", *found.options))
    draft = _sampled(found, parsed)
    wanted = dict(parsed.options).get("prompt", "0")
    if not wanted.isdigit() or int(wanted) >= len(draft.instructions):
        raise EtudeError(f"prompt={wanted} does not exist; {parsed.suite}/{parsed.task} has prompts 0 to {len(draft.instructions) - 1}")
    return Episode(
        name=str(parsed),
        scene=draft.scene,
        goal=draft.goal,
        instruction=draft.instructions[int(wanted)],
        horizon=found.horizon,
        level=found.level,
        held=draft.held,
        roles=draft.roles,
    )


def _sampled(found: Task, name: EpisodeName) -> Draft:
    reason: EtudeError | None = None
    for attempt in range(RESAMPLES):
        try:
            return found.sample(replace(Draw(name), attempt=attempt))
        except NoRoom as error:
            reason = error
    raise EtudeError(f"{name} cannot be laid out in {RESAMPLES} attempts: {reason}")
