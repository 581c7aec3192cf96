"""etude: compositional, language-conditioned robot manipulation, judged ability by ability.

An episode is a value; worlds, pixels, verdicts and demonstrations are functions of it. Importing this package is cheap: it loads neither
numpy nor Gymnasium, MuJoCo or numba. Gymnasium learns of the environments (``gymnasium.make("etude/SUITE.TASK-v1")``) as soon as it is
imported, before or after. What installed plug-ins bring is there too.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from etude.index import register_envs
from etude.names import PROTOCOL, EpisodeName, EtudeError
from etude.plugins import load, load_installed

if TYPE_CHECKING:
    from etude.api import compare, demos, evaluate, make, make_vec, rollout
    from etude.episodes import Episode
    from etude.evaluation.store import Run
    from etude.library import episode, tasks
    from etude.perturb.perturbation import perturbation
    from etude.policies.contract import Contract
    from etude.prompts.instruction import instruction
    from etude.scene.robots import Arm
    from etude.suites.suite import Draft, Draw, Suite

    def suites() -> dict[str, Suite]:
        """All suites by name."""


__version__ = "0.1.0"

# Where the other names are; each is loaded when it is first asked for.
_PLACES = {
    "Arm": "etude.scene.robots",
    "Contract": "etude.policies.contract",
    "Draft": "etude.suites.suite",
    "Draw": "etude.suites.suite",
    "Episode": "etude.episodes",
    "Run": "etude.evaluation.store",
    "Suite": "etude.suites.suite",
    "compare": "etude.api",
    "demos": "etude.api",
    "episode": "etude.library",
    "evaluate": "etude.api",
    "instruction": "etude.prompts.instruction",
    "make": "etude.api",
    "make_vec": "etude.api",
    "perturbation": "etude.perturb.perturbation",
    "rollout": "etude.api",
    "suites": "etude",
    "tasks": "etude.library",
}

__all__ = [
    "PROTOCOL", "Arm", "Contract", "Draft", "Draw", "Episode", "EpisodeName", "EtudeError", "Run", "Suite", "__version__", "compare",
    "demos", "episode", "evaluate", "instruction", "load", "make", "make_vec", "perturbation", "rollout", "suites", "tasks",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'etude' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


register_envs()
load_installed()
