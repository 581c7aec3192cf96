"""What a control step is spent on, suite by suite: without cameras, physics and everything else, which is ours; with them, pictures."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from etude.bench.extent import extent, stopwatch, wanted
from etude.bench.result import Result
from etude.envs.env import EpisodeEnv
from etude.names import rng
from etude.policies.scripted import OraclePolicy
from etude.pose import Array
from etude.render.studio import Studio
from etude.suites.suite import SUITES

TASKS = 3  # of each suite: the first, the middle and the last
STEPS = 60
ROUNDS = 8
GENTLE = 0.3  # of full deflection
SIDE = 128  # pixels


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
                found.append(_least(env, _drawn() if who.startswith("a hand") else _shown(env), mujoco, "mj_step"))
            whole, physics = (np.concatenate(parts) for parts in zip(*found, strict=True))
            case = f"steps: {suite.name}, {who}"
            results.append(Result(case, _mean(whole), "CPU ms", "mj_step, the same substeps", _mean(physics)))
            results.append(Result(f"{case}, outside mj_step", round(100 * (1 - float(physics.sum() / whole.sum())), 1), "%"))
    return results


def pictures() -> list[Result]:
    """Control steps with the oracle's actions and all cameras of the suite at 128×128: the pictures of a step together, and the whole step,
    of the first task of each suite. The least of each step counts, as above."""
    results = []
    for suite in SUITES.values():
        name = f"{suite.name}/{next(iter(suite.tasks))}"
        case = f"pictures: {name}, all cameras {SIDE}x{SIDE}"
        if suite.room is None or not (wanted(f"{case}, of a step") or wanted(f"{case}, whole step")):
            continue
        env = EpisodeEnv(suite.name, next(iter(suite.tasks)), size=(SIDE, SIDE))
        whole, drawn = _least(env, _shown(env), Studio, "shoot")
        results.append(Result(f"{case}, of a step", _mean(drawn), "CPU ms"))
        results.append(Result(f"{case}, whole step", _mean(whole), "CPU ms"))
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


def _least(env: EpisodeEnv, actions: Sequence[Array], owner: Any, name: str) -> tuple[Array, Array]:
    """Seconds that each step takes at least, and that ``owner.name`` does in it."""
    whole, part = np.full(len(actions), np.inf), np.full(len(actions), np.inf)
    for _ in range(extent(ROUNDS, 3)):
        whole = np.minimum(whole, _played(env, actions, [0.0], False))
        with stopwatch(owner, name) as spent:
            part = np.minimum(part, _played(env, actions, spent, True))
    done = np.isfinite(whole)  # chance may have ended it sooner
    return whole[done], part[done]


def _played(env: EpisodeEnv, actions: Sequence[Array], spent: list[float], inside: bool) -> Array:
    """Seconds of each step, or of what is ``spent`` in it; infinite where there was none."""
    env.reset(seed=0)
    seconds = np.full(len(actions), np.inf)
    for k, action in enumerate(actions):
        if env.simulation.over:
            break
        spent[0] = 0.0
        begun = time.process_time()
        env.step(action)
        seconds[k] = spent[0] if inside else time.process_time() - begun
    return seconds
