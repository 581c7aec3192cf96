"""A quick PNG writer for pictures with large even parts: several times as fast as a general one, and without loss.

Every row is stored as its difference from the row above, so that rows which repeat are nothing but zeros; long runs of those are packed
once and kept. Only the rest goes through the compressor. For pictures that are put together from the same parts again and again see
:mod:`etude.render.packed`.
"""

from __future__ import annotations

import base64
import functools
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError

Picture = NDArray[np.uint8]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = b"\x78\x01"  # of a zlib stream: deflate with a window of 32 KiB, packed fast
LAST = b"\x03\x00"  # an empty last block
UP = 2  # the filter: bytes minus those above them
RUN = 16  # rows; to begin a new block costs about as much as to compress so many
_ADLER = 65521


def png(picture: Picture) -> bytes:
    """A picture (H, W, 3) as the bytes of a PNG file."""
    height, width = size_of(picture)
    rows = np.ascontiguousarray(picture).reshape(height, width * 3)
    filtered = np.empty((height, width * 3 + 1), np.uint8)
    filtered[:, 0] = UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    return png_file(height, width, _packed(filtered))


def size_of(picture: Picture) -> tuple[int, int]:
    """The height and width of what must be a picture (H, W, 3)."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or picture.size == 0:
        raise EtudeError(f"a picture must be (H, W, 3) of uint8, got {picture.shape} of {picture.dtype}")
    return picture.shape[0], picture.shape[1]


def png_url(picture: Picture) -> str:
    """A picture (H, W, 3) as a PNG inside a URL."""
    return "data:image/png;base64," + base64.b64encode(png(picture)).decode("ascii")


def png_file(height: int, width: int, rows: bytes | memoryview) -> bytes:
    """The bytes of a PNG file, whose rows are given as a zlib stream."""
    return b"".join((_head(height, width), *_chunk(b"IDAT", rows), END))


@functools.lru_cache(maxsize=64)
def _head(height: int, width: int) -> bytes:
    return b"".join((SIGNATURE, *_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))))


def _chunk(kind: bytes, data: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    return len(data).to_bytes(4, "big"), kind, data, zlib.crc32(data, zlib.crc32(kind)).to_bytes(4, "big")


END = b"".join(_chunk(b"IEND", b""))


def _packed(filtered: Picture) -> bytes:
    """The rows as a zlib stream: blocks that end on whole bytes and do not look back at each other can stand side by side."""
    found, check, done = [HEADER], 1, 0
    for first, last in _even_runs(filtered):
        for begin, end, even in ((done, first, False), (first, last, True)):
            if end > begin:
                block, own = _even(end - begin, filtered.shape[1]) if even else _compressed(filtered[begin:end])
                found.append(block)
                check = _joined(check, own, (end - begin) * filtered.shape[1])
        done = last
    found += [LAST, struct.pack(">I", check)]
    return b"".join(found)


def _even_runs(filtered: Picture) -> list[tuple[int, int]]:
    """Rows (first, last + 1) in a row that repeat the one above, where there are enough of them; an empty run marks the end."""
    busy = np.flatnonzero(filtered[:, 1:].any(axis=1))
    edges = np.concatenate(([-1], busy, [len(filtered)]))
    gaps = np.flatnonzero(np.diff(edges) > RUN)
    found = [(int(edges[g]) + 1, int(edges[g + 1])) for g in gaps]
    return [*found, (len(filtered), len(filtered))]


@functools.lru_cache(maxsize=4096)
def _even(rows: int, width: int) -> tuple[bytes, int]:
    blank = np.zeros((rows, width), np.uint8)
    blank[:, 0] = UP
    return _compressed(blank)


def _compressed(rows: Picture) -> tuple[bytes, int]:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_RLE)
    return packer.compress(rows.data) + packer.flush(zlib.Z_FULL_FLUSH), zlib.adler32(rows.data)


def _joined(first: int, second: int, length: int) -> int:
    """The checksum (Adler-32) of two texts one after the other, from those of each; ``length`` is that of the second."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + length * ((first & 0xFFFF) - 1)
    return (high % _ADLER) << 16 | low % _ADLER
