"""A person who watches a robot and says what came of it: ready, next sub-task, over; done, not done, or at fault.

*At fault* is the robot or the set-up (a camera fell over, a thing was not where it belongs): the episode is an error then, not a failure
of the policy. Write a class with the methods of :class:`Judge` to have somebody, or something, else judge.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Literal, Protocol, runtime_checkable

from etude.names import EtudeError

Verdict = Literal["done", "not done", "at fault"]
VERDICTS: tuple[Verdict, ...] = ("done", "not done", "at fault")
Word = Literal["", "next", "end"]


@dataclass(frozen=True)
class JudgedEpisode:
    """What a person is told of an episode before it begins: which of how many, its name and mode, what is asked for, the sub-tasks one
    after the other, and what is different about it (its perturbations, in words)."""

    number: int
    total: int
    name: str
    mode: str
    instruction: str
    subtasks: tuple[str, ...]
    changes: tuple[str, ...] = ()


@runtime_checkable
class Judge(Protocol):
    """Somebody who judges."""

    def ready(self, episode: JudgedEpisode, stop: Callable[[], None]) -> None:
        """Come back when the scene stands as the episode has it. ``stop`` stops the robot, from any thread, until the episode is over."""

    def heard(self) -> Word:
        """What was said since this was last asked: "next", the sub-task is over; "end", the episode is; or nothing."""

    def subtask(self, text: str) -> Verdict:
        """Was this sub-task done?"""

    def episode(self, text: str) -> Verdict:
        """Was what the whole instruction asks for done?"""


class TerminalJudge:
    """Asks in the terminal. While the robot moves, a line "n" says that the sub-task is over, "e" that the episode is; "s" stops it."""

    def __init__(self, lines: IO[str] | None = None, out: IO[str] | None = None) -> None:
        self._in, self._out = lines or sys.stdin, out or sys.stderr
        self._said: queue.Queue[str | None] = queue.Queue()
        self._stop: Callable[[], None] | None = None
        self._stopped = False
        self._reader: threading.Thread | None = None

    def _read(self) -> None:
        """Lines as they come; a stop is carried out here, whatever the rest is waiting for."""
        for line in self._in:
            word = line.strip().lower()
            if word in ("s", "stop") and self._stop is not None:
                self._stopped = True
                self._stop()
            else:
                self._said.put(word)
        self._said.put(None)

    def _next(self) -> str:
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        said = self._said.get()
        if said is None:
            self._said.put(None)
            raise EtudeError("nobody answers in the terminal any more; --judge page asks in a browser")
        return said

    def _print(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    def ready(self, episode: JudgedEpisode, stop: Callable[[], None]) -> None:
        """Say what is to be set up, and wait for a line."""
        self._stop, self._stopped = None, False
        self._print(f"\n[{episode.number} of {episode.total}] {episode.name} ({episode.mode})")
        self._print(f"  “{episode.instruction}”")
        for text in episode.subtasks:
            self._print(f"    · {text}")
        for text in episode.changes:
            self._print(f"  set up: {text}")
        self._print("  Enter when the scene stands; then n: next sub-task, e: the episode is over, s: stop the robot")
        self._next()
        self._stop = stop

    def heard(self) -> Word:
        """The latest line that means something."""
        while not self._said.empty():
            said = self._said.get_nowait()
            if said is None:
                self._said.put(None)
                return ""
            if said in ("n", "next"):
                return "next"
            if said in ("e", "end"):
                return "end"
        return "end" if self._stopped else ""

    def subtask(self, text: str) -> Verdict:
        """Ask about a sub-task."""
        return self._verdict(f"  sub-task “{text}”")

    def episode(self, text: str) -> Verdict:
        """Ask about the whole."""
        self._stop = None
        return self._verdict(f"  all of “{text}”")

    def _verdict(self, about: str) -> Verdict:
        while not self._said.empty() and self._said.queue[0] is not None:  # what was said before the question is no answer to it
            self._said.get_nowait()
        while True:
            self._print(f"{about}: d (done), n (not done), f (at fault: robot or set-up)?")
            said = self._next()
            for verdict in VERDICTS:
                if said in (verdict, {"done": "d", "not done": "n", "at fault": "f"}[verdict]):
                    return verdict
