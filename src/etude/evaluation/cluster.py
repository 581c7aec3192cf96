"""Workers on a Ray cluster: one on each CPU it has, replaced when they crash, hang or are lost with their machine."""

from __future__ import annotations

import importlib
import json
import logging
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from etude.evaluation.local import LOOK, START, TRIES
from etude.evaluation.play import broken
from etude.evaluation.record import Record
from etude.evaluation.standards import standards
from etude.evaluation.worker import ONE_THREAD, Job
from etude.names import EtudeError

REACH = 10.0  # seconds for a cluster to answer at its address
RAY = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",  # Ray tells of lost workers on standard output otherwise, which is for results
    "RAY_gcs_server_port_wait_time_s": "1",  # one try to connect; Ray's own twenty take a quarter of an hour
}

Item = tuple[str, str]


class _Player:
    """What runs in a worker of the cluster. Only text goes in and out."""

    def __init__(self, job: str, place: str) -> None:
        self._job = Job.from_data(json.loads(job))
        if Path(place).is_dir():  # where machines share their files, modules and relative paths mean what they mean to the user
            os.chdir(place)

    def hello(self) -> str:
        """Load the players; says what it asks for, and what has to be the same on all machines."""
        try:
            self._players = self._job.players()
            if self._job.keep != "none" and not Path(self._job.folder).is_dir():
                raise EtudeError(
                    f"--record {self._job.keep} needs a folder that all machines of the cluster share; one has no {self._job.folder!r}"
                )
        except EtudeError as error:
            return json.dumps({"refused": str(error)})
        return json.dumps({**standards(self._job.renderer), **self._job.hello(self._players)})

    def play(self, name: str, mode: str) -> str:
        """What became of one episode."""
        return json.dumps(self._job.answer(self._players, name, mode))


@dataclass
class _RayWorker:
    actor: Any
    answer: Any  # the reference of what it is working on
    failed: int  # starts in a row that had failed when it was started
    since: float
    item: Item | None = None
    ready: bool = False


class Cluster:
    """Plays episodes on the Ray cluster at ``address``; when that is empty, on the one that Ray finds.

    Every worker holds one CPU and no GPU: a policy that needs one is best served (``ws://…``). Etude and the policy must be installed on
    every machine. Workers write films and actions into the run's folder, which machines therefore have to share if any are kept.
    Ray trusts everybody who can reach the cluster, so it belongs in a network of its own. ``timeout``: seconds for one episode.
    """

    def __init__(self, job: Job, address: str = "", timeout: float = 600.0) -> None:
        self._job, self._address, self._timeout = job, address, timeout
        self._workers: list[_RayWorker] = []
        self._lost: Counter[Item] = Counter()
        self._agreed: dict[str, Any] = {}
        self._failed, self._reason = 0, ""
        self._cpus, self._looked, self._served = 1, -LOOK, 0.0
        self._ray: Any = None
        self._player: Any = None
        self._ours = False

    def __enter__(self) -> Self:
        self._agreed = dict(standards(self._job.renderer))
        self._ray, self._ours = _connect(self._address)
        # Ray itself retries nothing: it cannot tell an episode that ends workers from bad luck.
        alone = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "runtime_env": {"env_vars": dict(ONE_THREAD)}}
        self._player = self._ray.remote(**alone)(_Player)
        return self

    def hello(self) -> dict[str, Any]:
        """What the workers say of policy and planner (:meth:`Job.hello`): the first is started to find out."""
        while "contracts" not in self._agreed:
            self._fit(1)
            self._listen(deque())
        return self._agreed

    def play(self, items: Iterable[Item]) -> Iterator[Record]:
        """Records in the order in which the episodes end. What was played on a worker that is lost is played again on another."""
        self.hello()
        queue = deque(items)
        while open_items := len(queue) + sum(w.item is not None for w in self._workers):
            self._fit(open_items)
            for worker in self._workers:
                if queue and worker.ready and worker.item is None:
                    worker.item, worker.since = queue.popleft(), time.monotonic()
                    worker.answer = worker.actor.play.remote(*worker.item)
            yield from self._listen(queue)

    def _fit(self, open_items: int) -> None:
        """Start workers where there is room and work for more. Those without work go, so that nothing is given to one that died idle."""
        wanted = min(self._room(), open_items)
        spare = sorted((w for w in reversed(self._workers) if w.item is None), key=lambda w: w.ready)
        for worker in spare[: max(0, len(self._workers) - wanted)]:
            self._end(worker)
        while len(self._workers) < wanted and self._failed < TRIES:
            self._start()
        if not self._workers:
            raise EtudeError(f"loading the policy {self._job.policy!r} ended its worker, {TRIES} times in a row: {self._reason}")
        if any(w.ready for w in self._workers):
            self._served = time.monotonic()
        elif time.monotonic() - self._served > START:
            raise EtudeError(
                f"no worker of the cluster had loaded the policy {self._job.policy!r} within {START:.0f} seconds;"
                " 'ray status' says whether its CPUs are taken"
            )

    def _room(self) -> int:
        """The CPUs of the cluster, whoever has joined or left; at least one, so that a cluster that grows on demand does."""
        if time.monotonic() - self._looked > LOOK:
            nodes = [n["Resources"] for n in self._ray.nodes() if n["Alive"]]
            self._cpus = max(1, sum(int(resources.get("CPU", 0)) for resources in nodes))
            self._looked = time.monotonic()
        return self._cpus

    def _start(self) -> None:
        if not self._workers:
            self._served = time.monotonic()
        actor = self._player.remote(json.dumps(self._job.to_data()), str(Path.cwd()))
        self._workers.append(_RayWorker(actor, actor.hello.remote(), self._failed, time.monotonic()))

    def _end(self, worker: _RayWorker) -> None:
        self._workers.remove(worker)
        self._ray.kill(worker.actor)

    def _listen(self, queue: deque[Item]) -> list[Record]:
        """Wait until a worker answers, or until it is time to look around. Items of workers that are lost go back into the queue."""
        waited = {w.answer: w for w in self._workers if w.item is not None or not w.ready}
        self._ray.wait(list(waited), timeout=LOOK)
        done, open_answers = self._ray.wait(list(waited), num_returns=len(waited), timeout=0)
        found: list[Record | None] = []
        for ended in done:
            try:
                text = self._ray.get(ended)
            except self._ray.exceptions.RayError as error:
                found.append(self._missed(waited[ended], error, queue))
            else:
                found.append(self._heard(waited[ended], text))
        for worker in (waited[a] for a in open_answers):
            if worker.item is not None and (seconds := time.monotonic() - worker.since) > self._timeout:
                self._end(worker)
                found.append(broken(*worker.item, f"no result within {self._timeout:g} seconds", seconds))
        return [record for record in found if record is not None]

    def _heard(self, worker: _RayWorker, text: str) -> Record | None:
        self._failed = 0
        said = json.loads(text)
        if "refused" in said:
            raise EtudeError(said["refused"])
        if worker.item is not None:
            worker.item = None
            return Record.from_line(said["line"])
        for what, theirs in said.items():
            if self._agreed.setdefault(what, theirs) != theirs:
                raise EtudeError(f"the machines of the cluster differ in their {what}: {self._agreed[what]} and {theirs}"[:500])
        worker.ready = True
        return None

    def _missed(self, worker: _RayWorker, error: Exception, queue: deque[Item]) -> Record | None:
        """A worker is lost: its episode is played again, unless it was lost over that one too often."""
        self._end(worker)
        if worker.item is None:
            # Many may go at once with their machine; that counts once, for all that were started after the same number of failures.
            self._failed = max(self._failed, worker.failed + 1)
            self._reason = _lines(error)[-1][:300]
            return None
        self._lost[worker.item] += 1
        if self._lost[worker.item] < TRIES:
            queue.append(worker.item)
            return None
        return broken(*worker.item, f"the worker ended, {TRIES} times in a row", time.monotonic() - worker.since)

    def close(self) -> None:
        """End all workers, and leave the cluster."""
        for worker in list(self._workers):
            self._end(worker)
        if self._ours:
            self._ray.shutdown()
            self._ours = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _connect(address: str) -> tuple[Any, bool]:
    """Ray, joined to the cluster; false when this process had joined one before, which is then used and not left."""
    with _environment(RAY):
        try:
            ray: Any = importlib.import_module("ray")
        except ModuleNotFoundError:
            raise EtudeError("the Ray executor needs the extra 'ray': pip install 'etude[ray]'") from None
        if ray.is_initialized():
            return ray, False
        where = address or os.environ.get("RAY_ADDRESS") or "auto"
        try:
            _reach(where)
            ray.init(address=where, log_to_driver=False, logging_level=logging.CRITICAL)
        except OSError:
            found = "no Ray cluster was found" if where == "auto" else f"there is no Ray cluster at {where!r}"
            raise EtudeError(f"{found}: start one with 'ray start --head', or give the address of one: --ray-address HOST:6379") from None
        except Exception as error:
            raise EtudeError(f"the Ray cluster {where!r} cannot be used: {_lines(error)[0]}") from None
    return ray, True


def _lines(error: Exception) -> list[str]:
    return [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]


def _reach(address: str) -> None:
    """Raise OSError when nobody listens there: Ray would try for long, and with many words."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH).close()


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Environment variables inside; what the user has set stays."""
    new = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]
