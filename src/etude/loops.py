"""Elementary functions of many numbers: compiled loops over the C library's, for :mod:`etude.arithmetic`."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import Array
from etude.compiled import compiled


@compiled
def _sines(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.sin(x[i])
    return out


@compiled
def _cosines(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.cos(x[i])
    return out


@compiled
def _angles(y: Array, x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.atan2(y[i], x[i])
    return out


@compiled
def _powers(base: Array, exponent: Array) -> Array:
    out = np.empty_like(base)
    for i in range(len(base)):
        out[i] = math.pow(base[i], exponent[i])
    return out


LOOPS = {"sin": _sines, "cos": _cosines, "atan2": _angles, "pow": _powers}  # by the name in the C library
