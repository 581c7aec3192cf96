"""Loading a pair of scales without upsetting it: blocks are lowered together with their plate, and let go where the beam will stay."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from etude.arithmetic import total
from etude.goals.balance import Balanced
from etude.goals.watch import Watch
from etude.pose import Array, Pose, Quat, Vec2, angle_between, matrix_quat, multiply, rotate, yaw_quat
from etude.scene.scene import Body, Fixture
from etude.skills.aim import CREEP, GENTLE, TRAVEL, Aim
from etude.skills.carrying import CLEAR, LOWEST_TRAVEL, NEAR, TURNED, pick, place, pointing_down, spot_on, surface
from etude.skills.oracle import Context, held_still, skill

SIDE = 0.16  # m: what stands nearer than this to the way is passed above
PLATES_AT = -0.15  # m, x: beyond are the plates, the post and the rods
BETWEEN: Vec2 = (-0.28, 0.0)  # from one plate to the other the hand goes around the post, by here
PARKING: tuple[Vec2, Vec2] = ((-0.42, -0.28), (-0.28, 0.28))  # where blocks that must wait are put, corners
PRESS = 0.010  # m for each control step, with a plate below the block
BRAKE = 0.2  # of the way that is left, for each control step: slower, and the beam does not run on when the hand stops
LEVEL = math.radians(1.0)  # a beam this near to where it shall be is there
TOUCH = 0.003  # m: a plate that is pressed down bounces a little under the block; it still counts as touching
CALM = 0.05  # m/s: a plate that swings faster is waited for
OVER = 0.05  # m across: the hand is above the plate


@dataclass(frozen=True, eq=False)
class Scales:
    """The scale as it stands: which blocks are on which plate (0 or 1), and where they should be."""

    watch: Watch
    goal: Balanced
    standing: dict[str, int]
    wanted: dict[str, int]
    limit: float  # rad

    def plate(self, side: int) -> str:
        """The name of a plate."""
        return self.goal.part(self.goal.plates[side])

    def top(self, side: int) -> float:
        """The height at which the next block would stand."""
        return self.goal.top(self.watch, side, self.standing)

    def tower(self, side: int) -> list[str]:
        """What stands on a plate."""
        return [b for b, s in self.standing.items() if s == side]

    def wrong(self) -> list[str]:
        """What stands on the wrong plate."""
        return self.goal.misplaced(self.standing, self.wanted)

    def arm(self, side: int) -> float:
        """How far along the beam (its y axis) a plate hangs."""
        fixture = self.watch.world.scene.entity(self.goal.scale)
        assert isinstance(fixture, Fixture)
        return next(p.pose.position[1] for p in fixture.parts if p.name == self.goal.plates[side])

    def sunk(self, side: int) -> float:
        """How far the beam leans to the side of a plate, rad; negative when it leans to the other."""
        angle = self.watch.world.joint(self.goal.part(self.goal.beam))
        return -angle if self.arm(side) > 0 else angle

    def plumb(self, side: int) -> float:
        """y of the hinge of a plate: right below it the plate hangs straight."""
        beam = self.goal.part(self.goal.beam)
        return float(self.watch.position(beam)[1] + self.watch.axes(beam)[1, 1] * self.arm(side))

    def load(self, side: int) -> float:
        """What a plate carries, kg."""
        return total(self.watch.world.mass(b) for b in self.tower(side))


@skill(Balanced)
def keep_balance(context: Context[Balanced]) -> Aim:
    """Take the wrong blocks off, put the others where the chosen split has them."""
    watch, goal, memory = context.watch, context.goal, context.node.memory
    scales = Scales(watch, goal, memory["standing"], memory["wanted"], memory["range"][1])
    held = watch.held
    if held is not None and held not in scales.wanted:
        return Aim(watch.tip.moved(z=0.02), False, GENTLE, task="Place the objects on the scale", step="Do nothing")
    if held is not None:
        context.hints["block"] = held
        return _bring(context, scales, held)
    block = _next_block(context, scales)
    if block is None:
        return _wait(scales)
    return replace(_fetch(scales, block), task=_task(block, f"the {{{goal.scale}}}"), step=f"Pick the {{{block}}}")


def _task(block: str, where: str) -> str:
    return f"Place the {{{block}}} on {where} without hitting anything else"


def _next_block(context: Context[Balanced], scales: Scales) -> str | None:
    """The block to take next: the top of a tower with a wrong block in it, else the nearest that stands on no plate."""
    watch = context.watch
    wrong = scales.wrong()
    if wrong:
        return max(scales.tower(scales.standing[wrong[0]]), key=lambda b: watch.extent(b)[1])
    waiting = [b for b in scales.goal.blocks if b not in scales.standing]
    if not waiting:
        return None
    chosen = context.hints.get("block")
    if chosen not in waiting:
        chosen = min(waiting, key=lambda b: _across(watch.tip.position, watch.position(b)))
        context.hints["block"] = chosen
    return chosen


def _across(a: Array | tuple[float, ...], b: Array | tuple[float, ...]) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


# ------------------------------------------------------------------------------------------------ moving about


def _fetch(scales: Scales, block: str) -> Aim:
    """Leave what was just put down, go to a block and take it."""
    watch = scales.watch
    for other in scales.standing:
        over = other != block and _across(watch.tip.position, watch.position(other)) < OVER
        if over and watch.tip.position[2] - watch.extent(other)[1] < CLEAR - 0.005:
            return Aim(watch.tip.moved(z=CLEAR), False, GENTLE)
    spot = spot_on(watch, block)
    above = Pose.of(spot, pointing_down(watch, float(spot[0]), float(spot[1]))).moved(z=CLEAR)
    return _travel(scales, above, False, block) or pick(watch, block)


def _wait(scales: Scales) -> Aim:
    """Clear of the plates, until the scale has come to rest."""
    watch, words = scales.watch, "Wait for the scale to come to rest"
    for side in range(2):
        over = _across(watch.tip.position, watch.position(scales.plate(side))) < OVER
        if over and watch.tip.position[2] - scales.top(side) < OVER:
            return Aim(watch.tip.moved(z=CLEAR), False, GENTLE, words, "Do nothing")
    return held_still(watch, False, words)


def _travel(scales: Scales, target: Pose, closed: bool, apart_from: str = "", hung: float = 0.0) -> Aim | None:
    """Go above the target, over what stands near the way but below the beam; None when the tip is there and turned."""
    watch = scales.watch
    (x, y, z), (tx, ty, tz) = target.position, watch.tip.position
    if _across(target.position, watch.tip.position) < NEAR and angle_between(watch.tip.rotation, target.rotation) < TURNED:
        return None
    if x > PLATES_AT and tx > PLATES_AT and abs(y - ty) > abs(scales.arm(0)):
        x, y = BETWEEN
    high = max(z, _ceiling(scales, (x, y), apart_from) + CLEAR + hung, surface(watch) + LOWEST_TRAVEL)
    if tz < high - 0.02 and _across((x, y), (tx, ty)) > 0.04:
        return Aim(Pose((tx, ty, high), watch.tip.rotation), closed, TRAVEL)
    return Aim(Pose((x, y, high), target.rotation), closed, TRAVEL)


def _ceiling(scales: Scales, end: Vec2, apart_from: str) -> float:
    """The height above which nothing stands near the straight way from the tip."""
    watch, start = scales.watch, scales.watch.tip.position
    high = surface(watch)
    others = [e.name for e in watch.world.scene.entities if isinstance(e, Body) and e.name not in (apart_from, watch.held)]
    for name in others:
        if _beside(watch.position(name), start, end) < SIDE:
            high = max(high, watch.extent(name)[1])
    for side in range(2):
        p = watch.position(scales.plate(side))
        if _beside(p, start, end) < SIDE:
            high = max(high, float(p[2]) + scales.goal.thickness / 2)
    return high


def _beside(point: Array, start: tuple[float, ...], end: Vec2) -> float:
    """How far a point is from a stretch, seen from above."""
    ax, ay = end[0] - start[0], end[1] - start[1]
    px, py = float(point[0]) - start[0], float(point[1]) - start[1]
    share = min(1.0, max(0.0, (px * ax + py * ay) / max(1e-9, ax * ax + ay * ay)))
    return math.hypot(px - share * ax, py - share * ay)


# ------------------------------------------------------------------------------------------------ putting down


def _bring(context: Context[Balanced], scales: Scales, block: str) -> Aim:
    """Put a held block on its plate, or on the table while a wrong block stands there."""
    side = scales.wanted[block]
    if any(scales.standing[b] == side for b in scales.wrong()):
        spot = _free_spot(context, scales, block)
        aim = place(context.watch, block, Pose.of(spot), False, label=f"Place the {{{block}}}")
        return replace(aim, task=_task(block, f"{{pos:{spot[0]:.2f} {spot[1]:.2f}}}"))
    where = f"the {{{scales.goal.scale}}}"
    return replace(_load(scales, block, side), task=_task(block, where), step=f"Place the {{{block}}} on {where}")


def _load(scales: Scales, block: str, side: int) -> Aim:
    """Bring a held block over its plate and lower it, on whatever stands there, until they touch; then see :func:`_settle`."""
    watch, plate = scales.watch, scales.plate(side)
    top, low = scales.top(side), watch.extent(block)[0]
    left, hung = low - top, watch.tip.position[2] - low
    touches = left < TOUCH or any(watch.touches(block, b) for b in (plate, *scales.tower(side)))
    x, y, _ = watch.position(plate).tolist()
    if touches and _across((x, y), watch.position(block)) < OVER:  # what stands together moves together: bring the plate below its hinge
        return _settle(scales, block, side, _tip_above(watch, block, (x, scales.plumb(side)), watch.tip.position[2]))
    over = _tip_above(watch, block, (x, y), top + CLEAR + hung)
    if left > CLEAR + 0.02 or _across(over.position, watch.tip.position) > NEAR:
        go = _travel(scales, over, True, hung=hung)
        if go is not None:
            return go
    swing, _ = watch.world.velocity(plate)
    if left > 0.015 and float(np.abs(swing).max()) > CALM:
        return Aim(over, True, GENTLE)
    return Aim(over.moved(z=-CLEAR - 0.02), True, GENTLE if left > 0.015 else CREEP)


def _settle(scales: Scales, block: str, side: int, here: Pose) -> Aim:
    """The block stands on its plate, still held: press both down until the beam is where the weights will keep it, then let go.

    A beam let go anywhere else would swing over to its stop and toss the blocks on the other plate.
    """
    watch, goal, mass = scales.watch, scales.goal, scales.watch.world.mass
    own, other = scales.load(side) + mass(block), scales.load(1 - side)
    slack = goal.tolerance * (own + other)
    if own < other - slack:  # the other plate stays below
        return Aim(watch.tip, False, CREEP)
    level = own <= other + slack
    left = (0.0 if level else scales.limit) - scales.sunk(side)
    if left < LEVEL:
        return Aim(here, level and not goal.still(watch), CREEP)
    return Aim(here.moved(z=-min(PRESS, max(0.0015, BRAKE * left * abs(scales.arm(side))))), True, PRESS)


def _tip_above(watch: Watch, block: str, target: Vec2, height: float) -> Pose:
    """The tip, pointing down at a height, that brings the middle of a held block over a point.

    Square blocks are turned to lie along the plate, whose rod stands close behind them.
    """
    heading = pointing_down(watch, *target)
    held = watch.tip.inverse() * Pose.of(watch.position(block), matrix_quat(watch.axes(block)))
    if watch.body(block).shape == "cube":
        yaw = Pose(rotation=_unit(multiply(heading, held.rotation))).yaw  # of the block, in the most comfortable hand
        quarter = math.pi / 2
        heading = multiply(yaw_quat(quarter * round(yaw / quarter) - yaw), heading)
    x, y, _ = rotate(heading, held.position).tolist()
    return Pose.of((target[0] - x, target[1] - y, height), heading)


def _unit(q: Quat) -> Quat:
    return Pose.of((0, 0, 0), q).rotation


def _free_spot(context: Context[Balanced], scales: Scales, block: str) -> Array:
    """A free place on the table before the robot, (3,), kept while the block is carried."""
    watch, hints = context.watch, context.hints
    if hints.get("spot for") != block:
        base = watch.base.position
        others = [watch.position(b) for b in scales.goal.blocks if b != block]
        (x0, y0), (x1, y1) = PARKING
        spots = [(context.stream.uniform(x0, x1), context.stream.uniform(y0, y1)) for _ in range(40)]
        best = max(spots, key=lambda s: min([_across(s, base) - 0.15, *(_across(s, p) for p in others)]))
        lift = float(watch.position(block)[2]) - watch.extent(block)[0]
        hints.update({"spot for": block, "spot": np.array([*best, surface(watch) + lift])})
    return np.asarray(hints["spot"])
