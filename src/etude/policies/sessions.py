"""One policy for many connections: asked for several at once, or playing each in a copy that shares its weights."""

from __future__ import annotations

import asyncio
import copy
import itertools
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np

from etude.foreign import in_a_line
from etude.names import EtudeError
from etude.policies.calling import fitting
from etude.policies.policy import BatchPolicy, ForkingPolicy, Observation, Picture, Policy, SessionPolicy
from etude.pose import Array

T = TypeVar("T")


class Worker:
    """The one thread in which a policy is made and asked, so that the event loop stays free and no policy meets two threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="policy")

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """``function(*arguments)``, when its turn comes."""

        def guarded() -> T:
            try:
                return function(*arguments)
            except StopIteration as error:  # a future cannot hold one: whoever waits for it would wait for ever
                raise RuntimeError("the policy ran out of items (StopIteration)") from error
            except SystemExit as error:  # would end the server, and everybody's episodes with it
                raise RuntimeError(f"the policy wanted to leave (SystemExit: {error.code})") from error

        return await asyncio.get_running_loop().run_in_executor(self._pool, guarded)

    def close(self) -> None:
        """Let go of the thread; what it is doing is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Seat(Protocol):
    """One connection's side of the policy."""

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""

    async def act(self, observation: Observation) -> tuple[Array, float]:
        """The actions, and the seconds the model took."""


class Seats(Protocol):
    """Where connections get theirs."""

    def seat(self) -> AbstractAsyncContextManager[Seat]:
        """A seat for as long as a connection lasts."""


def _timed(function: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    begun = time.perf_counter()
    return function(*arguments), time.perf_counter() - begun


# ------------------------------------------------------------------------------------------------ episodes apart


@dataclass(frozen=True)
class _OwnSeat:
    policy: Policy
    worker: Worker

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        await self.worker.run(self.policy.reset, instruction, pictures, episode)

    async def act(self, observation: Observation) -> tuple[Array, float]:
        return await self.worker.run(_timed, self.policy.act, observation)


class Separate:
    """A policy made once. The first connection plays with it; each beside it with what its method ``new_session()`` gives, or with a copy.

    A copy shares what :func:`weights` finds and has everything else for itself, so no episode can see another's memory. It is used again
    when its connection has ended: there are never more than connections at a time.
    """

    def __init__(self, policy: Policy, worker: Worker) -> None:
        self._policy, self._worker, self._spare = policy, worker, [policy]

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[Seat]:
        """The policy itself if nobody plays with it, or another."""
        taken = self._spare.pop() if self._spare else await self._worker.run(another, self._policy)
        try:
            yield _OwnSeat(taken, self._worker)
        finally:
            self._spare.append(taken)


def another(policy: Policy) -> Policy:
    """A policy for one more episode at the same time, on the same weights."""
    name = type(policy).__name__
    if isinstance(policy, ForkingPolicy):
        made: Policy = fitting("policy", f"what {name}.new_session() gives", policy.new_session())
        if made.contract != policy.contract:
            raise EtudeError(f"what {name}.new_session() gives has another contract than the {name} it comes from")
        return made
    try:
        return copy.deepcopy(policy, {id(shared): shared for shared in weights(policy)})
    except Exception as error:  # whatever it holds may refuse in its own way
        raise EtudeError(
            f"{name} serves one connection at a time, because it cannot be copied for another ({in_a_line(error)}); "
            "give it a method new_session(), or act_batch"
        ) from error


def weights(policy: object) -> Iterator[object]:
    """What copies of a policy may share, because acting does not change it: torch's parameters, and read-only arrays (no views)."""
    torch = sys.modules.get("torch")  # who has not imported it has none of its modules
    seen: dict[int, object] = {}
    left: list[object] = [policy]
    while left:
        value = left.pop()
        if id(value) in seen or isinstance(value, (type, ModuleType, FunctionType, BuiltinFunctionType)):
            continue
        seen[id(value)] = value
        if isinstance(value, np.ndarray):
            if not value.flags.writeable and value.base is None:
                yield value
        elif torch is not None and isinstance(value, torch.nn.Parameter):
            yield value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, (list, tuple, set, frozenset)):
            left += value
        else:
            left += getattr(value, "__dict__", {}).values()


# ------------------------------------------------------------------------------------------------ several at once


@dataclass(frozen=True)
class _Request:
    session: int
    observation: Observation
    answer: asyncio.Future[tuple[Array, float]]


class Together:
    """A :class:`BatchPolicy`, asked for several connections at once: when there are ``batch`` requests, all have asked, or ``wait`` seconds
    have passed."""

    def __init__(self, policy: BatchPolicy, worker: Worker, batch: int, wait: float) -> None:
        self._policy, self._worker, self._batch, self._wait = policy, worker, batch, wait
        self._requests: asyncio.Queue[_Request] = asyncio.Queue()
        self._sessions: set[int] = set()

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[Seat]:
        """A session with the smallest number that is free."""
        session = next(n for n in itertools.count() if n not in self._sessions)
        self._sessions.add(session)
        try:
            yield _SharedSeat(self, session)
        finally:
            self._sessions.discard(session)

    async def reset(self, session: int, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Tell the policy that an episode begins, if it wants to know."""
        if isinstance(self._policy, SessionPolicy):
            await self._worker.run(self._policy.reset_session, session, instruction, pictures, episode)

    async def act(self, session: int, observation: Observation) -> tuple[Array, float]:
        """Wait for a batch and its answer."""
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
            if not isinstance(found, (list, tuple, np.ndarray)):
                raise EtudeError(f"act_batch gave a {type(found).__name__}; expected a list of {len(requests)} actions")
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
    shared: Together
    session: int

    async def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        await self.shared.reset(self.session, instruction, pictures, episode)

    async def act(self, observation: Observation) -> tuple[Array, float]:
        return await self.shared.act(self.session, observation)
