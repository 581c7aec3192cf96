"""What comes with etude, by name: so that importing it can register every environment without loading a suite.

The index is ``suites/index.json``; ``python -m etude.suites.index`` writes it anew.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

INDEX: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "suites" / "index.json").read_text("utf-8"))
"""Suite → its ``module``, and the action space of each of its ``tasks``."""


PREFIX = "etude/"
"""Of all Gymnasium ids."""


def load_suite(name: str) -> None:
    """Import a suite of the index, which registers it; any other name is left alone."""
    if name in INDEX:
        importlib.import_module(INDEX[name]["module"])


def env_id(suite: str, task: str) -> str:
    """The Gymnasium id of a task."""
    return f"{PREFIX}{suite}.{task}-v1"


REGISTRATION = "gymnasium.envs.registration"
_waiting: list[tuple[str, str, str]] = []


def register_env(suite: str, task: str, control: str) -> None:
    """Tell Gymnasium about a task, once: now, or as soon as somebody imports it. The environment's class is imported when one is made."""
    _waiting.append((suite, task, control))
    if REGISTRATION in sys.modules:
        _tell_gymnasium()
    elif not any(isinstance(finder, _Registrar) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Registrar())


def register_envs() -> None:
    """Tell Gymnasium about every task of the index."""
    for suite, entry in INDEX.items():
        for task, control in entry["tasks"].items():
            register_env(suite, task, control)


def _tell_gymnasium() -> None:
    found: Any = sys.modules[REGISTRATION]
    for suite, task, control in _waiting:
        if env_id(suite, task) not in found.registry:
            entry = "etude.envs.decision_env:DecisionEnv" if control == "answer" else "etude.envs.env:EpisodeEnv"
            own = {"suite": suite, "task": task}
            found.register(env_id(suite, task), entry, vector_entry_point="etude.vector.env:of_task", kwargs=own, order_enforce=True)
    _waiting.clear()


class _Registrar:
    """Waits for the import of Gymnasium's registry: Gymnasium takes longer to load than most commands, and most do without it."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The registry as the other finders find it, with the tasks told to it when it has been executed."""
        if fullname != REGISTRATION:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(fullname)
        if found is None or found.loader is None:
            return found
        execute = found.loader.exec_module

        def executed_and_told(module: ModuleType) -> None:
            execute(module)
            _tell_gymnasium()

        found.loader.exec_module = executed_and_told  # type: ignore[method-assign]
        return found
