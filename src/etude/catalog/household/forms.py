"""What household things are made of: models of visible and touchable parts, joined, stretched to size and entered into the catalogue.

A model is built at its published size and then stretched to the asked-for bounding box, so makers need no arguments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import circle, dots, norm, norms, power, unit
from etude.catalog import mesh as solid
from etude.catalog.mesh import Mesh, merge
from etude.catalog.polygon import Outline, hull
from etude.catalog.registry import shape_maker
from etude.catalog.shape import Piece, Shape, box_piece, cylinder_piece, hull_piece, prism_pieces
from etude.pose import IDENTITY, Array, Quat, Vec3, axis_quat

GROUP = "household"
YCB: dict[str, str] = {}  # YCB id ("024", "065-a") → name
default_texture: dict[str, str] = {}  # name → colour or texture it usually has

LYING = axis_quat((1, 0, 0), -math.pi / 2)  # what stood along z lies along y, its y axis down
SIDEWAYS = axis_quat((0, 1, 0), math.pi / 2)  # what stood along z lies along x


@dataclass(frozen=True, eq=False)
class HouseholdModel:
    """A mesh to look at, convex pieces to touch, and the free space (lower, upper corner) if it is a container; metres."""

    mesh: Mesh
    pieces: tuple[Piece, ...]
    cavity: tuple[Vec3, Vec3] | None = None

    def __add__(self, other: HouseholdModel) -> HouseholdModel:
        return HouseholdModel(merge([self.mesh, other.mesh]), self.pieces + other.pieces, self.cavity or other.cavity)

    def moved(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: Quat = IDENTITY) -> HouseholdModel:
        """The model turned by the quaternion (wxyz), then shifted; containers can only be shifted."""
        cavity = self.cavity
        if cavity is not None:
            if rotation != IDENTITY:
                raise ValueError("a container is turned before its cavity is known, not after")
            cavity = (_vec3(np.add(cavity[0], position)), _vec3(np.add(cavity[1], position)))
        return HouseholdModel(self.mesh.moved(position, rotation), tuple(p.moved(position, rotation) for p in self.pieces), cavity)

    def fitted(self, size: Vec3) -> HouseholdModel:
        """The model centred on the origin and stretched to the bounding box ``size``."""
        lower, upper = self.mesh.bounds
        centred = self.moved(-(lower + upper) / 2)
        factors = np.asarray(size, float) / (upper - lower)
        mesh = centred.mesh.scaled(factors)
        cavity = centred.cavity
        if cavity is not None:
            cavity = (_vec3(cavity[0] * factors), _vec3(cavity[1] * factors))
        return HouseholdModel(mesh, tuple(_stretched(p, factors) for p in centred.pieces), cavity)


def _vec3(v: ArrayLike) -> Vec3:
    x, y, z = np.asarray(v, float).tolist()
    return (x, y, z)


def _stretched(piece: Piece, factors: Array) -> Piece:
    """A piece stretched along the axes; a primitive stays one where the stretch allows."""
    if piece.points is not None:
        return hull_piece(piece.points * factors)
    position = _vec3(piece.position * factors)
    fx, fy, fz = factors.tolist()
    a, b, c = piece.size
    if np.ptp(factors) < 1e-9:
        return Piece(piece.kind, (a * fx, b * fx, c * fx), position, piece.rotation)
    if piece.kind == "sphere":
        return Piece("ellipsoid", (a * fx, a * fy, a * fz), position)
    if piece.rotation == IDENTITY:
        if piece.kind in ("box", "ellipsoid"):
            return Piece(piece.kind, (a * fx, b * fy, c * fz), position)
        if piece.kind == "cylinder" and abs(fx - fy) < 0.01:  # a hair's breadth out of round
            return Piece("cylinder", (a * min(fx, fy), b * fz, 0.0), position)
    return hull_piece(piece.support() * factors)


def household(
    name: str,
    size: Vec3,
    texture: str,
    *,
    ycb: str = "",
    mass: float | None = None,
    density: float = 500.0,
    symmetry: int = 1,
) -> Callable[[Callable[[], HouseholdModel]], Callable[[], HouseholdModel]]:
    """Enter a model into the catalogue.

    ``size`` is its usual bounding box and ``mass`` (kg) its mass at that size.
    """

    def enter(build: Callable[[], HouseholdModel]) -> Callable[[], HouseholdModel]:
        if ycb:
            YCB[ycb] = name
        default_texture[name] = texture

        def make(wanted: Vec3) -> Shape:
            model = build().fitted(wanted)
            grow = np.asarray(wanted) / np.asarray(size)
            even = abs(grow[0] - grow[1]) < 1e-9
            return Shape(
                name,
                model.mesh,
                model.pieces,
                symmetry=symmetry if even else (1 if symmetry % 2 else 2),
                density=density,
                mass=None if mass is None else mass * math.prod(grow.tolist()),
                cavity=model.cavity,
            )

        make.__module__ = build.__module__  # whose model it is
        shape_maker(name, size=size, group=GROUP)(make)
        return build

    return enter


# ------------------------------------------------------------------------------------------------ surfaces


def shaded(vertices: ArrayLike, faces: ArrayLike, crease: float = solid.CREASE) -> Mesh:
    """A mesh from bare triangles: smooth where faces meet at less than ``crease`` radians, textured straight on along the nearest axis."""
    points = np.asarray(vertices, float)
    triangles = np.asarray(faces, np.int64)
    _, weld = np.unique(np.round(points, 7), axis=0, return_inverse=True)
    weld = weld.reshape(-1)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    length = norms(area)
    whole = length > 1e-12
    triangles, area, length = triangles[whole], area[whole], length[whole]
    normals = area / length[:, None]
    if dots(points[triangles].mean(1), area).sum() < 0:  # wound inside out
        triangles, area, normals = triangles[:, ::-1], -area, -normals
    # every corner of a face beside every face that has a corner at the same place, in their order
    place = weld[triangles].ravel()
    order, many = np.argsort(place, kind="stable"), np.bincount(place)
    corner = np.repeat(np.arange(place.size), many[place])
    step = np.arange(corner.size) - np.repeat(np.cumsum(many[place]) - many[place], many[place])
    other = order[(np.cumsum(many) - many)[place[corner]] + step] // 3
    smooth = dots(normals[other], normals[corner // 3]) > math.cos(crease) - 1e-9
    blend = np.column_stack([np.bincount(corner[smooth], area[other[smooth], k], place.size) for k in range(3)])
    at = points[triangles.ravel()]
    flat = np.array([(1, 2), (0, 2), (0, 1)])[np.repeat(np.argmax(np.abs(normals), axis=1), 3)]
    rows = np.hstack([at, blend / norms(blend)[:, None], np.take_along_axis(at, flat, axis=1)])
    table: dict[tuple[float, ...], int] = {}
    out = np.array([table.setdefault(key, len(table)) for key in map(tuple, np.round(rows, 7).tolist())], np.int32)
    data = rows[np.unique(out, return_index=True)[1]]
    return Mesh(data[:, :3].copy(), data[:, 3:6].copy(), data[:, 6:].copy(), out.reshape(-1, 3))


def icosphere(subdivisions: int = 2) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (N, 3) on the unit sphere and faces (M, 3): an icosahedron with every face cut in four, again and again."""
    g = (1 + math.sqrt(5)) / 2
    corners = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
               (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]  # fmt: skip
    points = [np.array(p) / norm((1, g)) for p in corners]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
             (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]  # fmt: skip
    for _ in range(subdivisions):
        halves: dict[tuple[int, int], int] = {}

        def half(i: int, j: int, halves: dict[tuple[int, int], int] = halves) -> int:
            key = (min(i, j), max(i, j))
            if key not in halves:
                middle = points[i] + points[j]
                halves[key] = len(points)
                points.append(unit(middle))
            return halves[key]

        quarters = []
        for i, j, k in faces:
            x, y, z = half(i, j), half(j, k), half(k, i)
            quarters += [(i, x, z), (j, y, x), (k, z, y), (x, y, z)]
        faces = quarters
    return np.array(points), np.array(faces)


# ------------------------------------------------------------------------------------------------ parts


def block(size: Vec3, centre: Vec3 = (0.0, 0.0, 0.0)) -> HouseholdModel:
    """A sharp-edged cuboid."""
    return HouseholdModel(solid.box(size, centre), (box_piece(size, centre),))


def chamfered(size: Vec3, bevel: float, centre: Vec3 = (0.0, 0.0, 0.0)) -> HouseholdModel:
    """A cuboid with all twelve edges taken off; it collides as the whole cuboid."""
    half = np.asarray(size) / 2
    points = [
        sign * (half - np.where(np.arange(3) == axis, 0.0, bevel))
        for axis in range(3)
        for sign in np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    ]
    return HouseholdModel(convex_mesh(np.array(points) + centre, crease=math.radians(20)), (box_piece(size, centre),))


def convex_mesh(points: ArrayLike, crease: float = solid.CREASE) -> Mesh:
    """The surface of the convex hull of (N, 3) points."""
    from etude.catalog.convex import convex_hull

    return shaded(points, convex_hull(points).triangles, crease)


def convex(points: ArrayLike, crease: float = solid.CREASE) -> HouseholdModel:
    """The convex hull of (N, 3) points, seen and touched."""
    return HouseholdModel(convex_mesh(points, crease), (hull_of(points),))


def hull_of(points: ArrayLike) -> Piece:
    """A hull piece that keeps only the corners of the convex hull of (N, 3) points."""
    from etude.catalog.convex import convex_hull

    cloud = np.asarray(points, float)
    return hull_piece(cloud[convex_hull(cloud).vertices])


def bar(outline: ArrayLike, height: float, z: float = 0.0, bevel: float = 0.0) -> HouseholdModel:
    """A flat piece cut from a plate: the prism over a plane ring (K, 2), touched by its exact convex pieces."""
    shape = Outline.of(outline)
    return HouseholdModel(solid.prism(shape, height, z, bevel), prism_pieces(shape, height, z))


def plate(outline: Outline, height: float, z: float = 0.0, bevel: float = 0.0) -> HouseholdModel:
    """The prism over an outline with holes, touched by the one prism over its convex hull."""
    ring = hull(outline.rings[0])
    ends = [np.column_stack([ring, np.full(len(ring), z + s * height / 2)]) for s in (-1, 1)]
    return HouseholdModel(solid.prism(outline, height, z, bevel), (hull_piece(np.vstack(ends)),))


def drum(radius: float, height: float, z: float = 0.0, segments: int = 20, bevel: float = 0.0) -> HouseholdModel:
    """An upright cylinder whose foot is at ``z``."""
    middle = (0.0, 0.0, z + height / 2)
    return HouseholdModel(solid.cylinder(radius, height, segments, bevel).moved(middle), (cylinder_piece(radius, height, middle),))


def spun(profile: Sequence[tuple[float, float]], cuts: Sequence[int] = (), segments: int = 20) -> HouseholdModel:
    """A lathed body of (radius, z) points, touched by one hull for every stretch of the profile between ``cuts`` (point numbers)."""
    ends = [0, *cuts, len(profile) - 1]
    angle = np.arange(12) * (2 * math.pi / 12)
    ring = circle(angle)
    pieces = []
    for first, last in itertools.pairwise(ends):
        pieces.append(hull_of(np.vstack([np.column_stack([max(r, 1e-5) * ring, np.full(12, z)]) for r, z in profile[first : last + 1]])))
    return HouseholdModel(solid.lathe(profile, segments), tuple(pieces))


def skin(rings: Array, cuts: Sequence[int] = (), crease: float = solid.CREASE) -> HouseholdModel:
    """A body through rings (S, K, 3) of as many points each, closed by flat ends; one hull for every stretch between ``cuts``."""
    count, corners = rings.shape[:2]
    i = np.arange(corners)
    j = (i + 1) % corners
    faces = [np.vstack([np.stack([k + i, k + j, k + j + corners], 1), np.stack([k + i, k + j + corners, k + i + corners], 1)])
             for k in range(0, (count - 1) * corners, corners)]  # fmt: skip
    fan = np.stack([np.zeros(corners - 2, int), np.arange(1, corners - 1), np.arange(2, corners)], 1)
    faces += [fan[:, ::-1], fan + (count - 1) * corners]
    ends = [0, *cuts, count - 1]
    pieces = [hull_of(rings[a : b + 1].reshape(-1, 3)) for a, b in itertools.pairwise(ends)]
    return HouseholdModel(shaded(rings.reshape(-1, 3), np.vstack(faces), crease), tuple(pieces))


def superellipse(corners: int, squareness: float, flats: bool = False) -> Array:
    """Points (corners, 2) around a circle (``squareness`` 2), a square (large) or anything between, of half width 1.

    With ``flats``, sides rather than corners face along the axes.
    """
    c, s = circle((np.arange(corners) + (0.5 if flats else 0.0)) * (2 * math.pi / corners)).T
    reach = power(power(np.abs(c), squareness) + power(np.abs(s), squareness), -1 / squareness)
    ring = np.column_stack([c * reach, s * reach])
    return np.asarray(ring / np.abs(ring).max(0))


@dataclass(frozen=True)
class Section:
    """A rounded cross-section of a loft: its height, half widths along x and y, and where its middle is."""

    z: float
    x: float
    y: float
    at: tuple[float, float] = (0.0, 0.0)


def loft(
    sections: Sequence[Section],
    cuts: Sequence[int] = (),
    corners: int = 16,
    squareness: float = 2.0,
    crease: float = solid.CREASE,
    flats: bool = False,
) -> HouseholdModel:
    """A body through rounded sections, from bottom to top, touched by one hull for every stretch between ``cuts`` (section numbers).

    ``squareness`` 2 makes ellipses, 4 rounded rectangles; with ``flats``, sides rather than corners face along the axes.
    """
    ring = superellipse(corners, squareness, flats)
    rings = np.array([np.column_stack([ring * [p.x, p.y] + p.at, np.full(corners, p.z)]) for p in sections])
    return skin(rings, cuts, crease)


def rod(path: ArrayLike, radius: float | ArrayLike, cuts: Sequence[int] = (), segments: int = 8) -> HouseholdModel:
    """A tube along (K, 3) points, touched by one hull for every stretch between ``cuts`` (point numbers)."""
    mesh = solid.tube(path, radius, segments)
    count = len(np.asarray(path))
    rings = mesh.vertices[: count * (segments + 1)].reshape(count, segments + 1, 3)[:, :-1]
    ends = [0, *cuts, count - 1]
    return HouseholdModel(mesh, tuple(hull_of(rings[a : b + 1].reshape(-1, 3)) for a, b in itertools.pairwise(ends)))


def ghost(model: HouseholdModel) -> HouseholdModel:
    """The model to look at only."""
    return HouseholdModel(model.mesh, (), model.cavity)


def arc(radius: float, first: float, last: float, count: int) -> Array:
    """``count`` points (count, 2) on a circle about the origin, from angle ``first`` to ``last`` in degrees."""
    angle = np.radians(np.linspace(first, last, count))
    return radius * circle(angle)
