"""The pictures of an instruction as the cameras of a recording see them, at the same size, and the objects in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.prompt_assets import told_views
from etude.episodes import Episode
from etude.render.picture import Picture
from etude.render.tokens import SIDE, tokens

Arrays = dict[str, NDArray[Any]]


def prompt_views(episode: Episode, size: tuple[int, int], cameras: Sequence[str]) -> Arrays:
    """The arrays of the modality, as a :class:`~etude.datasets.take.Take` has them."""
    shown, (width, height) = told_views(episode, size, cameras), size
    rgb = np.zeros((len(cameras), len(shown), height, width, 3), np.uint8)
    segmentation = np.zeros(rgb.shape[:-1], np.uint16)
    for k, views in enumerate(shown):
        for c, camera in enumerate(cameras):
            rgb[c, k], segmentation[c, k] = views[camera].rgb, views[camera].segmentation
    objects = np.array([(k, thing.id) for k, views in enumerate(shown) for thing in views.objects], np.uint16).reshape(-1, 2)
    return {"prompt_rgb": rgb, "prompt_segmentation": segmentation, **prompt_tokens(rgb, segmentation, objects), "prompt_objects": objects}


def prompt_tokens(rgb: NDArray[np.uint8], segmentation: NDArray[np.uint16], objects: NDArray[np.uint16]) -> Arrays:
    """The objects (T, 2) cut out of their pictures (C, P, H, W, 3), whose segmentation is (C, P, H, W)."""
    views, count = len(rgb), len(objects)
    found: Arrays = {
        "prompt_crops": np.zeros((views, count, SIDE, SIDE, 3), np.uint8),
        "prompt_boxes": np.zeros((views, count, 4), np.int32),
        "prompt_mask": np.zeros((views, count), np.bool_),
    }
    for k in np.unique(objects[:, 0]):
        mine = objects[:, 0] == k
        pictures = [Picture(rgb[c, k], np.zeros(segmentation.shape[2:], np.float32), segmentation[c, k]) for c in range(views)]
        cut = tokens(pictures, objects[mine, 1].tolist())
        found["prompt_crops"][:, mine], found["prompt_boxes"][:, mine], found["prompt_mask"][:, mine] = cut.crops, cut.boxes, cut.mask
    return found
