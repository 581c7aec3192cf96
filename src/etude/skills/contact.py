"""Touching, pushing and toppling with the side of the hand: it points down, goes down at a free spot beside the thing, and advances.

Every function looks at the world afresh. What is kept as a hint is a :class:`PushPath`, the choice of a side to come from; it is dropped
as soon as the world no longer fits it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from etude.arithmetic import dot, norm, product, total, turned
from etude.catalog.polygon import hull, separation
from etude.goals.contact import PushedTo, PushedTowards, StructureToppled, Touched
from etude.goals.goal import Goal
from etude.goals.watch import Watch
from etude.names import Stream
from etude.pose import Array, Pose, Vec2, multiply, yaw_quat
from etude.scene.scene import Body
from etude.skills.aim import CREEP, GENTLE, TRAVEL, Aim
from etude.skills.carrying import CLEAR, DOWN, LOWEST_TRAVEL, ceiling, surface
from etude.skills.oracle import Context, held_still, skill

# The head of the vacuum hand seen from above, m from its middle to its long sides, where two cups stand out, and to its plain short sides.
CUPS, PLAIN = 0.0325, 0.0455
STANDOFF = 0.025  # m between hand and thing where the hand goes down
SPARE = 0.008  # m kept to everything else
# Heights of the tip: m above the foot of a thing that is touched or pushed, m below the top of one that is toppled. Lower than in
# ClevrSkills 3.7 (0.03 and 0.015): so the flat head, 2 cm above the tip, meets the thing, and corners do not get stuck between the cups.
LOW, BELOW_TOP = 0.012, 0.035
NEAREST, FARTHEST = 0.175, 0.69  # m from the base: where the hand can work low above the table
HEADINGS = 32  # sides to come from
LEVEL, LIFTED = 0.008, 0.014  # m below and above,
ASIDE = 0.025  # m, and
ASKEW = math.radians(20)  # by how much the hand may be off its course before it starts again
OFF = 0.012  # m: clear of what was touched
PUSH = 0.012  # m for each control step
SHOVE = 0.03  # m, to make things fall
RELIEF = 0.003  # m up for each N·s with which the hand presses down
LIFT = 0.1  # of the way: a pushing hand rises, because one that sinks would jam
FINISH = 0.003  # m: near enough to the end of a push
STEER = 0.05  # m to go, beyond which the push follows its target
MOVED = 1.2  # of the distance asked for
SHARE = 1.35  # of the share of the way asked for
WAYPOINTS = (0.1, 0.16, 0.22, 0.3)  # m from a thing, where it may be pushed first


@dataclass(frozen=True)
class PushPath:
    """A way for the hand: ``heading`` (rad) it moves in, ``back`` metres from the middle of the thing it starts, with the hand at ``yaw``.

    ``goal`` is where the middle of the thing shall come, if that matters.
    """

    heading: float
    back: float
    yaw: float
    goal: Vec2 | None = None

    def turned(self, heading: float) -> float:
        """The hand's yaw when the course bends to ``heading``."""
        return self.yaw + heading - self.heading


# ------------------------------------------------------------------------------------------------ what is where


def _unit(heading: float) -> Array:
    return np.array([math.cos(heading), math.sin(heading)])


def middle(watch: Watch, thing: str) -> Array:
    """The centre of mass (2,) of a thing, seen from above: what a push should go through."""
    local = watch.model(thing).mass_properties[1]
    return np.asarray((watch.position(thing) + product(watch.axes(thing), local))[:2])


def _outline(watch: Watch, thing: str) -> Array:
    """Convex outline (K, 2) of a thing as it lies now."""
    points = np.vstack([p.support() for p in watch.model(thing).pieces])
    return hull((turned(points, watch.axes(thing)) + watch.position(thing))[:, :2])


def _hindrances(watch: Watch, but: Sequence[str], height: float) -> list[Array]:
    """Outlines of everything that the hand could hit with its tip at ``height``, but for some things."""
    names = [e.name for e in watch.world.scene.entities if isinstance(e, Body) and e.name not in but]
    return [_outline(watch, n) for n in names if watch.extent(n)[1] > height - 0.01]


def _swept(ring: Array, by: Array) -> Array:
    return hull(np.vstack([ring, ring + by]))


def _hand(at: Array, heading: float) -> Array:
    """Outline (4, 2) of room enough for the hand that heads this way, counter-clockwise."""
    d = _unit(heading)
    n = np.array([-d[1], d[0]])
    return np.array([at + PLAIN * (i * d + j * n) for i, j in ((1, -1), (1, 1), (-1, 1), (-1, -1))])


def _free(ring: Array, hindrances: Sequence[Array], gap: float = SPARE) -> bool:
    return all(separation(ring, other) >= gap for other in hindrances)


def _base(watch: Watch) -> Array:
    return np.array(watch.base.position[:2])


def _within_reach(watch: Watch, *points: Array) -> bool:
    base = _base(watch)
    return all(NEAREST <= norm(p - base) <= FARTHEST for p in points)


def _course(watch: Watch, at: Array, ring: Array, heading: float, plain: bool, goal: Vec2 | None = None) -> PushPath:
    """The course against a thing with its middle ``at``; of two equal sides of the hand the one that winds up the wrist less."""
    robot = watch.robot
    d = _unit(heading)
    back = float(product(ring - at, -d).max()) + (PLAIN if plain else CUPS) + STANDOFF
    azimuths = [math.atan2(*(p - _base(watch))[::-1]) for p in (np.array(watch.tip.position[:2]), at - back * d)]
    wound = float(robot.joints()[-1] - robot.chain.home[-1]) + azimuths[1] - azimuths[0]
    first = heading + math.pi / 2 if plain else heading
    # The last joint turns about an axis that points down.
    yaw = min((first, first + math.pi), key=lambda yaw: abs(wound - math.remainder(yaw - watch.tip.yaw, 2 * math.pi)))
    return PushPath(heading, back, yaw, goal)


def _pointed(watch: Watch, thing: str) -> bool:
    """Has it bays, so that two of its points could get stuck on two cups?"""
    return len(watch.model(thing).pieces) > 1


def _passable(watch: Watch, at: Array, ring: Array, course: PushPath, length: float, hindrances: Sequence[Array], carry: bool) -> bool:
    """Can the hand go down at the start of a course and advance by ``length`` metres of the thing's own way, hitting nothing else?"""
    d = _unit(course.heading)
    start = at - course.back * d
    way = (STANDOFF + length) * d
    if not _within_reach(watch, start, start + way):
        return False
    if not _free(_swept(_hand(start, course.heading), way), hindrances):
        return False
    return not carry or _free(_swept(ring, length * d), hindrances)


# ------------------------------------------------------------------------------------------------ moving the hand


def _off(watch: Watch) -> Aim | None:
    """Step back from whatever the hand stands close beside; None when it is clear, above everything, or at the end of its reach."""
    x, y, z = watch.tip.position
    near, nearest = OFF, ""
    for entity in watch.world.scene.entities:
        if isinstance(entity, Body) and watch.extent(entity.name)[1] > z + 0.003:
            gap = watch.gap("hand", entity.name, 2 * OFF)
            if gap < near:
                near, nearest = gap, entity.name
    if not nearest:
        return None
    away = np.array([x, y]) - middle(watch, nearest)
    away = away / max(1e-6, norm(away)) * 0.03
    if not _within_reach(watch, away + np.array([x, y])):
        return None
    return Aim(watch.tip.moved(float(away[0]), float(away[1])), False, GENTLE)


def _approach(watch: Watch, at: Array, course: PushPath, height: float) -> Aim:
    """Back off, rise, go across above everything, and down to the start of the course."""
    x, y = (at - course.back * _unit(course.heading)).tolist()
    tx, ty, tz = watch.tip.position
    rotation = multiply(yaw_quat(course.yaw), DOWN)
    high = max(height, ceiling(watch) + CLEAR, surface(watch) + LOWEST_TRAVEL)
    across = math.hypot(x - tx, y - ty)
    turn = abs(math.remainder(watch.tip.yaw - course.yaw, 2 * math.pi))
    down = tz < high - 0.02
    if across < (0.02 if down else 0.008) and turn < (0.1 if down else 0.03):
        return Aim(Pose((x, y, height), rotation), False, TRAVEL)
    if down:
        return _off(watch) or Aim(Pose((tx, ty, high), watch.tip.rotation), False, TRAVEL)
    return Aim(Pose((x, y, high), rotation), False, TRAVEL)


def _on_course(watch: Watch, at: Array, course: PushPath, heading: float, height: float) -> bool:
    """Is the hand down, behind the thing, and turned towards it?"""
    d = _unit(heading)
    offset = np.array(watch.tip.position[:2]) - at
    turn = abs(math.remainder(watch.tip.yaw - course.turned(heading), 2 * math.pi))
    along, aside = dot(offset, d), dot(offset, np.array([-d[1], d[0]]))
    level = -LEVEL < watch.tip.position[2] - height < LIFTED
    return level and -course.back - 0.03 < along < 0 and abs(aside) < ASIDE and turn < ASKEW


def _advance(watch: Watch, thing: str, course: PushPath, heading: float, height: float, speed: float) -> Aim:
    """Straight on, the hand kept behind the middle of the thing.

    A hand that leans on a thing presses it to the table, where friction holds it the faster the harder it is pushed: such a hand rises.
    """
    at, d = middle(watch, thing), _unit(heading)
    pressing = -float(watch.world.impulse("hand", thing)[2])
    lift = LIFT * speed if watch.tip.position[2] < height + 0.75 * LIFTED else 0.0
    rise = min(max(RELIEF * pressing + lift, -speed), speed)
    n = np.array([-d[1], d[0]])
    tip = np.array(watch.tip.position[:2])
    aside = dot(tip - at, n)
    x, y = (tip + speed * d - min(max(aside, -0.5 * speed), 0.5 * speed) * n).tolist()
    z = watch.tip.position[2] + rise if watch.by_robot(thing) else height
    return Aim(Pose((x, y, z), multiply(yaw_quat(course.turned(heading)), DOWN)), False, 2 * speed)


def _left(watch: Watch) -> Aim:
    """Step back from what was touched, and rise while it comes to rest."""
    away = _off(watch)
    if away is not None:
        return replace(away, step="Do nothing")
    if watch.tip.position[2] < ceiling(watch) + CLEAR:
        return Aim(watch.tip.moved(z=0.03), False, GENTLE, step="Do nothing")
    return held_still(watch, False)


# ------------------------------------------------------------------------------------------------ touching, pushing away, toppling


def _side(watch: Watch, stream: Stream, thing: str, height: float, length: float, besides: Sequence[str] = ()) -> PushPath:
    """A side to come from, drawn by chance: more often those from which the hand moves away from the arm's base."""
    at, ring, plain = middle(watch, thing), _outline(watch, thing), _pointed(watch, thing)
    if besides:
        ring = hull(np.vstack([ring, *(_outline(watch, b) for b in besides)]))
    hindrances = _hindrances(watch, (thing, *besides), height)
    outwards = at - _base(watch)
    outwards = outwards / norm(outwards)
    shift = stream.uniform(0.0, 2 * math.pi / HEADINGS)
    found: list[tuple[float, PushPath]] = []
    # At best nothing else is hit; failing that, by the hand; failing that, where it goes down.
    for carry, way in ((True, length), (False, length), (False, -STANDOFF)):
        for k in range(HEADINGS):
            course = _course(watch, at, ring, shift + 2 * math.pi * k / HEADINGS, plain)
            if _passable(watch, at, ring, course, way, hindrances, carry):
                found.append((0.01 + math.pow(max(0.0, dot(_unit(course.heading), outwards)), 3), course))
        if found:
            break
    if not found:
        return _course(watch, at, ring, math.atan2(outwards[1], outwards[0]), plain)
    mark = stream.uniform(0.0, total(weight for weight, _ in found))
    for weight, course in found:
        mark -= weight
        if mark <= 0:
            return course
    return found[-1][1]


def _strike(
    context: Context[Goal], thing: str, height: float, length: float, speed: float, verb: str, besides: Sequence[str] = ()
) -> Aim:  # fmt: skip
    """Come from a free side and advance against a thing."""
    watch, hints = context.watch, context.hints
    at = middle(watch, thing)
    course = hints.get("course") if hints.get("thing") == thing else None
    if isinstance(course, PushPath) and _on_course(watch, at, course, course.heading, height):
        hints["engaged"] = True
        return replace(_advance(watch, thing, course, course.heading, height, speed), step=f"{verb} the {{{thing}}}")
    if not isinstance(course, PushPath) or hints.get("engaged"):
        course = _side(watch, context.stream, thing, height, length, besides)
        hints.update(course=course, thing=thing, engaged=False)
    return replace(_approach(watch, at, course, height), step=f"Moving to a good place to {verb.lower()} the {{{thing}}}")


@skill(Touched)
def touch(context: Context[Touched]) -> Aim:
    """Touch a thing, push it away, or knock it over."""
    goal, watch, memory = context.goal, context.watch, context.node.memory
    thing, verb = goal.thing, goal.manner.capitalize()
    low, top = watch.extent(thing)
    gap = watch.gap("hand", thing)
    moved = norm(watch.position(thing) - memory["start"])
    lean = math.acos(min(1.0, max(-1.0, dot(watch.axes(thing)[:, 2], memory["axes"][:, 2]))))
    foot = low + min(LOW, 0.6 * (top - low))
    fallen = goal.manner == "topple" and lean >= goal.lean
    if goal.manner == "push":
        done = memory["touched"] and moved >= MOVED * goal.moved
        aim = _strike(context, thing, foot, MOVED * goal.moved, PUSH, verb)
    elif goal.manner == "topple" and not fallen:
        done = False
        aim = _strike(context, thing, top - BELOW_TOP, 0.5 * (top - low), SHOVE if gap < 0.01 else GENTLE, verb)
    else:
        done = memory["touched"]
        aim = _strike(context, thing, foot, 0.0, CREEP if gap < 0.012 else GENTLE, verb)
    if done or not watch.touching(thing):
        aim = _left(watch)
    return replace(aim, task=goal.words())


@skill(StructureToppled)
def topple(context: Context[StructureToppled]) -> Aim:
    """Shove the lowest thing that does not lie on the table, with what stands on it, until all of them do."""
    goal, watch = context.goal, context.watch
    up = sorted((t for t in goal.things if not watch.touches(t, "table")), key=lambda t: watch.extent(t)[0])
    thing = up[0]
    height = watch.extent(thing)[1] - BELOW_TOP
    pushed = [t for t in goal.things if t != thing and watch.extent(t)[1] > height]
    speed = SHOVE if watch.gap("hand", thing) < 0.01 else GENTLE
    return replace(_strike(context, thing, height, 0.1, speed, "Topple", pushed), task=goal.words())


# ------------------------------------------------------------------------------------------------ pushing to a place


def _routes(watch: Watch, thing: str, target: Array, height: float) -> PushPath:
    """The first push of the shortest way to a target: straight, or round a corner where something is in the way."""
    at, ring, plain = middle(watch, thing), _outline(watch, thing), _pointed(watch, thing)
    hindrances = _hindrances(watch, (thing,), height)

    def leg(start: Array, end: Array) -> PushPath | None:
        way = end - start
        length = norm(way)
        moved = ring + (start - at)
        course = _course(watch, start, moved, math.atan2(way[1], way[0]), plain, (float(end[0]), float(end[1])))
        return course if _passable(watch, start, moved, course, length, hindrances, True) else None

    direct = leg(at, target)
    if direct is not None:
        return direct
    corners = [at + r * _unit(2 * math.pi * k / HEADINGS) for r in WAYPOINTS for k in range(HEADINGS)]
    corners.sort(key=lambda w: norm(w - at) + norm(target - w))
    single: PushPath | None = None
    for corner in corners:
        first = leg(at, corner)
        if first is None:
            continue
        single = single or first
        if leg(corner, target) is not None:
            return first
    way = target - at
    return single or _course(watch, at, ring, math.atan2(way[1], way[0]), plain, (float(target[0]), float(target[1])))


def _push(context: Context[Goal], thing: str, target: Array) -> Aim:
    """Push a thing until its origin is at ``target`` (2,), then leave it."""
    watch, hints = context.watch, context.hints
    at = middle(watch, thing)
    aim_at = target + at - watch.position(thing)[:2]
    low, top = watch.extent(thing)
    height = low + min(LOW, 0.6 * (top - low))
    course = hints.get("course")
    there = context.node.status.reward >= 3.0
    label = f"Pushing the {{{thing}}} along a path to {{pos:{target[0]:.2f} {target[1]:.2f}}}"
    if isinstance(course, PushPath):
        if hints.get("last"):
            course = replace(course, goal=(float(aim_at[0]), float(aim_at[1])))
        assert course.goal is not None
        way = np.array(course.goal) - at
        held = math.remainder(watch.tip.yaw - course.yaw, 2 * math.pi) + course.heading
        heading = math.atan2(way[1], way[0]) if norm(way) > STEER else held
        left = dot(way, _unit(heading))
        if _on_course(watch, at, course, heading, height) and left > FINISH:
            hints["engaged"] = True
            near = watch.gap("hand", thing) < 0.01
            speed = min(PUSH, max(CREEP, 0.4 * left)) if near else PUSH
            return replace(_advance(watch, thing, course, heading, height, speed), step=label)
    if (there and watch.tip.position[2] < top + CLEAR) or not watch.touching(thing):
        hints.pop("course", None)
        return _left(watch)
    if not isinstance(course, PushPath) or hints.get("engaged"):
        course = _routes(watch, thing, aim_at, height)
        assert course.goal is not None
        hints.update(course=course, engaged=False, last=math.dist(course.goal, aim_at.tolist()) < 1e-6)
    return replace(_approach(watch, at, course, height), step=f"Moving to a good place to push the {{{thing}}}")


@skill(PushedTo)
def push_to(context: Context[PushedTo]) -> Aim:
    """Push a thing to a place."""
    goal: Any = context.goal
    return replace(_push(context, goal.thing, np.array(goal.position[:2])), task=goal.words())


@skill(PushedTowards)
def push_towards(context: Context[PushedTowards]) -> Aim:
    """Push a thing a good part of the way to a place."""
    goal = context.goal
    start = context.node.memory["start"][:2]
    stop = start + SHARE * goal.share * (np.array(goal.position[:2]) - start)
    return replace(_push(context, goal.thing, stop), task=goal.words())
