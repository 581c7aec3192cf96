"""Keyposes: bring the tip to a pose by a planned motion, then open or close the hand. One of them is one action.

The way is free of everything where such a way is found; where none is, because the pose itself touches something, the tip goes straight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from etude.arithmetic import norm, total
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream
from etude.pose import Array, Pose, angle_between
from etude.skills.aim import TRAVEL, Aim
from etude.skills.planning import MARGINS, TURN, FreeSpace, between, plan

ARRIVED, TURNED = 0.002, 0.02  # m and rad: near enough to a pose that is not to be met by force
LAG = 0.03  # m by which the tip may be behind before the way waits for it
PATIENCE = 15  # control steps without getting nearer: something is in the way
LONGEST = 600  # control steps for one keypose
EASING = 4  # control steps in which a straight way reaches its speed, and slows down again
RESTING = 0.001, 0.01  # m and rad for each control step: fingers move no sooner, what is let go in flight is thrown
MOVING = 0.0004  # m of opening for each control step: slower fingers have come to rest
SHUTTING = (4, 25)  # control steps, at least and at most, for the fingers
FARTHER = 1.5  # times the shortest way: postures beyond are not gone to
CROWDED = MARGINS[1]  # m: an empty hand with something nearer than this backs off before it goes elsewhere
ABOVE = 0.15  # m over where a thing goes to which no way was found: from there straight down
OUT = 0.08  # m by which a hand backs off from what it stands among
REACHED = 0.01  # m and rad by which inverse kinematics may miss a pose that still counts as within reach


@dataclass(frozen=True)
class Keypose:
    """Where the tip shall go (world), and whether the hand is closed afterwards. With ``straight`` nothing is planned; otherwise so many
    ``searches`` for a free way are made, and where there are several, one to above it; then the hand goes straight all the same."""

    tip: Pose
    closed: bool
    straight: bool = False
    speed: float = TRAVEL
    step: str = ""
    searches: int = 1
    places: ClassVar[tuple[int, ...]] = (0, 1, 2)  # the numbers of its action that are metres

    @property
    def label(self) -> str:
        """What is done, in words."""
        return self.step or "Move"

    def to_action(self) -> Array:
        """As numbers (8,): position, quaternion (wxyz), and 1 to close or −1 to open."""
        return np.array([*self.tip.position, *self.tip.rotation, 1.0 if self.closed else -1.0])

    @classmethod
    def from_action(cls, values: Array) -> Keypose:
        """From numbers (8,). A quaternion of any length will do."""
        return cls(pose_of(values, "keypose"), bool(values[7] > 0))

    def motion(self, stream: Stream) -> KeyposeMotion:
        """The keypose being carried out."""
        return KeyposeMotion(self, stream)


def pose_of(values: Array, control: str) -> Pose:
    """The pose that an action begins with: a position, and a quaternion (wxyz) of any length that can be measured."""
    length = norm(values[3:7])
    if not 1e-6 <= length < math.inf:
        raise EtudeError(f"the rotation of an action of {control!r} must be a quaternion (wxyz), not of length {length:g}")
    return Pose.of(values[:3], values[3:7])


def line(begin: Pose, end: Pose, speed: float) -> tuple[Pose, ...]:
    """Tips along the straight way, one for each control step, the start first; it sets off and comes to rest gently."""
    turn = angle_between(begin.rotation, end.rotation)
    least = max(math.dist(begin.position, end.position) / speed, turn / TURN)
    paces = [1.0]
    while total(paces) < least:
        count = len(paces) + 1
        paces = [min(1.0, (k + 1) / EASING, (count - k) / EASING) for k in range(count)]
    shares = [total(paces[:k]) / total(paces) for k in range(1, len(paces))]
    return (begin, *(between(begin, end, share) for share in shares), end)


class KeyposeMotion:
    """A keypose being carried out. ``aim`` before every control step; it gives None when the motion is over."""

    def __init__(self, keypose: Keypose, stream: Stream) -> None:
        self.keypose = keypose
        self.unreachable = False
        self._stream = stream
        self._tips: tuple[Pose, ...] = ()
        self._at = self._steps = self._waited = 0
        self._nearest = math.inf
        self._closing = -1
        self._opening = 0.0
        self._was_closed = False
        self._last = Pose()

    def aim(self, watch: Watch) -> Aim | None:
        """What to do next."""
        robot = watch.robot
        if not self._tips:
            self._was_closed = robot.closed
            self._tips = self._way(watch)
        self._steps += 1
        if self._closing < 0:
            there, rests = self._there(watch), self._rests(watch)
            if not (there and rests) and self._steps < LONGEST:
                return self._onwards(watch)
            self._closing, self._opening = 0, math.inf
        return self._fingers(watch)

    def _way(self, watch: Watch) -> tuple[Pose, ...]:
        world, keypose = watch.world, self.keypose
        if not watch.robot.reaches(keypose.tip, REACHED):
            self.unreachable = True
            return (watch.tip,)
        held = watch.between_fingers()
        if not keypose.straight and not (held and watch.touches(held, "table")):  # what lies on the table is slid or lifted, not led round
            # Past what stands so near, an empty hand would knock it over: first straight away from it.
            if held is None and not FreeSpace(world, CROWDED).free(watch.robot.joints()) and (detour := self._backing_off(watch)):
                return detour
            for _ in range(keypose.searches):
                way = plan(world, [keypose.tip], self._stream, held=held, farther=FARTHER)
                if way is not None:
                    return way.tips
            if keypose.searches > 1:
                above = keypose.tip.moved(z=ABOVE)
                way = plan(world, [above], self._stream, held=held, farther=FARTHER)
                if way is not None:
                    return (*way.tips, *line(above, keypose.tip, keypose.speed)[1:])
            if held is None and (detour := self._backing_off(watch)):
                return detour
        return line(watch.tip, keypose.tip, keypose.speed)

    def _backing_off(self, watch: Watch) -> tuple[Pose, ...]:
        """A way that first leads straight back out of what stands around the hand; empty if there is none."""
        robot = watch.robot
        away = watch.tip * Pose((0.0, 0.0, -OUT))
        found = robot.chain.solve(watch.base.inverse() * away, robot.joints())
        way = plan(watch.world, [self.keypose.tip], self._stream, start=found.joints, farther=FARTHER) if found.reached else None
        return () if way is None else (*line(watch.tip, away, self.keypose.speed), *way.tips[1:])

    def _there(self, watch: Watch) -> bool:
        if self.unreachable:
            return True
        end = self._tips[-1]
        far, turned = math.dist(watch.tip.position, end.position), angle_between(watch.tip.rotation, end.rotation)
        if self._at < len(self._tips) - 1:
            return False
        if far < ARRIVED and turned < TURNED:
            return True
        off = far + 0.1 * turned
        self._waited = 0 if off < self._nearest - 0.0005 else self._waited + 1
        self._nearest = min(self._nearest, off)
        return self._waited > PATIENCE

    def _rests(self, watch: Watch) -> bool:
        """Is the tip slow enough for what the fingers do next?"""
        last, tip = self._last, watch.tip
        self._last = tip
        if self.keypose.closed == self._was_closed or self.unreachable:
            return True
        return math.dist(last.position, tip.position) < RESTING[0] and angle_between(last.rotation, tip.rotation) < RESTING[1]

    def _onwards(self, watch: Watch) -> Aim:
        tips, tip = self._tips, watch.tip
        behind = math.dist(tip.position, tips[self._at].position)
        if behind < LAG or self._waited > PATIENCE:
            self._at, self._waited = min(self._at + 1, len(tips) - 1), 0 if self._at < len(tips) - 1 else self._waited
        else:
            self._waited += 1
        # The way keeps the pace; the aim may be farther than one step where the arm lags behind.
        return Aim(tips[self._at], self._was_closed, 2 * TRAVEL, step=self.keypose.step)

    def _fingers(self, watch: Watch) -> Aim | None:
        robot, keypose = watch.robot, self.keypose
        self._closing += 1
        now = robot.opening()
        rested = abs(now - self._opening) < MOVING
        self._opening = now
        least, most = SHUTTING
        if keypose.closed == self._was_closed or (self._closing > least and rested) or self._closing > most:
            return None
        return Aim(self._tips[-1], keypose.closed, TRAVEL, step=keypose.step)
