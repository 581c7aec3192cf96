"""Who steps the worlds of a batch: worker processes, or the calling process itself."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import signal
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from mmap import mmap
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from numpy.typing import NDArray

from etude.evaluation.local import exit_reason, processes
from etude.evaluation.worker import one_thread
from etude.names import EtudeError
from etude.policies.wire import pack, unpack
from etude.vector.arrays import Fields, SharedMemoryFile, arrays_in, bytes_of
from etude.vector.subenvs import BatchPlan, Beginning, SubEnvs, Told

STEP = b""  # the message that is sent most: one action in every world
ONE = struct.Struct("<i")  # one action in this world; every other message is longer
CLOSED = "the vector environment is closed: make it anew"
PATIENCE = 5.0  # seconds that a worker may take to end


class CallingProcess:
    """All worlds in the process of the caller: for debugging."""

    def __init__(self, plan: BatchPlan, fields: Fields) -> None:
        self.arrays: Mapping[str, NDArray[Any]] = arrays_in(fields, bytearray(bytes_of(fields)))
        self._subenvs = SubEnvs(plan, range(plan.stream.worlds), self.arrays)
        self._sent: list[int] = []

    def send(self, worlds: Sequence[int]) -> None:
        """Ask for one action in each of these worlds."""
        self._sent += worlds

    def receive(self, least: int) -> list[tuple[int, Told]]:
        """At least so many worlds that were asked, and what they tell."""
        asked, self._sent = self._sent[:least], self._sent[least:]
        return [(world, self._subenvs.step([world])) for world in asked]

    def step(self) -> list[Told]:
        """One action in every world."""
        return [self._subenvs.step()]

    def reset(self, beginnings: Sequence[Beginning]) -> list[Told]:
        """Begin episodes."""
        return [self._subenvs.reset(beginnings)]

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Told]:
        """An attribute of every environment, or what it gives when it is called."""
        return [self._subenvs.call(name, arguments, named)]

    @property
    def failure(self) -> BaseException | None:
        """What was raised in a world, for those who look for the cause."""
        return self._subenvs.failure

    def close(self) -> None:
        """Close all environments."""
        self._subenvs.close()


@dataclass(frozen=True)
class _BatchWorker:
    process: BaseProcess
    connection: Connection
    members: range
    asked: deque[int] = field(default_factory=deque)  # worlds whose next step has not been told of, in the order of the answers


class WorkerProcesses:
    """The worlds shared out among processes; observations, actions and numbers go through shared memory, the rest in short messages."""

    failure = None

    def __init__(self, plan: BatchPlan, fields: Fields, workers: int) -> None:
        self._team: list[_BatchWorker] = []
        self._answering = select.poll()
        self._owner = os.getpid()
        memory = SharedMemoryFile(bytes_of(fields))
        try:
            self.arrays: Mapping[str, NDArray[Any]] = arrays_in(fields, memory.memory)
            for place in range(workers):
                self._start(plan, fields, memory, place, workers)
            for worker in self._team:
                self._answer(worker, starting=True)
        except BaseException:
            self.close()
            raise
        finally:
            memory.close()

    def _start(self, plan: BatchPlan, fields: Fields, memory: SharedMemoryFile, place: int, workers: int) -> None:
        worlds = plan.stream.worlds
        members = range(place * worlds // workers, (place + 1) * worlds // workers)
        ours, theirs = multiprocessing.Pipe()
        with one_thread():
            arguments = (theirs, memory, plan, fields, members, place, dict(os.environ))
            process = processes().Process(target=_work, args=arguments, daemon=True)
            process.start()
        theirs.close()
        self._team.append(_BatchWorker(process, ours, members))
        self._answering.register(ours.fileno(), select.POLLIN)

    def send(self, worlds: Sequence[int]) -> None:
        """Ask for one action in each of these worlds."""
        if not self._team:
            raise EtudeError(CLOSED)
        for world in worlds:
            worker = next(worker for worker in self._team if world in worker.members)
            worker.asked.append(world)
            with contextlib.suppress(OSError):  # if it is gone, that is found when its answer is read
                worker.connection.send_bytes(ONE.pack(world))

    def receive(self, least: int) -> list[tuple[int, Told]]:
        """At least so many worlds that were asked, and what they tell: those that are ready first."""
        found: list[tuple[int, Told]] = []
        try:
            while len(found) < least:
                ready = {number for number, _ in self._answering.poll()}
                for worker in self._team:
                    if worker.connection.fileno() in ready:
                        told = self._answer(worker)
                        found.append((worker.asked.popleft(), told))
        except BaseException:
            self.close()
            raise
        return found

    def step(self) -> list[Told]:
        """One action in every world."""
        return self._asked([STEP] * len(self._team))

    def reset(self, beginnings: Sequence[Beginning]) -> list[Told]:
        """Begin episodes."""
        shares = [[astuple(one) for one in beginnings if one.world in worker.members] for worker in self._team]
        return self._asked([pack(["reset", share]) for share in shares])

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Told]:
        """An attribute of every environment, or what it gives when it is called."""
        return self._asked([pack(["call", name, arguments, named])] * len(self._team))

    def _asked(self, messages: Sequence[bytes]) -> list[Told]:
        """What the workers say to these messages, each to its own. After anything that leaves an answer unread they cannot go on."""
        if not self._team:
            raise EtudeError(CLOSED)
        try:
            for worker, message in zip(self._team, messages, strict=True):
                with contextlib.suppress(OSError):  # if it is gone, that is found when its answer is read
                    worker.connection.send_bytes(message)
            return [self._answer(worker) for worker in self._team]
        except BaseException:
            self.close()
            raise

    def _answer(self, worker: _BatchWorker, starting: bool = False) -> Told:
        try:
            answer = worker.connection.recv_bytes()
        except (EOFError, OSError):
            worker.process.join(PATIENCE)
            reason = exit_reason(worker.process.exitcode)
            first, last = worker.members[0], worker.members[-1]
            who = f"the worker with world {first}" if first == last else f"the worker with worlds {first} to {last}"
            if starting:
                advice = 'a script that starts workers does so under if __name__ == "__main__":'
                raise EtudeError(f"{who} ended before it had begun ({reason}); its own message is above; {advice}") from None
            raise EtudeError(f"{who} ended ({reason}), and the batch with it: make it anew") from None
        found: Told = unpack(answer) if answer else {}
        if "refused" in found:
            raise EtudeError(str(found["refused"][0]))
        return found

    def close(self) -> None:
        """End all processes. A copy of this one that was forked leaves them alone: they are not its own."""
        if os.getpid() != self._owner:
            return
        for worker in self._team:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._team:
            worker.process.join(PATIENCE)
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
        self._team.clear()


def _work(
    connection: Connection, memory: mmap, plan: BatchPlan, fields: Fields, members: range, place: int, environment: dict[str, str]
) -> None:
    """A worker's life; it ends when nobody holds the other end of its pipe any more."""
    os.environ.clear()  # the fork server may be older than a variable that was set since
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    with contextlib.suppress(EOFError, OSError):
        try:
            subenvs = SubEnvs(plan, members, arrays_in(fields, memory), place)
        except EtudeError as error:
            connection.send_bytes(pack({"refused": [str(error)]}))
            return
        connection.send_bytes(b"")
        asking = select.poll()  # much faster than the connection's own, which is made anew whenever it is asked
        asking.register(connection.fileno(), select.POLLIN)
        while True:
            subenvs.use_pause(lambda seconds: bool(asking.poll(1000 * seconds)))
            told = _done(subenvs, connection.recv_bytes())
            connection.send_bytes(pack(told) if told else b"")


def _done(subenvs: SubEnvs, message: bytes) -> Told:
    if message == STEP:
        return subenvs.step()
    if len(message) == ONE.size:
        return subenvs.step(ONE.unpack(message))
    what, *arguments = unpack(message)
    if what == "reset":
        return subenvs.reset([Beginning(*one) for one in arguments[0]])
    told = subenvs.call(*arguments)
    try:
        pack(told)
    except EtudeError as error:
        return {"failed": [[-1, f"what {arguments[0]!r} gives stays in its process ({error}); with workers=0 that is this one"]]}
    return told
