"""Shapes from mesh files: the triangles of an OBJ or STL file to look at, convex pieces to touch.

A convex thing is its own piece. Those of others are found once, by CoACD (the extra ``meshes``), and kept next to the mesh in
``FILE.pieces.json``. Ship both: whoever has the two files has the same shape, to the last bit, and needs no library for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from etude.catalog.convex import convex_hull
from etude.catalog.mesh import surface
from etude.catalog.registry import SHAPES, ShapeEntry
from etude.catalog.shape import Piece, Shape, box_piece, centred, hull_piece
from etude.names import EtudeError, parse_json, pick
from etude.pose import Array, Vec3
from etude.registry import caller

Faces = NDArray[np.int64]
SAME = 1e-6  # of the longest extent: corners of triangles that lie so near to each other are one
DIGITS = 5  # places of a piece's coordinates, counted from the longest extent
CORNERS = 64  # of a piece, at most
CONVEX = 1e-4  # of its volume: what a thing may lack of its hull to count as convex
UP: dict[str, tuple[tuple[int, int], ...]] = {  # where x, y and z come from: column and sign
    "x": ((2, -1), (1, 1), (0, 1)),
    "y": ((0, 1), (2, -1), (1, 1)),
    "z": ((0, 1), (1, 1), (2, 1)),
}


def register_mesh(
    path: str | Path,
    *,
    name: str,
    scale: float = 1.0,
    up: Literal["x", "y", "z"] = "z",
    group: str = "mesh",
    symmetry: int = 1,
    density: float = 500.0,
    mass: float | None = None,
) -> Shape:
    """From now on ``name`` is the shape of this OBJ or STL file, as large as ``scale`` metres for each unit of the file.

    ``up`` is the axis of the file that points up. The other arguments are those of :class:`Shape`. The surface must be closed.
    """
    source = Path(path)
    if not (math.isfinite(scale) and scale > 0):
        raise EtudeError(f"scale is how many metres a unit of {source.name} is, above zero; got {scale}")
    vertices, faces = read_triangles(source)
    pieces = _pieces(source, vertices, faces)
    axes = pick("axis that points up", up, UP)
    columns, signs = [k for k, _ in axes], np.array([s for _, s in axes], float) * scale
    mesh, hulls = centred(surface(vertices[:, columns] * signs, faces), [hull_piece(p[:, columns] * signs) for p in pieces])
    own = mesh.bounds[1] - mesh.bounds[0]

    def make(size: Vec3) -> Shape:
        factors = np.array(size) / own
        points = [hull.points * factors for hull in hulls if hull.points is not None]
        return Shape(name, mesh.scaled(factors), tuple(_box_or_hull(p) for p in points), symmetry, density, mass)

    x, y, z = own.tolist()
    SHAPES.add(name, ShapeEntry(make, (x, y, z), group), caller())
    return make((x, y, z))


def _box_or_hull(points: Array) -> Piece:
    """A level box where the points are its corners: it collides faster and rests firmer."""
    low, high = points.min(0), points.max(0)
    near = float((high - low).max()) * 10.0**-DIGITS
    if len(points) == 8 and bool((np.minimum(np.abs(points - low), np.abs(points - high)) <= near).all()):
        x, y, z = ((low + high) / 2).tolist()
        return box_piece(high - low, (x, y, z))
    return hull_piece(points)


# ------------------------------------------------------------------------------------------------ pieces


def decompose(path: str | Path, *, threshold: float = 0.05, most: int = 24) -> Path:
    """Find the convex pieces of a mesh file with CoACD and write them next to it; gives the file written.

    ``threshold`` is the concavity that may remain (of a body one unit large): smaller ones give more pieces, at most ``most``.
    """
    source = Path(path)
    try:
        import coacd
    except ImportError:
        raise EtudeError(
            f"the convex pieces of {source.name} are not there ({_beside(source).name}) and CoACD, which finds them, is not installed:"
            " pip install 'etude[meshes]'"
        ) from None
    vertices, faces = read_triangles(source)
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(vertices, faces), threshold=threshold, max_convex_hull=most, decimate=True, max_ch_vertex=CORNERS, seed=0
    )
    places = DIGITS - math.floor(math.log10(float(np.ptp(vertices, axis=0).max())))
    pieces = [[[round(v, places) + 0.0 for v in point] for point in points[convex_hull(points).vertices].tolist()] for points, _ in found]
    told = {"mesh": _digest(source), "by": f"CoACD, threshold {threshold:g}, at most {most}, seed 0", "pieces": pieces}
    target = _beside(source)
    target.write_text(json.dumps(told) + "\n")
    return target


def _beside(source: Path) -> Path:
    return source.with_name(f"{source.name}.pieces.json")


def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _volume(vertices: Array, faces: Faces) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float((a * np.cross(b, c)).sum()) / 6


def _pieces(source: Path, vertices: Array, faces: Faces) -> list[Array]:
    """The convex pieces (N, 3) each, in the units and axes of the file; found first where nobody has done so."""
    beside = _beside(source)
    if not beside.is_file():
        hull = convex_hull(vertices)
        if len(hull.vertices) <= CORNERS and _volume(vertices, hull.triangles) <= _volume(vertices, faces) * (1 + CONVEX):
            return [vertices[hull.vertices]]
        decompose(source)
    try:
        told = parse_json(beside.read_text())
        pieces = [np.array(piece, float) for piece in told["pieces"]]
        made_for = told["mesh"]
    except (EtudeError, KeyError, TypeError, ValueError) as error:
        raise EtudeError(f"{beside.name} does not hold convex pieces ({error}); remove it and decompose {source.name} again") from None
    if made_for != _digest(source):
        raise EtudeError(f"{beside.name} was made for another version of {source.name}; remove it and decompose the mesh again")
    if not pieces or not all(p.ndim == 2 and p.shape[1] == 3 and len(p) >= 4 and bool(np.isfinite(p).all()) for p in pieces):
        raise EtudeError(f"{beside.name} does not hold convex pieces: each is at least four points of three finite numbers")
    return pieces


# ------------------------------------------------------------------------------------------------ triangles


def read_triangles(source: Path) -> tuple[Array, Faces]:
    """Vertices (N, 3) and faces (M, 3) of a closed surface, seen from outside counter-clockwise, in the units of the file."""
    if not source.is_file():
        raise EtudeError(f"there is no file {str(source)!r}")
    read = pick("kind of mesh file", source.suffix.lower(), {".obj": _obj, ".stl": _stl})
    try:
        points, faces = read(source.read_bytes())
    except (ValueError, IndexError, struct.error) as error:
        raise EtudeError(f"{source.name} cannot be read: {error}") from None
    if not len(faces) or not bool(np.isfinite(points).all()):
        raise EtudeError(f"{source.name} cannot be read: it has no faces, or numbers that are not finite")
    vertices, faces = _welded(points, faces)
    edges = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    ways = {(int(a), int(b)) for a, b in edges}
    loose = sum((b, a) not in ways for a, b in ways) + len(edges) - len(ways)
    if loose:
        raise EtudeError(f"{source.name} is not closed: {loose} of its edges do not lie between two faces that are turned alike")
    volume = _volume(vertices, faces)
    if volume == 0.0:
        raise EtudeError(f"{source.name} encloses nothing")
    return vertices, faces if volume > 0 else faces[:, ::-1].copy()


def _welded(points: Array, faces: Faces) -> tuple[Array, Faces]:
    """Points that are used, those that coincide as one; faces that lose a corner by it are dropped."""
    used = points[faces.ravel()]
    grid = np.rint((used - used.min(0)) / (float(np.ptp(used, axis=0).max()) * SAME or 1.0)).astype(np.int64)
    _, first, number = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    joined = number.reshape(-1, 3)
    whole = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
    return used[first], joined[whole]


def _obj(data: bytes) -> tuple[Array, Faces]:
    points: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(v) for v in rest[:3]])
        elif word == "f":
            corners = [int(corner.partition("/")[0]) for corner in rest]
            ring = [k - 1 if k > 0 else len(points) + k for k in corners]  # counted from 1, or back from the last one
            if 0 in corners or not all(0 <= k < len(points) for k in ring):
                raise ValueError(f"the face {line.strip()!r} has a corner that is not there")
            faces += [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
    return np.array(points, float).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3)


def _stl(data: bytes) -> tuple[Array, Faces]:
    (count,) = struct.unpack_from("<I", data, 80) if len(data) >= 84 else (0,)
    if len(data) == 84 + 50 * count and count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        points = np.frombuffer(data, record, offset=84)["corners"].astype(float).reshape(-1, 3)
    else:
        rows = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
        points = np.array([[float(v) for v in row[1:4]] for row in rows if row and row[0] == "vertex"], float).reshape(-1, 3)
    return points, np.arange(len(points)).reshape(-1, 3)
