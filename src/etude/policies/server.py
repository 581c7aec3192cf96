"""Serve a policy over a WebSocket: openpi's wire, with the contract in the metadata and a message for each new episode.

Clients of openpi pass over the contract and never say that an episode begins; for them an episode lasts as long as the connection.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from etude.envs.actions import numbers
from etude.foreign import own_traceback
from etude.names import EtudeError, unknown
from etude.policies.calling import fitting
from etude.policies.policy import BatchPolicy, Observation, Picture, Policy
from etude.policies.sessions import Seat, Seats, Separate, Together, Worker
from etude.policies.wire import LARGEST_FRAME, pack, unpack

INTERNAL_ERROR = 1011
PATIENCE = 120.0  # seconds without a sign of life before a client counts as gone: a debugger may stop it for a while
CONNECTIONS = 256  # held at once, unless told otherwise


@dataclass(frozen=True)
class Admission:
    """Who may come in, and with how much: ``max_frame`` bytes in one message, ``connections`` at once, those who know the ``key``.

    An empty key lets everybody in who can reach the port.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    max_frame: int = LARGEST_FRAME
    connections: int = CONNECTIONS
    key: str = ""

    def __post_init__(self) -> None:
        if self.max_frame < 1 or self.connections < 1:
            raise EtudeError(f"frames are at least 1 byte and connections at least 1, got {self.max_frame} and {self.connections}")
        if not self.key.isascii() or not self.key.isprintable() or self.key != self.key.strip():
            raise EtudeError("a key is sent in a header of HTTP: plain letters, digits and signs, without spaces around them")

    def opens(self, request: Request) -> bool:
        """Does the request carry the key? How long the answer takes does not tell how much of it was right."""
        given = request.headers.get_all("Authorization")
        sent = given[0] if len(given) == 1 else ""
        return not self.key or hmac.compare_digest(sent.encode("utf-8", "replace"), f"Api-Key {self.key}".encode())


def serve(
    make_policy: Callable[[], Policy],
    host: str = "127.0.0.1",
    port: int = 8000,
    batch: int = 1,
    wait_ms: float = 5.0,
    ready: Callable[[int], None] | None = None,
    max_frame: int = LARGEST_FRAME,
    connections: int = CONNECTIONS,
    key: str = "",
) -> None:
    """Serve until interrupted. ``make_policy`` is called once: all connections share the policy.

    Requests to a :class:`~etude.policies.policy.BatchPolicy` are gathered until there are ``batch`` of them, all clients have asked, or
    ``wait_ms`` have passed; any other policy plays each connection apart (:class:`~etude.policies.sessions.Separate`). ``ready`` is called
    with the port as soon as clients can connect; port 0 takes a free one. ``max_frame``, ``connections``, ``key``: see :class:`Admission`.
    """
    asyncio.run(serving(make_policy, host, port, batch, wait_ms, ready, max_frame, connections, key))


async def serving(
    make_policy: Callable[[], Policy],
    host: str = "127.0.0.1",
    port: int = 8000,
    batch: int = 1,
    wait_ms: float = 5.0,
    ready: Callable[[int], None] | None = None,
    max_frame: int = LARGEST_FRAME,
    connections: int = CONNECTIONS,
    key: str = "",
) -> None:
    """:func:`serve` for those who have an event loop; cancel it to stop."""
    if batch < 1 or not wait_ms >= 0:
        raise EtudeError(f"a batch is at least 1 and its wait at least 0 ms, got {batch} and {wait_ms:g} ms")
    door = Admission(host, port, max_frame, connections, key)
    worker = Worker()
    try:
        policy = await worker.run(make_policy)
        name = type(policy).__name__
        fitting("policy", name, policy)
        if policy.contract.privileged:
            raise EtudeError(f"{name} is privileged: it wants the true state, which is not sent over a socket")
        metadata = pack({"etude": {"contract": policy.contract.to_data(), "reset": True}})
        if isinstance(policy, BatchPolicy):
            together = Together(policy, worker, batch, wait_ms / 1000)
            gathering = asyncio.create_task(together.gather())
            try:
                await _listen(together, metadata, door, ready)
            finally:
                gathering.cancel()
        elif batch > 1:
            raise EtudeError(f"{name} has no method act_batch, so it cannot be asked in batches of {batch}; serve it with 1")
        else:
            await _listen(Separate(policy, worker), metadata, door, ready)
    finally:
        worker.close()


async def _listen(seats: Seats, metadata: bytes, door: Admission, ready: Callable[[int], None] | None) -> None:
    log = logging.getLogger(__name__)

    async def converse(connection: ServerConnection) -> None:
        try:
            async with seats.seat() as taken:
                await connection.send(metadata)
                await _answer_all(connection, taken)
        except ConnectionClosed:
            pass
        except EtudeError as error:
            log.warning("a connection was ended: %s", error)
            await last_words(connection, str(error), "the reason was sent before")
        except Exception as error:
            told = own_traceback(error)
            log.error("the policy failed: %s", told)
            await last_words(connection, told, "the traceback was sent before")

    await listening(converse, door, "policy server", ready)


async def listening(
    converse: Callable[[ServerConnection], Awaitable[None]], door: Admission, who: str, ready: Callable[[int], None] | None
) -> None:
    """Let those in who may come in, and have ``converse`` talk to each, until it is cancelled; ``who`` listens, in words."""

    def admitted(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/healthz":
            return connection.respond(HTTPStatus.OK, "OK\n")
        if not door.opens(request):
            return connection.respond(HTTPStatus.UNAUTHORIZED, f"this {who} wants a key: Authorization: Api-Key KEY\n")
        if len(connection.server.connections) >= door.connections:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"all {door.connections} connections are taken; see --connections\n")
        return None

    try:
        # No web page may talk to it through somebody's browser, so a request that names an origin is turned away. One frame waits at most
        # behind the one that is being answered, and all who may come in may do so at the same moment.
        server = await listen(converse, door.host, door.port, origins=[None], process_request=admitted, compression=None,
                              max_size=door.max_frame, max_queue=1, ping_timeout=PATIENCE, backlog=door.connections)  # fmt: skip
    except OverflowError:
        raise EtudeError(f"a port is a number from 0 to 65535, got {door.port}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise EtudeError(f"port {door.port} of {door.host} is in use; choose another, or 0 for any that is free") from None
        raise EtudeError(f"cannot listen at {door.host}:{door.port}: {(error.strerror or str(error)).lower()}") from None
    async with server:
        if ready is not None:
            ready(int(server.sockets[0].getsockname()[1]))
        await server.serve_forever()


async def last_words(connection: ServerConnection, words: str, reason: str) -> None:
    """Tell a client what went wrong, and end the connection."""
    try:
        await connection.send(words)
        await connection.close(INTERNAL_ERROR, reason)
    except ConnectionClosed:
        pass


async def _answer_all(connection: ServerConnection, seat: Seat) -> None:
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
            given, seconds = await seat.act(observation)
            numbers(given, "what the policy gave", "actions (H, D) or (D,), as numbers")
            answer = {"actions": np.asarray(given), "server_timing": {"infer_ms": seconds * 1000}}
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
