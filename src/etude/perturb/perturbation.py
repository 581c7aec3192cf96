"""What a perturbation is, and how several are applied. New ones are registered by :func:`perturbation`, in whatever module."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from etude.episodes import Episode
from etude.foreign import UnmadeEpisode, episode_made_by
from etude.names import EtudeError, Stream, pick, rng, unknown

if TYPE_CHECKING:
    from etude.suites.suite import Task

Phase = Literal["scene", "event", "instruction", "observation"]
PHASES: tuple[Phase, ...] = ("scene", "event", "instruction", "observation")
OWN = ("descriptors", "elsewhere", "factors", "gobbledygook", "looks", "masking", "objects", "paraphrase", "scenery", "sizes", "timed")
Change = Callable[[Episode, Stream], Episode]
Observe = Callable[[dict[str, Any], Episode, int], dict[str, Any]]


@dataclass(frozen=True)
class Perturbation:
    """``change`` draws from a stream of its own, so that the same seed gives the same change whatever else is applied.

    A ``plausible`` perturbation should leave success as it is; an implausible one takes away what the task cannot be solved without.
    ``change`` raises :class:`~etude.names.EtudeError` where it makes no sense.

    Within a phase those with a lower ``rank`` come first: what puts an instruction in other words before what makes nonsense of the words.
    The ranks of etude's own factors are below 0, so that others follow them.

    One of the phase "observation" leaves the episode as it is; ``observe`` changes what is seen of it at a step, and ``needs`` names the
    modalities that this can be seen in. A ``factor`` is one that a matrix of factors has a row for. ``suits`` says of a task whether any
    episode of it can be changed so; plans leave the others out. ``varies``: what it changes or takes away, as in "does not depend on the
    wording of the instruction".
    """

    name: str
    phase: Phase
    plausible: bool
    change: Change
    observe: Observe | None = None
    needs: tuple[str, ...] = ()
    rank: int = 0
    factor: bool = False
    suits: Callable[[Task], bool] = lambda task: True
    varies: str = ""

    @property
    def module(self) -> str:
        """The module that it comes from."""
        return (self.observe or self.change).__module__

    @property
    def summary(self) -> str:
        """First line of the change's docstring."""
        return ((self.observe or self.change).__doc__ or "").strip().splitlines()[0]


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(
    name: str, phase: Phase, *, plausible: bool, rank: int = 0, factor: bool = False,
    suits: Callable[[Task], bool] = lambda task: True, varies: str = "",
) -> Callable[[Change], Change]:  # fmt: skip
    """Register a function of an episode and a stream as a perturbation.

    >>> @perturbation("dusk", "scene", plausible=True)
    ... def dusk(episode: Episode, stream: Stream) -> Episode: ...
    """

    def register(change: Change) -> Change:
        _add(Perturbation(name, phase, plausible, change, rank=rank, factor=factor, suits=suits, varies=varies))
        return change

    return register


def observation_perturbation(name: str, *, plausible: bool, needs: Sequence[str], varies: str = "") -> Callable[[Observe], Observe]:
    """Register a function of observation, episode and step as a perturbation of what is seen."""

    def register(observe: Observe) -> Observe:
        _add(Perturbation(name, "observation", plausible, lambda episode, stream: episode, observe, tuple(needs), varies=varies))
        return observe

    return register


def _add(one: Perturbation) -> None:
    if one.phase not in PHASES:
        raise unknown("phase of a perturbation", one.phase, PHASES)
    there = PERTURBATIONS.setdefault(one.name, one)
    if there is not one:
        raise EtudeError(f"the perturbation {one.name!r} of {one.module} is there already, from {there.module}; choose another name")


def known_perturbations() -> dict[str, Perturbation]:
    """All that are registered, by name."""
    for file in OWN:
        importlib.import_module(f"etude.perturb.{file}")
    importlib.import_module("etude.perturb.gobbledygook").register_given()
    return PERTURBATIONS


def find_perturbation(name: str) -> Perturbation:
    """The perturbation of this name."""
    known = known_perturbations()
    if name not in known:
        importlib.import_module("etude.perturb.gobbledygook").refuse_lacking(name)
    return pick("perturbation", name, known)


def perturbed(episode: Episode, names: Sequence[str]) -> Episode:
    """The episode with these perturbations, in the order of their phases, ranks and names: how they are written does not matter."""
    chosen = [find_perturbation(name) for name in names]
    for one in sorted(chosen, key=lambda p: (PHASES.index(p.phase), p.rank, p.name)):
        with episode_made_by(f"{episode.name} cannot be made, the perturbation {one.name} broke"):
            changed = one.change(episode, rng(episode.parsed, f"perturb/{one.name}"))
        if not isinstance(changed, Episode):
            raise UnmadeEpisode(f"{episode.name} cannot be made: the perturbation {one.name} gave {changed!r:.60}, expected an Episode")
        episode = changed
    return episode


def observed(observation: dict[str, Any], episode: Episode, step: int) -> dict[str, Any]:
    """What is seen of the episode at a step, with those perturbations of its name that concern it, in the order of their names."""
    for name in episode.parsed.perturbations:
        one = find_perturbation(name)
        if one.observe is not None:
            observation = one.observe(observation, episode, step)
    return observation


def out_of_sight(names: Sequence[str], modalities: Sequence[str]) -> list[str]:
    """Those of the perturbations that change nothing of what is seen in these modalities, a sentence for each."""
    chosen = [find_perturbation(name) for name in names]
    return [
        f"perturbation: {one.name} shows in the modality {_listed(one.needs)}, the modalities are {_listed(modalities)}"
        for one in chosen
        if not set(one.needs) <= set(modalities)
    ]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words)) or "none"


def plausible(names: Sequence[str]) -> bool:
    """Should success survive all of these together?"""
    return all(find_perturbation(name).plausible for name in names)
