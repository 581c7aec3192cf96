"""An arm that stands still, with nothing near, does the same in every scene: while things settle around it, that is computed once.

It is not quite still: rounding moves it by less than a millionth of a nanometre in every physics step, and every bit of that counts.
"""

from __future__ import annotations

import functools
from typing import Any

import mujoco
import numpy as np

from etude.pose import Array
from etude.scene.compile import prototype
from etude.scene.materials import SUBSTEPS
from etude.scene.prototype import RobotIndex
from etude.scene.scene import Robot, Scene

STANDING = 1e-9  # rad or m, and the same each second: an arm whose joints move less comes to touch nothing


def rest(robot: Robot, index: RobotIndex, model: Any, data: Any, periods: int) -> bool:
    """Let control periods pass at once after one in which an arm stood still; gives whether that can be done, else nothing is changed.

    It can where nothing but the arm is awake or touches anything. Only the state is brought up to date: a real step makes the rest anew.
    """
    if data.ncon or data.ntree_awake != 1 or data.ctrl.any() or data.xfrc_applied.any() or data.qfrc_applied.any():
        return False
    if data.nefc and mujoco.mj_isSparse(model):  # constraints of its own, as between fingers, are solved in another order of sums then
        return False
    joints, velocities, *others = _parts(data, index)
    if np.abs(velocities).max() > STANDING:
        return False
    before = np.concatenate([(data.time,), joints, velocities, *others])
    after = _alone(robot, before.tobytes(), periods)
    if np.abs((after - before)[1 : 1 + len(joints)]).max() > STANDING:
        return False
    _put(data, index, after)
    return True


@functools.lru_cache(maxsize=256)
def _alone(robot: Robot, state: bytes, periods: int) -> Array:
    """The state of an arm after so many control periods, from the state before them, in a room with nothing else in it."""
    proto = prototype(Scene(robot=robot, table=None, floor=None))
    data = mujoco.MjData(proto.model)
    assert proto.robot is not None
    _put(data, proto.robot, np.frombuffer(state))
    mujoco.mj_step(proto.model, data, periods * SUBSTEPS)
    return np.concatenate([(data.time,), *_parts(data, proto.robot)])


def _put(data: Any, index: RobotIndex, state: Array) -> None:
    data.time, begin = state[0], 1
    for part in _parts(data, index):
        part[:] = state[begin : begin + len(part)]
        begin += len(part)


def _parts(data: Any, index: RobotIndex) -> tuple[Array, ...]:
    """All that decides what an arm does next, as views: it comes first in every model, and whatever has a servo belongs to it."""
    dofs = slice(index.dofs.stop + len(index.fingers))
    return data.qpos[dofs], data.qvel[dofs], data.qacc_warmstart[dofs], data.act, data.ctrl
