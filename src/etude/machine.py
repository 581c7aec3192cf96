"""What this machine is and has: for result headers, benchmarks and the doctor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from pathlib import Path

CORE = ("numpy", "mujoco", "numba", "gymnasium", "msgpack", "networkx", "pillow", "rich", "typer", "websockets")


def versions(packages: tuple[str, ...] = CORE) -> dict[str, str]:
    """Installed versions of packages; those that are missing are left out."""
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def describe() -> dict[str, object]:
    """Processor, cores, memory, Python and package versions."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": _memory(),
        "python": platform.python_version(),
        "etude": importlib.metadata.version("etude"),
        "packages": versions(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def installed(module: str) -> bool:
    """Can this module be imported? (It is not imported to find out.)"""
    return importlib.util.find_spec(module) is not None
