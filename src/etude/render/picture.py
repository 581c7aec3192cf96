"""What a camera gives: colour, depth, segmentation and, on request, normals of the same instant and the same pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.scene.scene import Camera, refuse_picture_size


@dataclass(frozen=True, eq=False)
class Picture:
    """One shot.

    ``rgb`` uint8 (H, W, 3); ``depth`` float32 (H, W), metres **along the optical axis** (not along the ray), 0 where nothing was hit;
    ``segmentation`` uint16 (H, W), entity ids of :mod:`etude.scene.visual`, 0 where nothing was hit; ``normals`` float32 (H, W, 3), unit,
    outward, in the world frame, 0 where nothing was hit, or None when not asked for.
    """

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    segmentation: NDArray[np.uint16]
    normals: NDArray[np.float32] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.rgb.shape[1], self.rgb.shape[0]


def picture_size(camera: Camera, size: tuple[int, int] | None) -> tuple[int, int]:
    """The size asked for, or the camera's own: (width, height)."""
    width, height = camera.size if size is None else size
    refuse_picture_size(camera.name, (width, height))
    return int(width), int(height)


def dark(camera: Camera, size: tuple[int, int] | None, normals: bool = False) -> Picture:
    """What a camera that is covered gives: black, and nothing hit."""
    width, height = picture_size(camera, size)
    flat, deep = (height, width), (height, width, 3)
    unit = np.zeros(deep, np.float32) if normals else None
    return Picture(np.zeros(deep, np.uint8), np.zeros(flat, np.float32), np.zeros(flat, np.uint16), unit)
