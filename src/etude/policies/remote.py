"""A policy that runs somewhere else and is reached over a WebSocket. The wire is openpi's, so its servers can be evaluated as they are."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from etude.envs.simulation import SIZES
from etude.names import EtudeError
from etude.policies.address import LAYOUTS, Address
from etude.policies.contract import ROTATION_NUMBERS, Contract
from etude.policies.policy import Observation, Picture
from etude.policies.wire import LARGEST_FRAME, pack, unpack
from etude.pose import Array

KEY = "ETUDE_POLICY_KEY"  # environment variable with the key of a server that wants one
TOO_BIG = 1009  # the code with which a connection ends over a message beyond the bound
PAUSE = 0.2  # seconds between two attempts to reach a server that is not up yet
FAREWELL = 1.0  # seconds given to a server to say goodbye: one that hangs must not hold up the next episode


class PolicyError(EtudeError):
    """A policy server was not there, did not answer in time, or answered something that is no action."""


class RemotePolicy:
    """The policy behind ``ws://host:port[/path][?options]``; see :class:`~etude.policies.address.Address` for the options.

    The first connection is made at once, because the contract comes from the server. Whatever goes wrong later is a :class:`PolicyError`
    that ends the episode; the next :meth:`reset` connects again.
    """

    def __init__(self, url: str) -> None:
        self._address = Address.parse(url)
        self._closing = ExitStack()
        self._connection: ClientConnection | None = None
        with self._dropped_on_error():
            self._agreement = self._address.agreed(self._connect())
        self.contract = self._agreement.contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins; the server is told if it wants to be, and connected again if it was lost."""
        with self._dropped_on_error():
            if self._connection is None or self._connection.state is not State.OPEN:
                self.close()
                if self._address.agreed(self._connect()) != self._agreement:
                    raise PolicyError(f"the policy server at {self._address.shown} came back with another contract")
            if self._agreement.resets:
                told = {"__ctrl__": "reset", "instruction": instruction, "pictures": list(pictures), "episode": episode}
                if self._ask(pack(told)).get("ok") is not True:
                    raise PolicyError(f"the policy server at {self._address.shown} did not accept the new episode")

    def act(self, observation: Observation) -> Array:
        """The server's next actions (H, D) or (D,), in the space of the contract."""
        message = pack(LAYOUTS[self._address.layout or "etude"](observation, self.contract.picture_names))
        with self._dropped_on_error():
            return self._actions(self._ask(message), observation)

    def close(self) -> None:
        """End the connection, if there is one."""
        self._connection = None
        self._closing.close()

    @contextmanager
    def _dropped_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:  # an interrupt too: an answer still under way would be taken for that to the next question
            self.close()
            raise

    def _connect(self) -> dict[str, Any]:
        """Connect, waiting for a server that is still starting; gives the metadata with which it introduces itself."""
        key = os.environ.get(KEY, "").strip()
        headers = {"Authorization": f"Api-Key {key}"} if key else {}
        deadline = time.monotonic() + self._address.connect
        while True:
            left = deadline - time.monotonic()
            try:
                # No pings: openpi's server answers nothing at all while its model works, and the timeout of an answer watches over that.
                opened = connect(self._address.uri, additional_headers=headers, compression=None, max_size=LARGEST_FRAME, proxy=None,
                                 ping_interval=None, close_timeout=FAREWELL, open_timeout=max(left, 1.0))  # fmt: skip
                self._connection = connection = self._closing.enter_context(opened)
                break
            except (OSError, ValueError, WebSocketException) as error:
                reason, final = _refusal(error)
                if final or left <= 0:
                    raise PolicyError(f"no policy server at {self._address.shown}: {reason}") from None
            time.sleep(min(PAUSE, max(left, 0.0)))
        with suppress(OSError):  # already closed again: what was said before tells why
            _limit_sending(connection.socket, self._address.timeout)
        return self._read(connection)

    def _ask(self, message: bytes) -> dict[str, Any]:
        if self._connection is None:
            raise PolicyError(f"the connection to the policy server at {self._address.shown} was lost; reset() connects again")
        try:
            self._connection.send(message)
        except ConnectionClosed as error:
            raise self._broken(error) from None
        return self._read(self._connection)

    def _read(self, connection: ClientConnection) -> dict[str, Any]:
        where = f"the policy server at {self._address.shown}"
        try:
            message = connection.recv(timeout=self._address.timeout)
        except TimeoutError:
            raise PolicyError(f"{where} did not answer within {self._address.timeout:g} s") from None
        except ConnectionClosed as error:
            raise self._broken(error) from None
        if isinstance(message, str):
            lines = [line.strip() for line in message.splitlines() if line.strip()]
            raise PolicyError(f"{where} failed: {lines[-1][:300] if lines else 'it sent an empty text'}")
        try:
            answer = unpack(message)
        except EtudeError as error:
            raise PolicyError(f"{where} sent what cannot be read: {error}") from None
        if not isinstance(answer, dict):
            raise PolicyError(f"{where} sent {type(answer).__name__} where a dict belongs")
        return answer

    def _broken(self, error: ConnectionClosed) -> PolicyError:
        if isinstance(error.__cause__, (BlockingIOError, TimeoutError, ssl.SSLWantWriteError)):
            return PolicyError(f"the policy server at {self._address.shown} did not take the message within {self._address.timeout:g} s")
        if error.sent is not None and error.sent.code == TOO_BIG and not error.rcvd_then_sent:
            return PolicyError(f"the policy server at {self._address.shown} sent a message of more than {LARGEST_FRAME >> 20} MiB")
        how = " ".join(f"with {error.rcvd.code} {error.rcvd.reason}".split()) if error.rcvd is not None else "without a word"
        hint = "; its --max-frame says how much it takes" if error.rcvd is not None and error.rcvd.code == TOO_BIG else ""
        return PolicyError(f"the policy server at {self._address.shown} closed the connection {how}{hint}")

    def _actions(self, answer: dict[str, Any], observation: Observation) -> Array:
        where = f"the policy server at {self._address.shown}"
        if "actions" not in answer:
            raise PolicyError(f"{where} answered without 'actions'; it sent {', '.join(map(repr, answer)) or 'nothing'}"[:300])
        found = answer["actions"]
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
            what = f"an array of {found.dtype}" if isinstance(found, np.ndarray) else type(found).__name__
            raise PolicyError(f"{where} sent {what} as actions; expected an array of numbers")
        width = _width(self.contract, observation)
        if found.ndim not in (1, 2) or (width is not None and found.shape[-1] != width) or not found.size:
            expected = f"{self.contract.action!r} is ({width},) or (H, {width})" if width else "expected (D,) or (H, D)"
            raise PolicyError(f"{where} sent actions of shape {found.shape}; {expected}")
        with np.errstate(over="ignore"):  # what does not fit into a float becomes infinite, and is refused as such
            actions = found.astype(np.float64)
        if not np.isfinite(actions).all():
            raise PolicyError(f"{where} sent actions that are not finite")
        chunk = self.contract.chunk
        if actions.ndim == 2 and len(actions) > chunk and (self._agreement.declared or "chunk" not in self._address.stated):
            hint = "" if self._agreement.declared else f"; say chunk={len(actions)} in the URL, or how many of them to use"
            raise PolicyError(f"{where} sent {len(actions)} actions at once, its contract says chunk={chunk}{hint}")
        return actions[:chunk] if actions.ndim == 2 else actions


def _limit_sending(connected: socket.socket, seconds: float) -> None:
    """Give up on a server that takes nothing for so long; the library would wait for ever.

    The socket's plain timeout would not do: it ends reading as well, and so a connection on which nothing is said for a while.
    """
    if os.name == "posix":
        whole, rest = divmod(max(seconds, 0.001), 1.0)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(whole), int(rest * 1e6)))


def _width(contract: Contract, observation: Observation) -> int | None:
    """Numbers in an action; None where the task decides. Proprioception is the values and velocities of the joints and ten numbers more."""
    if contract.action == "joint":
        return (len(observation["proprioception"]) - 10) // 2 + 1
    if contract.rotation is not None and contract.action in ("ee_delta", "ee_pose", "keypose"):
        return 4 + ROTATION_NUMBERS.get(contract.rotation, 0)
    return SIZES.get(contract.action, 1) if contract.action is not None else None


def _refusal(error: Exception) -> tuple[str, bool]:
    """Why there is no connection, and whether it is useless to try again."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; start one with `etude serve-policy`", False
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "its host name is not known", True
    if isinstance(error, ssl.SSLError):
        return f"no secure connection ({error.reason or error})", True
    if isinstance(error, InvalidStatus):
        status = error.response.status_code
        hint = f"; set {KEY} to the key it wants" if status in (401, 403) else "; it may be full" if status == 503 else ""
        return f"it answered with HTTP {status}{hint}", status not in (502, 503, 504)  # those come from a gateway while the server starts
    if isinstance(error, TimeoutError):
        return "no answer", False
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower(), False
    return f"no WebSocket there ({error})", False
