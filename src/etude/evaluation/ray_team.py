"""Workers on a Ray cluster, for whatever there is to do: one wherever there is room, replaced when they are lost with their machine."""

from __future__ import annotations

import importlib
import json
import logging
import math
import os
import signal
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from etude.arithmetic import total
from etude.evaluation.local import LOOK, START, TRIES
from etude.evaluation.worker import ONE_THREAD
from etude.names import EtudeError
from etude.plugins import load_all
from etude.policies.wire import pack, unpack

_log = logging.getLogger(__name__)

REACH = 10.0  # seconds for a cluster to answer at its address
RAY = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",  # Ray tells of lost workers on standard output otherwise, which is for results
    "RAY_gcs_server_port_wait_time_s": "1",  # one try to connect; Ray's own twenty take a quarter of an hour
}
# Ray would end the process that ends what a worker has started (:mod:`etude.evaluation.keeper`) first, and leave what hangs to itself.
OWN_CHILDREN = {"RAY_kill_child_processes_on_worker_exit": "0"}

Item = tuple[Any, ...]


@dataclass(frozen=True)
class RaySettings:
    """What is used of the cluster at ``address``; when that is empty, of the one that Ray finds.

    Each worker holds one CPU, ``gpus`` of a machine's GPUs (a part, for several on one) and ``memory`` GiB, if any is asked for. There are
    as many as fit, or no more than ``workers``.
    """

    address: str = ""
    workers: int = 0
    gpus: float = 0.0
    memory: float | None = None

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise EtudeError(f"--workers must not be negative, got {self.workers}")
        if self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus)):
            raise EtudeError(f"--gpus is a part of one, or a whole number of them, got {self.gpus:g}")

    @property
    def held(self) -> dict[str, float]:
        """What a worker holds, as Ray calls it."""
        asked = {"CPU": 1.0, "GPU": self.gpus, "memory": math.floor((self.memory or 0.0) * 2**30)}
        return {what: amount for what, amount in asked.items() if amount}

    def told(self) -> str:
        """What a worker holds, in words."""
        memory = f" and {self.memory:g} GiB" if self.memory else ""
        return "1 CPU" + (f", {self.gpus:g} GPU" if self.gpus else "") + memory


class NodeWorker(Protocol):
    """What a worker of a cluster is: made there, of plain data."""

    def hello(self) -> dict[str, Any]:
        """Get ready; says what has to be the same on all machines."""

    def work(self, *item: Any) -> Any:
        """What became of an item, as plain data or bytes."""


@dataclass(frozen=True)
class Lost:
    """In place of an answer: workers were lost over an item, too often for bad luck."""

    reason: str
    seconds: float


class _Actor:
    """What runs on the cluster, around a :class:`NodeWorker`. Plain data goes in, bytes come out, and no pickle."""

    def __init__(self, kind: str, arguments: str, plugins: str, place: str) -> None:
        self._kind, self._arguments, self._plugins = kind, json.loads(arguments), json.loads(plugins)
        if Path(place).is_dir():  # where machines share their files, modules and relative paths mean what they mean to the user
            os.chdir(place)

    def hello(self) -> bytes:
        try:
            load_all(self._plugins)
            module, _, name = self._kind.partition(":")
            self._worker: NodeWorker = getattr(importlib.import_module(module), name)(*self._arguments)
            return pack({"said": self._worker.hello()})
        except EtudeError as error:
            return pack({"refused": str(error)})

    def work(self, item: str) -> bytes:
        try:
            return pack({"answer": self._worker.work(*json.loads(item))})
        except EtudeError as error:
            return pack({"refused": str(error)})


@dataclass
class _RayWorker:
    actor: Any
    failed: int  # starts in a row that had failed when it was started
    open: dict[Any, tuple[Item, float]] = field(default_factory=dict)  # what it works on, first come first served, and since when
    greeting: Any = None  # the reference of its first word, until that is heard


class RayTeam:
    """Workers of one ``kind``, made of ``arguments`` (plain data), and what they are given to do. ``about`` says in words what they load.

    All machines have to say the same as ``agreed``. ``ahead``: so many items lie ready at each worker. Of several teams that use the
    cluster together, each takes one ``part``. Etude must be installed on every machine. Ray trusts everybody who can reach the cluster,
    so it belongs in a network of its own.
    """

    def __init__(
        self,
        kind: type[NodeWorker],
        arguments: Iterable[Any],
        settings: RaySettings,
        about: str,
        agreed: Mapping[str, Any],
        plugins: Iterable[str] = (),
        ahead: int = 1,
        parts: int = 1,
    ) -> None:
        self._made_of = (f"{kind.__module__}:{kind.__name__}", json.dumps([*arguments]), json.dumps([*plugins]), str(Path.cwd()))
        self._settings, self._about, self._agreed, self._ahead, self._parts = settings, about, dict(agreed), ahead, parts
        self._workers: list[_RayWorker] = []
        self._lost: Counter[Item] = Counter()
        self._failed, self._reason, self._met = 0, "", False
        self._places, self._looked, self._served, self._warned = 1, -LOOK, 0.0, False
        self._ray, self._ours = _connect(settings.address)
        # Ray itself retries nothing: it cannot tell an item that ends workers from bad luck.
        held = {"num_cpus": 1, "num_gpus": settings.gpus, "memory": int(settings.held.get("memory", 0)) or None}
        alone = {"max_restarts": 0, "max_task_retries": 0, "runtime_env": {"env_vars": ONE_THREAD | OWN_CHILDREN}}
        self._actor = self._ray.remote(**held, **alone)(_Actor)

    def hello(self) -> dict[str, Any]:
        """What the workers say of themselves: the first is started to find out."""
        while not self._met:
            self._fit(1)
            self._listen(deque(), LOOK)
        return self._agreed

    def work_off(self, items: Iterable[Item]) -> Iterator[tuple[Item, Any]]:
        """Items with their answers, in the order in which these come. What was done by a worker that is lost is done again by another."""
        queue = deque(items)
        while queue or any(worker.open for worker in self._workers):
            yield from self.turn(queue)

    def turn(self, queue: deque[Item], timeout: float = LOOK) -> list[tuple[Item, Any]]:
        """Hand out what stands in the queue, and give what is answered, if anything is within so many seconds."""
        self._fit(len(queue) + sum(len(worker.open) for worker in self._workers))
        self._hand_out(queue)
        found = self._listen(queue, timeout)
        self._hand_out(queue)  # before anybody writes down what was answered: nobody waits for a disk
        return found

    @property
    def room(self) -> int:
        """Workers that fit on the cluster, whoever has joined or left; at least one, so that a cluster that grows on demand does."""
        if time.monotonic() - self._looked > LOOK:
            nodes = [n["Resources"] for n in self._ray.nodes() if n["Alive"]]
            held = self._settings.held
            fitting = total(min(math.floor(n.get(what, 0) / amount + 1e-6) for what, amount in held.items()) for n in nodes)
            if not fitting and not self._warned:
                _log.warning("no machine of the cluster has room for a worker with %s: waiting for one", self._settings.told())
                self._warned = True
            self._places = max(1, min(fitting // self._parts, self._settings.workers or fitting))
            self._looked = time.monotonic()
        return self._places

    def _fit(self, open_items: int) -> None:
        """Start workers where there is room and work for more. Those without work go, so that nothing is given to one that died idle."""
        wanted = min(self.room, open_items)
        spare = sorted((w for w in reversed(self._workers) if not w.open), key=lambda w: w.greeting is None)
        for worker in spare[: max(0, len(self._workers) - wanted)]:
            self._end(worker)
        while len(self._workers) < wanted and self._failed < TRIES:
            self._start()
        if wanted and not self._workers:
            raise EtudeError(f"loading {self._about} ended its worker, {TRIES} times in a row: {self._reason}")
        if not wanted or any(w.greeting is None for w in self._workers):
            self._served = time.monotonic()
        elif time.monotonic() - self._served > START:
            raise EtudeError(
                f"no worker of the cluster ({self._settings.told()}) had loaded {self._about} within {START:.0f} seconds;"
                " 'ray status' says what is taken"
            )

    def _start(self) -> None:
        if not self._workers:
            self._served = time.monotonic()
        actor = self._actor.remote(*self._made_of)
        self._workers.append(_RayWorker(actor, self._failed, greeting=actor.hello.remote()))

    def _end(self, worker: _RayWorker) -> None:
        self._workers.remove(worker)
        self._ray.kill(worker.actor)

    def _hand_out(self, queue: deque[Item]) -> None:
        """To those who have least first, so that nobody has two before everybody has one. An item over which a worker was lost is given to
        one that has nothing else: answers of others may be lost with it, and only what is alone can be told to be the cause."""
        able = [w for w in self._workers if w.greeting is None and not any(self._lost[item] for item, _ in w.open.values())]
        while queue and able:
            worker = min(able, key=lambda w: len(w.open))
            suspect = bool(self._lost[queue[0]])
            if len(worker.open) >= (1 if suspect else self._ahead):
                break
            if suspect:
                able.remove(worker)
            item = queue.popleft()
            worker.open[worker.actor.work.remote(json.dumps(item))] = (item, time.monotonic())

    def _listen(self, queue: deque[Item], timeout: float) -> list[tuple[Item, Any]]:
        """Wait until a worker answers, or until it is time to look around. Items of workers that are lost go back into the queue."""
        waited = {ref: w for w in self._workers for ref in (w.open if w.greeting is None else [w.greeting])}
        if not waited:
            return []
        self._ray.wait(list(waited), timeout=timeout)
        done, _ = self._ray.wait(list(waited), num_returns=len(waited), timeout=0)
        found: list[tuple[Item, Any]] = []
        for ended in done:
            worker = waited[ended]
            if worker not in self._workers:  # lost over an earlier item
                continue
            try:
                said = unpack(self._ray.get(ended))
            except self._ray.exceptions.RayError as error:
                found += self._missed(worker, ended, error, queue)
                continue
            self._failed = 0
            if "refused" in said:
                raise EtudeError(said["refused"])
            if worker.greeting is None:
                item, _ = worker.open.pop(ended)
                found.append((item, said["answer"]))
            else:
                self._welcome(worker, said["said"])
        return found

    def _welcome(self, worker: _RayWorker, said: dict[str, Any]) -> None:
        for what, theirs in said.items():
            if self._agreed.setdefault(what, theirs) != theirs:
                raise EtudeError(f"the machines of the cluster differ in their {what}: {self._agreed[what]} and {theirs}"[:500])
        worker.greeting, self._met = None, True

    def _missed(self, worker: _RayWorker, ended: Any, error: Exception, queue: deque[Item]) -> list[tuple[Item, Any]]:
        """A worker is lost: what it had is done again, first of all, unless workers were lost over the same item too often."""
        self._end(worker)
        reason = _lines(error)[-1][:300]
        if worker.greeting is not None:
            # Many may go at once with their machine; that counts once, for all that were started after the same number of failures.
            self._failed, self._reason = max(self._failed, worker.failed + 1), reason
            return []
        item, since = worker.open.pop(ended)
        queue.extendleft(other for other, _ in reversed(worker.open.values()))
        self._lost[item] += 1
        if self._lost[item] < TRIES:
            queue.appendleft(item)
            return []
        return [(item, Lost(f"the worker ended, {TRIES} times in a row: {reason}", time.monotonic() - since))]

    def close(self) -> None:
        """End all workers, and leave the cluster."""
        for worker in list(self._workers):
            self._end(worker)
        if self._ours:
            self._ray.shutdown()
            self._ours = False

    def __enter__(self) -> Self:
        return self

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
            with _same_end():
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
def _same_end() -> Iterator[None]:
    """Whoever handles SIGTERM goes on doing so: Ray would end the process at once, and a training would lose what it reached."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


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
