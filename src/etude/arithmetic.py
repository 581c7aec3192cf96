"""One arithmetic: linear algebra and elementary functions whose results are the same bits on every CPU.

BLAS and LAPACK choose their kernels, and with them the order of a sum, by CPU; numpy does the same for sines and powers of arrays, and for
the order of equal keys in a sort; Python 3.12 sums floats otherwise than 3.11. Whatever lies between the name of an episode and its record
uses what stands here instead: sums in a fixed order from left to right, multiplied and added one by one, and elementary functions taken
from the C library number by number. Elementwise ``+ − × ÷`` and square roots of numpy are exact by IEEE 754 and need no replacement.

Compiled loops (:mod:`etude.scene.kinematics`) follow the same rules. ``tests/test_arithmetic.py`` names every line that does not.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MANY = 512  # numbers from which on a compiled loop is worth its loading


@overload
def total(values: Iterable[int]) -> int: ...
@overload
def total(values: Iterable[float]) -> float: ...
@overload
def total(values: Iterable[Array]) -> Array: ...
def total(values: Iterable[Any]) -> Any:
    """The sum, added one by one from the left; 0 of nothing."""
    return functools.reduce(operator.add, values, 0)


def dot(a: ArrayLike, b: ArrayLike) -> float:
    """The inner product of two vectors."""
    p, q = np.asarray(a, float).tolist(), np.asarray(b, float).tolist()
    result: float = total(map(operator.mul, p, q))
    return result


def dots(a: ArrayLike, b: ArrayLike) -> Array:
    """Inner products along the last axis of two arrays that broadcast against each other."""
    products = np.asarray(a, float) * np.asarray(b, float)
    result: Array = products[..., 0]
    for k in range(1, products.shape[-1]):
        result = result + products[..., k]
    return result


def norm(v: ArrayLike) -> float:
    """The length of a vector."""
    return math.sqrt(total(x * x for x in np.asarray(v, float).tolist()))


def norms(v: ArrayLike) -> Array:
    """The lengths of vectors along the last axis."""
    return np.sqrt(dots(v, v))


def distance(a: ArrayLike, b: ArrayLike) -> float:
    """How far two points lie apart."""
    return norm(np.asarray(a, float) - np.asarray(b, float))


def unit(v: ArrayLike) -> Array:
    """A vector brought to length one."""
    a = np.asarray(v, float)
    return a / norm(a)


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """The vector product of two vectors (3,)."""
    ax, ay, az = np.asarray(a, float).tolist()
    bx, by, bz = np.asarray(b, float).tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def product(a: ArrayLike, b: ArrayLike) -> Array:
    """The product of a matrix (n, k) or vector (k,) with a matrix (k, m) or vector (k,), summed over k from the left."""
    A, B = np.asarray(a, float), np.asarray(b, float)
    if B.ndim == 1:
        if A.shape[0] <= 4:
            q = B.tolist()
            return np.array([total(map(operator.mul, row, q)) for row in A.tolist()])
        return dots(A, B)
    if A.shape[-1] != B.shape[0]:
        raise ValueError(f"cannot multiply shapes {A.shape} and {B.shape}")
    result: Array = A[..., 0, None] * B[0]
    for k in range(1, B.shape[0]):
        result = result + A[..., k, None] * B[k]
    return result


def turned(points: ArrayLike, R: ArrayLike) -> Array:
    """Points (..., d) turned by a matrix (d, d): ``R`` times every point."""
    return product(points, np.asarray(R, float).T)


def hypot(x: ArrayLike, y: ArrayLike) -> Array:
    """Lengths of the vectors (x, y), element by element."""
    a, b = np.asarray(x, float), np.asarray(y, float)
    result: Array = np.sqrt(a * a + b * b)
    return result


def _each(function: Callable[..., float], *arguments: ArrayLike) -> Any:
    """``function`` of the C library for every element; compiled where there are many."""
    arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in arguments))
    shape, size = arrays[0].shape, arrays[0].size
    if size > MANY:
        from etude.loops import LOOPS

        return LOOPS[function.__name__](*(np.ascontiguousarray(a).ravel() for a in arrays)).reshape(shape)
    values = np.fromiter(map(function, *(a.ravel().tolist() for a in arrays)), float, size)
    return values.reshape(shape) if shape else float(values[0])


@overload
def sin(x: float) -> float: ...
@overload
def sin(x: Array) -> Array: ...
def sin(x: Any) -> Any:
    """Sine of radians, element by element."""
    return _each(math.sin, x)


@overload
def cos(x: float) -> float: ...
@overload
def cos(x: Array) -> Array: ...
def cos(x: Any) -> Any:
    """Cosine of radians, element by element."""
    return _each(math.cos, x)


def arctan2(y: ArrayLike, x: ArrayLike) -> Array:
    """The angles of the vectors (x, y) in radians, element by element."""
    result: Array = _each(math.atan2, y, x)
    return result


def power(base: ArrayLike, exponent: float) -> Array:
    """``base`` (not negative) to the power ``exponent``, element by element."""
    result: Array = _each(math.pow, base, exponent)
    return result


def circle(angle: ArrayLike) -> Array:
    """Points (n, 2) on the unit circle at angles (n,) in radians."""
    a = np.asarray(angle, float)
    return np.column_stack([cos(a), sin(a)])
