"""A take: one demonstration with everything that any format may want of it, before it is written in one.

N actions, and N + 1 looks at the world: before each of them and after the last. Takes are kept in one file each while a dataset is made.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.episodes import Episode
from etude.library import read_episode
from etude.names import EtudeError, canonical_json

Numbers = NDArray[Any]
RECORDED: dict[str, tuple[str, ...]] = {  # what is recorded beside colours, if it is asked for: modalities, and the arrays of each
    "depth": ("depth",),
    "segmentation": ("segmentation",),
    "points": ("points",),
    "torques": ("torques",),
    "objects": ("objects_crops", "objects_boxes", "objects_mask", "objects_ids"),
    "prompt_views": ("prompt_rgb", "prompt_segmentation", "prompt_crops", "prompt_boxes", "prompt_mask", "prompt_objects"),
}
# The first axes of these arrays: C cameras, L looks, H and W pixels, O objects of the scene, P pictures of the prompt, T objects in those.
AXES = {
    "depth": "CLHW", "segmentation": "CLHW", "points": "CLHW", "torques": "L",
    "objects_crops": "CLO", "objects_boxes": "CLO", "objects_mask": "CLO", "objects_ids": "O",
    "prompt_rgb": "CPHW", "prompt_segmentation": "CPHW", "prompt_crops": "CT", "prompt_boxes": "CT", "prompt_mask": "CT",
    "prompt_objects": "T",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Keystep:
    """A sub-goal that was reached: ``frame`` is the look at which it first held, ``path`` and ``words`` say which."""

    frame: int
    path: str
    words: str


@dataclass(frozen=True, eq=False)
class Take:
    """One demonstration. ``episode`` is in the action space of ``actions``; C cameras of ``size`` (width, height), K ``objects``.

    ``lead`` are actions that were carried out before the recording begins: those of another policy, from whose states the oracle took over.
    ``videos`` are MP4 files of the first N looks, ``images`` PNG files of all N + 1; either may be left out.

    ``modalities`` has the arrays of what else was asked for: ``depth`` float32 (C, N + 1, H, W) m along the optical axis, 0 where nothing
    is; ``segmentation`` uint16 (C, N + 1, H, W), ids of the scene's things; ``points`` float32 (C, N + 1, H, W, 3) m, world, 0 where
    nothing is; ``torques`` float32 (N + 1, n) N·m, of the joints.

    Of objects, as :class:`~etude.render.tokens.ObjectTokens`: ``objects_crops`` (C, N + 1, O, 32, 32, 3), ``objects_boxes``
    (C, N + 1, O, 4), ``objects_mask`` (C, N + 1, O) and ``objects_ids`` uint16 (O,), their ids in segmentations.

    Of the P pictures of the instruction, as the same cameras see them: ``prompt_rgb`` uint8 (C, P, H, W, 3), ``prompt_segmentation``
    uint16 (C, P, H, W), and of the T objects in them ``prompt_crops`` (C, T, 32, 32, 3), ``prompt_boxes`` (C, T, 4), ``prompt_mask``
    (C, T) and ``prompt_objects`` uint16 (T, 2): in which picture, and its id there.
    """

    episode: Episode
    policy: str
    actions: NDArray[np.float32]  # (N, A)
    lead: NDArray[np.float32]  # (L, A)
    words: tuple[tuple[str, str], ...]  # for each action: sub-task and step
    rewards: NDArray[np.float32]  # (N,) after each action, as all of the next four
    success: NDArray[np.bool_]  # (N,)
    progress: NDArray[np.float32]  # (N,) of the whole goal
    nodes: tuple[tuple[str, str], ...]  # G sub-goals: path, words
    subgoals: NDArray[np.float32]  # (N, G) their progress
    proprioception: NDArray[np.float32]  # (N + 1, P)
    states: NDArray[np.float64]  # (N + 1, S) of MuJoCo: mjSTATE_FULLPHYSICS
    spaces: Mapping[str, NDArray[np.float64]]  # the same actions in other spaces
    fps: int
    cameras: tuple[str, ...]
    size: tuple[int, int]
    smooth: bool  # with smooth edges
    intrinsics: NDArray[np.float64]  # (C, 3, 3)
    extrinsics: NDArray[np.float64]  # (C, N + 1, 4, 4): world pose of the optical frame (x right, y down, z forward)
    digests: NDArray[np.uint32]  # (C, N + 1): CRC-32 of the pixels
    histograms: NDArray[np.int64]  # (C, 3, 256) of the values in the first N looks
    videos: Mapping[str, bytes]
    images: Mapping[str, tuple[bytes, ...]]
    objects: tuple[str, ...]
    boxes: NDArray[np.int16]  # (C, N + 1, K, 4): x0, y0, x1, y1 in pixels, −1 where a thing is behind the camera
    visible: NDArray[np.bool_]  # (C, N + 1, K)
    template: str  # the instruction with {image:k} for its pictures
    prompts: tuple[tuple[str, str], ...]  # every way in which the task can be told: with {image:k} for pictures, and in words alone
    pictures: tuple[bytes, ...]  # PNG: those of the instruction, then what else the prompts show
    keysteps: tuple[Keystep, ...]
    modalities: Mapping[str, Numbers] = field(default_factory=dict)
    pixels: Mapping[str, Sequence[NDArray[np.uint8]]] = field(default_factory=dict)  # all looks; never in a file

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.actions)

    @property
    def hand(self) -> str:
        """The end effector."""
        robot = self.episode.scene.robot
        assert robot is not None
        return robot.hand


def recorded_in(arrays: Mapping[str, Numbers]) -> tuple[str, ...]:
    """The modalities whose arrays these are."""
    return tuple(modality for modality, parts in RECORDED.items() if parts[0] in arrays)


def write_take(take: Take, path: Path) -> None:
    """Write a take so that at every moment there is either none or a whole one."""
    arrays: dict[str, Numbers] = {}
    text: dict[str, Any] = {"episode": json.loads(canonical_json(take.episode))}
    for one in fields(take):
        value = getattr(take, one.name)
        if isinstance(value, np.ndarray):
            arrays[one.name] = value
    text |= {
        n: getattr(take, n) for n in ("policy", "words", "nodes", "fps", "cameras", "size", "smooth", "objects", "template", "prompts")
    }
    text["keysteps"] = [(k.frame, k.path, k.words) for k in take.keysteps]
    text["spaces"], text["modalities"] = list(take.spaces), list(take.modalities)
    arrays |= {f"modality {name}": values for name, values in take.modalities.items()}
    arrays |= {f"space {name}": values for name, values in take.spaces.items()}
    arrays |= {f"video {name}": _bytes(data) for name, data in take.videos.items()}
    for what, files in ((("images " + name), data) for name, data in take.images.items()):
        arrays[what], arrays[f"ends {what}"] = _joined(files)
    arrays["pictures"], arrays["ends pictures"] = _joined(take.pictures)
    arrays["text"] = _bytes(json.dumps(text, ensure_ascii=False).encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read_take(path: Path) -> Take:
    """A take from its file."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        text = json.loads(arrays["text"].tobytes())
    except (OSError, ValueError, KeyError) as error:
        raise EtudeError(f"{path} is not a whole take ({error}); delete it, and its episode is recorded again") from None
    plain = {f.name: arrays[f.name] for f in fields(Take) if f.name in arrays and f.name != "pictures"}
    return Take(
        **plain,
        episode=read_episode(json.dumps(text["episode"])),
        policy=text["policy"],
        words=tuple((a, b) for a, b in text["words"]),
        nodes=tuple((a, b) for a, b in text["nodes"]),
        spaces={name: arrays[f"space {name}"] for name in text["spaces"]},
        modalities={name: arrays[f"modality {name}"] for name in text.get("modalities", ())},  # of takes from before there was a choice
        fps=text["fps"],
        cameras=tuple(text["cameras"]),
        size=(text["size"][0], text["size"][1]),
        smooth=text.get("smooth", False),  # of takes from before there was a choice
        videos={name: arrays[f"video {name}"].tobytes() for name in text["cameras"] if f"video {name}" in arrays},
        images={name: _parted(arrays, f"images {name}") for name in text["cameras"] if f"images {name}" in arrays},
        objects=tuple(text["objects"]),
        template=text["template"],
        prompts=tuple((a, b) for a, b in text["prompts"]),
        pictures=_parted(arrays, "pictures"),
        keysteps=tuple(Keystep(*k) for k in text["keysteps"]),
    )


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _joined(files: tuple[bytes, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return _bytes(b"".join(files)), np.cumsum([len(f) for f in files], dtype=np.int64)


def _parted(arrays: Mapping[str, Numbers], what: str) -> tuple[bytes, ...]:
    data, ends = arrays[what].tobytes(), arrays[f"ends {what}"].tolist()
    return tuple(data[a:b] for a, b in itertools.pairwise([0, *ends]))


@dataclass(frozen=True, eq=False)
class Feeling:
    """The columns of ``Take.proprioception``, one row for each of the N + 1 looks; n joints. World frame, quaternions wxyz."""

    joints: Numbers  # (N + 1, n) rad
    velocities: Numbers  # (N + 1, n) rad/s
    position: Numbers  # (N + 1, 3) m, of the hand's tip
    rotation: Numbers  # (N + 1, 4)
    closed: Numbers  # (N + 1, 1) the hand's command: 0 or 1
    held: Numbers  # (N + 1, 1) is something in it: 0 or 1
    opening: Numbers  # (N + 1, 1) m between the fingers, 0 where there are none


def feeling_of(take: Take) -> Feeling:
    """The parts of a take's proprioception."""
    joints = (take.proprioception.shape[1] - 10) // 2
    widths = (joints, joints, 3, 4, 1, 1, 1)
    return Feeling(*np.split(take.proprioception, np.cumsum(widths)[:-1], axis=1))
