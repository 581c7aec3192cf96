"""iWISDM: decisions about what was seen when, in limitless variety. No robot: frames are shown, and questions answered."""

from __future__ import annotations

from etude.decisions.space import SPLITS
from etude.decisions.trial import Trial
from etude.suites.iwisdm.benchmarks import LISTS, SUITE, trial
from etude.suites.task import TASKS, Draw, Task

FRAMES = 40  # more than any trial has


def _sampled(draw: Draw) -> Trial:
    """Answer what is asked about the objects that were shown."""
    return trial(draw.name.task, draw.split, draw.name.seed)


ORDER = ("val", *(s for s in SPLITS if s != "val"))  # the paper's benchmarks show views of the validation split
TASKS[SUITE] = {name: Task(SUITE, name, _sampled, "", ORDER, FRAMES, control="answer") for name in LISTS}
