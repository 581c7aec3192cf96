"""Workers on this machine: processes of one thread each, replaced when they crash, hang or take too much memory.

What a policy starts in them belongs to them, and is ended with them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from etude.evaluation.inference_process import InferenceProcess
from etude.evaluation.keeper import Keeper, bury_group, end_group, lead_group
from etude.evaluation.record import Record
from etude.evaluation.worker import Job, one_thread
from etude.names import EtudeError

_log = logging.getLogger(__name__)

LOOK = 0.5  # seconds between looks at the clock and the memory of workers
START = 300.0  # seconds a worker may take to load its policy
PRELOADED = ("etude.evaluation.warm",)
TRIES = 3  # workers that may be lost in a row while loading, before it is taken for more than bad luck


def _main(connection: Connection, data: str, environment: dict[str, str]) -> None:
    """A worker: says what its policy asks for, then answers names with records until nobody sends any."""
    lead_group()
    os.environ.clear()  # the fork server may be older than a variable that was set since
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    job = Job.from_data(json.loads(data))
    if job.inference_address:
        os.nice(10)  # who decides for all of them comes first
    try:
        players = job.players()
        _send(connection, job.hello(players))
    except EtudeError as error:
        _send(connection, {"refused": str(error)})
        return
    try:
        while True:
            name, mode = json.loads(connection.recv_bytes())
            _send(connection, job.answer(players, name, mode))
    except (EOFError, OSError):
        return


def _send(connection: Connection, data: dict[str, Any]) -> None:
    connection.send_bytes(json.dumps(data).encode())


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    failed: int  # starts in a row that had failed when it was started
    item: tuple[str, str] | None = None
    since: float = 0.0
    ready: bool = False


class Local:
    """Plays episodes on ``workers`` processes. ``timeout``: seconds for one episode; ``memory``: GiB for one worker; ``shared``: one more
    process decides for all of them (:mod:`etude.policies.halves`)."""

    def __init__(self, job: Job, workers: int, timeout: float = 600.0, memory: float | None = None, shared: bool = False) -> None:
        self._job, self._timeout = job, timeout
        self.workers, self.memory = workers, memory
        self._team: list[_Worker] = []
        self._said: dict[str, Any] = {}
        self._failed, self._reason = 0, ""
        self._keeper = Keeper()
        self._inference: InferenceProcess | None = None
        if shared:
            self._inference = InferenceProcess(job.policy, job.plugins, self._process)
            self._job = replace(job, inference_address=self._inference.address)

    def hello(self) -> dict[str, Any]:
        """What the workers say of policy and planner (:meth:`Job.hello`): the first is started to find out."""
        while not self._said:
            self._fit(1)
            wait([w.connection for w in self._team], LOOK)
            self._check_inference()
            for worker in [w for w in self._team if w.connection.poll()]:
                self._welcome(worker)
            self._look_at_loading()
        return self._said

    def _fit(self, wanted: int) -> None:
        """Start workers until there are so many. After too many that did not load, those that did go on alone."""
        while len(self._team) < wanted and self._failed < TRIES:
            self._start()
        if not self._team:
            raise EtudeError(f"loading the policy {self._job.policy!r} ended its worker, {TRIES} times in a row ({self._reason})")

    def _process(self, target: Callable[..., None], arguments: tuple[Any, ...]) -> BaseProcess:
        # Never forked from this process: MuJoCo, numba and whatever a caller has loaded hold state that a fork would share. Not daemonic: a
        # policy may start processes too. The environment comes last among the arguments.
        with one_thread():
            process: BaseProcess = processes().Process(target=target, args=(*arguments, dict(os.environ)))
            process.start()
        assert process.pid is not None
        self._keeper.add(process.pid)
        return process

    def _start(self) -> None:
        ours, theirs = multiprocessing.Pipe()
        process = self._process(_main, (theirs, json.dumps(self._job.to_data())))
        theirs.close()
        self._team.append(_Worker(process, ours, self._failed, since=time.monotonic()))

    def _welcome(self, worker: _Worker) -> None:
        try:
            said = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            self._unloaded(worker, self._ended(worker))
            return
        if "refused" in said:
            raise EtudeError(said["refused"])
        for what, theirs in said.items():
            if self._said.setdefault(what, theirs) != theirs:
                raise EtudeError(f"the {what} of the policy {self._job.policy!r} changed while it was played: start again")
        worker.ready, self._failed = True, 0

    def _unloaded(self, worker: _Worker, reason: str) -> None:
        """A worker is lost before it could play. Several that were started together count once."""
        self._failed, self._reason = max(self._failed, worker.failed + 1), reason
        self._end(worker)
        if self._failed >= TRIES and self._team:
            fewer = f"{len(self._team)} of {self.workers} workers play"
            _log.warning("loading the policy %r ended its worker, %d times in a row (%s): %s", self._job.policy, TRIES, reason, fewer)

    def _check_inference(self) -> None:
        """What the workers say is believed only while there is somebody who decides for them."""
        if self._inference is not None and (reason := self._inference.ended()):
            raise EtudeError(reason)

    def _look_at_loading(self) -> None:
        for worker in [w for w in self._team if not w.ready]:
            if _dead(worker):
                self._unloaded(worker, self._ended(worker))
            elif time.monotonic() - worker.since > START:
                raise EtudeError(f"the policy {self._job.policy!r} was not loaded within {START:.0f} seconds")

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in the order in which the episodes end."""
        self.hello()
        queue = deque(items)
        self._fit(min(self.workers, len(queue)))
        self._hand_out(queue)
        while queue or any(w.item for w in self._team):
            ready = wait([w.connection for w in self._team], LOOK)
            self._check_inference()
            records = [self._take(w) for w in self._team[:] if w.connection in ready]
            self._hand_out(queue)  # before anybody writes down what has ended: nobody waits for a disk
            yield from (r for r in records if r is not None)
            yield from self._examined()
            if queue:
                self._fit(min(self.workers, len(queue)))

    def _hand_out(self, queue: deque[tuple[str, str]]) -> None:
        for worker in self._team:
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
            found = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            return self._lost(worker, f"the worker ended ({self._ended(worker)})")
        if "refused" in found:
            raise EtudeError(found["refused"])
        worker.item = None
        return Record.from_line(found["line"])

    def _ended(self, worker: _Worker) -> str:
        worker.process.join(5.0)
        return exit_reason(worker.process.exitcode)

    def _lost(self, worker: _Worker, reason: str) -> Record | None:
        from etude.evaluation.play import broken

        item, seconds = worker.item, time.monotonic() - worker.since
        self._failed = 0  # it had loaded, and so should the next
        self._end(worker)
        return None if item is None else broken(*item, reason, seconds)

    def _end(self, *workers: _Worker) -> None:
        """End workers, and what their policies have started."""
        for worker in workers:
            assert worker.process.pid is not None
            end_group(worker.process.pid)
            worker.process.kill()
        for worker in workers:
            assert worker.process.pid is not None
            worker.process.join()
            bury_group(worker.process.pid)
            self._keeper.remove(worker.process.pid)
            worker.connection.close()
            self._team.remove(worker)

    def _examined(self) -> Iterator[Record]:
        """Workers that take too long or too much are ended, and what they played is an error."""
        self._look_at_loading()
        for worker in list(self._team):
            if _dead(worker):
                record = self._lost(worker, f"the worker ended ({self._ended(worker)})")
            elif worker.item and time.monotonic() - worker.since > self._timeout:
                record = self._lost(worker, f"no result within {self._timeout:g} seconds")
            elif self.memory is not None and (used := _resident(worker.process.pid)) > self.memory:
                record = self._lost(worker, f"the worker took {used:.2f} GiB of memory, more than the {self.memory:g} allowed")
            else:
                continue
            if record is not None:
                yield record

    def close(self) -> None:
        """End all workers."""
        self._end(*self._team)
        if self._inference is not None:
            assert self._inference.process.pid is not None
            end_group(self._inference.process.pid)
            self._inference.process.kill()
            self._inference.process.join()
            self._inference.close()
        self._keeper.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def processes() -> Any:
    """Where workers come from: the fork server, or a new interpreter for each on systems without."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload([*PRELOADED])
    return found


def _dead(worker: _Worker) -> bool:
    """Has it ended without a word? Its pipe does not tell where a process that the policy started still holds the other end."""
    return worker.process.exitcode is not None and not worker.connection.poll()


def exit_reason(code: int | None) -> str:
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
