"""Keyposes to learn from, as plain arrays: the cloud that cameras see before each, what the robot feels, what it is told, what is right.

An episode is one sample: the oracle's keyposes, carried out as a policy's would be. Each is told by its task and by its sub-task, so that a
policy can follow a planner or do without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.observer import Observer, key
from etude.envs.simulation import Simulation
from etude.learn.control import TIP
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.source import SEEDS, TRAINING, ListedSource, refuse_tests, start_noise, training_plan
from etude.learn.wording import wording_of
from etude.library import episode, tasks
from etude.names import EtudeError
from etude.policies.contract import Contract, refuse_mismatches
from etude.policies.halves import Arrays
from etude.policies.policy import Observation
from etude.pose import Array, Vec3, matrix_quat
from etude.skills.keypose_motion import Keypose
from etude.skills.oracle import Oracle
from etude.skills.subtasks import right_now
from etude.suites.suite import SUITES

CAMERAS = ("front", "wrist", "left_shoulder", "right_shoulder")  # RoboHiMan C
CELLS = (1 << 16) - 1  # along each side of the cube: cell 0 is for what is not in it
LONGEST_SENTENCE = 64  # words: what follows is not read
NO_WORD = -1
BY_TASK, BY_SUBTASK = range(2)  # sentences
SENTENCES = {BY_TASK: "task", BY_SUBTASK: "sub-task"}
ACTION = 8  # numbers of a keypose: position, quaternion (wxyz), hand
POSE_NUMBERS = 10  # of a keypose that flows out of noise: its place, its rotation as six numbers, its hand
HEADROOM = 1 << 16  # bytes of a sample besides its clouds


@dataclass(frozen=True, eq=False)
class KeyposeDemonstration:
    """K keyposes. ``points`` uint16 (K, P, 3): cells of the cube, (0, 0, 0) where a pixel shows nothing in it; ``colours`` uint8
    (K, P, 3); ``felt`` float32 (K, 10): the tip (position, quaternion wxyz), closed, held, opening; ``words`` int16 (K, 2, 64, 2): buckets
    of the task's words and of the sub-task's, −1 where there are no more; ``labels`` float32 (K, 8): actions."""

    points: NDArray[np.uint16]
    colours: NDArray[np.uint8]
    felt: NDArray[np.float32]
    words: NDArray[np.int16]
    labels: NDArray[np.float32]


@dataclass(frozen=True)
class KeyposeSource(ListedSource):
    """Which episodes, seen by which ``cameras`` in square pictures of ``size`` pixels; of what they see, that counts which is in a cube of
    ``side`` (m) around ``centre`` (world)."""

    cameras: tuple[str, ...] = CAMERAS
    size: int = 128
    centre: Vec3 = (0.0, 0.0, 0.0)
    side: float = 1.0

    def __post_init__(self) -> None:
        if not self.cameras:
            raise EtudeError("a keypose policy needs at least one camera in data.source.cameras")
        super().__post_init__()

    @property
    def contract(self) -> Contract:
        """What a policy asks for that has learned from it."""
        size = (self.size, self.size)
        return Contract(
            "keypose", "world", "quaternion_wxyz", closes=1, cameras=self.cameras, size=size, modalities=("rgb", "points"), told="text"
        )

    @property
    def points(self) -> int:
        """How many a cloud has, in the cube or not."""
        return len(self.cameras) * self.size**2

    def refuse_misfits(self) -> None:
        """Raise if a task has episodes that cannot be seen like this, or are not acted in by keyposes."""
        names = [f"{self.suite}/{task}@{self.split}#{self.seed * SEEDS}" for task in self.chosen()]
        refuse_mismatches(self.contract, [episode(name) for name in names])

    @property
    def room(self) -> int:
        """Bytes that a demonstration takes at most."""
        longest = max(task.horizon for name, task in tasks(self.suite).items() if name in self.chosen())
        return longest * (HEADROOM + 9 * self.points)

    def packed(self, number: int) -> bytes:
        """The demonstration of the k-th episode."""
        return in_a_row(vars(demonstrated_keyposes(self.name(number), self)).values())

    def unpacked(self, data: bytes | memoryview) -> KeyposeDemonstration:
        """The demonstration of these bytes."""
        return KeyposeDemonstration(*arrays_in(data))


def plain_keypose_source(suite: str) -> KeyposeSource:
    """The first of a suite's lists that are for training, or all episodes that can be played so; the cube is where the tip may be sent."""
    found = SUITES[suite]
    if found.reach is None:
        raise EtudeError(f"{suite} does not say where the tip may be sent, which recipes of keyposes need")
    asked = found.reach
    lower, upper = map(np.array, asked(episode(f"{suite}/{found.keyposed[0]}@{TRAINING[0]}#0").scene) if callable(asked) else asked)
    x, y, z = ((lower + upper) / 2).round(6).tolist()
    side = round(float((upper - lower).max()), 6)
    return KeyposeSource(suite, tasks=found.keyposed, plan=training_plan(suite), centre=(x, y, z), side=side)


def demonstrated_keyposes(name: str, source: KeyposeSource) -> KeyposeDemonstration:
    """Play an episode with the oracle. One that it does not solve is no demonstration."""
    refuse_tests(name)
    found = episode(name).under("keypose")
    simulation = Simulation(found)
    contract = source.contract
    observer = Observer(simulation, contract.cameras, contract.size, contract.modalities)
    oracle = Oracle(found, simulation.world, simulation.monitor)
    clouds, felt, words, labels = [], [], [], []
    while not simulation.over:
        keypose = oracle.stroke()
        if not isinstance(keypose, Keypose):
            raise EtudeError(f"{name}: its demonstration is no row of keyposes; {found.control!r} cannot be learned in this form")
        seen = observer.look()
        clouds.append(cloud(seen, source))
        felt.append(seen["proprioception"][-TIP:])
        told = found.instruction.text
        words.append([sentence_array(told), sentence_array(next(iter(right_now(simulation.monitor)), told))])
        labels.append(keypose.to_action())
        simulation.step(labels[-1])
    if not simulation.status.satisfied:
        raise EtudeError(f"{name}: the oracle does not solve it")
    points, colours = (np.stack([one[what] for one in clouds]) for what in ("points", "colours"))
    return KeyposeDemonstration(points, colours, np.stack(felt), np.array(words, np.int16), np.array(labels, np.float32))


def cloud(observation: Mapping[str, Any], source: KeyposeSource) -> Arrays:
    """``points`` and ``colours`` of what all cameras see."""
    places = np.concatenate([observation[key(camera, "points")].reshape(-1, 3) for camera in source.cameras])
    colours = np.concatenate([observation[camera].reshape(-1, 3) for camera in source.cameras])
    low = np.array(source.centre, np.float32) - np.float32(source.side / 2)
    cells = (places - low) * np.float32(CELLS / source.side)
    inside = ((cells >= 0) & (cells < CELLS)).all(1) & (places != 0).any(1)  # where nothing is seen, observations have zeros
    return {"points": np.where(inside[:, None], cells + 1, 0).astype(np.uint16), "colours": colours}


def sentence_array(text: str) -> NDArray[np.int16]:
    """The buckets (64, 2) of the words of a text."""
    found = np.full((LONGEST_SENTENCE, 2), NO_WORD, np.int16)
    words = wording_of("").tokens(text)[:LONGEST_SENTENCE]
    found[: len(words)] = words
    return found


def trimmed(words: NDArray[np.int16]) -> NDArray[np.int64]:
    """Sentences (B, L, 2) no longer than the longest of them, but for one word at least."""
    longest = int((words[..., 0] != NO_WORD).sum(1).max())
    return words[:, : max(1, longest)].astype(np.int64)


def look_arrays(look: Arrays) -> Arrays:
    """What a model is given of a look: cells with a sign, as they are kept."""
    return {**{name: look[name] for name in ("colours", "felt", "words", "start")}, "points": look["points"].view(np.int16)}


def keypose_of(row: NDArray[np.float32]) -> Array:
    """The action (8,) of an answer (13,): place, rotation, whether the hand is closed."""
    place, rotation, closed = np.split(row.astype(np.float64), [3, 12])
    return np.array([*place, *matrix_quat(rotation.reshape(3, 3)), 1.0 if closed[0] > 0 else -1.0])


class KeyposeEncoder:
    """Makes observations ready for a keypose policy. It is told in every one of them what to do now, and remembers nothing but the noise,
    drawn by the episode's name, that answers may flow out of."""

    def __init__(self, recipe: Any, contract: Contract) -> None:
        self.contract = contract
        self._source: KeyposeSource = recipe.data.source

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins: ``start`` (10,)."""
        return {"start": start_noise(episode, POSE_NUMBERS)}

    def saw(self, observation: Observation) -> Arrays:
        """``points``, ``colours``, ``felt`` (10,) and ``words`` (64, 2) as of a demonstration."""
        felt = np.asarray(observation["proprioception"][-TIP:], np.float32)
        return {**cloud(observation, self._source), "felt": felt, "words": sentence_array(observation["instruction"])}
