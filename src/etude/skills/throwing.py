"""Throwing: wind up before the arm's own shoulder, swing underarm along a straight line, let go where the free flight meets the target.

A throw is planned once, from the wind-up posture, by rehearsal: the swing is played through in the world itself, which is then put back
exactly as it was. The plan says only how fast to swing, along which line, and how far along it to let go; it is followed by looking at
where the tip is, so whoever disturbs the arm makes it wind up again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from etude.arithmetic import dot, norm, norms, product, total
from etude.catalog.polygon import Outline, contains
from etude.goals.monitor import Monitor
from etude.goals.throwing import Hit
from etude.goals.watch import GRAVITY, Watch
from etude.pose import Array, Pose, Quat, angle_between, axis_quat, multiply, rotate, yaw_quat
from etude.scene.scene import Body
from etude.scene.world import World
from etude.skills.aim import Aim, delta_action
from etude.skills.carrying import DOWN, pick
from etude.skills.oracle import Context, held_still, named, skill

START_RADIUS, START_HEIGHT = 0.27, 0.48  # m from the base's axis and above the table: where a swing begins
RISE = -0.25  # rad: how steeply it rises; falling a little, so that the hand is above what it lets go
TURN = 0.06  # rad that the hand swings forward in each control step
STRIDE = 0.05  # m for each control step: as fast as the joints allow all along the swing
SLOWEST, FASTEST = 0.036, 0.054
START_PITCH = -0.2  # rad: so that it comes down about level, after turning with the hand and on in flight
FOLLOW = 0.05  # m the hand goes on after it let go
LONGEST = 9  # control steps of a swing
WIND = 0.02  # m for each control step while winding up
ARC = 0.3  # rad: how far around the base to aim at a time
ARRIVED, SETTLED, TURNED = 0.003, 0.02, 0.02  # m, m/s, rad: the wind-up is complete
STRAYED = 0.06  # m off the line of the swing
REACH = 0.66  # m from the base: what has fallen farther away is lost
MOVING = 0.03  # m/s
WATCHED = 70  # control steps for which a rehearsed throw is followed
LOST = 0.35  # m from the middle of the target: no throw ends well from there
AIMS, NEAR = 40, 0.02  # points aimed at, at most, and m by which a swing may miss one to be worth a rehearsal
PASSES, CLOSE = 3, 0.005  # corrections of a swing, at most, and m that are good enough
WITHIN = 0.05  # m: what another stride can make up for
REHEARSALS = 16  # throws played to the end
SLIDE = 0.04  # m that a thing slides on after it came down
GRID, APART = 0.02, 0.035  # m between places that are thought of, and between those tried
ROOM, BESIDE = 0.06, 0.06  # m to the rim that is as good as more, and m taken by what already lies there
UPRIGHT = 0.05  # m: a taller target is hit from the side, a flatter one from above


@dataclass(frozen=True)
class Swing:
    """A planned throw: from ``start`` (m) along ``along`` (unit vector), ``stride`` m a step, letting go ``release`` m from the start."""

    start: Array
    along: Array
    heading: float
    stride: float
    release: float = math.inf

    def progress(self, tip: Pose) -> tuple[float, float]:
        """How far along the line the tip is, and how far off it, metres."""
        offset = np.asarray(tip.position) - self.start
        done = dot(offset, self.along)
        return done, norm(offset - done * self.along)

    def aim(self, tip: Pose) -> Aim:
        """Swing on; let go and follow through, so that the hand does not drag on the thing as it falls clear; stop."""
        past = self.progress(tip)[0] - self.release
        if past >= FOLLOW:
            return Aim(tip, False)
        return Aim(Pose.of(self.start + self.along, _pitched(self.heading, _pitch(tip, self.heading) + TURN)), past < 0.0, self.stride)


def _pitched(heading: float, pitch: float) -> Quat:
    """The hand pointing down, yawed to ``heading`` and swung forward by ``pitch``."""
    return multiply(yaw_quat(heading), multiply(axis_quat((0, -1, 0), pitch), DOWN))


def _pitch(tip: Pose, heading: float) -> float:
    """How far the hand is swung forward."""
    x, y, z = rotate(tip.rotation, (0.0, 0.0, 1.0))
    return math.atan2(x * math.cos(heading) + y * math.sin(heading), -z)


@skill(Hit)
def throw(context: Context[Hit]) -> Aim:
    """Pick it up, wind up, throw; wait for what happens; again if it can still be reached."""
    goal, watch = context.goal, context.watch
    task = goal.words()
    if watch.grasped(goal.thrown):
        return named(_throw(context, goal), task)
    swing = context.hints.get("swing")
    if isinstance(swing, Swing) and watch.held is None and not watch.touching(goal.thrown):
        return replace(swing.aim(watch.tip), task=task, step=f"Throw the {{{goal.thrown}}} at the {{{goal.target}}}")
    context.hints.pop("swing", None)
    moving = any(norm(watch.world.velocity(n)[0]) > MOVING for n in (goal.thrown, goal.target))
    x, y, _ = watch.position(goal.thrown) - _base(watch)
    if watch.held is None and (moving or math.hypot(x, y) > REACH):
        return held_still(watch, False, task)
    return replace(pick(watch, goal.thrown), task=task, step=f"Picking the {{{goal.thrown}}}")


def _throw(context: Context[Hit], goal: Hit) -> Aim:
    watch, hints = context.watch, context.hints
    swing = hints.get("swing")
    if isinstance(swing, Swing) and swing.progress(watch.tip)[1] > STRAYED:
        swing = None
    if not isinstance(swing, Swing):
        hints.pop("swing", None)
        wind = _wind(watch, goal)
        if wind is not None:
            return replace(wind, step=f"Wind before throwing the {{{goal.thrown}}}")
        swing = hints["swing"] = _plan(watch, goal)
    return replace(swing.aim(watch.tip), step=f"Throw the {{{goal.thrown}}} at the {{{goal.target}}}")


# ------------------------------------------------------------------------------------------------ winding up


def _base(watch: Watch) -> Array:
    return np.asarray(watch.base.position)


def _heading(watch: Watch, goal: Hit) -> float:
    """The direction from the base to the target, rad."""
    x, y, _ = watch.position(goal.target) - _base(watch)
    return math.atan2(y, x)


def _wind(watch: Watch, goal: Hit) -> Aim | None:
    """Go around the base to where the swing begins; None when there, at rest."""
    base = _base(watch)
    tip = np.asarray(watch.tip.position) - base
    heading, bearing = _heading(watch, goal), math.atan2(tip[1], tip[0])
    turn = (heading - bearing + math.pi) % (2 * math.pi) - math.pi
    radius, towards = START_RADIUS, bearing + min(max(turn, -ARC), ARC)
    if abs(turn) > ARC:  # stay clear of the arm's own base
        radius = min(max(math.hypot(tip[0], tip[1]), START_RADIUS), 0.5)
    place = base + np.array([radius * math.cos(towards), radius * math.sin(towards), START_HEIGHT])
    begin = Pose.of(place, _pitched(towards, START_PITCH))
    if tip[2] < START_HEIGHT / 2 and math.dist(begin.position[:2], watch.tip.position[:2]) > 0.05:
        return Aim(Pose((*watch.tip.position[:2], float(base[2]) + START_HEIGHT), watch.tip.rotation), True, WIND)
    there = math.dist(begin.position, watch.tip.position) < ARRIVED and angle_between(begin.rotation, watch.tip.rotation) < TURNED
    if there and norm(watch.world.velocity(goal.thrown)[0]) < SETTLED:
        return None
    return Aim(begin, True, WIND)


# ------------------------------------------------------------------------------------------------ planning


def _plan(watch: Watch, goal: Hit) -> Swing:
    """The first throw that succeeds in rehearsal without moving anything else; failing that, the best one."""
    world = watch.world
    state = world.save()
    best: tuple[float, Swing] | None = None
    try:
        rehearsed = 0
        heading = _heading(watch, goal)
        plain = _played(world, goal.thrown, _towards(watch, heading, heading, STRIDE), LONGEST)
        for aim in islice(_aims(watch, goal), AIMS):
            swing, missed = _swing_to(watch, goal, aim, plain)
            cost = 100.0 + missed
            if missed < NEAR and rehearsed < REHEARSALS:
                rehearsed += 1
                cost = _rehearse(world, goal, swing)
                world.restore(state)
            if best is None or cost < best[0]:
                best = (cost, swing)
            if cost <= 0.0 or rehearsed == REHEARSALS:
                break
    finally:
        world.restore(state)
    assert best is not None
    return best[1]


@dataclass(frozen=True)
class Moment:
    """Just before letting go: how far the swing has come (m), and the position and velocity (3,) of the thing."""

    progress: float
    position: Array
    velocity: Array

    def landing(self, height: float) -> Array:
        """Where (3,) the thing, let go now, comes down to a height."""
        p, v = self.position, self.velocity
        t = (v[2] + math.sqrt(max(0.0, v[2] ** 2 + 2 * GRAVITY * (p[2] - height)))) / GRAVITY
        return np.array([p[0] + v[0] * t, p[1] + v[1] * t, height])


def _played(world: World, thing: str, swing: Swing, steps: int) -> list[Moment]:
    """The moments of a swing at which one could let go, by rehearsal."""
    state, found = world.save(), []
    for _ in range(steps):
        _act(world, swing)
        velocity, _ = world.velocity(thing)
        found.append(Moment(swing.progress(_tip(world))[0], world.frame(thing)[0].copy(), velocity))
    world.restore(state)
    return found


def _towards(watch: Watch, heading: float, bearing: float, stride: float) -> Swing:
    """A swing from where the tip is, the hand facing ``heading``, the line going to ``bearing``."""
    along = np.array([math.cos(bearing) * math.cos(RISE), math.sin(bearing) * math.cos(RISE), math.sin(RISE)])
    return Swing(np.asarray(watch.tip.position), along, heading, stride)


def _swing_to(watch: Watch, goal: Hit, aim: Array, plain: list[Moment]) -> tuple[Swing, float]:
    """The swing whose free flight takes the thing through a point, and by how much it misses it, metres.

    The ``plain`` swing tells when to let go; then follows exactly how fast to swing and in which direction.
    """
    offset = (aim - np.asarray(watch.tip.position))[:2]
    reach, bearing, stride = norm(offset), _heading(watch, goal), STRIDE
    ahead = np.array([offset[0], offset[1], 0.0]) / reach
    heading = bearing
    # The first two steps still accelerate: what they would do depends on the servos more than on the plan.
    short = [abs(dot(moment.landing(float(aim[2])) - aim, ahead)) for moment in plain[2:]]
    steps = 3 + int(np.argmin(short))
    moment, swing = plain[steps - 1], _towards(watch, heading, bearing, stride)
    miss = moment.landing(float(aim[2])) - aim
    for _ in range(PASSES if min(short) < WITHIN else 0):
        bearing -= float(ahead[0] * miss[1] - ahead[1] * miss[0]) / reach
        stride = min(max(stride - dot(miss, ahead) / (steps + 6), SLOWEST), FASTEST)  # flight lasts about six steps
        swing = _towards(watch, heading, bearing, stride)
        moment = _played(watch.world, goal.thrown, swing, steps)[-1]
        miss = moment.landing(float(aim[2])) - aim
        if norm(miss) < CLOSE:
            break
    return replace(swing, release=moment.progress - stride / 2), norm(miss)


def _tip(world: World) -> Pose:
    assert world.robot is not None
    return world.robot.tip()


def _act(world: World, swing: Swing) -> None:
    """One control step of a swing."""
    robot = world.robot
    assert robot is not None
    aim = swing.aim(robot.tip())
    robot.move_by(delta_action(aim, robot.tip())[:6])
    robot.grip(aim.closed)
    world.step()


def _rehearse(world: World, goal: Hit, swing: Swing) -> float:
    """Play a throw to its end: 0 for success that leaves the rest alone, more for worse."""
    others = [e.name for e in world.scene.entities if isinstance(e, Body) and not e.fixed and e.name not in (goal.thrown, goal.target)]
    before = {n: world.frame(n)[0].copy() for n in others}
    monitor = Monitor(goal, world)
    for _ in range(WATCHED):
        _act(world, swing)
        if monitor.update().satisfied:
            break
        stopped = monitor.watch.static(goal.thrown) and monitor.watch.static(goal.target)
        if monitor.root.memory["landed"] and (stopped or _astray(world, goal) > LOST):
            break
    moved = total(norm(world.frame(n)[0] - p) for n, p in before.items())
    return (0.0 if monitor.status.satisfied else 10.0 + _astray(world, goal)) + (moved if moved > 0.01 else 0.0)


def _astray(world: World, goal: Hit) -> float:
    """How far the thing is from the middle of its target, seen from above."""
    return norm((world.frame(goal.thrown)[0] - world.frame(goal.target)[0])[:2])


# ------------------------------------------------------------------------------------------------ where to aim


def _aims(watch: Watch, goal: Hit) -> Iterator[Array]:
    """Points (3,) through which the middle of the thing should fly, most promising first."""
    base, target = _base(watch), watch.position(goal.target)
    low, high = watch.extent(goal.target)
    away = (target - base) * [1, 1, 0]
    away /= norm(away)
    size = watch.model(goal.thrown).size
    if high - low > UPRIGHT:
        for share, short in ((0.8, 0.06), (0.65, 0.06), (0.9, 0.03), (0.5, 0.07), (0.8, 0.03), (0.65, 0.0), (0.9, 0.08), (0.3, 0.06)):
            yield np.array([*(target - short * away)[:2], low + share * (high - low)])
        return
    top = high + size[2] / 2
    spots = _spots(watch, goal) if goal.stay else iter([target + d * away for d in (0.0, 0.03, -0.03, 0.06)])
    for spot in spots:
        yield np.array([*(spot - (SLIDE if goal.stay else 0.0) * away)[:2], top])


def _spots(watch: Watch, goal: Hit) -> Iterator[Array]:
    """Free places (3,) on a flat target, away from its rim and from what already lies there, the roomiest first."""
    model = watch.model(goal.target)
    axes, middle = watch.axes(goal.target), watch.position(goal.target)
    half = max(model.size[:2]) / 2
    line = np.linspace(-half - GRID, half + GRID, 2 * round(half / GRID) + 3)
    points = np.array([(x, y) for x in line for y in line])
    inside = np.zeros(len(points), bool)
    for ring in model.plan:
        inside |= contains(Outline.of(ring), points)
    points, outside = points[inside], points[~inside]
    room = norms(points[:, None] - outside[None]).min(1)
    for other in watch.world.scene.entities:
        if isinstance(other, Body) and other.name not in (goal.thrown, goal.target):
            there = product(axes.T, watch.position(other.name) - middle)[:2]
            room = np.minimum(room, norms(points - there) - BESIDE)
    chosen: list[Array] = []
    for k in np.argsort(-np.minimum(room, ROOM), kind="stable"):
        if all(norm(points[k] - c) > APART for c in chosen):
            chosen.append(points[k])
            yield product(axes, [*points[k], 0.0]) + middle
