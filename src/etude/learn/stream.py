"""Demonstrations without end: training episodes played by the oracle on all cores, fed through shared memory.

Which episode comes k-th depends on the seed alone, and so does the order in which they arrive, however many processes play them. No episode
comes twice, and none of a split that is for testing.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.shared_memory import SharedMemory
from types import TracebackType
from typing import Any, Protocol, Self

from etude.evaluation.worker import one_thread
from etude.learn.demonstrating import TRAINING, Recovery, demonstrate
from etude.learn.packing import packed, unpacked
from etude.learn.samples import LOOKS, Demonstration, Look
from etude.library import tasks
from etude.names import EtudeError, decode, encode, rng, unknown

AHEAD = 8  # demonstrations that a process may have ready before it waits
ROOM = {"objects": 1 << 20, "patches": 8 << 20}  # bytes for one of them
_MESSAGE = struct.Struct("!qqq")  # number, place in the shared memory, bytes; bytes −1: there is none, and why follows
PATIENCE = 20  # episodes without a demonstration, before they are taken for more than bad luck
HELD_OUT = 1 << 20  # the seed of a stream that nobody trains on
SEEDS = 1 << 31  # every seed of a stream has so many numbers for episodes of its own


@dataclass(frozen=True)
class Source:
    """Which demonstrations: of a suite's training split, of some tasks or all that have it, each as often as the others.

    ``weights`` makes tasks more frequent: (("twist", 2.0), …). ``perturb``: perturbations of all of them, e.g. "paraphrase".
    """

    suite: str
    tasks: tuple[str, ...] = ()
    split: str = "train"
    seed: int = 0
    look: Look = "objects"
    recovery: Recovery = Recovery()
    weights: tuple[tuple[str, float], ...] = ()
    perturb: str = ""

    def __post_init__(self) -> None:
        if self.split not in TRAINING:
            raise EtudeError(f"a stream takes the training split alone, {TRAINING[0]!r}; {self.split!r} is for testing")
        if self.look not in LOOKS:
            raise unknown("look", self.look, LOOKS)
        if not 0 <= self.seed <= HELD_OUT:
            raise EtudeError(f"a stream's seed is a whole number from 0 to {HELD_OUT - 1}, got {self.seed}")
        chosen = self.chosen()
        for task, weight in self.weights:
            if task not in chosen:
                raise unknown("task with a weight", task, chosen)
            if not weight > 0:
                raise EtudeError(f"the weight of {task} must be positive, got {weight:g}")

    def held_out(self) -> Source:
        """Episodes of the same tasks that no stream for training has, played without a flaw."""
        return replace(self, seed=HELD_OUT, recovery=Recovery())

    def chosen(self) -> tuple[str, ...]:
        """The tasks, in the suite's order."""
        known = tasks(self.suite)
        able = tuple(name for name, task in known.items() if self.split in task.splits)
        for name in self.tasks:
            if name not in able:
                raise unknown(f"task of {self.suite}@{self.split}", name, able)
        return tuple(name for name in able if name in self.tasks) if self.tasks else able

    def first(self, task: str) -> str:
        """The name of an episode of a task, to see what its episodes are like."""
        return f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS}{self._perturbed}"

    @property
    def _perturbed(self) -> str:
        return self.perturb and "+" + self.perturb

    def name(self, number: int) -> str:
        """The name of the k-th episode: tasks are drawn, seeds are counted."""
        chosen = self.chosen()
        weights = dict(self.weights)
        shares = [weights.get(task, 1.0) for task in chosen]
        drawn = rng(f"stream/{self.seed}", str(number)).uniform(0.0, sum(shares))
        task = next((task for task, upto in zip(chosen, accumulate(shares), strict=True) if drawn < upto), chosen[-1])
        return f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS + number}{self._perturbed}"


class Demonstrations(Protocol):
    """Where training takes its demonstrations from."""

    next: int  # the number of the episode that comes next
    ended: bool  # no more will come

    def ready(self, timeout: float | None = 0.0) -> list[tuple[int, str, Demonstration]]:
        """Those that have come since; waits so many seconds for one, as long as it takes with None."""


class GivenDemonstrations:
    """Demonstrations that are there already: of a stored set, or of a list. Of several processes each takes every ``stride``-th."""

    def __init__(self, found: Iterable[tuple[int, str, Demonstration]], first: int = 0, stride: int = 1) -> None:
        self.next, self.ended = 0, False
        self._found = islice(found, first, None, stride)

    def ready(self, timeout: float | None = 0.0) -> list[tuple[int, str, Demonstration]]:
        """A few more of them."""
        some = list(islice(self._found, AHEAD))
        self.next, self.ended = self.next + len(some), len(some) < AHEAD
        return some


class DemonstrationStream:
    """Iterates over (number, name, demonstration) of a source, from ``first`` on, without end; played by ``workers`` processes.

    With a ``stride`` it takes every n-th episode alone, and streams that begin one after the other have none in common.
    """

    ended = False

    def __init__(self, source: Source, workers: int, first: int = 0, stride: int = 1) -> None:
        if workers < 1:
            raise EtudeError(f"a stream needs at least one process, got {workers}")
        self.source, self.workers, self.next, self._stride = source, workers, first, stride
        self._first = first
        self.missing: list[str] = []  # why there is no demonstration of some episodes
        self._held: dict[int, Demonstration | None] = {}
        self._team: list[_StreamPlayer] = []
        context = multiprocessing.get_context("spawn")
        with one_thread():
            for k in range(workers):
                self._team.append(_StreamPlayer(context, source, first + k * stride, workers * stride))

    def __iter__(self) -> Iterator[tuple[int, str, Demonstration]]:
        while True:
            yield from self.ready(None)

    def ready(self, timeout: float | None = 0.0) -> list[tuple[int, str, Demonstration]]:
        """Those that have come since; waits so many seconds for one, as long as it takes with None."""
        for player in self._waited(timeout):
            number, demonstration, reason = player.take()
            self._held[number] = demonstration
            if demonstration is None:
                self.missing.append(reason)
        tried = (self.next - self._first) // self._stride
        if len(self.missing) >= PATIENCE and 10 * len(self.missing) > tried:
            raise EtudeError(f"{len(self.missing)} of {tried} episodes have no demonstration; the last: {self.missing[-1]}")
        found = []
        while self.next in self._held:
            one = self._held.pop(self.next)
            if one is not None:
                found.append((self.next, self.source.name(self.next), one))
            self.next += self._stride
        return found

    def _waited(self, timeout: float | None = None) -> list[_StreamPlayer]:
        ready = set(wait([p.connection for p in self._team], timeout))
        return [p for p in self._team if p.connection in ready]

    def close(self) -> None:
        """End all processes."""
        for player in self._team:
            player.close()
        self._team.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _StreamPlayer:
    """A process that plays every n-th episode, with shared memory of its own."""

    def __init__(self, context: Any, source: Source, first: int, stride: int) -> None:
        self._room = ROOM[source.look]
        self._memory = SharedMemory(create=True, size=AHEAD * self._room)
        self.connection, theirs = context.Pipe()
        how = json.dumps({"source": encode(source), "first": first, "stride": stride, "memory": self._memory.name})
        self._process: BaseProcess = context.Process(target=_play, args=(theirs, how), daemon=True)
        self._process.start()
        theirs.close()

    def take(self) -> tuple[int, Demonstration | None, str]:
        """The number of an episode and its demonstration, or why there is none."""
        try:
            number, place, size = _MESSAGE.unpack(self.connection.recv_bytes())
            if size < 0:
                return number, None, self.connection.recv_bytes().decode()
        except (EOFError, OSError):
            self._process.join(5.0)
            raise EtudeError(f"a process that plays demonstrations ended (exit status {self._process.exitcode})") from None
        start = place * self._room
        assert self._memory.buf is not None
        found = unpacked(self._memory.buf[start : start + size])
        with contextlib.suppress(OSError):  # if it is gone, the next look finds out
            self.connection.send_bytes(_MESSAGE.pack(number, place, 0))
        return number, found, ""

    def close(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.join()
        self._memory.close()
        self._memory.unlink()


def _play(connection: Connection, how: str) -> None:
    """A player's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    os.nice(10)  # the trainer comes first: it feeds the device
    given = json.loads(how)
    source: Source = decode(Source, given["source"], "source")
    memory = SharedMemory(given["memory"], create=False)
    assert memory.buf is not None
    room, free, number = ROOM[source.look], list(range(AHEAD)), given["first"]
    try:
        while True:
            reason, data = "", b""
            try:
                data = packed(demonstrate(source.name(number), source.look, source.recovery))
            except EtudeError as error:
                reason = str(error)
            if len(data) > room:
                reason = f"{source.name(number)} takes {len(data)} bytes as a demonstration; there is room for {room}"
            if reason:
                connection.send_bytes(_MESSAGE.pack(number, 0, -1))
                connection.send_bytes(reason.encode())
            else:
                while not free or connection.poll():
                    free.append(_MESSAGE.unpack(connection.recv_bytes())[1])
                place = free.pop()
                memory.buf[place * room : place * room + len(data)] = data
                connection.send_bytes(_MESSAGE.pack(number, place, len(data)))
            number += given["stride"]
    except (EOFError, OSError):
        return


def played(source: Source, count: int) -> list[tuple[int, str, Demonstration]]:
    """The first so many of a source, played in this process: for small sets."""
    return [(k, source.name(k), demonstrate(source.name(k), source.look, source.recovery)) for k in range(count)]
