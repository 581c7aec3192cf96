"""Modules of somebody else that bring suites, tasks, perturbations and policies: importing them registers what they have."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from etude.names import EtudeError


def load_all(modules: Sequence[str]) -> None:
    """Import modules by name; those in the working directory are found too."""
    here = str(Path.cwd())
    if modules and here not in sys.path:
        sys.path.insert(0, here)
    for module in modules:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise EtudeError(f"the plug-in {module!r} cannot be loaded: there is no module {error.name!r} here") from None
