"""Speed of whole episodes of VIMA-Bench."""

from __future__ import annotations

import time

from etude.bench.core import one_core
from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.envs.env import EpisodeEnv
from etude.envs.prompt_assets import prompt_assets
from etude.policies.scripted import OraclePolicy
from etude.suites.suite import SUITES


def episodes() -> list[Result]:
    """Episodes for each second of CPU time, task by task: reset, prompt pictures, the oracle's actions, both views after every one."""
    results, count = [], extent(6, 1)
    with one_core():
        for task in SUITES["vima"].tasks.values():
            if not wanted(f"vima/{task.name}"):
                continue
            env = EpisodeEnv("vima", task.name, split=task.splits[-1], size=(256, 128), cameras=("front", "top"))
            oracle = OraclePolicy()
            env.reset(seed=0)  # compiles what has to be
            begun = time.process_time()
            for seed in range(1, count + 1):
                env.reset(seed=seed)
                prompt_assets(env.simulation.episode)
                oracle.reset("", (), env.simulation.episode.name)
                while not env.simulation.over:
                    env.step(oracle.act({"simulation": env.simulation}))
            results.append(Result(f"vima/{task.name}", round(count / (time.process_time() - begun), 2), "episodes/CPU-s"))
    return results
