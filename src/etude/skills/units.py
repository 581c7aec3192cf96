"""The oracle on unit tasks: it follows the waypoints of a solution while all goes as planned, and looks for another where it does not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from etude.goals.goal import Always, Goal, GoalNode
from etude.goals.units import Composed, Control, MoveConstrained, MoveFree, MoveJoint
from etude.goals.watch import Watch
from etude.pose import Pose, angle_between
from etude.skills.aim import GENTLE, TRAVEL
from etude.skills.grips import standing
from etude.skills.keypose_motion import Keypose
from etude.skills.oracle import Context, planned
from etude.skills.solving import BACK, Solver, Waypoint

ALIKE = 0.1  # rad: postures that differ by less are the same
ELBOWS = 8  # other postures that are tried for a grasp when the nearest led to nothing, from where the arm began either
TIRED = 12  # searches that found nothing, after which no more are made
SLIP = (0.0005, 0.02)  # m and rad by which a thing may be held otherwise than planned


def _next(context: Context[Goal], units: Sequence[Goal], first: int, last: int) -> Keypose:
    """The next keypose for units ``first`` to ``last``; what was planned is kept as long as it goes as planned."""
    watch, hints = context.watch, context.hints
    plan = hints.get("plan")
    usable: list[Waypoint] = []
    if isinstance(plan, list) and plan:
        waypoint: Waypoint = plan[0]
        if (waypoint.held is None or watch.grasped(waypoint.held)) and not _slipped(watch, waypoint):
            if _standing(watch, waypoint):
                hints["plan"] = plan[1:]
                return waypoint.keypose
            usable = plan  # if nothing better is found from this posture
    tries = hints.get("tries", 0)
    hints["tries"] = tries + 1
    context.stream.uniforms(0.0, 1.0, 1 + tries)
    begin = _begin(watch, units, first)
    robot = watch.robot
    if isinstance(units[begin], Control) and robot.closed:  # let go of whatever it is before going anywhere
        hints.pop("plan", None)
        return Keypose(watch.tip, False, True, GENTLE, "Open the hand.")
    lost = hints.get("lost", 0)
    if lost == TIRED:
        return Keypose(watch.tip, robot.closed, True, GENTLE, "Give up.")
    found = Solver(watch, units, context.stream, ELBOWS if lost > 2 else 0).solve(begin)
    if found is None and usable:
        hints["plan"] = usable[1:]
        return usable[0].keypose
    if found is None:
        hints.pop("plan", None)
        hints["lost"] = lost + 1
        return _retreat(watch, lost % 2 == 1)
    found = [w for w in found if w.unit <= last]
    if not found:  # what is asked for has been done: the thing is in the hand
        return _still(watch)
    hints["plan"] = found[1:]
    return found[0].keypose


def _still(watch: Watch) -> Keypose:
    return Keypose(watch.tip, watch.robot.closed, True, GENTLE, "Keep still.")


def _standing(watch: Watch, waypoint: Waypoint) -> bool:
    """Is the arm in the posture that was supposed, where that matters? An arm with a joint to spare may come to a tip in others too."""
    return waypoint.joints is None or float(np.abs(watch.robot.joints() - waypoint.joints).max()) < ALIKE


def _slipped(watch: Watch, waypoint: Waypoint) -> bool:
    """Does the hand hold the thing in another way than was planned, where that matters? Fingers that close move what they hold."""
    if waypoint.in_tip is None or waypoint.held is None:
        return False
    held = watch.tip.inverse() * standing(watch, waypoint.held)
    return math.dist(held.position, waypoint.in_tip.position) > SLIP[0] or angle_between(held.rotation, waypoint.in_tip.rotation) > SLIP[1]


def _begin(watch: Watch, units: Sequence[Goal], first: int) -> int:
    """The unit to begin with: taking hold, unless what the unit needs is in the hand."""
    while first > 0 and not watch.grasped(getattr(units[first], "thing", "")):
        first -= 1
    control = units[first]
    if isinstance(control, Control) and watch.grasped(control.thing) and first + 1 < len(units):
        return first + 1
    return first


def _retreat(watch: Watch, home: bool) -> Keypose:
    """Back off with an open hand, or go where the arm began if that did not help: from elsewhere things look different."""
    robot, placed = watch.world.robot, watch.world.scene.robot
    assert robot is not None and placed is not None
    if home:
        start = np.asarray(placed.joints or robot.chain.home)
        return Keypose(placed.base * robot.chain.forward(start), False, False, TRAVEL, "Move back")
    tip = watch.tip * Pose((0.0, 0.0, -BACK))
    return Keypose(tip.moved(z=0.05), False, True, GENTLE, "Move back")


@planned(Always, steered=False)
def give_up(context: Context[Always]) -> Keypose:
    """What had to hold at every moment did not, and nothing can mend that."""
    return _still(context.watch)


@planned(Composed)
def compose(context: Context[Composed]) -> Keypose:
    """Carry out the units one after the other; from the one that is next."""
    goal = context.goal
    turn, count = context.node.memory["turn"], len(goal.units)
    return _next(context, goal.units, turn % count, count)  # all done, and yet not what was wanted: once more


@planned(Control, MoveFree, MoveConstrained, MoveJoint)
def one_unit(context: Context[Goal]) -> Keypose:
    """Carry out one unit, so that those that follow can be. What is where the next one needs it stays there until that is asked for."""
    units, at = _family(context)
    if context.node.status.satisfied and at + 1 < len(units) and not getattr(units[at], "release", True):
        return _still(context.watch)
    return _next(context, units, at, at)


def _family(context: Context[Goal]) -> tuple[Sequence[Goal], int]:
    parent: GoalNode | None = context.parent
    if parent is not None and isinstance(parent.goal, Composed):
        return parent.goal.units, int(context.node.path.rsplit(".", 1)[1]) - 1
    return (context.goal,), 0
