"""Free places on top of things."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from etude.arithmetic import dots, norms, product, turned
from etude.catalog.polygon import circle, hull, separation
from etude.catalog.shape import Shape
from etude.catalog.suction import suction_spot
from etude.goals.watch import Watch
from etude.pose import IDENTITY, Array, Pose, Vec3, matrix_quat
from etude.scene.scene import Body

GAP = 0.008  # m kept to what already stands there
STEP = 0.01  # m between candidate places
HAND = 0.055  # m: the circle around the head of the hand
FIRM = 0.03  # m: a centre of mass this far from the rim stands firm enough
REACH = 0.68  # m from the arm's base


def resting_place(watch: Watch, top: str, bottom: str, hints: dict[str, Any]) -> Pose:
    """Where the centre of mass of ``top`` shall stand on ``bottom``, and at which height its origin.

    Near the middle, beside what stands there already; follows a bottom that moves.
    """
    key = f"spot/{top}/{bottom}"
    if key not in hints:
        hints[key] = _spot(watch, top, bottom)
    spot: Pose = hints[key].moved(*hints.get("shift", (0.0, 0.0)))
    return Pose.of(watch.position(bottom), matrix_quat(watch.axes(bottom))) * spot


def centre_of_mass(watch: Watch, name: str) -> Vec3:
    """In the thing's own frame, metres."""
    x, y, z = watch.model(name).mass_properties[1].tolist()
    return (x, y, z)


def _spot(watch: Watch, top: str, bottom: str) -> Pose:
    """The place in the frame of ``bottom``."""
    carrier, thing = (watch.model(n) for n in (bottom, top))
    lift = thing.lift(IDENTITY)
    height = float(carrier.bounds[1][2]) + lift
    if carrier.cavity is not None:
        (x0, y0, z0), (x1, y1, _) = carrier.cavity
        fits = 2 * thing.radius < min(x1 - x0, y1 - y0)
        return Pose(((x0 + x1) / 2, (y0 + y1) / 2, z0 + lift if fits else height))
    middle = carrier.mass_properties[1][:2]
    others = list(_standing(watch, bottom, top))
    x, y = middle.tolist()
    if others or not _within_reach(watch, bottom, middle):
        x, y = _beside(watch, top, bottom, others).tolist()
    return Pose((x, y, height))


def _beside(watch: Watch, top: str, bottom: str, others: list[tuple[Array, float]]) -> Array:
    """The best free place (2,) in the frame of ``bottom``: firm, near the middle, within reach, clear of the ``others``.

    Beside what is taller than the thing itself there must be room for the hand too.
    """
    carrier, thing = watch.model(bottom), watch.model(top)
    middle, (_, com, _) = carrier.mass_properties[1][:2], thing.mass_properties
    reach = float(norms(carrier.footprint - middle).max())
    line = np.arange(-reach, reach + STEP / 2, STEP)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
    places = middle + grid
    depth = _depth(carrier, places)
    score = norms(grid) + 3.0 * np.maximum(0.0, FIRM - depth)
    order = [i for i in np.argsort(score, kind="stable").tolist() if depth[i] > 0 and _within_reach(watch, bottom, places[i])]
    spot = suction_spot(thing) or (0.0, 0.0, 0.0)
    with_hand = hull(np.vstack([thing.footprint, circle(HAND, 12) + np.asarray(spot[:2])]))
    best, widest = middle, -math.inf
    axes = watch.axes(bottom)
    for i in order:
        yaw = _yaw_there(watch, top, bottom, places[i]) - math.atan2(axes[1, 0], axes[0, 0])
        c, s = math.cos(yaw), math.sin(yaw)
        turn = np.array([[c, s], [-s, c]])
        if _depth(carrier, (places[i] - product(com[:2], turn))[None])[0] <= 0:  # its middle would stick out
            continue
        low, high = (product(ring - com[:2], turn) + places[i] for ring in (thing.footprint, with_hand))
        gap = min((separation(high if top_of > thing.size[2] else low, other) for other, top_of in others), default=math.inf)
        if gap > GAP:
            return np.asarray(places[i])
        if gap > widest:
            best, widest = places[i], gap
    return np.asarray(best)


def _depth(carrier: Shape, places: Array) -> Array:
    """How far inside one of its convex pieces each place (N, 2) lies, (N,) metres; negative outside."""
    best = np.full(len(places), -math.inf)
    for ring in carrier.plan:
        edges = np.roll(ring, -1, axis=0) - ring
        inward = np.stack([-edges[:, 1], edges[:, 0]], 1) / norms(edges)[:, None]
        best = np.maximum(best, (turned(places, inward) - dots(ring, inward)).min(1))
    return best


def _world(watch: Watch, bottom: str, place: Array) -> tuple[float, float]:
    x, y = (watch.position(bottom)[:2] + product(watch.axes(bottom)[:2, :2], place)).tolist()
    return x, y


def _within_reach(watch: Watch, bottom: str, place: Array) -> bool:
    return watch.from_base(*_world(watch, bottom, place))[0] < REACH


def _yaw_there(watch: Watch, top: str, bottom: str, place: Array) -> float:
    """The heading the thing will have there: the hand takes and brings it pointing away from the base."""
    axes = watch.axes(top)
    x, y, _ = watch.position(top).tolist()
    before = watch.tip.yaw if watch.held == top else watch.from_base(x, y)[1]
    return math.atan2(axes[1, 0], axes[0, 0]) - before + watch.from_base(*_world(watch, bottom, place))[1]


def _standing(watch: Watch, bottom: str, but: str) -> Iterable[tuple[Array, float]]:
    """Footprints, in the frame of ``bottom``, of what stands on it, and how far each rises above it."""
    axes, origin = watch.axes(bottom), watch.position(bottom)
    for entity in watch.world.scene.entities:
        if not isinstance(entity, Body) or entity.name in (bottom, but) or watch.held == entity.name:
            continue
        if watch.touches(entity.name, bottom) and watch.extent(entity.name)[0] > origin[2]:  # and not below or beside it
            points = turned(watch.model(entity.name).mesh.vertices, watch.axes(entity.name)) + watch.position(entity.name)
            yield hull(product(points - origin, axes)[:, :2]), watch.extent(entity.name)[1] - watch.extent(bottom)[1]
