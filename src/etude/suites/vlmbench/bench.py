"""Speed of demonstrations of VLMbench."""

from __future__ import annotations

import time
from collections.abc import Callable

from etude.bench.core import one_core
from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.library import episode
from etude.policies.scripted import OraclePolicy
from etude.scene.materials import CONTROL_PERIOD
from etude.suites.suite import SUITES


def demonstrations() -> list[Result]:
    """Demonstrations task by task: the oracle's keyposes carried out, five cameras at 128×128 seen at every control step.

    Seconds of demonstration for each second of CPU time; 1 is real time.
    """
    cameras = ("left_shoulder", "right_shoulder", "front", "overhead", "wrist")
    results = []
    with one_core():
        for task in filter(lambda name: wanted(f"vlmbench/{name}"), SUITES["vlmbench"].tasks):
            steps, spent = 0, 0.0
            for seed in range(extent(2, 1) + 1):
                begun = time.process_time()
                simulation, oracle = Simulation(episode(f"vlmbench/{task}@train#{seed}")), OraclePolicy()
                look = Observer(simulation, cameras, (128, 128), ("rgb", "depth", "segmentation")).look
                oracle.reset("", (), simulation.episode.name)
                seen = _Counter(look)
                simulation.heartbeat = seen
                while not simulation.over:
                    simulation.step(oracle.act({"simulation": simulation}))
                if seed:  # the first compiles what has to be
                    steps, spent = steps + seen.count, spent + time.process_time() - begun
            results.append(Result(f"vlmbench/{task}", round(steps * CONTROL_PERIOD / spent, 2), "demonstrated s/CPU-s"))
    return results


class _Counter:
    """Calls something, and counts how often."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._action, self.count = action, 0

    def __call__(self) -> None:
        self.count += 1
        self._action()
