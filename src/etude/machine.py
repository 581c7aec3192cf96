"""What this machine is and has: for result headers, benchmarks and the doctor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import os
import platform
import shlex
import sys
from pathlib import Path

from etude.cgroups import CPU, MEMORY, limit

CORE = ("numpy", "mujoco-core", "numba", "gymnasium", "msgpack", "pillow", "rich", "typer", "websockets")

FRAMEWORKS = ("torch", "jax", "tensorflow", "transformers", "onnxruntime")  # what policies compute with, where they are installed


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
    """Processor, Python and package versions; cores and memory as far as this process may use them."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": cores(),
        "memory_gib": memory(),
        "python": platform.python_version(),
        "etude": importlib.metadata.version("etude"),
        "packages": versions(CORE + FRAMEWORKS),
    }


def command() -> str:
    """What this process was started with, as it is typed: ``etude evaluate …``, or ``python my_program.py …`` of one's own."""
    program, *arguments = sys.argv
    path = Path(program)
    ours = path.stem == "etude" or (path.parent.name, path.name) == ("etude", "__main__.py")
    return shlex.join([*(["etude"] if ours else ["python", *([program] if program else [])]), *arguments])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def cores() -> int:
    """The cores that this process may use: its affinity, and no more than the quota of its control groups (a container's) pays for."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.floor(min(allowed, limit(CPU))))


def memory() -> float | None:
    """Memory that this process may use, GiB: the machine's, or less where a control group allows less; None where that is not known."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
    return round(min(whole, limit(MEMORY)) / 2**30, 3)


def installed(module: str) -> bool:
    """Can this module be imported? (It is not imported to find out.)"""
    return importlib.util.find_spec(module) is not None
