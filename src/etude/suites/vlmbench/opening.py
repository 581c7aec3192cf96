"""Drawers and doors: Control(handle) + M2[a3,b3](drawer), and arcs M2[a4,b4] for the door. Told apart by level, action and amount."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from etude.goals.detecting import JointMoved
from etude.goals.units import Composed, Control, MoveJoint
from etude.pose import Array, Pose, Vec2
from etude.scene.cabinets import DOOR1, DOOR2, DRAWER1, DRAWER2, DRAWER3, LEVELS, cabinet, hinged_door
from etude.scene.placement import NoRoom
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import BASE, UnitSceneBuilder, grasped
from etude.suites.vlmbench.suite import vlmbench

CARRIER = (0.28, 0.36)  # m: the rectangle before the furniture that lies in the workspace (VLMbench 1.3)
FRONT = 0.255  # m from its middle to the front of the furniture
HANDLES = (0.38, 0.84)  # m from the robot to a handle, seen from above, wherever its joint is
ARM = (0.32, 0.13)  # m: how far the arm reaches forward at the start, seen from above, and what is kept free beside it
FARTHEST = 0.73  # m in x: the middle of deep furniture still stands on the table
TRIES = 400
AMOUNTS = ("fully", "slightly")
# Goals and success as shares of the travel (VLMbench 1.8 and 1.9), and in radians.
OPEN: dict[str, Vec2] = {"fully": (0.8, 1.0), "slightly": (0.4, 0.5)}
CLOSE: dict[str, Vec2] = {"fully": (0.0, 0.02), "slightly": (0.4, 0.5)}
MOVED: dict[str, Vec2] = {"fully": (0.8, 1.1), "slightly": (0.4, 0.7)}
SWING = math.radians(30)
TURNED: dict[str, Vec2] = {"fully": (math.radians(25), math.radians(35)), "slightly": (math.radians(10), math.radians(20))}
HANDLE = math.radians(25)
SLACK = math.radians(2)  # about the angle that a joint shall have


def _stand(
    stage: UnitSceneBuilder, yaw: float, back: float, grip: Callable[[float], Vec2], ends: Sequence[float], outline: Sequence[Vec2] = ()
) -> Pose:
    """A pose for furniture that opens towards the robot, its middle ``back`` behind its front.

    ``grip`` is where the handle is in the frame of the furniture for a value of its joint; at both ``ends`` it is within reach.
    ``outline`` are points, in that frame, that must not be where the arm is at the start.
    """
    stream = stage.draw.rng("layout")
    (x0, y0), (x1, y1) = RLBENCH_LOWER, RLBENCH_UPPER
    for _ in range(TRIES):
        turn = stream.uniform(-yaw, yaw)
        c, s = math.cos(turn), math.sin(turn)
        across, along = (abs(c) * CARRIER[0] + abs(s) * CARRIER[1]) / 2, (abs(s) * CARRIER[0] + abs(c) * CARRIER[1]) / 2
        x, y = stream.uniform(x0 + across, x1 - across), stream.uniform(y0 + along, y1 - along)
        pose = Pose.flat(x + c * (FRONT + back), y + s * (FRONT + back), TABLE_TOP, turn - math.pi / 2)
        handles = (pose.apply((*grip(end), 0.0)) for end in ends)
        within = all(HANDLES[0] <= math.dist(handle[:2], BASE) <= HANDLES[1] for handle in handles)
        if within and pose.position[0] <= FARTHEST and all(_beside_arm(pose.apply((*point, 0.0))) for point in outline):
            return pose
    raise NoRoom("no place for the furniture with its handle within the robot's reach")


def _beside_arm(point: Array) -> bool:
    """Is a point (world) away from the arm as it is at the start?"""
    return math.dist(point[:2], (min(max(point[0], BASE[0]), ARM[0]), BASE[1])) > ARM[1]


@vlmbench.task(level="drawer")
def drawer(draw: Draw) -> Draft:
    """Open or close a drawer of a cabinet, fully or slightly."""
    stage = UnitSceneBuilder(draw)
    variation = stage.variation(12)
    level, opening, amount = LEVELS[variation // 4], variation % 4 < 2, AMOUNTS[variation % 2]
    model = DRAWER3 if stage.unseen else stage.stream.choice((DRAWER1, DRAWER2))
    pose = _stand(stage, math.pi / 4, model.size[1] / 2, model.grip, (0.0, model.travel))
    body, front = stage.some_colours(2)
    stage.things.append(cabinet("cabinet", model, pose, body, front, "" if opening else level))
    others = (_slid(other, opening, much, model.travel) for other in LEVELS for much in AMOUNTS if (other, much) != (level, amount))
    text = f"{amount.capitalize()} {'open' if opening else 'close'} the {level} drawer."
    return stage.draft(text, _slid(level, opening, amount, model.travel), others, "cabinet")


def _slid(level: str, opening: bool, amount: str, travel: float) -> Composed:
    part = f"cabinet/{level}"
    low, high = (OPEN if opening else CLOSE)[amount]
    least, most = MOVED[amount]
    axis = f"Move along the axis of the {level} drawer for {amount} {'open' if opening else 'close'}."
    return Composed(
        JointMoved(part, least * travel, most * travel, opening),
        (
            Control(part, grasped(f"the handle of the {level} drawer", "front"), "horizontal", lift=False),
            MoveJoint(part, part, (low * travel, high * travel), axis),
        ),
    )


@vlmbench.task(level="door")
def door(draw: Draw) -> Draft:
    """Open or close a door, fully or slightly; a closed one is latched until its handle is turned."""
    stage = UnitSceneBuilder(draw)
    variation = stage.variation(4)
    opening, amount = variation >= 2, AMOUNTS[variation % 2]
    model = DOOR2 if stage.unseen else DOOR1
    start = 0.0 if opening else SWING
    pose = _stand(stage, math.pi / 8, model.size[1] / 2, model.grip, (0.0, SWING), model.outline(start))
    plank, frame = stage.some_colours(2)
    stage.things.append(hinged_door("door", model, SWING, pose, plank, start, frame))
    goal, *others = (_swung(opening, much, min(HANDLE, model.turn - SLACK / 2)) for much in sorted(AMOUNTS, key=lambda a: a != amount))
    return stage.draft(f"{amount.capitalize()} {'open' if opening else 'close'} the door.", goal, others, "door")


def _swung(opening: bool, amount: str, handle: float) -> Composed:
    angle = SWING / 2 if amount == "slightly" else SWING if opening else 0.0
    grasp = Control("door/handle", grasped("the handle of the door", "front"), "horizontal", lift=False)
    unlatch = MoveJoint("door/handle", "door/handle", _about(handle), "Rotate around the axis of the handle joint.", turns=True)
    said = f"Rotate around the axis of the door joint for {amount} {'open' if opening else 'close'}."
    swing = MoveJoint("door/handle", "door/plank", _about(angle), said, turns=True)
    return Composed(JointMoved("door/plank", *TURNED[amount], opening), (grasp, unlatch, swing) if opening else (grasp, swing))


def _about(angle: float) -> Vec2:
    return max(0.0, angle - SLACK), min(SWING, angle + SLACK)
