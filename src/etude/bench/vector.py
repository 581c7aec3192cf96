"""Speed of a batch of worlds: all of them from one process, beside as many processes that know nothing of each other."""

from __future__ import annotations

import contextlib
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
from etude.vector.env import EpisodeVectorEnv, of_task

ROUNDS = 3
Calls = list[Array | None]
"""What is asked of one world: an action, or None for the next episode."""


def bench_vector(suite: str, task: str, calls: int = 400, worlds: Sequence[int] | None = None) -> list[Result]:
    """One world for each core and four, without cameras and with two at 128×128: steps a second of all together, resets among them, by the
    clock; in step (``step``), and as worlds become ready (``send`` and ``recv``).

    Every world plays the oracle's actions, written down before, so that episodes end one here, one there, as they do in training. The
    reference is the sum of what processes of one environment each, one on every core, do with the same actions and episodes at the same
    time. Everybody has played all of it once before it is timed.
    """
    n = cores()
    results = []
    with one_thread(), contextlib.ExitStack() as stack:
        alone = [stack.enter_context(ProcessPoolExecutor(1, processes())) for _ in range(n)]
        counts = tuple(worlds or (n, 4 * n))
        most = max(counts)
        written = [alone[k % n].submit(_written, suite, task, range(k, 10**6, most), calls) for k in range(most)]
        played = [future.result() for future in written]
        for label, cameras in (("no cameras", ()), ("two cameras 128x128", None)):
            theirs: list[float] = []
            ours: dict[str, list[float]] = {}
            with contextlib.ExitStack() as open_batches:
                batches = {m: open_batches.enter_context(_batch(suite, task, cameras, m)) for m in counts}
                for turn in range(1 + ROUNDS):
                    rates = [pool.submit(_single, suite, task, cameras, played[k], range(k, 10**6, most)) for k, pool in enumerate(alone)]
                    theirs.append(sum(future.result() for future in rates))
                    for m, envs in batches.items():
                        ours.setdefault(f"{m} worlds in step", []).append(_in_step(envs, played[:m]))
                        ours.setdefault(f"{m} worlds as they are ready", []).append(_as_ready(envs, played[:m]))
                    if turn == 0:
                        theirs.clear()
                        ours.clear()
            name, reference = f"{n} processes of one environment each", round(statistics.median(theirs), 1)
            for how, found in ours.items():
                value = round(statistics.median(found), 1)
                results.append(Result(f"vector: {how}, {label}", value, "steps/s", name, reference, round(reference / value, 3)))
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
    following = iter(seeds)
    env.reset(seed=next(following))
    begun = time.perf_counter()
    for action in calls:
        if action is None:
            env.reset(seed=next(following))
        else:
            env.step(action)
    return len(calls) / (time.perf_counter() - begun)


@contextlib.contextmanager
def _batch(suite: str, task: str, cameras: Sequence[str] | None, worlds: int) -> Iterator[EpisodeVectorEnv]:
    envs = of_task(worlds, suite, task, cameras=cameras, size=(128, 128))
    try:
        yield envs
    finally:
        envs.close()


def _in_step(envs: EpisodeVectorEnv, played: Sequence[Calls]) -> float:
    rows = np.stack(_rows(played), axis=1)
    envs.reset(seed=0)
    begun = time.perf_counter()
    for row in rows:
        envs.step(row)
    return len(rows) * len(played) / (time.perf_counter() - begun)


def _as_ready(envs: EpisodeVectorEnv, played: Sequence[Calls]) -> float:
    """Every world is sent its next action as soon as it comes back; the sum of their rates, each up to its own end."""
    rows = _rows(played)
    envs.reset(seed=0)
    begun, rate = time.perf_counter(), 0.0
    envs.send([row[0] for row in rows])
    done = np.zeros(len(rows), np.int64)
    while (done < len(rows[0])).any():
        worlds = envs.recv()[-1]
        done[worlds] += 1
        going = [world for world in worlds.tolist() if done[world] < len(rows[0])]
        rate += (len(worlds) - len(going)) * len(rows[0]) / (time.perf_counter() - begun)
        if going:
            envs.send([rows[world][done[world]] for world in going], going)
    return rate


def _rows(played: Sequence[Calls]) -> list[Array]:
    """The actions of every world; where it begins an episode its action counts for nothing."""
    nothing = np.zeros_like(next(action for action in played[0] if action is not None))
    return [np.array([nothing if action is None else action for action in calls]) for calls in played]
