"""What a user waits for: the package, the command line and the first frame, each in a process of its own."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from etude.bench.result import Result

ROUNDS = 5
PROGRAMS = {
    "start: import etude": "import etude",
    "start: etude --help": "import sys; sys.argv = ['etude', '--help']; from etude.cli import main; main()",
    "start: first frame of a second process": (
        "from etude.scene import World; from etude.scene.examples import example; from etude.render.studio import Studio\n"
        "Studio(World(example('bench'))).shoot('front', (64, 64))"
    ),
}


def bench_start() -> list[Result]:
    """CPU seconds of whole processes, beside one that does nothing; the first of each may have to compile and is not counted."""
    _spent("")
    bare = _seconds("")
    return [Result(case, _seconds(program), "CPU s", "python -c ''", bare) for case, program in PROGRAMS.items()]


def _seconds(program: str) -> float:
    _spent(program)
    return round(statistics.median(_spent(program) for _ in range(ROUNDS)), 3)


def _spent(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
