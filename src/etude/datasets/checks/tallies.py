"""Statistics of columns, counted episode by episode, and compared with those that a dataset states."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from etude.datasets.checks.findings import shown
from etude.datasets.checks.info import Feature
from etude.datasets.statistics import QUANTILES

BASIC = ("min", "max", "mean", "std", "count")
WIDEST = 4096  # numbers in a frame beyond which nobody normalises by them
Numbers = NDArray[np.float64]


class ColumnBounds:
    """Of a column (N, D): exact, without keeping it. ``low`` and ``high`` bound each quantile as its estimates may differ.

    LeRobot reads quantiles of an episode off a histogram, and takes the mean of episodes for those of a dataset. So what it states of an
    episode is near the values next to the quantile, and what it states of all lies between the least and the greatest of the episodes; the
    exact ones do too.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        table = np.sort(np.asarray(values, np.float64), axis=0)
        last = len(table) - 1
        self.frames, self.rows = len(table), len(table)
        self.single = np.asarray(values).dtype == np.float32
        self.min, self.max = table[0], table[-1]
        self.mean = table.mean(0)
        self.squares = ((table - self.mean) ** 2).sum(0)
        self.low = {name: table[max(0, math.floor(share * last) - 1)] for name, share in QUANTILES.items()}
        self.high = {name: table[min(last, math.ceil(share * last) + 1)] for name, share in QUANTILES.items()}

    @classmethod
    def of(cls, values: NDArray[Any], width: int) -> Self:
        """Of a column (N, D) whose statistics are stated for the last ``width`` numbers only."""
        found = cls(values.reshape(-1, width))
        found.frames = len(values)
        return found

    @property
    def std(self) -> Numbers:
        """The standard deviation."""
        return np.asarray(np.sqrt(self.squares / self.rows))

    def __add__(self, other: ColumnBounds) -> ColumnBounds:
        """Of both columns together."""
        found = copy.copy(self)
        found.frames, found.rows = self.frames + other.frames, self.rows + other.rows
        apart = other.mean - self.mean
        found.squares = self.squares + other.squares + apart**2 * (self.rows * other.rows / found.rows)
        found.mean = self.mean + apart * (other.rows / found.rows)
        found.min, found.max = np.minimum(self.min, other.min), np.maximum(self.max, other.max)
        found.low = {name: np.minimum(value, other.low[name]) for name, value in self.low.items()}
        found.high = {name: np.maximum(value, other.high[name]) for name, value in self.high.items()}
        return found

    def bounds(self) -> Iterator[tuple[str, Numbers, Numbers]]:
        """Between which values each statistic has to be: what is rounded to 32 bits on the way is not wrong."""
        scale = np.maximum(np.abs(self.min), np.abs(self.max))
        for name, value, part in (("min", self.min, 1e-6), ("max", self.max, 1e-6), ("mean", self.mean, 1e-5)):
            yield name, value - part * scale - 1e-9, value + part * scale + 1e-9
        variance = self.squares / self.rows
        lost = (2e-6 if self.single else 1e-9) * scale**2 + 2e-3 * variance  # of squares that are subtracted from each other
        yield "std", np.sqrt(np.maximum(0.0, variance - lost)) - 1e-9, np.sqrt(variance + lost) + 1e-9
        slack = 1e-3 * (self.max - self.min) + 1e-6 * scale + 1e-9
        for name in QUANTILES:
            yield name, self.low[name] - slack, self.high[name] + slack


def stated_width(feature: Feature, stats: Any) -> int:
    """For how many numbers statistics are stated: of arrays, LeRobot states them for the last axis only."""
    least = _array(stats.get("min")) if isinstance(stats, dict) else None
    return feature.shape[-1] if least is not None and len(feature.shape) > 1 and least.size == feature.shape[-1] else feature.width


def judged(stats: Any, feature: Feature, tally: ColumnBounds, every: bool) -> Iterator[tuple[str, str]]:
    """Codes and texts of what is wrong with the statistics of a column. ``every``: quantiles must be there too."""
    if not isinstance(stats, dict):
        yield "stats-missing", f"there are none of {feature.name!r}"
        return
    for name in BASIC if not every else (*BASIC, *QUANTILES):
        if name not in stats:
            yield "stats-missing", f"there is no {name} of {feature.name!r}"
    if "count" in stats:
        yield from _judged_count(stats["count"], feature, tally.frames)
    faults = []
    for name, low, high in tally.bounds():
        if name not in stats:
            continue
        value = _array(stats[name])
        if value is None or value.size != low.size:
            yield "stats-invalid", f"{name} of {feature.name!r} is {shown(stats[name])}, not {low.size} numbers"
            continue
        flat = value.ravel()
        wrong = np.flatnonzero(~((flat >= low) & (flat <= high)))
        if wrong.size:
            k = int(wrong[0])
            part = f"{feature.name}[{k}]" if low.size > 1 else feature.name
            faults.append((name, f"{name} of {part} is {flat[k]:.6g}, but the data give {_expected(tally, name, k)}"))
    if faults:
        others = f" (and {', '.join(name for name, _ in faults[1:])})" if len(faults) > 1 else ""
        yield "stats-wrong", faults[0][1] + others


def _expected(tally: ColumnBounds, name: str, k: int) -> str:
    if name in QUANTILES:
        return f"{tally.low[name][k]:.6g} to {tally.high[name][k]:.6g}"
    return f"{getattr(tally, name)[k]:.6g}"


def _judged_count(count: Any, feature: Feature, frames: int) -> Iterator[tuple[str, str]]:
    value = _array(count)
    if value is None or value.shape != (1,):
        yield "stats-invalid", f"count of {feature.name!r} is {shown(count)}, not a list of one number"
    elif value[0] != frames:
        yield "stats-wrong", f"count of {feature.name} is {value[0]:g}, but there are {frames} frames"


def judged_picture(stats: Any, feature: Feature, every: bool) -> Iterator[tuple[str, str]]:
    """The same of pictures, of which only a sample may have been looked at: is it possible at all?"""
    if not isinstance(stats, dict):
        yield "stats-missing", f"there are none of {feature.name!r}"
        return
    found: dict[str, Numbers] = {}
    for name in (*BASIC, *QUANTILES):
        if name not in stats:
            if every or name in BASIC:
                yield "stats-missing", f"there is no {name} of {feature.name!r}"
            continue
        value = _array(stats[name])
        shape = (1,) if name == "count" else (feature.channels, 1, 1)
        if value is None or value.shape != shape:
            yield "stats-invalid", f"{name} of {feature.name!r} is {shown(stats[name])}, not of shape {shape}"
        elif name == "count":
            if value[0] < 1:
                yield "stats-picture", f"count of {feature.name} is {value[0]:g}"
        else:
            found[name] = value
    for name, value in found.items():
        top = math.inf if feature.depth else 1.0
        if not ((value >= -1e-6) & (value <= top + 1e-6)).all():
            yield "stats-picture", f"{name} of {feature.name} is {shown(value.ravel().tolist())}, not in [0, 1]"
    if {"min", "mean", "max"} <= found.keys() and not ((found["min"] <= found["mean"]) & (found["mean"] <= found["max"])).all():
        yield "stats-picture", f"mean of {feature.name} is not between min and max"


def _array(value: Any) -> Numbers | None:
    """A value as an array of finite numbers, if it is one."""
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None
    return found if np.isfinite(found).all() else None
