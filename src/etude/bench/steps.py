"""What a control step without cameras is spent on: physics, and everything else, which is ours. Suite by suite."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import mujoco
import numpy as np

from etude.bench.result import Result
from etude.envs.env import EpisodeEnv
from etude.names import rng
from etude.policies.scripted import OraclePolicy
from etude.pose import Array
from etude.suites.suite import SUITES

TASKS = 3  # of each suite: the first, the middle and the last
STEPS = 60
ROUNDS = 8
GENTLE = 0.3  # of full deflection


def shares() -> list[Result]:
    """Control steps in ``ee_delta`` without cameras, and which share of one lies outside ``mj_step``: with a hand that moves at random, and
    with the oracle's actions.

    The same actions are played several times over, with and without a stopwatch at ``mj_step``, and the least of each step counts: an
    episode is the same to the last bit, so that whatever takes longer another time was somebody else's.
    """
    results = []
    for suite in SUITES.values():
        if suite.room is None:  # decisions are answered, not acted out
            continue
        tasks = list(suite.tasks)
        chosen = dict.fromkeys(tasks[k * (len(tasks) - 1) // (TASKS - 1)] for k in range(TASKS))
        for who in ("a hand that moves at random", "the oracle's actions"):
            found = []
            for task in chosen:
                env = EpisodeEnv(suite.name, task, cameras=(), control="ee_delta")
                found.append(_least(env, _drawn() if who.startswith("a hand") else _shown(env)))
            whole, physics = (np.concatenate(parts) for parts in zip(*found, strict=True))
            case = f"steps: {suite.name}, {who}"
            results.append(Result(case, _mean(whole), "ms", "mj_step, the same substeps", _mean(physics)))
            results.append(Result(f"{case}, outside mj_step", round(100 * (1 - float(physics.sum() / whole.sum())), 1), "%"))
    return results


def _mean(seconds: Array) -> float:
    return round(1000 * float(seconds.mean()), 3)


def _drawn() -> list[Array]:
    stream = rng("bench", "steps")
    return [stream.uniforms(-GENTLE, GENTLE, 7) for _ in range(STEPS)]


def _shown(env: EpisodeEnv) -> list[Array]:
    env.reset(seed=0)
    simulation, oracle, actions = env.simulation, OraclePolicy(), list[Array]()
    oracle.reset("", (), simulation.episode.name)
    while len(actions) < STEPS and not simulation.over:
        actions.append(oracle.act({"simulation": simulation}))
        simulation.step(actions[-1])
    return actions


def _least(env: EpisodeEnv, actions: Sequence[Array]) -> tuple[Array, Array]:
    """Seconds that each step takes at least, and that its ``mj_step`` does."""
    whole, physics = np.full(len(actions), np.inf), np.full(len(actions), np.inf)
    for _ in range(ROUNDS):
        whole = np.minimum(whole, _played(env, actions, [0.0], False))
        with _physics_timed() as spent:
            physics = np.minimum(physics, _played(env, actions, spent, True))
    done = np.isfinite(whole)  # chance may have ended it sooner
    return whole[done], physics[done]


def _played(env: EpisodeEnv, actions: Sequence[Array], spent: list[float], inside: bool) -> Array:
    """Seconds of each step, or of what is ``spent`` in it; infinite where there was none."""
    env.reset(seed=0)
    seconds = np.full(len(actions), np.inf)
    for k, action in enumerate(actions):
        if env.simulation.over:
            break
        spent[0] = 0.0
        begun = time.perf_counter()
        env.step(action)
        seconds[k] = spent[0] if inside else time.perf_counter() - begun
    return seconds


@contextlib.contextmanager
def _physics_timed() -> Iterator[list[float]]:
    """Seconds spent in ``mj_step``, added up in the only number of the list."""
    real, spent = mujoco.mj_step, [0.0]

    def timed(*arguments: Any) -> None:
        begun = time.perf_counter()
        real(*arguments)
        spent[0] += time.perf_counter() - begun

    mujoco.mj_step = timed
    try:
        yield spent
    finally:
        mujoco.mj_step = real
