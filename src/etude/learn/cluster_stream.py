"""Demonstrations from a Ray cluster: the stream that this machine would play, played by the machines of the cluster."""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Mapping
from typing import Any

from etude.evaluation.local import LOOK
from etude.evaluation.ray_team import Lost, RaySettings, RayTeam
from etude.evaluation.standards import standards
from etude.learn.source import SampleSource
from etude.learn.stream import OrderedStream, sample_of
from etude.names import EtudeError, decode, encode
from etude.plugins import named


class SamplePlayer:
    """What plays episodes of a source, on a machine of the cluster."""

    def __init__(self, module: str, kind: str, data: Mapping[str, Any]) -> None:
        self._source: SampleSource = decode(getattr(importlib.import_module(module), kind), data, "source")

    def hello(self) -> dict[str, Any]:
        """What has to be the same on all machines."""
        os.nice(10)  # a trainer on the same machine comes first
        return dict(standards("raster"))

    def work(self, number: int) -> list[Any]:
        """What is learned of the k-th episode, as bytes, or why there is nothing."""
        return [*sample_of(self._source, number)]


class ClusterStream(OrderedStream):
    """A stream that is played by a cluster. Each worker has a few episodes to play, so that none waits while a training step is made; what
    is lost with a machine is played again by another, and nothing else is."""

    def __init__(self, source: SampleSource, cluster: RaySettings, first: int = 0, stride: int = 1) -> None:
        super().__init__(source, first, stride)
        self._queue: deque[tuple[int]] = deque()
        self._due = first  # the number that nobody was given yet
        made_of = (type(source).__module__, type(source).__name__, encode(source))
        about = f"what plays {source.suite}"
        self._team = RayTeam(SamplePlayer, made_of, cluster, about, standards("raster"), named(), ahead=source.ahead, parts=stride)

    @property
    def workers(self) -> int:
        """The processes that the cluster has room for."""
        return self._team.room

    def _arrived(self, timeout: float | None) -> list[tuple[int, Any, str]]:
        count, ahead = self.source.count, self.source.ahead * self._team.room * self._stride
        while self._due < self.next + ahead and (count is None or self._due < count):
            self._queue.append((self._due,))
            self._due += self._stride
        found: list[tuple[int, Any, str]] = []
        for (number,), answer in self._team.turn(self._queue, LOOK if timeout is None else timeout):
            if isinstance(answer, Lost):
                raise EtudeError(f"{self.source.name(number)} was not played: {answer.reason}")
            data, reason = answer
            found.append((number, self.source.unpacked(data) if data else None, reason))
        return found

    def close(self) -> None:
        """End all workers, and leave the cluster."""
        self._team.close()
