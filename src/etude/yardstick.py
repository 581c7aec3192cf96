"""How fast one core of this machine is, by two fixed pieces of work: with it, what was measured on two machines can be compared."""

from __future__ import annotations

import time
from collections.abc import Callable

from etude.compiled import compiled

ROUNDS = 7
COMPILED, PYTHON = 10_000_000, 300_000  # turns of the loops below
COMPILED_OPERATIONS, PYTHON_OPERATIONS = 6, 5  # arithmetic operations of one turn


@compiled
def _compiled_work(turns: int) -> float:
    """Whole numbers and floats by turns, each of which needs the one before: no compiler can shorten it or do two turns at once."""
    whole, real = 1, 0.0
    for _ in range(turns):
        whole = (whole * 1103515245 + 12345) & 0x7FFFFFFF
        real = real * 0.5 + whole * 2.0**-31
    return real


def _python_work(turns: int) -> int:
    table, total = list(range(256)), 0
    for k in range(turns):
        total = (total * 31 + table[k & 255]) % 1000003
    return total


def yardstick() -> dict[str, float]:
    """Million operations for each second of CPU time, of compiled code and of Python's interpreter: the best of some rounds, because
    whatever else a machine does can only make it slower."""
    _compiled_work(1)
    return {
        "compiled_mops": _rate(_compiled_work, COMPILED, COMPILED_OPERATIONS),
        "python_mops": _rate(_python_work, PYTHON, PYTHON_OPERATIONS),
    }


def _rate(work: Callable[[int], object], turns: int, operations: int) -> float:
    best = 0.0
    for _ in range(ROUNDS):
        begun = time.process_time()
        work(turns)
        best = max(best, turns * operations / (time.process_time() - begun))
    return round(best / 1e6, 1)
