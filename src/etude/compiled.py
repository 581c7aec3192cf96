"""The one decorator of compiled functions: strictly IEEE, and kept for the next process wherever something can be kept.

numba keeps machine code in ``NUMBA_CACHE_DIR``, beside the source file or in the user's cache folder, and raises where none of them can be
written: in a read-only installation without a home. There it goes into a temporary folder of the user's own; and where even that cannot be,
every process compiles anew.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from numba import config, njit

T = TypeVar("T")


@overload
def compiled(function: Callable[..., T]) -> Callable[..., T]: ...


@overload
def compiled(
    *, error_model: Literal["python", "numpy"] = ..., inline: Literal["never", "always"] = ...
) -> Callable[[Callable[..., T]], Callable[..., T]]: ...


def compiled(function: Any = None, *, error_model: str = "python", inline: str = "never") -> Any:
    """Compile a function when it is first called: ``@compiled``, or with options. None of them lets results depend on the CPU. While it
    runs, other threads may."""
    if function is None:
        return functools.partial(compiled, error_model=error_model, inline=inline)
    make = functools.partial(njit, function, nogil=True, error_model=error_model, inline=inline)
    try:
        return _tolerant(make(cache=True))
    except RuntimeError:  # numba found no place to keep it
        return _kept_privately(make) or make()


def _tolerant(made: Any) -> Any:
    """The function, compiled anew where what an earlier release has kept cannot be read: numba reads it before it looks at its age, and
    stumbles over types that have another name since."""
    kept = made._cache._cache_file
    load = kept._load_index

    def read() -> Any:
        try:
            return load()
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            return {}

    kept._load_index = read
    return made


def _kept_privately(make: Callable[..., Any]) -> Any:
    """The function, kept in a temporary folder; None where that cannot be."""
    folder = private_folder()
    before, config.CACHE_DIR = config.CACHE_DIR, folder  # numba looks at it once, while the function is made
    try:
        return _tolerant(make(cache=True)) if folder else None
    except RuntimeError:
        _tell()
        return None
    finally:
        config.CACHE_DIR = before


@functools.cache
def private_folder() -> str:
    """A temporary folder that this user alone can write to, for machine code must not come from others; "" where there is none."""
    owner = os.getuid() if hasattr(os, "getuid") else None  # elsewhere temporary folders belong to one user anyway
    try:
        folder = Path(tempfile.gettempdir()) / f"etude-{owner if owner is not None else 'compiled'}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        _tell()
        return ""
    if owner is not None and (not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077):
        _tell()
        return ""
    return str(folder)


@functools.cache
def _tell() -> None:
    """Say once, for all processes of a command, that it will take longer."""
    if multiprocessing.parent_process() is None:
        print(
            "note: compiled code cannot be kept, so every process compiles anew; set NUMBA_CACHE_DIR to a folder that can be written",
            file=sys.stderr,
        )
