"""etude: compositional, language-conditioned robot manipulation, judged ability by ability.

An episode is a value; worlds, pixels, verdicts and demonstrations are functions of it. Importing this package is cheap: it registers the
Gymnasium environments (``gymnasium.make("etude/clevrskills.pick-v1")``) and loads neither MuJoCo nor numba.
"""

from __future__ import annotations

from etude.envs.tasks import register

# Loaded here so that the function below, and not the module of the same name, is what ``etude.episode`` means.
from etude.episodes import Episode
from etude.names import PROTOCOL, EpisodeName, EtudeError

__version__ = "0.1.0"

__all__ = ["PROTOCOL", "Episode", "EpisodeName", "EtudeError", "__version__", "episode"]


def episode(name: str) -> Episode:
    """The episode of this name, e.g. ``etude.episode("clevrskills/pick@train#7")``."""
    from etude.library import episode as find

    return find(name)


register()
