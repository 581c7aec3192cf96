"""What other packages bring: suites, tasks, perturbations, policies, shapes, robots, operators. To import a module is to register it.

Packages that are installed name their modules in the entry points ``etude.plugins``; they are loaded with etude. Others are named by
``--import module`` or :func:`load`. A run tells which of them it needs.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from etude.names import EtudeError

GROUP = "etude.plugins"
_log = logging.getLogger(__name__)
_named: list[str] = []


def load(module: str) -> ModuleType:
    """Import a plug-in module, which registers its contents; it may be in the working directory. Workers import it as well.

    >>> etude.load("my_lab.kitchen")
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except EtudeError as error:
        raise EtudeError(f"the plug-in {module!r} cannot be loaded: {error}") from None
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            advice = "install it, or put its folder on PYTHONPATH"
            raise EtudeError(f"the plug-in {module!r} cannot be loaded: there is no module {error.name!r} here; {advice}") from None
        raise EtudeError(f"the plug-in {module!r} cannot be loaded: it needs {error.name!r}, which is not installed") from None
    except (Exception, SystemExit) as error:
        raise EtudeError(f"the plug-in {module!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if module not in _named:
        _named.append(module)
    return found


def load_all(modules: Iterable[str]) -> None:
    """Import several."""
    for module in modules:
        load(module)


def load_installed() -> None:
    """Import what installed packages bring. One that cannot be loaded is told and left out: it must not take etude along."""
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            importlib.import_module(entry.module)
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            _log.warning("the plug-in %r of %s cannot be loaded: %s", entry.name, _distribution(entry), reason)


def require(plugins: Iterable[Mapping[str, str]]) -> None:
    """Have the plug-ins loaded that a run says it needs."""
    for one in plugins:
        try:
            load(one["module"])
        except EtudeError as error:
            advice = f"install {one['package']}" if one.get("package") else f"name where it lies, --import {one['module']}"
            raise EtudeError(f"the run was made with the plug-in {one['module']!r}, which is not here: {advice} ({error})") from None


def named() -> tuple[str, ...]:
    """The modules that were named to :func:`load`, for workers to import as well."""
    return tuple(_named)


def provenance(modules: Sequence[str]) -> list[dict[str, Any]]:
    """Which of these modules come from outside of etude, each with the package and version it belongs to, where it belongs to one."""
    found = []
    for module in dict.fromkeys(modules):
        if module.partition(".")[0] == "etude":
            continue
        names = importlib.metadata.packages_distributions().get(module.partition(".")[0], [])
        package = names[0] if names else ""
        found.append({"module": module, "package": package, "version": importlib.metadata.version(package) if package else ""})
    return found


def _distribution(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module
