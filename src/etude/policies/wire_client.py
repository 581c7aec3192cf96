"""The client's end of the wire: a connection to a server that may be slow to start, hang, or go away. What goes wrong is one line."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from etude.names import EtudeError
from etude.policies.wire import LARGEST_FRAME, unpack

KEY = "ETUDE_POLICY_KEY"  # environment variable with the key of a server that wants one
TOO_BIG = 1009  # the code with which a connection ends over a message beyond the bound
PAUSE = 0.2  # seconds between two attempts to reach a server that is not up yet
FAREWELL = 1.0  # seconds given to a server to say goodbye: one that hangs must not hold up the next episode


class WireClient:
    """Speaks with the server at ``uri``, which is told of as ``who`` at ``shown``; ``hint`` says how one is started.

    ``timeout`` is the longest wait for an answer and ``patience`` the longest for a server that is not up yet, in seconds; what goes wrong
    is raised as ``error``.
    """

    def __init__(self, uri: str, shown: str, timeout: float, patience: float, who: str, hint: str, error: type[EtudeError]) -> None:
        self._uri, self._shown, self._timeout, self._patience = uri, shown, timeout, patience
        self._who, self._hint, self._error = who, hint, error
        self._closing = ExitStack()
        self._connection: ClientConnection | None = None

    @property
    def where(self) -> str:
        """Who is spoken with, in words."""
        return f"the {self._who} at {self._shown}"

    @property
    def opened(self) -> bool:
        """Is there a connection?"""
        return self._connection is not None and self._connection.state is State.OPEN

    def close(self) -> None:
        """End the connection, if there is one."""
        self._connection = None
        self._closing.close()

    @contextmanager
    def dropped_on_error(self) -> Iterator[None]:
        """Whatever breaks inside ends the connection."""
        try:
            yield
        except BaseException:  # an interrupt too: an answer still under way would be taken for that to the next question
            self.close()
            raise

    def connect(self) -> dict[str, Any]:
        """Connect, waiting for a server that is still starting; gives the metadata with which it introduces itself."""
        key = os.environ.get(KEY, "").strip()
        headers = {"Authorization": f"Api-Key {key}"} if key else {}
        deadline = time.monotonic() + self._patience
        while True:
            left = deadline - time.monotonic()
            try:
                # No pings: openpi's server answers nothing at all while its model works, and the timeout of an answer watches over that.
                opened = connect(self._uri, additional_headers=headers, compression=None, max_size=LARGEST_FRAME, proxy=None,
                                 ping_interval=None, close_timeout=FAREWELL, open_timeout=max(left, 1.0))  # fmt: skip
                self._connection = connection = self._closing.enter_context(opened)
                break
            except (OSError, ValueError, WebSocketException) as error:
                reason, final = self._refusal(error)
                if final or left <= 0:
                    raise self._error(f"no {self._who} at {self._shown}: {reason}") from None
            time.sleep(min(PAUSE, max(left, 0.0)))
        with suppress(OSError):  # already closed again: what was said before tells why
            _limit_sending(connection.socket, self._timeout)
        return self._read(connection)

    def ask(self, message: bytes) -> dict[str, Any]:
        """Send a message, and give the answer to it."""
        if self._connection is None:
            raise self._error(f"the connection to {self.where} was lost; reset() connects again")
        try:
            self._connection.send(message)
        except ConnectionClosed as error:
            raise self._broken(error) from None
        return self._read(self._connection)

    def _read(self, connection: ClientConnection) -> dict[str, Any]:
        where = self.where
        try:
            message = connection.recv(timeout=self._timeout)
        except TimeoutError:
            raise self._error(f"{where} did not answer within {self._timeout:g} s") from None
        except ConnectionClosed as error:
            raise self._broken(error) from None
        if isinstance(message, str):
            lines = [line.strip() for line in message.splitlines() if line.strip()]
            raise self._error(f"{where} failed: {lines[-1][:300] if lines else 'it sent an empty text'}")
        try:
            answer = unpack(message)
        except EtudeError as error:
            raise self._error(f"{where} sent what cannot be read: {error}") from None
        if not isinstance(answer, dict):
            raise self._error(f"{where} sent {type(answer).__name__} where a dict belongs")
        return answer

    def _broken(self, error: ConnectionClosed) -> EtudeError:
        if isinstance(error.__cause__, (BlockingIOError, TimeoutError, ssl.SSLWantWriteError)):
            return self._error(f"{self.where} did not take the message within {self._timeout:g} s")
        if error.sent is not None and error.sent.code == TOO_BIG and not error.rcvd_then_sent:
            return self._error(f"{self.where} sent a message of more than {LARGEST_FRAME >> 20} MiB")
        how = " ".join(f"with {error.rcvd.code} {error.rcvd.reason}".split()) if error.rcvd is not None else "without a word"
        hint = "; its --max-frame says how much it takes" if error.rcvd is not None and error.rcvd.code == TOO_BIG else ""
        return self._error(f"{self.where} closed the connection {how}{hint}")

    def _refusal(self, error: Exception) -> tuple[str, bool]:
        """Why there is no connection, and whether it is useless to try again."""
        if isinstance(error, ConnectionRefusedError):
            return f"connection refused; {self._hint}", False
        if isinstance(error, (socket.gaierror, UnicodeError)):
            return "its host name is not known", True
        if isinstance(error, ssl.SSLError):
            return f"no secure connection ({error.reason or error})", True
        if isinstance(error, InvalidStatus):
            status = error.response.status_code
            hint = f"; set {KEY} to the key it wants" if status in (401, 403) else "; it may be full" if status == 503 else ""
            return f"it answered with HTTP {status}{hint}", status not in (
                502,
                503,
                504,
            )  # of a gateway while the server starts
        if isinstance(error, TimeoutError):
            return "no answer", False
        if isinstance(error, OSError):
            return (error.strerror or str(error)).lower(), False
        return f"no WebSocket there ({error})", False


def _limit_sending(connected: socket.socket, seconds: float) -> None:
    """Give up on a server that takes nothing for so long; the library would wait for ever.

    The socket's plain timeout would not do: it ends reading as well, and so a connection on which nothing is said for a while.
    """
    if os.name == "posix":
        whole, rest = divmod(max(seconds, 0.001), 1.0)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(whole), int(rest * 1e6)))
