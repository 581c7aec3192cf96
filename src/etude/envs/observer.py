"""What is seen of a running episode: the observation that environments and policies share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.simulation import Simulation
from etude.names import unknown
from etude.render.studio import Studio

Observation = dict[str, Any]
LONGEST_TEXT = 2000
MODALITIES = ("rgb", "depth", "segmentation")


def key(camera: str, modality: str) -> str:
    """Where an observation keeps a picture: ``base``, ``base_depth``, ``base_segmentation``."""
    return camera if modality == "rgb" else f"{camera}_{modality}"


class Observer:
    """Looks at one simulation through some of its cameras. ``size`` is (width, height) in pixels."""

    def __init__(
        self, simulation: Simulation, cameras: Sequence[str], size: tuple[int, int], modalities: Sequence[str], renderer: str = "raster"
    ) -> None:
        for modality in modalities:
            if modality not in MODALITIES:
                raise unknown("modality", modality, MODALITIES)
        self._simulation, self._cameras, self._size, self._modalities = simulation, tuple(cameras), size, tuple(modalities)
        self._renderer = renderer
        self.segmentations: dict[str, NDArray[np.uint16]] = {}  # of the latest look

    @functools.cached_property
    def studio(self) -> Studio:
        """The cameras, made when the first picture is taken: who needs none pays for none."""
        return Studio(self._simulation.world, self._renderer)

    def look(self) -> Observation:
        """Pictures by camera and modality, ``proprioception``, and the ``instruction`` as text."""
        seen: Observation = {}
        for camera in self._cameras:
            picture = self.studio.shoot(camera, self._size)
            self.segmentations[camera] = picture.segmentation
            values = {"rgb": picture.rgb, "depth": picture.depth, "segmentation": picture.segmentation}
            for modality in self._modalities:
                seen[key(camera, modality)] = values[modality]
        seen["proprioception"] = self._simulation.proprioception()
        seen["instruction"] = self._simulation.episode.instruction.text[:LONGEST_TEXT]
        return seen
