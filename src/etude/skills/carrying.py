"""Picking things up and putting them down, from whatever state the world is in.

Every function looks at the world afresh and says what to do next: it can take over at any time. The hand keeps pointing down and travels
above everything that stands in the way.
"""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import product
from etude.catalog.suction import suction_spot
from etude.goals.watch import Watch
from etude.pose import Array, Pose, Quat, Vec3, angle_between, axis_quat, matrix_quat, multiply, yaw_quat
from etude.scene.scene import Body
from etude.skills.aim import CREEP, GENTLE, TRAVEL, Aim

DOWN: Quat = axis_quat((1, 0, 0), math.pi)
CLEAR = 0.03  # m between what is carried and what it passes over
LOWEST_TRAVEL = 0.10  # m above the table, at least
NEAR = 0.012  # m across: straight above the target
TOUCHING = 0.0008  # m for each step, when a thing is about to touch down: harder, and the cups would dig into it
TURNED = math.radians(1.5)
SLIGHT = math.radians(10)
UPRIGHT = 0.98


def pointing_down(watch: Watch, x: float, y: float) -> Quat:
    """The hand pointing down, yawed away from the arm's base: the most comfortable wrist."""
    return multiply(yaw_quat(watch.from_base(x, y)[1]), DOWN)


def spot_on(watch: Watch, thing: str) -> Array:
    """The point (3,) on the top of a thing where a cup holds best."""
    p, axes = watch.position(thing), watch.axes(thing)
    if axes[2, 2] > UPRIGHT:
        local = suction_spot(watch.model(thing))
        if local is not None:
            return product(axes, local) + p
    return np.array([p[0], p[1], watch.extent(thing)[1]])


def surface(watch: Watch) -> float:
    """Height of the table."""
    table = watch.world.scene.table
    return table.height if table is not None else 0.0


def ceiling(watch: Watch, *apart_from: str) -> float:
    """The height above which nothing stands, but for the things named."""
    tops = [
        watch.extent(e.name)[1]
        for e in watch.world.scene.entities
        if isinstance(e, Body) and e.name not in apart_from and e.name != watch.held
    ]
    return max([surface(watch), *(t for t in tops if t < 1.0)])


def _hung(watch: Watch) -> float:
    """How far what is held hangs below the tip."""
    if watch.held is None:
        return 0.0
    return max(0.0, watch.tip.position[2] - watch.extent(watch.held)[0])


def travel(watch: Watch, target: Pose, closed: bool, apart_from: tuple[str, ...] = (), speed: float = TRAVEL, step: str = "") -> Aim | None:
    """Rise, go across above everything, and stop above the target; None when the tip is there and turned."""
    x, y, z = target.position
    tx, ty, tz = watch.tip.position
    across = math.hypot(x - tx, y - ty)
    turn = angle_between(watch.tip.rotation, target.rotation)
    if across < NEAR and turn < TURNED:
        return None
    high = max(z, ceiling(watch, *apart_from) + CLEAR + _hung(watch), surface(watch) + LOWEST_TRAVEL)
    if tz < high - 0.02 and (across > 0.04 or turn > SLIGHT):  # neither shift nor turn among what stands around
        return Aim(Pose.trusted(tx, ty, high, watch.tip.rotation), closed, speed, step=step)
    return Aim(Pose.trusted(x, y, max(tz, high) if across < NEAR else high, unwinding(watch, target)), closed, speed, step=step)


def unwinding(watch: Watch, target: Pose) -> Quat:
    """The rotation to ask for next on the way to ``target``: its own, unless the short way round would wind up the wrist.

    Over a whole episode of turning things, short ways add up until the last joint meets its limit. So the turn is chosen that ends
    nearest the middle of that joint's range, and where it is more than half a turn, it is asked for piece by piece.
    """
    robot, tip = watch.robot, watch.tip
    if min(2 * (x * x + y * y) - 1 for _, x, y, _ in (tip.rotation, target.rotation)) < UPRIGHT:
        return target.rotation
    wrist = float(robot.joints()[-1])
    middle = float(robot.chain.lower[-1] + robot.chain.upper[-1]) / 2
    swing = _wrapped(watch.from_base(*target.position[:2])[1] - watch.from_base(*tip.position[:2])[1])
    turn = _wrapped(target.yaw - tip.yaw)
    # The first joint gives ``swing``, the wrist, which points down, takes the rest the other way round.
    ends = [(wrist - (turn + k * 2 * math.pi - swing), turn + k * 2 * math.pi) for k in (-1, 0, 1)]
    _, turn = min(ends, key=lambda end: abs(end[0] - middle) + 0.1 * abs(end[0] - wrist))
    if abs(turn) < math.pi - 0.05:
        return target.rotation
    return multiply(yaw_quat(math.copysign(1.0, turn)), tip.rotation)


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)


def pick(watch: Watch, thing: str, rise: float = 0.06) -> Aim:
    """Take a thing by suction, then lift it by ``rise`` metres."""
    label = f"Pick the {{{thing}}}"
    if watch.held is not None and watch.held != thing:
        return Aim(watch.tip.moved(z=0.02), False, GENTLE, step=label)
    if watch.grasped(thing):
        return Aim(watch.tip.moved(z=rise), True, GENTLE, step=label)
    touched = watch.touching(thing)
    if not touched:  # in the air: wait where we are
        return Aim(watch.tip, False, step=label)
    if all(t.startswith("hand") for t in touched):  # caught between the cups: hold it, and put it down again
        return Aim(watch.tip, True, step=label)
    spot = spot_on(watch, thing)
    above = Pose.of(spot, pointing_down(watch, float(spot[0]), float(spot[1])))
    go = travel(watch, above.moved(z=0.03), False, (thing,), step=label)
    if go is not None:
        return go
    height = watch.tip.position[2] - float(spot[2])
    speed = GENTLE if height > 0.02 else CREEP
    return Aim(above.moved(z=-0.01), height < 0.02, speed, step=label)


def place(
    watch: Watch,
    thing: str,
    target: Pose,
    turned: bool,
    apart_from: tuple[str, ...] = (),
    label: str = "",
    point: Vec3 = (0.0, 0.0, 0.0),
) -> Aim:
    """Bring what is held to ``target`` and let go once it touches down.

    ``turned`` asks for the heading of the target too. Otherwise ``point``, in the thing's own frame, is brought above the target, so
    that a thing can be balanced on its centre of mass whatever way it is turned; the height is always that of the thing's origin.
    """
    held = watch.tip.inverse() * Pose.of(watch.position(thing), matrix_quat(watch.axes(thing)))
    if turned:
        tip = target * held.inverse()
    else:
        heading = pointing_down(watch, *target.position[:2])
        tip = _carried(held, target, heading, point)
    go = travel(watch, tip.moved(z=CLEAR), True, (thing, *apart_from), step=label)
    if go is not None:
        return go
    low = watch.extent(thing)[0]
    left = low - (target.position[2] - _below(watch, thing))
    touched = [t for t in watch.touching(thing) if not t.startswith(("hand", "robot"))]
    if touched or left < -0.004:
        return Aim(watch.tip, False, CREEP, step=label)
    return Aim(tip.moved(z=-0.02), True, GENTLE if left > 0.02 else CREEP if left > 0.003 else TOUCHING, step=label)


def _below(watch: Watch, thing: str) -> float:
    """How far the lowest point of a thing is below its origin."""
    return float(watch.position(thing)[2]) - watch.extent(thing)[0]


def _carried(held: Pose, target: Pose, heading: Quat, point: Vec3) -> Pose:
    """The tip, pointing down with this heading, that brings a point of a held thing over the target, whatever way it is turned."""
    hand = Pose((0, 0, 0), heading)
    x, y, _ = hand.apply(held.apply(point)).tolist()
    z = float(hand.apply(held.position)[2])
    return Pose.of(np.asarray(target.position) - (x, y, z), heading)
