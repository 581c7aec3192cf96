"""What is slow to make and always comes out the same, kept in files for the next process: made at first use, checked at every reading.

One file for each thing: a line that names the format, a digest of the rest, a header in JSON, and arrays as they lie in memory. A file is
written under another name and then renamed, so that many processes may make the same thing at once; one that is damaged, or is not what it
is called, is made again. Files are read, not mapped: the digest touches every byte anyway, and a mapping holds an open file for each thing.

They lie where numba keeps machine code: in ``NUMBA_CACHE_DIR``, beside the package, in the user's cache folder or, in a read-only
installation without a home, in a temporary folder of the user's own; and where even that cannot be, every process makes them anew.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import math
import multiprocessing
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMAT = b"etude kept 1\n"
DIGEST = hashlib.sha256().digest_size
ALIGNED = 64  # bytes: where arrays begin
LIMIT = 256 << 20  # bytes in the folder: then the oldest half is thrown away
LOOK = 256  # files between two looks at how much there is


class KeptArrays(NamedTuple):
    """What a file holds: facts that JSON can say, and arrays."""

    facts: dict[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def kept(kind: str, parameters: object, make: Callable[[], KeptArrays]) -> KeptArrays:
    """The record of these parameters, made where there is none yet. ``parameters`` name all that it depends on, the code included."""
    folder = _folder()
    if folder is None:
        return make()
    key = json.dumps([kind, parameters])
    path = folder / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    found = _read(path, key)
    if found is None:
        found = make()
        _write(path, key, found)
    return found


def _read(path: Path, key: str) -> KeptArrays | None:
    """What the file holds; None where there is none that can be trusted."""
    try:
        content = bytearray(path.read_bytes())
    except OSError:
        return None
    start = len(FORMAT) + DIGEST
    if content[: len(FORMAT)] != FORMAT or hashlib.sha256(content[start:]).digest() != content[len(FORMAT) : start]:
        return None
    end = content.index(b"\n", start)
    said = json.loads(content[start:end])
    if said["key"] != key:
        return None
    arrays, place = {}, _aligned(end + 1)
    for name, kind, shape in said["arrays"]:
        arrays[name] = np.frombuffer(content, np.dtype(kind), math.prod(shape), place).reshape(shape)
        place = _aligned(place + arrays[name].nbytes)
    return KeptArrays(said["facts"], arrays)


def _write(path: Path, key: str, record: KeptArrays) -> None:
    listed = [(name, array.dtype.str, array.shape) for name, array in record.arrays.items()]
    content = bytearray(json.dumps({"key": key, "facts": record.facts, "arrays": listed}).encode() + b"\n")
    start = len(FORMAT) + DIGEST
    for array in record.arrays.values():
        content += bytes(_aligned(start + len(content)) - start - len(content)) + array.tobytes()
    try:
        with _renamed(path) as file:
            file.write(FORMAT + hashlib.sha256(content).digest() + content)
    except OSError:
        tell()
    _written.append(path)
    if len(_written) % LOOK == 1:
        _thin_out(path.parent)


_written: list[Path] = []


@contextlib.contextmanager
def _renamed(path: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is whole."""
    number, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _thin_out(folder: Path) -> None:
    """Throw the oldest files away where there is too much."""
    with contextlib.suppress(OSError):  # another process does the same
        newest = sorted(((path.stat().st_mtime_ns, path.stat().st_size, path) for path in folder.iterdir()), reverse=True)
        upto = list(itertools.accumulate(size for _, size, _ in newest))
        if upto and upto[-1] > LIMIT:
            for much, (_, _, path) in zip(upto, newest, strict=True):
                if much > LIMIT // 2:
                    path.unlink()


def _aligned(place: int) -> int:
    return -(-place // ALIGNED) * ALIGNED


# ---- where


@functools.cache
def _folder() -> Path | None:
    """The first of the places that can be written to."""
    with contextlib.suppress(RuntimeError):  # no home
        for place in _places():
            try:
                folder = place / "etude-kept"
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    return folder
            except OSError:
                continue
    private = private_folder()
    if not private:
        return None
    folder = Path(private) / "etude-kept"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        return folder
    tell()
    return None


def _places() -> Iterator[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
    yield Path(__file__).parent / "__pycache__"
    user = os.environ.get("XDG_CACHE_HOME")
    yield Path(user) if user else Path.home() / ".cache"


@functools.cache
def private_folder() -> str:
    """A temporary folder that this user alone can write to, for machine code must not come from others; "" where there is none."""
    owner = os.getuid() if hasattr(os, "getuid") else None  # elsewhere temporary folders belong to one user anyway
    try:
        folder = Path(tempfile.gettempdir()) / f"etude-{owner if owner is not None else 'compiled'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        tell()
        return ""
    if owner is not None and (not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077):
        tell()
        return ""
    return str(folder)


@functools.cache
def tell() -> None:
    """Say once, for all processes of a command, that it will take longer."""
    if multiprocessing.parent_process() is None:
        print(
            "note: compiled code and meshes cannot be kept, so every process makes them anew; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            file=sys.stderr,
        )
