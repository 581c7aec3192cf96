"""The 64 models: eight categories of eight identities, each a list of coloured parts brought to one size.

Every one of them is there in each of four palettes: a colour says nothing about category or identity, which are told by shape alone.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from etude.arithmetic import norms
from etude.catalog.mesh import Mesh, merge
from etude.decisions.stimuli import (
    models_benches,
    models_boats,
    models_cars,
    models_chairs,
    models_couches,
    models_lighting,
    models_planes,
    models_tables,
)
from etude.decisions.stimuli.forms import Builder
from etude.names import pick

IDENTITIES = 8
RADIUS = 0.25  # metres from the middle of a model's bounding box to its farthest corner
GRAIN = 0.25  # metres one repetition of a texture covers

BUILDERS: Mapping[str, tuple[Builder, ...]] = {
    "benches": models_benches.BUILDERS,
    "boats": models_boats.BUILDERS,
    "cars": models_cars.BUILDERS,
    "chairs": models_chairs.BUILDERS,
    "couches": models_couches.BUILDERS,
    "lighting": models_lighting.BUILDERS,
    "planes": models_planes.BUILDERS,
    "tables": models_tables.BUILDERS,
}

# Nothing is darker than this on a background that may be black.
FIXTURES: Mapping[str, str] = {
    "glass": "#86a9bd",
    "tyre": "#55575e",
    "metal": "#b4bac2",
    "glow": "#fff3c4",
    "tail": "#d8483e",
}
# "main" may be textured; "body" is the same hue for painted metal.
PALETTES: Mapping[str, Mapping[str, str]] = {
    "red": {"main": "#c63a40", "body": "#c63a40", "accent": "#ece2cc", "trim": "#7b828c"},
    "blue": {"main": "#3f7ac4", "body": "#3f7ac4", "accent": "#dfe3e8", "trim": "#7b828c"},
    "green": {"main": "#5da653", "body": "#5da653", "accent": "#ead58c", "trim": "#75706a"},
    "brown": {"main": "wooden", "body": "#94623a", "accent": "#e3d6b8", "trim": "#7f8a76"},
}


@dataclass(frozen=True, eq=False)
class StimulusModel:
    """One identity. ``parts`` are meshes, by the role of their colour, about the middle of the bounding box; x is its front, z is up."""

    category: str
    identity: int
    title: str
    parts: Mapping[str, Mesh]

    def painted(self, colour: str) -> tuple[tuple[str, Mesh], ...]:
        """Its parts in a palette: (texture, mesh)."""
        textures = {**FIXTURES, **pick("colour", colour, PALETTES)}
        return tuple((textures[role], mesh) for role, mesh in self.parts.items())


@functools.cache
def model(category: str, identity: int) -> StimulusModel:
    """The model of an identity (0 to 7) of a category."""
    build = pick("category", category, BUILDERS)[identity]
    meshes = {role: merge(parts) for role, parts in build().items() if parts}
    corners = np.concatenate([m.vertices for m in meshes.values()])
    middle = (corners.min(0) + corners.max(0)) / 2
    scale = RADIUS / float(norms(corners - middle).max())
    parts = {role: mesh.moved(-middle).scaled(scale) for role, mesh in meshes.items()}
    return StimulusModel(category, identity, build.__name__.replace("_", " "), parts)
