"""A policy whose actions tell what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from etude.policies.contract import Contract


class Looking:
    """Every number of its chunk comes from something else that it was given; the last counts its answers in this episode."""

    contract = Contract(
        action="ee_delta", frame="tip", rotation="axis_angle", scale=0.1, closes=1, rate=20.0, orientation="upright", cameras=("base",),
        size=(16, 8), chunk=4, execute=2,
    )  # fmt: skip

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        self.instruction, self.count = instruction, 0

    def act(self, observation: dict[str, Any]) -> np.ndarray[Any, Any]:
        if observation["instruction"] == "fail":
            raise ValueError("out of luck")
        self.count += 1
        picture, felt = observation["base"], observation["proprioception"]
        words = len(observation["instruction"]), len(self.instruction)
        seen = [picture.mean(), picture[0, -1, 0], picture[-1, 0, 2], felt[-1], *words, self.count]
        return np.array([seen, *(np.arange(7) / k for k in (3, 7, 9))])
