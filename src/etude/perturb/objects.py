"""Perturbations of the objects that an object-centric policy sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from etude.episodes import Episode
from etude.names import rng
from etude.perturb.perturbation import observation_perturbation

NAME = "permute_objects"


@observation_perturbation(NAME, plausible=True, varies="the order of objects", needs=("objects",))
def permute_objects(observation: dict[str, Any], episode: Episode, step: int) -> dict[str, Any]:
    """Shuffle the slots of the objects anew at every step.

    Only slots that some view sees are moved, and all views, crops, boxes and masks alike (CoGeLoT 4.7). The order is drawn from the
    episode's base name and the step: however often one looks, and whatever else is perturbed, it is the same.
    """
    if "objects_mask" not in observation:
        return observation
    mask = observation["objects_mask"]
    seen = np.flatnonzero(mask.any(0))
    order = np.arange(mask.shape[1])
    order[seen] = rng(episode.parsed, f"perturb/{NAME}/{step}").shuffled(seen.tolist())
    moved: dict[str, Any] = {key: observation[key][:, order] for key in ("objects_crops", "objects_boxes", "objects_mask")}
    if "objects_names" in observation:
        names = observation["objects_names"]
        moved["objects_names"] = tuple(names[k] for k in order[: len(names)])
    return {**observation, **moved}
