"""What moves a result besides the episode and who plays it. Results under different ones of these are never mixed."""

from __future__ import annotations

import platform

from etude.machine import versions
from etude.names import PROTOCOL
from etude.render import fingerprint

MOVES = ("etude", "mujoco-core", "numpy", "numba")
"""Episodes and goals, physics, arithmetic, and the compiler that orders it."""


def standards(renderer: str) -> dict[str, str]:
    """The versions of episodes, pictures, physics and arithmetic.

    Of Python itself the minor version, for the policy's sake: since 3.12 ``sum`` of floats compensates its error, so that a policy under
    3.11 may add up to other numbers. Patch releases change no arithmetic.
    """
    pixels = fingerprint() if renderer == "raster" else renderer
    return {"protocol": PROTOCOL, "renderer": pixels, "python": ".".join(platform.python_version_tuple()[:2]), **versions(MOVES)}
