"""Where a thing stays when it is laid upon others: its centre of mass well inside what bears it."""

from __future__ import annotations

import functools
import math

import numpy as np

from etude.arithmetic import dots, norms, product, turned
from etude.catalog.polygon import hull
from etude.catalog.shape import Shape
from etude.goals.laying import Laid
from etude.goals.watch import Watch
from etude.pose import Array, Vec2, Vec3
from etude.scene.scene import Body

FLAT = 0.005  # m: lower things than this can be lain across, and are no higher than others
UPRIGHT = 0.98
GRAIN = 0.006  # m between the points in which two surfaces are compared
STEP, FAR = 0.01, 0.05  # m between candidate places, and how far from the middle they are looked for
FIRM = 0.012  # m from the rim of what bears it: enough
WORTH = 0.1  # m of firmness that a metre away from the middle has to bring


def steady_place(watch: Watch, goal: Laid) -> Vec2:
    """Where to put the thing of a goal: the place asked for, or as near to it as it lies firmly upon what is there already."""
    below = _bearer(watch, goal)
    if below is None or not _upright(watch, goal.thing):
        return goal.place
    thing, bearer = watch.model(goal.thing), watch.model(below)
    axes, ground = watch.axes(goal.thing)[:2, :2], watch.axes(below)[:2, :2]
    points = turned(_grains(thing), axes)
    mass = product(axes, thing.mass_properties[1][:2])
    origin = watch.position(below)[:2]
    best, found = -math.inf, goal.place
    for away, x, y in _offsets():
        place = np.array([goal.place[0] + x, goal.place[1] + y])
        borne = points[_covers(bearer, product(points + place - origin, ground))]
        score = min(_firmness(borne, mass), FIRM) - WORTH * away
        if score > best:
            best, found = score, (float(place[0]), float(place[1]))
        if best >= FIRM - WORTH * away:  # nothing farther away can be better
            break
    return found


def covering(watch: Watch, thing: str, spot: Array) -> str | None:
    """The topmost loose thing over a point (3,) of another one: a cup that comes down there would take that instead."""
    over = []
    for other in watch.world.scene.entities:
        if isinstance(other, Body) and not other.fixed and other.name != thing and watch.extent(other.name)[1] > spot[2] + FLAT:
            local = product(spot - watch.position(other.name), watch.axes(other.name))
            if bool(_covers(watch.model(other.name), local[None, :2])[0]):
                over.append(other.name)
    return max(over, key=lambda name: watch.extent(name)[1], default=None)


def _bearer(watch: Watch, goal: Laid) -> str | None:
    """The thing that another one comes to lie upon at the goal's place: the topmost loose one there, else its base, if that is solid."""
    bodies = [e for e in watch.world.scene.entities if isinstance(e, Body) and e.name != goal.thing]
    lying = [
        b.name
        for b in bodies
        if not b.fixed and math.dist(watch.position(b.name)[:2], goal.place) < watch.radius(b.name) and _upright(watch, b.name)
    ]
    if lying:
        return max(lying, key=lambda name: watch.extent(name)[1])
    solid = [b.name for b in bodies if b.name == goal.into]
    solid = [name for name in solid if watch.model(name).cavity is None and watch.model(name).size[2] > FLAT]
    return solid[0] if solid else None


def _upright(watch: Watch, name: str) -> bool:
    return bool(watch.axes(name)[2, 2] > UPRIGHT)


@functools.cache
def _offsets() -> tuple[Vec3, ...]:
    """Candidates around the middle, nearest first: (distance, x, y) in metres."""
    count = round(FAR / STEP)
    steps = [k * STEP for k in range(-count, count + 1)]
    found = [(round(math.hypot(x, y), 9), x, y) for x in steps for y in steps]
    return tuple(sorted(f for f in found if f[0] <= FAR))


@functools.lru_cache(maxsize=512)
def _grains(model: Shape) -> Array:
    """Points (N, 2) spread over a shape as seen from above, in its own frame; its corners among them."""
    lower, upper = model.bounds
    axes = [np.arange(lower[k] + GRAIN / 2, upper[k], GRAIN) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    return np.vstack([grid[_covers(model, grid)], *model.plan])


def _covers(model: Shape, points: Array) -> Array:
    """Which of the points (N, 2), in the shape's own frame, lie within it as seen from above."""
    inside = np.zeros(len(points), bool)
    for piece in model.plan:  # convex, counter-clockwise
        ahead = np.roll(piece, -1, axis=0) - piece
        from_corner = points[:, None] - piece
        inside |= np.all(ahead[:, 0] * from_corner[..., 1] - ahead[:, 1] * from_corner[..., 0] >= -1e-9, axis=1)
    return inside


def _firmness(borne: Array, mass: Array) -> float:
    """How far a centre of mass (2,) is inside the hull of the points (N, 2) that bear it; below 0 outside, in metres."""
    ring = hull(borne) if len(borne) > 2 else borne
    if len(ring) < 3:
        return -1.0
    edges = np.roll(ring, -1, axis=0) - ring
    inward = np.stack([-edges[:, 1], edges[:, 0]], 1) / norms(edges)[:, None]
    return float(np.min(dots(mass - ring, inward)))
