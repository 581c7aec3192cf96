"""How much is measured: all of it, or a short form; every case, or some. Kept in the environment, where processes of a bench find it.
And a stopwatch at a part of what is measured."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

_QUICK, _CASES, _BETWEEN = "ETUDE_BENCH_QUICK", "ETUDE_BENCH_CASES", "\n"


def restrict(quick: bool, cases: Sequence[str]) -> None:
    """From now on measure the short form if ``quick``, and of all cases only those whose names hold one of these texts."""
    os.environ[_QUICK], os.environ[_CASES] = "1" if quick else "", _BETWEEN.join(cases)


def extent(full: int, quick: int) -> int:
    """How many rounds, steps or episodes to measure."""
    return quick if os.environ.get(_QUICK) else full


def wanted(case: str) -> bool:
    """Is this case to be measured? Long benches ask before they begin one."""
    texts = os.environ.get(_CASES, "")
    return not texts or any(text in case for text in texts.split(_BETWEEN))


@contextlib.contextmanager
def stopwatch(owner: Any, name: str, spent: list[float] | None = None) -> Iterator[list[float]]:
    """Seconds of CPU time in ``owner.name``, added up in the only number of a list."""
    real, total = getattr(owner, name), [0.0] if spent is None else spent

    def timed(*arguments: Any, **named: Any) -> Any:
        begun = time.process_time()
        try:
            return real(*arguments, **named)
        finally:
            total[0] += time.process_time() - begun

    setattr(owner, name, timed)
    try:
        yield total
    finally:
        setattr(owner, name, real)
