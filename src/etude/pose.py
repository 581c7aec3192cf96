"""Positions and orientations: metres and unit quaternions in wxyz order, right-handed frames, z up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.names import EtudeError

Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Array = NDArray[np.float64]

IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Pose:
    """Where a frame stands in its parent: ``position`` in metres, ``rotation`` a unit quaternion wxyz.

    Both are kept to nine decimals: a nanometre is more than enough, and the last bits of sines and cosines, which differ between
    processors, never reach an episode.
    """

    position: Vec3 = (0.0, 0.0, 0.0)
    rotation: Quat = IDENTITY

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", tuple(round(float(v), 9) + 0.0 for v in self.position))  # + 0.0 makes −0 a plain 0
        object.__setattr__(self, "rotation", tuple(round(float(v), 9) + 0.0 for v in self.rotation))
        if len(self.position) != 3 or len(self.rotation) != 4:
            raise EtudeError("a pose is 3 metres and a quaternion of 4 numbers (wxyz)")
        if not all(math.isfinite(v) for v in (*self.position, *self.rotation)):
            raise EtudeError(f"a pose must be finite, got position {self.position} and rotation {self.rotation}")
        norm = math.sqrt(sum(v * v for v in self.rotation))
        if abs(norm - 1.0) > 1e-6:
            raise EtudeError(f"a rotation must be a unit quaternion (wxyz), got one of length {norm:.6g}")

    @classmethod
    def of(cls, position: ArrayLike, rotation: ArrayLike = IDENTITY) -> Self:
        """A pose from any two sequences; the quaternion is brought to unit length."""
        p, q = np.asarray(position, float), np.asarray(rotation, float)
        return cls(_vec3(p), _quat(q / np.linalg.norm(q)))

    @classmethod
    def flat(cls, x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> Self:
        """A pose turned by ``yaw`` radians about the vertical."""
        return cls((x, y, z), yaw_quat(yaw))

    def __matmul__(self, other: Pose) -> Pose:
        """``other``, given in this frame, in the parent of this frame."""
        p = rotate(self.rotation, np.asarray(other.position)) + np.asarray(self.position)
        return Pose.of(p, multiply(self.rotation, other.rotation))

    def inverse(self) -> Pose:
        """The parent seen from this frame."""
        q = conjugate(self.rotation)
        return Pose.of(-rotate(q, np.asarray(self.position)), q)

    def apply(self, points: ArrayLike) -> Array:
        """Points (..., 3) given in this frame, in the parent of this frame."""
        return np.asarray(np.asarray(points, float) @ matrix(self.rotation).T + np.asarray(self.position))

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
        """The pose shifted along the axes of its parent, in metres."""
        px, py, pz = self.position
        return Pose((px + x, py + y, pz + z), self.rotation)

    @property
    def yaw(self) -> float:
        """Heading of the x axis about the vertical, radians in (−π, π]."""
        w, x, y, z = self.rotation
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _vec3(v: Array) -> Vec3:
    return (float(v[0]), float(v[1]), float(v[2]))


def _quat(q: Array) -> Quat:
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))


def yaw_quat(yaw: float) -> Quat:
    """A turn of ``yaw`` radians about z."""
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def axis_quat(axis: ArrayLike, angle: float) -> Quat:
    """A turn of ``angle`` radians about ``axis`` (any length)."""
    a = np.asarray(axis, float)
    a = a / np.linalg.norm(a) * math.sin(angle / 2)
    return (math.cos(angle / 2), float(a[0]), float(a[1]), float(a[2]))


def euler_quat(roll: float, pitch: float, yaw: float) -> Quat:
    """Turns about the fixed axes x, then y, then z, radians (the "rpy" of robot descriptions)."""
    q = multiply(axis_quat((0, 0, 1), yaw), multiply(axis_quat((0, 1, 0), pitch), axis_quat((1, 0, 0), roll)))
    return _quat(np.asarray(q))


def multiply(a: ArrayLike, b: ArrayLike) -> Quat:
    """Quaternion product: first ``b``, then ``a``."""
    aw, ax, ay, az = np.asarray(a, float).tolist()
    bw, bx, by, bz = np.asarray(b, float).tolist()
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def conjugate(q: ArrayLike) -> Quat:
    """The opposite turn of a unit quaternion."""
    w, x, y, z = np.asarray(q, float).tolist()
    return (w, -x, -y, -z)


def matrix(q: ArrayLike) -> Array:
    """The 3×3 rotation matrix of a unit quaternion."""
    w, x, y, z = np.asarray(q, float).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_quat(m: ArrayLike) -> Quat:
    """The unit quaternion (w ≥ 0) of a 3×3 rotation matrix."""
    R = np.asarray(m, float)
    # The largest of the four candidates keeps the division well away from zero.
    candidates = np.array([1 + R[0, 0] + R[1, 1] + R[2, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2],
                           1 - R[0, 0] + R[1, 1] - R[2, 2], 1 - R[0, 0] - R[1, 1] + R[2, 2]])  # fmt: skip
    k = int(np.argmax(candidates))
    s = 2.0 * math.sqrt(candidates[k])
    if k == 0:
        q = [s / 4, (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s]
    elif k == 1:
        q = [(R[2, 1] - R[1, 2]) / s, s / 4, (R[0, 1] + R[1, 0]) / s, (R[0, 2] + R[2, 0]) / s]
    elif k == 2:
        q = [(R[0, 2] - R[2, 0]) / s, (R[0, 1] + R[1, 0]) / s, s / 4, (R[1, 2] + R[2, 1]) / s]
    else:
        q = [(R[1, 0] - R[0, 1]) / s, (R[0, 2] + R[2, 0]) / s, (R[1, 2] + R[2, 1]) / s, s / 4]
    a = np.array(q)
    a /= np.linalg.norm(a)
    return _quat(-a if a[0] < 0 else a)


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """A vector (3,) or vectors (N, 3) turned by a unit quaternion."""
    return np.asarray(np.asarray(v, float) @ matrix(q).T)


def align(source: ArrayLike, target: ArrayLike) -> Quat:
    """The shortest turn that brings direction ``source`` to ``target``."""
    a = np.asarray(source, float) / np.linalg.norm(source)
    b = np.asarray(target, float) / np.linalg.norm(target)
    cosine = float(a @ b)
    if cosine < -1 + 1e-12:
        side = np.cross(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.9 else (0.0, 1.0, 0.0))
        return axis_quat(side, math.pi)
    q = np.array([1 + cosine, *np.cross(a, b)])
    return _quat(q / np.linalg.norm(q))


def angle_between(a: ArrayLike, b: ArrayLike) -> float:
    """The angle in radians between two orientations (unit quaternions), from 0 to π."""
    w, x, y, z = multiply(conjugate(a), b)
    return 2.0 * math.atan2(math.sqrt(x * x + y * y + z * z), abs(w))


def rotation_vector(q: ArrayLike) -> Array:
    """A unit quaternion as axis times angle (3,), rad; the shorter way round."""
    w, x, y, z = np.asarray(q, float).tolist()
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-12:
        return np.zeros(3)
    return np.array([x, y, z]) * (2.0 * math.atan2(sine if w >= 0 else -sine, abs(w)) / sine)
