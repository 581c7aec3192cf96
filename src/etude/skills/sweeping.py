"""Strokes that sweep things into a zone, round whatever must not be touched, and out of it again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from etude.arithmetic import norms, product
from etude.catalog.polygon import hull
from etude.catalog.registry import shape
from etude.goals.sweeping import Gathered
from etude.goals.watch import Watch
from etude.pose import Array, Pose, matrix_quat
from etude.scene.scene import Area, Body, Scene
from etude.skills.oracle import Context, planned
from etude.skills.pushes import NEVER, Board, Care, Fan, Lying, Push, Rect, further, looked_up
from etude.skills.strokes import Stroke

CARE = (Care(0.010, 0.020), Care(0.006, 0.012), Care(0.003, 0.006))  # the widest that works
BESIDE = 0.012  # m between things in the zone
CLOSE = 0.02  # m: places this much worse than the best are as good
LOOKED_AT, APART = 8, 0.03  # first pushes of two that are looked at, and metres between their ends
ROOMY = 0.1  # m gained: more room is no better
SURE = 0.015  # m inside the zone: farther in is no better


def lying(body: Body, pose: Pose) -> Lying:
    """A body at a pose, seen from above."""
    model = shape(body.shape, body.size)
    middle = np.asarray(pose.apply(model.mass_properties[1])[:2])
    return Lying.of(middle, [hull(pose.apply(p.support(around=True))[:, :2]) - middle for p in model.pieces])


def rect_of(area: Area) -> Rect:
    """The rectangle of an area that lies along the axes."""
    outline = shape(area.shape, area.size).outline(area.pose.rotation) + np.asarray(area.pose.position[:2])
    (x0, y0), (x1, y1) = outline.min(0).tolist(), outline.max(0).tolist()
    return Rect((x0, y0), (x1, y1))


def board_of(scene: Scene, goal: Gathered, watch: Watch | None = None) -> Board:
    """The table as the scene has it, or as it is seen now."""
    things = {}
    for body in scene.entities:
        if isinstance(body, Body):
            pose = body.pose if watch is None else Pose.of(watch.position(body.name), matrix_quat(watch.axes(body.name)))
            things[body.name] = lying(body, pose)
    line = scene.entity(goal.without) if goal.without else None
    return Board(things, rect_of(line) if isinstance(line, Area) else None, frozenset(goal.things))


# ------------------------------------------------------------------------------------------------ into the zone


@dataclass(frozen=True, eq=False)
class Slots:
    """Places (N, 2) in a zone that leave room for all that shall lie there, and how much each is to be preferred (N,), metres of way."""

    places: Array
    worth: Array

    def merit(self, ends: Array) -> Array:
        """How well things would lie at these places (…, 2)."""
        return np.asarray((self.worth - norms(ends[..., None, :] - self.places)).max(-1))

    def around(self) -> Array:
        """The best of them."""
        return np.asarray(self.places[self.worth > self.worth.max() - CLOSE])


def next_push(board: Board, goal: Gathered) -> Push | None:
    """The push that brings the goal nearest: of the thing that needs the fewest, to where it leaves room for the others."""
    region = Rect(goal.lower, goal.upper)
    there = [t for t in goal.things if region.holds(board.things[t])]
    left = [t for t in goal.things if t not in there]
    slots = free_slots(board, goal, there, left)
    for care in CARE:
        pushes = [p for t in left if (p := _straight(board, t, region, slots, care)) is not None]
        if pushes:
            return max(pushes, key=lambda p: p.score)
    best: Push | None = None
    for spots in (slots.around(), None):
        for care in CARE:
            pushes = [p for t in left if (p := _roundabout(board, t, region, slots, spots, care)) is not None]
            best = min([*([best] if best else []), *pushes], key=lambda p: (p.needed, -p.score), default=None)
            if best is not None and best.needed == 2:
                return best
    return best


def _straight(board: Board, thing: str, region: Rect, slots: Slots, care: Care) -> Push | None:
    """The best push that gets a thing into the region at once."""
    fan = Fan.of(board, thing, care, region)
    slack = fan.slack(region)
    score = 2 * np.minimum(slack, SURE) + slots.merit(fan.ends) - 0.05 * fan.travel()
    return fan.best(np.where(fan.free & (slack >= min(care.things, 0.008)), score, -math.inf), 1)


def _roundabout(board: Board, thing: str, region: Rect, slots: Slots, spots: Array | None, care: Care) -> Push | None:
    """The first of the fewest pushes that get a thing into the region; near one of the spots (N, 2), if they are given.

    The map of further pushes takes the thing for a disc. Where it says that one more will do, that push is looked for.
    """
    counts = further(board, thing, region, spots, care)
    fan = Fan.of(board, thing, care)
    left = np.where(fan.free, looked_up(counts, fan.ends), NEVER)
    fewest = int(left.min())
    if fewest >= NEVER:
        return None
    middle = (np.asarray(region.lower) + region.upper) / 2
    others = [t.place for n, t in board.things.items() if n != thing]
    room = np.minimum(norms(fan.ends[..., None, :] - np.stack(others)).min(-1), ROOMY) if others else 0.0
    score = 3 * room - 0.5 * fan.travel() - norms(fan.ends - middle) - 2 * fan.doubt
    if fewest == 1:
        hoped = np.where(left == 1, score, -math.inf)
        for _ in range(LOOKED_AT):
            push = fan.best(hoped, 2)
            if push is None:
                break
            if _straight(board.moved(push), thing, region, slots, care) is not None:
                return push
            hoped[norms(fan.ends - push.after.place) < APART] = -math.inf
    return fan.best(np.where(left == fewest, score, -math.inf), max(3, 1 + fewest))


def aside(board: Board, goal: Gathered) -> Push | None:
    """The push that makes the most room: of anything outside the zone, to where it is far from everything and from the zone."""
    region = Rect(goal.lower, goal.upper)
    best: Push | None = None
    for name, thing in board.things.items():
        if region.holds(thing):
            continue
        fan = Fan.of(board, name, CARE[-1])
        others = np.stack([t.place for n, t in board.things.items() if n != name])
        room = norms(fan.ends[..., None, :] - others).min(-1) - norms(others - thing.place).min()
        off = np.maximum(np.asarray(region.lower) - fan.ends, fan.ends - np.asarray(region.upper)).max(-1)
        push = fan.best(np.where(fan.free & (off > 2 * thing.radius), np.minimum(room, ROOMY) - fan.doubt, -math.inf), NEVER)
        best = max((p for p in (best, push) if p is not None), key=lambda p: p.score, default=None)
    return best


def free_slots(board: Board, goal: Gathered, there: Sequence[str], left: Sequence[str]) -> Slots:
    """Where things may best be swept to.

    They lie in lanes along the way into the zone: from where the things are or, where the line bars it, from the side. The deepest are
    filled first, and of those the ones farthest from the other things.
    """
    sample = board.things[goal.things[0]]
    lower, upper = np.asarray(goal.lower), np.asarray(goal.upper)
    middle, room = (lower + upper) / 2, upper - lower - 2 * sample.radius - 0.01
    fits = np.maximum(1, (room / (3 * sample.spin + BESIDE)).astype(int) + 1)
    across = min(goal.count, int(fits[1]))
    counts = (math.ceil(goal.count / across), across)
    axes = [m + r * (np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(1)) for m, r, n in zip(middle, room, counts, strict=True)]
    slots = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    for place in (board.things[t].place for t in there):
        if len(slots) > 1:
            slots = np.delete(slots, int(np.argmin(norms(slots - place))), 0)
    side = math.copysign(1.0, float(np.mean([board.things[t].place[1] for t in left])) - middle[1])
    barred = board.line is not None and board.line.lower[0] > middle[0]
    return Slots(slots, product(slots, (0.0, -side) if barred else (-1.0, -0.25 * side)))


def pushes_needed(board: Board, goal: Gathered, most: int) -> int | None:
    """How many pushes it takes if every one goes as planned; None if no way is found with at most so many."""
    region = Rect(goal.lower, goal.upper)
    for count in range(most + 1):
        left = goal.count - sum(bool(region.holds(board.things[t])) for t in goal.things)
        if left <= 0:
            return count
        push = next_push(board, goal) if count + left <= most else None
        if push is None:
            return None
        board = board.moved(push)
    return None


@planned(Gathered)
def sweep_in(context: Context) -> Stroke:
    """Sweep one more thing towards the zone."""
    goal, watch = context.goal(Gathered), context.watch
    board = board_of(watch.world.scene, goal, watch)
    push = next_push(board, goal) or aside(board, goal)
    if push is None:
        return Stroke("sweep", (0.3, -0.45), (0.3, -0.45))
    return push.stroke
