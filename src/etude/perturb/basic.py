"""Perturbations that make sense for every episode with a scene."""

from __future__ import annotations

from dataclasses import replace

from etude.episodes import Episode
from etude.names import Stream
from etude.perturb.perturbation import perturbation
from etude.scene.scene import Light

DARKEST = 0.5  # of each colour of the key light that is left


@perturbation("light_color", "scene", plausible=True)
def light_color(episode: Episode, stream: Stream) -> Episode:
    """Tint the light."""
    tint = [stream.uniform(DARKEST, 1.0) for _ in range(3)]

    def tinted(light: Light) -> Light:
        r, g, b = (c * t for c, t in zip(light.colour, tint, strict=True))
        return replace(light, colour=(r, g, b))

    lighting = episode.scene.lighting
    changed = replace(lighting, key=tinted(lighting.key), fills=tuple(tinted(f) for f in lighting.fills))
    return replace(episode, scene=replace(episode.scene, lighting=changed))
