"""The suites: ``etude.suites()`` returns them all by name. Some come with etude, others with plug-ins; all are written alike."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from etude.suites.suite import Suite


class _Suites(ModuleType):
    """The suites.

    >>> [suite.title for suite in etude.suites().values()]
    """

    def __call__(self) -> dict[str, Suite]:
        """All of them by name."""
        from etude.suites.suite import SUITES

        return dict(SUITES)


sys.modules[__name__].__class__ = _Suites  # ``etude.suites`` is this package, and the function that lists what is in it
