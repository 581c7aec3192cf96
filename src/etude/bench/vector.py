"""Speed of a batch of worlds: all of them from one process, beside as many processes that know nothing of each other."""

from __future__ import annotations

import contextlib
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from etude.bench.result import Result
from etude.envs.env import EpisodeEnv
from etude.evaluation.local import processes
from etude.evaluation.worker import one_thread
from etude.machine import cores
from etude.policies.scripted import OraclePolicy
from etude.pose import Array
from etude.vector.env import of_task

ROUNDS = 3
WARM = 10  # calls before anything is timed
Calls = list[Array | None]
"""What is asked of one world: an action, or None for the next episode."""


def bench_vector(suite: str, task: str, calls: int = 400, worlds: int | None = None) -> list[Result]:
    """One world for each core, without cameras and with two at 128×128: steps a second of all together, resets among them, by the clock.

    Every world plays the oracle's actions, written down before, so that episodes end one here, one there, as they do in training. The
    reference is the sum of what processes of one environment each do with the same actions and episodes at the same time.
    """
    n = worlds or cores()
    results = []
    with one_thread(), contextlib.ExitStack() as stack:
        alone = [stack.enter_context(ProcessPoolExecutor(1, processes())) for _ in range(n)]
        written = [pool.submit(_written, suite, task, range(k, 10**6, n), calls) for k, pool in enumerate(alone)]
        played = [future.result() for future in written]
        for label, cameras in (("no cameras", ()), ("two cameras 128x128", None)):
            ours, theirs = [], []
            for _ in range(ROUNDS):
                rates = [pool.submit(_single, suite, task, cameras, played[k], range(k, 10**6, n)) for k, pool in enumerate(alone)]
                theirs.append(sum(future.result() for future in rates))
                ours.append(_batch(suite, task, cameras, played))
            value, reference = round(statistics.median(ours), 1), round(statistics.median(theirs), 1)
            name = f"{n} processes of one environment each"
            results.append(Result(f"vector: {n} worlds, {label}", value, "steps/s", name, reference, round(reference / value, 3)))
    return results


def _written(suite: str, task: str, seeds: Sequence[int], calls: int) -> Calls:
    """What the oracle does in the episodes of these seeds, one after the other, up to so many calls."""
    env, found = EpisodeEnv(suite, task, cameras=()), Calls()
    for seed in seeds:
        env.reset(seed=seed)
        oracle = OraclePolicy()
        oracle.reset("", (), env.simulation.episode.name)
        while not env.simulation.over:
            action = np.asarray(oracle.act({"simulation": env.simulation}), float)
            env.step(action)
            found.append(action)
        found.append(None)
        if len(found) >= calls:
            break
    return found[:calls]


def _single(suite: str, task: str, cameras: Sequence[str] | None, calls: Calls, seeds: Sequence[int]) -> float:
    env = EpisodeEnv(suite, task, cameras=cameras, size=(128, 128))
    for part in (calls[:WARM], calls):
        following = iter(seeds)
        env.reset(seed=next(following))
        begun = time.perf_counter()
        for action in part:
            if action is None:
                env.reset(seed=next(following))
            else:
                env.step(action)
    return len(calls) / (time.perf_counter() - begun)


def _batch(suite: str, task: str, cameras: Sequence[str] | None, played: Sequence[Calls]) -> float:
    envs = of_task(len(played), suite, task, cameras=cameras, size=(128, 128))
    try:
        for rows in (list(itertools.islice(_rows(played), WARM)), list(_rows(played))):
            envs.reset(seed=0)
            begun = time.perf_counter()
            for row in rows:
                envs.step(row)
        return len(played) * len(rows) / (time.perf_counter() - begun)
    finally:
        envs.close()


def _rows(played: Sequence[Calls]) -> Iterator[Array]:
    """Actions of all worlds, step by step; where one of them begins an episode its action counts for nothing."""
    nothing = np.zeros_like(next(action for action in played[0] if action is not None))
    for actions in zip(*played, strict=True):
        yield np.array([nothing if action is None else action for action in actions])
