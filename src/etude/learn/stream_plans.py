"""What saved streams hold: how the episodes of a file are played, and how they are read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from etude.learn.columns import Columns, columns_of
from etude.learn.demonstrating import demonstrated, in_other_words
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.samples import LOOKS, Demonstration, Look
from etude.learn.source import SampleSource
from etude.learn.stream import Source
from etude.names import EtudeError, Family, encode, unknown


class ColumnBuffer(Protocol):
    """Where demonstrations are put."""

    def append(self, columns: Columns, /) -> None:
        """Append many at once."""


@dataclass(frozen=True)
class StreamPlan(Family):
    """What a folder holds, or shall: the first so many ``episodes`` of a source, in files of so many each (``shard``)."""

    shard: ClassVar[int] = 64
    source: SampleSource
    episodes: int

    @property
    def shards(self) -> int:
        """How many files of each way of seeing there are when it is whole."""
        return -(-self.episodes // self.shard)

    @property
    def files(self) -> tuple[str, ...]:
        """The ways of seeing: what their files are called."""
        raise NotImplementedError

    def refuse_misfits(self) -> None:
        """Raise if there are episodes that cannot be learned from in these ways."""
        raise NotImplementedError

    def played(self, numbers: Iterable[int]) -> tuple[list[bytes], list[str]]:
        """The demonstrations of these episodes, as bytes for each file, and why there are none of some."""
        raise NotImplementedError

    def difference(self, source: SampleSource) -> str:
        """Why the demonstrations of a source are not here, in words; empty where they are."""
        raise NotImplementedError

    def file_of(self, source: Any) -> str:
        """In which of the files a source that is here finds its demonstrations."""
        raise NotImplementedError

    def put(self, data: memoryview, source: Any, buffer: Any, before: int, first: int, stride: int) -> int:
        """Put the demonstrations of a file into a buffer, and give their number. ``before`` so many were in the files before; of all of
        them every n-th (``stride``) counts, from the ``first`` on."""
        raise NotImplementedError


@dataclass(frozen=True)
class StrokePlan(StreamPlan, kind="strokes"):
    """Strokes, seen in some ways (``looks``), and told plainly and under perturbations of the instruction (``perturbs``)."""

    source: Source
    looks: tuple[Look, ...] = LOOKS
    perturbs: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        for look in self.looks:
            if look not in LOOKS:
                raise unknown("look", look, LOOKS)
        if not self.looks or not self.perturbs or self.episodes < 1:
            raise EtudeError("a saved stream has at least one episode, one look and one way to be told")

    @property
    def files(self) -> tuple[str, ...]:
        """One for each look."""
        return self.looks

    def names(self, number: int) -> list[str]:
        """What the k-th episode is called, in the order of ``perturbs``."""
        return [replace(self.source, perturb=perturb).name(number) for perturb in self.perturbs]

    def refuse_misfits(self) -> None:
        """Raise if there is a task that cannot be seen in these ways, or is another one in other words."""
        for look in self.looks:
            for perturb in self.perturbs:
                replace(self.source, look=look, perturb=perturb).refuse_misfits()
        in_other_words(self.names(0))

    def played(self, numbers: Iterable[int]) -> tuple[list[bytes], list[str]]:
        """Look by look; of every episode all ways in which it is told."""
        lots: list[list[Demonstration]] = [[] for _ in self.looks]
        reasons = []
        for number in numbers:
            try:
                found = demonstrated(self.names(number), self.looks, self.source.recovery, self.source.language)
            except EtudeError as error:
                reasons.append(str(error))
                continue
            for k in range(len(self.looks)):
                lots[k] += found[k * len(self.perturbs) : (k + 1) * len(self.perturbs)]
        return [in_a_row(vars(columns_of(lot)).values()) for lot in lots], reasons

    def difference(self, source: SampleSource) -> str:
        """In look, wording, or what is played."""
        if not isinstance(source, Source):
            return "they are strokes"
        if source.look not in self.looks:
            return f"they are seen as {' and '.join(self.looks)}, not as {source.look}"
        if source.perturb not in self.perturbs:
            return f"they are told {' and '.join(p or 'plainly' for p in self.perturbs)}, not {source.perturb or 'plainly'}"
        return differing(source, self.source, ("look", "perturb"))

    def file_of(self, source: Source) -> str:
        """Its look's."""
        return source.look

    def put(self, data: memoryview, source: Source, buffer: ColumnBuffer, before: int, first: int, stride: int) -> int:
        """Those that are told as the source has it."""
        found = Columns(*arrays_in(data))
        mine = found.episodes[self.perturbs.index(source.perturb) :: len(self.perturbs)]
        buffer.append(replace(found, episodes=mine[(first - before) % stride :: stride]))
        return len(mine)


def differing(wanted: SampleSource, there: SampleSource, but: Sequence[str]) -> str:
    """The first thing in which two sources differ, some things apart, in words; empty where there is none."""
    ours, theirs = encode(wanted), encode(there)
    keys = [key for key in ours | theirs if key not in but and ours.get(key) != theirs.get(key)]
    if not keys:
        return ""
    # What is as usual is not written.
    one, other = (data.get(keys[0], getattr(source, keys[0], None)) for data, source in ((theirs, there), (ours, wanted)))
    return f"data.source.{keys[0]} is {one!r}, not {other!r}"
