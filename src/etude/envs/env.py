"""The Gymnasium environment of any task."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from etude.envs.arguments import asked_episode, choice, episode_options, listed, seed_or_none, switch, text
from etude.envs.boxes import bounding_boxes
from etude.envs.observer import LONGEST_TEXT, SLOTS, STATE, Observation, Observer, key, object_states
from etude.envs.simulation import Simulation, Snapshot, primitive_bounds
from etude.envs.task_env import TaskEnv, shown
from etude.episodes import MODALITIES, PRIMITIVES, ActionSpace, Episode, picture_size
from etude.goals.goal import Status
from etude.library import episode as find_episode
from etude.library import told_in
from etude.names import EtudeError
from etude.perturb.perturbation import out_of_sight
from etude.prompts.pictures import multimodal
from etude.render.studio import RENDERERS
from etude.render.tokens import SIDE
from etude.scene.scene import Camera
from etude.scene.viewpoints import camera_names, camera_text
from etude.skills.oracle import Oracle
from etude.suites.suite import SUITES

CHARSET = string.ascii_letters + string.digits + string.punctuation + " °…’"
REWARDS = ("state", "gain", "sparse")


class EpisodeEnv(TaskEnv[NDArray[Any]]):
    """Plays episodes of one task.

    ``reset(seed=k)`` plays ``suite/task@split#k``; ``reset(options={"episode": name})`` any episode of the task by name. Without a seed the
    next one is drawn from the environment's own generator. ``control`` is the action space, the task's own if not given; ``cameras``
    are names of cameras in the scene or :mod:`one's own <etude.scene.viewpoints>`, and ``size`` is their (width, height), the suite's
    if not given; ``split`` is the one for training, the first of a task that has none; ``options`` and ``perturb`` become part of every
    episode's name. ``modalities`` are some of "rgb", "depth", "segmentation", "points", "objects"; with ``smooth``, colour pictures
    have smooth edges. With ``boxes``, ``info`` has a bounding box and the visibility of every body in every camera; with ``labels`` it
    has the words for what is to be done now, in three levels: the task, the oracle's sub-task, and its next step. With
    ``state``, observations tell where all objects are and which are asked for (:func:`~etude.envs.observer.object_states`): for learning
    from state, which no policy that is evaluated is told.

    ``reward``: "state" is the goal's own (that of the ClevrSkills paper), which is paid for how things stand at every step: who stops just
    before the end is paid until the horizon, and gets more than who finishes. "gain" is the change of progress, from 0 to 1 in all: nothing
    is paid for waiting, most for finishing, and a violated goal takes back what was gained. "sparse" pays 1 for success and nothing else.

    Observations: one entry for each camera and modality (``base``, ``base_depth``, ``base_segmentation``), ``proprioception`` (joint
    values and velocities, pose of the tip as position and quaternion wxyz, hand closed, something held, opening in metres), and the
    ``instruction`` as text. ``env.unwrapped.instruction_pictures()`` gives the multimodal form. With the modality "objects" there are
    ``objects_crops``, ``objects_boxes`` and ``objects_mask`` of all cameras in order (see :class:`~etude.envs.observer.Observer`), and
    ``info["objects"]`` has the names of the entities in their slots.
    """

    metadata = shown(20)

    def __init__(
        self,
        suite: str,
        task: str,
        split: str | None = None,
        control: ActionSpace | None = None,
        cameras: Sequence[str | Camera] | None = None,
        size: tuple[int, int] | None = None,
        modalities: Sequence[str] = ("rgb",),
        boxes: bool = False,
        labels: bool = False,
        state: bool = False,
        smooth: bool = False,
        reward: str = REWARDS[0],
        renderer: str = "raster",
        render_mode: str | None = None,
        options: dict[str, str] | None = None,
        perturb: Sequence[str] = (),
    ) -> None:
        whole = SUITES[text(suite, "the suite")]
        found = whole.tasks[choice(task, f"task of {suite}", whole.tasks)]
        usual = whole.split_of(found, "training") or found.splits[0]
        chosen = usual if split is None else choice(split, f"split of {suite}/{task}", found.splits)
        super().__init__(suite, task, chosen, render_mode)
        self._wanted = control
        extra = "&".join(f"{k}={v}" for k, v in sorted(episode_options(options).items()))
        self._variant = "".join(f"+{one}" for one in listed(perturb, "perturb")) + (f"?{extra}" if extra else "")
        self._boxes, self._labels, self._smooth = switch(boxes, "boxes"), switch(labels, "labels"), switch(smooth, "smooth")
        self._state = switch(state, "state")
        self._reward = choice(reward, "reward", REWARDS)
        self._size, self._renderer = picture_size(whole.size if size is None else size), choice(renderer, "renderer", RENDERERS)
        self._modalities = tuple(choice(modality, "modality", MODALITIES) for modality in listed(modalities, "modalities"))
        self._own = None if cameras is None else listed(_written(cameras), "cameras")
        sample = self._episode(0)
        self._latest = sample.horizon, sample.instruction
        self._control = sample.control
        names = [c.name for c in sample.scene.cameras]
        usual_cameras = whole.cameras or tuple(name for name in names if name != "render")
        looking = usual_cameras if self._own is None else camera_names(self._own)
        self._cameras = tuple(choice(camera, "camera", names) for camera in looking)
        self._sim: Simulation | None = None
        self._observer: Observer | None = None
        self._joints = len(_home(sample))
        self.observation_space = self._observation_space()
        self.action_space = self._action_space(sample)

    # ---------------------------------------------------------------------------------------- spaces

    def _observation_space(self) -> spaces.Dict:
        width, height = self._size
        pictured: dict[str, spaces.Space[Any]] = {
            "rgb": spaces.Box(0, 255, (height, width, 3), np.uint8),
            "depth": spaces.Box(0.0, 1000.0, (height, width), np.float32),
            "segmentation": spaces.Box(0, 65535, (height, width), np.uint16),
        }
        found: dict[str, spaces.Space[Any]] = {}
        for camera in self._cameras:
            for modality in self._modalities:
                if modality in pictured:
                    found[key(camera, modality)] = pictured[modality]
            if "points" in self._modalities:
                found[key(camera, "points")] = spaces.Box(-1000.0, 1000.0, (height, width, 3), np.float32)
                found[key(camera, "intrinsics")] = spaces.Box(-1e6, 1e6, (3, 3), np.float64)
                found[key(camera, "extrinsics")] = spaces.Box(-1000.0, 1000.0, (4, 4), np.float64)
        if "objects" in self._modalities:
            slots = (len(self._cameras), SLOTS)
            found["objects_crops"] = spaces.Box(0, 255, (*slots, SIDE, SIDE, 3), np.uint8)
            found["objects_boxes"] = spaces.Box(0, max(width, height), (*slots, 4), np.int32)
            found["objects_mask"] = spaces.Box(0, 1, slots, np.bool_)
        if self._state:
            found["state"] = spaces.Box(-1000.0, 1000.0, (SLOTS, STATE), np.float32)
        found["proprioception"] = spaces.Box(-100.0, 100.0, (2 * self._joints + 10,), np.float32)
        found["instruction"] = spaces.Text(LONGEST_TEXT, min_length=0, charset=CHARSET)
        return spaces.Dict(found)

    def _action_space(self, sample: Episode) -> spaces.Space[NDArray[Any]]:
        if self._control in PRIMITIVES:
            low, high = (bound.astype(np.float32) for bound in primitive_bounds(sample))
            return spaces.Box(low, high, dtype=np.float32)
        if self._control == "ee_delta":
            return spaces.Box(-1.0, 1.0, (7,), np.float32)
        if self._control == "ee_pose":
            bound = np.array([2, 2, 2, 1, 1, 1, 1, 1], np.float32)
            return spaces.Box(-bound, bound, dtype=np.float32)
        reach = np.full(self._joints, 2 * np.pi, np.float32)
        return spaces.Box(np.append(-reach, np.float32(-1)), np.append(reach, np.float32(1)), dtype=np.float32)

    # ---------------------------------------------------------------------------------------- episodes

    def _episode(self, seed: int) -> Episode:
        return self._controlled(find_episode(self._name(seed, self._variant)))

    def _controlled(self, episode: Episode) -> Episode:
        return episode.under(self._wanted).seen_by(self._own or ())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; see the class."""
        seed, name = seed_or_none(seed), asked_episode(options)
        super().reset(seed=seed)
        if name is not None:
            episode = self._controlled(find_episode(name))
            if (episode.parsed.suite, episode.parsed.task) != (self._suite, self._task):
                raise EtudeError(f"{episode.name} is not an episode of {self._suite}/{self._task}")
        else:
            episode = self._episode(self._seed(seed))
        unseen = out_of_sight(episode.parsed.perturbations, self._modalities)
        if unseen:
            raise EtudeError(f"{episode.name} cannot be played here: {'; '.join(unseen)}")
        if self._sim is None:
            self._sim = Simulation(episode)
            self._observer = Observer(self._sim, self._cameras, self._size, self._modalities, self._renderer, self._smooth)
        else:
            self._sim.reset(episode)
        self._latest = episode.horizon, episode.instruction
        if self._labels:
            self._oracle = Oracle(episode, self._sim.world, self._sim.monitor)
        if self.render_mode == "human":
            self._sim.heartbeat = self._show  # a primitive takes many control steps, all worth seeing
            self._show()
        return self._observe(), self._info(self._sim.status)

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One action. Terminates at success and when success has become impossible, truncates at the episode's horizon."""
        sim = self.simulation
        if sim.over:
            raise EtudeError("the episode is over; call reset()")
        before, status = sim.status, sim.step(action)
        ended = status.satisfied or status.violated
        return self._observe(), self._paid(before, status), ended, sim.over and not ended, self._info(status)

    def _paid(self, before: Status, status: Status) -> float:
        if self._reward == "sparse":
            return float(status.satisfied)
        return float(status.reward if self._reward == "state" else _worth(status) - _worth(before))

    @property
    def simulation(self) -> Simulation:
        """The running episode: world, monitor, robot."""
        if self._sim is None:
            raise EtudeError("call reset() first")
        return self._sim

    # ---------------------------------------------------------------------------------------- what is seen and told

    def _observe(self) -> Observation:
        assert self._observer is not None
        seen = self._observer.look()
        return {**seen, "state": object_states(self.simulation)} if self._state else seen

    def _info(self, status: Status) -> dict[str, Any]:
        sim = self.simulation
        info: dict[str, Any] = {
            "success": status.satisfied,
            "is_success": status.satisfied,
            "progress": status.progress,
            "violated": status.violated,
            "episode_name": sim.episode.name,
            "subgoals": {n.path: (n.status.satisfied, n.status.progress) for n in sim.monitor.nodes()},
        }
        if "objects" in self._modalities and self._observer is not None:
            info["objects"] = self._observer.objects
        if self._boxes and self._observer is not None:
            info["boxes"] = {c: bounding_boxes(sim.world, c, self._observer.segmentations[c]) for c in self._cameras}
        if self._labels:
            aim = self._oracle.aim()
            info["labels"] = {"task": sim.episode.instruction.text, "subtask": aim.task, "step": aim.step}
        return info

    def instruction_pictures(self, pixels: int = 128) -> tuple[str, list[NDArray[np.uint8]]]:
        """The multimodal instruction: text with ``{image:k}``, and the images."""
        sim = self.simulation
        picture_size((pixels, pixels), "the size of a picture")
        return multimodal(sim.episode.instruction, told_in(sim.episode), pixels)

    @property
    def task_description(self) -> str:
        """The instruction as text, of the latest episode."""
        return self._latest[1].text[:LONGEST_TEXT]

    @property
    def _max_episode_steps(self) -> int:
        return self._latest[0]

    def _picture(self) -> NDArray[np.uint8] | None:
        if self._observer is None:
            return None
        names = [c.name for c in self.simulation.episode.scene.cameras]
        return self._observer.studio.shoot("render" if "render" in names else names[0], supersample=True).rgb

    def save(self) -> Snapshot:
        """The exact state of the running episode."""
        return self.simulation.save()

    def restore(self, snapshot: Snapshot) -> Observation:
        """Go back to a saved state; gives the observation there."""
        self.simulation.restore(snapshot)
        return self._observe()


def _written(cameras: Any) -> Any:
    """Cameras as texts; what is no list of them is left to be refused."""
    if not isinstance(cameras, list | tuple):
        return cameras
    return type(cameras)(camera_text(one) if isinstance(one, Camera) else one for one in cameras)


def _home(episode: Episode) -> tuple[float, ...]:
    from etude.scene.robots import arm

    if episode.scene.robot is None:
        raise EtudeError(f"{episode.name} has no robot to act with")
    return arm(episode.scene.robot.arm).home


def _worth(status: Status) -> float:
    """What the reward "gain" counts by."""
    return 0.0 if status.violated else status.progress
