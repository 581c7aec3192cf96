"""Positions and orientations: metres and unit quaternions in wxyz order, right-handed frames, z up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from etude.arithmetic import Array as Array
from etude.arithmetic import cross, dot, turned, unit
from etude.names import EtudeError

Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]

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
        if len(self.position) != 3 or len(self.rotation) != 4:
            raise EtudeError("a pose is 3 metres and a quaternion of 4 numbers (wxyz)")
        x, y, z = map(float, self.position)
        w, a, b, c = map(float, self.rotation)
        given = self.__dict__  # a frozen dataclass has no other way in that costs less than all of its arithmetic
        given["position"] = x, y, z = _nine(x), _nine(y), _nine(z)
        given["rotation"] = w, a, b, c = _nine(w), _nine(a), _nine(b), _nine(c)
        length = math.sqrt(w * w + a * a + b * b + c * c)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z) and math.isfinite(length)):
            raise EtudeError(f"a pose must be finite, got position {self.position} and rotation {self.rotation}")
        if abs(length - 1.0) > 1e-6:
            raise EtudeError(f"a rotation must be a unit quaternion (wxyz), got one of length {length:.6g}")

    @staticmethod
    def of(position: ArrayLike, rotation: ArrayLike = IDENTITY) -> Pose:
        """A pose from any two sequences; the quaternion is brought to unit length."""
        x, y, z = np.asarray(position, float).tolist()
        return Pose.trusted(x, y, z, _unit_quat(*np.asarray(rotation, float).tolist()))

    @staticmethod
    def trusted(x: float, y: float, z: float, rotation: Quat) -> Pose:
        """A pose of numbers that come from our own arithmetic: kept to nine decimals like all others, but not asked again whether the
        quaternion is one of unit length. What is not finite is refused as ever."""
        if not -1e9 < x + y + z < 1e9:
            return Pose((x, y, z), rotation)
        w, a, b, c = rotation
        pose = object.__new__(Pose)
        made = pose.__dict__
        made["position"] = _nine(x), _nine(y), _nine(z)
        made["rotation"] = _nine(w), _nine(a), _nine(b), _nine(c)
        return pose

    @staticmethod
    def flat(x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> Pose:
        """A pose turned by ``yaw`` radians about the vertical."""
        return Pose((x, y, z), yaw_quat(yaw))

    def __mul__(self, other: Pose) -> Pose:
        """``other``, given in this frame, in the parent of this frame."""
        x, y, z = _turned(_rows(*self.rotation), *other.position)
        px, py, pz = self.position
        return Pose.trusted(px + x, py + y, pz + z, _unit_quat(*_times(self.rotation, other.rotation)))

    def inverse(self) -> Pose:
        """The parent seen from this frame."""
        w, x, y, z = self.rotation
        px, py, pz = _turned(_rows(w, -x, -y, -z), *self.position)
        return Pose.trusted(-px, -py, -pz, _unit_quat(w, -x, -y, -z))

    def apply(self, points: ArrayLike) -> Array:
        """Points (..., 3) given in this frame, in the parent of this frame."""
        result: Array = rotate(self.rotation, points) + np.array(self.position)
        return result

    def point(self, x: float, y: float, z: float) -> Vec3:
        """One point given in this frame, in the parent of this frame."""
        px, py, pz = self.position
        x, y, z = _turned(_rows(*self.rotation), x, y, z)
        return px + x, py + y, pz + z

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
        """The pose shifted along the axes of its parent, in metres."""
        px, py, pz = self.position
        return Pose.trusted(px + x, py + y, pz + z, self.rotation)

    @property
    def yaw(self) -> float:
        """Heading of the x axis about the vertical, radians in (−π, π]."""
        w, x, y, z = self.rotation
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


WHOLE = 1.5 * 2.0**52  # added and taken away again, it leaves the nearest whole number


def _nine(v: float) -> float:
    """``round(v, 9) + 0.0``, which makes −0 a plain 0, at a third of its price: only where the product may have been rounded across a half
    does the decimal expansion have to be asked."""
    billion = v * 1e9
    whole = billion + WHOLE - WHOLE
    return whole / 1e9 if -0.4999 < billion - whole < 0.4999 and -1e11 < billion < 1e11 else round(v, 9) + 0.0


def _unit_quat(w: float, x: float, y: float, z: float) -> Quat:
    length = math.sqrt(w * w + x * x + y * y + z * z)
    return (w / length, x / length, y / length, z / length)


def _times(a: Quat, b: Quat) -> Quat:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _rows(w: float, x: float, y: float, z: float) -> Mat3:
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _turned(rows: Mat3, x: float, y: float, z: float) -> Vec3:
    (a, b, c), (d, e, f), (g, h, i) = rows
    return (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)


def yaw_quat(yaw: float) -> Quat:
    """A turn of ``yaw`` radians about z."""
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def axis_quat(axis: ArrayLike, angle: float) -> Quat:
    """A turn of ``angle`` radians about ``axis`` (any length)."""
    x, y, z = (unit(axis) * math.sin(angle / 2)).tolist()
    return (math.cos(angle / 2), x, y, z)


def euler_quat(roll: float, pitch: float, yaw: float) -> Quat:
    """Turns about the fixed axes x, then y, then z, radians (the "rpy" of robot descriptions)."""
    return _times(axis_quat((0, 0, 1), yaw), _times(axis_quat((0, 1, 0), pitch), axis_quat((1, 0, 0), roll)))


def _four(q: ArrayLike) -> Quat:
    """The numbers of a quaternion; those of a pose are at hand."""
    w, x, y, z = q if isinstance(q, tuple) else np.asarray(q, float).tolist()
    return float(w), float(x), float(y), float(z)


def multiply(a: ArrayLike, b: ArrayLike) -> Quat:
    """Quaternion product: first ``b``, then ``a``."""
    return _times(_four(a), _four(b))


def conjugate(q: ArrayLike) -> Quat:
    """The opposite turn of a unit quaternion."""
    w, x, y, z = _four(q)
    return (w, -x, -y, -z)


def matrix(q: ArrayLike) -> Array:
    """The 3×3 rotation matrix of a unit quaternion."""
    return np.array(_rows(*_four(q)))


def matrix_quat(m: ArrayLike) -> Quat:
    """The unit quaternion (w ≥ 0) of a 3×3 rotation matrix."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(m, float).tolist()
    # The largest of the four candidates keeps the division well away from zero.
    candidates = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    k = candidates.index(max(candidates))
    s = 2.0 * math.sqrt(candidates[k])
    if k == 0:
        w, x, y, z = s / 4, (h - f) / s, (c - g) / s, (d - b) / s
    elif k == 1:
        w, x, y, z = (h - f) / s, s / 4, (b + d) / s, (c + g) / s
    elif k == 2:
        w, x, y, z = (c - g) / s, (b + d) / s, s / 4, (f + h) / s
    else:
        w, x, y, z = (d - b) / s, (c + g) / s, (f + h) / s, s / 4
    return _unit_quat(-w, -x, -y, -z) if w < 0 else _unit_quat(w, x, y, z)


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """A vector (3,) or vectors (N, 3) turned by a unit quaternion."""
    points = np.asarray(v, float)
    if points.ndim == 1:
        return np.array(_turned(_rows(*_four(q)), *points.tolist()))
    return turned(points, matrix(q))


def align(source: ArrayLike, target: ArrayLike) -> Quat:
    """The shortest turn that brings direction ``source`` to ``target``."""
    a, b = unit(source), unit(target)
    cosine = dot(a, b)
    if cosine < -1 + 1e-12:
        side = cross(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.9 else (0.0, 1.0, 0.0))
        return axis_quat(side, math.pi)
    return _unit_quat(1 + cosine, *cross(a, b).tolist())


def angle_between(a: ArrayLike, b: ArrayLike) -> float:
    """The angle in radians between two orientations (unit quaternions), from 0 to π."""
    w, x, y, z = multiply(conjugate(a), b)
    return 2.0 * math.atan2(math.sqrt(x * x + y * y + z * z), abs(w))


def rotation_vector(q: ArrayLike) -> Array:
    """A unit quaternion as axis times angle (3,), rad; the shorter way round."""
    w, x, y, z = _four(q)
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-12:
        return np.zeros(3)
    return np.array([x, y, z]) * (2.0 * math.atan2(sine if w >= 0 else -sine, abs(w)) / sine)
