"""Where two parallel fingers can hold a shape from above: antipodal grasps, found on the surface itself.

Everything is in the frame of the shape, which stands in its usual way. A grasp is given by its tip frame as hands have it: z points
down into the shape, the fingers open along y.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import dot, dots, norm, norms, total
from etude.catalog.keeping import kept_finding
from etude.catalog.mesh import Mesh
from etude.catalog.shape import Shape
from etude.pose import Array, Pose, Quat, Vec3, matrix_quat

# The parallel hand, metres: between the open fingers, widest thing held, half width of a finger, its thickness, how far a finger
# reaches beyond the tip, and how far the palm is above it.
FULLY_OPEN, OPENING, HALF_WIDTH, THICKNESS, BEYOND, PALM = 0.08, 0.076, 0.010, 0.0165, 0.0095, 0.034
HALF_PAD = 0.008
THINNEST = 0.004  # m: flatter things cannot be taken from a table
CLEAR = 0.0005  # m between the finger tips and what the shape stands on
YAWS = 12
SPACING = 0.003  # between samples of the surface
BIN = 0.001
LEAST = 0.3  # worse grasps are not worth trying
WEDGE = 0.3  # twice the sine of the angle at which two sides may run together
TOUCH = 0.0012  # m: surface this near to a pad counts as lying against it


@dataclass(frozen=True)
class Grasp:
    """``tip`` is the pose of the hand's tip in the frame of the shape, ``width`` what lies between the pads; higher scores are better."""

    tip: Pose
    width: float
    score: float


def surface_samples(mesh: Mesh, spacing: float = SPACING) -> tuple[Array, Array]:
    """Points (N, 3) and unit normals (N, 3) spread over a mesh, at most ``spacing`` metres apart."""
    corners = mesh.vertices[mesh.faces]
    longest = norms(corners - np.roll(corners, 1, axis=1)).max(1)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = norms(normals)
    keep = area > 1e-14
    normals = normals[keep] / area[keep, None]
    points, directions = [], []
    for (a, b, c), n, length in zip(corners[keep], normals, longest[keep], strict=True):
        k = max(1, math.ceil(length / spacing))
        i, j = (v.ravel() for v in np.meshgrid(np.arange(k + 1), np.arange(k + 1), indexing="ij"))
        inside = i + j <= k
        u, v = i[inside, None] / k, j[inside, None] / k
        points.append(a + u * (b - a) + v * (c - a))
        directions.append(np.broadcast_to(n, points[-1].shape))
    return np.concatenate(points), np.concatenate(directions)


@functools.lru_cache(maxsize=512)
def finger_grasps(shape: Shape, opening: float = OPENING) -> tuple[Grasp, ...]:
    """Grasps from above, best first. Empty where no part of the shape fits between the fingers."""
    found = kept_finding("grasps", shape, [opening], lambda: [_said(g) for g in sorted(_grasps(shape, opening), key=lambda g: -g.score)])
    return tuple(Grasp(Pose(tuple(position), tuple(rotation)), width, score) for position, rotation, width, score in found)


def _said(grasp: Grasp) -> tuple[Vec3, Quat, float, float]:
    return grasp.tip.position, grasp.tip.rotation, grasp.width, grasp.score


def graspable(shape: Shape, opening: float = OPENING) -> bool:
    """Is there any such grasp? Sooner known than all of them."""
    return any(True for _ in _grasps(shape, opening))


def _grasps(shape: Shape, opening: float) -> Iterator[Grasp]:
    points, normals = surface_samples(shape.mesh)
    bottom, top = float(shape.bounds[0][2]), float(shape.bounds[1][2])
    _, centre, _ = shape.mass_properties
    if top - bottom < THINNEST:
        return
    lowest = bottom + BEYOND + CLEAR
    heights = sorted({max(lowest, h) for h in (min(float(centre[2]), top - 0.006), top - PALM, top - 0.014, top - 0.005)})
    for k in range(YAWS):
        yaw = math.pi * k / YAWS
        across = np.array([math.cos(yaw), math.sin(yaw), 0.0])  # x of the tip
        along = np.array([-math.sin(yaw), math.cos(yaw), 0.0])  # y of the tip: the fingers
        surface = _Surface(dots(points, across), dots(points, along), points[:, 2], dots(normals, across), dots(normals, along))
        mid, reach = dot(centre, across), float(np.ptp(surface.x)) / 2
        places = [mid + float(v) for v in np.unique(np.round(np.concatenate([[0.0], np.arange(-reach, reach, 0.01)]), 4))]
        strips = [(x0, surface.where(np.abs(surface.x - x0) < HALF_WIDTH + 0.001)) for x0 in places]
        for z in heights:
            yield from _at_height(surface, strips, z, centre, across, along, opening)


class _Surface(NamedTuple):
    """Samples of a surface seen by a hand: places along its x and y, heights, and how the normals lean along x and y; (N,) each."""

    x: Array
    y: Array
    z: Array
    lean_x: Array
    lean_y: Array

    def where(self, chosen: NDArray[np.bool_]) -> _Surface:
        kept = np.flatnonzero(chosen)
        return _Surface(*(field[kept] for field in self))


def _at_height(
    surface: _Surface, strips: list[tuple[float, _Surface]], height: float, centre: Array, across: Array, along: Array, opening: float
) -> list[Grasp]:
    """The grasps with the tip at this height; each strip is what the fingers pass when the tip is at its place along their width."""
    mid = dot(centre, across)
    found = []
    for x0, strip in strips:
        band = strip.where(strip.z > height - BEYOND)
        if not band.x.size:
            continue
        pad = band.where((np.abs(band.x - x0) < HALF_PAD) & (band.z < height + HALF_PAD))
        for left, right in _segments(np.sort(band.y), opening):
            y0 = (left + right) / 2
            away = norm((x0 - mid, y0 - dot(centre, along))) + 0.5 * abs(height - float(centre[2]))
            score = _quality(pad, left, right) - 8.0 * away
            if score < LEAST:
                continue
            # Under the palm nothing may stand higher than it is.
            palm = surface.z[(np.abs(surface.x - x0) < 0.024) & (np.abs(surface.y - y0) < 0.1)]
            if palm.max(initial=-1.0) > height + PALM + 1e-6:
                continue
            position = x0 * across + y0 * along + np.array([0.0, 0.0, height])
            axes = np.column_stack([across, -along, (0.0, 0.0, -1.0)])
            found.append(Grasp(Pose.of(position, matrix_quat(axes)), right - left, score))
    return found


def _segments(y: Array, opening: float) -> list[tuple[float, float]]:
    """Stretches of material along the finger direction that fit between the fingers, with room for the open fingers on both sides."""
    cuts = np.flatnonzero(np.diff(y) > max(4 * BIN, SPACING + 0.001))
    starts, ends = np.concatenate([[0], cuts + 1]), np.concatenate([cuts, [len(y) - 1]])
    bounds = [(float(y[a]), float(y[b])) for a, b in zip(starts, ends, strict=True)]
    found = []
    # Neighbouring stretches may also be held together: two prongs, the two walls of a small cup.
    for i in range(len(bounds)):
        for j in range(i, len(bounds)):
            left, right = bounds[i][0], bounds[j][1]
            room = (FULLY_OPEN - (right - left)) / 2 + THICKNESS
            before = left - bounds[i - 1][1] if i > 0 else math.inf
            after = bounds[j + 1][0] - right if j + 1 < len(bounds) else math.inf
            if 0.001 <= right - left <= opening - 0.004 and min(before, after) > room:
                found.append((left, right))
    return found


def _quality(pad: _Surface, left: float, right: float) -> float:
    """How well two pads hold what is between them: 0 if they do not, up to 1.

    A flat pad pushes straight; what counts is that both push at the same place (else the thing turns away), that the sides do not run
    together like a wedge (else it is squeezed out), and how much of the surface lies against the pads.
    """
    sides = []
    for edge, sign in ((left, -1.0), (right, 1.0)):
        touched = pad.where(np.abs(pad.y - edge) < TOUCH)
        if touched.x.size < 2 or (sign * touched.lean_y).max() < 0.3:
            return 0.0
        sides.append((touched, np.clip(sign * touched.lean_y, 0.0, 1.0)))
    if abs(total(float(side.lean_x.mean()) for side, _ in sides)) > WEDGE:
        return 0.0
    apart, shared = 0.0, []
    for axis in ("x", "z"):
        spans = [getattr(side, axis) for side, _ in sides]
        low, high = max(s.min() for s in spans), min(s.max() for s in spans)
        apart += max(0.0, float(low - high))
        shared.append(min(1.0, max(0.0, float(high - low)) / HALF_PAD))
    if apart > 0.003:
        return 0.0
    square = min(float(np.percentile(facing, 75)) for _, facing in sides)
    return 0.5 * square + 0.2 * shared[0] + 0.3 * shared[1] - 40.0 * apart
