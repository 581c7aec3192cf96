"""What the environments of all tasks have alike: what tools around Gymnasium ask them for, and how they are shown to people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from etude.envs.arguments import RENDER_MODES, choice
from etude.envs.observer import Observation
from etude.envs.window import Window

Act = TypeVar("Act")
SEEDS = 2**31


class TaskEnv(gymnasium.Env[Observation, Act], ABC):
    """Plays episodes of one task. ``_max_episode_steps`` and ``task_description`` are of the episode that is played, and of that with the
    seed 0 before there is one: so ``spec.max_episode_steps`` is right in every action space, for episodes of any length."""

    _made: EnvSpec | None = None
    _window: Window | None = None

    def __init__(self, suite: str, task: str, split: str, render_mode: str | None) -> None:
        self._suite, self._task, self._split = suite, task, split
        self.render_mode = None if render_mode is None else choice(render_mode, "render_mode", RENDER_MODES)

    @property
    def spec(self) -> EnvSpec | None:
        """As Gymnasium made it, with the horizon."""
        return None if self._made is None else replace(self._made, max_episode_steps=self._max_episode_steps)

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._made = spec

    @property
    def task(self) -> str:
        """What is played, as names begin: ``suite/task``."""
        return f"{self._suite}/{self._task}"

    @property
    @abstractmethod
    def task_description(self) -> str:
        """The instruction as text, as observations have it."""

    @property
    @abstractmethod
    def _max_episode_steps(self) -> int:
        """Actions until an episode ends in any case. Under this name Gymnasium's own wrapper keeps it, and others look for it."""

    @abstractmethod
    def _picture(self) -> NDArray[np.uint8] | None:
        """What people are to see now; None before the first episode."""

    def render(self) -> NDArray[np.uint8] | None:
        """A picture for people, if the environment was made with ``render_mode="rgb_array"``; with "human", a window has it anyway."""
        return self._picture() if self.render_mode == "rgb_array" else None

    def _show(self) -> None:
        """Bring the window up to date, where one was asked for."""
        if self.render_mode == "human" and (picture := self._picture()) is not None:
            self._window = self._window or Window(self.task)
            self._window.show(picture, 1.0 / self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _name(self, seed: int, variant: str = "") -> str:
        return f"{self.task}@{self._split}#{seed}{variant}"

    def _seed(self, seed: int | None) -> int:
        """This seed, or without one the next of the environment's own generator."""
        return int(self.np_random.integers(SEEDS)) if seed is None else seed


def shown(frames_a_second: int) -> dict[str, Any]:
    """What Gymnasium wants to know of an environment's pictures."""
    return {"render_modes": list(RENDER_MODES), "render_fps": frames_a_second}
