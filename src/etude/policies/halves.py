"""Policies in two halves: what is told and seen is made ready beside every simulation, and one process decides for all of them.

A graphics card works best for one process that decides for many episodes at once; the simulations around it need neither its weights nor
its libraries. Where a policy's address has halves (:func:`~etude.policies.register.register_policy`), a run may start one mind for all
its workers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.policy import Observation
from etude.policies.wire import pack, unpack
from etude.pose import Array

Arrays = dict[str, NDArray[Any]]
BACKLOG = 1024  # simulations that may wait until the mind is loaded


class Eyes(Protocol):
    """The half beside a simulation. It has one episode at a time."""

    contract: Contract

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins: what the mind has to know of it."""

    def saw(self, observation: Observation) -> Arrays:
        """What the mind has to know of an observation."""


class Mind(Protocol):
    """The half that decides. It remembers by session: a small number, one for each simulation."""

    about: Mapping[str, str]

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """The actions (D,) or (H, D). Each depends on its own session alone, not on who else is asking."""


@dataclass(frozen=True)
class Halves:
    """How the two halves of a policy are made. ``shared``: shall one mind decide for all simulations of a run?"""

    eyes: Callable[[], Eyes]
    mind: Callable[[], Mind]
    shared: Callable[[], bool]


class WholePolicy:
    """Both halves in one process: for one episode after the other, or for all clients of a server."""

    def __init__(self, halves: Halves) -> None:
        self._halves, self._mind = halves, halves.mind()
        self._eyes: dict[int, Eyes] = {}
        self.contract, self.about = halves.eyes().contract, self._mind.about

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self.reset_session(0, instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next action."""
        return self.act_batch([observation], [0])[0]

    def reset_session(self, session: int, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins in this session."""
        eyes = self._eyes.setdefault(session, self._halves.eyes())
        self._mind.begin(session, eyes.told(instruction, pictures, episode))

    def act_batch(self, observations: list[Observation], sessions: list[int]) -> list[Array]:
        """The next actions in these sessions."""
        if not {*sessions} <= {*self._eyes}:
            raise EtudeError("a learned policy acts after reset, not before")
        return self._mind.decide(sessions, [self._eyes[k].saw(seen) for k, seen in zip(sessions, observations, strict=True)])


class NearPolicy:
    """The eyes of a policy whose mind is elsewhere, at a Unix socket's address."""

    def __init__(self, eyes: Eyes, address: str) -> None:
        self._eyes, self.contract = eyes, eyes.contract
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(address)
                self._mind = Connection(line.detach())
            self.about: Mapping[str, str] = unpack(self._mind.recv_bytes())
        except (EOFError, OSError) as error:
            raise EtudeError(f"the process that decides for all simulations cannot be reached: {error or 'it has ended'}") from None

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self._mind.send_bytes(pack({"told": self._eyes.told(instruction, pictures, episode)}))

    def act(self, observation: Observation) -> Array:
        """The next action."""
        self._mind.send_bytes(pack({"saw": self._eyes.saw(observation)}))
        answer = unpack(self._mind.recv_bytes())
        if "failed" in answer:
            raise EtudeError(answer["failed"])
        action: Array = answer["action"]
        return action


class MindProcess:
    """One mind for all simulations of a run, in a process of its own. ``start`` makes the process of a function and its arguments."""

    def __init__(self, text: str, plugins: Sequence[str], start: Callable[..., BaseProcess]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="etude-")  # nobody else can look into it
        self.address = str(Path(self._folder.name) / "mind")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(self.address)
            door.listen(BACKLOG)  # whoever comes before it is loaded waits
            self.process = start(_serve, (door, text, tuple(plugins), dict(os.environ)))

    def ended(self) -> str:
        """Why it is no longer there; empty while it is."""
        if self.process.exitcode is None:
            return ""
        with contextlib.suppress(OSError):
            return (Path(self._folder.name) / "refused").read_text()
        return f"the process that decides for all simulations ended (exit status {self.process.exitcode})"

    def close(self) -> None:
        """Take its address away."""
        self._folder.cleanup()


def _serve(door: socket.socket, text: str, plugins: Sequence[str], environment: Mapping[str, str]) -> None:
    """The life of a mind: it is loaded, and decides for whoever connects until it is ended."""
    from etude.evaluation.keeper import lead_group
    from etude.plugins import load_all
    from etude.policies.loading import halves_of

    lead_group()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        load_all(plugins)
        halves = halves_of(text)
        assert halves is not None
        mind = halves.mind()
    except EtudeError as error:
        (Path(door.getsockname()).parent / "refused").write_text(str(error))
        raise SystemExit(1) from None
    lines: dict[Connection, int] = {}
    while True:
        ready = wait([door, *lines])
        asking: list[tuple[Connection, Arrays]] = []
        for one in ready:
            if one is door:
                line = Connection(door.accept()[0].detach())
                lines[line] = min(set(range(len(lines) + 1)) - set(lines.values()))
                line.send_bytes(pack(dict(mind.about)))
                continue
            assert isinstance(one, Connection)
            try:
                message = unpack(one.recv_bytes())
            except (EOFError, OSError):
                del lines[one]
                continue
            if "told" in message:
                mind.begin(lines[one], message["told"])
            else:
                asking.append((one, message["saw"]))
        if asking:
            _answer(mind, [line for line, _ in asking], [lines[line] for line, _ in asking], [seen for _, seen in asking])


def _answer(mind: Mind, asking: Sequence[Connection], sessions: Sequence[int], seen: Sequence[Arrays]) -> None:
    from etude.policies.calling import in_a_line

    try:
        answers = [pack({"action": np.asarray(action, np.float64)}) for action in mind.decide(sessions, seen)]
    except Exception as error:
        answers = [pack({"failed": in_a_line(error)})] * len(asking)
    for line, answer in zip(asking, answers, strict=True):
        with contextlib.suppress(OSError):  # who is gone needs no answer
            line.send_bytes(answer)
