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
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.shared_memory import SharedMemory
from types import TracebackType
from typing import Any, Protocol, Self

from etude.evaluation.worker import one_thread
from etude.learn.demonstrating import Recovery, demonstrate, refuse_misfits
from etude.learn.packing import packed, unpacked
from etude.learn.samples import LOOKS, Demonstration, Look
from etude.learn.source import SEEDS, SampleSource
from etude.names import SPARSE, EtudeError, decode, encode, unknown

AHEAD = 8  # stored samples that are read at once
ROOM = {"objects": 1 << 20, "patches": 2 << 20}  # bytes for one of them
_MESSAGE = struct.Struct("!qqq")  # number, place in the shared memory, bytes; 0: left out; −1: there is none, and why follows
PATIENCE = 20  # episodes without a demonstration, before they are taken for more than bad luck


@dataclass(frozen=True)
class Source(SampleSource):
    """Which demonstrations, and in which form. ``perturb``: perturbations of all of them, e.g. "paraphrase". ``language``: whose words
    prompts have (:mod:`etude.learn.wording`)."""

    look: Look = "objects"
    recovery: Recovery = Recovery()
    perturb: str = ""
    language: str = field(default="", metadata=SPARSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.look not in LOOKS:
            raise unknown("look", self.look, LOOKS)

    def held_out(self) -> Self:
        """Episodes of the same tasks that no stream for training has, played without a flaw."""
        return replace(super().held_out(), recovery=Recovery())

    def first(self, task: str) -> str:
        """The name of an episode of a task, to see what its episodes are like."""
        return f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS}{self._perturbed}"

    @property
    def _perturbed(self) -> str:
        return self.perturb and "+" + self.perturb

    def name(self, number: int) -> str:
        """The name of the k-th episode, with what is perturbed."""
        return super().name(number) + self._perturbed

    def refuse_misfits(self) -> None:
        """Raise if a task has episodes that a policy with this look cannot see, or not act in."""
        refuse_misfits([self.first(task) for task in self.chosen()], self.look)

    @property
    def room(self) -> int:
        """Bytes that a demonstration takes at most."""
        return ROOM[self.look]

    def demonstration(self, number: int) -> Demonstration:
        """That of the k-th episode."""
        return demonstrate(self.name(number), self.look, self.recovery, self.language)

    def packed(self, number: int) -> bytes:
        """The demonstration of the k-th episode, as bytes."""
        return packed(self.demonstration(number))

    def unpacked(self, data: bytes | memoryview) -> Demonstration:
        """The demonstration of these bytes."""
        return unpacked(data)


class Samples(Protocol):
    """Where training takes its samples from: demonstrations, or trials."""

    next: int  # the number of the episode that comes next

    @property
    def ended(self) -> bool:
        """No more will come."""

    def fill(self, buffer: Any, timeout: float = 0.0) -> None:
        """Put what has come since into a buffer; waits so many seconds for something."""


class GivenSamples:
    """Samples that are there already: of a stored set, or of a list. Of several processes each takes every ``stride``-th."""

    def __init__(self, found: Iterable[tuple[int, str, Any]], first: int = 0, stride: int = 1) -> None:
        self.next, self.ended = 0, False
        self._found = islice(found, first, None, stride)

    def fill(self, buffer: Any, timeout: float = 0.0) -> None:
        """A few more of them."""
        some = list(islice(self._found, AHEAD))
        self.next, self.ended = self.next + len(some), len(some) < AHEAD
        buffer.add([one for _, _, one in some])


class OrderedStream:
    """Iterates over (number, name, sample) of a source, from ``first`` on, as long as it has any, in their order, whoever plays them and
    whenever they arrive.

    With a ``stride`` it takes every n-th episode alone, and streams that begin one after the other have none in common.
    """

    def __init__(self, source: SampleSource, first: int, stride: int) -> None:
        self.source, self.next, self._first, self._stride = source, first, first, stride
        self.missing: list[str] = []  # why there is no demonstration of some episodes
        self._held: dict[int, Any] = {}  # None: there is no sample of this number

    @property
    def workers(self) -> int:
        """The processes that play."""
        raise NotImplementedError

    def _arrived(self, timeout: float | None) -> Iterable[tuple[int, Any, str]]:
        """Numbers with their samples, or why there are none; waits so many seconds for one, or, with None, as long as it takes."""
        raise NotImplementedError

    @property
    def ended(self) -> bool:
        """Was that the last one?"""
        return self.source.count is not None and self.next >= self.source.count

    def __iter__(self) -> Iterator[tuple[int, str, Any]]:
        while not self.ended:
            yield from self.ready(None)

    def ready(self, timeout: float | None = 0.0) -> list[tuple[int, str, Any]]:
        """Those that have come since; waits so many seconds for one, as long as it takes with None."""
        for number, sample, reason in self._arrived(timeout):
            self._held[number] = sample
            if reason:
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

    def fill(self, buffer: Any, timeout: float = 0.0) -> None:
        """Put what has come since into a buffer; waits so many seconds for something."""
        buffer.add([one for _, _, one in self.ready(timeout)])

    def close(self) -> None:
        """End all processes."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class SampleStream(OrderedStream):
    """A stream that is played by ``workers`` processes of this machine."""

    def __init__(self, source: SampleSource, workers: int, first: int = 0, stride: int = 1) -> None:
        if workers < 1:
            raise EtudeError(f"a stream needs at least one process, got {workers}")
        super().__init__(source, first, stride)
        self._team: list[_StreamPlayer] = []
        context = multiprocessing.get_context("spawn")
        with one_thread():
            for k in range(workers):
                self._team.append(_StreamPlayer(context, source, first + k * stride, workers * stride))

    @property
    def workers(self) -> int:
        """The processes that play."""
        return len(self._team)

    def _arrived(self, timeout: float | None) -> Iterator[tuple[int, Any, str]]:
        for _ in range(self.source.ahead):  # as many as each process may have ready
            waiting = self._waited(timeout)
            if not waiting:
                break
            for player in waiting:
                yield player.take()
            timeout = 0.0

    def _waited(self, timeout: float | None = None) -> list[_StreamPlayer]:
        ready = set(wait([p.connection for p in self._team], timeout))
        return [p for p in self._team if p.connection in ready]

    def close(self) -> None:
        """End all processes."""
        for player in self._team:
            player.close()
        self._team.clear()


class _StreamPlayer:
    """A process that plays every n-th episode, with shared memory of its own."""

    def __init__(self, context: Any, source: SampleSource, first: int, stride: int) -> None:
        self._room, self._unpacked = source.room, source.unpacked
        self._memory = SharedMemory(create=True, size=source.ahead * self._room)
        self.connection, theirs = context.Pipe()
        how = json.dumps({"source": encode(source), "first": first, "stride": stride, "memory": self._memory.name})
        self._process: BaseProcess = context.Process(target=_play, args=(theirs, type(source), how), daemon=True)
        self._process.start()
        theirs.close()

    def take(self) -> tuple[int, Any, str]:
        """The number of an episode and its sample, or why there is none; both are empty where it is left out."""
        try:
            number, place, size = _MESSAGE.unpack(self.connection.recv_bytes())
            if size < 0:
                return number, None, self.connection.recv_bytes().decode()
            if size == 0:
                return number, None, ""
        except (EOFError, OSError):
            self._process.join(5.0)
            raise EtudeError(f"a process that plays demonstrations ended (exit status {self._process.exitcode})") from None
        start = place * self._room
        assert self._memory.buf is not None
        found = self._unpacked(self._memory.buf[start : start + size])
        with contextlib.suppress(OSError):  # if it is gone, the next look finds out
            self.connection.send_bytes(_MESSAGE.pack(number, place, 0))
        return number, found, ""

    def close(self) -> None:
        self.connection.close()
        self._process.terminate()
        self._process.join()
        self._memory.close()
        self._memory.unlink()


def _play(connection: Connection, kind: type[SampleSource], how: str) -> None:
    """A player's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    os.nice(10)  # the trainer comes first: it feeds the device
    given = json.loads(how)
    source: SampleSource = decode(kind, given["source"], "source")
    memory = SharedMemory(given["memory"], create=False)
    assert memory.buf is not None
    room, free, number = source.room, list(range(source.ahead)), given["first"]
    try:
        while source.count is None or number < source.count:
            data, reason = sample_of(source, number)
            if reason:
                connection.send_bytes(_MESSAGE.pack(number, 0, -1))
                connection.send_bytes(reason.encode())
            elif not data:
                connection.send_bytes(_MESSAGE.pack(number, 0, 0))
            else:
                while not free or connection.poll():
                    free.append(_MESSAGE.unpack(connection.recv_bytes())[1])
                place = free.pop()
                memory.buf[place * room : place * room + len(data)] = data
                connection.send_bytes(_MESSAGE.pack(number, place, len(data)))
            number += given["stride"]
        while True:  # what was played last is still to be taken
            connection.recv_bytes()
    except (EOFError, OSError):
        return


def sample_of(source: SampleSource, number: int) -> tuple[bytes, str]:
    """What is learned of the k-th episode, as bytes, or why there is nothing; both are empty where it is left out."""
    try:
        data = source.packed(number)
    except EtudeError as error:
        return b"", str(error)
    if len(data) > source.room:
        return b"", f"{source.name(number)} takes {len(data)} bytes as a sample; there is room for {source.room}"
    return data, ""


def played(source: Source, count: int) -> list[tuple[int, str, Demonstration]]:
    """The first so many of a source, played in this process: for small sets."""
    return [(k, source.name(k), source.demonstration(k)) for k in range(count)]
