"""Another place for what has to be taken, before anything is done (RoboHiMan, appendix D)."""

from __future__ import annotations

from dataclasses import replace

from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.timed import free_places, free_things
from etude.scene.scene import Body


@perturbation("other_place", "scene", plausible=True, varies="where things stand at the start")
def other_place(episode: Episode, stream: Stream) -> Episode:
    """Put a thing that has to be taken somewhere else on its surface, before anything is done."""
    loose = free_things(episode)
    found = free_places(episode, loose, stream) if loose else None
    if found is None:
        raise EtudeError(f"other_place: nothing that is to be taken stands free, with room elsewhere, in {episode.name}")
    name, (place, *_) = found
    entities = tuple(replace(e, pose=place) if isinstance(e, Body) and e.name == name else e for e in episode.scene.entities)
    return replace(episode, scene=replace(episode.scene, entities=entities))
