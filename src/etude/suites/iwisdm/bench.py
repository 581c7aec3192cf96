"""Speed of decisions: trials made, shown and written, and tasks drawn, for each second of processor time."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from etude.bench.result import Result
from etude.datasets.decisions import described, png_frames
from etude.decisions.asking import asked
from etude.decisions.autotask import distinct_tasks
from etude.decisions.compose import make_trial
from etude.decisions.showing import PIXELS, domain_of, pictures, stimuli, told
from etude.decisions.stimuli.canvas import cell_pixels
from etude.decisions.trial import Trial
from etude.names import rng
from etude.suites.iwisdm.benchmarks import trial
from etude.suites.iwisdm.levels import HIGH, LEVELS

ROUNDS, TRIALS, SHOWN, WRITTEN, TASKS, WARM = 3, 300, 100, 50, 500, 20
UNIT = "per CPU second"
SPLIT = "val"


def bench_decisions() -> list[Result]:
    """Each level: trials with instruction and answers, each of a new task and of given ones; the same with their frames at 224×224, and
    with the files that are written of them; then tasks at high complexity. Every row does all the work from the task on.

    The objects of a split are rendered once and then pasted: what that takes is told first, and not counted again.
    """
    shown = stimuli("procedural")
    kinds = [(item, view) for item in range(len(next(iter(shown.classes.values())))) for view in shown.views(SPLIT)]
    begun = time.process_time()
    for item, view in kinds:
        shown.picture(item, view, cell_pixels(PIXELS, (2, 2)))
    results = [Result(f"decisions: {len(kinds)} pictures of objects, once", round(time.process_time() - begun, 2), "CPU seconds")]
    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            made: dict[int, Trial] = {}
            for what, action, count in (
                ("made, each of a new task", _making(level, made), TRIALS),
                ("made of given tasks", _instantiating(made, told), TRIALS),
                (f"made of given tasks, with frames at {PIXELS}x{PIXELS}", _instantiating(made, _shown), SHOWN),
                ("made of given tasks, and written as PNG and JSON files", _instantiating(made, _writing(Path(folder))), WRITTEN),
            ):
                results.append(Result(f"decisions, {level}: trials {what}", _rate(action, count), UNIT))
    tasks = distinct_tasks(HIGH, rng("bench/decisions", "tasks"), WARM + ROUNDS * TASKS)
    return [*results, Result("decisions, high: tasks of different structure", _rate(lambda _: next(tasks), TASKS), UNIT)]


def _making(level: str, made: dict[int, Trial]) -> Callable[[int], object]:
    def make(seed: int) -> str:
        made[seed] = trial(level, SPLIT, seed)
        return told(made[seed])

    return make


def _instantiating(made: dict[int, Trial], use: Callable[[Trial], object]) -> Callable[[int], object]:
    """The work that is left when a task has been drawn: its analysis, the objects, the answers, the instruction, and ``use`` of it all."""
    domain = domain_of("procedural", SPLIT)

    def make(k: int) -> object:
        if k == 0:  # what was worked out for the row before does not count here
            asked.cache_clear()
        one = make_trial(made[k].name, made[k].tasks, domain, next(a for a in made[k].answers if a), rng(made[k].name, "bench"))
        return use(one)

    return make


def _shown(one: Trial) -> object:
    return told(one), pictures(one)


def _writing(folder: Path) -> Callable[[Trial], object]:
    """Write what the original writes of a trial: a file for each frame, and one with everything else."""

    def write(one: Trial) -> None:
        place = folder / one.name.replace("/", "-")
        place.mkdir(exist_ok=True)
        for k, data in enumerate(png_frames(one)):
            (place / f"{k}.png").write_bytes(data)
        (place / "trial.json").write_text(json.dumps(described(one)))

    return write


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
