"""Keyposes, guided control and questions for planners on a disk: what is played once serves every training that learns from it, or from a
list whose episodes are among its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from etude.learn.control import ControlDemonstration
from etude.learn.control_plan import squeezed, unsqueezed
from etude.learn.guided_control import GuidedDemonstration, GuidedSource
from etude.learn.keyposes import KeyposeSource
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.source import ListedSource, SampleSource
from etude.learn.stream_plans import StreamPlan, differing
from etude.learn.subtasks import SubtaskSource
from etude.machine import cores
from etude.names import EtudeError

EPISODES = "episodes"  # the way of seeing
GUIDED = tuple(f.name for f in fields(GuidedDemonstration))[len(fields(ControlDemonstration)) :]  # what a guided demonstration has besides


class GrowingBuffer(Protocol):
    """Where samples are put."""

    def add(self, samples: Sequence[Any], /) -> None:
        """Append them in their order."""


@dataclass(frozen=True)
class ListedPlan(StreamPlan):
    """The samples of a source, one row of bytes each; an episode of which there is none has an empty row."""

    shard = 4
    kinds_of: ClassVar[str]  # what the samples are, in words
    source: ListedSource

    def __post_init__(self) -> None:
        there = self.source.count
        if self.episodes < 1 or (there is not None and self.episodes > there):
            raise EtudeError(f"a saved stream has from 1 to {there or 'any number of'} episodes of this source, got {self.episodes}")

    @property
    def files(self) -> tuple[str, ...]:
        """One."""
        return (EPISODES,)

    def refuse_misfits(self) -> None:
        """Raise if a task cannot be seen or acted in like this."""
        self.source.refuse_misfits()

    def played(self, numbers: Iterable[int]) -> tuple[list[bytes], list[str]]:
        """Each as it is packed."""
        rows, reasons = [], []
        for number in numbers:
            try:
                rows.append(self.packed(number))
            except EtudeError as error:
                reasons.append(str(error))
                rows.append(b"")
        return [in_a_row(np.frombuffer(row, np.uint8) for row in rows)], reasons

    def difference(self, source: SampleSource) -> str:
        """In what is seen, or in episodes that are not there."""
        if type(source) is not type(self.source):
            return f"they are {self.kinds_of}"
        assert isinstance(source, ListedSource)
        if why := differing(source, self.source, ("plan", "tasks")):
            return why
        wanted = dict.fromkeys(source.listed)
        if wanted and [name for name in self.source.names(self.episodes) if name in wanted] == [*wanted]:
            return ""
        return differing(source, self.source, ())

    def file_of(self, source: ListedSource) -> str:
        """The one there is."""
        return EPISODES

    def put(self, data: memoryview, source: ListedSource, buffer: GrowingBuffer, before: int, first: int, stride: int) -> int:
        """Those of the file that the source has."""
        rows = arrays_in(data)
        numbers = range(before, before + len(rows))
        places = {name: k for k, name in enumerate(source.listed)}
        here = (places.get(self.source.name(number)) for number in numbers) if places else numbers
        mine = [row for row, place in zip(rows, here, strict=True) if place is not None and place % stride == first and len(row)]
        with ThreadPoolExecutor(cores()) as team:  # what is inflated needs no interpreter
            buffer.add(list(team.map(self.unpacked, mine)))
        return len(rows)

    def packed(self, number: int) -> bytes:
        """The sample of the k-th episode as bytes."""
        return self.source.packed(number)

    def unpacked(self, row: NDArray[np.uint8]) -> Any:
        """The sample of these bytes."""
        return self.source.unpacked(row.data)


@dataclass(frozen=True)
class KeyposePlan(ListedPlan, kind="keyposes"):
    """Clouds before keyposes."""

    kinds_of = "keyposes"
    source: KeyposeSource


@dataclass(frozen=True)
class QuestionPlan(ListedPlan, kind="questions"):
    """Frames about which planners are asked."""

    kinds_of = "questions for planners"
    source: SubtaskSource


@dataclass(frozen=True)
class GuidedPlan(ListedPlan, kind="guided"):
    """Closed-loop control with sub-tasks, whose frames are kept as what changes from each to the next."""

    kinds_of = "of closed-loop control with sub-tasks"
    source: GuidedSource

    def packed(self, number: int) -> bytes:
        """The sample of the k-th episode as bytes; none where the hand was shaken too much."""
        one = self.source.sample(number)
        return b"" if one is None else in_a_row([*(getattr(one, name) for name in GUIDED), *squeezed(one)])

    def unpacked(self, row: NDArray[np.uint8]) -> GuidedDemonstration:
        """The sample of these bytes."""
        arrays = arrays_in(row.data)
        own = dict(zip(GUIDED, arrays, strict=False))
        return GuidedDemonstration(**vars(unsqueezed(arrays[len(GUIDED) :])), **own)
