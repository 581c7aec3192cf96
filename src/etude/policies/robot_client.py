"""A robot that is somewhere else: the client's end of :mod:`etude.policies.robot_wire`."""

from __future__ import annotations

from typing import Any

import numpy as np

from etude.episodes import ActionSpace
from etude.names import EtudeError
from etude.policies.address import Address
from etude.policies.contract import Contract
from etude.policies.policy import Observation
from etude.policies.robot_wire import INTRODUCTION, RobotFacts, RobotFeeling
from etude.policies.wire import pack
from etude.policies.wire_client import WireClient
from etude.pose import Array

HINT = "start its server, such as examples/robot_server.py"


class RobotError(EtudeError):
    """A robot's server was not there, did not answer in time, went away, or sent what cannot be read: never a policy's failure."""


class RemoteRobot:
    """The robot behind ``ws://host:port``; ``?timeout=`` is the longest wait for an answer, ``?connect=`` for its server, in seconds.

    It is reached when it is made, because it says what it can do; a lost connection is made again when an episode begins.
    """

    def __init__(self, url: str) -> None:
        address = Address.parse(url)
        if address.stated or address.layout:
            raise EtudeError(f"{url!r}: the URL of a robot has the options timeout and connect; it says everything else itself")
        self._address = address
        self._client = self._made()
        self.facts = self._introduced(self._client)

    def _made(self) -> WireClient:
        at = self._address
        return WireClient(at.uri, at.shown, at.timeout, at.connect, "robot", HINT, RobotError)

    def _introduced(self, client: WireClient) -> RobotFacts:
        with client.dropped_on_error():
            said = client.connect()
            if INTRODUCTION not in said:
                raise RobotError(f"{client.where} is none: it introduces itself as {', '.join(map(repr, said)) or 'nothing'}"[:300])
            try:
                return RobotFacts.from_data(said[INTRODUCTION])
            except EtudeError as error:
                raise RobotError(f"{client.where} does not introduce itself rightly: {error}") from None

    def reach(self) -> None:
        """Connect again where the connection was lost. It must be the same robot."""
        if not self._client.opened:
            self._client.close()
            if self._introduced(self._client) != self.facts:
                self._client.close()
                raise RobotError(f"{self._client.where} came back as another one")

    def begin(self, episode: str, instruction: str, action: ActionSpace) -> RobotFeeling:
        """An episode begins, with actions of this space."""
        self.reach()
        return self._felt({"__ctrl__": "begin", "episode": episode, "instruction": instruction, "action": action})

    def act(self, action: Array) -> RobotFeeling:
        """Carry out one action (D,)."""
        return self._felt({"__ctrl__": "act", "action": np.asarray(action, float)})

    def home(self) -> RobotFeeling:
        """Open the hand, and go back to where the episode began."""
        return self._felt({"__ctrl__": "home"})

    def look(self, contract: Contract) -> Observation:
        """What the contract's cameras see now; as the robot sees it, in its own conventions."""
        size = None if contract.size is None else list(contract.size)
        wanted = {"cameras": list(contract.camera_names), "size": size, "modalities": list(contract.modalities)}
        seen = self._ask({"__ctrl__": "look", **wanted}).get("observation")
        if not isinstance(seen, dict) or not isinstance(seen.get("proprioception"), np.ndarray):
            raise RobotError(f"{self._client.where} looked and told nothing: an observation has pictures and proprioception")
        for camera in contract.camera_names:
            if "rgb" in contract.modalities and not isinstance(seen.get(camera), np.ndarray):
                raise RobotError(f"{self._client.where} sent no picture of its camera {camera!r}")
        return {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in seen.items()}

    def stop(self) -> None:
        """Stop it, now, over a connection of its own: the usual one may be waiting for an answer."""
        client = self._made()
        with client.dropped_on_error():
            client.connect()
            client.ask(pack({"__ctrl__": "stop"}))
        client.close()

    def close(self) -> None:
        """End the connection; the server stops the robot."""
        self._client.close()

    def _felt(self, message: dict[str, Any]) -> RobotFeeling:
        answer = self._ask(message)
        try:
            return RobotFeeling.from_data(answer)
        except EtudeError as error:
            self._client.close()
            raise RobotError(f"{self._client.where} did not say how it feels: {error}") from None

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        with self._client.dropped_on_error():
            return self._client.ask(pack(message))
