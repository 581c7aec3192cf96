"""Ends what a run has started when the run itself is gone, however it went: interrupted, killed, or out of memory.

Each worker leads a process group of its own, so that what a policy starts goes with it. A small process keeps the list of these groups; it
reads from a pipe that nobody but the run holds, and when that closes it ends every group that is still on the list. That needs neither the
number of the parent, which is 1 in a container, nor the worker's own help, which it cannot give while it hangs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

POSIX = os.name == "posix"


def lead_group() -> None:
    """Make this process the leader of a group (and session) of its own: an interrupt at the terminal is then not for it."""
    if POSIX:
        os.setsid()


def end_group(leader: int) -> None:
    """End a process and all of its group."""
    for end in (os.killpg, os.kill) if POSIX else ():
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone, or has not become a leader yet
            end(leader, signal.SIGKILL)


def bury_group(leader: int) -> None:
    """Collect what is left of an ended group, where this is the process that orphans are given to: the first of a container."""
    with contextlib.suppress(ChildProcessError):
        while POSIX:
            os.waitpid(-leader, 0)


class Keeper:
    """The list of groups, and the process that looks after it. On Windows there is none, and workers end when their pipe does."""

    def __init__(self) -> None:
        # As a script of its own, without site-packages: it is there before the first worker and takes next to nothing.
        command = [sys.executable, "-I", "-S", __file__]
        none = subprocess.DEVNULL
        self._process = (
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=none, stderr=none, start_new_session=True) if POSIX else None
        )

    def add(self, leader: int) -> None:
        """Put a group on the list."""
        self._say(f"+{leader}\n")

    def remove(self, leader: int) -> None:
        """Take a group that has ended off the list."""
        self._say(f"-{leader}\n")

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # somebody ended it: workers then end with their pipes
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()

    def close(self) -> None:
        """Nothing is left to look after."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()


def _keep() -> None:
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line.startswith("+") else groups.discard)(int(line[1:]))
    for leader in groups:
        end_group(leader)


if __name__ == "__main__":
    _keep()
