"""Another arm in an episode: ``?robot=NAME``, for every task with a robot. What it cannot reach is laid out again."""

from __future__ import annotations

import math
from dataclasses import replace

from etude.names import EtudeError
from etude.pose import Pose, Quat, Vec3, axis_quat, multiply, yaw_quat
from etude.scene import robots
from etude.scene.kinematics import Chain
from etude.scene.placement import NoRoom
from etude.scene.scene import Body, Robot
from etude.suites.suite import Draft

AWAY = (0.05, 0.10, 0.20)  # m: over a thing that is to be moved, or before it, the hand must be held at one of these distances
HIGH = 0.5  # m above the robot's base: what stands higher than that stands in furniture, and is taken from the front
ITERATIONS = 200
DOWN: Quat = axis_quat((1, 0, 0), math.pi)
LEVEL: Quat = axis_quat((0, 1, 0), math.pi / 2)
QUARTERS = (0.0, math.pi / 2, math.pi, -math.pi / 2)
DIGITS = 9


def rearmed(draft: Draft, arm: str) -> Draft:
    """The same with another arm under the same hand, begun with the hand where the suite's own arm holds it, if this one can.

    Raises :class:`NoRoom` where it cannot hold its hand over all that is to be moved, or before what stands high up.
    """
    robot = draft.scene.robot
    if robot is None:
        raise EtudeError(f"robot={arm} does not apply here: there is no robot in this scene")
    if robot.arm != robots.arm(arm).name:
        robot = replace(robot, arm=arm, joints=_posture(robot, arm))
    _check_reach(draft, robot)
    return replace(draft, scene=replace(draft.scene, robot=robot))


def _posture(robot: Robot, arm: str) -> tuple[float, ...]:
    hand = robots.hand(robot.hand)
    own, other = Chain(robots.arm(robot.arm), hand), Chain(robots.arm(arm), hand)
    found = other.solve(own.forward(robot.joints or own.home), other.home, ITERATIONS)
    return tuple(round(float(q), DIGITS) for q in found.joints) if found.reached else ()


def _check_reach(draft: Draft, robot: Robot) -> None:
    chain = Chain(robots.arm(robot.arm), robots.hand(robot.hand))
    start = chain.forward(robot.joints or chain.home)
    for name in dict.fromkeys(name for role, name in draft.roles if role == "manipulated"):
        thing = draft.scene.entity(name)
        if isinstance(thing, Body) and not thing.fixed and name != draft.held and not _held_over(chain, start, robot, thing.pose.position):
            raise NoRoom(f"the arm {robot.arm!r} with the hand {robot.hand!r} cannot be held over {name!r}")


def _held_over(chain: Chain, start: Pose, robot: Robot, place: Vec3) -> bool:
    x, y, z = place
    away = math.atan2(y - robot.base.position[1], x - robot.base.position[0])
    turns = ((robot.base * start).rotation, DOWN, multiply(yaw_quat(away), DOWN))
    targets = [Pose((x, y, z + up), turn) for up in AWAY for turn in turns]
    if z - robot.base.position[2] > HIGH:
        ahead = [multiply(yaw_quat(away), multiply(LEVEL, yaw_quat(roll))) for roll in QUARTERS]
        targets += [Pose((x - back * math.cos(away), y - back * math.sin(away), z), turn) for back in AWAY for turn in ahead]
    return any(chain.solve(robot.base.inverse() * target, chain.home, ITERATIONS).reached for target in targets)
