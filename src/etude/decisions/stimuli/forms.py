"""What the models of stimuli are made of: a few solids with limits instead of centres, skins over rings, and turning them about.

A model faces along x, its left side is y, up is z; its unit is a metre more or less, for every model is brought to one size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from etude.arithmetic import circle, cross, norm, power, unit
from etude.catalog.household.forms import arc, shaded, superellipse
from etude.catalog.mesh import CREASE, Mesh, box, cylinder, lathe, prism, tube, turned
from etude.catalog.polygon import Outline
from etude.pose import Array, Vec2, Vec3, axis_quat, matrix_quat

Parts = dict[str, list[Mesh]]  # role in the palette → meshes of that colour
Builder = Callable[[], Parts]

SOFT = math.radians(70)  # crease angle of upholstery and sheet metal
UPRIGHT_XZ = axis_quat((1, 0, 0), math.pi / 2)  # a drawing of (x, z), raised along −y
UPRIGHT_YZ = axis_quat((1, 1, 1), 2 * math.pi / 3)  # a drawing of (y, z), raised along x


def block(x: Vec2, y: Vec2, z: Vec2) -> Mesh:
    """A cuboid between limits along each axis."""
    size = (x[1] - x[0], y[1] - y[0], z[1] - z[0])
    return box(size, ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, (z[0] + z[1]) / 2))


def beam(start: Vec3, end: Vec3, width: float, height: float | None = None) -> Mesh:
    """A straight beam between two points; ``width`` is level, ``height`` across it."""
    along = np.subtract(end, start)
    length = norm(along)
    forward = along / length
    level = unit(cross((0.0, 0.0, 1.0) if abs(forward[2]) < 0.99 else (-1.0, 0.0, 0.0), forward))
    turn = matrix_quat(np.column_stack([forward, level, cross(forward, level)]))
    middle = np.add(start, end) / 2
    return box((length, width, width if height is None else height)).moved(middle, turn)


def rod(start: Vec3, end: Vec3, radius: float, end_radius: float | None = None, segments: int = 8) -> Mesh:
    """A straight round rod between two points."""
    return tube([start, end], [radius, radius if end_radius is None else end_radius], segments)


def bent(points: Sequence[Vec3], radius: float, segments: int = 8, steps: int = 4) -> Mesh:
    """A round rod that runs smoothly through the points."""
    return tube(curve(points, steps), radius, segments)


def curve(points: ArrayLike, steps: int = 4) -> Array:
    """A smooth line through points (K, D), with ``steps`` stretches between two of them (Catmull and Rom's)."""
    p = np.asarray(points, float)
    p = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    rows = []
    for a, b, c, d in zip(p, p[1:], p[2:], p[3:], strict=False):
        for t in (np.arange(steps) / steps).tolist():
            rows.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * (t * t) + (3 * b - a - 3 * c + d) * (t * t * t)))
    return np.array([*rows, p[-2]])


def drum(radius: float, at: Vec3, height: float, axis: str = "z", segments: int = 16, top: float | None = None) -> Mesh:
    """A cylinder (a frustum with ``top``) about ``at``, along an axis."""
    return cylinder(radius, height, segments, top_radius=top).moved(at, turned(axis))


def spun(profile: Sequence[Vec2], at: Vec3 = (0.0, 0.0, 0.0), segments: int = 18, axis: str = "z") -> Mesh:
    """A lathed body of (radius, height) points from the lower end of the axis, outside to the right."""
    return lathe(profile, segments).moved(at, turned(axis))


def across_y(drawing: ArrayLike, y: Vec2, bevel: float = 0.0) -> Mesh:
    """A drawing of (x, z) points between two limits along y."""
    return prism(Outline.of(drawing), y[1] - y[0], bevel=bevel).moved((0.0, (y[0] + y[1]) / 2, 0.0), UPRIGHT_XZ)


def across_x(drawing: ArrayLike, x: Vec2, bevel: float = 0.0) -> Mesh:
    """A drawing of (y, z) points between two limits along x."""
    return prism(Outline.of(drawing), x[1] - x[0], bevel=bevel).moved(((x[0] + x[1]) / 2, 0.0, 0.0), UPRIGHT_YZ)


def across_z(drawing: ArrayLike, z: Vec2, bevel: float = 0.0) -> Mesh:
    """A drawing of (x, y) points between two heights."""
    return prism(Outline.of(drawing), z[1] - z[0], z=(z[0] + z[1]) / 2, bevel=bevel)


def skin(rings: ArrayLike, crease: float = CREASE) -> Mesh:
    """A body through rings (S, K, 3) of as many points each, closed by flat ends."""
    points = np.asarray(rings, float)
    count, corners = points.shape[:2]
    i = np.arange(corners)
    j = (i + 1) % corners
    faces = []
    for k in range(0, (count - 1) * corners, corners):
        faces += [np.stack([k + i, k + j, k + j + corners], 1), np.stack([k + i, k + j + corners, k + i + corners], 1)]
    fan = np.stack([np.zeros(corners - 2, int), np.arange(1, corners - 1), np.arange(2, corners)], 1)
    return shaded(points.reshape(-1, 3), np.vstack([*faces, fan[:, ::-1], fan + (count - 1) * corners]), crease)


def fuselage(stations: Sequence[tuple[float, float, float, float]], squareness: float = 2.0, corners: int = 12) -> Mesh:
    """A body along x through stations (x, half width, lowest z, highest z)."""
    ring = superellipse(corners, squareness, flats=True)
    rings = [
        np.column_stack([np.full(corners, x), half * ring[:, 0], (low + high) / 2 + (high - low) / 2 * ring[:, 1]])
        for x, half, low, high in stations
    ]
    return skin(rings, SOFT)


def cushion(x: Vec2, y: Vec2, z: Vec2, softness: float = 0.3) -> Mesh:
    """A stuffed cuboid between limits; ``softness`` 0 is a sharp box and 1 an ellipsoid."""
    half = np.array([x[1] - x[0], y[1] - y[0], z[1] - z[0]]) / 2
    centre = np.array([x[0] + x[1], y[0] + y[1], z[0] + z[1]]) / 2
    ring = superellipse(16, 2 / max(softness, 0.05), flats=True)
    angle = np.radians([-88, -62, -36, 0, 36, 62, 88])
    shrink, level = power(np.abs(circle(angle)), softness).T
    level = level * np.sign(angle)
    rings = [np.column_stack([ring * s, np.full(len(ring), t)]) * half + centre for s, t in zip(shrink, level, strict=True)]
    return skin(rings, SOFT)


def wing(sections: Sequence[tuple[float, float, float, float]], thickness: float, upright: bool = False) -> Mesh:
    """A wing through sections (leading edge x, trailing edge x, y, z); ``thickness`` is a share of the chord.

    An upright one is a fin: its thickness lies along y.
    """
    rings = []
    for lead, trail, y, z in sections:
        chord = lead - trail
        x = lead - chord * np.array([0.0, 0.12, 0.45, 1.0, 0.45, 0.12])
        t = chord * thickness * np.array([0.0, 0.36, 0.5, 0.05, -0.5, -0.36])
        flat = np.full(6, y if upright else z)
        rings.append(np.column_stack([x, t + flat, np.full(6, z)] if upright else [x, np.full(6, y), t + flat]))
    return skin(rings)


def mirrored(mesh: Mesh) -> Mesh:
    """The mesh on the other side of the plane y = 0."""
    flip = np.array([1.0, -1.0, 1.0])
    return Mesh(mesh.vertices * flip, mesh.normals * flip, mesh.uv.copy(), mesh.faces[:, ::-1].copy())


def both(*meshes: Mesh) -> list[Mesh]:
    """Each mesh and its mirror image across y = 0."""
    return [m for mesh in meshes for m in (mesh, mirrored(mesh))]


def arc_about(centre: Vec2, radius: float, first: float, last: float, count: int) -> Array:
    """Points (count, 2) on a circle, from angle ``first`` to ``last`` in degrees."""
    return np.asarray(arc(radius, first, last, count) + np.array(centre))
