"""Speed of beginning: what whole processes spend until they are useful, with everything compiled that is kept."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.index import INDEX, env_id

_TASK = next(env_id(suite, task) for suite, entry in INDEX.items() for task, control in entry["tasks"].items() if control == "ee_delta")
PROGRAMS = {
    "start: import etude": "import etude",
    "start: etude --help": "import sys; sys.argv = ['etude', '--help']; from etude.cli import main; main()",
    "start: first frame of a second process": (
        "from etude.scene import World; from etude.scene.examples import example; from etude.render.studio import Studio\n"
        "Studio(World(example('bench'))).shoot('front', (64, 64))"
    ),
    f"start: first step of {_TASK}": (
        f"import etude, gymnasium; env = gymnasium.make({_TASK!r}); env.reset(seed=0); env.step(0 * env.action_space.sample())"
    ),
    "start: a worker ready": (  # what the fork server and the worker it forks do, in one process
        "import etude.evaluation.warm; from etude.evaluation.worker import Job; job = Job('oracle', '.'); job.hello(job.players())"
    ),
}


def bench_start() -> list[Result]:
    """CPU seconds of whole processes, beside one that does nothing; the first of each may have to compile and is not counted."""
    chosen = {case: program for case, program in PROGRAMS.items() if wanted(case)}
    bare = _seconds("") if chosen else 0.0
    return [Result(case, _seconds(program), "CPU s", "python -c ''", bare) for case, program in chosen.items()]


def _seconds(program: str) -> float:
    _spent(program)
    return round(statistics.median(_spent(program) for _ in range(extent(5, 2))), 3)


def _spent(program: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # byte code is kept, as usual
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
