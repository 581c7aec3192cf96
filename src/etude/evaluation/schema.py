"""Records live longer than code: what an earlier release did not write takes its default, and what a later one adds is kept.

A dataclass that lives so has a field ``extra``: what was read and is not known here, written back as it was.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Any, TypeVar

from etude.names import EtudeError, decode, unsaid

SCHEMA = 2
"""Of ``plan.json``, ``run.json`` and the lines of ``episodes.jsonl``; 1 had none of its own in lines."""

T = TypeVar("T")


def newer(data: dict[str, Any], where: str) -> dict[str, Any]:
    """``data`` without its schema, unless that is a later one than this: then it stays, to be written back."""
    schema = data.pop("schema", 1)
    if not isinstance(schema, int) or schema < 1:
        raise EtudeError(f"{where}.schema: expected a number from 1, got {schema!r:.40}")
    return {**data, "schema": schema} if schema > SCHEMA else data


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def read(kind: type[T], data: Any, where: str) -> T:
    """A living dataclass from plain data. A field that has no default must be there."""
    if not isinstance(data, dict):
        raise EtudeError(f"{where}: expected an object, got {data!r:.40}")
    make: Any = kind
    known = {f.name: f for f in dataclasses.fields(make) if f.name != "extra"}
    hints = _hints(make)
    given: dict[str, Any] = {}
    for name, field in known.items():
        if name in data:
            given[name] = _value(hints[name], data[name], f"{where}.{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise EtudeError(f"{where}: the field {name!r} is missing")
    found: T = make(**given, extra={name: value for name, value in data.items() if name not in known})
    return found


def _value(hint: Any, data: Any, where: str) -> Any:
    part = next(iter(typing.get_args(hint)), None)
    if isinstance(part, type) and dataclasses.is_dataclass(part) and isinstance(data, list):
        return tuple(read(part, item, f"{where}[{k}]") for k, item in enumerate(data))
    return decode(hint, data, where)


def written(value: Any) -> Any:
    """A living dataclass as plain data, with what was kept."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {f.name: written(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "extra" and not unsaid(f, value)}
        return {**own, **value.extra}  # type: ignore[attr-defined]
    return [written(item) for item in value] if isinstance(value, tuple) else value
