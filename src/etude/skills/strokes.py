"""The two primitives of VIMA: pick here and place there, and sweep from here to there (VIMA 1.3 and 1.4).

A :class:`Stroke` is the action, a :class:`Motion` carries it out control step by control step. The same motion runs inside an environment
whose actions are strokes and under an oracle that acts in another space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from etude.arithmetic import total
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream
from etude.pose import Array, Pose, Quat, Vec2, multiply, yaw_quat
from etude.scene.scene import Body
from etude.skills.aim import CREEP, Aim
from etude.skills.carrying import DOWN, pointing_down, surface, travel

Kind = Literal["pick_place", "sweep"]

FAST = 0.05  # m for each control step through free space: the arm is alone here
LOWERING = 0.02  # m, until something is near
NEAR = 0.015  # m above what lies below: creep from there on
LIFT = 0.10  # m of rise after picking and after letting go
SUCKING = 3  # control steps in which the cup may take hold of what it touches
PATIENCE = 90  # control steps for one leg of a motion
LONG = 120  # control steps for a sweep: enough for the whole table
SWEEPING = 0.012  # m for each control step
SWEEP_HEIGHT = 0.005  # m between plate and table
EXACT = 0.002  # m by which a plate may miss where it goes down and where it stops
BACK, SHORT = 0.02, 0.05  # m: a sweep begins before its start and ends before its end (VIMA 1.4)


@dataclass(frozen=True)
class Stroke:
    """From ``start`` to ``end`` (x, y in metres, world). Only the difference of the yaws (rad) matters to what is carried."""

    kind: Kind
    start: Vec2
    end: Vec2
    start_yaw: float = 0.0
    end_yaw: float = 0.0
    places: ClassVar[tuple[int, ...]] = (0, 1, 6, 7)  # the numbers of its action that are metres

    @property
    def label(self) -> str:
        """What is done, in words."""
        return self.kind.replace("_", " and ").capitalize()

    def motion(self, stream: Stream) -> Motion:
        """The stroke being carried out."""
        return Motion(self)

    def to_action(self) -> Array:
        """As numbers (12,): x, y and quaternion (wxyz) of the start, then of the end."""
        return np.array([*self.start, *yaw_quat(self.start_yaw), *self.end, *yaw_quat(self.end_yaw)])

    @classmethod
    def from_action(cls, kind: Kind, values: Array) -> Stroke:
        """From numbers (12,). Quaternions of any length will do; only their turn about the vertical counts."""
        yaws = []
        for w, x, y, z in (values[2:6], values[8:12]):
            if math.hypot(w, x, y, z) < 1e-6:
                raise EtudeError(f"a rotation of a {kind!r} action must be a quaternion (wxyz), not zero")
            yaws.append(2.0 * math.atan2(z, w))
        return cls(kind, (float(values[0]), float(values[1])), (float(values[6]), float(values[7])), *yaws)


class Motion:
    """A stroke being carried out. ``aim`` before every control step; it gives None when the stroke is over."""

    def __init__(self, stroke: Stroke) -> None:
        self.stroke = stroke
        self._leg = "go"
        self._steps = 0
        self._heading: Quat | None = None
        self._rise_to = 0.0
        self._sucked = 0

    def aim(self, watch: Watch) -> Aim | None:
        """What to do next."""
        while self._leg != "over":
            found: Aim | None = getattr(self, f"_{self.stroke.kind}_{self._leg}")(watch)
            self._steps += 1
            if found is not None and self._steps <= (LONG if self._leg == "push" else PATIENCE):
                return found
            if found is not None:  # this leg takes too long: give up, let go and rise
                self._next("rise" if self._leg != "rise" else "over", watch)
        return None

    def _next(self, leg: str, watch: Watch) -> None:
        self._leg, self._steps = leg, 0
        self._rise_to = watch.tip.position[2] + LIFT

    # ---------------------------------------------------------------------------------------- pick and place

    def _pick_place_go(self, watch: Watch) -> Aim | None:
        if self._heading is None:
            self._heading = pointing_down(watch, *self.stroke.start)
        return self._above(watch, self.stroke.start, self._heading, False, "down")

    def _above(self, watch: Watch, place: Vec2, heading: Quat, closed: bool, leg: str) -> Aim | None:
        """Go high above a place; then the next leg begins."""
        go = travel(watch, Pose.trusted(*place, surface(watch) + LIFT, heading), closed, speed=FAST, step="Move above the target")
        if go is None:
            self._next(leg, watch)
        return go

    def _pick_place_down(self, watch: Watch) -> Aim | None:
        assert self._heading is not None
        if watch.held is not None:
            self._next("up", watch)
            return None
        if watch.touching("hand") or watch.tip.position[2] < surface(watch) - 0.002:
            self._sucked += 1
            if self._sucked > SUCKING:
                self._next("rise", watch)
                return None
            return Aim(_at_height(watch, watch.tip.position[2] - 0.001), True, CREEP, step="Pick")
        below = watch.drop()
        speed = min(LOWERING, max(CREEP, below - NEAR))
        x, y = self.stroke.start
        return Aim(Pose.trusted(x, y, watch.tip.position[2] - 0.05, self._heading), below < 2 * NEAR, speed, step="Pick")

    def _pick_place_up(self, watch: Watch) -> Aim | None:
        if watch.held is None or watch.tip.position[2] > self._rise_to - 0.01:
            self._next("carry" if watch.held is not None else "rise", watch)
            return None
        return Aim(_at_height(watch, self._rise_to), True, LOWERING, step="Lift")

    def _pick_place_carry(self, watch: Watch) -> Aim | None:
        assert self._heading is not None
        if watch.held is None:
            self._next("rise", watch)
            return None
        turned = multiply(yaw_quat(self.stroke.end_yaw - self.stroke.start_yaw), self._heading)
        return self._above(watch, self.stroke.end, turned, True, "lower")

    def _pick_place_lower(self, watch: Watch) -> Aim | None:
        assert self._heading is not None
        held = watch.held
        if held is None or any(not t.startswith(("hand", "robot")) for t in watch.touching(held)):
            self._next("rise", watch)
            return None
        below = watch.extent(held)[0] - _ground(watch, held)
        speed = min(LOWERING, max(CREEP, below - NEAR))
        x, y = self.stroke.end
        turned = multiply(yaw_quat(self.stroke.end_yaw - self.stroke.start_yaw), self._heading)
        return Aim(Pose.trusted(x, y, watch.tip.position[2] - 0.05, turned), True, speed, step="Place")

    def _pick_place_rise(self, watch: Watch) -> Aim | None:
        if watch.tip.position[2] > self._rise_to - 0.01:
            self._leg = "over"
            return None
        return Aim(_at_height(watch, self._rise_to), False, LOWERING, step="Let go")

    # ---------------------------------------------------------------------------------------- sweep

    def _line(self) -> tuple[Vec2, Vec2, Quat]:
        """Where the plate goes down, where it goes up, and how it is turned: across its way."""
        (x0, y0), (x1, y1) = self.stroke.start, self.stroke.end
        length = math.hypot(x1 - x0, y1 - y0)
        dx, dy = ((x1 - x0) / length, (y1 - y0) / length) if length > 1e-6 else (1.0, 0.0)
        along = max(length - SHORT, -BACK)
        heading = multiply(yaw_quat(math.atan2(dy, dx)), DOWN)
        return (x0 - BACK * dx, y0 - BACK * dy), (x0 + along * dx, y0 + along * dy), heading

    def _sweep_go(self, watch: Watch) -> Aim | None:
        start, _, heading = self._line()
        return self._above(watch, start, heading, False, "down")

    def _sweep_down(self, watch: Watch) -> Aim | None:
        (x, y), _, heading = self._line()
        height = surface(watch) + SWEEP_HEIGHT
        tz = watch.tip.position[2]
        if tz < height + 0.002:
            self._next("push", watch)
            return None
        if tz > height + LIFT / 2 and math.dist(watch.tip.position[:2], (x, y)) > EXACT:  # it may come down close to things
            return Aim(Pose((x, y, tz), heading), False, LOWERING, step="Move above the target")
        return Aim(Pose((x, y, height), heading), False, LOWERING, step="Lower the plate")

    def _sweep_push(self, watch: Watch) -> Aim | None:
        start, end, heading = self._line()
        left = math.dist(watch.tip.position[:2], end)
        if left < EXACT:
            self._next("rise", watch)
            return None
        # Aim at the next step of the line, not at its end: so that the plate keeps to the line, and its height, all the way.
        length = max(math.dist(start, end), 1e-6)
        along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
        done = total((p - q) * a for p, q, a in zip(watch.tip.position, start, along, strict=False))
        far = min(length, done + SWEEPING)
        target = Pose((start[0] + far * along[0], start[1] + far * along[1], surface(watch) + SWEEP_HEIGHT), heading)
        return Aim(target, False, SWEEPING, step="Sweep")

    def _sweep_rise(self, watch: Watch) -> Aim | None:
        return self._pick_place_rise(watch)


def _at_height(watch: Watch, z: float) -> Pose:
    x, y, _ = watch.tip.position
    return Pose.trusted(x, y, z, watch.tip.rotation)


def _ground(watch: Watch, held: str) -> float:
    """The height of the tallest thing a held one could come down on."""
    tops = [surface(watch)]
    p = watch.position(held)
    radius = watch.radius(held)
    for entity in watch.world.scene.entities:
        if isinstance(entity, Body) and entity.name != held:
            q = watch.position(entity.name)
            if math.hypot(p[0] - q[0], p[1] - q[1]) < radius + watch.radius(entity.name):
                tops.append(watch.extent(entity.name)[1])
    return max(tops)
