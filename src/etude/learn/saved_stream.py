"""Streams on a disk: what many trainings learn from is played once.

A saved stream is a folder: what it holds, in JSON, and a file for every few dozen episodes and way of seeing. Every file is whole when it
appears, so that trainings may begin while it grows, and playing may go on after it was stopped. What it gives is what the stream itself
would.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import zlib
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from etude.evaluation.ray_team import Lost, RaySettings, RayTeam
from etude.evaluation.standards import standards
from etude.evaluation.store import write_whole
from etude.evaluation.worker import one_thread
from etude.learn.control import ControlSource
from etude.learn.control_plan import ControlPlan
from etude.learn.guided_control import GuidedSource
from etude.learn.keyposes import KeyposeSource
from etude.learn.listed_plan import GuidedPlan, KeyposePlan, ListedPlan, QuestionPlan
from etude.learn.source import ListedSource, SampleSource
from etude.learn.stopping import stopped_by_term
from etude.learn.stream import PATIENCE, Source
from etude.learn.stream_plans import StreamPlan, StrokePlan
from etude.learn.subtasks import SubtaskSource
from etude.names import EtudeError, decode, encode, parse_json, pick
from etude.plugins import named

PLAN, FORMAT = "stream.json", "etude-stream-2"
PLANS: dict[str, type[StreamPlan]] = {one.json_kind: one for one in (StrokePlan, ControlPlan, KeyposePlan, QuestionPlan, GuidedPlan)}
LISTED: dict[type[SampleSource], type[ListedPlan]] = {KeyposeSource: KeyposePlan, SubtaskSource: QuestionPlan, GuidedSource: GuidedPlan}
_CHECK = 4  # bytes of a checksum, before a file's arrays


def _file(folder: Path, kind: str, shard: int) -> Path:
    return folder / f"{kind}-{shard:06d}.demos"


def read_plan(folder: Path) -> StreamPlan:
    """What a folder holds. The first ones had no kind: there were strokes alone."""
    try:
        data = parse_json((folder / PLAN).read_text())
    except OSError as error:
        raise EtudeError(f"{folder} holds no saved stream: {PLAN} cannot be read ({error.strerror or error})") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise EtudeError(f"{folder / PLAN} is not of a saved stream that this version of etude reads ({FORMAT})")
    kind = pick("kind of saved stream", str(data.get("kind", StrokePlan.json_kind)), PLANS)
    found: StreamPlan = decode(kind, {**data, "kind": kind.json_kind}, PLAN)
    return found


def plan_of(sources: Sequence[SampleSource], episodes: int) -> StreamPlan:
    """What has to be played for all of these: so many episodes, or all there are if these are fewer."""
    first = sources[0]
    if (kind := LISTED.get(type(first))) is not None:
        widest = max((one for one in sources if isinstance(one, ListedSource)), key=lambda one: one.count or 0)
        return kind(widest, min(episodes, widest.count or episodes))
    if isinstance(first, ControlSource):
        cameras = tuple(dict.fromkeys(camera for one in sources if isinstance(one, ControlSource) for camera in one.cameras))
        return ControlPlan(replace(first, cameras=cameras, told="multimodal"), episodes)
    if isinstance(first, Source):
        strokes = [one for one in sources if isinstance(one, Source)]
        looks, perturbs = (tuple(sorted({getattr(one, what) for one in strokes})) for what in ("look", "perturb"))
        return StrokePlan(replace(first, look=looks[0], perturb=""), episodes, looks=looks, perturbs=perturbs)
    raise EtudeError(f"what is learned from in {first.suite} like this is not saved: it is made faster than it is read")


# ------------------------------------------------------------------------------------------------ playing


def save_stream(
    plan: StreamPlan, folder: Path, workers: int | RaySettings, progress: Callable[[int, int], None] = lambda done, of: None
) -> int:
    """Play what is not in the folder yet, on so many processes or on a cluster; gives the number of episodes for which there is no
    demonstration. A file may have none at all, but not all of them."""
    plan.refuse_misfits()
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / PLAN).exists():
        there = read_plan(folder)
        if replace(there, episodes=plan.episodes) != plan:
            raise EtudeError(f"{folder} holds another stream; resume it with its own settings, or save into another folder")
    write_whole(folder / PLAN, json.dumps({"format": FORMAT, **encode(plan)}, indent=1) + "\n")
    due = [k for k in range(plan.shards) if not all(_file(folder, kind, k).exists() for kind in plan.files)]
    missing, done = 0, plan.shards - len(due)
    some, earlier = False, done > 0
    held: list[PlayedShard] = []  # not written before there is any demonstration: what is wrong may be mended, and they are played again
    progress(done, plan.shards)
    team = _played_here(plan, folder, due, workers) if isinstance(workers, int) else _played_there(plan, due, workers)
    with closing(team) as shards:
        for one in shards:
            missing, done = missing + len(one.reasons), done + 1
            some = some or not one.empty
            held += [one] if one.files else []
            over = done == plan.shards
            if not some and (missing >= PATIENCE or (over and not earlier)):
                raise EtudeError(f"none of {missing} episodes has a demonstration; the last: {one.reasons[-1]}")
            if some or over:
                for ready in held:
                    _write_shard(plan, folder, ready)
                held.clear()
            progress(done, plan.shards)
    return missing


@dataclass(frozen=True)
class PlayedShard:
    """The contents of a file in each way of seeing, none where they are written already; ``reasons`` why some of its ``episodes`` have no
    demonstration."""

    number: int
    episodes: int
    files: tuple[bytes, ...]
    reasons: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Has none of its episodes a demonstration?"""
        return len(self.reasons) == self.episodes


def _played_here(plan: StreamPlan, folder: Path, due: Sequence[int], workers: int) -> Generator[PlayedShard]:
    with stopped_by_term(), one_thread(), ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as team:
        try:
            for found in as_completed([team.submit(_play_shard, plan, folder, k) for k in due]):
                yield found.result()
        except BrokenProcessPool:
            raise EtudeError("a process that plays demonstrations ended; repeat the command to play what is missing") from None
        finally:
            team.shutdown(cancel_futures=True)


def _played_there(plan: StreamPlan, due: Sequence[int], cluster: RaySettings) -> Generator[PlayedShard]:
    """Nothing is written there: machines need not share a disk."""
    about = f"what plays {plan.source.suite}"
    with RayTeam(ShardPlayer, [encode(plan)], cluster, about, standards("raster"), named()) as team:
        for (shard,), found in team.work_off((k,) for k in due):
            if isinstance(found, Lost):
                raise EtudeError(f"file {shard} of the stream: {found.reason}; repeat the command to play what is missing")
            yield PlayedShard(**found)


class ShardPlayer:
    """What plays the episodes of a file, on a machine of a cluster."""

    def __init__(self, plan_data: object) -> None:
        self._plan: StreamPlan = decode(StreamPlan, plan_data, "plan")

    def hello(self) -> dict[str, Any]:
        """What has to be the same on all machines."""
        return dict(standards("raster"))

    def work(self, shard: int) -> dict[str, Any]:
        """What is to be written, and why some episodes have no demonstration."""
        return vars(_shard_of(self._plan, shard))


def _play_shard(plan: StreamPlan, folder: Path, shard: int) -> PlayedShard:
    """Play the episodes of a file, and write it, unless it is empty."""
    found = _shard_of(plan, shard)
    if found.empty:
        return found
    _write_shard(plan, folder, found)
    return replace(found, files=())


def _shard_of(plan: StreamPlan, shard: int) -> PlayedShard:
    os.nice(max(0, 10 - os.nice(0)))  # trainings that learn from it come first
    numbers = range(shard * plan.shard, min((shard + 1) * plan.shard, plan.episodes))
    found, reasons = plan.played(numbers)
    if len(reasons) >= PATIENCE:
        raise EtudeError(f"{len(reasons)} of {len(numbers)} episodes have no demonstration; the last: {reasons[-1]}")
    return PlayedShard(shard, len(numbers), tuple(found), tuple(reasons))


def _write_shard(plan: StreamPlan, folder: Path, shard: PlayedShard) -> None:
    for kind, data in zip(plan.files, shard.files, strict=True):
        path = _file(folder, kind, shard.number)
        part = path.with_suffix(".part")
        part.write_bytes(zlib.crc32(data).to_bytes(_CHECK, "big") + data)
        part.replace(path)


# ------------------------------------------------------------------------------------------------ reading


class SavedStream:
    """One of the streams that a folder stands in for, from its beginning, as far as it is there. Of several processes each takes every
    ``stride``-th demonstration. The next file is read and unpacked while the last one is learned from."""

    def __init__(self, folder: Path, source: SampleSource, first: int = 0, stride: int = 1) -> None:
        self._folder, self._plan = folder, read_plan(folder)
        if why := self._plan.difference(source):
            raise EtudeError(f"{folder} holds no demonstrations of this recipe: {why}")
        self._source, self._first, self._stride = source, first, stride
        self._shard = self._count = 0
        self._reader = ThreadPoolExecutor(1)
        self._coming: Future[_Unpacked] | None = None
        self.next = 0

    @property
    def ended(self) -> bool:
        """No more will come."""
        return self._shard >= self._plan.shards

    def fill(self, buffer: Any, timeout: float = 0.0) -> None:
        """Put the demonstrations of the next file into a buffer; waits so many seconds until they are there."""
        until = time.monotonic() + timeout
        while not self.ended and not self._begun():
            if time.monotonic() >= until:
                return
            time.sleep(min(0.05, timeout))
        if self._coming is None:
            return
        try:
            found = self._coming.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            return
        found.put(buffer)
        self._coming = None
        self._count += found.count
        self._shard += 1
        self.next = min(self._shard * self._plan.shard, self._plan.episodes)
        self._begun()

    def _begun(self) -> bool:
        """Is the next file being read? It is, if it is there."""
        if self._coming is None and not self.ended:
            path = _file(self._folder, self._plan.file_of(self._source), self._shard)
            if path.exists():
                self._coming = self._reader.submit(self._unpacked, path, self._count)
        return self._coming is not None

    def _unpacked(self, path: Path, before: int) -> _Unpacked:
        found = _Unpacked()
        found.count = self._plan.put(read_checked(path), self._source, found, before, self._first, self._stride)
        return found


class _Unpacked:
    """The demonstrations of a file, on their way into a buffer. ``count``: so many there are, of all processes."""

    def __init__(self) -> None:
        self.count = 0
        self._added: list[tuple[str, Any]] = []

    def add(self, demonstrations: Any) -> None:
        """What a buffer is to add."""
        self._added.append(("add", demonstrations))

    def append(self, columns: Any) -> None:
        """What a buffer is to append."""
        self._added.append(("append", columns))

    def put(self, buffer: Any) -> None:
        """Do so."""
        for how, what in self._added:
            getattr(buffer, how)(what)


def read_checked(path: Path) -> memoryview:
    """What was written into a file of a stream."""
    data = memoryview(path.read_bytes())
    if zlib.crc32(data[_CHECK:]) != int.from_bytes(data[:_CHECK], "big"):
        raise EtudeError(f"{path} is damaged; remove it, and 'etude stream' plays it again")
    return data[_CHECK:]
