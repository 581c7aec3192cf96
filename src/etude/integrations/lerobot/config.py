"""``--env.type=etude`` of LeRobot's scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
from lerobot.configs import FeatureType, PolicyFeature
from lerobot.envs import EnvConfig
from lerobot.envs.utils import _LazyAsyncVectorEnv, freeze_after_episode_end
from lerobot.utils.constants import ACTION, OBS_IMAGES, OBS_STATE

from etude.datasets.columns import ACTION as OUR_ACTION
from etude.datasets.columns import PICTURES as OUR_PICTURES
from etude.datasets.columns import STATE as OUR_STATE
from etude.episodes import ActionSpace, Episode
from etude.evaluation.choosing import choose, is_listed
from etude.integrations.lerobot.env import FELT, PICTURES, LeRobotEnv, PlayedTask
from etude.library import find
from etude.names import EpisodeName, EtudeError, pick
from etude.plugins import load_all
from etude.scene.viewpoints import camera_names
from etude.suites.suite import SUITES

assert (ACTION, f"{OBS_IMAGES}.", OBS_STATE) == (OUR_ACTION, OUR_PICTURES, OUR_STATE)
SPACES: dict[str, ActionSpace | None] = {"ee_delta": "ee_delta", "ee_pose": "ee_pose", "joint": "joint", "own": None}
HORIZON = "_max_episode_steps"


@EnvConfig.register_subclass("etude")
@dataclass
class EtudeEnvConfig(EnvConfig):
    """Tasks of etude, and how they are seen and acted in.

    ``task``: one or several, with commas, as for ``etude evaluate``: a suite, ``suite@split``, ``suite/task``, ``suite/task@split``; the
    episodes of each are those with the seeds from ``--seed`` on. ``cameras``, with commas, by name or one's own, and ``size``, 128 or
    128x96: as ``etude demos`` records when they are not given. ``control``: the action space; ``own`` for the tasks'. ``perturb``, with
    commas, and ``options``, as key=value with commas, become part of every episode's name. ``plugins``, with commas, are modules to load
    first.
    """

    task: str | None = None
    fps: int = 20
    cameras: str = ""
    size: str = ""
    control: str = "ee_delta"
    perturb: str = ""
    options: str = ""
    plugins: str = ""
    features: dict[str, PolicyFeature] = field(default_factory=dict)
    features_map: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tasks = self.tasks()
        first, *others = (_features(task) for task in tasks)
        for task, found in zip(tasks[1:], others, strict=True):
            if found != first:
                raise EtudeError(
                    f"{task.suite}/{task.task} has other cameras, joints or actions than {tasks[0].suite}/{tasks[0].task}: play them apart"
                )
        self.features, self.features_map = first, {name: _policy_name(name) for name in first}

    def tasks(self) -> list[PlayedTask]:
        """What is played, one for each group of episodes that differ in their seed alone."""
        load_all(_parts(self.plugins))
        wanted = _parts(self.task or "")
        if not wanted:
            raise EtudeError("--env.task says what is played: a suite, or suite/task@split")
        if listed := next((one for one in wanted if is_listed(one)), None):
            raise EtudeError(f"--env.task={listed}: episodes are chosen by --seed and --eval.n_episodes; expected suite/task@split")
        perturb = _parts(self.perturb)
        names = choose(wanted, perturb=perturb, options=_pairs(self.options) or None, episodes=1, control=not perturb)
        return [self._played(EpisodeName.parse(name)) for name in names]

    def _played(self, name: EpisodeName) -> PlayedTask:
        episode = find(name)
        if not isinstance(episode, Episode):
            raise EtudeError(f"{name.suite}/{name.task} is a decision; LeRobot's policies move robots")
        cameras = _parts(self.cameras) or tuple(camera.name for camera in episode.scene.cameras if camera.name != "render")
        return PlayedTask(
            name.suite, name.task, name.split, pick("action space", self.control, SPACES), cameras,
            _size(self.size) if self.size else SUITES[name.suite].size, name.perturbations, dict(name.options), _parts(self.plugins),
        )  # fmt: skip

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """Nothing: environments are made by :meth:`create_envs`."""
        return {}

    def create_envs(self, n_envs: int, use_async_envs: bool = False) -> dict[str, dict[int, gymnasium.vector.VectorEnv[Any, Any, Any]]]:
        """By suite, and by the number of the task in it: ``n_envs`` worlds each, in processes of their own where that is asked for."""
        found: dict[str, dict[int, Any]] = {}
        for task in self.tasks():
            group = found.setdefault(task.suite, {})
            made: list[Callable[[], LeRobotEnv]] = [task] * n_envs
            group[len(group)] = _Processes(made) if use_async_envs and n_envs > 1 else _Worlds(made)
        return found


class _Horizons:
    """LeRobot ends all episodes of a batch at the horizon of the first; here each ends at its own, so they are given the longest."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        found = super().call(name, *args, **kwargs)  # type: ignore[misc]
        return [max(found)] * len(found) if name == HORIZON else found


class _Worlds(_Horizons, gymnasium.vector.SyncVectorEnv):
    """One world after the other. One that is over waits for the others: LeRobot adds up a reward too many of each."""

    def __init__(self, made: list[Callable[[], LeRobotEnv]]) -> None:
        super().__init__([freeze_after_episode_end(one) for one in made], autoreset_mode=gymnasium.vector.AutoresetMode.NEXT_STEP)


class _Processes(_Horizons, _LazyAsyncVectorEnv):
    """A process for each world, started when its task is played; LeRobot's own has those that are over wait."""


def _features(task: PlayedTask) -> dict[str, PolicyFeature]:
    env = task()
    height, width = task.size[1], task.size[0]
    found = {f"{PICTURES}/{name}": PolicyFeature(FeatureType.VISUAL, (height, width, 3)) for name in camera_names(task.cameras)}
    found[FELT] = PolicyFeature(FeatureType.STATE, env.observation_space[FELT].shape)
    found[ACTION] = PolicyFeature(FeatureType.ACTION, env.action_space.shape)
    return found


def _policy_name(name: str) -> str:
    """Under which a policy finds a part of the observation, as in our datasets."""
    return {FELT: OBS_STATE, ACTION: ACTION}.get(name) or f"{OBS_IMAGES}.{name.removeprefix(f'{PICTURES}/')}"


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in _parts(text)]
    for key, sign, _ in pairs:
        if not sign:
            raise EtudeError(f"--env.options={text}: expected key=value, with commas, like robot=panda; got {key!r}")
    return {key: value for key, _, value in pairs}


def _size(text: str) -> tuple[int, int]:
    sides = text.split("x")
    if len(sides) > 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise EtudeError(f"--env.size={text}: expected 128, or WIDTHxHEIGHT")
    return int(sides[0]), int(sides[-1])
