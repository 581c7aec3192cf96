"""What a perturbation is, and how several are applied. New ones are registered by :func:`perturbation` in a file of this folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from etude.episodes import Episode
from etude.names import Stream, pick, rng

Stage = Literal["scene", "instruction", "observation"]
STAGES: tuple[Stage, ...] = ("scene", "instruction", "observation")
FILES = ("basic", "descriptors", "factors", "gobbledygook", "looks", "masking", "objects", "paraphrase", "scenery", "sizes")
Change = Callable[[Episode, Stream], Episode]
Observe = Callable[[dict[str, Any], Episode, int], dict[str, Any]]


@dataclass(frozen=True)
class Perturbation:
    """``change`` draws from a stream of its own, so that the same seed gives the same change whatever else is applied.

    A ``plausible`` perturbation should leave success as it is; an implausible one takes away what the task cannot be solved without.
    ``change`` raises :class:`~etude.names.EtudeError` where it makes no sense.

    Within a stage those with a lower ``rank`` come first: what puts an instruction in other words before what makes nonsense of the words.

    One of the stage "observation" leaves the episode as it is; ``observe`` changes what is seen of it at a step, and ``needs`` names the
    modalities that this can be seen in.
    """

    name: str
    stage: Stage
    plausible: bool
    change: Change
    observe: Observe | None = None
    needs: tuple[str, ...] = ()
    rank: int = 0
    factor: bool = False

    @property
    def summary(self) -> str:
        """First line of the change's docstring."""
        return ((self.observe or self.change).__doc__ or "").strip().splitlines()[0]


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(name: str, stage: Stage, *, plausible: bool, rank: int = 0) -> Callable[[Change], Change]:
    """Register a function as a perturbation."""

    def register(change: Change) -> Change:
        if name in PERTURBATIONS:
            raise ValueError(f"the perturbation {name} is registered twice")
        PERTURBATIONS[name] = Perturbation(name, stage, plausible, change, rank=rank)
        return change

    return register


def observation_perturbation(name: str, *, plausible: bool, needs: Sequence[str]) -> Callable[[Observe], Observe]:
    """Register a function of observation, episode and step as a perturbation of what is seen."""

    def register(observe: Observe) -> Observe:
        perturbation(name, "observation", plausible=plausible)(lambda episode, stream: episode)
        PERTURBATIONS[name] = replace(PERTURBATIONS[name], observe=observe, needs=tuple(needs))
        return observe

    return register


def known_perturbations() -> dict[str, Perturbation]:
    """All of them, by name."""
    for file in FILES:
        importlib.import_module(f"etude.perturb.{file}")
    return PERTURBATIONS


def perturbed(episode: Episode, names: Sequence[str]) -> Episode:
    """The episode with these perturbations, in the order of their stages, ranks and names: how they are written does not matter."""
    chosen = [pick("perturbation", name, known_perturbations()) for name in names]
    for one in sorted(chosen, key=lambda p: (STAGES.index(p.stage), p.rank, p.name)):
        episode = one.change(episode, rng(episode.parsed, f"perturb/{one.name}"))
    return episode


def observed(observation: dict[str, Any], episode: Episode, step: int) -> dict[str, Any]:
    """What is seen of the episode at a step, with those perturbations of its name that concern it, in the order of their names."""
    names = episode.parsed.perturbations if "+" in episode.name else ()  # names are read at every look otherwise
    for one in sorted((pick("perturbation", name, known_perturbations()) for name in names), key=lambda p: p.name):
        if one.observe is not None:
            observation = one.observe(observation, episode, step)
    return observation


def out_of_sight(names: Sequence[str], modalities: Sequence[str]) -> list[str]:
    """Those of the perturbations that change nothing of what is seen in these modalities, a sentence for each."""
    chosen = [pick("perturbation", name, known_perturbations()) for name in names]
    return [
        f"perturbation: {one.name} shows in the modality {_listed(one.needs)}, the modalities are {_listed(modalities)}"
        for one in chosen
        if not set(one.needs) <= set(modalities)
    ]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words)) or "none"


def plausible(names: Sequence[str]) -> bool:
    """Should success survive all of these together?"""
    return all(pick("perturbation", name, known_perturbations()).plausible for name in names)
