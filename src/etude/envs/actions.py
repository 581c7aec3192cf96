"""Reading what is given as an action: numbers, or one line that says what came instead."""

from __future__ import annotations

import numpy as np

from etude.names import EtudeError
from etude.pose import Array


def numbers(given: object, what: str, expected: str) -> Array:
    """``given`` as an array of floats. Text, None, dicts and ragged lists are refused, also text that NumPy would read as a number."""
    try:
        found = np.asarray(given)
    except (Exception, SystemExit) as error:  # every library of tensors has an exception of its own for what cannot become an array
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise EtudeError(f"{what} is {_shown(given)}, which is no array ({reason}); expected {expected}") from None
    if found.dtype.kind not in "fiu":
        raise EtudeError(f"{what} is {_shown(given)}; expected {expected}")
    return np.asarray(found, float)


def _shown(given: object) -> str:
    if isinstance(given, np.ndarray):
        return f"an array of {given.dtype}"
    if given is None or isinstance(given, (bool, complex)):
        return str(given)
    if isinstance(given, str):
        return f"text ({given!r:.40})"
    return f"a {type(given).__name__}"
