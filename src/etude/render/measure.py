"""From a visibility buffer to what is measured rather than looked at: depth, segmentation, normals.

numba's cache looks at this file alone: nothing compiled elsewhere may be called from here, nor constants imported.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.render.geometry import Geometry
from etude.render.raster import Projection


@compiled(error_model="numpy")
def measure(
    perspective: bool, entities: NDArray[np.uint16], visual: NDArray[np.int32], nearness: NDArray[np.float32], owner: NDArray[np.int32],
    depth: NDArray[np.float32], segmentation: NDArray[np.uint16],
) -> None:  # fmt: skip
    """Depth and segmentation of all samples (H, W), from the entities of visuals and the visuals of triangles."""
    near, who = nearness.reshape(nearness.size), owner.reshape(owner.size)
    deep, ids = depth.reshape(depth.size), segmentation.reshape(segmentation.size)
    if perspective:
        for i in range(near.size):
            deep[i] = np.float32(1) / near[i] if who[i] >= 0 else np.float32(0)
    else:
        for i in range(near.size):
            deep[i] = -near[i] if who[i] >= 0 else np.float32(0)
    if visual.size == 0:
        ids[:] = 0
        return
    for i in range(who.size):
        t = who[np.uintp(i)]
        entity = entities[np.uintp(visual[np.uintp(max(t, 0))])]
        ids[np.uintp(i)] = entity if t >= 0 else np.uint16(0)


@compiled(error_model="numpy")
def normals_of(
    view: Projection, g: Geometry, nearness: NDArray[np.float32], owner: NDArray[np.int32], first: int, stride: int,
    normals: NDArray[np.float32],
) -> None:  # fmt: skip
    """Smooth normals (H, W, 3), unit, world, of every ``stride``-th sample, from sample ``first`` on."""
    point, b, c, n = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for j in range(normals.shape[0]):
        for i in range(normals.shape[1]):
            row, column = first + j * stride, first + i * stride
            t = owner[row, column]
            normals[j, i] = np.float32(0)
            if t < 0:
                continue
            i0, i1, i2 = g.faces[t, 0], g.faces[t, 1], g.faces[t, 2]
            x = (((column << view.shift) + view.origin) / 256.0 - view.cx) / view.focal
            y = (((row << view.shift) + view.origin) / 256.0 - view.cy) / view.focal
            z = 1.0 / nearness[row, column] if view.perspective else -1.0 * nearness[row, column]
            if view.perspective:
                x, y = x * z, y * z
            bb = bc = cc = pb = pc = 0.0
            for k in range(3):
                point[k] = view.eye[k] + x * view.axes[0, k] + y * view.axes[1, k] + z * view.axes[2, k] - g.points[i0, k]
                b[k], c[k] = g.points[i1, k] - g.points[i0, k], g.points[i2, k] - g.points[i0, k]
                bb, bc, cc, pb, pc = bb + b[k] * b[k], bc + b[k] * c[k], cc + c[k] * c[k], pb + point[k] * b[k], pc + point[k] * c[k]
            area = bb * cc - bc * bc
            if area <= 0:  # a sliver without inside
                bb, cc, bc, pb, pc, area = 1.0, 1.0, 0.0, 0.0, 0.0, 1.0
            w1 = min(max((cc * pb - bc * pc) / area, 0.0), 1.0)
            w2 = min(max((bb * pc - bc * pb) / area, 0.0), 1.0)
            length = 0.0
            for k in range(3):
                n[k] = g.normals[i0, k] + w1 * (g.normals[i1, k] - g.normals[i0, k]) + w2 * (g.normals[i2, k] - g.normals[i0, k])
                length += n[k] * n[k]
            scale = 1.0 / np.sqrt(max(length, 1e-12))
            for k in range(3):
                normals[j, i, k] = n[k] * scale
