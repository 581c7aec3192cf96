"""Conventions of a policy that differ from the environment's: the one place where they are converted.

What a contract declares (:mod:`etude.policies.contract`) is taken at its word, and nothing is guessed. Actions are converted when they are
carried out, because the tip has turned by then; pictures when they are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from etude.arithmetic import cross, dot, norm
from etude.envs.observer import Observation, Observer, key
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.names import EtudeError
from etude.policies.contract import ENVIRONMENT_HAND, RATE, ROTATION_NUMBERS, SPACES, TURNED, Contract, Orientation, converted
from etude.pose import Array, Pose, Quat, axis_quat, conjugate, euler_quat, matrix_quat, rotate, rotation_vector


class HasTip(Protocol):
    """A robot that knows where its tip is."""

    def tip(self) -> Pose:
        """The pose of the tip in the world."""


class ActedIn(Protocol):
    """What actions are converted for: a running simulation, or a robot somewhere else."""

    @property
    def episode(self) -> Episode:
        """What is played."""

    @property
    def robot(self) -> HasTip:
        """Who acts."""

    @property
    def action_size(self) -> int:
        """Numbers in an action."""


class ActionConversion:
    """From a policy's actions to those of a running simulation. ``width`` is how many numbers the policy's have."""

    def __init__(self, contract: Contract, simulation: ActedIn) -> None:
        self._simulation, self._control = simulation, simulation.episode.control
        frame, rotation, scale = SPACES[self._control]
        self._frame, self._rotation = contract.frame or frame, contract.rotation or rotation
        self._scale, self._unit = contract.scale or scale, scale
        self._hand = contract.hand_numbers
        self._lasting = round(RATE / (contract.rate or RATE))
        posed = self._control in ("ee_delta", "ee_pose", "keypose")
        self.width = 4 + ROTATION_NUMBERS[self._rotation] if posed else simulation.action_size
        robot = simulation.episode.scene.robot
        assert robot is not None
        self._base = robot.base

    def parts(self, given: Array) -> list[Array]:
        """What an action asks for in each of the control steps that it lasts: :meth:`action` makes the environment's of each."""
        hand = self._closed(float(given[-1]))
        if self._control == "joint":
            return [np.append(given[:-1] * self._scale, hand)] * self._lasting
        if self._control != "ee_delta":
            return [np.array([*self._pose(given), hand])] * self._lasting
        shift, turn = given[:3] * self._scale, self._turn(given[3:-1])
        if not self._turns:
            return [np.array([*shift, *turn, hand])]
        axes = self._axes()
        share = 1.0 / self._lasting  # in the world's frame, in which equal shares add up to the whole, whatever the tip does
        return [np.array([*rotate(axes, shift) * share, *rotate(axes, turn) * share, hand])] * self._lasting

    def action(self, part: Array) -> Array:
        """The environment's action for one control step, from where the tip is now."""
        if self._control != "ee_delta":
            return part
        shift, turn = part[:3], part[3:6]
        if self._turns:
            back = conjugate(self._simulation.robot.tip().rotation)
            shift, turn = rotate(back, shift), rotate(back, turn)
        return np.array([*shift / self._unit, *turn / self._unit, part[-1]])

    @property
    def _turns(self) -> bool:
        return self._frame != "tip" or self._lasting > 1

    def _axes(self) -> Quat:
        """The orientation, in the world, of the frame in which the policy speaks."""
        if self._frame == "tip":
            return self._simulation.robot.tip().rotation
        return self._base.rotation if self._frame == "base" else (1.0, 0.0, 0.0, 0.0)

    def _closed(self, value: float) -> float:
        if self._hand == ENVIRONMENT_HAND:
            return value
        opened, closed = self._hand
        return (2.0 * value - opened - closed) / (closed - opened)

    def _turn(self, numbers: Array) -> Array:
        """A rotation as axis times angle (rad): layouts of angles count in the contract's scale, others have none."""
        if self._rotation == "axis_angle":
            return numbers * self._scale
        return rotation_vector(quaternion(self._rotation, numbers * self._scale if self._rotation == "euler_xyz" else numbers))

    def _pose(self, given: Array) -> tuple[float, ...]:
        """Position and quaternion wxyz in the world."""
        position, numbers = given[:3] * self._scale, given[3:-1]
        if self._frame == "world" and self._rotation == "quaternion_wxyz":
            return (*position.tolist(), *numbers.tolist())
        pose = Pose.of(position, quaternion(self._rotation, numbers))
        if self._frame != "world":
            pose = (self._base if self._frame == "base" else self._simulation.robot.tip()) * pose
        return (*pose.position, *pose.rotation)


def action_conversion(contract: Contract, simulation: ActedIn) -> ActionConversion | None:
    """The conversion that this policy needs here; None where it speaks as the environment does."""
    words = converted(contract, simulation.episode)
    return ActionConversion(contract, simulation) if any(not one.startswith(PICTURED) for one in words) else None


PICTURED = ("image orientation", "picture names")


def quaternion(layout: str, numbers: Array) -> Quat:
    """The unit quaternion wxyz of a rotation in one of the layouts of a contract.

    ``axis_angle``: axis times angle, rad. ``euler_xyz``: turns about the fixed axes x, then y, then z, rad. ``rotation_6d_columns``: the
    first two columns of the matrix one after the other, ``rotation_6d_rows``: its first two rows; what is not quite orthonormal is made so.
    """
    values = numbers.tolist()
    if layout == "axis_angle":
        angle = norm(numbers)
        return axis_quat(numbers, angle) if angle > 0 else (1.0, 0.0, 0.0, 0.0)
    if layout == "euler_xyz":
        return euler_quat(*values)
    if layout in ("quaternion_wxyz", "quaternion_xyzw"):
        length = norm(numbers)
        if not 1e-6 <= length < math.inf:
            raise EtudeError(f"the rotation of an action must be a quaternion, not of length {length:g}")
        w, x, y, z = values if layout == "quaternion_wxyz" else (values[3], *values[:3])
        return (w / length, x / length, y / length, z / length)
    first, second = numbers[:3], numbers[3:]
    if norm(first) < 1e-6 or norm(cross(first, second)) < 1e-6 * norm(second) * norm(first) or norm(second) < 1e-6:
        raise EtudeError("the six numbers of an action's rotation must be two directions that are not parallel")
    first = first / norm(first)
    second = second - first * dot(first, second)
    second = second / norm(second)
    found = matrix_quat(np.column_stack([first, second, cross(first, second)]))
    return conjugate(found) if layout == "rotation_6d_rows" else found


TURNS: dict[Orientation, Callable[[Any], Any]] = {
    "upright": lambda picture: picture,
    "rotated_180": lambda picture: np.ascontiguousarray(picture[::-1, ::-1]),
    "flipped": lambda picture: np.ascontiguousarray(picture[::-1]),
}


class ContractObserver(Observer):
    """What a policy or planner sees: what its contract asks for, the way round and under the names it asks for, and nothing else."""

    def __init__(self, simulation: Simulation, wanted: Contract, renderer: str = "raster") -> None:
        pictured = wanted.told != "text"
        super().__init__(simulation, wanted.camera_names, wanted.size, wanted.modalities, renderer, wanted.smooth, pictured)
        self._wanted = wanted

    def look(self) -> Observation:
        """As :meth:`Observer.look`, in the contract's conventions."""
        return seen_as(self._wanted, super().look())


def seen_as(wanted: Contract, seen: Observation) -> Observation:
    """An observation with its pictures the way round and under the names that a contract asks for."""
    turn, names = TURNS[wanted.orientation or "upright"], zip(wanted.camera_names, wanted.picture_names, strict=True)
    kinds = (*TURNED, "points", "intrinsics", "extrinsics")
    named = {key(camera, kind): (key(name, kind), kind) for camera, name in names for kind in kinds}
    found: Observation = {}
    for old, value in seen.items():
        new, kind = named.get(old, (old, ""))
        found[new] = turn(value) if kind in TURNED else value
    return found
