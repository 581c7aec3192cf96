"""Between the world and the pixels of a camera, both ways.

Pixel coordinates are continuous: x to the right, y down, (0, 0) the outer corner of the first pixel, whose centre is (0.5, 0.5).
The optical frame is OpenCV's: x right, y down, z forward; depth is z.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import product
from etude.names import EtudeError
from etude.pose import Array, Pose, matrix
from etude.render.picture import picture_size
from etude.scene.scene import Camera


def focal(camera: Camera, size: tuple[int, int] | None = None) -> float:
    """Perspective: the focal length in pixels. Orthographic: pixels per metre.

    A picture of other proportions than the camera's own shows all that the camera sees, and more on two sides: nothing is cut off.
    """
    width, tall = picture_size(camera, size)
    height = min(float(tall), width * camera.size[1] / camera.size[0])
    if camera.fov is not None:
        return height / 2 / math.tan(math.radians(camera.fov) / 2)
    assert camera.extent is not None  # Camera makes sure of one or the other
    return height / camera.extent


def intrinsics(camera: Camera, size: tuple[int, int] | None = None) -> Array:
    """The 3×3 matrix K of the camera for a picture of ``size`` (width, height), by default its own.

    Perspective: pixel = (K @ p / p.z)[:2] for a point p of the optical frame. Orthographic: pixel = (K @ (p.x, p.y, 1))[:2], with
    K[0, 0] = K[1, 1] in pixels per metre.
    """
    width, height = picture_size(camera, size)
    f = focal(camera, size)
    return np.array([[f, 0.0, width / 2], [0.0, f, height / 2], [0.0, 0.0, 1.0]])


def project(camera: Camera, points: ArrayLike, pose: Pose | None = None, size: tuple[int, int] | None = None) -> tuple[Array, Array]:
    """Pixels (..., 2) and depths (...) of world points (..., 3).

    ``pose`` is the world pose of the optical frame, by default the camera's own. Points at or behind the eye of a perspective camera have
    no pixel: they come back as NaN, with their depth.
    """
    place = place_of(camera, pose)
    width, height = picture_size(camera, size)
    f = focal(camera, size)
    local = product(np.asarray(points, float) - np.asarray(place.position), matrix(place.rotation))
    depth = local[..., 2]
    scale = f / np.where(depth > 0, depth, np.nan) if camera.fov is not None else np.full(depth.shape, f)
    pixels = np.stack([local[..., 0] * scale + width / 2, local[..., 1] * scale + height / 2], -1)
    return pixels, depth


def unproject(camera: Camera, pixels: ArrayLike, depth: ArrayLike, pose: Pose | None = None, size: tuple[int, int] | None = None) -> Array:
    """World points (..., 3) that lie at ``depth`` (...) under ``pixels`` (..., 2); the inverse of :func:`project`."""
    place = place_of(camera, pose)
    width, height = picture_size(camera, size)
    f = focal(camera, size)
    z = np.asarray(depth, float)
    plane = (np.asarray(pixels, float) - (width / 2, height / 2)) / f
    if camera.fov is not None:
        plane = plane * z[..., None]
    return place.apply(np.concatenate([plane, np.broadcast_to(z, plane.shape[:-1])[..., None]], -1))


def point_cloud(camera: Camera, depth: NDArray[np.float32], pose: Pose | None = None) -> Array:
    """World points (H, W, 3) of a depth picture (H, W); NaN where nothing was hit."""
    height, width = depth.shape
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    hit = np.where(depth > 0, depth, np.nan)
    return unproject(camera, np.stack([x, y], -1), hit, pose, (width, height))


def seen_points(camera: Camera, depth: NDArray[np.float32], pose: Pose | None = None) -> NDArray[np.float32]:
    """The same as numbers of 32 bits, 0 where nothing was hit: as observations and datasets have it."""
    return np.nan_to_num(point_cloud(camera, depth, pose), nan=0.0).astype(np.float32)


def place_of(camera: Camera, pose: Pose | None) -> Pose:
    """Where the optical frame is: ``pose`` if given, else the camera's own place in the world."""
    if pose is not None:
        return pose
    if camera.mount == "hand":
        raise EtudeError(f"camera {camera.name!r} is mounted on the hand: give the world pose of its optical frame")
    return camera.pose
