"""Small matrices in compiled code, with one order of every sum: what numba's own ``@`` and ``np.linalg`` hand to BLAS and LAPACK."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from etude.arithmetic import Array


@njit(cache=True)
def times(A: Array, v: Array) -> Array:
    """A matrix (n, k) times a vector (k,)."""
    n, k = A.shape
    out = np.empty(n)
    for i in range(n):
        total = A[i, 0] * v[0]
        for j in range(1, k):
            total += A[i, j] * v[j]
        out[i] = total
    return out


@njit(cache=True)
def times3(A: Array, v: Array) -> Array:
    """A 3×3 matrix times a vector (3,)."""
    out = np.empty(3)
    for i in range(3):
        out[i] = A[i, 0] * v[0] + A[i, 1] * v[1] + A[i, 2] * v[2]
    return out


@njit(cache=True)
def matmul3(A: Array, B: Array) -> Array:
    """The product of two 3×3 matrices."""
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]
    return out


@njit(cache=True)
def solve_definite(A: Array, b: Array) -> Array:
    """The solution x (n,) of A x = b for a symmetric, positive definite matrix A (n, n), which is overwritten (Cholesky)."""
    n = len(b)
    x = np.empty(n)
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                A[i, i] = math.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
        total = b[i]
        for k in range(i):
            total -= A[i, k] * x[k]
        x[i] = total / A[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= A[k, i] * x[k]
        x[i] = total / A[i, i]
    return x


@njit(cache=True)
def _sines(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.sin(x[i])
    return out


@njit(cache=True)
def _cosines(x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.cos(x[i])
    return out


@njit(cache=True)
def _angles(y: Array, x: Array) -> Array:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.atan2(y[i], x[i])
    return out


@njit(cache=True)
def _powers(base: Array, exponent: Array) -> Array:
    out = np.empty_like(base)
    for i in range(len(base)):
        out[i] = math.pow(base[i], exponent[i])
    return out


LOOPS = {"sin": _sines, "cos": _cosines, "atan2": _angles, "pow": _powers}  # by the name in the C library
