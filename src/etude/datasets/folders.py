"""The layout of ClevrSkills' own dataset: a folder for each episode, ``<task>/traj_<seed>``, with everything in files of its own.

Episodes of other suites are in ``<suite>/<task>/``, and a folder's name goes on with what else the episode's name says: ``traj_7@test``.
With N actions, N + 1 looks, A numbers in an action, S in a state and n joints, there are

- ``actions.npy`` (N, A), ``rewards.npy``, ``success.npy`` (N,); ``action_labels.json``: keys "1" to "N", as in the paper,
  ``mid_act_label`` for the sub-task and ``low_act_label`` for the step
- ``info.json``: ``prompts``, every way in which the task can be told, with {image:k} for ``prompt/<k>.png``; ``textual_descriptions``,
  the same in words; ``textual_description``: that of the episode; ``textures`` of all bodies
- ``ep_info.json``: seed, control mode, how it ended, key steps, sub-goals; ``episode.json``: the whole episode
- ``env_states.npy`` (N + 1, S) of MuJoCo (mjSTATE_FULLPHYSICS); ``lead.npy``: actions that were carried out before the first look, if any
- ``agent/``: ``qpos``, ``qvel`` (N + 1, n), ``base_pose``, ``ee_pose`` (N + 1, 7) position and quaternion wxyz, and ``vacuum_on``,
  ``vacuum_grasping`` (N + 1,), or for other hands ``gripper_closed``, ``gripper_grasping`` and ``gripper_opening`` (m)
- ``camera_param/<camera>/``: ``extrinsic_cv`` (N + 1, 4, 4) from the world into the optical frame (x right, y down, z forward),
  ``cam2world_gl`` (N + 1, 4, 4) from the frame of OpenGL (x right, y up, z backward) into the world, ``intrinsic_cv`` (N + 1, 3, 3),
  for an orthographic camera in pixels per metre
- ``image/<camera>/rgb.mp4``: all N + 1 looks; if asked for, ``depth`` float32 (N + 1, H, W) m, ``segmentation`` uint16 (N + 1, H, W), with
  the ids of things in ``segmentation_ids.json``, ``points`` float32 (N + 1, H, W, 3) m, world; ``agent/joint_torques`` (N + 1, n) N·m;
  ``objects_crops`` (N + 1, O, 32, 32, 3), ``objects_boxes`` (N + 1, O, 4) and ``objects_mask`` (N + 1, O) of the objects whose ids are in
  ``extra/objects_ids.npy``; ``extra/prompt_….npy``: the prompt's pictures from all cameras and the objects in them, as a
  :class:`~etude.datasets.take.Take` has them, with ``prompt_assets.json``
- ``extra/``: ``actor_mesh_bbox/<camera>/<body>.npy`` (N + 1, 2, 3): [[x0, y0, 1], [x1, y1, 1]] in pixels, −1 for x and y behind the camera;
  ``actor_is_visible/<camera>/<body>.npy`` (N + 1,) 0 or 1; ``progress.npy`` (N,) and ``subgoals.npy`` (N, G) of the goal and its G parts;
  ``actions/<space>.npy``: the same actions in other spaces, if recorded
- ``keysteps/<k>_<camera>.jpg``: what was seen when the k-th key step was reached; 0 is the start.

Where this is not what the paper has: no file is a pickle, so ``action_labels`` is JSON, and the trace of the solvers, of which we keep the
words alone, is left out; videos are yuv420p; pictures of key steps show the robot; ``vacuum_ready`` is left out, and so are what follows
from ``env_states.npy`` (``ee_velocity``, ``extra/actors.npy``) and pictures that can be taken of ``episode.json`` (of the onlooker's camera
and of single objects).
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import dots
from etude.datasets.extra import explained
from etude.datasets.lerobot import write_json
from etude.datasets.take import AXES, Take, feeling_of
from etude.datasets.video import Pixels, encoded, frames_of, pixels_of
from etude.episodes import Episode
from etude.library import read_episode
from etude.names import EpisodeName, EtudeError, digest
from etude.scene.robots import hand
from etude.scene.scene import Body
from etude.suites.suite import SUITES

LAYOUT = "folders"  # suites whose own layout this is are not mentioned in paths; nor are splits for training
QUALITY = 95  # of JPEG
REQUIRED = (
    "actions.npy", "rewards.npy", "success.npy", "action_labels.json", "info.json", "ep_info.json", "episode.json", "env_states.npy",
    "agent/qpos.npy", "agent/ee_pose.npy",
)  # fmt: skip
OPTICAL_TO_GL = np.array([1.0, -1.0, -1.0, 1.0])  # factors of the columns of a pose


def trajectory_path(name: EpisodeName) -> Path:
    """Where an episode is kept in the folder of a dataset: readable, and different for different names."""
    suite = SUITES[name.suite]
    home = Path(name.task) if suite.layout == LAYOUT else Path(name.suite) / name.task
    where = "" if suite.splits.get(name.split) == "training" else f"@{name.split}"
    full = f"traj_{name.seed}{where}" + "".join(f"+{p}" for p in name.perturbations) + "".join(f"~{k}={v}" for k, v in name.options)
    safe = re.sub(r"[^A-Za-z0-9_.,=@+~-]", "_", full)
    return home / (safe if safe == full else f"{safe}-{digest(str(name), 8)}")


class Folders:
    """Writes takes as folders of episodes into an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, take: Take) -> None:
        """Write an episode."""
        name = take.episode.parsed
        if set(take.images) != set(take.cameras):
            raise EtudeError(f"the take of {name} was recorded without images, which this format needs")
        folder = self._folder / trajectory_path(name)
        if folder.exists():
            raise EtudeError(f"{name} is given twice")
        for path, values in itertools.chain(_done(take), _felt(take), _seen(take), _measured(take)):
            _save(folder / f"{path}.npy", values)
        _write_texts(folder, take)
        _write_pictures(folder, take)

    def finish(self) -> None:
        """Nothing is about all episodes: each folder stands alone."""


def _save(path: Path, values: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values, allow_pickle=False)


def _done(take: Take) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "actions", take.actions
    yield "rewards", take.rewards
    yield "success", take.success
    yield "env_states", take.states
    yield "extra/progress", take.progress
    yield "extra/subgoals", take.subgoals
    for space, values in take.spaces.items():
        yield f"extra/actions/{space}", values
    if len(take.lead):
        yield "lead", take.lead


def _felt(take: Take) -> Iterator[tuple[str, NDArray[Any]]]:
    felt, robot = feeling_of(take), take.episode.scene.robot
    assert robot is not None
    yield "agent/qpos", felt.joints
    yield "agent/qvel", felt.velocities
    yield "agent/base_pose", np.tile(np.array([*robot.base.position, *robot.base.rotation], np.float32), (take.length + 1, 1))
    yield "agent/ee_pose", np.hstack([felt.position, felt.rotation])
    if hand(robot.hand).kind == "suction":
        yield "agent/vacuum_on", felt.closed[:, 0] > 0
        yield "agent/vacuum_grasping", felt.held[:, 0] > 0
    else:
        yield "agent/gripper_closed", felt.closed[:, 0] > 0
        yield "agent/gripper_grasping", felt.held[:, 0] > 0
        yield "agent/gripper_opening", felt.opening[:, 0]


def _measured(take: Take) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, values in take.modalities.items():
        if name == "torques":
            yield "agent/joint_torques", values
        elif AXES[name].startswith("CL"):
            yield from ((f"image/{camera}/{name}", values[c]) for c, camera in enumerate(take.cameras))
        else:
            yield f"extra/{name}", values


def _inverse(poses: NDArray[Any]) -> NDArray[Any]:
    """The inverses of rigid motions (..., 4, 4)."""
    found = np.zeros_like(poses)
    found[..., :3, :3] = np.swapaxes(poses[..., :3, :3], -1, -2)
    found[..., :3, 3] = -dots(found[..., :3, :3], poses[..., None, :3, 3])
    found[..., 3, 3] = 1.0
    return found


def _seen(take: Take) -> Iterator[tuple[str, NDArray[Any]]]:
    for c, camera in enumerate(take.cameras):
        yield f"camera_param/{camera}/extrinsic_cv", _inverse(take.extrinsics[c])
        yield f"camera_param/{camera}/cam2world_gl", take.extrinsics[c] * OPTICAL_TO_GL
        yield f"camera_param/{camera}/intrinsic_cv", np.tile(take.intrinsics[c], (take.length + 1, 1, 1))
        for k, body in enumerate(take.objects):
            corners = take.boxes[c, :, k].astype(np.int64).reshape(-1, 2, 2)
            yield f"extra/actor_mesh_bbox/{camera}/{body}", np.pad(corners, ((0, 0), (0, 0), (0, 1)), constant_values=1)
            yield f"extra/actor_is_visible/{camera}/{body}", take.visible[c, :, k].astype(np.float32)


def _write_texts(folder: Path, take: Take) -> None:
    episode, name = take.episode, take.episode.parsed
    labels = {str(k): {"mid_act_label": subtask, "low_act_label": step} for k, (subtask, step) in enumerate(take.words, 1)}
    write_json(folder / "action_labels.json", labels)
    write_json(folder / "info.json", {
        "prompts": [template for template, _ in take.prompts],
        "textual_descriptions": [text for _, text in take.prompts],
        "textual_description": episode.instruction.text,
        "pictures": [f"prompt/{k}.png" for k in range(len(take.pictures))],
        "textures": {e.name: e.texture for e in episode.scene.entities if isinstance(e, Body)},
    })  # fmt: skip
    write_json(folder / "ep_info.json", {
        "episode_id": episode.id,
        "episode_seed": name.seed,
        "reset_kwargs": {"options": {"episode": episode.name}},
        "control_mode": episode.control,
        "elapsed_steps": take.length,
        "info": {"success": bool(take.success[-1]), "progress": float(take.progress[-1]), "reward": float(take.rewards[-1])},
        "policy": take.policy,
        "fps": take.fps,
        "cameras": take.cameras,
        "size": take.size,
        "subgoals": [{"path": path, "words": words} for path, words in take.nodes],
        "keysteps": [asdict(k) for k in take.keysteps],
    })  # fmt: skip
    for key, value in explained(take).items():
        write_json(folder / f"{key}.json", value)
    (folder / "episode.json").write_text(episode.to_json(), encoding="utf-8")


def _write_pictures(folder: Path, take: Take) -> None:
    for k, picture in enumerate(take.pictures):
        _write(folder / f"prompt/{k}.png", picture)
    for camera in take.cameras:
        frames = [pixels_of(data) for data in take.images[camera]]
        _write(folder / f"image/{camera}/rgb.mp4", encoded(frames, take.fps))
        for k, keystep in enumerate(take.keysteps):
            _write(folder / f"keysteps/{k}_{camera}.jpg", _jpeg(frames[keystep.frame]))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _jpeg(pixels: Pixels) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


# ------------------------------------------------------------------------------------------------ reading


@dataclass(frozen=True, eq=False)
class FolderTrajectory:
    """An episode of such a dataset; shapes as in this module's head. Keys of ``arrays`` are paths of files without ``.npy``."""

    path: Path
    episode: Episode
    labels: tuple[tuple[str, str], ...]  # for each action: sub-task and step
    info: dict[str, Any]
    ep_info: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def frames(self, camera: str) -> Iterator[Pixels]:
        """What a camera saw: N + 1 pictures (H, W, 3)."""
        return frames_of(self.path / "image" / camera / "rgb.mp4")


def find_trajectories(root: Path) -> list[Path]:
    """The folders of all episodes below ``root``, in the order of their paths; refused where one is not whole."""
    found = sorted(path for path in root.rglob("traj_*") if path.is_dir())
    if not found:
        raise EtudeError(f"there is no folder traj_… in {str(root)!r}")
    for path in found:
        lacking = [name for name in REQUIRED if not (path / name).exists()]
        if lacking:
            raise EtudeError(f"{path} is not a whole episode: {lacking[0]} is missing")
    return found


def read_trajectory(path: Path) -> FolderTrajectory:
    """An episode from its folder, without its pictures."""
    ep_info, labels = _json(path / "ep_info.json"), _json(path / "action_labels.json")
    files = sorted(path.rglob("*.npy"))
    return FolderTrajectory(
        path,
        read_episode((path / "episode.json").read_text(encoding="utf-8")),
        tuple((one["mid_act_label"], one["low_act_label"]) for one in labels.values()),
        _json(path / "info.json"),
        ep_info,
        {file.relative_to(path).as_posix().removesuffix(".npy"): np.load(file, allow_pickle=False) for file in files},
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise EtudeError(f"{path} cannot be read: {error}") from None
    return found
