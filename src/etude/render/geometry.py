"""Visuals packed into flat arrays once, and carried along with the bodies they ride on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.names import EtudeError
from etude.pose import Array, matrix
from etude.render.texture import pack_textures
from etude.scene.visual import Visual

SETUP = 32  # numbers per triangle that the shader works out once per move


class Geometry(NamedTuple):
    """Everything the kernels read of a scene: V visuals, N vertices, T triangles. Visual v owns start[v] to start[v + 1].

    ``local_*`` is in the frame of the body; ``points``, ``normals``, ``centres`` are the same in the world and rewritten by :func:`carry`.
    ``version`` counts the moves of a visual; ``stamp`` says for which of them ``setup`` of a triangle was worked out.
    """

    local_points: Array  # (N, 3)
    local_normals: Array  # (N, 3)
    local_centres: Array  # (V, 3)
    points: Array  # (N, 3)
    normals: Array  # (N, 3)
    centres: Array  # (V, 3) of bounding spheres
    radii: Array  # (V,)
    uv: Array  # (N, 2) in repetitions of the texture
    faces: NDArray[np.int32]  # (T, 3)
    visual: NDArray[np.int32]  # (T,)
    vertex_start: NDArray[np.int64]  # (V + 1,)
    face_start: NDArray[np.int64]  # (V + 1,)
    body: NDArray[np.int64]  # (V,)
    entity: NDArray[np.uint16]  # (V,)
    gloss: NDArray[np.float32]  # (V,)
    texels: NDArray[np.int64]
    texture_start: NDArray[np.int64]  # (V,)
    texture_bits: NDArray[np.int64]  # (V,)
    version: NDArray[np.int64]  # (V,)
    stamp: NDArray[np.int64]  # (T,)
    setup: NDArray[np.float32]  # (T, SETUP)


class Triangles(NamedTuple):
    """What drawing reads of a :class:`Geometry`. Every array that is handed to a kernel takes time, however little the kernel does."""

    points: Array
    centres: Array
    radii: Array
    faces: NDArray[np.int32]
    vertex_start: NDArray[np.int64]
    face_start: NDArray[np.int64]
    version: NDArray[np.int64]


class Surfaces(NamedTuple):
    """What shading reads of a :class:`Geometry`."""

    visual: NDArray[np.int32]
    gloss: NDArray[np.float32]
    texels: NDArray[np.int64]
    texture_start: NDArray[np.int64]
    texture_bits: NDArray[np.int64]
    setup: NDArray[np.float32]


def triangles(g: Geometry) -> Triangles:
    """The same arrays, not copies of them."""
    return Triangles(g.points, g.centres, g.radii, g.faces, g.vertex_start, g.face_start, g.version)


def surfaces(g: Geometry) -> Surfaces:
    """The same arrays, not copies of them."""
    return Surfaces(g.visual, g.gloss, g.texels, g.texture_start, g.texture_bits, g.setup)


def pack(visuals: Sequence[Visual]) -> Geometry:
    """The arrays of these visuals, not yet carried anywhere."""
    for visual in visuals:
        if visual.body < 0 or visual.span <= 0 or not 0 <= visual.entity < 2**16:
            raise EtudeError(
                f"a visual needs a body ≥ 0, a span > 0 and an entity id below 65536, got {visual.body}, {visual.span:g}, {visual.entity}"
            )
    placed = [_placed(v) for v in visuals]
    vertex_start = np.cumsum([0, *(len(v.mesh.vertices) for v in visuals)]).astype(np.int64)
    face_start = np.cumsum([0, *(len(v.mesh.faces) for v in visuals)]).astype(np.int64)
    names = list(dict.fromkeys(v.texture for v in visuals))
    atlas = pack_textures(names)
    which = np.array([names.index(v.texture) for v in visuals], np.int64)
    points = _stack([p for p, _ in placed], 3)
    boxes = [(p.min(0), p.max(0)) if len(p) else (np.zeros(3), np.zeros(3)) for p, _ in placed]
    centres = _stack([((low + high) / 2)[None] for low, high in boxes], 3)
    radii = [float(np.sqrt(np.square(p - c).sum(1).max())) if len(p) else 0.0 for (p, _), c in zip(placed, centres, strict=True)]
    faces = _stack([v.mesh.faces + vertex_start[i] for i, v in enumerate(visuals)], 3).astype(np.int32)
    return Geometry(
        local_points=points,
        local_normals=_stack([n for _, n in placed], 3),
        local_centres=centres,
        points=np.zeros_like(points),
        normals=np.zeros_like(points),
        centres=np.zeros_like(centres),
        radii=np.array(radii, np.float64),
        uv=_stack([v.mesh.uv / v.span for v in visuals], 2),
        faces=faces,
        visual=np.repeat(np.arange(len(visuals), dtype=np.int32), np.diff(face_start)),
        vertex_start=vertex_start,
        face_start=face_start,
        body=np.array([v.body for v in visuals], np.int64),
        entity=np.array([v.entity for v in visuals], np.uint16),
        gloss=np.array([v.gloss for v in visuals], np.float32),
        texels=atlas.texels,
        texture_start=atlas.start[which] if len(which) else np.zeros(0, np.int64),
        texture_bits=atlas.bits[which] if len(which) else np.zeros(0, np.int64),
        version=np.zeros(len(visuals), np.int64),
        stamp=np.zeros(len(faces), np.int64),
        setup=np.zeros((len(faces), SETUP), np.float32),
    )


def _placed(visual: Visual) -> tuple[Array, Array]:
    """Vertices and normals in the frame of the body. Written out, because a BLAS product may round differently from one CPU to the next."""
    R, p = matrix(visual.pose.rotation), visual.pose.position
    v, n = visual.mesh.vertices, visual.mesh.normals
    points = [v[:, 0] * R[i, 0] + v[:, 1] * R[i, 1] + v[:, 2] * R[i, 2] + p[i] for i in range(3)]
    normals = [n[:, 0] * R[i, 0] + n[:, 1] * R[i, 1] + n[:, 2] * R[i, 2] for i in range(3)]
    return np.stack(points, 1), np.stack(normals, 1)


def _stack(arrays: Sequence[NDArray[np.generic]], width: int) -> Array:
    return np.concatenate(arrays).astype(np.float64) if arrays else np.zeros((0, width))


@compiled(error_model="numpy")
def follow(g: Geometry, to: tuple[Array, Array], frames: tuple[Array, Array], moves: int, moved: NDArray[np.int64]) -> int:
    """Bring bodies to other frames, positions (B, 3) and rotations (B, 3, 3) in the world, and their visuals along with those that move.

    ``frames``, where the bodies were, are changed to those they go ``to``, and ``moved`` (B,) to ``moves`` for those that move. Gives how
    many do; −1, and nothing is changed, if the world itself would.
    """
    (p, rotation), (positions, rotations) = to, frames
    count = 0
    for b in range(len(positions)):
        differs = False
        for i in range(3):
            differs |= p[b, i] != positions[b, i]
            for k in range(3):
                differs |= rotation[b, i, k] != rotations[b, i, k]
        if differs:
            if b == 0:
                return -1
            count += 1
            moved[b] = moves
            positions[b], rotations[b] = p[b], rotation[b]
    if count:
        carry(g, moved == moves, positions, rotations)
    return count


@compiled(error_model="numpy")
def carry(g: Geometry, moved: NDArray[np.bool_], positions: Array, rotations: Array) -> None:
    """Bring the visuals of moved bodies (B,) to their frames: positions (B, 3), rotations (B, 3, 3) in the world."""
    for v in range(g.body.shape[0]):
        b = g.body[v]
        if not moved[b]:
            continue
        g.version[v] += 1
        r00, r01, r02 = rotations[b, 0, 0], rotations[b, 0, 1], rotations[b, 0, 2]
        r10, r11, r12 = rotations[b, 1, 0], rotations[b, 1, 1], rotations[b, 1, 2]
        r20, r21, r22 = rotations[b, 2, 0], rotations[b, 2, 1], rotations[b, 2, 2]
        px, py, pz = positions[b, 0], positions[b, 1], positions[b, 2]
        x, y, z = g.local_centres[v, 0], g.local_centres[v, 1], g.local_centres[v, 2]
        g.centres[v, 0] = r00 * x + r01 * y + r02 * z + px
        g.centres[v, 1] = r10 * x + r11 * y + r12 * z + py
        g.centres[v, 2] = r20 * x + r21 * y + r22 * z + pz
        for i in range(g.vertex_start[v], g.vertex_start[v + 1]):
            x, y, z = g.local_points[i, 0], g.local_points[i, 1], g.local_points[i, 2]
            g.points[i, 0] = r00 * x + r01 * y + r02 * z + px
            g.points[i, 1] = r10 * x + r11 * y + r12 * z + py
            g.points[i, 2] = r20 * x + r21 * y + r22 * z + pz
            x, y, z = g.local_normals[i, 0], g.local_normals[i, 1], g.local_normals[i, 2]
            g.normals[i, 0] = r00 * x + r01 * y + r02 * z
            g.normals[i, 1] = r10 * x + r11 * y + r12 * z
            g.normals[i, 2] = r20 * x + r21 * y + r22 * z
