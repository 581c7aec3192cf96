"""Speed of decisions: trials made, shown and written, and tasks drawn, for each second of processor time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from etude.bench.result import Result
from etude.datasets.decisions import png_frames
from etude.decisions.asking import asked
from etude.decisions.autotask import distinct_tasks
from etude.decisions.compose import make_trial
from etude.decisions.showing import PIXELS, domain_of, pictures, stimuli, told
from etude.decisions.stimuli.canvas import cell_pixels
from etude.decisions.trial import Trial
from etude.names import rng
from etude.suites.iwisdm.benchmarks import trial
from etude.suites.iwisdm.levels import HIGH, LEVELS

ROUNDS, TRIALS, SHOWN, TASKS, WARM = 3, 300, 100, 500, 20
UNIT = "per CPU second"
SPLIT = "val"


def bench_decisions() -> list[Result]:
    """Each level: trials with instruction and answers, their frames at 224×224, and these as PNG; then tasks at high complexity.

    The objects of a split are rendered once and then pasted: what that takes is told first, and not counted again.
    """
    shown = stimuli("procedural")
    kinds = [(item, view) for item in range(len(next(iter(shown.classes.values())))) for view in shown.views(SPLIT)]
    begun = time.process_time()
    for item, view in kinds:
        shown.picture(item, view, cell_pixels(PIXELS, (2, 2)))
    results = [Result(f"decisions: {len(kinds)} pictures of objects, once", round(time.process_time() - begun, 2), "CPU seconds")]
    for level in LEVELS:
        made: dict[int, Trial] = {}
        results += [
            Result(f"decisions, {level}: trials made, each of a new task", _rate(_making(level, made), TRIALS), UNIT),
            Result(f"decisions, {level}: trials made of given tasks", _rate(_instantiating(made), TRIALS), UNIT),
            Result(f"decisions, {level}: trials shown at {PIXELS}x{PIXELS}", _rate(lambda k, made=made: pictures(made[k]), SHOWN), UNIT),  # type: ignore[misc]
            Result(f"decisions, {level}: trials as PNG", _rate(lambda k, made=made: png_frames(made[k]), SHOWN // 2), UNIT),  # type: ignore[misc]
        ]
    tasks = distinct_tasks(HIGH, rng("bench/decisions", "tasks"), WARM + ROUNDS * TASKS)
    return [*results, Result("decisions, high: tasks of different structure", _rate(lambda _: next(tasks), TASKS), UNIT)]


def _making(level: str, made: dict[int, Trial]) -> Callable[[int], object]:
    def make(seed: int) -> str:
        made[seed] = trial(level, SPLIT, seed)
        return told(made[seed])

    return make


def _instantiating(made: dict[int, Trial]) -> Callable[[int], object]:
    """The work that is left when a task has been drawn: its analysis, the objects, the answers, the instruction."""
    asked.cache_clear()
    domain = domain_of("procedural", SPLIT)
    return lambda k: told(make_trial(made[k].name, made[k].tasks, domain, made[k].answers[-1], rng(made[k].name, "bench")))


def _rate(action: Callable[[int], object], count: int) -> float:
    """How often a second of processor time: the median of some rounds. The first calls, which fill caches, are not counted."""
    for k in range(WARM):
        action(k)
    rates = []
    for turn in range(ROUNDS):
        begun = time.process_time()
        for k in range(WARM + turn * count, WARM + (turn + 1) * count):
            action(k)
        rates.append(count / (time.process_time() - begun))
    return round(statistics.median(rates), 1)
