"""Another arm in an episode: ``?robot=NAME``, for every task with a robot. It is mounted so that it reaches what the suite's own does,
and what it cannot reach all the same is laid out again."""

from __future__ import annotations

import math
from dataclasses import replace

from etude.arithmetic import norm, total
from etude.names import EtudeError
from etude.pose import Pose, Quat, Vec3, axis_quat, multiply, yaw_quat
from etude.scene import robots
from etude.scene.fixtures import rod
from etude.scene.kinematics import Chain
from etude.scene.placement import NoRoom
from etude.scene.robots.anatomy import Arm
from etude.scene.scene import Body, Fixture, FixturePart, Robot, Scene
from etude.suites.suite import Draft

AWAY = (0.05, 0.10, 0.20)  # m: over a thing that is to be moved, or before it, the hand must be held at one of these distances
HIGH = 0.5  # m above the table: what stands higher than that stands in furniture, and is taken from the front
ITERATIONS = 200
DOWN: Quat = axis_quat((1, 0, 0), math.pi)
LEVEL: Quat = axis_quat((0, 1, 0), math.pi / 2)
QUARTERS = (0.0, math.pi / 2, math.pi, -math.pi / 2)
DIGITS = 9
MILLIMETRES = 3  # digits
PLINTH, ROUND = "plinth", 0.06  # what a raised arm stands on, and its radius (m)


def rearmed(draft: Draft, arm: str) -> Draft:
    """The same with another arm under the same hand, begun with the hand where the suite's own arm holds it, if this one can.

    Raises :class:`NoRoom` where it cannot hold its hand over all that is to be moved, or before what stands high up.
    """
    robot = draft.scene.robot
    if robot is None:
        raise EtudeError(f"robot={arm} does not apply here: there is no robot in this scene")
    scene = draft.scene if robot.arm == robots.arm(arm).name else _mounted(draft.scene, robot, arm)
    _check_reach(draft, scene)
    return replace(draft, scene=scene)


def _mounted(scene: Scene, robot: Robot, arm: str) -> Scene:
    """Its shoulder is no lower than that of the suite's own arm; where it is shorter, by half of what it lacks nearer and higher."""
    own, other = robots.arm(robot.arm), robots.arm(arm)
    lacking = max(0.0, _span(own) - _span(other)) / 2
    forward, up = (round(by, MILLIMETRES) for by in (lacking, lacking + max(0.0, _shoulder(own) - _shoulder(other))))
    base = robot.base * Pose((forward, 0.0, up))
    changed = replace(robot, arm=arm, base=base, joints=_posture(robot, arm, base))
    if not (up and robot.visible):
        return replace(scene, robot=changed)
    below = FixturePart("column", (rod(ROUND, up, (0.0, 0.0, up / 2)),))
    return replace(scene, robot=changed, entities=(*scene.entities, Fixture(PLINTH, (below,), base * Pose((0.0, 0.0, -up)))))


def _span(arm: Arm) -> float:
    """From the shoulder to the wrist, stretched out, metres."""
    return total(norm(link.origin.position) for link in arm.links[2:-1])


def _shoulder(arm: Arm) -> float:
    """The height of the second joint above the base, metres."""
    return (arm.links[0].origin * arm.links[1].origin).position[2]


def _posture(robot: Robot, arm: str, base: Pose) -> tuple[float, ...]:
    hand = robots.hand(robot.hand)
    own, other = Chain(robots.arm(robot.arm), hand), Chain(robots.arm(arm), hand)
    tip = robot.base * own.forward(robot.joints or own.home)
    found = other.solve(base.inverse() * tip, other.home, ITERATIONS)
    return tuple(round(float(q), DIGITS) for q in found.joints) if found.reached else ()


def _check_reach(draft: Draft, scene: Scene) -> None:
    robot, table = scene.robot, scene.table
    assert robot is not None
    chain = Chain(robots.arm(robot.arm), robots.hand(robot.hand))
    start = chain.forward(robot.joints or chain.home)
    high = HIGH + (table.height if table is not None else 0.0)
    for name in dict.fromkeys(name for role, name in draft.roles if role == "manipulated"):
        thing = scene.entity(name)
        if not isinstance(thing, Body) or thing.fixed or name == draft.held:
            continue
        if not _held_over(chain, start, robot, thing.pose.position, thing.pose.position[2] > high):
            raise NoRoom(f"the arm {robot.arm!r} with the hand {robot.hand!r} cannot be held over {name!r}")


def _held_over(chain: Chain, start: Pose, robot: Robot, place: Vec3, before: bool) -> bool:
    x, y, z = place
    away = math.atan2(y - robot.base.position[1], x - robot.base.position[0])
    turns = ((robot.base * start).rotation, DOWN, multiply(yaw_quat(away), DOWN))
    targets = [Pose((x, y, z + up), turn) for up in AWAY for turn in turns]
    if before:
        ahead = [multiply(yaw_quat(away), multiply(LEVEL, yaw_quat(roll))) for roll in QUARTERS]
        targets += [Pose((x - back * math.cos(away), y - back * math.sin(away), z), turn) for back in AWAY for turn in ahead]
    return any(chain.solve(robot.base.inverse() * target, chain.home, ITERATIONS).reached for target in targets)
