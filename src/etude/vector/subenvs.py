"""Worlds of a batch that are stepped in one process, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs.observer import Observation
from etude.foreign import with_frames
from etude.names import EtudeError
from etude.plugins import load_all
from etude.vector.arrays import Fields
from etude.vector.infos import NUMBERS, Form, taken_apart
from etude.vector.stream import EnvKind, EpisodeStream

Told = dict[str, list[Any]]
"""What could not go through the arrays: texts and infos that changed, texts of final observations, answers to calls."""
LOOK = 0.001  # seconds between looks at the others, for who has an episode to prepare


@dataclass(frozen=True)
class BatchPlan:
    """What all processes of a batch know: which episodes, in environments with which settings, and when they are reset."""

    stream: EpisodeStream
    settings: dict[str, Any]
    autoreset: AutoresetMode
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beginning:
    """How a world begins anew: with an episode it is given, or else with the next of its stream, from ``start`` on if that is said."""

    world: int
    start: int | None = None
    given: int | str | None = None


def fields(plan: BatchPlan, observations: spaces.Dict, actions: spaces.Space[Any], workers: int) -> Fields:
    """The arrays that those who step the worlds and those who ask for it have in common."""
    n = plan.stream.worlds
    seen = {key: ((n, *(space.shape or ())), space.dtype) for key, space in observations.items() if not isinstance(space, spaces.Text)}
    final = {f"final/{key}": array for key, array in seen.items()} if plan.autoreset == AutoresetMode.SAME_STEP else {}
    return {
        "action": ((n, *(actions.shape or ())), np.int64 if isinstance(actions, spaces.Discrete) else np.float64),
        "reward": ((n,), np.float64),
        "terminated": ((n,), np.bool_),
        "truncated": ((n,), np.bool_),
        "numbers": ((n, NUMBERS), np.float64),
        "resetting": ((max(workers, 1),), np.bool_),
        **{f"seen/{key}": array for key, array in seen.items()},
        **final,
    }


@dataclass
class _SubEnv:
    """One world: the environment in which it is played, others in store, and an episode prepared in one of these."""

    world: int
    env: gymnasium.Env[Any, Any] | None = None
    kind: EnvKind | None = None
    start: int = 0
    count: int = 0
    over: bool = False
    store: dict[EnvKind, list[gymnasium.Env[Any, Any]]] = field(default_factory=dict)
    prepared: tuple[EnvKind, int | str, gymnasium.Env[Any, Any], Any, dict[str, Any]] | None = None
    preparable: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    form: Form = field(default_factory=list)
    others: list[Any] = field(default_factory=list)


class SubEnvs:
    """The worlds ``members`` of a batch. What they show goes to ``arrays``; ``place`` is the number of this process among the workers.

    While nothing is asked of it, a process prepares the episodes that come next: a reset takes as long as dozens of steps, and in a batch
    everybody waits for it.
    """

    def __init__(self, plan: BatchPlan, members: range, arrays: Mapping[str, NDArray[Any]], place: int = 0) -> None:
        load_all(plan.plugins)
        self._plan, self._arrays, self._place = plan, arrays, place
        self._seen = {name.removeprefix("seen/"): array for name, array in arrays.items() if name.startswith("seen/")}
        self._subs = {world: _SubEnv(world) for world in members}
        self._took = 0.0  # seconds of the latest reset
        self._told: Told = {}
        self.failure: BaseException | None = None  # the latest

    # ------------------------------------------------------------------------------------------- what is asked

    def reset(self, beginnings: Sequence[Beginning]) -> Told:
        """Begin episodes."""
        self._told = {}
        for one in beginnings:
            sub = self._subs[one.world]
            if one.start is not None:
                sub.start, sub.count = one.start, 0
            self._guarded(sub, lambda sub, given: self._show(sub, *self._begin(sub, given)), one.given)
        return self._told

    def step(self, worlds: Sequence[int] | None = None) -> Told:
        """One action in every world, or in these; where an episode is over, what the mode of resetting says."""
        self._told = {}
        for sub in self._subs.values() if worlds is None else [self._subs[world] for world in worlds]:
            self._guarded(sub, self._step)
        return self._told

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Told:
        """An attribute of every environment, or what it gives when it is called."""
        self._told = {"answers": []}
        for sub in self._subs.values():
            self._guarded(sub, self._call, name, arguments, named)
        return self._told

    def close(self) -> None:
        """Close all environments."""
        for sub in self._subs.values():
            for env in (sub.env, *(env for envs in sub.store.values() for env in envs), sub.prepared and sub.prepared[2]):
                if env is not None:
                    env.close()

    def _guarded(self, sub: _SubEnv, action: Callable[..., None], *arguments: Any) -> None:
        """Do it; what goes wrong in one world is told with its name, and does not keep the others from theirs."""
        try:
            action(sub, *arguments)
        except (Exception, SystemExit) as error:
            self.failure = error
            self._told.setdefault("failed", []).append([sub.world, with_frames(error)])

    # ------------------------------------------------------------------------------------------- worlds

    def _begin(self, sub: _SubEnv, given: int | str | None = None) -> tuple[Observation, dict[str, Any]]:
        if given is None:
            kind, episode = self._plan.stream.episode(sub.world, sub.start, sub.count)
            sub.count += 1
        elif isinstance(given, str):
            kind, episode = self._plan.stream.named(given)
        else:
            kind, episode = self._plan.stream.seeded(sub.world, given)
        ready, sub.prepared, sub.preparable = sub.prepared, None, True
        if sub.env is not None and sub.kind is not None:
            sub.store.setdefault(sub.kind, []).append(sub.env)
            sub.env = None
        if ready is not None and ready[:2] != (kind, episode):  # somebody asked for another
            sub.store.setdefault(ready[0], []).append(ready[2])
            ready = None
        if ready is None:
            self._arrays["resetting"][self._place] = True
            begun = time.perf_counter()
            try:
                ready = self._reset(sub, kind, episode)
            finally:
                self._arrays["resetting"][self._place] = False
            self._took = time.perf_counter() - begun
        sub.kind, _, sub.env, observation, info = ready
        sub.over = False
        self._outcome(sub, 0.0, False, False)
        self._check(observation, info)
        return observation, info

    def _outcome(self, sub: _SubEnv, reward: float, terminated: bool, truncated: bool) -> None:
        arrays, world = self._arrays, sub.world
        arrays["reward"][world], arrays["terminated"][world], arrays["truncated"][world] = reward, terminated, truncated

    def _reset(self, sub: _SubEnv, kind: EnvKind, episode: int | str) -> tuple[EnvKind, int | str, gymnasium.Env[Any, Any], Any, Any]:
        stored = sub.store.get(kind)
        env = stored.pop() if stored else kind.make(self._plan.settings)
        if isinstance(episode, str):
            return kind, episode, env, *env.reset(options={"episode": episode})
        return kind, episode, env, *env.reset(seed=episode)

    def _step(self, sub: _SubEnv) -> None:
        if sub.env is None:
            raise EtudeError("call reset() first")
        if sub.over and self._plan.autoreset == AutoresetMode.NEXT_STEP:
            self._show(sub, *self._begin(sub))
            return
        arrays, world = self._arrays, sub.world
        observation, reward, terminated, truncated, info = sub.env.step(arrays["action"][world].copy())
        sub.over = terminated or truncated
        if sub.over and self._plan.autoreset == AutoresetMode.SAME_STEP:
            final = {key: value for key, value in observation.items() if isinstance(value, str)}
            for key, value in observation.items():
                if key not in final:
                    arrays[f"final/{key}"][world] = value
            self._told.setdefault("final", []).append([world, final])
            observation, new = self._begin(sub)
            info = {**new, "final_info": info}
        self._show(sub, observation, info)
        self._outcome(sub, float(reward), terminated, truncated)

    def _check(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """An episode that shows other things than the rest of its batch (a robot with more joints) is refused by name."""
        for key, value in observation.items():
            room = self._seen.get(key)
            if room is not None and room.shape[1:] != np.shape(value):
                name = info.get("episode_name", "an episode")
                raise EtudeError(f"{name} shows {key!r} of shape {np.shape(value)}, its batch {room.shape[1:]}: play it in one of its own")

    def _show(self, sub: _SubEnv, observation: Observation, info: dict[str, Any]) -> None:
        for key, value in observation.items():
            if key in self._seen:
                self._seen[key][sub.world] = value
            elif sub.texts.get(key) != value:
                sub.texts[key] = value
                self._told.setdefault("texts", []).append([sub.world, key, value])
        form, numbers, others = taken_apart(info)
        self._arrays["numbers"][sub.world, : len(numbers)] = numbers
        if form != sub.form or others != sub.others:
            sub.form, sub.others = form, others
            self._told.setdefault("infos", []).append([sub.world, form, others])

    def _call(self, sub: _SubEnv, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        if sub.env is None:
            raise EtudeError("call reset() first")
        found = sub.env.get_wrapper_attr(name)
        self._told["answers"].append([sub.world, found(*arguments, **named) if callable(found) else found])

    # ------------------------------------------------------------------------------------------- ahead

    def use_pause(self, asked: Callable[[float], bool]) -> None:
        """Prepare episodes until something is asked for: while others reset, for then everybody waits; and once a pause has lasted as long
        as a reset takes, for it may well last as long again. ``asked`` waits so many seconds."""
        begun = time.perf_counter()
        while (sub := self._unprepared()) is not None and not asked(LOOK):
            if self._arrays["resetting"].any() or time.perf_counter() - begun > self._took:
                self._prepare(sub)

    def _unprepared(self) -> _SubEnv | None:
        return next((sub for sub in self._subs.values() if sub.preparable), None)

    def _prepare(self, sub: _SubEnv) -> None:
        sub.preparable = False
        try:
            sub.prepared = self._reset(sub, *self._plan.stream.episode(sub.world, sub.start, sub.count))
        except (Exception, SystemExit):  # it is told if and when the episode is played
            sub.prepared = None
