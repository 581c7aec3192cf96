"""Speed on ClevrSkills: control steps, the engine of evaluation, judging and serving, demonstrations."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import mujoco

from etude.bench.cluster import bench_cluster
from etude.bench.core import bench_evaluate, milliseconds, one_core
from etude.bench.datasets import bench_datasets
from etude.bench.extent import extent, stopwatch, wanted
from etude.bench.playing import bench_playing
from etude.bench.result import Result
from etude.bench.vector import bench_vector
from etude.envs.env import EpisodeEnv
from etude.evaluation.plan import make_names
from etude.policies.scripted import OraclePolicy
from etude.render.renderer import Renderer
from etude.suites.suite import SUITES


def _all_lengths() -> Sequence[str]:
    return make_names(["clevrskills"], ["pick", "touch_push", "sort", "stack"], splits=["train"], episodes=extent(30, 5))


def engine() -> list[Result]:
    """The engine of evaluation on tasks of all lengths."""
    return bench_evaluate(_all_lengths())


def cluster() -> list[Result]:
    """The same on a Ray cluster."""
    return bench_cluster(_all_lengths())


def playing() -> list[Result]:
    """Judging a goal of several parts, and asking a policy behind a socket."""
    return bench_playing(EpisodeEnv("clevrskills", "simple_manipulation"))


def batches() -> list[Result]:
    """A batch of worlds of one task."""
    return bench_vector("clevrskills", "simple_manipulation")


def demonstrations() -> list[Result]:
    """The tasks of level L0."""
    table, seeds = SUITES["clevrskills"].tasks.values(), extent(3, 1)
    return bench_datasets([f"clevrskills/{t.name}@train#{seed}" for t in table if t.level == "L0" for seed in range(seeds)], seeds)


def control() -> list[Result]:
    """Control steps for each second of CPU time of whole environments with the oracle at work, without cameras and with both at 128×128;
    and what share of a step is spent neither in MuJoCo nor in the renderer."""
    results, steps = [], extent(150, 40)
    with one_core():
        for task in ("pick", "simple_manipulation", "stack"):
            for cameras, label in (((), "no cameras"), (None, "two cameras 128x128")):
                if not wanted(f"clevrskills/{task}, {label}, outside MuJoCo and the renderer"):
                    continue
                env = EpisodeEnv("clevrskills", task, cameras=cameras)
                rates = [count / total for count, total in (_episode(env, seed, steps) for seed in range(3))]
                results.append(Result(f"clevrskills/{task}, {label}", round(statistics.median(rates), 1), "control steps/CPU-s"))
                inside = [0.0]
                with stopwatch(mujoco, "mj_step", inside), stopwatch(Renderer, "shoot", inside), stopwatch(Renderer, "pose", inside):
                    env.reset(seed=0)
                    inside[0] = 0.0
                    _, total = _episode(env, None, steps)
                share = round(100 * (1 - inside[0] / total), 1)
                results.append(Result(f"clevrskills/{task}, {label}, outside MuJoCo and the renderer", share, "%"))
    return results


def _episode(env: EpisodeEnv, seed: int | None, steps: int) -> tuple[int, float]:
    """Control steps made and seconds spent in them; what the oracle takes to think is not counted."""
    if seed is not None:
        env.reset(seed=seed)
    oracle = OraclePolicy()
    oracle.reset("", (), env.simulation.episode.name)
    spent, count = 0.0, 0
    while count < steps and not env.simulation.status.satisfied:
        action = oracle.act({"simulation": env.simulation})
        spent += milliseconds(env.step, action) / 1000
        count += 1
    return count, spent
