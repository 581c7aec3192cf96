"""Sources that workers of a cluster import: samples are the numbers themselves."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machines import DOOMED

from etude.learn.source import SampleSource


@dataclass(frozen=True)
class Numbers(SampleSource):
    """Samples are the numbers themselves. A machine that is doomed begins its first (``mark`` is then there), and never ends it."""

    mark: str = ""

    @property
    def room(self) -> int:
        return 8

    def packed(self, number: int) -> bytes:
        if DOOMED in os.environ:
            Path(self.mark).touch()
            threading.Event().wait()
        return number.to_bytes(8, "big")

    def unpacked(self, data: Any) -> int:
        return int.from_bytes(data, "big")


@dataclass(frozen=True)
class Ending(Numbers):
    """The fifth ends the process that plays it."""

    def packed(self, number: int) -> bytes:
        if number == 4:
            os._exit(3)
        return super().packed(number)


@dataclass(frozen=True)
class Three(Numbers):
    """A source with an end."""

    @property
    def count(self) -> int:
        return 3
