"""etude: compositional, language-conditioned robot manipulation, judged ability by ability.

An episode is a value; worlds, pixels, verdicts and demonstrations are functions of it. Importing this package is cheap: it loads
neither MuJoCo nor numba.
"""

from etude.names import PROTOCOL, EpisodeName, EtudeError

__version__ = "0.1.0"

__all__ = ["PROTOCOL", "EpisodeName", "EtudeError", "__version__"]
