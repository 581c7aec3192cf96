"""What single environments say in ``info``, brought together in Gymnasium's form for batches.

Numbers are most of it and change at every step; which of them there are, and the texts beside them, change when an episode begins. So the
former go through shared memory, and the latter are told when they change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS = 256  # of one world; what is more is told like text
_EXACT = 2**53  # whole numbers that a float holds
_KINDS = {bool: "?", int: "q", float: "d"}
_TYPES = {"?": bool, "q": int, "d": float}
_DTYPES: dict[str, Any] = {"?": np.bool_, "q": np.int64, "d": np.float64}
_OTHER, _TUPLE, _DICT = "o", "t", "{}"

Form = list[list[Any]]
"""For every entry of an info its path of keys and its kind: a number's, those of a tuple of numbers, or what else it is."""


def taken_apart(info: Mapping[Any, Any]) -> tuple[Form, list[float], list[Any]]:
    """The form of an info, its numbers, and the rest."""
    form: Form = []
    numbers: list[float] = []
    others: list[Any] = []
    _take(info, [], form, numbers, others)
    return form, numbers, others


def _take(info: Mapping[Any, Any], path: list[Any], form: Form, numbers: list[float], others: list[Any]) -> None:
    for key, value in info.items():
        here = [*path, key]
        if isinstance(value, dict):
            form.append([here, _DICT])
            _take(value, here, form, numbers, others)
            continue
        several = value if type(value) is tuple else (value,)
        kinds = "".join(_KINDS.get(type(one), _OTHER) for one in several)
        fits = kinds and _OTHER not in kinds and len(numbers) + len(several) <= NUMBERS
        if fits and all(-_EXACT <= one <= _EXACT for one in several if type(one) is int):
            form.append([here, f"({kinds})" if several is value else kinds])
            numbers.extend(several)
        else:
            form.append([here, _TUPLE if several is value else _OTHER])
            others.append(value)


@dataclass(frozen=True)
class _Column:
    """One key of the batch's infos: in which worlds it is, and where the values of each are."""

    path: tuple[Any, ...]
    kind: str  # of all of them; "" where they differ
    rows: NDArray[np.intp]
    members: tuple[tuple[int, str, int], ...]  # world, kind, place among its numbers or other values
    mask: NDArray[np.bool_]


class BatchInfos:
    """Infos of all worlds; ``numbers`` (N, NUMBERS) is written by those who step them."""

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        self._numbers = numbers
        self._forms: list[Form] = [[] for _ in numbers]
        self._others: list[list[Any]] = [[] for _ in numbers]
        self._columns: dict[tuple[int, ...], tuple[list[_Column], int]] = {}

    def tell(self, world: int, form: Form, others: list[Any]) -> None:
        """What a world says beside numbers."""
        if form != self._forms[world]:
            self._columns.clear()
        self._forms[world], self._others[world] = form, others

    def merged(self, worlds: Sequence[int]) -> dict[str, Any]:
        """The infos of these worlds: every key with one value for each world, and ``_key`` that says which worlds have it."""
        which = tuple(worlds)
        if which not in self._columns:
            self._columns[which] = _columns(self._forms, which)
        columns, used = self._columns[which]
        plain = self._numbers[:, :used].tolist()
        found: dict[Any, Any] = {}
        for column in columns:
            home = found
            for key in column.path[:-1]:
                home = home[key]
            key = column.path[-1]
            home[key] = {} if column.kind == _DICT else self._values(column, plain)
            home[f"_{key}"] = column.mask.copy()
        return found

    def _values(self, column: _Column, plain: list[list[float]]) -> NDArray[Any]:
        if column.kind in _DTYPES:
            numbers = np.zeros(len(plain), _DTYPES[column.kind])
            numbers[column.rows] = [plain[world][place] for world, _, place in column.members]
            return numbers
        found = np.full(len(plain), None, object)
        for world, kind, place in column.members:
            if kind in (_OTHER, _TUPLE):
                value = self._others[world][place]
                found[world] = tuple(value) if kind == _TUPLE else value
            else:
                values = [_TYPES[one](number) for one, number in zip(kind.strip("()"), plain[world][place:], strict=False)]
                found[world] = tuple(values) if kind.startswith("(") else values[0]
        return found


def _columns(forms: Sequence[Form], worlds: Sequence[int]) -> tuple[list[_Column], int]:
    """Keys in the order in which they first come, a dict before what is in it; and how many numbers a world has at most."""
    used = 0
    members: dict[tuple[Any, ...], list[tuple[int, str, int]]] = {}
    for world in worlds:
        numbers = others = 0
        for path, kind in forms[world]:
            row = members.setdefault(tuple(path), [])
            if kind in (_OTHER, _TUPLE):
                row.append((world, kind, others))
                others += 1
            elif kind == _DICT:
                row.append((world, kind, 0))
            else:
                row.append((world, kind, numbers))
                numbers += len(kind.strip("()"))
        used = max(used, numbers)
    found = []
    for path, row in members.items():
        mask = np.zeros(len(forms), np.bool_)
        mask[[world for world, _, _ in row]] = True
        kinds = {kind for _, kind, _ in row}
        found.append(_Column(path, kinds.pop() if len(kinds) == 1 else "", np.flatnonzero(mask), tuple(row), mask))
    return found, used
