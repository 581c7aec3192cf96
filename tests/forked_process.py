"""Programs in a process of their own that need not start anew: a copy of this one, in which everything is loaded and compiled already."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing import forkserver
from pathlib import Path

from etude.evaluation.local import processes
from etude.evaluation.worker import one_thread


class Copy:
    """Runs ``program`` beside this process, in a copy of it: what it changes, registers or prints stays there.

    ``out`` and ``errors`` are the numbers of open files that take what it prints; without them, nobody does. Its workers are forked from a
    server of its own where it is to be ``alone``, otherwise from that of this process, which is started once for all.
    """

    def __init__(self, program: Callable[[], object], cwd: Path | None = None, out: int = -1, errors: int = -1, alone: bool = True) -> None:
        self.code: int | None = None
        if not alone:
            processes()
            with one_thread():
                forkserver.ensure_running()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os._exit(_run(program, cwd, *(nothing if file < 0 else file for file in (out, errors)), alone))

    def wait(self, seconds: float = math.inf) -> int | None:
        """How it ended, as subprocess says it; None while it goes on after so many seconds."""
        ends = time.monotonic() + seconds
        while self.code is None:
            found, status = os.waitpid(self.pid, 0 if seconds == math.inf else os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > ends:
                break
            else:
                time.sleep(0.01)
        return self.code

    def send(self, kind: int) -> None:
        if self.code is None:
            os.kill(self.pid, kind)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.wait()


def forked(program: Callable[[], object], cwd: Path | None = None, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Run ``program`` in a copy of this process to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        code = Copy(program, cwd, out.fileno(), errors.fileno(), alone).wait()
        said = []
        for stream in (out, errors):
            stream.seek(0)
            said.append(stream.read().decode())
    assert code is not None
    return subprocess.CompletedProcess([], code, *said)


def command(*arguments: str) -> Callable[[], None]:
    """The command line with these arguments, as a program."""

    def program() -> None:
        from etude.cli import main

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs tests in the background has it ignored
        sys.argv = ["etude", *arguments]
        main()

    return program


def _run(program: Callable[[], object], cwd: Path | None, out: int, errors: int, alone: bool) -> int:
    os.dup2(out, 1)
    os.dup2(errors, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115 (they live as long as the process)
    code: object = 0
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # libraries that other tests have loaded may handle them in a way of their own
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The server of the parent is not a child of this process: it is forgotten, or not asked how it is.
    if alone:
        forkserver._forkserver.__init__()
    else:
        forkserver._forkserver.ensure_running = lambda: None
    try:
        if cwd is not None:
            os.chdir(cwd)
        program()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1
