"""Samples as flat bytes, for shared memory: a header in JSON, then the arrays in a row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.learn.samples import Demonstration, Prompt, Things

_HEAD = 8  # bytes that say how long the header is


def in_a_row(arrays: Iterable[NDArray[Any]]) -> bytes:
    """Arrays as bytes."""
    rows = [np.ascontiguousarray(a) for a in arrays]
    header = json.dumps([(a.dtype.str, a.shape) for a in rows]).encode()
    return b"".join([len(header).to_bytes(_HEAD, "big"), header, *(a.tobytes() for a in rows)])


def arrays_in(data: bytes | memoryview) -> list[NDArray[Any]]:
    """The arrays of these bytes, as copies."""
    size = int.from_bytes(data[:_HEAD], "big")
    at = _HEAD + size
    arrays: list[NDArray[Any]] = []
    for dtype, shape in json.loads(bytes(data[_HEAD:at])):
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(data, np.dtype(dtype), count, at).reshape(shape).copy())
        at += arrays[-1].nbytes
    return arrays


def _arrays(demonstration: Demonstration) -> Iterator[NDArray[Any]]:
    told = demonstration.prompt
    yield from (told.kinds, told.words, told.places, told.rows)
    for things in (told.things, *demonstration.seen):
        yield from (things.crops, things.boxes, things.mask)
    yield from (demonstration.done, demonstration.labels, demonstration.counts)


def packed(demonstration: Demonstration) -> bytes:
    """The demonstration as bytes."""
    return in_a_row(_arrays(demonstration))


def unpacked(data: bytes | memoryview) -> Demonstration:
    """The demonstration of these bytes."""
    arrays = arrays_in(data)
    looks = [Things(*arrays[k : k + 3]) for k in range(4, len(arrays) - 3, 3)]
    kinds, words, places, rows = arrays[:4]
    return Demonstration(Prompt(kinds, words, places, rows, looks[0]), tuple(looks[1:]), *arrays[-3:])
