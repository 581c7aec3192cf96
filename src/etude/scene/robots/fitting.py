"""Whether an arm fits a workspace: asked before anything is placed, so that nobody waits for an episode that cannot be played."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from etude.names import EtudeError
from etude.pose import Pose, Quat, Vec2, axis_quat, multiply, yaw_quat
from etude.scene import robots
from etude.scene.kinematics import Chain
from etude.scene.scene import Robot

HEIGHTS = (0.02, 0.15)  # m above the table: taking something flat, and carrying it over others
PLACES = 5  # along each side of the workspace
FOLDED = 0.2  # m: nearer to its own base no arm is asked to point down
DOWN: Quat = axis_quat((1, 0, 0), math.pi)


@functools.lru_cache(maxsize=64)
def check_reach(robot: Robot, lower: Vec2, upper: Vec2, reach: float, height: float = 0.0) -> None:
    """Refuse an arm whose tip cannot point down all over a workspace on a table, as far as ``reach`` metres from its base.

    Its x axis points ahead (along the world's x) or away from the base, as the hands of the suites do.
    ``lower`` and ``upper`` are corners of the workspace and ``height`` is the top of the table, metres, world.
    """
    chain = Chain(robots.arm(robot.arm), robots.hand(robot.hand))
    x0, y0, _ = robot.base.position
    sides = [np.linspace(a, b, PLACES).tolist() for a, b in zip(lower, upper, strict=True)]
    for x, y, above in itertools.product(*sides, HEIGHTS):
        far = math.dist((x, y), (x0, y0))
        turns = (0.0, math.atan2(y - y0, x - x0))
        targets = [robot.base.inverse() * Pose((x, y, height + above), multiply(yaw_quat(turn), DOWN)) for turn in turns]
        if FOLDED <= far <= reach and not any(chain.solve(target, chain.home, 200).reached for target in targets):
            raise EtudeError(
                f"the arm {robot.arm!r} with the hand {robot.hand!r} does not fit here: its tip cannot point down, x ahead, at"
                f" ({x:.2f}, {y:.2f}, {height + above:.2f}), {far:.2f} m from its base"
            )
