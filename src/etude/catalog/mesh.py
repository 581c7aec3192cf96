"""Triangle meshes and the few ways of making them: box, lathe, prism, tube, ellipsoid, and putting them together."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude import arithmetic
from etude.arithmetic import circle, cross, dot, dots, norms, product, total, unit
from etude.catalog.polygon import Outline, miters, triangulate
from etude.pose import IDENTITY, Array, Quat, Vec3, align, matrix

# Neighbouring faces meeting at less than this angle are shaded as one smooth surface.
CREASE = math.radians(40)
LEVEL = 0.9  # of a normal's z: on level faces the texture lies along x and y; on all others it stands upright
AREALESS = 1e-14  # m², twice the area of a triangle that has none


@dataclass(frozen=True, eq=False)
class Mesh:
    """A closed surface.

    ``vertices`` (N, 3) metres; ``normals`` (N, 3) unit, outward; ``uv`` (N, 2) texture coordinates **in metres** along the surface,
    so that a texture keeps its scale on every shape; ``faces`` (M, 3) vertex indices, counter-clockwise seen from outside.
    Numbers are kept to nine decimals: the last bits of sines and cosines differ between processors.
    """

    vertices: Array
    normals: Array
    uv: Array
    faces: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("vertices", "normals", "uv"):
            object.__setattr__(self, name, np.round(getattr(self, name), 9) + 0.0)  # + 0.0 makes −0 a plain 0
        for array in (self.vertices, self.normals, self.uv, self.faces):
            array.flags.writeable = False

    @functools.cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper corner, (3,) metres each."""
        return self.vertices.min(0), self.vertices.max(0)

    @functools.cached_property
    def ball(self) -> tuple[Array, float]:
        """Centre (3,) and radius of a sphere around the mesh, metres."""
        centre = (self.bounds[0] + self.bounds[1]) / 2
        return centre, float(norms(self.vertices - centre).max())

    def moved(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = IDENTITY) -> Mesh:
        """The mesh turned by the quaternion (wxyz), then shifted by ``position`` metres."""
        R = matrix(rotation)
        return Mesh(
            arithmetic.turned(self.vertices, R) + np.asarray(position, float),
            arithmetic.turned(self.normals, R),
            self.uv.copy(),
            self.faces,
        )

    def scaled(self, factors: ArrayLike) -> Mesh:
        """The mesh stretched by (3,) factors; texture coordinates keep their scale in metres approximately."""
        f = np.broadcast_to(np.asarray(factors, float), (3,))
        normals = self.normals / f
        normals /= norms(normals)[:, None]
        return Mesh(self.vertices * f, normals, self.uv * math.cbrt(math.prod(f.tolist())), self.faces)

    def contains(self, point: ArrayLike) -> bool:
        """Is the point (3,) inside the closed surface? (Its winding number, by the solid angles of the faces.)"""
        p = np.asarray(point, float)
        lower, upper = self.bounds
        if not bool(np.all((p > lower) & (p < upper))):
            return False
        a, b, c = (self.vertices[self.faces[:, i]] - p for i in range(3))
        la, lb, lc = (norms(v) for v in (a, b, c))
        numerator = dots(a, np.cross(b, c))
        denominator = la * lb * lc + dots(a, b) * lc + dots(b, c) * la + dots(c, a) * lb
        return bool(arithmetic.arctan2(numerator, denominator).sum() > math.pi)

    def mass_properties(self) -> tuple[float, Array, Array]:
        """Volume (m³), centroid (3,) and inertia (3, 3) about the centroid for density 1, by the divergence theorem."""
        a, b, c = (self.vertices[self.faces[:, i]] for i in range(3))
        det = dots(a, np.cross(b, c))
        volume = det.sum() / 6
        centroid = (det[:, None] * (a + b + c)).sum(0) / (24 * volume)
        s = a + b + c
        second = total((det[:, None, None] * v[:, :, None] * v[:, None]).sum(0) for v in (a, b, c, s)) / 120
        second = second - volume * np.outer(centroid, centroid)
        inertia = np.trace(second) * np.eye(3) - second
        return float(volume), centroid, inertia


def merge(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(m.vertices) for m in parts[:-1])])
    return Mesh(
        np.concatenate([m.vertices for m in parts]),
        np.concatenate([m.normals for m in parts]),
        np.concatenate([m.uv for m in parts]),
        np.concatenate([m.faces + np.int32(s) for m, s in zip(parts, starts, strict=True)]),
    )


def box(size: Vec3, centre: Vec3 = (0.0, 0.0, 0.0)) -> Mesh:
    """A cuboid with sharp edges."""
    half = np.asarray(size, float) / 2
    vertices: list[Array] = []
    normals, uv, faces = [], [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            start = len(vertices)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                p = np.zeros(3)
                p[axis], p[u], p[v] = sign * half[axis], a * half[u], b * half[v]
                n = np.zeros(3)
                n[axis] = sign
                vertices.append(p + centre)
                normals.append(n)
                # On the sides the texture stands upright: v is height.
                uv.append((p[v], p[u]) if axis == 1 else (p[u], p[v]))
            order = ((0, 1, 2), (0, 2, 3)) if sign > 0 else ((0, 2, 1), (0, 3, 2))
            faces += [tuple(start + i for i in f) for f in order]
    return Mesh(np.array(vertices), np.array(normals), np.array(uv), np.array(faces, np.int32))


def _smooth_runs(points: Array, closed: bool) -> list[list[int]]:
    """Cut a polyline (K, 2) where it turns by more than the crease angle; each run shares smooth normals."""
    n = len(points)
    edges = np.diff(np.vstack([points, points[:1]]) if closed else points, axis=0)
    headings = arithmetic.arctan2(edges[:, 1], edges[:, 0])

    def sharp(i: int) -> bool:
        turn = headings[i % len(headings)] - headings[i - 1]
        return bool(abs((turn + math.pi) % (2 * math.pi) - math.pi) > CREASE)

    corners = [i for i in range(0 if closed else 1, n if closed else n - 1) if sharp(i)]
    if not closed:
        cuts = [0, *corners, n - 1]
        return [list(range(a, b + 1)) for a, b in itertools.pairwise(cuts)]
    if not corners:
        return [[*range(n), 0]]
    return [[i % n for i in range(a, b + 1)] for a, b in zip(corners, [*corners[1:], corners[0] + n], strict=True)]


def _run_normals(points: Array, run: Sequence[int], looped: bool) -> Array:
    """Unit normals (len(run), 2) to the right of a polyline run, smooth inside, one-sided at its ends (or joined if looped)."""
    p = points[list(run)]
    edges = np.diff(p, axis=0)
    lengths = np.maximum(norms(edges), 1e-12)[:, None]
    right = np.stack([edges[:, 1], -edges[:, 0]], 1) / lengths
    normals = np.zeros_like(p)
    normals[:-1] += right
    normals[1:] += right
    if looped:
        normals[0] = normals[-1] = right[0] + right[-1]
    return np.asarray(normals / np.maximum(norms(normals), 1e-12)[:, None])


def surface(vertices: Array, faces: ArrayLike) -> Mesh:
    """Triangles (M, 3) of vertices (N, 3), counter-clockwise seen from outside, with sharp edges. Those without an area are left out."""
    corners = np.asarray(vertices, float)[np.asarray(faces)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = norms(normals)
    corners, normals = corners[areas > AREALESS], normals[areas > AREALESS] / areas[areas > AREALESS, None]
    level = np.abs(normals[:, 2]) > LEVEL
    across = np.where(
        level[:, None], np.sign(normals[:, 2:]) * [1.0, 0.0, 0.0], np.stack([-normals[:, 1], normals[:, 0], normals[:, 0] * 0], 1)
    )
    across = across - normals * dots(across, normals)[:, None]
    across /= norms(across)[:, None]
    upwards = np.cross(normals, across)
    uv = np.stack([(corners * way[:, None]).sum(2) for way in (across, upwards)], 2)
    order = np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3)
    return Mesh(corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), uv.reshape(-1, 2), order)


def facets(polygons: Iterable[ArrayLike]) -> Mesh:
    """A surface of flat convex faces (K, 3), each counter-clockwise seen from outside, with sharp edges."""
    parts = []
    for polygon in polygons:
        p = np.asarray(polygon, float)
        normal = unit(np.cross(p, np.roll(p, -1, axis=0)).sum(0))
        across = np.array([math.copysign(1.0, normal[2]), 0.0, 0.0]) if abs(normal[2]) > LEVEL else np.array([-normal[1], normal[0], 0.0])
        across = unit(across - normal * dot(across, normal))
        uv = np.column_stack([dots(p, across), dots(p, cross(normal, across))])
        fan = np.array([(0, i, i + 1) for i in range(1, len(p) - 1)], np.int32)
        parts.append(Mesh(p.copy(), np.tile(normal, (len(p), 1)), uv, fan))
    return merge(parts)


def chamfered_box(size: Vec3, bevel: float) -> Mesh:
    """A cuboid with all edges taken off by ``bevel`` metres."""
    if bevel <= 0:
        return box(size)
    half = np.asarray(size, float) / 2

    def corner(signs: Array, face: int) -> Array:
        """The corner of the face across axis ``face`` next to the box corner with these signs."""
        inset = np.full(3, bevel)
        inset[face] = 0.0
        return np.asarray(signs * (half - inset))

    polygons = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for s in (1.0, -1.0):
            signs = np.zeros((4, 3))
            signs[:, axis] = s
            signs[:, [u, v]] = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[:: int(s)]
            polygons.append(np.array([corner(c, axis) for c in signs]))
            for t in (1.0, -1.0):  # the edge along v, between faces axis and u
                ends = np.zeros((2, 3))
                ends[:, axis], ends[:, u], ends[:, v] = s, t, (-1, 1)
                strip = np.array([corner(ends[0], axis), corner(ends[0], u), corner(ends[1], u), corner(ends[1], axis)])
                polygons.append(strip if s * t > 0 else strip[::-1])
    for signs3 in np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float):
        tip = np.array([corner(signs3, axis) for axis in range(3)])
        polygons.append(tip if np.prod(signs3) > 0 else tip[::-1])
    return facets(polygons)


def prism(outline: Outline, height: float, z: float = 0.0, bevel: float = 0.0, lower_bevel: float | None = None) -> Mesh:
    """An upright prism over a plane outline (with holes), its middle at height ``z``; ``bevel`` metres taken off the rims.

    The bevel moves rim vertices along the outline's normals; keep it well below the smallest feature. ``lower_bevel`` is that of the
    lower rim, where it is another one.
    """
    lower = bevel if lower_bevel is None else lower_bevel
    parts: list[Mesh] = []
    top, bottom = z + height / 2, z - height / 2
    leans = [miters(ring) for ring in outline.rings]
    for ring, miter in zip(outline.rings, leans, strict=True):
        runs = _smooth_runs(ring, closed=True)
        looped = len(runs) == 1
        travelled = np.concatenate([[0.0], np.cumsum(norms(np.diff(np.vstack([ring, ring[:1]]), axis=0)))])
        for run in runs:
            normals = _run_normals(ring, run, looped)
            along = _unwrapped(travelled, run)
            levels = [
                (bottom, ring - lower * miter, -1.0),
                (bottom + lower, ring, 0.0),
                (top - bevel, ring, 0.0),
                (top, ring - bevel * miter, 1.0),
            ]
            for (z0, r0, n0), (z1, r1, n1) in itertools.pairwise(levels):
                if z1 - z0 <= 1e-9:
                    continue
                parts.append(_strip(r0[run], r1[run], z0, z1, normals, along, n0, n1))
    cap, _ = triangulate(Outline(tuple(r - bevel * m for r, m in zip(outline.rings, leans, strict=True))))
    for z_cap, sign, inset in ((top, 1.0, bevel), (bottom, -1.0, lower)):
        corners = np.concatenate(outline.rings) - inset * np.concatenate(leans)
        vertices = np.column_stack([corners, np.full(len(corners), z_cap)])
        normals3 = np.tile([0.0, 0.0, sign], (len(corners), 1))
        uv = corners if sign > 0 else corners * [-1.0, 1.0]
        parts.append(Mesh(vertices, normals3, uv.copy(), (cap if sign > 0 else cap[:, ::-1]).astype(np.int32)))
    return merge(parts)


def _unwrapped(travelled: Array, run: Sequence[int]) -> Array:
    total, along = travelled[-1], travelled[list(run)].copy()
    for i in range(1, len(along)):
        while along[i] <= along[i - 1]:
            along[i] += total
    return np.asarray(along)


def _strip(r0: Array, r1: Array, z0: float, z1: float, normals: Array, along: Array, tilt0: float, tilt1: float) -> Mesh:
    """A wall between two polylines; a tilt of ±1 leans the normals of a bevel half up or down."""
    n = len(r0)
    vertices = np.vstack([np.column_stack([r0, np.full(n, z0)]), np.column_stack([r1, np.full(n, z1)])])
    lean = tilt0 if tilt0 else tilt1
    slant = np.column_stack([normals, np.full(n, lean)])
    slant /= norms(slant)[:, None]
    uv = np.vstack([np.column_stack([along, np.full(n, z0)]), np.column_stack([along, np.full(n, z1)])])
    i = np.arange(n - 1)
    faces = np.vstack([np.stack([i, i + 1, i + 1 + n], 1), np.stack([i, i + 1 + n, i + n], 1)])
    return Mesh(vertices, np.vstack([slant, slant]), uv, faces.astype(np.int32))


def lathe(profile: ArrayLike, segments: int = 24) -> Mesh:
    """The surface swept by turning a profile of (radius, z) points about the z axis.

    Walk the profile from the lower end of the axis outwards and up: outside lies to the right. End it on the axis (radius 0), or where
    it began, for a closed surface. Sharp corners stay sharp.
    """
    points = np.asarray(profile, float)
    closed = bool(np.allclose(points[0], points[-1])) and points[0, 0] > 0
    if closed:
        points = points[:-1]
    runs = _smooth_runs(points, closed)
    travelled = np.concatenate([[0.0], np.cumsum(norms(np.diff(np.vstack([points, points[:1]]) if closed else points, axis=0)))])
    angle = np.linspace(0.0, 2 * math.pi, segments + 1)
    cos, sin = circle(angle).T.copy()
    cos[-1], sin[-1] = cos[0], sin[0]
    parts = []
    widest = points[:, 0].max()
    for run in runs:
        normals2 = _run_normals(points, run, closed and len(runs) == 1)
        along = _unwrapped(travelled, run) if closed else travelled[run]
        r, z = points[run, 0], points[run, 1]
        round_pole = (r < 1e-12) & (np.abs(normals2[:, 1]) > math.cos(CREASE))  # a dome's, not a cone's
        normals2[round_pole] = np.sign(normals2[round_pole]) * [0.0, 1.0]
        k = len(run)
        vertices = np.stack([np.outer(cos, r), np.outer(sin, r), np.tile(z, (segments + 1, 1))], -1).reshape(-1, 3)
        normals = np.stack(
            [np.outer(cos, normals2[:, 0]), np.outer(sin, normals2[:, 0]), np.tile(normals2[:, 1], (segments + 1, 1))], -1
        ).reshape(-1, 3)
        if np.ptp(z) < 1e-9:  # a flat disc or ring is textured straight on
            uv = vertices[:, :2].copy()
        else:
            uv = np.stack([np.repeat(angle * widest, k), np.tile(along, segments + 1)], 1)
        faces = []
        for i in range(segments):
            for j in range(k - 1):
                a, b, c, d = i * k + j, (i + 1) * k + j, (i + 1) * k + j + 1, i * k + j + 1
                if r[j] > 1e-12:
                    faces.append((a, b, c))
                if r[j + 1] > 1e-12:
                    faces.append((a, c, d))
        parts.append(Mesh(vertices, normals, uv, np.array(faces, np.int32).reshape(-1, 3)))
    return merge(parts)


def cylinder(radius: float, height: float, segments: int = 24, bevel: float = 0.0, top_radius: float | None = None) -> Mesh:
    """An upright cylinder (or a cone frustum, with ``top_radius``) about the origin."""
    r1, h = radius if top_radius is None else top_radius, height / 2
    if bevel > 0:
        profile = [(0, -h), (radius - bevel, -h), (radius, -h + bevel), (r1, h - bevel), (r1 - bevel, h), (0, h)]
    else:
        profile = [(0, -h), (radius, -h), (r1, h), (0, h)]
    return lathe([p for i, p in enumerate(profile) if i == 0 or p != profile[i - 1]], segments)


def ellipsoid(radii: Vec3, segments: int = 20) -> Mesh:
    """An ellipsoid about the origin; radii along x, y, z in metres."""
    rings = max(segments // 2, 4)
    angle = np.linspace(-math.pi / 2, math.pi / 2, rings + 1)
    profile = circle(angle)
    profile[0, 0] = profile[-1, 0] = 0.0
    unit = lathe(profile, segments)
    stretched = unit.scaled(radii)
    mean = float(np.mean(radii))
    return Mesh(stretched.vertices, stretched.normals, unit.uv * mean, unit.faces)


def capsule(radius: float, length: float, segments: int = 16) -> Mesh:
    """A cylinder along z with hemispherical ends; ``length`` is between the centres of the ends."""
    quarter = np.linspace(0.0, math.pi / 2, max(segments // 4, 3) + 1)
    cos, sin = circle(quarter).T
    lower = np.column_stack([radius * sin, -length / 2 - radius * cos])
    upper = np.column_stack([radius * cos, length / 2 + radius * sin])
    upper[-1, 0] = 0.0
    return lathe(np.vstack([lower, upper]), segments)


def tube(path: ArrayLike, radius: float | ArrayLike, segments: int = 10, closed: bool = False) -> Mesh:
    """A round tube along a polyline (K, 3); ``radius`` one number or one for each point. Open ends are capped flat."""
    points = np.asarray(path, float)
    radii = np.broadcast_to(np.asarray(radius, float), (len(points),))
    if closed:
        tangents = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    else:
        tangents = np.gradient(points, axis=0)
    tangents = tangents / norms(tangents)[:, None]
    side = cross(tangents[0], (0.0, 0.0, 1.0) if abs(tangents[0, 2]) < 0.9 else (1.0, 0.0, 0.0))
    frames = []
    for i, t in enumerate(tangents):  # carry the side vector along without twist
        if i:
            side = product(matrix(align(tangents[i - 1], t)), side)
        side = unit(side - t * dot(side, t))
        frames.append((side, cross(t, side)))
    angle = np.linspace(0.0, 2 * math.pi, segments + 1)
    angle[-1] = 0.0
    ring = circle(angle)
    count = len(points) + (1 if closed else 0)
    travelled = np.concatenate([[0.0], np.cumsum(norms(np.diff(np.vstack([points, points[:1]]), axis=0)))])
    vertices, normals, uv = [], [], []
    for i in range(count):
        j = i % len(points)
        a, b = frames[j]
        n = product(ring, [a, b])
        vertices.append(points[j] + radii[j] * n)
        normals.append(n)
        uv.append(np.column_stack([np.linspace(0, 2 * math.pi * radii.mean(), segments + 1), np.full(segments + 1, travelled[i])]))
    k = segments + 1
    faces = []
    for i in range(count - 1):
        for s in range(segments):
            p, q = i * k + s, (i + 1) * k + s
            faces += [(p, p + 1, q + 1), (p, q + 1, q)]
    parts = [Mesh(np.concatenate(vertices), np.concatenate(normals), np.concatenate(uv), np.array(faces, np.int32))]
    if not closed:
        for i, sign in ((0, -1.0), (len(points) - 1, 1.0)):
            a, b = frames[i]
            rim = points[i] + radii[i] * product(ring[:-1], [a, b])
            flat = radii[i] * ring[:-1]
            fan = np.array([(0, s, s + 1) if sign > 0 else (0, s + 1, s) for s in range(1, segments - 1)], np.int32)
            parts.append(Mesh(rim, np.tile(sign * tangents[i], (segments, 1)), flat, fan))
    return merge(parts)


def turned(axis: str) -> Quat:
    """The turn that brings the z axis (along which lathes and capsules stand) to ``axis``: 'x', 'y' or 'z'."""
    return align((0, 0, 1), {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis])
