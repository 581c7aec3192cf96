"""Streams on a disk: what many trainings learn from is played once.

A saved stream is a folder: what it holds, in JSON, and a file for every 64 episodes and way of seeing. Every file is whole when it appears,
so that trainings may begin while it grows, and playing may go on after it was stopped. What it gives is what the stream itself would.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from etude.evaluation.store import write_whole
from etude.evaluation.worker import one_thread
from etude.learn.columns import Columns, columns_of
from etude.learn.demonstrating import demonstrated, in_other_words
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.samples import LOOKS, Demonstration, Look
from etude.learn.stream import PATIENCE, Source
from etude.names import EtudeError, decode, encode, parse_json, unknown

PLAN, FORMAT = "stream.json", "etude-stream-1"
SHARD = 64  # episodes in a file
_CHECK = 4  # bytes of a checksum, before a file's arrays


@dataclass(frozen=True)
class StreamPlan:
    """What a folder holds, or shall: the first so many ``episodes`` of a source, seen in some ways (``looks``), and told plainly and under
    perturbations of the instruction (``perturbs``)."""

    source: Source
    episodes: int
    looks: tuple[Look, ...] = LOOKS
    perturbs: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        for look in self.looks:
            if look not in LOOKS:
                raise unknown("look", look, LOOKS)
        if not self.looks or not self.perturbs or self.episodes < 1:
            raise EtudeError("a saved stream has at least one episode, one look and one way to be told")

    @property
    def shards(self) -> int:
        """How many files of each look there are when it is whole."""
        return -(-self.episodes // SHARD)

    def names(self, number: int) -> list[str]:
        """What the k-th episode is called, in the order of ``perturbs``."""
        return [replace(self.source, perturb=perturb).name(number) for perturb in self.perturbs]

    def sources(self) -> list[Source]:
        """All streams that it stands in for."""
        return [replace(self.source, look=look, perturb=perturb) for look in self.looks for perturb in self.perturbs]


def _file(folder: Path, look: Look, shard: int) -> Path:
    return folder / f"{look}-{shard:06d}.demos"


def read_plan(folder: Path) -> StreamPlan:
    """What a folder holds."""
    try:
        data = parse_json((folder / PLAN).read_text())
    except OSError as error:
        raise EtudeError(f"{folder} holds no saved stream: {PLAN} cannot be read ({error.strerror or error})") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise EtudeError(f"{folder / PLAN} is not of a saved stream that this version of etude reads ({FORMAT})")
    found: StreamPlan = decode(StreamPlan, data, PLAN)
    return found


# ------------------------------------------------------------------------------------------------ playing


def save_stream(plan: StreamPlan, folder: Path, workers: int, progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Play what is not in the folder yet; gives the number of episodes for which there is no demonstration."""
    for source in plan.sources():
        source.refuse_misfits()
    in_other_words(plan.names(0))
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / PLAN).exists():
        there = read_plan(folder)
        if replace(there, episodes=plan.episodes) != plan:
            raise EtudeError(f"{folder} holds another stream; go on with its own settings, or save into another folder")
    write_whole(folder / PLAN, json.dumps({"format": FORMAT, **encode(plan)}, indent=1) + "\n")
    due = [k for k in range(plan.shards) if not all(_file(folder, look, k).exists() for look in plan.looks)]
    missing, done = 0, plan.shards - len(due)
    progress(done, plan.shards)
    with one_thread(), ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as team:
        try:
            for found in as_completed([team.submit(_play_shard, encode(plan), str(folder), k) for k in due]):
                missing += found.result()
                done += 1
                progress(done, plan.shards)
        except BrokenProcessPool:
            raise EtudeError("a process that plays demonstrations ended; the same command goes on with what is missing") from None
        finally:
            team.shutdown(cancel_futures=True)
    return missing


def _play_shard(plan_data: object, place: str, shard: int) -> int:
    """Play the episodes of a file, and write it."""
    plan: StreamPlan = decode(StreamPlan, plan_data, "plan")
    os.nice(max(0, 10 - os.nice(0)))  # trainings that learn from it come first
    lots: list[list[Demonstration]] = [[] for _ in plan.looks]
    reasons = []
    for number in range(shard * SHARD, min((shard + 1) * SHARD, plan.episodes)):
        try:
            found = demonstrated(plan.names(number), plan.looks, plan.source.recovery, plan.source.language)
        except EtudeError as error:
            reasons.append(str(error))
            continue
        for k in range(len(plan.looks)):
            lots[k] += found[k * len(plan.perturbs) : (k + 1) * len(plan.perturbs)]
    if len(reasons) >= PATIENCE:
        raise EtudeError(f"{len(reasons)} of {SHARD} episodes have no demonstration; the last: {reasons[-1]}")
    for look, lot in zip(plan.looks, lots, strict=True):
        data = in_a_row(vars(columns_of(lot)).values())
        path = _file(Path(place), look, shard)
        part = path.with_suffix(".part")
        part.write_bytes(zlib.crc32(data).to_bytes(_CHECK, "big") + data)
        part.replace(path)
    return len(reasons)


# ------------------------------------------------------------------------------------------------ reading


class ColumnBuffer(Protocol):
    """Where demonstrations are put."""

    def append(self, columns: Columns, /) -> None:
        """Append many at once."""


class SavedStream:
    """One of the streams that a folder stands in for, from its beginning, as far as it is there. Of several processes each takes every
    ``stride``-th demonstration."""

    def __init__(self, folder: Path, source: Source, first: int = 0, stride: int = 1) -> None:
        self._folder, self._plan = folder, read_plan(folder)
        if source not in self._plan.sources():
            raise EtudeError(f"{folder} holds no demonstrations of this recipe: {_difference(source, self._plan)}")
        self._source, self._variant = source, self._plan.perturbs.index(source.perturb)
        self._first, self._stride = first, stride
        self._shard = self._count = 0
        self.next = 0

    @property
    def ended(self) -> bool:
        """No more will come."""
        return self._shard >= self._plan.shards

    def fill(self, buffer: ColumnBuffer, timeout: float = 0.0) -> None:
        """Put the demonstrations of the next file into a buffer; waits so many seconds until it is there."""
        path = _file(self._folder, self._source.look, self._shard)
        until = time.monotonic() + timeout
        while not self.ended and not path.exists():
            if time.monotonic() >= until:
                return
            time.sleep(min(0.05, timeout))
        if self.ended:
            return
        found = read_columns(path)
        mine = found.episodes[self._variant :: len(self._plan.perturbs)]
        begin = (self._first - self._count) % self._stride
        self._count += len(mine)
        self._shard += 1
        self.next = min(self._shard * SHARD, self._plan.episodes)
        buffer.append(replace(found, episodes=mine[begin :: self._stride]))


def read_columns(path: Path) -> Columns:
    """The demonstrations of a file."""
    data = path.read_bytes()
    if zlib.crc32(memoryview(data)[_CHECK:]) != int.from_bytes(data[:_CHECK], "big"):
        raise EtudeError(f"{path} is damaged; remove it, and 'etude stream' plays it again")
    return Columns(*arrays_in(memoryview(data)[_CHECK:]))


def _difference(source: Source, plan: StreamPlan) -> str:
    if source.look not in plan.looks:
        return f"they are seen as {' and '.join(plan.looks)}, not as {source.look}"
    if source.perturb not in plan.perturbs:
        return f"they are told {' and '.join(p or 'plainly' for p in plan.perturbs)}, not {source.perturb or 'plainly'}"
    ours, theirs = encode(source), encode(plan.source)
    differing: Sequence[str] = [key for key in ours | theirs if key not in ("look", "perturb") and ours.get(key) != theirs.get(key)]
    return f"data.source.{differing[0]} is {theirs.get(differing[0])!r}, not {ours.get(differing[0])!r}"
