"""The twelve factors of The Colosseum as one list, and all of them together."""

from __future__ import annotations

from etude.episodes import Episode
from etude.names import EtudeError, Stream, rng
from etude.perturb import basic, looks, scenery, sizes
from etude.perturb.perturbation import Change, perturbation
from etude.suites.suite import SUITES

FACTORS: dict[str, Change] = {
    "mo_color": looks.mo_color,
    "ro_color": looks.ro_color,
    "mo_texture": looks.mo_texture,
    "ro_texture": looks.ro_texture,
    "light_color": basic.light_color,
    "table_color": looks.table_color,
    "table_texture": looks.table_texture,
    "background_texture": looks.background_texture,
    "camera_pose": scenery.camera_pose,
    "distractors": scenery.distractors,
    "mo_size": sizes.mo_size,
    "ro_size": sizes.ro_size,
}
"""In the order in which they are applied: a texture hides the colour before it, and sizes come last."""


def refused(episode: Episode) -> dict[str, str]:
    """Every factor that does not apply to the episode, with the reason."""
    return {name: reason for name, change in FACTORS.items() if (reason := _reason(episode, name, change))}


def _reason(episode: Episode, name: str, change: Change) -> str:
    try:
        change(episode, rng(episode.parsed, f"perturb/{name}"))
    except EtudeError as error:
        return str(error)
    return ""


@perturbation("all", "scene", plausible=True)
def every_factor(episode: Episode, stream: Stream) -> Episode:
    """Apply every factor that makes sense and that the suite gives the task, each with the choices that it would make alone."""
    twice = [name for name in episode.parsed.perturbations if name in FACTORS]
    if twice:
        raise EtudeError(f"all: {twice[0]} is one of all factors already; name it alone, or all of them")
    task = SUITES[episode.parsed.suite].tasks[episode.parsed.task]
    for name, change in FACTORS.items():
        if name in task.without:
            continue
        try:
            episode = change(episode, rng(episode.parsed, f"perturb/{name}"))
        except EtudeError:
            continue
    return episode
