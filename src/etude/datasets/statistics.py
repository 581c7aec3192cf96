"""Statistics of columns as LeRobot states them: exact, also those of pictures, which are counted in histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
NAMES = ("min", "max", "mean", "std", "count", *QUANTILES)
Stats = dict[str, list[Any]]


def of_numbers(values: NDArray[Any]) -> Stats:
    """Of a column (N,) or (N, D): lists of D numbers."""
    table = np.asarray(values, float).reshape(len(values), -1)
    found = {"min": table.min(0), "max": table.max(0), "mean": table.mean(0), "std": table.std(0)}
    between = dict(zip(QUANTILES, np.quantile(table, list(QUANTILES.values()), axis=0), strict=True))
    return {**{k: v.tolist() for k, v in found.items()}, "count": [len(table)], **{k: v.tolist() for k, v in between.items()}}


def of_pictures(histogram: NDArray[np.int64], frames: int) -> Stats:
    """Of pictures whose values occur as often as ``histogram`` (3, 256) says: numbers in [0, 1] of shape (3, 1, 1)."""
    levels = np.arange(256) / 255.0
    total = histogram.sum(1)
    mean = (histogram @ levels) / total
    spread = np.sqrt(np.maximum(0.0, (histogram @ levels**2) / total - mean**2))
    seen = [np.flatnonzero(channel) for channel in histogram]
    rising = np.cumsum(histogram, axis=1)
    found = {"min": [levels[s[0]] for s in seen], "max": [levels[s[-1]] for s in seen], "mean": mean, "std": spread}
    for name, share in QUANTILES.items():
        found[name] = [levels[int(np.searchsorted(up, share * up[-1]))] for up in rising]
    return {name: [[[float(v)]] for v in found[name]] if name != "count" else [frames] for name in NAMES}


def of_all(columns: Mapping[str, Sequence[NDArray[Any]]], histograms: Mapping[str, tuple[NDArray[np.int64], int]]) -> dict[str, Stats]:
    """Of a whole data set, from the columns of its episodes and the histograms of its pictures."""
    found = {name: of_pictures(counts, frames) for name, (counts, frames) in histograms.items()}
    return {**found, **{name: of_numbers(np.concatenate(parts)) for name, parts in columns.items()}}
