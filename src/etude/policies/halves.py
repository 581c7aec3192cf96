"""Policies in two parts, called halves: an encoder makes ready what is told and seen, beside every simulation, and inference in one process
decides for all of them.

A graphics card works best for one process that decides for many episodes at once; the simulations around it need neither its weights nor
its libraries. Where a policy's address has halves (:func:`~etude.policies.register.register_policy`), a run may start one process of
inference for all its workers.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.policy import Observation
from etude.policies.wire import pack, unpack
from etude.pose import Array

Arrays = dict[str, NDArray[Any]]


class Encoder(Protocol):
    """The half beside a simulation, which turns instructions and observations into arrays. It has one episode at a time."""

    contract: Contract

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins: what inference has to know of it."""

    def saw(self, observation: Observation) -> Arrays:
        """What inference has to know of an observation."""


class Inference(Protocol):
    """The half that decides: it computes the actions. It remembers by session: a small number, one for each simulation."""

    about: Mapping[str, str]

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """The actions (D,) or (H, D). Each depends on its own session alone, not on who else is asking."""


@runtime_checkable
class RememberingInference(Protocol):
    """An :class:`Inference` whose memory of an episode can be put aside and taken up again."""

    def memory(self, session: int) -> Arrays:
        """All that is remembered of the episode in this session."""

    def recall(self, session: int, memory: Arrays) -> None:
        """Remember this instead."""


def remembering(inference: Inference) -> RememberingInference:
    """What was given, if its memory can be put aside."""
    if not isinstance(inference, RememberingInference):
        raise EtudeError("what this policy remembers cannot be saved: only closed-loop policies keep their memory as plain arrays")
    return inference


@dataclass(frozen=True)
class Halves:
    """How the two halves of a policy are made. ``shared``: shall one process decide for all simulations of a run?"""

    encoder: Callable[[], Encoder]
    inference: Callable[[], Inference]
    shared: Callable[[], bool]


class WholePolicy:
    """Both halves in one process: for one episode after the other, or for all clients of a server."""

    def __init__(self, halves: Halves) -> None:
        self._halves, self._inference = halves, halves.inference()
        self._encoders: dict[int, Encoder] = {}
        self.contract, self.about = halves.encoder().contract, self._inference.about

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self.reset_session(0, instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next action."""
        return self.act_batch([observation], [0])[0]

    def save(self) -> Arrays:
        """All that is remembered of the episode."""
        return remembering(self._inference).memory(0)

    def restore(self, memory: Arrays) -> None:
        """Go on from what was remembered, after a reset with the same words."""
        remembering(self._inference).recall(0, memory)

    def reset_session(self, session: int, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins in this session."""
        encoder = self._encoders.setdefault(session, self._halves.encoder())
        self._inference.begin(session, encoder.told(instruction, pictures, episode))

    def act_batch(self, observations: list[Observation], sessions: list[int]) -> list[Array]:
        """The next actions in these sessions."""
        if not {*sessions} <= {*self._encoders}:
            raise EtudeError("a learned policy acts after reset, not before")
        return self._inference.decide(sessions, [self._encoders[k].saw(seen) for k, seen in zip(sessions, observations, strict=True)])


class NearPolicy:
    """The encoder of a policy whose inference runs in another process, at a Unix socket's address."""

    def __init__(self, encoder: Encoder, address: str) -> None:
        self._encoder, self.contract = encoder, encoder.contract
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(address)
                self._connection = Connection(line.detach())
            self.about: Mapping[str, str] = unpack(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise EtudeError(f"the process that decides for all simulations cannot be reached: {error or 'it has ended'}") from None

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self._connection.send_bytes(pack({"told": self._encoder.told(instruction, pictures, episode)}))

    def act(self, observation: Observation) -> Array:
        """The next action."""
        action: Array = self._answer({"saw": self._encoder.saw(observation)})["action"]
        return action

    def save(self) -> Arrays:
        """All that is remembered of the episode."""
        memory: Arrays = self._answer({"save": True})["memory"]
        return memory

    def restore(self, memory: Arrays) -> None:
        """Go on from what was remembered, after a reset with the same words."""
        self._answer({"restore": memory})

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        self._connection.send_bytes(pack(question))
        answer: dict[str, Any] = unpack(self._connection.recv_bytes())
        if "failed" in answer:
            raise EtudeError(answer["failed"])
        return answer
