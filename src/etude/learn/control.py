"""Closed-loop control to learn from, as plain arrays: what was told, what cameras saw and the robot felt at every step, what was right.

An episode is one sample, kept whole: models draw windows of it. In a share of the episodes somebody pushes the hand aside, and what is
learned is how the oracle goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from etude.envs.observer import Observer
from etude.envs.simulation import SIZES, Simulation
from etude.episodes import CONTROLS, PRIMITIVE_STEPS, PRIMITIVES, ActionSpace, Episode
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.samples import BLANK, OBJECT, prompt_tokens
from etude.learn.source import SEEDS, SampleSource, refuse_tests, start_noise
from etude.learn.spots import spots, things_shown
from etude.library import episode, tasks, told_in
from etude.names import SPARSE, EtudeError, Stream, rng, unknown
from etude.policies.contract import Contract, refuse_mismatches
from etude.policies.halves import Arrays
from etude.policies.policy import Observation
from etude.policies.scripted import converted
from etude.pose import Array
from etude.prompts.pictures import multimodal
from etude.scene.manipulator import DELTA_POSITION, DELTA_ROTATION
from etude.scene.robots import arm
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.suite import SUITES, Task

PICTURE_SIDES = (4, 2)  # tokens along each side of a picture in a prompt, and of the same picture when it is small
PICTURE_TOKENS = sum(side**2 for side in PICTURE_SIDES)
LONGEST, PICTURES = 256, 16  # tokens and pictures of a prompt, at most
PUSHED, CALM = 6, 20  # control steps for which a hand is pushed aside, and between two pushes on average
TIP = 10  # numbers of a proprioception after those of the joints: pose of the tip, closed, held, opening
HEADROOM = 1 << 20  # bytes of a sample besides its frames and the pictures of its prompt


@dataclass(frozen=True)
class Shaking:
    """In a ``share`` of the episodes somebody pushes the hand aside now and then, for a few steps, and each of them differs from what the
    oracle wants by ``metres`` and ``radians`` (standard deviation, each axis). What is learned is what the oracle wants."""

    share: float = 0.5
    metres: float = 0.015
    radians: float = 0.06

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or not 0 <= self.metres <= 0.1 or not 0 <= self.radians <= 1:
            told = f"{self.share:g}, {self.metres:g} and {self.radians:g}"
            raise EtudeError(f"the hand is shaken in a share from 0 to 1, by metres from 0 to 0.1 and radians from 0 to 1; got {told}")


@dataclass(frozen=True)
class DaggerRecipe:
    """Episodes that the policy itself plays while it learns, of which every step is learned as the oracle would go on from there (DAgger).

    After ``every`` so many steps of training its averaged weights play so many ``episodes``, each up to a moment that is drawn, at most at
    this share of its horizon (``reach``); then the oracle takes over. Of what a step of training draws, this ``share`` is of them.
    """

    share: float = 0.0
    every: int = 1000
    episodes: int = 256
    reach: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1 or not 0 < self.reach <= 1:
            raise EtudeError(f"data.dagger.share is from 0 to below 1 and data.dagger.reach up to 1, got {self.share:g} and {self.reach:g}")
        if self.every < 1 or self.episodes < 1:
            raise EtudeError(f"data.dagger.every and data.dagger.episodes are at least 1, got {self.every} and {self.episodes}")


@dataclass(frozen=True, eq=False)
class ControlDemonstration:
    """The prompt as ``kinds`` (L,), ``words`` (L, 2), ``places`` (L,) and ``rows`` (L,): cells of ``pictures`` uint8 (P, S, S, 3), 20 of
    each, −1 for words. Of T steps: ``labels`` float32 (T, A), and ``led`` bool (T,): was that what was carried out? ``frames`` uint8
    (N, V, S, S, 3), ``felt`` float32 (N, D) and ``aims`` float32 (N, 7) of the first step, and of every so many after it as the source
    says; an aim is the pose (world) to which the tip has come when what the oracle says it is doing is done. With them ``spots`` int16
    (N, 4, V, 2): where what it is told of first is seen (:mod:`etude.learn.spots`)."""

    kinds: NDArray[np.uint8]
    words: NDArray[np.int16]
    places: NDArray[np.int16]
    rows: NDArray[np.int16]
    pictures: NDArray[np.uint8]
    frames: NDArray[np.uint8]
    felt: NDArray[np.float32]
    aims: NDArray[np.float32]
    spots: NDArray[np.int16]
    labels: NDArray[np.float32]
    led: NDArray[np.bool_]


@dataclass(frozen=True)
class ControlSource(SampleSource):
    """Which episodes, seen by which ``cameras`` in square frames of ``size`` pixels, told in words and pictures or in ``text`` alone, in
    which space of actions. ``levels``: of these alone; ``joints`` of the robot; ``perturb``: perturbations of all of them; ``every``: so
    many steps from one look to the next; ``language``: whose words prompts have."""

    levels: tuple[str, ...] = ()
    cameras: tuple[str, ...] = ()
    size: int = 128
    told: Literal["multimodal", "text"] = "multimodal"
    action: ActionSpace = "ee_delta"
    joints: int = 6
    shaking: Shaking = Shaking()
    perturb: str = ""
    every: int = field(default=1, metadata=SPARSE)
    language: str = field(default="", metadata=SPARSE)

    def __post_init__(self) -> None:
        if self.every < 1:
            raise EtudeError(f"data.source.every is a number of steps, at least 1, got {self.every}")
        if self.action not in CONTROLS:
            raise unknown("space of closed-loop actions", self.action, CONTROLS)
        if not self.cameras:
            raise EtudeError("a closed-loop policy needs at least one camera in data.source.cameras")
        known = {task.level for task in tasks(self.suite).values()}
        for level in self.levels:
            if level not in known:
                raise unknown(f"level of {self.suite}", level, known)
        super().__post_init__()
        if not self.chosen():
            raise EtudeError(f"{self.suite} has no task of these levels in the split {self.split!r}")

    def chosen(self) -> tuple[str, ...]:
        """The tasks, in the suite's order."""
        known = tasks(self.suite)
        return tuple(name for name in super().chosen() if not self.levels or known[name].level in self.levels)

    def held_out(self) -> Self:
        """Episodes of the same tasks that no stream for training has, played with a steady hand."""
        return replace(super().held_out(), shaking=Shaking(0.0))

    @property
    def _perturbed(self) -> str:
        return self.perturb and "+" + self.perturb

    def name(self, number: int) -> str:
        """The name of the k-th episode, with what is perturbed."""
        return super().name(number) + self._perturbed

    @property
    def feels(self) -> int:
        """Numbers of a proprioception."""
        return 2 * self.joints + TIP

    @property
    def acts(self) -> int:
        """Numbers of an action."""
        return SIZES.get(self.action, self.joints + 1)

    def contract(self, chunk: int, execute: int) -> Contract:
        """What a policy asks for that has learned from it, and acts in chunks."""
        size = (self.size, self.size)
        return Contract(action=self.action, cameras=self.cameras, size=size, told=self.told, chunk=chunk, execute=execute)

    def refuse_misfits(self) -> None:
        """Raise if a task has episodes that cannot be seen or acted in like this, or with another robot."""
        firsts = [episode(f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS}{self._perturbed}") for task in self.chosen()]
        refuse_mismatches(self.contract(1, 1), firsts)
        for one in firsts:
            joints = _joints(one)
            if joints != self.joints:
                raise EtudeError(f"{one.name} has a robot of {joints} joints; the recipe is for {self.joints} (data.source.joints)")

    @property
    def room(self) -> int:
        """Bytes that a demonstration takes at most."""
        longest = max(_steps(task) for name, task in tasks(self.suite).items() if name in self.chosen())
        return HEADROOM + 3 * self.size**2 * (PICTURES + len(self.cameras) * -(-longest // self.every))

    def sample(self, number: int) -> ControlDemonstration | None:
        """The demonstration of the k-th episode, or None where the hand was shaken too much."""
        return demonstrated(self.name(number), self)

    def packed(self, number: int) -> bytes:
        """The same as bytes; none where there is none."""
        found = self.sample(number)
        return b"" if found is None else in_a_row(vars(found).values())

    def unpacked(self, data: bytes | memoryview) -> ControlDemonstration:
        """The demonstration of these bytes."""
        return ControlDemonstration(*arrays_in(data))


def _steps(task: Task) -> int:
    """Control steps that an episode of a task may take."""
    return (task.budget or task.horizon * PRIMITIVE_STEPS) if task.control in PRIMITIVES else task.horizon


def _joints(found: Episode) -> int:
    return len(arm(found.scene.robot.arm).links) if found.scene.robot is not None else 0


def plain_source(suite: str, views: int, every: int = 1) -> ControlSource:
    """All episodes of a suite, seen by the first of its views, or by both, at every so many steps."""
    room, cameras = SUITES[suite].room, SUITES[suite].two_views()
    robot = room().robot if room is not None else None
    if not cameras or robot is None:
        raise EtudeError(f"{suite} has no room with a camera and a robot, which closed-loop recipes need")
    return ControlSource(suite, cameras=cameras[:views], joints=len(arm(robot.arm).links), every=every)


class OtherHand(Protocol):
    """Moves in an episode that is learned from, otherwise than the oracle wants."""

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""

    def moved(self, wanted: Array, seen: Observation, simulation: Simulation) -> Array:
        """What is carried out where the oracle wants this ``ee_delta`` action (7,), in the episode's own space. ``seen``: at the last
        look."""


class _ShakenHand:
    """Somebody pushes it aside now and then."""

    def __init__(self, how: Shaking, stream: Stream) -> None:
        self._how, self._stream = how, stream
        self._left, self._off = 0, np.zeros(6)

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """It is as before."""

    def moved(self, wanted: Array, seen: Observation, simulation: Simulation) -> Array:
        """What is wanted, or off it for a few steps."""
        if self._left == 0 and self._stream.chance(1 / CALM):
            self._left, self._off = PUSHED, _push(self._how, self._stream)
        if not self._left:
            return converted(wanted, simulation)
        self._left -= 1
        return converted(np.append(np.clip(wanted[:6] + self._off, -1.0, 1.0), wanted[6:]), simulation)


def demonstrated(
    name: str, source: ControlSource, hand: OtherHand | None = None, noted: Callable[[Simulation], None] = lambda _: None
) -> ControlDemonstration | None:
    """Play an episode with the oracle, or with the ``hand`` of somebody else, to whom it says at every step what would be right. One that
    the oracle does not solve is no demonstration; None where it was not alone. ``noted`` is called before every step."""
    refuse_tests(name)
    found = episode(name).under(source.action)
    told, pictures = told_of(found, source)
    simulation = Simulation(found)
    observer = Observer(simulation, source.cameras, (source.size, source.size), ("rgb",))
    oracle = Oracle(found, simulation.world, simulation.monitor)
    if hand is None:
        stream = rng(found.parsed, "learn/shaking")
        hand = _ShakenHand(source.shaking, stream) if stream.chance(source.shaking.share) else None
    if hand is not None:
        hand.reset(told, pictures, found.name)
    frames: list[NDArray[np.uint8]] = []
    felt: list[NDArray[np.float32]] = []
    places: list[NDArray[np.int16]] = []
    shown, ids = things_shown(found.instruction, found.scene), simulation.world.segmentation_ids()
    doing: list[tuple[str, str, bool]] = []
    poses: list[tuple[float, ...]] = []
    labels: list[Array] = []
    led: list[bool] = []
    seen: Observation = {}
    while not simulation.over:
        if len(labels) % source.every == 0:
            seen = observer.look()
            frames.append(np.stack([seen[camera] for camera in source.cameras]))
            felt.append(seen["proprioception"])
            views = [observer.segmentations[camera] for camera in source.cameras]
            places.append(spots(views, ids, shown))
        aim = oracle.aim()
        tip = simulation.monitor.watch.tip
        doing.append((aim.task, aim.step, aim.closed))
        poses.append((*tip.position, *tip.rotation))
        wanted = delta_action(aim, tip)
        noted(simulation)
        right = converted(wanted, simulation)
        labels.append(_near(right, simulation) if source.action == "ee_pose" else right)
        done = right if hand is None else hand.moved(wanted, seen, simulation)
        led.append(np.array_equal(done, right))
        simulation.step(done)
    if not simulation.status.satisfied:
        if hand is not None:
            return None
        raise EtudeError(f"{name}: the oracle does not solve it")
    arrays = prompt_arrays_of(told, pictures, source.size, source.language)
    return ControlDemonstration(
        **arrays,
        frames=np.stack(frames),
        felt=np.stack(felt),
        aims=_ends(doing, poses)[:: source.every],
        spots=np.stack(places),
        labels=np.array(labels, np.float32),
        led=np.array(led),
    )


def _ends(doing: Sequence[object], poses: Sequence[tuple[float, ...]]) -> NDArray[np.float32]:
    """For every step the pose (7,) at which something else is begun, or the last one."""
    found = [poses[-1]] * len(poses)
    for k in range(len(poses) - 2, -1, -1):
        found[k] = found[k + 1] if doing[k] == doing[k + 1] else poses[k + 1]
    return np.array(found, np.float32)


def told_of(found: Episode, source: ControlSource) -> tuple[str, Sequence[NDArray[np.uint8]]]:
    """What a policy is told of an episode: words with pictures between them, or text alone."""
    return (found.instruction.text, ()) if source.told == "text" else multimodal(found.instruction, told_in(found), source.size)


def _push(how: Shaking, stream: Stream) -> Array:
    """What is added to an ``ee_delta`` action (6,)."""
    spread = [how.metres / DELTA_POSITION] * 3 + [how.radians / DELTA_ROTATION] * 3
    return np.array([stream.normal(0.0, size) for size in spread])


def _near(action: Array, simulation: Simulation) -> Array:
    """The same pose; of the two quaternions that mean the same, the one near to the tip's own."""
    if float((action[3:7] * simulation.proprioception()[-TIP + 3 : -TIP + 7]).sum()) < 0:
        return np.concatenate([action[:3], -action[3:7], action[7:]])
    return action


def prompt_arrays_of(text: str, pictures: Sequence[NDArray[np.uint8]], size: int, language: str = "") -> Arrays:
    """``kinds``, ``words``, ``places``, ``rows`` and ``pictures`` of what is told; who is told nothing hears a blank."""
    silent = not text.strip()
    shapes = [(BLANK, 0)] if silent else [(OBJECT, PICTURE_TOKENS)] * len(pictures)
    found = prompt_tokens("{image:0}" if silent else text, shapes, language)
    if len(found.kinds) > LONGEST or len(found.shown) > PICTURES:
        what = f"{len(found.kinds)} tokens and {len(found.shown)} pictures"
        raise EtudeError(f"the prompt {text!r:.60} has {what}; a learned policy hears {LONGEST} and {PICTURES} at most")
    shown = [] if silent else [pictures[k] for k in found.shown]
    empty = np.zeros((0, size, size, 3), np.uint8)
    return {
        "kinds": found.kinds,
        "words": found.words,
        "places": found.places,
        "rows": found.rows,
        "pictures": np.stack(shown) if shown else empty,
    }


class ControlEncoder:
    """Makes prompts and observations ready for a closed-loop policy. It also draws, by the episode's name, what a policy that samples its
    actions begins from."""

    def __init__(self, recipe: Any, contract: Contract) -> None:
        self.contract = contract
        self._source: ControlSource = recipe.data.source

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins."""
        start = start_noise(episode, self.contract.chunk, self._source.acts)
        return {**prompt_arrays_of(instruction, pictures, self._source.size, self._source.language), "start": start}

    def saw(self, observation: Observation) -> Arrays:
        """``frames`` (V, S, S, 3) of all cameras, and what the robot ``felt`` (D,)."""
        felt = observation["proprioception"]
        if len(felt) != self._source.feels:
            joints = (len(felt) - TIP) // 2
            raise EtudeError(f"the policy has learned with a robot of {self._source.joints} joints; this one has {joints}")
        return {"frames": np.stack([observation[camera] for camera in self.contract.cameras]), "felt": np.asarray(felt, np.float32)}
