"""How cost grows: with objects, cameras, pixels, the length of a run and the number of workers, one at a time."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from etude.bench.core import milliseconds, moving, one_core
from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.evaluation.worker import one_thread
from etude.machine import cores
from etude.render.studio import Studio
from etude.scene.examples import example

OBJECTS, USUAL_OBJECTS = (1, 5, 10, 20), 10
CAMERAS = ("front", "left_shoulder", "right_shoulder", "overhead")
SIZES, USUAL_SIZE = (64, 128, 256, 512), 128
LENGTHS = (100, 1000, 3000)
UNIT = "CPU ms/control step"


def bench_scale() -> list[Result]:
    """CPU time of a control step of an arm that moves among household things: with 1 to 20 of them and no camera; with ten of them and up
    to four cameras; with one camera of 64×64 to 512×512 pixels; and after ever more steps. Then wall time, of steps on 1, 2, … cores."""
    results = []
    with one_core():
        for count in OBJECTS:
            results += _case(f"scale, objects: {count}, no camera", partial(_step, count))
        for count in range(len(CAMERAS) + 1):
            results += _case(f"scale, cameras: {count} of {USUAL_SIZE}x{USUAL_SIZE}", partial(_step, USUAL_OBJECTS, CAMERAS[:count]))
        for size in SIZES:
            results += _case(f"scale, pixels: {size}x{size}, one camera", partial(_step, USUAL_OBJECTS, CAMERAS[:1], size))
        results += _lengths()
    return results + _workers()


def _case(case: str, measure: Callable[[], float]) -> list[Result]:
    return [Result(case, measure(), UNIT)] if wanted(case) else []


def _stepping(objects: int, cameras: Sequence[str], size: int) -> Callable[[int], None]:
    """One control step, and what the cameras see after it."""
    scene = example("clutter")
    world, move = moving(replace(scene, entities=scene.entities[:objects]))
    studio = Studio(world)

    def step(k: int) -> None:
        move(k)
        for camera in cameras:
            studio.shoot(camera, (size, size))

    for k in range(3):
        step(k)
    return step


def _step(objects: int, cameras: Sequence[str] = (), size: int = USUAL_SIZE) -> float:
    step = _stepping(objects, cameras, size)
    return round(statistics.median(milliseconds(step, k) for k in range(extent(100, 20))), 3)


def _lengths() -> list[Result]:
    """Of the last hundred steps of ever longer runs."""
    if not wanted("scale, length of run"):
        return []
    step, done, results = _stepping(USUAL_OBJECTS, (), USUAL_SIZE), 0, []
    for length in LENGTHS[: extent(len(LENGTHS), 2)]:
        for k in range(done, length - 100):
            step(k)
        last = statistics.median(milliseconds(step, k) for k in range(length - 100, length))
        results.append(Result(f"scale, length of run: the 100 steps before the {length}th", round(last, 3), UNIT))
        done = length
    return results


def _workers() -> list[Result]:
    """Control steps a second of wall time, on as many processes at once; the reference is the first row times their number."""
    if not wanted("scale, workers"):
        return []
    results: list[Result] = []
    alone, count = 0.0, 1
    while count <= cores():
        with one_thread(), ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
            rates = list(pool.map(_rate, [extent(400, 60)] * count))
        rate = sum(rates)
        alone = alone or rate
        case = f"scale, workers: {count}, one camera of {USUAL_SIZE}x{USUAL_SIZE} each"
        results.append(Result(case, round(rate, 1), "control steps/s", "one worker, as often", round(alone * count, 1)))
        count *= 2
    return results


def _rate(steps: int) -> float:
    """Steps a second of wall time, in one of several processes."""
    step = _stepping(USUAL_OBJECTS, CAMERAS[:1], USUAL_SIZE)
    begun = time.perf_counter()
    for k in range(steps):
        step(k)
    return steps / (time.perf_counter() - begun)
