"""The vector environment: worlds of any tasks with the same spaces, stepped on all cores, in Gymnasium's form."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from etude.envs.actions import numbers
from etude.envs.arguments import choice, listed, seed_or_none, switch, text
from etude.envs.observer import Observation
from etude.envs.task_env import SEEDS
from etude.index import env_id
from etude.machine import cores
from etude.names import EtudeError
from etude.plugins import named
from etude.vector.infos import BatchInfos
from etude.vector.stream import EnvKind, EpisodeStream, stream_of
from etude.vector.subenvs import BatchPlan, Beginning, Told, fields
from etude.vector.team import CLOSED, CallingProcess, WorkerProcesses

RESET_OPTIONS = ("episode", "reset_mask")
MODES = {mode.value: mode for mode in AutoresetMode}


class EpisodeVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """Plays episodes in ``num_envs`` worlds at once, on ``workers`` processes: as many as there are cores if not said, none with 0.

    ``reset(seed=s)`` begins the episodes of the seeds s, s + 1, … in the worlds 0, 1, …, and every world goes on with seeds of its own that
    no other world gets: s + N and so on. With a list of seeds every world begins with its own. ``reset()`` goes on with the next ones. Of
    episodes that were named, every world plays its share in order, and a seed begins it again.
    ``options={"episode": name}`` plays one episode by name in all worlds, or of a list of names each in its own; with ``"reset_mask"``,
    an array of N booleans, other worlds are left alone. However many processes there are, the same seed gives the same bytes.

    ``autoreset_mode``: "NextStep" (the step after the last begins the next episode, and its action counts for nothing), "SameStep" (the
    last step does, and ``infos`` has what was last seen and said as ``final_obs`` and ``final_info``), or "Disabled".

    With ``copy=False``, observations are the memory that workers write to: the next step changes them.

    ``step`` waits for the slowest world. Who would rather act where something is to be done takes :meth:`send` and :meth:`recv` instead:
    worlds come back as they become ready, each plays what it plays with ``step``, and no core waits for another.
    """

    def __init__(
        self,
        stream: EpisodeStream,
        workers: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **settings: Any,
    ) -> None:
        mode = autoreset_mode if isinstance(autoreset_mode, AutoresetMode) else MODES[choice(autoreset_mode, "autoreset_mode", MODES)]
        if settings.get("render_mode") == "human":
            raise EtudeError(
                'render_mode="human" is for one environment; a batch takes "rgb_array", and render() gives a picture of every world'
            )
        self._stream, self._copy = stream, switch(copy, "copy")
        self.num_envs = stream.worlds
        self._plan = BatchPlan(stream, settings, mode, named())
        single = self._single()
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**single.metadata, "autoreset_mode": mode}
        self.render_mode = single.render_mode
        count = min(cores() if workers is None else _counted(workers, "workers", 0), self.num_envs)
        assert isinstance(self.single_observation_space, spaces.Dict)
        layout = fields(self._plan, self.single_observation_space, self.single_action_space, count)
        self._team = WorkerProcesses(self._plan, layout, count) if count else CallingProcess(self._plan, layout)
        self._ended = weakref.finalize(self, self._team.close)
        self._arrays = self._team.arrays
        self._infos = BatchInfos(self._arrays["numbers"])
        self._everybody = range(self.num_envs)
        self._texts = {key: [""] * self.num_envs for key, space in self.single_observation_space.items() if isinstance(space, spaces.Text)}
        self._keys = tuple(self.single_observation_space)
        self._begun = np.zeros(self.num_envs, np.bool_)
        self._away: set[int] = set()  # worlds that were sent and not yet received

    def _single(self) -> gymnasium.Env[Any, Any]:
        """One environment of the batch, for its spaces: which all of them must have."""
        first, *others = (kind.make(self._plan.settings) for kind in self._stream.kinds)
        for other, kind in zip(others, self._stream.kinds[1:], strict=True):
            for what in ("action_space", "observation_space"):
                mine, theirs = getattr(first, what), getattr(other, what)
                if mine != theirs:
                    what, one = what.replace("_", " "), self._stream.kinds[0].id
                    raise EtudeError(f"{one} and {kind.id} cannot be one batch: the {what} of one is {mine}, of the other {theirs}")
        return first

    # ------------------------------------------------------------------------------------------- playing

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin episodes in all worlds, or in those of the mask; see the class."""
        self._check_home()
        episodes, worlds = self._asked_options(options)
        beginnings = self._seeded(seed, worlds)
        if episodes is not None:
            beginnings = [replace(one, given=episodes[one.world]) for one in beginnings]
        told = self._team.reset(beginnings)
        self._begun[worlds] = True
        self._learn(told)
        return self._observation(), self._infos.merged(worlds)

    def _seeded(self, seed: int | Sequence[int | None] | None, worlds: Sequence[int]) -> list[Beginning]:
        if seed is None and self._begun[worlds].all():
            return [Beginning(world) for world in worlds]
        if isinstance(seed, Sequence | np.ndarray):
            own = [seed_or_none(one) for one in seed]
            if len(own) != self.num_envs:
                raise EtudeError(f"a list of seeds has one for each of the {self.num_envs} worlds, got {len(own)}")
            start = max((one for one in own if one is not None), default=self._drawn() - 1) + 1
            return [Beginning(world, start, None if self._stream.names else own[world]) for world in worlds]
        first = seed_or_none(self._drawn() if seed is None else seed)
        super().reset(seed=first)
        return [Beginning(world, first) for world in worlds]

    def _drawn(self) -> int:
        return int(self.np_random.integers(SEEDS))

    def _asked_options(self, options: dict[str, Any] | None) -> tuple[list[str] | None, Sequence[int]]:
        """Episodes by name, one for each world, if they are asked for; and the worlds that are to begin."""
        for key in options or {}:
            choice(key, "option of reset", RESET_OPTIONS)
        asked, mask = (options or {}).get("episode"), (options or {}).get("reset_mask")
        names = None
        if asked is not None:
            names = [asked] * self.num_envs if isinstance(asked, str) else list(listed(asked, "the episodes"))
        if names is not None and len(names) != self.num_envs:
            raise EtudeError(f"a list of episodes has one for each of the {self.num_envs} worlds, got {len(names)}")
        if mask is None:
            return names, self._everybody
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise EtudeError(f"reset_mask is an array of {self.num_envs} booleans, at least one of them True; got {mask!r:.60}")
        return names, np.flatnonzero(mask).tolist()

    def step(self, actions: Any) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One action in every world. All are looked at before the first is carried out."""
        self._check_home()
        self._check_begun(self._everybody)
        arrays = self._arrays
        arrays["action"][:] = self._checked(actions, self.num_envs)
        told = self._team.step()
        self._learn(told)
        infos = self._infos.merged(self._everybody)
        final = [one for part in told for one in part.get("final", ())]
        if final:
            self._add_final(infos, final)
        observation = self._observation()
        return observation, arrays["reward"].copy(), arrays["terminated"].copy(), arrays["truncated"].copy(), infos

    def send(self, actions: Any, worlds: Sequence[int] | NDArray[Any] | None = None) -> None:
        """Begin a step in these worlds, all if not said: ``actions`` has a row for each. They come back by :meth:`recv`."""
        self._check_open()
        asked = list(self._everybody) if worlds is None else [_counted(world, "a world", 0) for world in worlds]
        for world in asked:
            if world >= self.num_envs:
                raise EtudeError(f"there are the worlds 0 to {self.num_envs - 1}, got {world}")
        if len(set(asked)) < len(asked) or self._away.intersection(asked):
            raise EtudeError(
                f"a world is sent once and received before it is sent again; got {asked}, and under way are {sorted(self._away)}"
            )
        self._check_begun(asked)
        self._arrays["action"][asked] = self._checked(actions, len(asked))
        self._team.send(asked)
        self._away.update(asked)

    def recv(self, least: int = 1) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], list[dict[str, Any]], NDArray[np.int64]]:
        """What :meth:`step` gives, of at least so many worlds that were sent, those that are ready first: observations, rewards, terminated
        and truncated with a row for each, their infos one by one, and which worlds they are."""
        self._check_open()
        if _counted(least, "the number of worlds to wait for", 1) > len(self._away):
            raise EtudeError(
                f"recv waits for {least} of the worlds that were sent, and only {len(self._away)} are under way: send them first"
            )
        try:
            found = self._team.receive(least)
        except BaseException:  # nobody is left to bring the others back
            self._away.clear()
            raise
        worlds = [world for world, _ in found]
        self._away.difference_update(worlds)
        told = [part for _, part in found]
        self._learn(told)
        infos = [self._infos.of(world) for world in worlds]
        for world, words in (one for part in told for one in part.get("final", ())):
            infos[worlds.index(world)]["final_obs"] = self._final(world, words)
        arrays, seen = self._arrays, Observation()
        for key in self._keys:
            texts = self._texts.get(key)
            seen[key] = arrays[f"seen/{key}"][worlds] if texts is None else tuple([texts[world] for world in worlds])
        return seen, arrays["reward"][worlds], arrays["terminated"][worlds], arrays["truncated"][worlds], infos, np.array(worlds, np.int64)

    def _checked(self, actions: Any, worlds: int) -> NDArray[Any]:
        shape = (worlds, *self._arrays["action"].shape[1:])
        given = numbers(actions, "the batch of actions", f"numbers of shape {shape}")
        if given.shape != shape:
            raise EtudeError(f"a batch of actions has the shape {shape}, one row for each world; got {given.shape}")
        if not np.isfinite(given).all():
            raise EtudeError("the numbers of actions must be finite")
        if isinstance(self.single_action_space, spaces.Discrete) and not np.isin(given, range(int(self.single_action_space.n))).all():
            raise EtudeError(f"actions are whole numbers from 0 to {self.single_action_space.n - 1}, got {actions!r:.60}")
        return given

    def _learn(self, told: Sequence[Told]) -> None:
        for part in told:
            for world, key, words in part.get("texts", ()):
                self._texts[key][world] = words
            for one in part.get("infos", ()):
                self._infos.tell(*one)
        for world, reason in (one for part in told for one in part.get("failed", ())):
            raise EtudeError(f"world {world}: {reason}" if world >= 0 else reason) from self._team.failure

    def _observation(self) -> Observation:
        seen: Observation = {}
        for key in self._keys:
            if key in self._texts:
                seen[key] = tuple(self._texts[key])
            else:
                seen[key] = self._arrays[f"seen/{key}"].copy() if self._copy else self._arrays[f"seen/{key}"]
        return seen

    def _add_final(self, infos: dict[str, Any], final: Sequence[Any]) -> None:
        found, mask = np.full(self.num_envs, None, object), np.zeros(self.num_envs, np.bool_)
        for world, words in final:
            found[world], mask[world] = self._final(world, words), True
        infos["final_obs"], infos["_final_obs"] = found, mask

    def _final(self, world: int, words: dict[str, str]) -> Observation:
        return {key: words[key] if key in words else self._arrays[f"final/{key}"][world].copy() for key in self._keys}

    # ------------------------------------------------------------------------------------------- the rest

    def call(self, name: str, *arguments: Any, **keywords: Any) -> tuple[Any, ...]:
        """A method of every single environment, called; or an attribute. Plain data and arrays come back from workers, other things not."""
        self._check_home()
        told = self._team.call(text(name, "the name"), arguments, keywords)
        self._learn(told)
        return tuple(answer for part in told for _, answer in part["answers"])

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of every single environment."""
        return self.call(name)

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every world, if the environment was made with ``render_mode="rgb_array"``."""
        return None if self.render_mode is None else self.call("render")

    def close_extras(self, **kwargs: Any) -> None:
        """End the processes; Gymnasium calls this once."""
        self._ended()

    def _check_open(self) -> None:
        if not self._ended.alive:
            raise EtudeError(CLOSED)

    def _check_home(self) -> None:
        self._check_open()
        if self._away:
            raise EtudeError(f"the worlds {sorted(self._away)} are under way: recv() them first")

    def _check_begun(self, worlds: Sequence[int]) -> None:
        if not self._begun[worlds].all():
            raise EtudeError("call reset() first")
        if self._plan.autoreset == AutoresetMode.DISABLED:
            over = [world for world in worlds if self._arrays["terminated"][world] or self._arrays["truncated"][world]]
            if over:
                raise EtudeError(f'the episodes of the worlds {over} are over; reset them: reset(options={{"reset_mask": …}})')


def of_task(num_envs: int, suite: str, task: str, split: str | None = None, **settings: Any) -> EpisodeVectorEnv:
    """The batch of one task: what ``gymnasium.make_vec`` calls."""
    worlds = _counted(num_envs, "num_envs", 1)
    return EpisodeVectorEnv(EpisodeStream((EnvKind(env_id(suite, task), split),), worlds), **settings)


def make_vec(what: str | Path | Sequence[str | Path], num_envs: int, **settings: Any) -> EpisodeVectorEnv:
    """The batch of whatever is asked for; see :func:`etude.api.make_vec`."""
    stream = stream_of(what, _counted(num_envs, "num_envs", 1))
    own = {"split", "options"} if stream.names else {"split"} if any(kind.split is not None for kind in stream.kinds) else set()
    for key in own & settings.keys():
        raise EtudeError(f"{key} is not combined with episodes or suites that say it themselves; leave it out, or name tasks without")
    if stream.names and settings.get("perturb"):
        raise EtudeError("perturb is not combined with episodes by name: write it into the names, …#3+mo_color")
    return EpisodeVectorEnv(stream, **settings)


def _counted(value: Any, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise EtudeError(f"{what} must be a whole number, at least {least}; got {value!r:.60}")
    return int(value)
