"""Speed of decisions: trials made, shown and written, and tasks drawn, for each second of processor time."""

from __future__ import annotations

import io
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from etude.bench.result import Result
from etude.datasets.decisions import described, objects, packed_object, png_frames, write_file, write_frames
from etude.decisions.asking import asked
from etude.decisions.autotask import distinct_tasks
from etude.decisions.compose import make_trial
from etude.decisions.distract import reading
from etude.decisions.showing import PIXELS, domain_of, pictures, stimuli, told
from etude.decisions.stimuli.canvas import cell_pixels
from etude.decisions.text import written_before
from etude.decisions.trial import Trial
from etude.names import rng
from etude.suites.iwisdm.benchmarks import trial
from etude.suites.iwisdm.levels import HIGH, LEVELS

ROUNDS, TRIALS, SHOWN, WRITTEN, TASKS, WARM = 3, 300, 100, 100, 500, 20
UNIT = "per CPU second"
SPLIT = "val"
MEMORY = Path("/dev/shm")  # where files are written, if it is there: a disk would be measured otherwise


def bench_decisions() -> list[Result]:
    """Each level: trials with instruction and answers, each of a new task and of given ones; the same with their frames at 224×224, and
    with the files that are written of them, those of the original and ours, these told by trial and by frame; then tasks at high
    complexity. Every row does all the work from the task on.

    The objects of a split are rendered and packed once and then pasted: what that takes is told first, and not counted again.
    """
    shown = stimuli("procedural")
    kinds = [(item, view) for item in range(len(next(iter(shown.classes.values())))) for view in shown.views(SPLIT)]
    begun = time.process_time()
    for item, view in kinds:
        packed_object("procedural", item, view, cell_pixels(PIXELS, (2, 2)))
    results = [Result(f"decisions: {len(kinds)} pictures of objects, once", round(time.process_time() - begun, 2), "CPU seconds")]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        (Path(folder) / "equal").mkdir()
        for level in LEVELS:
            made: dict[int, Trial] = {}
            for what, action, count in (
                ("made, each of a new task", _making(level, made), TRIALS),
                ("made of given tasks", _instantiating(made, told), TRIALS),
                (f"made of given tasks, with frames at {PIXELS}x{PIXELS}", _instantiating(made, _shown), SHOWN),
                (
                    "made of given tasks, and written as PNG and JSON files, no more than the original",
                    _instantiating(made, _writing(Path(folder) / "equal", equal)),
                    WRITTEN,
                ),
                (
                    "made of given tasks, and written as PNG and JSON files",
                    _instantiating(made, _writing(Path(folder), described)),
                    WRITTEN,
                ),
            ):
                results.append(Result(f"decisions, {level}: trials {what}", _rate(action, count), UNIT))
            frames = statistics.mean(len(one.frames) for one in made.values())
            results.append(Result(f"decisions, {level}: frames of trials written so", round(results[-1].value * frames, 1), UNIT))
            results.append(_beside_pillow(level, list(made.values())[:SHOWN]))
    tasks = distinct_tasks(HIGH, rng("bench/decisions", "tasks"), WARM + ROUNDS * TASKS)
    return [*results, Result("decisions, high: tasks of different structure", _rate(lambda _: next(tasks), TASKS), UNIT)]


def _beside_pillow(level: str, trials: list[Trial]) -> Result:
    """Frames as PNG, beside the same ones drawn and packed by Pillow as it does when it is not told how."""

    def usual(one: Trial) -> None:
        for picture in pictures(one):
            Image.fromarray(picture).save(io.BytesIO(), "PNG")

    times = []
    for make in (png_frames, usual):
        begun = time.process_time()
        for one in trials:
            make(one)
        times.append((time.process_time() - begun) * 1e6 / sum(len(one.frames) for one in trials))
    ours, others = times
    case = f"decisions, {level}: a frame as PNG, without a file"
    return Result(case, round(ours, 1), "CPU µs", "drawn and packed by Pillow", round(others, 1), round(others / ours, 1))


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
            written_before.clear()
        one = make_trial(made[k].name, made[k].tasks, domain, next(a for a in made[k].answers if a), rng(made[k].name, "bench"))
        return use(one)

    return make


def _shown(one: Trial) -> object:
    return told(one), pictures(one)


def equal(one: Trial) -> dict[str, Any]:
    """What the original tells of a trial beside its frames, and no more: the objects, which of their properties are asked about, the
    instruction and the right actions."""
    read = reading(one.tasks)
    things = [{**thing, "asked": sorted(read.get(thing["frame"], ()))} for thing in objects(one)]
    return {"epochs": len(one.frames), "objects": things, "instruction": told(one), "answers": list(one.answers)}


def _writing(folder: Path, tell: Callable[[Trial], dict[str, Any]]) -> Callable[[Trial], object]:
    """Write a file for each frame of a trial, and one with what is told of it."""

    def write(one: Trial) -> None:
        place = f"{folder}/{one.name.replace('/', '-')}"
        os.mkdir(place)  # noqa: PTH102 (see write_file)
        write_frames(one, place)
        write_file(f"{place}/trial.json", json.dumps(tell(one)).encode())

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
