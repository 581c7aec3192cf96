"""Programs in a process of their own that need not start anew: a copy of this one, in which everything is loaded and compiled already."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing import forkserver
from pathlib import Path


def forked(program: Callable[[], object], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``program`` in a copy of this process; what it changes, registers or prints stays there."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os._exit(_run(program, cwd, out.fileno(), errors.fileno()))
        _, status = os.waitpid(child, 0)
        said = []
        for stream in (out, errors):
            stream.seek(0)
            said.append(stream.read().decode())
    return subprocess.CompletedProcess([], os.waitstatus_to_exitcode(status), *said)


def _run(program: Callable[[], object], cwd: Path | None, out: int, errors: int) -> int:
    os.dup2(out, 1)
    os.dup2(errors, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115 (they live as long as the process)
    code: object = 0
    forkserver._forkserver.__init__()  # forget the server of the parent, which is not a child of this process
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
