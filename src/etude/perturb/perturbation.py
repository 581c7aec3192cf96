"""What a perturbation is, and how several are applied. New ones are registered by :func:`perturbation` in a file of this folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from etude.episode import Episode
from etude.names import Stream, pick, rng

Stage = Literal["scene", "instruction"]
STAGES: tuple[Stage, ...] = ("scene", "instruction")
Change = Callable[[Episode, Stream], Episode]


@dataclass(frozen=True)
class Perturbation:
    """``change`` draws from a stream of its own, so that the same seed gives the same change whatever else is applied.

    A ``plausible`` perturbation should leave success as it is; an implausible one takes away what the task cannot be solved without.
    ``change`` raises :class:`~etude.names.EtudeError` where it makes no sense.
    """

    name: str
    stage: Stage
    plausible: bool
    change: Change

    @property
    def summary(self) -> str:
        """First line of the change's docstring."""
        return (self.change.__doc__ or "").strip().splitlines()[0]


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(name: str, stage: Stage, *, plausible: bool) -> Callable[[Change], Change]:
    """Register a function as a perturbation."""

    def register(change: Change) -> Change:
        if name in PERTURBATIONS:
            raise ValueError(f"the perturbation {name} is registered twice")
        PERTURBATIONS[name] = Perturbation(name, stage, plausible, change)
        return change

    return register


def known_perturbations() -> dict[str, Perturbation]:
    """All of them, by name."""
    importlib.import_module("etude.perturb.basic")
    return PERTURBATIONS


def perturbed(episode: Episode, names: Sequence[str]) -> Episode:
    """The episode with these perturbations, in the order of their stages and then of their names: how they are written does not matter."""
    chosen = [pick("perturbation", name, known_perturbations()) for name in names]
    for one in sorted(chosen, key=lambda p: (STAGES.index(p.stage), p.name)):
        episode = one.change(episode, rng(episode.parsed, f"perturb/{one.name}"))
    return episode


def plausible(names: Sequence[str]) -> bool:
    """Should success survive all of these together?"""
    return all(pick("perturbation", name, known_perturbations()).plausible for name in names)
