"""What is done at every step beside physics and pixels: judging the goal, and asking a policy behind a socket."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Sequence

import numpy as np

from etude.bench.core import milliseconds
from etude.bench.extent import extent
from etude.bench.result import Result
from etude.envs.env import EpisodeEnv
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.policies.remote import RemotePolicy
from etude.policies.server import serve
from etude.pose import Array

ACTION = np.array([0.05, 0.0, 0.0, 0, 0, 0, -1.0])


class _Still:
    """A policy that costs nothing, so that what is measured is the way there and back."""

    contract = Contract.etude("ee_delta", cameras=("base", "hand_view"))

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Nothing to begin."""

    def act(self, observation: Observation) -> Array:
        """No movement."""
        return np.zeros(7)


def bench_playing(env: EpisodeEnv) -> list[Result]:
    """Judging after a control step, beside the step; and one action from a policy server on this machine, for two pictures of 128×128."""
    env.reset(seed=0)
    stepping, judging = [], []
    for _ in range(extent(200, 50)):
        stepping.append(milliseconds(lambda: env.step(ACTION)))
        judging.append(milliseconds(env.simulation.monitor.update))
    step, judge = statistics.median(stepping), statistics.median(judging)
    results = [Result("playing: judging the goal after a step", round(judge, 3), "CPU ms", "the environment's step", round(step, 3))]
    ready = threading.Event()
    port: list[int] = []

    def listening(at: int) -> None:
        port.append(at)
        ready.set()

    threading.Thread(target=serve, args=(_Still, "127.0.0.1", 0, 1, 5.0, listening), daemon=True).start()
    ready.wait()
    policy = RemotePolicy(f"ws://127.0.0.1:{port[0]}")
    policy.reset("Stack the cubes", (), "suite/task@test#0")
    pictures = {camera: np.zeros((128, 128, 3), np.uint8) for camera in policy.contract.cameras}
    seen = {**pictures, "proprioception": np.zeros(24, np.float32), "instruction": "Stack the cubes"}
    asking = [milliseconds(lambda: policy.act(seen)) for _ in range(extent(200, 50))]
    policy.close()
    return [*results, Result("playing: one action from a policy server", round(statistics.median(asking), 3), "CPU ms")]
