"""Sources that workers of a cluster import."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machines import DOOMED

from etude.learn.source import SampleSource
from etude.learn.stream import Source

HELD = 6  # the number of the demonstration at which a machine waits for the one that will be lost


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


@dataclass(frozen=True)
class Waiting(Source):
    """Demonstrations. None from the held one on is played before a machine that is doomed has begun one of them (``mark`` is then there),
    which it never ends."""

    mark: str = ""

    def packed(self, number: int) -> bytes:
        if number >= HELD:
            if DOOMED in os.environ:
                Path(self.mark).touch()
                threading.Event().wait()
            while not Path(self.mark).exists():
                time.sleep(0.05)
        return super().packed(number)
