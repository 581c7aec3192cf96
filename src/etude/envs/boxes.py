"""Where bodies are in a picture: bounding boxes from their meshes, visibility from the segmentation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import turned
from etude.catalog.registry import shape
from etude.pose import Pose
from etude.render.camera import project
from etude.scene.scene import Body
from etude.scene.world import World


def bounding_boxes(world: World, camera: str, segmentation: NDArray[np.uint16]) -> dict[str, dict[str, Any]]:
    """For every body: ``box`` (x0, y0, x1, y1) in pixels, clipped to the picture, or None if it is behind the camera; ``visible``.

    Boxes enclose the whole mesh, hidden or not; visible means that at least one pixel of the camera's ``segmentation`` (H, W) shows it.
    """
    size = (segmentation.shape[1], segmentation.shape[0])
    eye = world.scene.camera(camera)
    pose = world.camera_pose(eye)
    ids = world.segmentation_ids()
    seen = set(np.unique(segmentation).tolist())
    found = {}
    for entity in world.scene.entities:
        if not isinstance(entity, Body):
            continue
        position, axes = world.frame(entity.name)
        points = turned(shape(entity.shape, entity.size).mesh.vertices, axes) + position
        found[entity.name] = {"box": _box(eye, points, pose, size), "visible": ids[entity.name] in seen}
    return found


def _box(eye: Any, points: Any, pose: Pose, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    pixels, depth = project(eye, points, pose, size)
    ahead = pixels[depth > eye.near]
    if not len(ahead):
        return None
    limit = np.array(size) - 1
    low = np.clip(np.floor(ahead.min(0)), 0, limit).astype(int)
    high = np.clip(np.ceil(ahead.max(0)), 0, limit).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
