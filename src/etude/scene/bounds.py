"""How large a scene may be. What comes from a file may say anything; beyond these bounds physics would hang, burst or eat the memory."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from etude.names import EtudeError
from etude.scene.events import Event
from etude.scene.scene import Scene

LARGEST = 1e4  # m, kg, N, … : the largest number in our own scenes is 90 (degrees)
MOST = 1000  # entities, particles, parts, …: the longest list in our own scenes has 50 drops of water


def refuse_extremes(scene: Scene, events: tuple[Event, ...] = ()) -> Scene:
    """The scene itself; one with a number or a list beyond all bounds, in it or in its events, is refused by the path of the first."""
    for what, value in (("scene", scene), ("events", events)):
        if (found := _extreme(value)) is not None:
            raise EtudeError(f"{what}{found}")
    return scene


@functools.cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _extreme(value: Any) -> str | None:
    """Where in a value the first extreme is, and what; None where there is none."""
    if isinstance(value, (int, float)):
        return None if abs(value) <= LARGEST else f" is {value:.4g}, where at most ±{LARGEST:g} can be meant"
    if isinstance(value, tuple):
        if len(value) > MOST:
            return f" has {len(value)} members, where at most {MOST} can be simulated"
        return next((f"[{k}]{found}" for k, member in enumerate(value) if (found := _extreme(member)) is not None), None)
    if value is None or isinstance(value, str):
        return None
    return next((f".{name}{found}" for name in _fields(value.__class__) if (found := _extreme(getattr(value, name))) is not None), None)
