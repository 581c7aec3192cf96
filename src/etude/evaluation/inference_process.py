"""The process that decides for all workers of a run, where their policy has two halves (:mod:`etude.policies.halves`)."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from etude.evaluation.keeper import lead_group
from etude.foreign import in_a_line
from etude.names import EtudeError
from etude.plugins import load_all
from etude.policies.halves import Arrays, Inference, remembering
from etude.policies.loading import halves_of
from etude.policies.wire import pack, unpack

BACKLOG = 1024  # simulations that may wait until the model is loaded


class InferenceProcess:
    """Computes the actions for all simulations of a run, in a process of its own. ``start`` makes the process of a function and its
    arguments, to which it adds the environment."""

    def __init__(self, text: str, plugins: Sequence[str], start: Callable[..., BaseProcess]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="etude-")  # nobody else can look into it
        self.address = str(Path(self._folder.name) / "inference")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(self.address)
            door.listen(BACKLOG)  # whoever comes before it is loaded waits
            self.process = start(_serve, (door, text, tuple(plugins)))

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
    """The inference half of a policy is loaded, and decides for whoever connects until it is ended."""
    lead_group()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        load_all(plugins)
        halves = halves_of(text)
        assert halves is not None
        inference = halves.inference()
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
                line.send_bytes(pack(dict(inference.about)))
                continue
            assert isinstance(one, Connection)
            try:
                message = unpack(one.recv_bytes())
            except (EOFError, OSError):
                del lines[one]
                continue
            if "told" in message:
                inference.begin(lines[one], message["told"])
            elif "saw" not in message:
                _remember(inference, one, lines[one], message)
            else:
                asking.append((one, message["saw"]))
        if asking:
            _answer(inference, [line for line, _ in asking], [lines[line] for line, _ in asking], [seen for _, seen in asking])


def _remember(inference: Inference, line: Connection, session: int, message: Mapping[str, Arrays]) -> None:
    """Give out what a session remembers, or put something else in its place."""
    try:
        able = remembering(inference)
        if "restore" in message:
            able.recall(session, message["restore"])
        answer = pack({} if "restore" in message else {"memory": able.memory(session)})
    except Exception as error:
        answer = pack({"failed": in_a_line(error)})
    with contextlib.suppress(OSError):
        line.send_bytes(answer)


def _answer(inference: Inference, asking: Sequence[Connection], sessions: Sequence[int], seen: Sequence[Arrays]) -> None:
    try:
        answers = [pack({"action": np.asarray(action, np.float64)}) for action in inference.decide(sessions, seen)]
    except Exception as error:
        answers = [pack({"failed": in_a_line(error)})] * len(asking)
    for line, answer in zip(asking, answers, strict=True):
        with contextlib.suppress(OSError):  # who is gone needs no answer
            line.send_bytes(answer)
