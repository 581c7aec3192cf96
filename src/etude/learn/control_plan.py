"""Closed-loop control on a disk: whole episodes, whose frames are kept as what changes from each to the next, without a loss.

What is played once with all cameras, and told in words and pictures, is also what a policy with fewer cameras learns from, or one that is
told in text alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from etude.learn.control import ControlDemonstration, ControlSource, demonstrated, prompt_arrays_of, told_of
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.source import SampleSource
from etude.learn.stream_plans import StreamPlan, differing
from etude.library import episode
from etude.machine import cores
from etude.names import EtudeError
from etude.policies.halves import Arrays

QUICK = 1  # level of compression: a look of two 128×128 cameras takes some 40 kB; the best level takes ten times the time
FRAMES = "frames"  # the way of seeing
PIXELS = ("pictures", "frames")  # of a demonstration; the rest is small
PLAIN = tuple(f.name for f in fields(ControlDemonstration) if f.name not in PIXELS)
WORDED = ("kinds", "words", "places", "rows")  # of a prompt, besides its pictures


class EpisodeBuffer(Protocol):
    """Where demonstrations are put."""

    def add(self, demonstrations: Sequence[ControlDemonstration], /) -> None:
        """Append them in their order."""


def squeezed(one: ControlDemonstration) -> list[NDArray[Any]]:
    """A demonstration as a few small arrays."""
    return [getattr(one, name) for name in PLAIN] + [part for name in PIXELS for part in _squeezed(getattr(one, name))]


def unsqueezed(arrays: Sequence[NDArray[Any]]) -> ControlDemonstration:
    """The demonstration that :func:`squeezed` was given."""
    plain, pixels = arrays[: len(PLAIN)], arrays[len(PLAIN) :]
    found: Arrays = {name: _unsqueezed(*pixels[2 * k : 2 * k + 2]) for k, name in enumerate(PIXELS)}
    return ControlDemonstration(**found, **dict(zip(PLAIN, plain, strict=True)))


def _squeezed(pictures: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    changes = pictures.copy()
    changes[1:] -= pictures[:-1]
    return np.array(pictures.shape), np.frombuffer(zlib.compress(changes.data, QUICK), np.uint8)


def _unsqueezed(shape: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    changes = np.frombuffer(bytearray(zlib.decompress(data.data)), np.uint8).reshape(shape)
    for before, here in pairwise(changes):
        here += before
    return changes


@dataclass(frozen=True)
class ControlPlan(StreamPlan, kind="control"):
    """Whole episodes of closed-loop control, seen by all cameras of the source, told in words and pictures and in text alone."""

    shard = 16
    source: ControlSource

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise EtudeError("a saved stream has at least one episode")
        if self.source.told != "multimodal":
            raise EtudeError("a saved stream of closed-loop control is told in words and pictures, and serves policies that read text too")

    @property
    def files(self) -> tuple[str, ...]:
        """One for all ways."""
        return (FRAMES,)

    def refuse_misfits(self) -> None:
        """Raise if a task cannot be seen or acted in like this."""
        self.source.refuse_misfits()

    def played(self, numbers: Iterable[int]) -> tuple[list[bytes], list[str]]:
        """Each squeezed as soon as it is played, with its prompt in text."""
        rows: list[NDArray[Any]] = []
        reasons = []
        for number in numbers:
            name = self.source.name(number)
            try:
                one = demonstrated(name, self.source)
                text = prompt_arrays_of(*told_of(episode(name), replace(self.source, told="text")), self.source.size, self.source.language)
            except EtudeError as error:
                reasons.append(str(error))
                continue
            if one is not None:
                row = in_a_row([*(text[key] for key in WORDED), *squeezed(one)])
                rows.append(np.frombuffer(row, np.uint8))
        return [in_a_row(rows)], reasons

    def difference(self, source: SampleSource) -> str:
        """In cameras, or in what is played."""
        if not isinstance(source, ControlSource):
            return "they are of closed-loop control"
        for camera in source.cameras:
            if camera not in self.source.cameras:
                return f"they are seen by {' and '.join(self.source.cameras)}, not by {camera}"
        return differing(source, self.source, ("cameras", "told"))

    def file_of(self, source: ControlSource) -> str:
        """The one there is."""
        return FRAMES

    def put(self, data: memoryview, source: ControlSource, buffer: EpisodeBuffer, before: int, first: int, stride: int) -> int:
        """Those of the file, as the source sees and hears them."""
        rows = arrays_in(data)
        views = [self.source.cameras.index(camera) for camera in source.cameras]

        def made(row: NDArray[np.uint8]) -> ControlDemonstration:
            arrays = arrays_in(row.data)
            one = unsqueezed(arrays[len(WORDED) :])
            if views != [*range(len(self.source.cameras))]:
                one = replace(one, frames=np.ascontiguousarray(one.frames[:, views]), spots=np.ascontiguousarray(one.spots[:, :, views]))
            if source.told == "multimodal":
                return one
            return replace(one, **dict(zip(WORDED, arrays, strict=False)), pictures=one.pictures[:0])

        with ThreadPoolExecutor(cores()) as team:  # what is inflated needs no interpreter
            buffer.add(list(team.map(made, rows[(first - before) % stride :: stride])))
        return len(rows)
