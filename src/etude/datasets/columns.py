"""The columns of a demonstration in LeRobot's terms: which there are, what they are called, and their values frame by frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.take import Take
from etude.datasets.video import CODEC, CRF, GOP, PIXEL_FORMAT, PRESET
from etude.names import EtudeError
from etude.scene.robots import HANDS
from etude.skills.subtasks import plain

Values = NDArray[Any]
PICTURES = "observation.images."
STATE, TORQUES, ACTION, LANGUAGE = "observation.state", "observation.joint_torques", "action", "language_persistent"
HAND, PRIMITIVE = "observation.hand", "action.primitive"  # numbers of names that stand in the description of the column
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
NAMES: dict[str, tuple[str, ...]] = {
    "ee_delta": ("dx", "dy", "dz", "rx", "ry", "rz", "close"),
    "ee_pose": (*POSE, "close"),
    "keypose": (*POSE, "close"),
    "stroke": tuple(f"{what}_{n}" for what in ("start", "end") for n in ("x", "y", "qw", "qx", "qy", "qz")),
}
STROKES = ("pick_place", "sweep")  # primitives from a place to a place: their actions have one layout, and can be in one dataset
COUNTERS = ("timestamp", "frame_index", "episode_index", "index", "task_index")


@dataclass(frozen=True)
class RecordingKind:
    """What all demonstrations of a dataset share: the arm, the layout of actions, the rate and the cameras. Its hands may differ."""

    arm: str
    control: str
    fps: int
    joints: int
    cameras: tuple[str, ...]
    size: tuple[int, int]
    spaces: tuple[str, ...]
    videos: bool
    torques: bool = False

    @property
    def layout(self) -> str:
        """What the numbers of an action are: that of the action space, or "stroke" for primitives from a place to a place."""
        return "stroke" if self.control in STROKES else self.control

    def refuse(self, other: RecordingKind, name: str) -> None:
        """Refuse a demonstration of another kind: what differs cannot be in the same columns."""
        for what, words in {"arm": "arm", "layout": "actions", "fps": "fps", "cameras": "cameras", "size": "size"}.items():
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise EtudeError(f"{name} has {words} {theirs!r}, those before it {mine!r}: make a dataset for each")


def kind_of(take: Take, videos: bool) -> RecordingKind:
    """The kind of a take."""
    robot = take.episode.scene.robot
    assert robot is not None
    joints = (take.proprioception.shape[1] - 10) // 2
    return RecordingKind(
        robot.arm, take.episode.control, take.fps, joints, take.cameras, take.size, tuple(take.spaces), videos,
        "torques" in take.modalities,
    )  # fmt: skip


def features(kind: RecordingKind, language: bool) -> dict[str, dict[str, Any]]:
    """``features`` of ``meta/info.json``; ``language``: with the column of sub-tasks and steps."""
    joints = [f"joint_{k + 1}" for k in range(kind.joints)]
    state = [*joints, *(f"{j}_velocity" for j in joints), *POSE, "closed", "held", "opening"]
    width, height = kind.size
    picture: dict[str, Any] = {"dtype": "image", "shape": [height, width, 3], "names": ["height", "width", "channels"]}
    if kind.videos:
        coded = {"codec": CODEC, "pix_fmt": PIXEL_FORMAT, "fps": kind.fps, "channels": 3, "g": GOP, "crf": CRF, "preset": PRESET}
        info = {"video.height": height, "video.width": width, **{f"video.{k}": v for k, v in coded.items()}}
        picture = {**picture, "dtype": "video", "info": {**info, "video.is_depth_map": False, "is_depth_map": False, "has_audio": False}}
    found: dict[str, dict[str, Any]] = {f"{PICTURES}{camera}": picture for camera in kind.cameras}
    found[STATE] = _vector("float32", state)
    if kind.torques:
        found[TORQUES] = _vector("float32", [f"{j}_torque" for j in joints])
    found[HAND] = _label(HANDS)
    found[ACTION] = _vector("float32", _action_names(kind.layout, joints))
    if kind.layout == "stroke":
        found[PRIMITIVE] = _label(STROKES)
    for space in kind.spaces:
        found[f"{ACTION}.{space}"] = _vector("float64", _action_names(space, joints))
    for name, dtype in (("reward", "float32"), ("done", "bool"), ("success", "bool"), ("progress", "float32")):
        found[f"next.{name}"] = _scalar(dtype)
    if language:
        found[LANGUAGE] = {"dtype": "language", "shape": [1], "names": None}
    for name in COUNTERS:
        found[name] = _scalar("float32" if name == "timestamp" else "int64")
    return found


def _action_names(space: str, joints: list[str]) -> list[str]:
    return [*joints, "close"] if space == "joint" else list(NAMES[space])


def _vector(dtype: str, names: list[str]) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [len(names)], "names": names}


def _scalar(dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [1], "names": None}


def _label(names: Iterable[str]) -> dict[str, Any]:
    """A number that stands for a name: the k-th of these."""
    return {**_scalar("int64"), "info": {"labels": list(names)}}


def numbers(take: Take) -> dict[str, Values]:
    """The columns that are numbers, (N,) or (N, D), without the counters of the dataset."""
    count = take.length
    done = np.zeros(count, bool)
    done[-1:] = True
    return {
        STATE: take.proprioception[:-1],
        **({TORQUES: take.modalities["torques"][:-1]} if "torques" in take.modalities else {}),
        HAND: np.full(count, list(HANDS).index(take.hand)),
        ACTION: take.actions,
        **({PRIMITIVE: np.full(count, STROKES.index(take.episode.control))} if take.episode.control in STROKES else {}),
        **{f"{ACTION}.{space}": values for space, values in take.spaces.items()},
        "next.reward": take.rewards,
        "next.done": done,
        "next.success": take.success,
        "next.progress": take.progress,
    }


def counters(take: Take, episode: int, first: int, task: int) -> dict[str, Values]:
    """The counters of a dataset for a take that is its ``episode``-th and begins at frame ``first``."""
    frames = np.arange(take.length)
    return {
        "timestamp": (frames / take.fps).astype(np.float32),
        "frame_index": frames,
        "episode_index": np.full(take.length, episode),
        "index": first + frames,
        "task_index": np.full(take.length, task),
    }


def language_rows(take: Take) -> list[dict[str, Any]]:
    """``language_persistent``: the plan, then sub-tasks and steps from the moment they begin."""
    subtasks, steps = (_changes([plain(w[k], take.episode.scene) for w in take.words]) for k in (0, 1))
    plan = "\n".join(f"{k}. {text}" for k, (_, text) in enumerate(subtasks, 1))
    rows = [_row("plan", plan, 0.0)] if plan else []
    rows += [_row("subtask", text, frame / take.fps) for frame, text in subtasks]
    rows += [_row("motion", text, frame / take.fps) for frame, text in steps]
    return sorted(rows, key=lambda row: row["timestamp"])


def _changes(texts: list[str]) -> list[tuple[int, str]]:
    """Where a text begins that is not the one before it; those without words are left out."""
    return [(k, text) for k, text in enumerate(texts) if text and (k == 0 or texts[k - 1] != text)]


def _row(style: str, content: str, timestamp: float) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "style": style,
        "timestamp": float(np.float32(timestamp)),
        "camera": None,
        "tool_calls": None,
    }  # fmt: skip
