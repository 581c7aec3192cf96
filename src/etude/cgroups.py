"""What Linux control groups allow a process: how containers and batch systems bound cores and memory (both versions, 1 and 2)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Resource:
    """One kind of limit: its controller's name, and how a group's folder is read in version 1 and in version 2."""

    controller: str
    first: Callable[[Path], float]
    second: Callable[[Path], float]


def _quota(quota: str, period: str) -> float:
    return math.inf if quota in ("max", "-1") else int(quota) / int(period)


CPU = Resource(
    "cpu",
    lambda group: _quota(_text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")),
    lambda group: _quota(*_text(group / "cpu.max").split()),
)
"""In cores."""
MEMORY = Resource(
    "memory",
    lambda group: int(_text(group / "memory.limit_in_bytes")),
    lambda group: math.inf if (most := _text(group / "memory.max")) == "max" else int(most),
)
"""In bytes."""


def limit(resource: Resource, root: Path = Path("/")) -> float:
    """The least that the groups around this process allow; infinite where nothing is bounded, or where there are no control groups.

    ``root`` holds ``proc`` and whatever the mounts in it name.
    """
    found = math.inf
    for group, read in _groups(resource, root):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):  # a group without this limit has no such file
            found = min(found, read(group))
    return found


def _groups(resource: Resource, root: Path) -> Iterator[tuple[Path, Callable[[Path], float]]]:
    """The folders of the groups that hold this process, from its own to the outermost that can be seen, and how each is read."""
    try:
        memberships = _text(root / "proc/self/cgroup").splitlines()
        mounts = _text(root / "proc/self/mountinfo").splitlines()
    except OSError:
        return
    for membership in memberships:
        _, controllers, path = membership.split(":", 2)
        if controllers and resource.controller not in controllers.split(","):
            continue
        for mount in mounts:
            where, _, what = mount.partition(" - ")
            kind, _, options = what.split(" ", 2)
            fits = kind == "cgroup" and resource.controller in options.split(",") if controllers else kind == "cgroup2"
            if fits:
                top, point = where.split(" ")[3:5]
                read = resource.first if controllers else resource.second
                yield from ((group, read) for group in _upwards(root / point.lstrip("/"), path, top))


def _upwards(point: Path, path: str, top: str) -> Iterator[Path]:
    """From a group to the one that is mounted at ``point``. In a container ``top`` is the container's own, and so is ``path``."""
    inner = path.removeprefix(top.rstrip("/")) if path.startswith(top) else ""
    group = point / inner.lstrip("/")
    while group != point:
        yield group
        group = group.parent
    yield point


def _text(path: Path) -> str:
    return path.read_text(encoding="ascii").strip()
