"""The environment of a task in the form that LeRobot's scripts expect: pictures under ``pixels``, what the robot feels under
``agent_pos``, so that policies get them under the names of our datasets: ``observation.images.CAMERA`` and ``observation.state``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from etude.envs.env import EpisodeEnv
from etude.envs.observer import Observation
from etude.episodes import ActionSpace
from etude.plugins import load_all
from etude.scene.viewpoints import camera_names

PICTURES, FELT = "pixels", "agent_pos"


@dataclass(frozen=True)
class PlayedTask:
    """Episodes that differ in their seed alone, and how they are seen and acted in; what a worker process needs to make an environment.

    ``control`` is None for the task's own actions; ``size`` is (width, height); ``plugins`` are modules to load first.
    """

    suite: str
    task: str
    split: str
    control: ActionSpace | None
    cameras: tuple[str, ...]
    size: tuple[int, int]
    perturb: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def __call__(self) -> LeRobotEnv:
        """Make an environment."""
        return LeRobotEnv(self)


class LeRobotEnv(gymnasium.Env[Observation, NDArray[Any]]):
    """``reset(seed=k)`` plays the episode with this seed. ``task``, ``task_description`` and ``_max_episode_steps`` are asked for by
    LeRobot's scripts after every reset; ``info["is_success"]`` after every step."""

    metadata = EpisodeEnv.metadata

    def __init__(self, played: PlayedTask) -> None:
        load_all(played.plugins)
        self._env = EpisodeEnv(
            played.suite, played.task, played.split, played.control, played.cameras, played.size, render_mode="rgb_array",
            options=dict(played.options), perturb=played.perturb,
        )  # fmt: skip
        self.render_mode = self._env.render_mode
        self._cameras = camera_names(played.cameras)
        seen = self._env.observation_space
        assert isinstance(seen, spaces.Dict)
        pictures = spaces.Dict({name: seen[name] for name in self._cameras})
        self.observation_space: spaces.Dict = spaces.Dict({PICTURES: pictures, FELT: seen["proprioception"]})
        self.action_space = self._env.action_space

    @property
    def task(self) -> str:
        """What is played: ``suite/task``."""
        return self._env.task

    @property
    def task_description(self) -> str:
        """The instruction of the episode, in words."""
        return self._env.task_description

    @property
    def _max_episode_steps(self) -> int:
        """Actions until the episode ends in any case."""
        return self._env._max_episode_steps

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start the episode with this seed; ``options`` are LeRobot's own, and say nothing about episodes."""
        super().reset(seed=seed)
        seen, info = self._env.reset(seed=seed)
        return self._told(seen), _flat(info)

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One action."""
        seen, reward, terminated, truncated, info = self._env.step(action)
        return self._told(seen), reward, terminated, truncated, _flat(info)

    def render(self) -> NDArray[np.uint8] | None:
        """A picture for people."""
        return self._env.render()

    def close(self) -> None:
        """Nothing is left open."""
        self._env.close()

    def _told(self, seen: Observation) -> Observation:
        return {PICTURES: {name: seen[name] for name in self._cameras}, FELT: seen["proprioception"]}


def _flat(info: Mapping[str, Any]) -> dict[str, Any]:
    """What vector environments can put side by side."""
    return {"is_success": bool(info["is_success"]), "progress": float(info["progress"]), "episode_name": info["episode_name"]}
