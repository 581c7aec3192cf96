"""Arrays that several processes share, in memory that is gone with the last of them, however they end."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from multiprocessing import reduction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError

Fields = Mapping[str, tuple[tuple[int, ...], Any]]
"""Name → shape and dtype."""
_LINE = 64  # bytes of a cache's line: what different processes write never shares one by its beginning


def arrays_in(fields: Fields, buffer: Any) -> dict[str, NDArray[Any]]:
    """The arrays of ``fields`` one behind the other in a buffer of :func:`bytes_of` them."""
    found, at = {}, 0
    for name, (shape, dtype) in fields.items():
        found[name] = np.ndarray(shape, dtype, buffer, at)
        at += _room(shape, dtype)
    return found


def bytes_of(fields: Fields) -> int:
    """The room that the arrays take."""
    return sum(int(_room(shape, dtype)) for shape, dtype in fields.values())


def _room(shape: tuple[int, ...], dtype: Any) -> int:
    size: int = math.prod(shape) * np.dtype(dtype).itemsize
    return math.ceil(size / _LINE) * _LINE


class SharedMemoryFile:
    """Memory that is handed to other processes as an open file without a name: nothing is left of it when all of them are gone."""

    def __init__(self, size: int) -> None:
        if not hasattr(reduction, "DupFd"):
            raise EtudeError("worker processes share memory through open files, which this system does not hand on: use workers=0")
        self._file, self._size = _reserved(size), size
        self.memory = mmap.mmap(self._file, size)

    def __reduce__(self) -> tuple[Any, ...]:
        return _attached, (reduction.DupFd(self._file), self._size)

    def close(self) -> None:
        """Hand it to nobody any more. The memory stays for as long as an array looks at it."""
        os.close(self._file)


def _attached(file: Any, size: int) -> mmap.mmap:
    number = file.detach()
    try:
        return mmap.mmap(number, size)
    finally:
        os.close(number)


def _reserved(size: int) -> int:
    """An open file of this size that has no name, in memory where there is room for it; a container may have next to none."""
    for folder in ("/dev/shm", tempfile.gettempdir()):
        with contextlib.suppress(OSError):
            if Path(folder).is_dir():
                with tempfile.TemporaryFile(dir=folder) as file:
                    # Without room reserved, a process would die when it first writes where none is left.
                    os.posix_fallocate(file.fileno(), 0, size) if hasattr(os, "posix_fallocate") else os.truncate(file.fileno(), size)
                    return os.dup(file.fileno())
    where = f"neither in /dev/shm nor in {tempfile.gettempdir()}"
    raise EtudeError(f"no room for {size / 2**20:.0f} MiB of shared memory, {where}")
