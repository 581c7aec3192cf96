"""What a benchmark of speed gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One measured case. ``ratio`` is reference ÷ value where the reference does the same work, else None; where the reference is a commit,
    it is how many times as fast this source is."""

    case: str
    value: float
    unit: str
    reference: str | None = None
    reference_value: float | None = None
    ratio: float | None = None
