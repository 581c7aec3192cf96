"""What comes with etude, by name: so that importing it can register every environment without loading a suite.

The index is ``suites/index.json``; ``python -m etude.suites.index`` writes it anew.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
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


def register_env(suite: str, task: str, control: str) -> None:
    """Tell Gymnasium about a task, once. Cheap: the environment's class is imported when one is made."""
    import gymnasium

    if env_id(suite, task) not in gymnasium.registry:
        entry = "etude.envs.decision_env:DecisionEnv" if control == "answer" else "etude.envs.env:EpisodeEnv"
        own = {"suite": suite, "task": task}
        gymnasium.register(env_id(suite, task), entry, vector_entry_point="etude.vector.env:of_task", kwargs=own, order_enforce=True)


def register_envs() -> None:
    """Tell Gymnasium about every task of the index."""
    for suite, entry in INDEX.items():
        for task, control in entry["tasks"].items():
            register_env(suite, task, control)
