"""Forward and inverse kinematics of an arm with its hand, compiled. Frames: the arm's base; joint values in radians."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from etude.arithmetic import Array
from etude.compiled import compiled
from etude.pose import Pose, matrix
from etude.scene.robots.anatomy import Arm, Hand

POSITION_TOLERANCE = 1e-5  # m
ROTATION_TOLERANCE = 1e-4  # rad
REACHED_POSITION = 1e-3  # m: near enough for a servo
REACHED_ROTATION = 3.5e-3  # rad
DAMPING = 1e-4  # of the least-squares step, relative to metres and radians


# Small matrices with one order of every sum, because numba hands its own ``@`` and ``np.linalg`` to BLAS and LAPACK. They stand in this
# file because numba's cache does not notice when a function of another file changes.


@compiled
def _solve_definite(A: Array, b: Array, x: Array) -> None:
    """Fill x (n,) with the solution of A x = b for a symmetric, positive definite matrix A (n, n), of which the lower half is given and
    overwritten (Cholesky)."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                A[i, i] = math.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
        total = b[i]
        for k in range(i):
            total -= A[i, k] * x[k]
        x[i] = total / A[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= A[k, i] * x[k]
        x[i] = total / A[i, i]


@compiled
def _forward(offsets: Array, turns: Array, tip_p: Array, tip_R: Array, q: Array, axes: Array, points: Array, p: Array, R: Array) -> None:
    """Fill ``p`` and ``R`` with the tip's position and rotation, ``axes`` and ``points`` (n, 3) with every joint's axis and origin.

    Row by row and in place: the hottest lines of the control stack make no arrays.
    """
    for k in range(3):
        p[k] = 0.0
        for j in range(3):
            R[k, j] = 1.0 if j == k else 0.0
    for i in range(len(q)):
        c, s = math.cos(q[i]), math.sin(q[i])
        for k in range(3):
            x, y, z = R[k, 0], R[k, 1], R[k, 2]
            p[k] += x * offsets[i, 0] + y * offsets[i, 1] + z * offsets[i, 2]
            a = x * turns[i, 0, 0] + y * turns[i, 1, 0] + z * turns[i, 2, 0]
            b = x * turns[i, 0, 1] + y * turns[i, 1, 1] + z * turns[i, 2, 1]
            axis = x * turns[i, 0, 2] + y * turns[i, 1, 2] + z * turns[i, 2, 2]
            axes[i, k], points[i, k] = axis, p[k]
            R[k, 0], R[k, 1], R[k, 2] = c * a + s * b, c * b - s * a, axis
    for k in range(3):
        x, y, z = R[k, 0], R[k, 1], R[k, 2]
        p[k] += x * tip_p[0] + y * tip_p[1] + z * tip_p[2]
        for j in range(3):
            R[k, j] = x * tip_R[0, j] + y * tip_R[1, j] + z * tip_R[2, j]


@compiled
def _tip(
    offsets: Array, turns: Array, tip_p: Array, tip_R: Array, q: Array, base_p: Array, base_R: Array
) -> tuple[float, float, float, float, float, float, float]:
    """The tip as seven numbers: position and quaternion wxyz (w ≥ 0), in the frame in which the base stands."""
    n = len(q)
    t, T = np.empty(3), np.empty((3, 3))
    _forward(offsets, turns, tip_p, tip_R, q, np.empty((n, 3)), np.empty((n, 3)), t, T)
    p, R = np.empty(3), np.empty((3, 3))
    for k in range(3):
        x, y, z = base_R[k, 0], base_R[k, 1], base_R[k, 2]
        p[k] = base_p[k] + (x * t[0] + y * t[1] + z * t[2])
        for j in range(3):
            R[k, j] = x * T[0, j] + y * T[1, j] + z * T[2, j]
    best = 1 + R[0, 0] + R[1, 1] + R[2, 2]
    k = 0  # the largest of the four keeps the division well away from zero
    for j in range(1, 4):
        other = 1 + (R[0, 0] if j == 1 else -R[0, 0]) + (R[1, 1] if j == 2 else -R[1, 1]) + (R[2, 2] if j == 3 else -R[2, 2])
        if other > best:
            k, best = j, other
    s = 2.0 * math.sqrt(best)
    if k == 0:
        w, x, y, z = s / 4, (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
    elif k == 1:
        w, x, y, z = (R[2, 1] - R[1, 2]) / s, s / 4, (R[0, 1] + R[1, 0]) / s, (R[0, 2] + R[2, 0]) / s
    elif k == 2:
        w, x, y, z = (R[0, 2] - R[2, 0]) / s, (R[0, 1] + R[1, 0]) / s, s / 4, (R[1, 2] + R[2, 1]) / s
    else:
        w, x, y, z = (R[1, 0] - R[0, 1]) / s, (R[0, 2] + R[2, 0]) / s, (R[1, 2] + R[2, 1]) / s, s / 4
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if w < 0:
        norm = -norm
    return p[0], p[1], p[2], w / norm, x / norm, y / norm, z / norm


@compiled
def _rotation_error(target: Array, current: Array, E: Array) -> tuple[float, float, float]:
    """The rotation vector that turns ``current`` into ``target``, in the base frame. ``E`` (3, 3) is room to work in."""
    for i in range(3):
        for j in range(3):
            E[i, j] = target[i, 0] * current[j, 0] + target[i, 1] * current[j, 1] + target[i, 2] * current[j, 2]
    x, y, z = (E[2, 1] - E[1, 2]) * 0.5, (E[0, 2] - E[2, 0]) * 0.5, (E[1, 0] - E[0, 1]) * 0.5
    s = math.sqrt(x * x + y * y + z * z)
    c = (E[0, 0] + E[1, 1] + E[2, 2] - 1.0) * 0.5
    if s >= 1e-9:
        angle = math.atan2(s, c)
        return x / s * angle, y / s * angle, z / s * angle
    if c > 0:
        return x, y, z
    k = 0  # half a turn: the axis is the largest column of (E + 1)
    for i in range(1, 3):
        if E[i, i] > E[k, k]:
            k = i
    x, y, z = E[0, k] + (1.0 if k == 0 else 0.0), E[1, k] + (1.0 if k == 1 else 0.0), E[2, k] + (1.0 if k == 2 else 0.0)
    s = math.sqrt(x * x + y * y + z * z)
    return x / s * math.pi, y / s * math.pi, z / s * math.pi


@compiled
def _solve(
    offsets: Array, turns: Array, tip_p: Array, tip_R: Array, lower: Array, upper: Array, rest: Array,
    target_p: Array, target_R: Array, start: Array, iterations: int, pull: float,
) -> tuple[Array, float, float]:  # fmt: skip
    """Damped least squares with joint limits; spare freedom drifts towards ``rest`` with strength ``pull``.

    Gives joint values, position error (m) and rotation error (rad). Joints at a limit that want to go beyond it are frozen for
    the step, and the step is solved again without them.
    """
    n = len(start)
    q = start.copy()
    axes, points = np.empty((n, 3)), np.empty((n, 3))
    p, R, E = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    J, A = np.empty((6, n)), np.empty((6, 6))
    e, wanted, y = np.empty(6), np.empty(6), np.empty(6)
    free, step, homeward = np.empty(n), np.empty(n), np.empty(n)
    position_error, rotation_error = np.inf, np.inf
    for round_ in range(iterations + 1):
        _forward(offsets, turns, tip_p, tip_R, q, axes, points, p, R)
        for k in range(3):
            e[k] = target_p[k] - p[k]
        e[3], e[4], e[5] = _rotation_error(target_R, R, E)
        position_error = math.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2)
        rotation_error = math.sqrt(e[3] ** 2 + e[4] ** 2 + e[5] ** 2)
        if (position_error < POSITION_TOLERANCE and rotation_error < ROTATION_TOLERANCE) or round_ == iterations:
            break
        # Far from the target a full step overshoots: walk at most 0.3 m and 0.8 rad at a time.
        scale = 1.0
        if position_error > 0.3:
            scale = 0.3 / position_error
        if rotation_error > 0.8:
            scale = min(scale, 0.8 / rotation_error)
        for i in range(n):
            dx, dy, dz = p[0] - points[i, 0], p[1] - points[i, 1], p[2] - points[i, 2]
            J[0, i] = axes[i, 1] * dz - axes[i, 2] * dy
            J[1, i] = axes[i, 2] * dx - axes[i, 0] * dz
            J[2, i] = axes[i, 0] * dy - axes[i, 1] * dx
            for k in range(3):
                J[3 + k, i] = axes[i, k]
            free[i] = 1.0
        # Spare freedom moves at first and from afar only; close to the target its curvature would keep the last digits from settling.
        drift = pull if round_ == 0 or position_error > 2e-3 or rotation_error > 2e-2 else 0.0
        for _ in range(n):
            for i in range(n):
                homeward[i] = drift * free[i] * (rest[i] - q[i])
            for a in range(6):
                for b in range(a + 1):
                    total = 0.0
                    for i in range(n):
                        total += J[a, i] * free[i] * J[b, i]
                    A[a, b] = total
                A[a, a] += DAMPING
                total = J[a, 0] * homeward[0]
                for i in range(1, n):
                    total += J[a, i] * homeward[i]
                wanted[a] = scale * e[a] - total
            _solve_definite(A, wanted, y)
            frozen = False
            for i in range(n):
                total = 0.0
                for a in range(6):
                    total += J[a, i] * y[a]
                step[i] = free[i] * total + homeward[i]
                if free[i] > 0 and ((q[i] <= lower[i] and step[i] < -1e-12) or (q[i] >= upper[i] and step[i] > 1e-12)):
                    free[i] = 0.0
                    frozen = True
            if not frozen:
                break
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(step[i]))
        shrink = 1.0 if largest < 0.6 else 0.6 / largest
        for i in range(n):
            q[i] = min(max(q[i] + shrink * step[i], lower[i]), upper[i])
    return q, position_error, rotation_error


@compiled
def _turned(R: Array, x: float, y: float, z: float, out: Array) -> None:
    """Fill ``out`` with ``R`` turned by a rotation vector in its own frame."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-12:
        out[:] = R
        return
    x, y, z = x / angle, y / angle, z / angle
    c, s = math.cos(angle), math.sin(angle)
    v = 1.0 - c
    for k in range(3):
        a, b, d = R[k, 0], R[k, 1], R[k, 2]
        out[k, 0] = a * (c + x * x * v) + b * (x * y * v + z * s) + d * (x * z * v - y * s)
        out[k, 1] = a * (x * y * v - z * s) + b * (c + y * y * v) + d * (y * z * v + x * s)
        out[k, 2] = a * (x * z * v + y * s) + b * (y * z * v - x * s) + d * (c + z * z * v)


@compiled
def _follow(
    offsets: Array, turns: Array, tip_p: Array, tip_R: Array, lower: Array, upper: Array, rest: Array, speed: Array,
    delta: tuple[float, float, float, float, float, float], measured: Array, seconds: float, iterations: int, pull: float,
) -> tuple[Array, float]:  # fmt: skip
    """Solve for the tip moved by ``delta``, metres and a rotation vector in the frame of the tip at ``measured``.

    A motion that lies out of reach, or needs a joint to move faster than ``speed`` over ``seconds``, is shortened; its direction is kept.
    Gives joint values and the share of the motion that was possible.
    """
    n = len(measured)
    start = np.minimum(np.maximum(measured, lower), upper)
    p, R, target_p, target_R = np.empty(3), np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    _forward(offsets, turns, tip_p, tip_R, start, np.empty((n, 3)), np.empty((n, 3)), p, R)
    share = 1.0
    for _ in range(8):
        x, y, z = share * delta[0], share * delta[1], share * delta[2]
        for k in range(3):
            target_p[k] = p[k] + (R[k, 0] * x + R[k, 1] * y + R[k, 2] * z)
        _turned(R, share * delta[3], share * delta[4], share * delta[5], target_R)
        q, position_error, rotation_error = _solve(
            offsets, turns, tip_p, tip_R, lower, upper, rest, target_p, target_R, start, iterations, pull
        )
        ratio = 0.0
        for i in range(n):
            ratio = max(ratio, abs(q[i] - start[i]) / (speed[i] * seconds))
        if position_error < REACHED_POSITION and rotation_error < REACHED_ROTATION:
            if ratio <= 1.0:
                return q, share
            share *= 0.97 / ratio
        else:
            share *= 0.5
        pull = 0.0  # what the joints can do goes into the motion asked for
    return start, 0.0


@compiled
def ramp(command: Array, target: Array, speed: Array, seconds: float, lead: float, set_point: Array, velocity: Array) -> None:
    """One control period of a joint servo: move ``command`` (in place) towards ``target``, no joint faster than ``speed``.

    Fills the velocities and the set points at the start of the period, ``lead`` seconds ahead to make up for the servo's damping.
    """
    fastest = 1.0
    for i in range(len(command)):
        fastest = max(fastest, abs(target[i] - command[i]) / (speed[i] * seconds))
    for i in range(len(command)):
        step = (target[i] - command[i]) / fastest
        velocity[i] = step / seconds
        set_point[i] = command[i] + lead * velocity[i]
        command[i] += step


@dataclass(frozen=True)
class Solution:
    """What inverse kinematics found: joint values (n,), how far the tip is off (m, rad), and whether that is within tolerance."""

    joints: Array
    position_error: float
    rotation_error: float

    @property
    def reached(self) -> bool:
        """Within 1 mm and 0.2°, well inside what a servo can follow."""
        return self.position_error < REACHED_POSITION and self.rotation_error < REACHED_ROTATION


class Chain:
    """The kinematics of an arm that carries a hand, in the frame of the arm's base."""

    def __init__(self, arm: Arm, hand: Hand) -> None:
        self.count = len(arm.links)
        self._offsets = np.array([link.origin.position for link in arm.links])
        self._turns = np.array([matrix(link.origin.rotation) for link in arm.links])
        tip = arm.flange * hand.tip
        self._tip_p, self._tip_R = np.array(tip.position), matrix(tip.rotation)
        self.lower = np.array([link.range[0] for link in arm.links])
        self.upper = np.array([link.range[1] for link in arm.links])
        self.home = np.array(arm.home)
        self.speed = np.array([link.speed for link in arm.links])

    def forward(self, joints: ArrayLike, base: tuple[Array, Array] = (np.zeros(3), np.eye(3))) -> Pose:
        """The tip for joint values (n,), in the frame in which the base stands at ``base`` (position and rotation matrix)."""
        x, y, z, *rotation = _tip(self._offsets, self._turns, self._tip_p, self._tip_R, np.asarray(joints, float), base[0], base[1])
        a, b, c, d = rotation
        return Pose.trusted(x, y, z, (a, b, c, d))

    def solve(self, target: Pose, start: ArrayLike, iterations: int = 60, pull: float = 0.02, rest: ArrayLike | None = None) -> Solution:
        """Joint values near ``start`` that bring the tip to ``target``; spare freedom drifts towards ``rest`` (the home posture)."""
        begin = np.clip(np.asarray(start, float), self.lower, self.upper)
        towards = self.home if rest is None else np.asarray(rest, float)
        q, dp, dr = _solve(
            self._offsets, self._turns, self._tip_p, self._tip_R, self.lower, self.upper, towards,
            np.array(target.position), matrix(target.rotation), begin, iterations, pull,
        )  # fmt: skip
        return Solution(q, dp, dr)

    def follow(
        self, delta: tuple[float, float, float, float, float, float], start: Array, seconds: float, iterations: int = 8, pull: float = 0.02
    ) -> tuple[Array, float]:
        """Joint values near ``start`` (n,) that move the tip by ``delta``: metres and a rotation vector, both in the tip's frame.

        What cannot be done within ``seconds`` is shortened, keeping its direction; the second result is the share that was possible.
        """
        return _follow(
            self._offsets, self._turns, self._tip_p, self._tip_R, self.lower, self.upper, self.home, self.speed,
            delta, start, seconds, iterations, pull,
        )  # fmt: skip
