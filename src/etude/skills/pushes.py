"""Pushes with a plate, on geometry alone: where a thing comes to lie, what is in the way, and how many pushes it takes to get it somewhere.

Things are seen from above. A push is followed millimetre by millimetre: the plate touches the thing at one point, friction at the table
holds the thing back as it would a rigid body that slides slowly, and so the thing turns until it lies against the plate, or slips past it.
Distances in metres, world.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import arctan2, circle, norm, norms, product
from etude.catalog.polygon import area, hull
from etude.compiled import compiled
from etude.pose import Vec2
from etude.scene.rooms import UR5_LOWER, UR5_UPPER
from etude.skills.strokes import BACK, SHORT, Stroke

Array = NDArray[Any]  # numbers, truths and counts: numba makes no difference between them in a signature

PLATE = (0.005, 0.05)  # m: thickness and width
GAP = 0.004  # m between plate and thing where the plate comes down
SLIDE = 0.003  # m that a thing slides on when the plate stops
GRIP = 1.0  # friction between plate and thing
TICK = 0.002  # m of a push that are followed at once
DOUBT = math.radians(3)  # a thing may be turned by this much more or less than is seen
VAGUE = 0.004  # m by which the plate may be beside where it is meant to be
HOLD = 0.023  # m from its middle: beyond, the plate's corners do not hold things
VARIANTS = ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
ASIDE = 0.014  # m: a thing whose centre is farther from the middle of the plate may slip off
SECURE = 0.019  # m from the middle of the plate: what it touches beyond may slip off
FLUSH = 0.003  # m: what is this near to the plate touches it
BESIDES = 0.001  # m
TURNING = 0.08  # m after which a thing lies against the plate
HEADINGS = 72
STEP = 0.01  # m between the lengths of pushes that are looked at
SHORTEST, LONGEST = 0.02, 0.6  # m
GRID = 0.025  # m between the places from which further pushes are looked at
DEPTH = 4  # pushes looked ahead
RIM = 0.03  # m that the middle of a thing keeps from the rim of the table
REACH = 0.85  # m from the robot
NEVER = 99
NOTHING = np.zeros((0, 2))

_ANGLES = np.arange(HEADINGS) * (2 * math.pi / HEADINGS)
_ALONG = circle(_ANGLES)
_LENGTHS = np.arange(SHORTEST, LONGEST, STEP)


@dataclass(frozen=True)
class Rect:
    """A rectangle along the axes."""

    lower: Vec2
    upper: Vec2

    def holds(self, thing: Lying) -> bool:
        """Is the thing wholly inside?"""
        seen = thing.rim + thing.place
        return bool((seen >= self.lower).all() and (seen <= self.upper).all())

    def rim(self, spacing: float = 0.012) -> Array:
        """Points (N, 2) along it."""
        (x0, y0), (x1, y1) = self.lower, self.upper
        return along_ring(np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]), spacing)


def along_ring(ring: Array, spacing: float) -> Array:
    """Points (N, 2) along a polygon (K, 2), its corners included."""
    ahead = np.roll(ring, -1, axis=0) - ring
    parts = [np.linspace(0, 1, max(1, math.ceil(norm(d) / spacing)), endpoint=False) for d in ahead]
    return np.concatenate([a + d * t[:, None] for a, d, t in zip(ring, ahead, parts, strict=True)])


@dataclass(frozen=True, eq=False)
class Lying:
    """A thing seen from above: its centre of mass (2,) and points (N, 2) along its rim, relative to that.

    ``spin`` (m) says how hard it is to turn: the mean distance of what it stands on from its centre.
    """

    place: Array
    rim: Array
    spin: float

    @classmethod
    def of(cls, place: Array, pieces: list[Array], spacing: float = 0.005) -> Lying:
        """A thing made of convex pieces (K, 2), relative to its centre of mass."""
        rims = [along_ring(ring, spacing) for ring in pieces]
        spin = 2 / 3 * math.sqrt(area(hull(np.concatenate(pieces))) / math.pi)
        return cls(place, np.concatenate(rims), spin)

    @property
    def radius(self) -> float:
        """How far it reaches."""
        return float(norms(self.rim).max())

    def outline(self) -> Array:
        """Points (N, 2) around it, in the world: as few as will do for an obstacle."""
        return self._around + self.place

    @functools.cached_property
    def _around(self) -> Array:
        return along_ring(hull(self.rim), 0.01)

    def turned(self, place: Array, angle: float) -> Lying:
        """The thing elsewhere, turned by an angle."""
        c, s = math.cos(angle), math.sin(angle)
        return replace(self, place=place, rim=product(self.rim, [[c, s], [-s, c]]))


@dataclass(frozen=True)
class Push:
    """A stroke that pushes a thing, and how it will lie then. ``needed`` counts it and the pushes that must follow."""

    thing: str
    stroke: Stroke
    after: Lying
    needed: int
    score: float


@dataclass(frozen=True)
class Board:
    """Things on a table, by name. No thing that is ``tender`` may touch the ``line``."""

    things: Mapping[str, Lying]
    line: Rect | None = None
    tender: frozenset[str] = frozenset()

    def moved(self, push: Push) -> Board:
        """The table after a push, if all goes well."""
        return replace(self, things={**self.things, push.thing: push.after})

    def obstacles(self, thing: str) -> Array:
        """Points (N, 2) of everything but the thing."""
        found = [other.outline() for name, other in self.things.items() if name != thing]
        return np.concatenate(found) if found else NOTHING

    def barrier(self, thing: str) -> Array:
        """Points (N, 2) the thing must not touch though nothing stands there."""
        return self.line.rim() if self.line is not None and thing in self.tender else NOTHING


@dataclass(frozen=True)
class Care:
    """Margins in metres: to other things, and to the line."""

    things: float
    line: float


# ------------------------------------------------------------------------------------------------ one push


@compiled
def _follow(u: Array, v: Array, at: Array, face: float, right: float, left: float, spin: float) -> None:
    """Make way for a plate from ``right`` to ``left``, its face at ``face``: moves rim (u, v) and centre with angle ``at`` (3,) in place.

    The motion is that of a slider whose friction at the table is bounded by an ellipsoid, with force and torque as axes.
    """
    best, deep = -1, 0.0
    for i in range(len(u)):
        if right <= v[i] <= left and face - u[i] > deep:
            best, deep = i, face - u[i]
    if best < 0:
        return
    ru, rv, hard = u[best] - at[0], v[best] - at[1], spin * spin
    fu, fv = hard + ru * ru, ru * rv
    if abs(fv) > GRIP * fu:
        fu, fv = 1.0, math.copysign(GRIP, fv)
    turn = (ru * fv - rv * fu) / hard
    far = deep / (fu - turn * rv)
    fu, fv, turn = fu * far, fv * far, turn * far
    c, s = math.cos(turn), math.sin(turn)
    for i in range(len(u)):
        a, b = u[i] - at[0], v[i] - at[1]
        u[i], v[i] = at[0] + fu + c * a - s * b, at[1] + fv + s * a + c * b
    at[0] += fu
    at[1] += fv
    at[2] += turn


@compiled
def _held(u: Array, v: Array, centre: float, face: float, middle: float) -> bool:
    """Does the plate touch the thing on both sides of its centre, well inside its own corners? Otherwise it turns on, and slips off."""
    right, left = False, False
    for i in range(len(u)):
        if u[i] - face < FLUSH and abs(v[i] - middle) < SECURE:
            right, left = right or v[i] < centre - BESIDES, left or v[i] > centre + BESIDES
    return right and left


@compiled
def _meets(u: Array, v: Array, low: float, high: float, left: float, right: float) -> bool:
    for i in range(len(u)):  # noqa: SIM110  (numba compiles loops, not generators)
        if low < u[i] < high and left < v[i] < right:
            return True
    return False


@compiled
def _lies(end: Array) -> bool:
    """The same as :func:`on_table` of one place."""
    x, y = end[0], end[1]
    across, along = UR5_LOWER[0] + RIM <= x <= UR5_UPPER[0] - RIM, UR5_LOWER[1] + RIM <= y <= UR5_UPPER[1] - RIM
    return across and along and math.sqrt(x * x + y * y) <= REACH


@compiled
def _begun(rim: Array, spin: float, along: Array) -> Array:
    """How far behind and to the left of a thing's centre the plate begins (K, 2), for headings (K, 2)."""
    count, size = len(along), len(rim)
    begins, u, v, at = np.zeros((count, 2)), np.zeros(size), np.zeros(size), np.zeros(3)
    for k in range(count):
        c, s = along[k]
        for i in range(size):
            u[i], v[i] = rim[i, 0] * c + rim[i, 1] * s, rim[i, 1] * c - rim[i, 0] * s
        # The plate is set between where the middle of the thing is and where it comes to when the thing has turned.
        at[:] = 0.0
        rear = u.min()
        for tick in range(1, round(TURNING / TICK)):
            _follow(u, v, at, rear + tick * TICK, -9.0, 9.0, spin)
        beside, rear = at[1] / 2, 9.0
        for i in range(size):
            x, y = rim[i, 0] * c + rim[i, 1] * s, rim[i, 1] * c - rim[i, 0] * s
            if abs(y - beside) < PLATE[1] / 2 + GAP:
                rear = min(rear, x)
        begins[k] = (-rear, beside)
    return begins


@compiled
def _fan(
    rim: Array, spin: float, place: Array, along: Array, lengths: Array, points: Array, barrier: Array, margin: float, shy: float,
    begins: Array, stops: Array,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """The pushes of a thing, for headings (K, 2) and lengths (L,), of which the first ``stops`` (K,) are looked at.

    Where it lies then and how it has turned (K, L, 3), all it may then cover (K, L, 4: lower x and y, upper x and y), whether nothing is in
    the way (K, L), and how unsure the end is (K, L). What is not free may not have been followed to its end.
    """
    count, steps, size = len(along), len(lengths), len(rim)
    ends, boxes = np.zeros((count, steps, 3)), np.zeros((count, steps, 4))
    boxes[:, :, :2], boxes[:, :, 2:] = 9.0, -9.0
    free, doubt = np.ones((count, steps), np.bool_), np.zeros((count, steps))
    u, v, at = np.zeros(size), np.zeros(size), np.zeros(3)
    half = PLATE[1] / 2 + margin
    for k in range(count):
        c, s = along[k]
        rear, beside, stop = -begins[k, 0], begins[k, 1], stops[k]
        free[k, stop:] = False
        if stop == 0 or rear > 1.0:
            free[k] = False
            continue
        dx, dy = points[:, 0] - place[0], points[:, 1] - place[1]
        pu, pv = dx * c + dy * s, dy * c - dx * s
        dx, dy = barrier[:, 0] - place[0], barrier[:, 1] - place[1]
        bu, bv = dx * c + dy * s, dy * c - dx * s
        if _meets(pu, pv, rear - GAP - PLATE[0] - margin, rear, beside - half, beside + half):
            free[k] = False
            continue
        for case in range(5):
            shift, turned = VARIANTS[case]
            a, b, middle = math.cos(turned * DOUBT), math.sin(turned * DOUBT), beside + shift * VAGUE
            for i in range(size):
                x, y = a * rim[i, 0] - b * rim[i, 1], b * rim[i, 0] + a * rim[i, 1]
                u[i], v[i] = x * c + y * s, y * c - x * s
            at[:] = 0.0
            ticks = 0
            for n in range(stop):
                if not free[k, n]:
                    break
                while ticks * TICK < lengths[n] - 1e-9:
                    ticks += 1
                    _follow(u, v, at, rear + ticks * TICK, middle - HOLD, middle + HOLD, spin)
                low, high, right, left = u.min(), u.max(), v.min(), v.max()
                if (
                    _meets(pu, pv, low - margin, high + SLIDE + margin, right - margin, left + margin)
                    or _meets(pu, pv, rear, rear + ticks * TICK, beside - half, beside + half)
                    or abs(at[1] - beside) > ASIDE
                    or (lengths[n] > TURNING and not _held(u, v, at[1], rear + ticks * TICK, middle))
                    or _meets(bu, bv, low - shy, high + SLIDE + shy, right - shy, left + shy)
                ):
                    free[k, n:] = False
                    break
                eu, ev = at[0] + SLIDE, at[1]
                x, y = place[0] + eu * c - ev * s, place[1] + eu * s + ev * c
                if case == 0:
                    ends[k, n] = (x, y, at[2])
                else:
                    doubt[k, n] = max(doubt[k, n], math.sqrt((x - ends[k, n, 0]) ** 2 + (y - ends[k, n, 1]) ** 2))
                for i in range(size):
                    x = place[0] + (u[i] + SLIDE) * c - v[i] * s
                    y = place[1] + (u[i] + SLIDE) * s + v[i] * c
                    boxes[k, n, 0], boxes[k, n, 1] = min(boxes[k, n, 0], x), min(boxes[k, n, 1], y)
                    boxes[k, n, 2], boxes[k, n, 3] = max(boxes[k, n, 2], x), max(boxes[k, n, 3], y)
            if case == 0:  # how unsure it is to end off the table need not be known
                while stop and not (free[k, stop - 1] and _lies(ends[k, stop - 1])):
                    stop -= 1
                free[k, stop:] = False
    return ends, boxes, free, doubt


@dataclass(frozen=True, eq=False)
class Fan:
    """The pushes of one thing along K headings by L lengths: strokes from ``starts`` (K, 2) to ``stops`` (K, L, 2), ends (K, L, 2), how
    unsure those are (K, L, metres), and whether a push is free: of others nothing else is told.
    """

    name: str
    thing: Lying
    starts: Array
    stops: Array
    ends: Array
    angles: Array
    boxes: Array
    free: Array
    doubt: Array

    @classmethod
    def of(cls, board: Board, name: str, care: Care, towards: Rect | None = None) -> Fan:
        """The pushes that keep these margins; only those that may lead ``towards`` a region, if one is given."""
        thing = board.things[name]
        along = _ALONG if towards is None else _ALONG[_facing(thing, towards)]
        begins = _begun(thing.rim, thing.spin, along)
        # Where the plate passes the centre (K, 2).
        line = thing.place + np.column_stack([-along[:, 1], along[:, 0]]) * begins[:, 1:]
        starts = line - along * (begins[:, 0] + PLATE[0] / 2 + GAP - BACK)[:, None]
        stops = line[:, None] + along[:, None] * (_LENGTHS - (begins[:, 0] + PLATE[0] / 2 - SHORT)[:, None])[..., None]
        possible = _within(starts)[:, None] & _within(stops)
        longest = (possible * np.arange(1, len(_LENGTHS) + 1)).max(1)
        ends, boxes, free, doubt = _fan(
            thing.rim, thing.spin, thing.place, along, _LENGTHS, board.obstacles(name), board.barrier(name), care.things, care.line,
            begins, longest,
        )  # fmt: skip
        free &= possible & on_table(ends[..., :2])
        return cls(name, thing, starts, stops, ends[..., :2], ends[..., 2], boxes, free, doubt)

    def best(self, score: Array, needed: int) -> Push | None:
        """The push with the highest score (K, L); None if all are −∞."""
        k, n = (int(i) for i in np.unravel_index(int(np.argmax(score)), score.shape))
        if score.size == 0 or score[k, n] == -math.inf:
            return None
        (x0, y0), (x1, y1) = self.starts[k].tolist(), self.stops[k, n].tolist()
        after = self.thing.turned(self.ends[k, n], float(self.angles[k, n]))
        return Push(self.name, Stroke("sweep", (x0, y0), (x1, y1)), after, needed, float(score[k, n]))

    def slack(self, region: Rect) -> Array:
        """How deep inside the region the thing lies after every push (K, L), whatever was unsure; negative when some of it is outside."""
        low, high = self.boxes[..., :2] - np.asarray(region.lower), np.asarray(region.upper) - self.boxes[..., 2:]
        return np.asarray(np.minimum(low, high).min(-1))

    def travel(self) -> Array:
        """How far the thing goes (K, L)."""
        return np.asarray(norms(self.ends - self.thing.place))


def _facing(thing: Lying, region: Rect) -> Array:
    """Which headings (K,) lead from a thing to somewhere near a region."""
    spots = region.rim(0.02) - thing.place
    if not ((np.asarray(region.lower) > thing.place) | (np.asarray(region.upper) < thing.place)).any():
        return np.ones(HEADINGS, bool)
    middle = math.atan2(*(np.add(region.lower, region.upper) / 2 - thing.place)[::-1])
    off = np.remainder(arctan2(spots[:, 1], spots[:, 0]) - middle + math.pi, 2 * math.pi) - math.pi
    turn = np.remainder(_ANGLES - middle + math.pi, 2 * math.pi) - math.pi
    return np.asarray((turn > off.min() - 0.2) & (turn < off.max() + 0.2))


def _within(points: Array) -> Array:
    return np.asarray(((points >= UR5_LOWER) & (points <= UR5_UPPER)).all(-1))


def on_table(points: Array) -> Array:
    """Which of the points (…, 2) are away from the rim of the table and within reach of the arm?"""
    lower, upper = np.asarray(UR5_LOWER) + RIM, np.asarray(UR5_UPPER) - RIM
    return np.asarray(((points >= lower) & (points <= upper)).all(-1) & (norms(points) <= REACH))


# ------------------------------------------------------------------------------------------------ several pushes


@compiled
def _room(x: float, y: float, c: float, s: float, rear: float, front: float, half: float, points: Array) -> float:
    """How far one may go along (c, s) from (x, y) until a box around it meets a point; below 0 where it does at the start."""
    far = 9.0
    for p in range(len(points)):
        dx, dy = points[p, 0] - x, points[p, 1] - y
        u = dx * c + dy * s
        if u > -rear and abs(dy * c - dx * s) < half:
            far = min(far, u - front)
    return far


@compiled
def _counted(
    origin: Array, along: Array, radius: float, margin: float, shy: float, points: Array, barrier: Array, allowed: Array, done: Array
) -> Array:
    """How many pushes bring a disc from every place of a grid to one of those that are ``done``, by way of those that are ``allowed``."""
    rows, columns = done.shape
    cost = np.where(done, 0, NEVER).astype(np.int64)
    reach = np.zeros((rows, columns, len(along)))
    half = max(radius, PLATE[1] / 2) + margin
    for i in range(rows):
        for j in range(columns):
            if not allowed[i, j]:
                continue
            x, y = origin[0] + i * GRID, origin[1] + j * GRID
            for k in range(len(along)):
                c, s = along[k]
                far = _room(x, y, c, s, radius + shy, radius + shy, radius + shy, barrier)
                if far > 0:
                    far = min(far, _room(x, y, c, s, radius + GAP + PLATE[0] + margin, radius + margin, half, points))
                reach[i, j, k] = far
    for turn in range(1, DEPTH + 1):
        for i in range(rows):
            for j in range(columns):
                if cost[i, j] <= turn or not allowed[i, j]:
                    continue
                for k in range(len(along)):
                    length = GRID
                    while length <= reach[i, j, k] and cost[i, j] > turn:
                        a, b = i + round(length * along[k, 0] / GRID), j + round(length * along[k, 1] / GRID)
                        if a < 0 or b < 0 or a >= rows or b >= columns:
                            break
                        if cost[a, b] == turn - 1:
                            cost[i, j] = turn
                        length += GRID
    return cost


def further(board: Board, name: str, region: Rect, spots: Array | None, care: Care) -> Array:
    """How many pushes it takes from every place of a grid over the table to get a thing into a region; NEVER where it cannot be done.

    With ``spots`` (N, 2), only what is near one of them counts.
    """
    radius, origin = board.things[name].radius, np.asarray(UR5_LOWER)
    sizes = np.round((np.asarray(UR5_UPPER) - origin) / GRID).astype(int) + 1
    places = np.stack(np.meshgrid(*(o + GRID * np.arange(n) for o, n in zip(origin, sizes, strict=True)), indexing="ij"), -1)
    deep = radius + min(care.things, 0.004)
    done = ((places >= np.asarray(region.lower) + deep) & (places <= np.asarray(region.upper) - deep)).all(-1)
    if spots is not None:
        done &= (norms(places[..., None, :] - spots) < 1.2 * GRID).any(-1)
    along = np.ascontiguousarray(_ALONG[::2])
    blocked = board.obstacles(name), board.barrier(name)
    counts: Array = _counted(origin, along, radius, care.things, care.line, *blocked, on_table(places), done)
    return counts


def looked_up(counts: Array, places: Array) -> Array:
    """The counts (…) of the grid places nearest to some places (…, 2)."""
    index = np.round((places - np.asarray(UR5_LOWER)) / GRID).astype(int)
    index = np.clip(index, 0, np.array(counts.shape) - 1)
    return np.asarray(counts[index[..., 0], index[..., 1]])
