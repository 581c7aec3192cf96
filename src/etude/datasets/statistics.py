"""Statistics of columns as LeRobot states them: exact, also those of pictures, which are counted in histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
MOST = 1_000_000  # rows of a column that are kept for its quantiles
NAMES = ("min", "max", "mean", "std", "count", *QUANTILES)
Stats = dict[str, list[Any]]


def of_numbers(values: NDArray[Any]) -> Stats:
    """Of a column (N,) or (N, D): lists of D numbers."""
    tally = ColumnStatistics()
    tally.add(values)
    return tally.stats()


def of_pictures(histogram: NDArray[np.int64], frames: int) -> Stats:
    """Of pictures whose values occur as often as ``histogram`` (3, 256) says: numbers in [0, 1] of shape (3, 1, 1)."""
    levels = np.arange(256) / 255.0
    count = histogram.sum(1)
    mean = (histogram * levels).sum(1) / count
    spread = np.sqrt(np.maximum(0.0, (histogram * levels**2).sum(1) / count - mean**2))
    seen = [np.flatnonzero(channel) for channel in histogram]
    rising = np.cumsum(histogram, axis=1)
    found = {"min": [levels[s[0]] for s in seen], "max": [levels[s[-1]] for s in seen], "mean": mean, "std": spread}
    for name, share in QUANTILES.items():
        found[name] = [levels[int(np.searchsorted(up, share * up[-1]))] for up in rising]
    return {name: [[[float(v)]] for v in found[name]] if name != "count" else [frames] for name in NAMES}


class ColumnStatistics:
    """Statistics of a column that grows, in bounded memory: quantiles of very many rows are those of every second, fourth, … one."""

    def __init__(self) -> None:
        self._count, self._stride, self._kept = 0, 1, 0
        self._parts: list[NDArray[Any]] = []

    def add(self, values: NDArray[Any]) -> None:
        """Take in more rows (N,) or (N, D)."""
        table = np.asarray(values, float).reshape(len(values), -1)
        mean, squares = table.mean(0), ((table - table.mean(0)) ** 2).sum(0)
        if not self._count:
            self._low, self._high, self._mean, self._squares = table.min(0), table.max(0), mean, squares
        else:
            total, apart = self._count + len(table), mean - self._mean
            self._squares = self._squares + squares + apart**2 * (self._count * len(table) / total)
            self._mean = self._mean + apart * (len(table) / total)
            self._low, self._high = np.minimum(self._low, table.min(0)), np.maximum(self._high, table.max(0))
        first = -self._count % self._stride
        self._count += len(table)
        self._keep(np.asarray(values).reshape(len(values), -1)[first :: self._stride])

    def _keep(self, rows: NDArray[Any]) -> None:
        self._parts.append(rows)
        self._kept += len(rows)
        if self._kept > MOST:
            thinned = np.concatenate(self._parts)[::2].copy()
            self._parts, self._kept, self._stride = [thinned], len(thinned), 2 * self._stride

    def stats(self) -> Stats:
        """Of all rows so far."""
        rows = np.concatenate(self._parts).astype(float)
        found = {"min": self._low, "max": self._high, "mean": self._mean, "std": np.sqrt(self._squares / self._count)}
        between = np.quantile(rows, list(QUANTILES.values()), axis=0)
        quantiles = {name: row.tolist() for name, row in zip(QUANTILES, between, strict=True)}
        return {**{name: row.tolist() for name, row in found.items()}, "count": [self._count], **quantiles}
