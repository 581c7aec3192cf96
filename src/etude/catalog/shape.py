"""What a shape is: a mesh to look at, convex pieces to touch, and the facts other floors ask for."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from etude.arithmetic import circle, dot, dots, norm, norms, product, turned
from etude.catalog.mesh import Mesh
from etude.catalog.polygon import Outline, convex_pieces, hull
from etude.pose import IDENTITY, Array, Quat, Vec3, align, matrix, multiply, yaw_quat

PieceKind = Literal["box", "cylinder", "sphere", "capsule", "ellipsoid", "hull"]

# A face counts as a place to rest on when tipping over its nearest edge takes at least this much lean.
STABLE_LEAN = math.radians(8)


@dataclass(frozen=True, eq=False)
class Piece:
    """One convex collision solid in the frame of its shape.

    ``size``: half extents of a box; (radius, half height, 0) of a cylinder or capsule (along local z); (radius, 0, 0) of a sphere;
    radii of an ellipsoid. A hull has ``points`` (N, 3) metres instead, already in the frame of the shape.
    """

    kind: PieceKind
    size: Vec3 = (0.0, 0.0, 0.0)
    position: Vec3 = (0.0, 0.0, 0.0)
    rotation: Quat = IDENTITY
    points: Array | None = None

    def moved(self, position: ArrayLike, rotation: ArrayLike = IDENTITY) -> Piece:
        """The piece turned, then shifted, in the frame of its shape."""
        R, p = matrix(rotation), np.asarray(position, float)
        if self.points is not None:
            return Piece("hull", points=turned(self.points, R) + p)
        x, y, z = (product(R, self.position) + p).tolist()
        return Piece(self.kind, self.size, (x, y, z), multiply(rotation, self.rotation))

    def reach(self, direction: ArrayLike) -> float:
        """How far the piece extends from the origin of its shape along a unit direction, metres; exact."""
        d = np.asarray(direction, float)
        if self.points is not None:
            return float(dots(self.points, d).max())
        x, y, z = product(matrix(self.rotation).T, d).tolist()
        a, b, c = self.size
        extent: float = {
            "box": a * abs(x) + b * abs(y) + c * abs(z),
            "cylinder": a * norm((x, y)) + b * abs(z),
            "sphere": a,
            "capsule": a + b * abs(z),
            "ellipsoid": norm((a * x, b * y, c * z)),
        }[self.kind]
        return dot(self.position, d) + extent

    def support(self, around: bool = False) -> Array:
        """Points (N, 3) whose convex hull is the piece, in the frame of the shape. Round ones are 24-gons inside it, or ``around`` it."""
        if self.points is not None:
            return self.points
        a, b, c = self.size
        if self.kind == "box":
            local = np.array([(x, y, z) for x in (-a, a) for y in (-b, b) for z in (-c, c)])
        else:
            angle = np.linspace(0, 2 * math.pi, 24, endpoint=False)
            ring = circle(angle) * (1.0 / math.cos(math.pi / 24) if around else 1.0)
            if self.kind == "cylinder":
                local = np.vstack([np.column_stack([a * ring, np.full(24, z)]) for z in (-b, b)])
            else:
                levels = np.linspace(-math.pi / 2, math.pi / 2, 13)
                ball = np.vstack([np.column_stack([math.cos(t) * ring, np.full(24, math.sin(t))]) for t in levels])
                if self.kind == "sphere":
                    local = a * ball
                elif self.kind == "ellipsoid":
                    local = ball * np.array([a, b, c])
                else:
                    local = np.vstack([a * ball + [0, 0, z] for z in (-b, b)])
        return np.asarray(turned(local, matrix(self.rotation)) + np.asarray(self.position))


@dataclass(frozen=True)
class Rest:
    """A way a shape lies still on a level surface."""

    rotation: Quat  # of the shape, wxyz
    height: float  # of the shape's origin above the surface, metres
    lean: float  # how far it must be leant before it tips over, radians


@dataclass(frozen=True, eq=False)
class Shape:
    """A thing of the catalogue. Its origin is the middle of its bounding box; z is up in the way it usually stands.

    ``symmetry`` is the number of turns about the vertical through its centre of mass that look the same (0: every turn does, 1: only
    the whole one). That axis misses the origin where the bounding box is not centred on the mass, as with a star or a triangle.
    ``mass`` in kg where a source states it; otherwise it follows from ``density`` (kg/m³) and the volume of the mesh.
    ``cavity`` is the free space inside a container: (lower, upper) corners in metres, open at the top.
    """

    name: str
    mesh: Mesh
    pieces: tuple[Piece, ...]
    symmetry: int = 1
    density: float = 500.0
    mass: float | None = None
    cavity: tuple[Vec3, Vec3] | None = None

    @functools.cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper corner of the mesh, (3,) metres."""
        return self.mesh.bounds

    @functools.cached_property
    def size(self) -> Vec3:
        """Extents along x, y, z in metres."""
        lower, upper = self.bounds
        x, y, z = (upper - lower).tolist()
        return (x, y, z)

    @functools.cached_property
    def footprint(self) -> Array:
        """Convex outline of the shape seen from above in its usual pose, (K, 2) metres, counter-clockwise."""
        return self._outline(IDENTITY)

    @functools.cached_property
    def radius(self) -> float:
        """How far that outline reaches from the origin, metres."""
        return float(norms(self.footprint).max())

    def outline(self, rotation: Quat) -> Array:
        """Convex outline, seen from above, of everything the shape shows or touches with when it is turned so; (K, 2) metres."""
        return self.footprint if rotation == IDENTITY else self._outline(rotation)

    def _outline(self, rotation: Quat) -> Array:
        points = np.vstack([self.mesh.vertices, *(p.support(around=True) for p in self.pieces)])
        return hull(turned(points, matrix(rotation)[:2]))

    @functools.cached_property
    def _upright_lift(self) -> float:
        return self._lift(IDENTITY)

    def lift(self, rotation: Quat) -> float:
        """Height of the origin above a level surface on which the shape stands when it is turned so, metres."""
        return self._upright_lift if rotation == IDENTITY else self._lift(rotation)

    def _lift(self, rotation: Quat) -> float:
        down = -matrix(rotation)[2]
        return max(float(dots(self.mesh.vertices, down).max()), *(p.reach(down) for p in self.pieces))

    @functools.cached_property
    def plan(self) -> tuple[Array, ...]:
        """Convex outlines of the pieces seen from above, (K, 2) each: what placement must keep apart."""
        return tuple(hull(p.support()[:, :2]) for p in self.pieces)

    @functools.cached_property
    def volume(self) -> float:
        """Of its mesh, m³; negative where that is inside out."""
        return self.mesh.mass_properties()[0]

    @functools.cached_property
    def mass_properties(self) -> tuple[float, Array, Array]:
        """Mass (kg), centre of mass (3,) metres and inertia (3, 3) kg·m² about it."""
        volume, centroid, inertia = self.mesh.mass_properties()
        mass = self.density * volume if self.mass is None else self.mass
        return mass, centroid, inertia * (mass / volume)

    @functools.cached_property
    def hands(self) -> frozenset[str]:
        """Which hands can take it from above in its usual pose: "suction", "fingers", both or none."""
        from etude.catalog.grasp import finger_grasps
        from etude.catalog.suction import suction_spot

        able = {"suction": suction_spot(self) is not None, "fingers": bool(finger_grasps(self))}
        return frozenset(hand for hand, can in able.items() if can)

    @functools.cached_property
    def rests(self) -> tuple[Rest, ...]:
        """The stable resting poses: the usual one first if it is stable, then by decreasing lean, of equal ones the least turned first."""
        from etude.catalog.keeping import kept_finding

        turns = kept_finding(
            "rests", self, [], lambda: _resting_turns(np.vstack([p.support() for p in self.pieces]), self.mass_properties[1])
        )
        found = [Rest(turn, self.lift(turn), lean) for turn, lean in ((tuple(turn), lean) for turn, lean in turns)]
        return tuple(sorted(found, key=lambda r: (not _upright(r), -round(r.lean, 6), [-round(v, 6) for v in r.rotation])))


def _upright(rest: Rest) -> bool:
    return bool(matrix(rest.rotation)[2, 2] > 1 - 1e-6)


def _resting_turns(points: Array, com: Array) -> list[tuple[Quat, float]]:
    """The ways a convex body rests: how it is turned, and by how much it must be leant to tip over (rad)."""
    from etude.catalog.convex import convex_hull

    normals: list[Array] = []
    for normal in convex_hull(points).normals:
        if not normals or dots(normals, normal).max() <= 1 - 1e-6:
            normals.append(normal)
    found = []
    for normal in normals:
        turn = align(normal, (0.0, 0.0, -1.0))
        if normal[2] < -1 + 1e-9:
            turn = IDENTITY
        R = matrix(turn)
        stood = turned(points, R)
        base = stood[stood[:, 2] < stood[:, 2].min() + 1e-6]
        ring = hull(base[:, :2])
        if len(ring) < 3:
            continue
        middle = product(R, com)
        edges = np.roll(ring, -1, axis=0) - ring
        inward = np.stack([-edges[:, 1], edges[:, 0]], 1) / norms(edges)[:, None]
        margin = float(dots(middle[:2] - ring, inward).min())
        lean = math.atan2(margin, middle[2] - float(stood[:, 2].min()))
        if lean >= STABLE_LEAN:
            found.append((turn, lean))
    return found


def box_piece(size: ArrayLike, position: Vec3 = (0.0, 0.0, 0.0), rotation: Quat = IDENTITY) -> Piece:
    """A box from its full extents."""
    x, y, z = np.asarray(size, float).tolist()
    return Piece("box", (x / 2, y / 2, z / 2), position, rotation)


def cylinder_piece(radius: float, height: float, position: Vec3 = (0.0, 0.0, 0.0), rotation: Quat = IDENTITY) -> Piece:
    """An upright cylinder from its radius and full height."""
    return Piece("cylinder", (radius, height / 2, 0.0), position, rotation)


def hull_piece(points: ArrayLike) -> Piece:
    """The convex hull of (N, 3) points."""
    return Piece("hull", points=np.asarray(points, float))


def prism_piece(polygon: Array, height: float, z: float = 0.0) -> Piece:
    """An upright prism over a convex polygon (K, 2); a rectangle becomes a box, which collides faster and rests firmer."""
    if len(polygon) == 4:
        edges = np.roll(polygon, -1, axis=0) - polygon
        square = all(abs(dot(edges[i], edges[(i + 1) % 4])) < 1e-9 for i in range(4))
        if square:
            x, y = polygon.mean(0).tolist()
            width, depth = (norm(edges[i]) for i in range(2))
            yaw = math.atan2(edges[0, 1], edges[0, 0])
            return Piece("box", (width / 2, depth / 2, height / 2), (x, y, z), yaw_quat(yaw))
    ends = [np.column_stack([polygon, np.full(len(polygon), z + s * height / 2)]) for s in (-1, 1)]
    return Piece("hull", points=np.vstack(ends))


def prism_pieces(outline: Outline, height: float, z: float = 0.0) -> tuple[Piece, ...]:
    """The exact convex pieces of an upright prism."""
    return tuple(prism_piece(p, height, z) for p in convex_pieces(outline))


def ring_pieces(outer: float, inner: float, height: float, sectors: int = 12, z: float = 0.0) -> tuple[Piece, ...]:
    """An upright ring (or the wall of a round vessel) as convex sectors; radii in metres."""
    pieces = []
    for k in range(sectors):
        angle = np.linspace(k, k + 1, 3) * (2 * math.pi / sectors)
        arc = circle(angle)
        pieces.append(prism_piece(hull(np.vstack([outer * arc, inner * arc[[0, 2]]])), height, z))
    return tuple(pieces)


def centred(mesh: Mesh, pieces: Sequence[Piece]) -> tuple[Mesh, tuple[Piece, ...]]:
    """Both shifted so that the middle of the mesh's bounding box is the origin."""
    lower, upper = mesh.bounds
    shift = -(lower + upper) / 2
    return mesh.moved(shift), tuple(p.moved(shift) for p in pieces)
