"""Meshes, textures and motions in few bytes, for pages: whole numbers of 8 or 16 bits, packed by deflate, as text in base 64.

Nothing of this reaches a result: it is for people to look at. A place is kept to a 65,535th of the extent it lies in, a tenth of a
millimetre in a room.
"""

from __future__ import annotations

import base64
import functools
import io
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from etude.catalog.mesh import Mesh
from etude.catalog.textures import texture
from etude.names import digest
from etude.pose import Array

FINEST = 65535
SIDE = 128  # pixels of a texture: those of the catalogue have 256, which a page does not show
QUALITY = 72  # of a texture as WebP


def text_of(data: bytes) -> str:
    """Bytes, packed, as text."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def quantised(values: ArrayLike) -> tuple[NDArray[np.uint16], list[list[float]]]:
    """Numbers (N, D) as shares of their extent, and that extent: [lowest, highest] of each column."""
    found = np.asarray(values, float)
    low, high = found.min(0), found.max(0)
    extent = np.where(high > low, high - low, 1.0)
    return np.rint((found - low) / extent * FINEST).astype("<u2"), [np.round(low, 6).tolist(), np.round(low + extent, 6).tolist()]


@functools.lru_cache(maxsize=512)
def mesh_key(mesh: Mesh) -> str:
    """The name of a mesh: equal ones have the same, whoever made them."""
    return digest([mesh.vertices.tolist(), mesh.uv.tolist(), mesh.faces.tolist()])


@functools.lru_cache(maxsize=512)
def mesh_data(mesh: Mesh) -> dict[str, Any]:
    """A mesh as plain data: ``data`` holds places, texture coordinates, faces (16 bits each) and normals (8 bits), column by column."""
    places, box = quantised(mesh.vertices)
    uv, sheet = quantised(mesh.uv)
    normals = np.rint(mesh.normals * 127).astype(np.int8)
    size = "<u2" if len(mesh.vertices) <= FINEST else "<u4"
    parts = (places, uv, mesh.faces.astype(size), normals)
    counts = {"vertices": len(mesh.vertices), "faces": len(mesh.faces), "wide": size == "<u4"}
    return {**counts, "box": box, "sheet": sheet, "data": text_of(b"".join(part.T.tobytes() for part in parts))}


@functools.lru_cache(maxsize=256)
def texture_url(name: str) -> str:
    """A texture as a colour, ``#rrggbb``, or as a small picture inside a URL."""
    image = texture(name)
    if image.shape[0] == 1:
        return "#" + bytes(image[0, 0].tolist()).hex()
    picture = Image.fromarray(np.ascontiguousarray(image))
    return webp_url(np.asarray(picture.resize((min(SIDE, picture.width),) * 2, Image.Resampling.BOX)), QUALITY)


def webp_url(picture: NDArray[np.uint8], quality: int) -> str:
    """A picture (H, W, 3) as a WebP inside a URL, with some loss."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", quality=quality, method=6)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def motion_data(tracks: Array) -> tuple[list[list[float]], bytes]:
    """Poses (T, K, 7) in few bytes: the box all places lie in, and the steps from moment to moment of every number of every track.

    Places are shares of that box, rotations shares of −1 to 1. What does not move costs nothing; all low bytes stand before all high ones.
    """
    moments, count, _ = tracks.shape
    places, box = quantised(tracks[..., :3].reshape(-1, 3)) if tracks.size else (np.zeros((0, 3), "<u2"), [[0.0] * 3, [1.0] * 3])
    turned = np.rint((tracks[..., 3:] + 1) / 2 * FINEST).astype("<u2")
    whole = np.concatenate([places.reshape(moments, count, 3), turned], 2).transpose(1, 2, 0)
    steps = np.diff(whole.astype(np.int32), axis=2, prepend=0).astype("<u2")  # modulo 2¹⁶, as they are added up again
    return box, steps.reshape(-1, 1).view(np.uint8).T.tobytes()
