"""Speed, measured: rendering, physics, building. Every case is one line of JSON, beside a reference measured in the same loop."""

from __future__ import annotations

import contextlib
import importlib.util
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco

from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.bench.start import bench_start
from etude.envs.simulation import Simulation
from etude.evaluation.plan import Plan
from etude.evaluation.record import Record
from etude.evaluation.run import RunSettings, evaluate
from etude.evaluation.store import Store
from etude.evaluation.worker import one_thread
from etude.library import episode
from etude.names import pick
from etude.policies.scripted import OraclePolicy
from etude.render.studio import Studio
from etude.scene.compile import prototype
from etude.scene.examples import example
from etude.scene.materials import SUBSTEPS
from etude.scene.prototype import structure
from etude.scene.scene import Scene
from etude.scene.world import World
from etude.suites.suite import SUITES, later


def milliseconds(action: Callable[..., object], *arguments: object) -> float:
    """Of CPU time: what other processes do at the same time is not counted."""
    start = time.process_time()
    action(*arguments)
    return 1000 * (time.process_time() - start)


def _median(samples: list[float]) -> float:
    return round(statistics.median(samples), 3)


def _compared(case: str, samples: list[float], name: str | None, reference: list[float]) -> Result:
    value = _median(samples)
    if not reference:
        return Result(case, value, "CPU ms")
    other = _median(reference)
    return Result(case, value, "CPU ms", name, other, round(other / value, 2))


def moving(scene: Scene) -> tuple[World, Callable[[int], None]]:
    """A world at rest, and what moves its arm to and fro for one control step."""
    world = World(scene)
    world.settle()
    world.step(20)
    assert world.robot is not None
    robot = world.robot

    def move(i: int) -> None:
        s = 0.1 if i % 2 else -0.1
        robot.move_by((s, 0.0, 0.0, 0.0, 0.0, s))
        world.step()

    move(0)
    return world, move


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and the threads of a software OpenGL, on one core: all figures are per core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def bench_render() -> list[Result]:
    """Colour, depth and segmentation with shadows of an arm, a table and ten textured objects; the arm moves between frames."""
    from etude.render.gl import gl_available

    usable, _ = gl_available()
    rounds = extent(40, 8)
    name = "MuJoCo's OpenGL renderer: the same three outputs, shadows, no multisampling"
    results = []
    with one_core():
        world, move = moving(example("bench"))
        ours, theirs = Studio(world), Studio(world, "gl") if usable else None
        for side in (256, 128):
            first, second, reference = [], [], []
            for i in range(rounds + 3):
                move(i)
                first.append(milliseconds(ours.shoot, "front", (side, side)))
                second.append(milliseconds(ours.shoot, "left_shoulder", (side, side)))
                if theirs is not None:
                    reference.append(milliseconds(theirs.shoot, "front", (side, side)))
                    reference.append(milliseconds(theirs.shoot, "left_shoulder", (side, side)))
            both = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
            results.append(_compared(f"render {side}x{side}, per camera with two cameras", both[3:], name, reference[6:]))
            results.append(Result(f"render {side}x{side}, first camera of a step", _median(first[3:]), "CPU ms"))
            results.append(Result(f"render {side}x{side}, further cameras of a step", _median(second[3:]), "CPU ms"))
        smooth = [milliseconds(ours.shoot, "front", (256, 256), True) for _ in range(rounds)]
        results.append(Result("render 256x256, smooth edges (2x2)", _median(smooth), "CPU ms"))
    return results


def bench_physics() -> list[Result]:
    """A control step of 50 ms: an arm under control with ten objects at rest, against bare ``mj_step`` for the same substeps."""
    world, move = moving(example("bench"))
    full, bare = [], []
    twin = mujoco.MjData(world.model)
    mujoco.mj_copyData(twin, world.model, world.data)
    for i in range(extent(100, 30)):
        full.append(milliseconds(move, i))
        mujoco.mj_copyData(twin, world.model, world.data)
        bare.append(milliseconds(mujoco.mj_step, world.model, twin, SUBSTEPS))
    step = _compared("physics, control step of 50 ms", full, "bare mj_step, same substeps", bare)
    overhead = round(100 * (step.value / (step.reference_value or step.value) - 1), 1)
    return [step, Result("physics, what control adds to bare mj_step", overhead, "%")]


def bench_build() -> list[Result]:
    """Making a world of a table, an arm and ten objects, and laying the same things out anew."""
    rounds = extent(20, 5)
    scenes = [example("bench", seed) for seed in range(rounds)]
    World(scenes[0])
    built, again = [], []
    for scene in scenes:
        prototype.cache_clear()
        built.append(milliseconds(World, scene))
    world = World(scenes[0])
    others = [scenes[0].changed(*_shifted(scenes[0], k)) for k in range(rounds)]
    for scene in others:
        again.append(milliseconds(world.reset, scene))
    assert structure(others[0]) == structure(scenes[0])
    return [
        Result("build a world, compiled anew", _median(built), "CPU ms"),
        Result("reset to another layout of the same things", _median(again), "CPU ms"),
    ]


def bench_evaluate(names: Sequence[str]) -> list[Result]:
    """The evaluation engine beside a bare loop of the same episodes in one process, and two workers beside one."""
    bare: list[float] = []
    one: list[float] = []
    two: list[float] = []
    starts: list[float] = []
    for _ in range(extent(3, 1)):
        with one_thread(), ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:  # as cold as a worker is at first
            bare.append(fresh.submit(_bare, names).result())
        for workers, rates in ((1, one), (2, two)):
            start, rate = _engine(names, workers)
            starts.append(start)
            rates.append(rate)
    each, alone = round(statistics.median(bare), 2), round(statistics.median(one), 2)
    both = round(statistics.median(two), 2)
    return [
        Result("evaluation, one worker", alone, "episodes/s", "a bare loop in one process", each, round(each / alone, 3)),
        Result("evaluation, two workers", both, "episodes/s", "one worker", alone, round(alone / both, 3)),
        Result("evaluation, until the first episode has ended", round(statistics.median(starts), 2), "s"),
    ]


def _bare(names: Sequence[str]) -> float:
    """Episodes a second, played one after the other; the first is left out."""
    for k, name in enumerate(names):
        if k == 1:
            begun = time.perf_counter()
        simulation, oracle = Simulation(episode(name)), OraclePolicy()
        oracle.reset("", (), name)
        while not simulation.status.satisfied and simulation.steps < simulation.episode.horizon:
            simulation.step(oracle.act({"simulation": simulation}))
    return (len(names) - 1) / (time.perf_counter() - begun)


def _engine(names: Sequence[str], workers: int) -> tuple[float, float]:
    """Seconds until the first episode has ended, and episodes a second from then on."""
    ends = episode_ends(names, RunSettings(workers=workers))
    return ends[0], (len(names) - 1) / (ends[-1] - ends[0])


def episode_ends(names: Sequence[str], settings: RunSettings) -> list[float]:
    """When the oracle's episodes end, in seconds from the start of the run."""
    ends: list[float] = []
    begun = time.perf_counter()

    class Clock:
        def began(self, store: Store) -> None:
            pass

        def ended(self, record: Record) -> None:
            ends.append(time.perf_counter() - begun)

    with tempfile.TemporaryDirectory() as folder:
        evaluate(Plan("oracle", tuple(names)), Path(folder) / "run", settings, Clock())
    return ends


def _shifted(scene: Any, k: int) -> list[Any]:
    return [replace(e, pose=e.pose.moved(z=0.001 * (k + 1))) for e in scene.entities]


BENCHES: dict[str, Callable[[], list[Result]]] = {
    "start": bench_start,
    "render": bench_render,
    "physics": bench_physics,
    "steps": later("etude.bench.steps", "shares"),
    "pictures": later("etude.bench.steps", "pictures"),
    "build": bench_build,
    "scale": later("etude.bench.scaling", "bench_scale"),
}


def benches() -> dict[str, Callable[[], list[Result]]]:
    """All of them by name: those of the core, and what the suites bring."""
    return BENCHES | {name: bench for suite in SUITES.values() for name, bench in suite.benches.items()}


def usual() -> list[str]:
    """The benches that run when none is named: all whose packages are installed."""
    needed = {"datasets": ("av", "pyarrow"), "cluster": ("ray",)}
    return [name for name in benches() if all(importlib.util.find_spec(package) for package in needed.get(name, ()))]


def measured(names: Sequence[str]) -> list[Result]:
    """The results of some benches, of all cases that are wanted."""
    known = benches()
    return [result for name in names for result in pick("benchmark", name, known)() if wanted(result.case)]
