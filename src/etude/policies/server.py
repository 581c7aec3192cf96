"""Serve a policy over a WebSocket: openpi's wire, with the contract in the metadata and a message for each new episode.

Clients of openpi pass over the contract and never say that an episode begins; for them an episode lasts as long as the connection.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from etude.names import EtudeError, unknown
from etude.policies.policy import Observation, Picture, Policy
from etude.policies.wire import pack, unpack
from etude.pose import Array

T = TypeVar("T")
INTERNAL_ERROR = 1011
PATIENCE = 120.0  # seconds without a sign of life before a client counts as gone: a debugger may stop it for a while


@runtime_checkable
class BatchPolicy(Protocol):
    """A policy that answers several clients in one call: a method ``act_batch`` next to those of :class:`~etude.policies.policy.Policy`.

    One instance serves all, so it keeps what it remembers by session: a small number, one for each open connection, used again after its
    end. With the optional method ``reset_session(session, instruction, pictures, episode)`` the policy is told when an episode begins;
    without it the policy is taken to remember nothing. Its ``reset`` and ``act`` are not called.
    """

    def act_batch(self, observations: list[Observation], sessions: list[int]) -> list[Array]:
        """The actions (H, D) or (D,) for each observation; ``sessions`` says whose each is."""


def serve(
    make_policy: Callable[[], Policy],
    host: str = "127.0.0.1",
    port: int = 8000,
    batch: int = 1,
    wait_ms: float = 5.0,
    ready: Callable[[int], None] | None = None,
) -> None:
    """Serve until interrupted. ``make_policy`` is called once for each connection, or once in all for a :class:`BatchPolicy`.

    Requests to a :class:`BatchPolicy` are gathered until there are ``batch`` of them, all clients have asked, or ``wait_ms`` have passed.
    ``ready`` is called with the port as soon as clients can connect; port 0 takes a free one.
    """
    asyncio.run(serving(make_policy, host, port, batch, wait_ms, ready))


async def serving(
    make_policy: Callable[[], Policy],
    host: str = "127.0.0.1",
    port: int = 8000,
    batch: int = 1,
    wait_ms: float = 5.0,
    ready: Callable[[int], None] | None = None,
) -> None:
    """:func:`serve` for those who have an event loop; cancel it to stop."""
    if batch < 1 or not wait_ms >= 0:
        raise EtudeError(f"a batch is at least 1 and its wait at least 0 ms, got {batch} and {wait_ms:g} ms")
    worker = _Worker()
    try:
        first = await worker.run(make_policy)
        if first.contract.privileged:
            raise EtudeError(f"{type(first).__name__} is privileged: it wants the true state, which is not sent over a socket")
        metadata = pack({"etude": {"contract": first.contract.to_data(), "reset": True}})
        if isinstance(first, BatchPolicy):
            shared = _Shared(first, worker, batch, wait_ms / 1000)
            gathering = asyncio.create_task(shared.gather())
            try:
                await _listen(shared.seat, metadata, host, port, ready)
            finally:
                gathering.cancel()
        elif batch > 1:
            raise EtudeError(
                f"{type(first).__name__} has no method act_batch, so it cannot be asked in batches of {batch}; serve it with 1"
            )
        else:
            await _listen(_Separate(first, make_policy, worker).seat, metadata, host, port, ready)
    finally:
        worker.close()


# ------------------------------------------------------------------------------------------------ who answers


class _Worker:
    """The one thread in which policies are made and asked, so that the event loop stays free and no policy meets two threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="policy")

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        def guarded() -> T:
            try:
                return function(*arguments)
            except StopIteration as error:  # a future cannot hold one: whoever waits for it would wait for ever
                raise RuntimeError("the policy ran out of items (StopIteration)") from error

        return await asyncio.get_running_loop().run_in_executor(self._pool, guarded)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Seat(Protocol):
    """One connection's side of the policy."""

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None: ...

    async def act(self, observation: Observation) -> tuple[Array, float]:
        """The actions, and the seconds the model took."""


def _timed(function: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    begun = time.perf_counter()
    return function(*arguments), time.perf_counter() - begun


@dataclass(frozen=True)
class _OwnSeat:
    policy: Policy
    worker: _Worker

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        await self.worker.run(self.policy.reset, instruction, pictures, episode)

    async def act(self, observation: Observation) -> tuple[Array, float]:
        return await self.worker.run(_timed, self.policy.act, observation)


class _Separate:
    """A policy for each connection. The first was made to learn the contract, and goes to whoever comes first."""

    def __init__(self, first: Policy, make_policy: Callable[[], Policy], worker: _Worker) -> None:
        self._spare, self._make, self._worker = [first], make_policy, worker

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[_Seat]:
        yield _OwnSeat(self._spare.pop() if self._spare else await self._worker.run(self._make), self._worker)


@dataclass(frozen=True)
class _Request:
    session: int
    observation: Observation
    answer: asyncio.Future[tuple[Array, float]]


class _Shared:
    """One policy for all connections, asked for several at once."""

    def __init__(self, policy: BatchPolicy, worker: _Worker, batch: int, wait: float) -> None:
        self._policy, self._worker, self._batch, self._wait = policy, worker, batch, wait
        self._requests: asyncio.Queue[_Request] = asyncio.Queue()
        self._sessions: set[int] = set()

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[_Seat]:
        session = next(n for n in itertools.count() if n not in self._sessions)
        self._sessions.add(session)
        try:
            yield _SharedSeat(self, session)
        finally:
            self._sessions.discard(session)

    async def reset(self, session: int, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        told = getattr(self._policy, "reset_session", None)
        if told is not None:
            await self._worker.run(told, session, instruction, pictures, episode)

    async def act(self, session: int, observation: Observation) -> tuple[Array, float]:
        request = _Request(session, observation, asyncio.get_running_loop().create_future())
        self._requests.put_nowait(request)
        return await request.answer

    async def gather(self) -> None:
        """Answer requests, for ever."""
        while True:
            requests = [await self._requests.get()]
            deadline = asyncio.get_running_loop().time() + self._wait
            try:
                async with asyncio.timeout_at(deadline):
                    while len(requests) < min(self._batch, len(self._sessions)):
                        requests.append(await self._requests.get())
            except TimeoutError:
                pass
            await self._answer(sorted(requests, key=lambda request: request.session))

    async def _answer(self, requests: list[_Request]) -> None:
        try:
            found, seconds = await self._worker.run(
                _timed, self._policy.act_batch, [r.observation for r in requests], [r.session for r in requests]
            )
            if len(found) != len(requests):
                raise EtudeError(f"act_batch gave {len(found)} answers to {len(requests)} observations")
            for request, actions in zip(requests, found, strict=True):
                if not request.answer.done():
                    request.answer.set_result((actions, seconds))
        except Exception as error:
            for request in requests:
                if not request.answer.done():
                    request.answer.set_exception(error)


@dataclass(frozen=True)
class _SharedSeat:
    shared: _Shared
    session: int

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        await self.shared.reset(self.session, instruction, pictures, episode)

    async def act(self, observation: Observation) -> tuple[Array, float]:
        return await self.shared.act(self.session, observation)


# ------------------------------------------------------------------------------------------------ the socket


async def _listen(
    seat: Callable[[], AbstractAsyncContextManager[_Seat]], metadata: bytes, host: str, port: int, ready: Callable[[int], None] | None
) -> None:
    async def converse(connection: ServerConnection) -> None:
        try:
            async with seat() as taken:
                await connection.send(metadata)
                await _answer_all(connection, taken)
        except ConnectionClosed:
            pass
        except Exception as error:
            logging.getLogger(__name__).error("a policy failed: %s", error, exc_info=True)
            try:
                await connection.send(traceback.format_exc())
                await connection.close(INTERNAL_ERROR, "the traceback was sent before")
            except ConnectionClosed:
                pass

    try:
        # No web page may talk to it through somebody's browser, so a request that names an origin is turned away.
        server = await listen(converse, host, port, origins=[None], process_request=_health, compression=None, max_size=None,
                              ping_timeout=PATIENCE)  # fmt: skip
    except OverflowError:
        raise EtudeError(f"a port is a number from 0 to 65535, got {port}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise EtudeError(f"port {port} of {host} is in use; choose another, or 0 for any that is free") from None
        raise EtudeError(f"cannot listen at {host}:{port}: {(error.strerror or str(error)).lower()}") from None
    async with server:
        if ready is not None:
            ready(int(server.sockets[0].getsockname()[1]))
        await server.serve_forever()


def _health(connection: ServerConnection, request: Request) -> Response | None:
    return connection.respond(HTTPStatus.OK, "OK\n") if request.path == "/healthz" else None


async def _answer_all(connection: ServerConnection, seat: _Seat) -> None:
    begun = False
    async for message in connection:
        data = unpack(message) if isinstance(message, bytes) else message
        if not isinstance(data, dict):
            raise EtudeError(f"a policy server expects a dict in a binary message, got {type(data).__name__}")
        if "__ctrl__" in data:
            if data["__ctrl__"] != "reset":
                raise unknown("control message", str(data["__ctrl__"]), ("reset",))
            await seat.reset(_text(data, "instruction"), _pictures(data), _text(data, "episode"))
            answer: dict[str, Any] = {"ok": True}
        else:
            observation = _observation(data)
            if not begun:
                await seat.reset(_text(observation, "instruction"), [], "")
            actions, seconds = await seat.act(observation)
            answer = {"actions": np.asarray(actions), "server_timing": {"infer_ms": seconds * 1000}}
        begun = True
        await connection.send(pack(answer))


def _observation(data: dict[str, Any]) -> Observation:
    """What the policy would get in the same process: writable arrays, and the instruction under its own name."""
    seen = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in data.items() if key != "prompt"}
    seen.setdefault("instruction", data.get("prompt", ""))
    return seen


def _text(data: dict[str, Any], key: str) -> str:
    if not isinstance(data.get(key, ""), str):
        raise EtudeError(f"{key!r} must be text, got {type(data[key]).__name__}")
    return str(data.get(key, ""))


def _pictures(data: dict[str, Any]) -> list[Picture]:
    pictures = data.get("pictures", [])
    if not isinstance(pictures, list) or not all(isinstance(p, np.ndarray) for p in pictures):
        raise EtudeError("'pictures' must be a list of arrays")
    return [picture.copy() for picture in pictures]
