"""How the fingers can take hold of things: grasps from above and from the side for bodies, across the bar for handles."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from etude.arithmetic import cross, dot, norm, norms, product
from etude.catalog.grasp import Grasp, finger_grasps, surface_samples
from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.goals.watch import Watch
from etude.pose import Array, Pose, Quat, Vec3, align, axis_quat, matrix, matrix_quat
from etude.scene.scene import Body, Fixture

STOOPS = (0.2, 0.35, 0.0, 0.5)  # rad by which a hand at an ear points down: level, the wrist would often meet the table
DOWNWARDS, TOWARDS = 0.1, -0.1  # a hand comes from above or from the robot's side (VLMbench 1.1.1)
LEANS = (0.0, 0.35, -0.35, 0.7, -0.7)  # rad by which the hand may lean about a bar
ROUND = 24  # directions round a bar from which it is taken
SLIDES = (0.0, 0.4, -0.4)  # of half the bar's length: places along it
HANDLE_SLIDES = (0.0, 0.5, -0.5, 1.0, -1.0)  # the same for a handle whose ends are given
HANDLE_LEANS = (0.0, 0.12, -0.12, 0.2, -0.2, 0.35, -0.35)
THICKEST = 0.06  # m: what is thicker is no bar
PAD, SHY = 0.008, 0.0025  # m: the middle of a pad, and how far from it the surface may be
TIPPED = 0.8  # cosine: what leans more than this has tipped over
SAME = 1e-6  # m between corners that are the same
ONLY_EDGES = 1.0  # what a grasp loses in which the surface meets only edges of the pads


@dataclass(frozen=True)
class Grip:
    """``tip`` is the pose of the hand's tip in the frame of the thing; ``width`` (m) what is then between the pads."""

    tip: Pose
    width: float
    score: float


def grips(watch: Watch, thing: str, handle: tuple[Vec3, ...] = ()) -> list[Grip]:
    """The ways to take hold of a thing, or of a part of a fixture ("door/handle").

    ``handle`` are the ends of the bar by which the thing is taken (m, its own frame), if it shall be taken so.
    """
    if handle:
        return _of_handle(*np.asarray(handle))
    name, _, part = thing.partition("/")
    entity = watch.world.scene.entity(name)
    if isinstance(entity, Body):
        return list(_of_shape(shape(entity.shape, entity.size)))
    assert isinstance(entity, Fixture)
    found = next(p for p in entity.parts if p.name == part)
    bars = [s for s in found.solids if s.shape == "rod"]
    return [grip for bar in bars[-1:] for grip in _of_bar(bar.pose, *bar.size[:2])]


@functools.lru_cache(maxsize=256)
def _of_shape(model: Shape) -> tuple[Grip, ...]:
    """By its ear, where the shape is a vessel that has one; otherwise from above."""
    ear = _of_ear(model)
    if ear:
        return ear
    points, _ = surface_samples(model.mesh)
    return tuple(Grip(g.tip, g.width, g.score if _lies_against(g, points) else g.score - ONLY_EDGES) for g in finger_grasps(model))


def _lies_against(grasp: Grasp, points: Array) -> bool:
    """Does the surface meet the middle of both pads? Fingers that only meet edges, in the notch between two petals, get stuck there."""
    local = grasp.tip.inverse().apply(points)
    middle = local[(np.abs(local[:, 0]) < PAD / 2) & (np.abs(local[:, 2]) < 2 * PAD)]
    return all(np.any(middle[:, 1] * side > grasp.width / 2 - SHY) for side in (-1, 1))


def _of_ear(model: Shape) -> tuple[Grip, ...]:
    """Grips across the upright bar of a vessel's ear, the hand level or coming a little from above; none if there is no ear."""
    if model.cavity is None:
        return ()
    axis = np.add(*model.cavity)[:2] / 2
    clouds = [p.support() for p in model.pieces]
    bar = max(clouds, key=lambda cloud: float(norms(cloud[:, :2] - axis).min()))
    out = (bar[:, :2].min(0) + bar[:, :2].max(0)) / 2 - axis
    if norm(out) < SAME:  # nothing sticks out: a cup
        return ()
    out /= norm(out)
    across = np.array([-out[1], out[0]])
    thick = float(np.ptp(product(bar[:, :2], across)))
    wall = max(float(product(axis - cloud[:, :2], out).max()) for cloud in clouds)  # seen on the other side
    if float(product(bar[:, :2] - axis, out).min()) < wall or thick > THICKEST:
        return ()
    x, y = (float(product(bar[:, :2], out).max() - thick / 2) * out + dot(axis, across) * across).tolist()
    low, high = float(bar[:, 2].min()), float(bar[:, 2].max())
    found = []
    fingers = np.array([*across, 0.0])
    for lean in STOOPS:
        approach = np.array([*(-math.cos(lean) * out), -math.sin(lean)])
        axes = matrix_quat(np.column_stack([cross(fingers, approach), fingers, approach]))
        for slide in SLIDES:
            tip = Pose.of((x, y, (low + high) / 2 + slide * (high - low) / 2), axes)
            found.append(Grip(tip, thick, 1.0 - 0.5 * abs(lean - STOOPS[0]) - 0.2 * abs(slide)))
    return tuple(found)


def _of_bar(frame: Pose, length: float, across: float, slides: tuple[float, ...] = SLIDES, leans: tuple[float, ...] = LEANS) -> list[Grip]:
    """Across a rod (its length is along x of its own frame), the hand leaning about it, from every side."""
    found = []
    for side in range(ROUND):
        for lean in leans:
            for slide in slides:
                angle = side * 2 * math.pi / ROUND
                approach = np.array([math.sin(lean), math.cos(lean) * math.cos(angle), math.cos(lean) * math.sin(angle)])
                fingers = np.array([0.0, -math.sin(angle), math.cos(angle)])
                axes = matrix_quat(np.column_stack([cross(fingers, approach), fingers, approach]))
                tip = frame * Pose.of((slide * length / 2, 0.0, 0.0), axes)
                found.append(Grip(tip, across, 1.0 - abs(lean) - 0.2 * abs(slide)))
    return found


def _of_handle(start: Array, end: Array) -> list[Grip]:
    """Across the bar between two points, anywhere along it, but rather in its middle."""
    frame = Pose.of((start + end) / 2, align((1.0, 0.0, 0.0), end - start))
    return _of_bar(frame, norm(end - start), 0.0, HANDLE_SLIDES, HANDLE_LEANS)


def standing(watch: Watch, thing: str) -> Pose:
    """The pose of a thing; where it has tipped over onto a side on which it looks the same, as a cube does, that of one that stands."""
    pose = watch.world.pose(thing)
    up = matrix(pose.rotation)[2]
    entity = None if "/" in thing or up[2] > TIPPED else watch.world.scene.entity(thing)
    if not isinstance(entity, Body):
        return pose
    model = shape(entity.shape, entity.size)
    rest = next((r for r in model.rests if dot(matrix(r.rotation)[2], up) > TIPPED and _looks_the_same(model, r.rotation)), None)
    return pose if rest is None else pose * Pose(rotation=rest.rotation).inverse()


@functools.lru_cache(maxsize=256)
def _looks_the_same(model: Shape, rotation: Quat) -> bool:
    """Is a shape that is turned so the same again?"""
    corners = model.mesh.vertices
    turned = model.mesh.moved(rotation=rotation).vertices
    return all(float(norms(corners - corner).min()) < SAME for corner in turned)


def suitable(tip: Pose) -> bool:
    """Does the hand come from above or from the robot's side?"""
    approach = matrix(tip.rotation)[:, 2]
    return bool(approach[2] < DOWNWARDS and approach[0] > TOWARDS)


def preference(tip: Pose, prefer: str) -> float:
    """Lower is better: most downwards, or level and away from the robot (VLMbench 1.1.1)."""
    approach: Array = matrix(tip.rotation)[:, 2]
    return float(approach[2]) if prefer == "vertical" else float(abs(approach[2]) - approach[0] ** 2)


def flipped(tip: Pose) -> Pose:
    """The same grasp with the fingers changing places."""
    return tip * Pose((0.0, 0.0, 0.0), axis_quat(_Z, math.pi))


_Z: Vec3 = (0.0, 0.0, 1.0)
