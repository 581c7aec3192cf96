"""What policies and planners of one's own are made of: the digest of their source, and the state of the repository it lies in."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from etude.policies.policy import DescribedPolicy
from etude.policies.register import PLANNERS, POLICIES

if TYPE_CHECKING:
    from etude.evaluation.play import Players

GIT = 60.0  # seconds for an answer about a large repository
INSTALLED = ("site-packages", "dist-packages")


def code_of(players: Players, folder: Path) -> dict[str, Any]:
    """For policy and planner: their module, the digest of its source, commit and changes of its repository, if it is in one.

    None for what comes with etude, whose version says it, and for a server, whose code is elsewhere. What a policy says ``about`` itself
    (its weights, what computes them) is told too. ``folder`` is the run's: what is written there is no change of code.
    """
    return {
        "policy": _code(players.policy, players.address, folder),
        "planner": _code(players.planner, players.planner_address, folder) if players.planner is not None else None,
    }


def _code(found: object, text: str, folder: Path) -> dict[str, str] | None:
    if text.startswith("takeover:"):
        text = text.split(":", 2)[2]
    text = text.removeprefix("blind:")
    named = text.partition(":")[0]
    registered = named in POLICIES or named in PLANNERS
    names = [type(found).__module__] if registered else [named, type(found).__module__]
    modules = [m for name in names if (m := sys.modules.get(name)) is not None and _file(m) and not _etude(name)]
    about = dict(found.about) if isinstance(found, DescribedPolicy) else {}
    if not modules:
        return about or None
    return {"module": modules[0].__name__, "source": _source(modules), **_repository(_file(modules[0]), folder), **about}


def _etude(name: str) -> bool:
    return name.partition(".")[0] == "etude"


def _file(module: ModuleType) -> str:
    """Where it lies; empty for one that was typed or piped in."""
    file = getattr(module, "__file__", None) or ""
    return file if Path(file).is_file() else ""


def _source(modules: list[ModuleType]) -> str:
    """Of the modules and of those that were loaded with them from the same place: what a policy imports is part of it."""
    files = {Path(_file(m)) for m in modules}
    for module in modules:
        depth = module.__name__.count(".") + (Path(_file(module)).name == "__init__.py")
        place = Path(_file(module)).parents[max(0, depth - 1)]
        for name, other in list(sys.modules.items()):
            path = Path(_file(other))
            if name in ("__main__", "__mp_main__") or _etude(name) or not path.is_relative_to(place):
                continue
            if path.is_file() and not set(path.relative_to(place).parts) & {*INSTALLED}:
                files.add(path)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def _repository(file: str, folder: Path) -> dict[str, str]:
    """The commit, and a digest of what was changed since (empty when nothing was); nothing outside of a repository, or without git."""
    here = Path(file).parent
    top, commit = _git(here, "rev-parse", "--show-toplevel"), _git(here, "rev-parse", "HEAD")
    if top is None or commit is None or _git(here, "check-ignore", "-q", file) is not None:
        return {}
    root = Path(os.fsdecode(top.strip()))
    every = [".", f":(exclude){folder.relative_to(root).as_posix()}"] if folder.is_relative_to(root) and folder != root else ["."]
    changed = _git(root, "diff", "HEAD", "--binary", "--no-ext-diff", "--no-textconv", "--", *every) or b""
    new = (_git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", "*.py") or b"").split(b"\0")
    contents = b"".join(name + b"\0" + (root / os.fsdecode(name)).read_bytes() for name in sorted(new) if name)
    return {"commit": commit.decode().strip(), "changes": hashlib.sha256(changed + contents).hexdigest()[:16] if changed + contents else ""}


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git says; None when it says no."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=GIT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
