"""The one decorator of compiled functions: strictly IEEE, and kept for the next process wherever something can be kept.

numba keeps machine code in ``NUMBA_CACHE_DIR``, beside the source file or in the user's cache folder, and raises where none of them can be
written: in a read-only installation without a home. There it goes into a temporary folder of the user's own; and where even that cannot be,
every process compiles anew.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from numba import config, njit
from numba.core.runtime import rtsys

from etude.kept import private_folder, tell

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
    stumbles over types that have another name since. What can be read is loaded without numba's whole library."""
    kept = made._cache._cache_file
    load = kept._load_index

    def read() -> Any:
        try:
            return load()
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            return {}

    kept._load_index = read
    made._cache.load_overload = functools.partial(_loaded, made._cache)
    return made


def _loaded(cache: Any, signature: Any, target: Any) -> Any:
    """Machine code that was kept, or None. numba would first load everything that can be compiled, and scipy with it, for a third of the
    time to a process's first step; finished code needs only the run time beneath it, and a compiler loads the rest itself."""
    rtsys.initialize(target)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)


def _kept_privately(make: Callable[..., Any]) -> Any:
    """The function, kept in a temporary folder; None where that cannot be."""
    folder = private_folder()
    before, config.CACHE_DIR = config.CACHE_DIR, folder  # numba looks at it once, while the function is made
    try:
        return _tolerant(make(cache=True)) if folder else None
    except RuntimeError:
        tell()
        return None
    finally:
        config.CACHE_DIR = before
