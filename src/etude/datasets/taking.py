"""Recording: an episode is played, and what was done in it is carried out once more in a fresh world, in front of the cameras.

So everything that is kept has been replayed before it is kept. Actions are rounded to the 32 bits in which they are stored before they are
carried out, not after.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from etude.datasets.prompt_views import prompt_views
from etude.datasets.take import RECORDED, Keystep, Take, write_take
from etude.datasets.video import encoded, histogram, png
from etude.envs.actions import numbers
from etude.envs.boxes import bounding_boxes
from etude.envs.observer import object_slots
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, Episode
from etude.evaluation.play import Players, Trajectory, attempted
from etude.evaluation.record import Record
from etude.evaluation.worker import Job
from etude.foreign import in_a_line
from etude.library import prompts, told_in
from etude.names import EtudeError, pick, repeated
from etude.policies.contract import RATE
from etude.policies.mishaps import MishapOracle
from etude.policies.policy import Observation, Picture, Policy, SpeakingPolicy, TakingOverPolicy
from etude.policies.replay import file_stem
from etude.pose import Array, Pose, matrix, rotation_vector
from etude.prompts.pictures import multimodal
from etude.render.camera import intrinsics, seen_points
from etude.render.picture import Picture as Shot
from etude.render.studio import Studio
from etude.render.tokens import ObjectTokens, tokens
from etude.scene.manipulator import DELTA_POSITION, DELTA_ROTATION
from etude.scene.scene import Body, Camera
from etude.scene.viewpoints import camera_names
from etude.skills.subtasks import describe
from etude.suites.suite import SUITES

TAKES = "takes"
SPACES = ("ee_delta", "ee_pose", "joint")
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


@dataclass(frozen=True)
class RecordingSpec:
    """What is recorded. ``cameras``, by name or one's own: all but the onlooker's when empty; ``size`` (width, height): the suite's own
    when not given.

    ``smooth``: with smooth edges, as in a contract; ``spaces``: the action in others too; ``modalities``: what else is recorded of
    :data:`~etude.datasets.take.RECORDED`; ``language``: sub-tasks and steps as a column, in formats that have one.
    ``keep``: the pixels themselves stay in the take, for as long as it is in memory.
    """

    cameras: tuple[str, ...] = ()
    size: tuple[int, int] | None = None
    videos: bool = True
    images: bool = False
    spaces: bool = False
    prompt: int = 128  # pixels of the prompt's pictures
    keep: bool = False
    smooth: bool = False
    modalities: tuple[str, ...] = ()
    language: bool = False

    def __post_init__(self) -> None:
        for name in self.modalities:
            pick("modality", name, RECORDED)
        if (twice := repeated(self.modalities)) is not None:
            raise EtudeError(f"--modality {twice} is given twice")

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))


class Rounded:
    """A policy whose actions are numbers of 32 bits."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.contract = policy, policy.contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins."""
        self.policy.reset(instruction, pictures, episode)

    def act(self, observation: Observation) -> Array:
        """The next actions."""
        return numbers(self.policy.act(observation), "what the policy gave", "actions, as numbers").astype(np.float32).astype(float)

    @property
    def words(self) -> tuple[str, str]:
        """Sub-task and step of the latest action."""
        return self.policy.words if isinstance(self.policy, SpeakingPolicy) else ("", "")


@dataclass(frozen=True)
class RecordingJob(Job):
    """Play episodes, and keep a take of each that succeeds."""

    spec: RecordingSpec = RecordingSpec()

    def perform(self, players: Players, name: str, mode: str) -> Record:
        """Play one episode, with actions as they are stored; if it succeeds, keep a take of it."""
        if not isinstance(players.policy, Rounded):
            players.policy = Rounded(players.policy)
        record, course = attempted(players, name, mode)
        first = players.policy.policy
        if isinstance(first, MishapOracle) and record.success and first.taken is None:  # there was no chance for it: maybe for the other
            first.other = True
            record, course = attempted(players, name, mode)
            first.other = False
        if course is None or not record.success:
            return record
        lead = first.taken if isinstance(first, TakingOverPolicy) else 0
        if lead is None:
            return replace(record, outcome="failure", cause="no takeover")
        try:
            write_take(recorded(course, self.spec, self.policy, lead), take_file(Path(self.folder), name, mode))
        except Exception as error:
            return replace(record, outcome="error", error=f"the take could not be kept: {in_a_line(error)}")
        return record


def take_file(folder: Path, name: str, mode: str = "vanilla") -> Path:
    """Where the take of an episode is kept in the folder of a run."""
    return folder / TAKES / f"{file_stem(name, mode)}.npz"


def recorded(course: Trajectory, how: RecordingSpec, policy: str, lead: int = 0) -> Take:
    """A take of what was done; the first ``lead`` actions come before the recording."""
    if course.episode is None:
        raise EtudeError("there is nothing to record of a decision: it has no robot; 'etude export' writes decisions")
    actions = np.array(course.actions, np.float32)
    words = tuple(course.words[lead:])
    return performed(course.episode, actions[:lead], actions[lead:], words, how, policy)


def performed(
    episode: Episode,
    lead: NDArray[np.float32],
    actions: NDArray[np.float32],
    words: tuple[tuple[str, str], ...],
    how: RecordingSpec,
    policy: str,
    unsolved: bool = False,
) -> Take:
    """Carry out actions in a fresh world in front of the cameras; refused where they do not lead to success, unless ``unsolved`` may be."""
    simulation = Simulation(episode.seen_by(how.cameras))
    for action in lead:
        simulation.step(action)
    recorder = _CameraRecorder(simulation, how)
    told = _Told(simulation)
    state, feeling, torques = [_state(simulation)], [simulation.proprioception()], [simulation.robot.joint_torques()]
    other: dict[str, list[Array]] = {space: [] for space in _others(episode, how)}
    for action in actions:
        tip = simulation.robot.tip()
        simulation.step(action)
        recorder.look()
        told.note()
        state.append(_state(simulation))
        feeling.append(simulation.proprioception())
        torques.append(simulation.robot.joint_torques())
        for space, rows in other.items():
            rows.append(_in(space, simulation, tip, float(action[-1])))
    if not simulation.status.satisfied and not unsolved:
        raise EtudeError(f"{episode.name} did not end in success when its actions were carried out again")
    template, prompts, pictures = _all_told(episode, how.prompt)
    felt = {"torques": np.array(torques, np.float32)} if "torques" in how.modalities else {}
    shown = prompt_views(simulation.episode, recorder.size, recorder.cameras) if "prompt_views" in how.modalities else {}
    return Take(
        episode=episode,
        policy=policy,
        actions=actions,
        lead=lead,
        words=words,
        rewards=np.array(told.rewards, np.float32),
        success=np.array(told.success, bool),
        progress=np.array(told.progress, np.float32),
        nodes=told.nodes,
        subgoals=np.array(told.subgoals, np.float32).reshape(len(actions), len(told.nodes)),
        proprioception=np.array(feeling, np.float32),
        states=np.array(state),
        spaces={space: np.array(rows) for space, rows in other.items()},
        fps=rate(episode),
        template=template,
        prompts=prompts,
        pictures=pictures,
        keysteps=tuple(told.keysteps),
        modalities={**recorder.measured(), **felt, **shown},
        **recorder.seen(),
    )


def _all_told(episode: Episode, pixels: int) -> tuple[str, tuple[tuple[str, str], ...], tuple[bytes, ...]]:
    """The instruction with {image:k}; the same of every prompt, with its words; and what they show, each picture once."""
    scene = told_in(episode)
    template, pictures = multimodal(episode.instruction, scene, pixels)
    kept = list(map(png, pictures))
    told = []
    for prompt in prompts(episode):
        text, shown = multimodal(prompt, scene, pixels)
        files = list(map(png, shown))
        kept += [file for file in dict.fromkeys(files) if file not in kept]
        told.append((_renumbered(text, [kept.index(file) for file in files]), prompt.text))
    return template, tuple(told), tuple(kept)


def _renumbered(template: str, numbers: Sequence[int]) -> str:
    return re.sub(r"\{image:(\d+)\}", lambda found: f"{{image:{numbers[int(found[1])]}}}", template)


def rate(episode: Episode) -> int:
    """Frames for each second; of primitives, which take as long as they take, one is counted for each."""
    return 1 if episode.control in PRIMITIVES else round(RATE)


def _others(episode: Episode, how: RecordingSpec) -> tuple[str, ...]:
    return tuple(s for s in SPACES if s != episode.control) if how.spaces and episode.control not in PRIMITIVES else ()


def _in(space: str, simulation: Simulation, tip: Pose, grip: float) -> Array:
    """The latest command in another space. ``tip`` is where the tip was before it."""
    target = simulation.robot.target
    if space == "joint":
        return np.append(target, grip)
    pose = simulation.robot.pose_of(target)
    if space == "ee_pose":
        return np.array([*pose.position, *pose.rotation, grip])
    moved = tip.inverse() * pose
    return np.array([*(np.asarray(moved.position) / DELTA_POSITION), *(rotation_vector(moved.rotation) / DELTA_ROTATION), grip])


def _state(simulation: Simulation) -> Array:
    """MuJoCo's own state, (S,)."""
    model, data = simulation.world.model, simulation.world.data
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return state


class _Told:
    """How the goal stands, step by step."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.nodes = tuple((n.path, describe(n.goal, simulation.episode.scene)) for n in simulation.monitor.nodes())
        self._leaves = [n.path for n in simulation.monitor.nodes() if not n.members]
        self.rewards: list[float] = []
        self.success: list[bool] = []
        self.progress: list[float] = []
        self.subgoals: list[list[float]] = []
        self._reached = {n.path for n in simulation.monitor.nodes() if n.status.satisfied}
        self.keysteps = [Keystep(0, "", "")]

    def note(self) -> None:
        """An action has been carried out."""
        status, nodes = self._simulation.status, list(self._simulation.monitor.nodes())
        self.rewards.append(status.reward)
        self.success.append(status.satisfied)
        self.progress.append(status.progress)
        self.subgoals.append([n.status.progress for n in nodes])
        for node in nodes:
            if node.status.satisfied and node.path not in self._reached:
                self._reached.add(node.path)
                if node.path in self._leaves:
                    self.keysteps.append(Keystep(len(self.rewards), node.path, describe(node.goal, self._simulation.episode.scene)))


_MEASURED = ("depth", "segmentation", "points")  # by each camera on its own


def _measure(modality: str, camera: Camera, picture: Shot, pose: Pose) -> NDArray[Any]:
    if modality == "points":
        return seen_points(camera, picture.depth, pose)
    return picture.depth if modality == "depth" else picture.segmentation


class _CameraRecorder:
    """What the cameras see, look by look."""

    def __init__(self, simulation: Simulation, how: RecordingSpec) -> None:
        self._simulation, self._how = simulation, how
        self.size = how.size or SUITES[simulation.episode.parsed.suite].size
        scene = simulation.world.scene
        self.cameras = camera_names(how.cameras) or tuple(c.name for c in scene.cameras if c.name != "render")
        self._studio = Studio(simulation.world)
        self._objects = tuple(e.name for e in scene.entities if isinstance(e, Body))
        self._frames: dict[str, list[NDArray[np.uint8]]] = {c: [] for c in self.cameras}
        self._poses: dict[str, list[Array]] = {c: [] for c in self.cameras}
        self._boxes: dict[str, list[list[tuple[int, ...]]]] = {c: [] for c in self.cameras}
        self._visible: dict[str, list[list[bool]]] = {c: [] for c in self.cameras}
        self._measured: dict[str, list[list[NDArray[Any]]]] = {m: [[] for _ in self.cameras] for m in how.modalities if m in _MEASURED}
        self._slots = np.array([simulation.world.segmentation_ids()[name] for name in object_slots(scene)], np.uint16)
        self._cut: list[ObjectTokens] = []
        self.look()

    def look(self) -> None:
        """Take a picture with every camera."""
        world, pictures = self._simulation.world, []
        for number, name in enumerate(self.cameras):
            picture = self._studio.shoot(name, self.size, self._how.smooth)
            pictures.append(picture)
            self._frames[name].append(picture.rgb)
            pose = world.camera_pose(world.scene.camera(name))
            extrinsics = np.eye(4)
            extrinsics[:3, :3], extrinsics[:3, 3] = matrix(pose.rotation), pose.position
            self._poses[name].append(extrinsics)
            for modality, looks in self._measured.items():
                looks[number].append(_measure(modality, world.scene.camera(name), picture, pose))
            found = bounding_boxes(world, name, picture.segmentation)
            self._boxes[name].append([found[o]["box"] or (-1, -1, -1, -1) for o in self._objects])
            self._visible[name].append([bool(found[o]["visible"]) for o in self._objects])
        if "objects" in self._how.modalities:
            self._cut.append(tokens(pictures, self._slots.tolist()))

    def measured(self) -> dict[str, NDArray[Any]]:
        """The arrays of modalities that come from cameras, (C, L, …)."""
        found = {modality: np.array(looks) for modality, looks in self._measured.items()}
        if "objects" in self._how.modalities:
            for part in ("crops", "boxes", "mask"):
                found[f"objects_{part}"] = np.stack([getattr(one, part) for one in self._cut], axis=1)
            found["objects_ids"] = self._slots
        return found

    def seen(self) -> dict[str, Any]:
        """The fields of a take that come from cameras."""
        world, how, fps = self._simulation.world, self._how, rate(self._simulation.episode)
        looks, things = len(self._poses[self.cameras[0]]) if self.cameras else 0, len(self._objects)
        shape = (len(self.cameras), looks, things)
        return {
            "cameras": self.cameras,
            "size": self.size,
            "smooth": how.smooth,
            "intrinsics": np.array([intrinsics(world.scene.camera(c), self.size) for c in self.cameras]).reshape(-1, 3, 3),
            "extrinsics": np.array(list(self._poses.values())).reshape(-1, looks, 4, 4),
            "digests": np.array([[zlib.crc32(p.tobytes()) for p in frames] for frames in self._frames.values()], np.uint32),
            "histograms": np.array([histogram(frames[:-1]) for frames in self._frames.values()]).reshape(-1, 3, 256),
            "videos": {c: encoded(frames[:-1], fps) for c, frames in self._frames.items()} if how.videos else {},
            "images": {c: tuple(map(png, frames)) for c, frames in self._frames.items()} if how.images else {},
            "pixels": self._frames if how.keep else {},
            "objects": self._objects,
            "boxes": np.array(list(self._boxes.values()), np.int16).reshape(*shape, 4),
            "visible": np.array(list(self._visible.values()), bool).reshape(shape),
        }
