"""A policy server written by hand, as openpi's behave, without the code under test; and something for it to look at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

Behaviour = Callable[[ServerConnection, dict[str, Any]], None]


def array(values: Any, dtype: str = "<f4") -> dict[bytes, Any]:
    """An array as it lies on the wire, without the code under test."""
    found = np.asarray(values, dtype)
    return {b"__ndarray__": True, b"data": found.tobytes(), b"dtype": found.dtype.str, b"shape": found.shape}


def plain(value: dict[bytes, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(value[b"data"], value[b"dtype"]).reshape(value[b"shape"])


def says(answer: Any) -> Behaviour:
    return lambda connection, message: connection.send(msgpack.packb(answer))


def acts(values: Any, dtype: str = "<f4") -> Behaviour:
    return says({"actions": array(values, dtype), "server_timing": {"infer_ms": 1.0}})


@contextmanager
def server(*behaviours: Behaviour, metadata: Any = None, **options: Any) -> Iterator[str]:
    """A server whose first connection behaves in the first way, and so on; the last way is for all that follow."""
    left = list(behaviours)
    introductions = list(metadata) if isinstance(metadata, list) else [metadata or {}]

    def converse(connection: ServerConnection) -> None:
        behaviour = left.pop(0) if len(left) > 1 else left[0]
        try:
            connection.send(msgpack.packb(introductions.pop(0) if len(introductions) > 1 else introductions[0]))
            for message in connection:
                behaviour(connection, msgpack.unpackb(message))
        except ConnectionClosed:
            pass

    with serve(converse, "127.0.0.1", 0, compression=None, max_size=None, **options) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{running.socket.getsockname()[1]}"
        finally:
            running.shutdown()
            thread.join(30)


def observation(**extra: Any) -> dict[str, Any]:
    """Seven joints; the tip at (0.1, 0.2, 0.3), half turned about x; the hand 6 cm open."""
    felt = np.array([*[0.0] * 14, 0.1, 0.2, 0.3, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.06], np.float32)
    pictures = {"base": np.full((8, 8, 3), 1, np.uint8), "hand_view": np.full((8, 8, 3), 2, np.uint8)}
    return {**pictures, "proprioception": felt, "instruction": "Stack the cubes", **extra}
