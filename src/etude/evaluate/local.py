"""Workers on this machine: spawned processes, one thread each, replaced when they crash, hang or take too much memory."""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from etude.evaluate.record import Record
from etude.evaluate.worker import Job, load_cast, one_thread, perform
from etude.names import EtudeError

LOOK = 0.5  # seconds between looks at the clock and the memory of workers
START = 300.0  # seconds a worker may take to load its policy


def _main(connection: Connection, data: str) -> None:
    """A worker: says what its policy asks for, then answers names with records until nobody sends any."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    job = Job.from_data(json.loads(data))
    try:
        cast = load_cast(job)
        _send(connection, {"contracts": cast.contracts()})
    except EtudeError as error:
        _send(connection, {"refused": str(error)})
        return
    try:
        while True:
            name, mode = json.loads(connection.recv_bytes())
            _send(connection, {"line": perform(cast, job, name, mode).to_line()})
    except (EOFError, OSError):
        return


def _send(connection: Connection, data: dict[str, Any]) -> None:
    connection.send_bytes(json.dumps(data).encode())


def _die_with_parent() -> None:
    """Have Linux end this process when the one that started it is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if os.getppid() == 1:
            os._exit(1)


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    item: tuple[str, str] | None = None
    since: float = 0.0
    ready: bool = False


class Local:
    """Plays episodes on ``workers`` processes. ``timeout``: seconds for one episode; ``memory``: GiB for one worker."""

    def __init__(self, job: Job, workers: int, timeout: float = 600.0, memory: float | None = None) -> None:
        self._job, self._timeout, self._memory = job, timeout, memory
        self._workers: list[_Worker] = []
        self._count = workers
        self._contracts: dict[str, Any] | None = None

    def contracts(self) -> dict[str, Any]:
        """What policy and planner ask for: the first worker is started to find out."""
        if self._contracts is None:
            worker = self._start()
            if not worker.connection.poll(START):
                raise EtudeError(f"the policy {self._job.work.policy!r} was not loaded within {START:.0f} seconds")
            self._welcome(worker)
        assert self._contracts is not None
        return self._contracts

    def _start(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        # Spawned, not forked: MuJoCo and numba hold state that a fork would share.
        with one_thread():
            process = multiprocessing.get_context("spawn").Process(
                target=_main, args=(theirs, json.dumps(self._job.to_data())), daemon=True
            )
            process.start()
        theirs.close()
        worker = _Worker(process, ours, since=time.monotonic())
        self._workers.append(worker)
        return worker

    def _welcome(self, worker: _Worker) -> None:
        try:
            hello = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            worker.process.join()
            raise EtudeError(f"loading the policy {self._job.work.policy!r} ended its worker ({_exit(worker.process.exitcode)})") from None
        if "refused" in hello:
            raise EtudeError(hello["refused"])
        self._contracts = hello["contracts"]
        worker.ready = True

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in the order in which the episodes end."""
        self.contracts()
        queue = deque(items)
        while len(self._workers) < min(self._count, len(queue)):
            self._start()
        self._hand_out(queue)
        while queue or any(w.item for w in self._workers):
            ready = wait([w.connection for w in self._workers], LOOK)
            records = [self._take(w) for w in self._workers[:] if w.connection in ready]
            self._hand_out(queue)  # before anybody writes down what has ended: nobody waits for a disk
            yield from (r for r in records if r is not None)
            yield from self._examined()
            while queue and len(self._workers) < min(self._count, len(queue)):
                self._start()

    def _hand_out(self, queue: deque[tuple[str, str]]) -> None:
        for worker in self._workers:
            if queue and worker.ready and worker.item is None:
                worker.item, worker.since = queue.popleft(), time.monotonic()
                with contextlib.suppress(OSError):  # if it is gone, the next look finds out
                    worker.connection.send_bytes(json.dumps(worker.item).encode())

    def _take(self, worker: _Worker) -> Record | None:
        """Read what a worker sent; if it is gone, its episode is broken and another worker takes its place."""
        if not worker.ready:
            self._welcome(worker)
            return None
        try:
            answer = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            return self._lost(worker, f"the worker ended ({self._ended(worker)})")
        worker.item = None
        return Record.from_line(answer["line"])

    def _ended(self, worker: _Worker) -> str:
        worker.process.join(5.0)
        return _exit(worker.process.exitcode)

    def _lost(self, worker: _Worker, reason: str) -> Record | None:
        from etude.evaluate.play import broken

        item, seconds = worker.item, time.monotonic() - worker.since
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        return None if item is None else broken(*item, reason, seconds)

    def _examined(self) -> Iterator[Record]:
        """Workers that take too long or too much are ended, and what they played is an error."""
        for worker in list(self._workers):
            allowed = self._timeout if worker.ready else START
            if (worker.item or not worker.ready) and time.monotonic() - worker.since > allowed:
                if not worker.ready:
                    raise EtudeError(f"the policy {self._job.work.policy!r} was not loaded within {START:.0f} seconds")
                record = self._lost(worker, f"no result within {self._timeout:g} seconds")
            elif self._memory is not None and (used := _resident(worker.process.pid)) > self._memory:
                record = self._lost(worker, f"the worker took {used:.2f} GiB of memory, more than the {self._memory:g} allowed")
            else:
                continue
            if record is not None:
                yield record

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit status {code}"


def _resident(pid: int | None) -> float:
    """Memory of a process, GiB."""
    path = Path(f"/proc/{pid}/statm")
    try:
        if path.exists():
            return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**30
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
        return int(listed or 0) / 2**20
    except (OSError, ValueError, IndexError):
        return 0.0  # it ended meanwhile
