"""robomimic's HDF5: one file, ``demos.hdf5``, with a group for each demonstration.

``/data`` has the attributes ``total`` (samples in all) and ``env_args``; ``/mask/train`` and ``/mask/valid`` name nine and one of every ten
layouts, so that variants of an episode are on the same side. Each ``/data/demo_i`` with N samples has

- ``actions`` (N, A), for ``ee_delta`` within [−1, 1], positive closing the hand; ``action_dict/<space>``: the same in others, if recorded
- ``states`` (N, S) and ``last_state`` (S,): time, positions, velocities and activations of MuJoCo (mjSTATE_FULLPHYSICS), before each action
  and after the last. They fit the attribute ``model_file``, which is MJCF without any other file: bodies are then where they were. It has
  no textures, lights or cameras; and whether a suction cup held something is not part of a state, so what happened next follows from the
  ``actions`` in the world of ``episode``, not from a state
- ``rewards``, ``dones`` (1 at the last), ``success``, ``progress`` (N,), after each action
- ``obs/<key>`` before and ``next_obs/<key>`` after each action: ``<camera>_image`` (N, H, W, 3) uint8, ``robot0_joint_pos`` (rad),
  ``robot0_joint_vel``, ``robot0_eef_pos`` (m, world), ``robot0_eef_quat`` (xyzw as in robosuite, although we say wxyz everywhere else),
  ``robot0_gripper_qpos`` (the opening in m, one number), ``robot0_gripper_closed`` and ``robot0_gripper_held`` (0 or 1)
- if asked for, likewise ``<camera>_depth`` (N, H, W, 1) float32 (m), ``<camera>_segmentation`` (N, H, W, 1) uint16, with the ids of things
  as JSON in the attribute ``segmentation_ids``, ``<camera>_points`` (N, H, W, 3) float32 (m, world), ``robot0_joint_torque`` (N·m), and
  of objects ``<camera>_objects_crops`` (N, O, 32, 32, 3), ``_boxes`` (N, O, 4), ``_mask`` (N, O); ``objects_ids`` (O,) beside them
- if asked for, the prompt's pictures from all cameras: ``prompt_rgb``, ``prompt_segmentation``, ``prompt_crops``, ``prompt_boxes``,
  ``prompt_mask`` and ``prompt_objects``, see :class:`~etude.datasets.take.Take`, with the attribute ``prompt_assets``
- ``lead`` (L, A): actions that were carried out before the first sample, if there are any; ``prompt/<k>``: pictures of the instruction,
  then what else other prompts show
- attributes ``num_samples``, ``model_file``, ``env_args`` (its own), ``episode`` (the whole as JSON), ``episode_name``, ``policy``, and in
  JSON ``ep_meta`` (``lang``: the instruction; ``template``: the same with {image:k} for its pictures; ``prompts``: template and
  text of every way in which the task can be told), ``words`` (sub-task and step of each sample) and ``keysteps``.

The same takes give the same bytes: no times are stored, and pictures are packed here rather than by the library.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude import __version__
from etude.datasets import columns
from etude.datasets.columns import RecordingKind, kind_of
from etude.datasets.extra import explained
from etude.datasets.take import AXES, Take, feeling_of
from etude.datasets.video import pixels_of
from etude.index import env_id
from etude.names import EtudeError
from etude.scene.mjcf import mjcf

FILE = "demos.hdf5"
GYM = 2  # robomimic's EnvType for environments of Gymnasium
LEVEL = 2  # of gzip
TENTH = 10  # one layout of so many is for validation


def hdf5() -> Any:
    """h5py, or one line that says how to get it."""
    try:
        import h5py
    except ImportError:
        raise EtudeError("this format needs h5py: pip install 'etude[datasets]'") from None
    return h5py


class Robomimic:
    """Writes takes as a robomimic dataset into an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._fresh = self._path.with_suffix(".new")
        self._file = hdf5().File(self._fresh, "w")
        self._data = self._file.create_group("data")
        self._kind: RecordingKind | None = None
        self._layouts: dict[str, int] = {}
        self._layout_of: list[int] = []  # for each demonstration
        self._environments: dict[str, None] = {}
        self._total = 0

    def add(self, take: Take) -> None:
        """Append a demonstration."""
        kind = kind_of(take, videos=False)
        self._kind = self._kind or kind
        self._kind.refuse(kind, take.episode.name)
        name = take.episode.parsed
        if set(take.images) != set(take.cameras):
            raise EtudeError(f"the take of {name} was recorded without images, which robomimic's format needs")
        demo = self._data.create_group(f"demo_{len(self._layout_of)}")
        demo.attrs["num_samples"] = take.length
        for key, text in _texts(take).items():
            demo.attrs[key] = text
        for key, values in _numbers(take).items():
            demo.create_dataset(key, data=values)
        _add_feelings(demo, take)
        for number, camera in enumerate(take.cameras):
            _add_images(demo, f"{camera}_image", [pixels_of(data) for data in take.images[camera]])
            for key, values in ((key, values) for key, values in take.modalities.items() if AXES[key].startswith("CL")):
                looks = values[number]
                _add_images(demo, f"{camera}_{key}", looks[..., None] if key in ("depth", "segmentation") else looks)
        for key, values in ((key, values) for key, values in take.modalities.items() if "L" not in AXES[key]):
            demo.create_dataset(key, data=values)
        for k, picture in enumerate(take.pictures):
            demo.create_dataset(f"prompt/{k}", data=pixels_of(picture))
        self._layout_of.append(self._layouts.setdefault(name.base, len(self._layouts)))
        self._environments[env_id(name.suite, name.task)] = None
        self._total += take.length

    def finish(self) -> None:
        """Write what is about all demonstrations, and give the file its name."""
        assert self._kind is not None
        self._data.attrs["total"] = self._total
        self._data.attrs["env_args"] = _environment(", ".join(self._environments), _shown(self._kind))
        last = len(self._layouts) - 1
        chosen = {k for k in range(last + 1) if k % TENTH == TENTH - 1} or ({last} if last else set())
        for mask, wanted in (("train", False), ("valid", True)):
            names = [f"demo_{i}" for i, layout in enumerate(self._layout_of) if (layout in chosen) == wanted]
            self._file.create_dataset(f"mask/{mask}", data=np.array(names, "S"))
        self._file.close()
        self._fresh.replace(self._path)


def _texts(take: Take) -> dict[str, str]:
    episode, name = take.episode, take.episode.parsed
    kwargs = {"split": name.split, "options": dict(name.options), **_shown(kind_of(take, videos=False))}
    return {
        "model_file": mjcf(episode.scene),
        "env_args": _environment(env_id(name.suite, name.task), kwargs),
        "episode_name": episode.name,
        "episode": episode.to_json(),
        "policy": take.policy,
        "ep_meta": _json({"lang": episode.instruction.text, "template": take.template, "prompts": take.prompts}),
        "words": _json(take.words),
        "keysteps": _json([asdict(k) for k in take.keysteps]),
        **{key: _json(value) for key, value in explained(take).items()},
    }


def _environment(name: str, kwargs: dict[str, Any]) -> str:
    """``env_args``: how the environment is made. Several names are a list for people: no single environment plays them all."""
    return _json({"env_name": name, "env_version": __version__, "type": GYM, "env_kwargs": kwargs})


def _shown(kind: RecordingKind) -> dict[str, Any]:
    return {"control": kind.control, "cameras": kind.cameras, "size": kind.size}


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _numbers(take: Take) -> dict[str, NDArray[Any]]:
    """The datasets of a demonstration that are neither felt nor seen."""
    plain = columns.numbers(take)
    found: dict[str, NDArray[Any]] = {
        "actions": _carried_out(take, take.actions),
        **{f"action_dict/{space}": values for space, values in take.spaces.items()},
        "states": take.states[:-1],
        "last_state": take.states[-1],
        "rewards": take.rewards,
        "dones": plain["next.done"].astype(np.int64),
        "success": take.success.astype(np.int64),
        "progress": take.progress,
    }
    return {**found, "lead": _carried_out(take, take.lead)} if len(take.lead) else found


def _carried_out(take: Take, actions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Actions as the simulation takes them: outside their bounds they have the same effect as on them."""
    return np.clip(actions, -1, 1) if take.episode.control == "ee_delta" else actions


def _add_feelings(demo: Any, take: Take) -> None:
    felt = feeling_of(take)
    for key, values in {
        "joint_pos": felt.joints,
        "joint_vel": felt.velocities,
        "eef_pos": felt.position,
        "eef_quat": np.roll(felt.rotation, -1, axis=1),
        "gripper_qpos": felt.opening,
        "gripper_closed": felt.closed,
        "gripper_held": felt.held,
        **({"joint_torque": take.modalities["torques"]} if "torques" in take.modalities else {}),
    }.items():
        demo.create_dataset(f"obs/robot0_{key}", data=values[:-1])
        demo.create_dataset(f"next_obs/robot0_{key}", data=values[1:])


def _add_images(demo: Any, key: str, looks: Sequence[NDArray[Any]] | NDArray[Any]) -> None:
    """Pictures before and after each action. Almost all are in both places, but each is packed only once."""
    shape, kind = looks[0].shape, looks[0].dtype
    before, after = (
        demo.create_dataset(
            f"{place}/{key}", (len(looks) - 1, *shape), kind, chunks=(1, *shape), compression="gzip", compression_opts=LEVEL
        )
        for place in ("obs", "next_obs")
    )  # fmt: skip
    for k, pixels in enumerate(looks):
        packed = zlib.compress(np.ascontiguousarray(pixels).tobytes(), LEVEL)
        if k < len(looks) - 1:
            before.id.write_direct_chunk((k, *[0] * len(shape)), packed)
        if k:
            after.id.write_direct_chunk((k - 1, *[0] * len(shape)), packed)
