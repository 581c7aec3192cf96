"""Moving the hand through free space: to a position, to a pose, along a row of markers.

A planned way is only a hint. Every step looks where the arm is; off the way, or with something moved, another one is planned.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from etude.goals.goal import Always, spoken_place
from etude.goals.leaves import TipAtPose, TipAtPosition, Traced
from etude.goals.watch import Watch
from etude.pose import Array, Pose, Vec3, axis_quat, multiply
from etude.scene.scene import Body
from etude.skills.aim import TRAVEL, Aim
from etude.skills.carrying import pointing_down
from etude.skills.oracle import Context, held_still, skill
from etude.skills.planning import Way, plan

ASTRAY = 0.06  # rad: a joint this far from the way is off it
MOVED = 0.01  # m: a thing that moved farther spoils the plan
AHEAD = 8  # control steps of the way among which the present one is looked for
PATIENCE = 12  # control steps without progress before planning anew
TRIES = 4  # plans that led nowhere before going straight, come what may
RETREAT = 0.03  # m back along the tool, to come free of what is touched
TILTS = (0.4, -0.4, 0.8, -0.8)  # rad from pointing down, where that is not possible


def go(context: Context, targets: Callable[[], list[Pose]], task: str, step: str) -> Aim:
    """The next aim on a free way to the first of the tips ``targets`` that can be reached; they are asked for only to plan."""
    watch, hints = context.watch, context.hints
    robot = watch.world.robot
    assert robot is not None
    joints = robot.joints()
    way = hints.get("way")
    if isinstance(way, Way):
        k = _progress(way, joints, hints)
        if k is not None and not _disturbed(watch, hints):
            speed = TRAVEL if way.straight else 2 * TRAVEL  # the way itself keeps the pace
            return Aim(way.tips[min(k + 1, len(way.tips) - 1)], robot.closed, speed, task, step)
    tries = hints.get("tries", 0)
    assert isinstance(tries, int)
    hints["tries"] = tries + 1
    if tries >= TRIES:
        return Aim(targets()[0], robot.closed, TRAVEL, task, step)
    context.stream.uniforms(0.0, 1.0, 1 + tries)  # another try draws other postures
    way = plan(watch.world, targets(), context.stream)
    if way is None:
        hints.pop("way", None)
        return Aim(watch.tip * Pose((0.0, 0.0, -RETREAT)), robot.closed, TRAVEL, task, step)
    hints.update(way=way, at=0, waited=0, things=_things(watch))
    return Aim(way.tips[min(1, len(way.tips) - 1)], robot.closed, TRAVEL, task, step)


def _progress(way: Way, joints: Array, hints: dict[str, object]) -> int | None:
    """The step of the way at which the arm is, never earlier than before; None when it is off the way or does not get on."""
    at, waited = hints["at"], hints["waited"]
    assert isinstance(at, int) and isinstance(waited, int)
    off = np.abs(way.joints[at : at + AHEAD] - joints).max(1)
    best = int(np.argmin(off))
    waited = 0 if best else waited + 1
    hints.update(at=at + best, waited=waited)
    if best:
        hints["tries"] = 0
    return None if off[best] > ASTRAY or waited > PATIENCE else at + best


def _things(watch: Watch) -> dict[str, Array]:
    names = [e.name for e in watch.world.scene.entities if isinstance(e, Body) and not e.fixed and e.name != watch.held]
    return {name: watch.position(name).copy() for name in names}


def _disturbed(watch: Watch, hints: dict[str, object]) -> bool:
    things = hints["things"]
    assert isinstance(things, dict)
    return any(math.dist(watch.position(name), then) > MOVED for name, then in things.items() if name != watch.held)


def _facing(watch: Watch, position: Vec3) -> list[Pose]:
    """Tips at a position: pointing down if possible, else tilted."""
    down = Pose(position, pointing_down(watch, position[0], position[1]))
    tilts = [multiply(down.rotation, axis_quat(axis, angle)) for angle in TILTS for axis in ((0, 1, 0), (1, 0, 0))]
    return [down, *(Pose.of(position, rotation) for rotation in tilts)]


@skill(TipAtPosition)
def move_to_position(context: Context) -> Aim:
    """Bring the tip to a place."""
    goal = context.goal(TipAtPosition)
    spoken = spoken_place(goal.position, height=True)
    return go(context, lambda: _facing(context.watch, goal.position), goal.words(), f"Move to {spoken}")


@skill(TipAtPose)
def move_to_pose(context: Context) -> Aim:
    """Bring the tip to a place, turned as asked."""
    goal = context.goal(TipAtPose)
    spoken = spoken_place(goal.pose.position, height=True)
    return go(context, lambda: [goal.pose], goal.words(), f"Move to {spoken}")


@skill(Traced)
def move_to_marker(context: Context) -> Aim:
    """Bring the tip to the next marker."""
    goal = context.goal(Traced)
    spoken = spoken_place(goal.position, height=True)
    return go(context, lambda: _facing(context.watch, goal.position), goal.words(), f"Moving end-effector to {spoken}")


@skill(Always)
def give_up(context: Context) -> Aim:
    """What had to hold at every moment did not, and nothing can mend that: stay where we are."""
    robot = context.watch.world.robot
    assert robot is not None
    return held_still(context.watch, robot.closed, "Nothing can be done any more")
