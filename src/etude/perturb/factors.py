"""Perturbations that are factors: the twelve of The Colosseum, all of them together, and what others register besides."""

from __future__ import annotations

from etude.episodes import Episode
from etude.goals.goal import Undeclared
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import Perturbation, known_perturbations, perturbation, perturbed
from etude.suites.suite import SUITES


def factors() -> dict[str, Perturbation]:
    """Every factor by name, in the order in which they are applied: etude's twelve, then those of others."""
    found = sorted(known_perturbations().values(), key=lambda p: (not _own(p), p.rank, p.name))
    return {one.name: one for one in found if one.factor}


def _own(one: Perturbation) -> bool:
    return one.module.startswith("etude.")


def refused(episode: Episode) -> dict[str, str]:
    """Every factor that does not apply to the episode, with the reason."""
    return {name: reason for name in factors() if (reason := _reason(episode, name))}


def _reason(episode: Episode, name: str) -> str:
    try:
        perturbed(episode, [name])
    except EtudeError as error:
        return str(error)
    return ""


@perturbation("all", "scene", plausible=True, varies="how scenes usually look", rank=-1)
def every_factor(episode: Episode, stream: Stream) -> Episode:
    """Apply every factor that makes sense and that the suite gives the task, each with the choices that it would make alone.

    These are the twelve, whatever else is installed: the same name stands for the same episode everywhere. Factors of others are named.
    """
    twelve = [name for name, one in factors().items() if _own(one)]
    twice = [name for name in episode.parsed.perturbations if name in twelve]
    if twice:
        raise EtudeError(f"all: {twice[0]} is one of all factors already; name it alone, or all of them")
    task = SUITES[episode.parsed.suite].tasks[episode.parsed.task]
    for name in twelve:
        if name in task.without:
            continue
        try:
            episode = perturbed(episode, [name])
        except Undeclared:
            raise
        except EtudeError:
            continue
    return episode
