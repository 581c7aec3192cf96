"""Which episodes the worlds of a batch play: decided by the seed, a world's number and how many it has played, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from etude.envs.arguments import choice
from etude.evaluation.choosing import choose, is_listed, places, selected
from etude.index import PREFIX, env_id
from etude.names import EpisodeName, EtudeError, pick
from etude.suites.suite import SUITES


@dataclass(frozen=True)
class EnvKind:
    """What a single environment is made of, beside the settings that all of a batch share."""

    id: str
    split: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    def make(self, settings: dict[str, Any]) -> gymnasium.Env[Any, Any]:
        """The environment. Its observations are not looked at for faults at every first step, as Gymnasium would by default."""
        own: dict[str, Any] = {} if self.split is None else {"split": self.split}
        if self.options:
            own["options"] = dict(self.options)
        return gymnasium.make(self.id, disable_env_checker=True, **own, **settings)


@dataclass(frozen=True)
class EpisodeStream:
    """The episodes of ``worlds`` worlds: of ``kinds`` in turn, seed by seed; or those of ``names``, each world its share, again and again.

    No two worlds are given the same episode, whatever is played in between.
    """

    kinds: tuple[EnvKind, ...]
    worlds: int
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.names and len(self.names) < self.worlds:
            raise EtudeError(f"{self.worlds} worlds need as many episodes, or more, and {len(self.names)} were named: take num_envs less")

    def episode(self, world: int, start: int, count: int) -> tuple[EnvKind, int | str]:
        """What a world plays after ``count`` others: a seed, counted from ``start`` on, or a name."""
        if self.names:
            own = self.names[world :: self.worlds]
            return self.named(own[count % len(own)])
        number = world + self.worlds * count
        return self.kinds[number % len(self.kinds)], start + number // len(self.kinds)

    def seeded(self, world: int, seed: int) -> tuple[EnvKind, int | str]:
        """What a world plays when it is given a seed of its own."""
        return self.kinds[world % len(self.kinds)], seed

    def named(self, name: str) -> tuple[EnvKind, str]:
        """An episode by name, and the environment of the batch that plays it."""
        kind = _kind_of(name)
        for known in (kind, *self.kinds):
            if known in self.kinds and known.id == kind.id:
                return known, name
        raise EtudeError(f"{name} is none of this batch, which plays {', '.join(sorted({known.id for known in self.kinds}))}")


def stream_of(what: str | Path | Sequence[str | Path], worlds: int) -> EpisodeStream:
    """A stream of a task by its Gymnasium id, of suites (``kitchen``, ``kitchen/cup``, ``kitchen@val``), or of episodes by name or list."""
    wanted = places(what)
    listed = [one for one in wanted if is_listed(one)]
    if listed:
        if len(listed) < len(wanted):
            raise EtudeError("a batch plays either episodes by name, or tasks seed by seed: not both")
        names = choose(listed)
        return EpisodeStream(tuple(dict.fromkeys(map(_kind_of, names))), worlds, names)
    kinds = [kind for one in wanted for kind in _kinds(str(one))]
    if not kinds:
        raise EtudeError("say what to play: a suite, a task, an id of Gymnasium's, or episodes by name")
    return EpisodeStream(tuple(dict.fromkeys(kinds)), worlds)


def _kinds(selector: str) -> Iterable[EnvKind]:
    if selector.startswith(PREFIX):
        return [EnvKind(choice(selector, "environment", (known for known in gymnasium.registry if known.startswith(PREFIX))))]
    name, task, split = selected(selector)
    suite = SUITES[name]
    if task is not None:
        return [EnvKind(env_id(name, pick(f"task of {name}", task, suite.tasks).name), split)]
    usual = {found.name: split or suite.split_of(found, "training") for found in suite.tasks.values()}
    able = {found.name for found in suite.tasks.values() if usual[found.name] in found.splits}
    if split is not None and not able:
        pick(f"split of {name}", split, dict.fromkeys(one for found in suite.tasks.values() for one in found.splits))
    return [EnvKind(env_id(name, one), usual[one]) for one in suite.tasks if one in able] or [EnvKind(env_id(name, t)) for t in suite.tasks]


def _kind_of(name: str) -> EnvKind:
    parsed = EpisodeName.parse(name)
    return EnvKind(env_id(parsed.suite, parsed.task), parsed.split, parsed.options)
