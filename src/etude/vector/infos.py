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

Form = list[tuple[Any, ...]]
"""For every entry of an info its path of keys, and behind it its kind: a number's, those of a tuple of numbers, or what else it is."""


def taken_apart(info: Mapping[Any, Any]) -> tuple[Form, list[float], list[Any]]:
    """The form of an info, its numbers, and the rest."""
    form: Form = []
    numbers: list[float] = []
    others: list[Any] = []
    _take(info, (), form, numbers, others)
    return form, numbers, others


def _take(info: Mapping[Any, Any], path: tuple[Any, ...], form: Form, numbers: list[float], others: list[Any]) -> None:
    """Done for every world at every step: plain numbers first."""
    for key, value in info.items():
        kind = _KINDS.get(type(value))
        if kind is not None and len(numbers) < NUMBERS and (kind != "q" or -_EXACT <= value <= _EXACT):
            form.append((*path, key, kind))
            numbers.append(value)
        elif isinstance(value, dict):
            form.append((*path, key, _DICT))
            _take(value, (*path, key), form, numbers, others)
        elif type(value) is tuple and (kind := _numeric(value)) and len(numbers) + len(value) <= NUMBERS:
            form.append((*path, key, kind))
            numbers.extend(value)
        else:
            form.append((*path, key, _TUPLE if type(value) is tuple else _OTHER))
            others.append(value)


def _numeric(values: tuple[Any, ...]) -> str:
    """The kind of a tuple of numbers, "" where it holds anything else."""
    kinds = [_KINDS.get(type(value), _OTHER) for value in values]
    if not kinds or _OTHER in kinds or ("q" in kinds and any(not -_EXACT <= value <= _EXACT for value in values)):
        return ""
    return f"({''.join(kinds)})"


@dataclass(frozen=True)
class _Column:
    """One key of the batch's infos: in which worlds it is, and where the values of each are."""

    path: tuple[Any, ...]
    kind: str  # of all of them; "" where they differ
    members: tuple[tuple[int, str, int], ...]  # world, kind, place among its numbers or other values
    place: int  # of all of them; -1 where they differ, or some worlds have none
    mask: NDArray[np.bool_]


class BatchInfos:
    """Infos of all worlds; ``numbers`` (N, NUMBERS) is written by those who step them."""

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        self._numbers = numbers
        self._forms: list[Form] = [[] for _ in numbers]
        self._others: list[list[Any]] = [[] for _ in numbers]
        self._unchanged: dict[tuple[tuple[int, ...], tuple[Any, ...]], NDArray[Any]] = {}  # columns without numbers, as last told
        self._columns: dict[tuple[int, ...], list[_Column]] = {}

    def tell(self, world: int, form: Form, others: list[Any]) -> None:
        """What a world says beside numbers."""
        if form != self._forms[world]:
            self._columns.clear()
        self._forms[world], self._others[world] = form, others
        self._unchanged.clear()

    def of(self, world: int) -> dict[str, Any]:
        """The info of one world, as its environment gave it."""
        found: dict[Any, Any] = {}
        numbers, others = iter(self._numbers[world].tolist()), iter(self._others[world])
        for *path, key, kind in self._forms[world]:
            home = found
            for one in path:
                home = home[one]
            if kind == _DICT:
                home[key] = {}
            elif kind in (_OTHER, _TUPLE):
                value = next(others)
                home[key] = tuple(value) if kind == _TUPLE else value
            elif kind.startswith("("):
                home[key] = tuple(_TYPES[one](next(numbers)) for one in kind.strip("()"))
            else:
                home[key] = _TYPES[kind](next(numbers))
        return found

    def merged(self, worlds: Sequence[int]) -> dict[str, Any]:
        """The infos of these worlds: every key with one value for each world, and ``_key`` that says which worlds have it."""
        which = tuple(worlds)
        if which not in self._columns:
            self._columns[which] = _columns(self._forms, which)
        found: dict[Any, Any] = {}
        for column in self._columns[which]:
            home = found
            for key in column.path[:-1]:
                home = home[key]
            key = column.path[-1]
            if column.kind == _DICT:
                home[key] = {}
            elif column.kind in (_OTHER, _TUPLE):
                if (which, column.path) not in self._unchanged:
                    self._unchanged[which, column.path] = self._gathered(column)
                home[key] = self._unchanged[which, column.path].copy()
            else:
                home[key] = self._gathered(column) if column.place < 0 else self._sliced(column)
            home[f"_{key}"] = column.mask.copy()
        return found

    def _sliced(self, column: _Column) -> NDArray[Any]:
        """Numbers that all worlds have, in the same place: by far the most frequent, and at every step."""
        parts = [self._numbers[:, column.place + k].astype(_DTYPES[kind]) for k, kind in enumerate(column.kind.strip("()"))]
        if not column.kind.startswith("("):
            return parts[0]
        return np.fromiter(zip(*(part.tolist() for part in parts), strict=True), object, len(self._forms))

    def _gathered(self, column: _Column) -> NDArray[Any]:
        """World by world."""
        found: NDArray[Any] = np.full(len(self._forms), None, object)
        for world, kind, place in column.members:
            if kind in (_OTHER, _TUPLE):
                value = self._others[world][place]
                found[world] = tuple(value) if kind == _TUPLE else value
            else:
                kinds = kind.strip("()")
                numbers = self._numbers[world, place : place + len(kinds)].tolist()
                values = [_TYPES[one](number) for one, number in zip(kinds, numbers, strict=True)]
                found[world] = tuple(values) if kind.startswith("(") else values[0]
        if column.kind not in _DTYPES:
            return found
        filled = np.zeros(len(found), _DTYPES[column.kind])
        filled[column.mask] = found[column.mask]
        return filled


def _columns(forms: Sequence[Form], worlds: Sequence[int]) -> list[_Column]:
    """Keys in the order in which they first come, a dict before what is in it."""
    members: dict[tuple[Any, ...], list[tuple[int, str, int]]] = {}
    for world in worlds:
        numbers = others = 0
        for *keys, kind in forms[world]:
            row = members.setdefault(tuple(keys), [])
            if kind in (_OTHER, _TUPLE):
                row.append((world, kind, others))
                others += 1
            elif kind == _DICT:
                row.append((world, kind, 0))
            else:
                row.append((world, kind, numbers))
                numbers += len(kind.strip("()"))
    found = []
    for path, row in members.items():
        mask = np.zeros(len(forms), np.bool_)
        mask[[world for world, _, _ in row]] = True
        kinds, starts = {kind for _, kind, _ in row}, {place for _, _, place in row}
        place = starts.pop() if len(starts) == len(kinds) == 1 and mask.all() else -1
        found.append(_Column(path, kinds.pop() if len(kinds) == 1 else "", tuple(row), place, mask))
    return found
