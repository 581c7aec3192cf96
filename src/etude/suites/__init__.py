"""The suites. ``etude.suites()`` gives them all by name; five come with etude, others with plug-ins, and none is special.

``index.json`` names the tasks of those that come with etude, so that importing etude can register their environments without loading one.
Renew it with ``python -m etude.suites.index``.
"""

from __future__ import annotations

import json
import sys
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from etude.suites.suite import Suite

INDEX: dict[str, dict[str, Any]] = json.loads(resources.files(__name__).joinpath("index.json").read_text("utf-8"))
"""Suite → its ``module``, and the action space of each of its ``tasks``."""


def env_id(suite: str, task: str) -> str:
    """The Gymnasium id of a task."""
    return f"etude/{suite}.{task}-v1"


def register_env(suite: str, task: str, control: str) -> None:
    """Tell Gymnasium about a task, once. Cheap: the environment's class is imported when one is made."""
    import gymnasium

    if env_id(suite, task) not in gymnasium.registry:
        entry = "etude.envs.decision_env:DecisionEnv" if control == "answer" else "etude.envs.env:EpisodeEnv"
        gymnasium.register(id=env_id(suite, task), entry_point=entry, kwargs={"suite": suite, "task": task}, order_enforce=True)


def register_envs() -> None:
    """Tell Gymnasium about every task that comes with etude."""
    for suite, entry in INDEX.items():
        for task, control in entry["tasks"].items():
            register_env(suite, task, control)


class _Suites(ModuleType):
    def __call__(self) -> dict[str, Suite]:
        from etude.suites.suite import SUITES

        return dict(SUITES)


sys.modules[__name__].__class__ = _Suites  # ``etude.suites`` is this package, and the function that lists what is in it
