"""What a policy expects and what it gives, typed, so that a mismatch is found before the first step and not in the success rate.

Conventions that differ in silence cost more success than most models differ by: a rotation layout, a gripper sign, a frame, a control rate.
A policy states its own; :func:`mismatches` compares them with what the environment of an episode does, and names every difference.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_type_hints

from etude.episodes import MODALITIES, PRIMITIVES, ActionSpace, Episode, picture_size
from etude.names import EtudeError, decode, encode, repeated, unknown
from etude.perturb.perturbation import out_of_sight
from etude.scene.scene import Camera
from etude.scene.viewpoints import camera_names, camera_text, own_camera

Frame = Literal["tip", "world", "base", "joints"]
Rotation = Literal[
    "axis_angle", "quaternion_wxyz", "quaternion_xyzw", "euler_xyz", "rotation_6d_rows", "rotation_6d_columns", "joint_angles"
]
Orientation = Literal["upright", "rotated_180", "flipped"]
Told = Literal["text", "multimodal", "views"]

RATE = 20.0  # control steps for each second of simulated time


@dataclass(frozen=True)
class Contract:
    """A policy's side of the agreement. Fields that are ``None`` are left to the environment.

    ``action``: the space of its actions, the task's own if not given. ``frame``, ``rotation``: in what they are expressed. ``scale``: what
    a 1 stands for, in metres and radians (0.1 for ``ee_delta``, 1 for ``ee_pose``). ``closes``: the sign of the last number that closes
    the hand. ``rate``: actions for each second. ``cameras``, ``size`` (width, height; the suite's own if not given), ``modalities``,
    ``orientation``: the pictures it wants, from cameras of the scene by name or from its own (:mod:`etude.scene.viewpoints`);
    ``smooth``: with smooth edges, from 2×2 samples for each pixel. ``told``: in text alone; in text with ``{image:k}`` and pictures,
    and then without the words that stand for them; or with :class:`~etude.prompts.views.Views` of them: what its cameras see of each,
    with segmentation. ``chunk``: the most actions it returns at once; ``execute``: how many of them are carried out before it is asked
    again (all when None). ``privileged``: it wants the true state. ``whole``: of a decision it wants all frames at once, not one after
    the other.

    >>> Contract(action="ee_delta", cameras=("base",), size=(128, 128), chunk=8)
    """

    action: ActionSpace | None = None
    frame: Frame | None = None
    rotation: Rotation | None = None
    scale: float | None = None
    closes: int | None = None
    rate: float | None = None
    cameras: tuple[str, ...] = ()
    size: tuple[int, int] | None = None
    modalities: tuple[str, ...] = ("rgb",)
    orientation: Orientation | None = None
    smooth: bool = False
    told: Told = "text"
    chunk: int = 1
    execute: int | None = None
    privileged: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.cameras, tuple | list):
            object.__setattr__(self, "cameras", tuple(camera_text(one) if isinstance(one, Camera) else one for one in self.cameras))
        for name, kind in _kinds().items():
            object.__setattr__(self, name, _read(name, kind, getattr(self, name)))
        if self.size is not None:
            object.__setattr__(self, "size", picture_size(self.size, "a contract's size"))
        if (twice := repeated(self.camera_names)) is not None:
            raise EtudeError(f"a contract has two cameras that are called {twice!r}")
        for camera in self.cameras:
            own_camera(camera)
        if self.chunk < 1:
            raise EtudeError(f"a contract's chunk must be at least 1, got {self.chunk}")
        if self.execute is not None and not 1 <= self.execute <= self.chunk:
            raise EtudeError(f"a contract's execute must be from 1 to its chunk of {self.chunk}, got {self.execute}")
        for modality in self.modalities:
            if modality not in MODALITIES:
                raise unknown("modality", modality, MODALITIES)

    @property
    def camera_names(self) -> tuple[str, ...]:
        """What its cameras are called in observations."""
        return camera_names(self.cameras)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_data(cls, data: Any) -> Contract:
        """From plain data; what is left out takes its default."""
        if not isinstance(data, dict):
            raise EtudeError(f"a contract is an object with the fields {', '.join(f.name for f in fields(cls))}; got {data!r:.60}")
        known = {f.name: f.default for f in fields(cls)}
        for name in data:
            if name not in known:
                raise unknown("field of a contract:", str(name), known)
        listed = {k: list(v) if isinstance(v, tuple) else v for k, v in {**encode(cls()), **data}.items()}
        found: Contract = decode(cls, listed, "contract")
        return found


@functools.cache
def _kinds() -> dict[str, Any]:
    return get_type_hints(Contract)


def _read(name: str, kind: Any, value: Any) -> Any:
    """The value of a field, if it is of the field's type: a contract of wrong types would be found out in the middle of an episode."""
    if name in ("cameras", "modalities") and isinstance(value, str):
        raise EtudeError(f"contract.{name}: expected a list of names, got {value!r}; for one of them write ({value!r},)")
    try:
        plain = encode(value)
    except EtudeError:
        raise EtudeError(f"contract.{name}: a {type(value).__name__} cannot stand there") from None
    return decode(kind, plain, f"contract.{name}")


# What the environment does, by action space: (frame, rotation, metres for a 1).
SPACES: dict[str, tuple[Frame, Rotation, float]] = {
    "ee_delta": ("tip", "axis_angle", 0.1),
    "ee_pose": ("world", "quaternion_wxyz", 1.0),
    "joint": ("joints", "joint_angles", 1.0),
    "pick_place": ("world", "quaternion_wxyz", 1.0),
    "sweep": ("world", "quaternion_wxyz", 1.0),
    "keypose": ("world", "quaternion_wxyz", 1.0),
}
ANSWER: ActionSpace = "answer"  # the action of decisions: a number, 0 to keep silent or k for the k-th choice


def mismatches(policy: Contract, episode: Episode) -> list[str]:
    """Every way in which the contract does not fit the environment of the episode, one sentence each; empty when it fits."""
    action = policy.action or episode.control
    if action == ANSWER:
        return [f"action: policy gives answers, {episode.parsed.suite}/{episode.parsed.task} takes {episode.control!r}, 'ee_delta', …"]
    frame, rotation, scale = SPACES[action]
    found = []
    if action in PRIMITIVES and action != episode.control:
        own = f"{episode.control!r}, " if episode.control in PRIMITIVES else ""
        found.append(f"action: policy gives {action!r}, {episode.parsed.suite}/{episode.parsed.task} takes {own}'ee_delta', …")
    for what, wanted, given in (
        ("frame", policy.frame, frame),
        ("rotation", policy.rotation, rotation),
        ("scale", policy.scale, scale),
        ("rate", policy.rate, RATE),
        ("image orientation", policy.orientation, "upright"),
    ):
        if wanted is not None and wanted != given:
            unit = {"scale": " m", "rate": " Hz"}.get(what, "")
            found.append(f"{what}: policy has {_plain(wanted)}{unit}, environment has {_plain(given)}{unit} for {action!r}")
    if policy.closes is not None and policy.closes != 1:
        found.append(f"gripper sign: policy closes at {_signed(policy.closes)}, environment closes at +1")
    offered = [c.name for c in episode.scene.cameras]
    for camera, name in zip(policy.cameras, policy.camera_names, strict=True):
        if camera != name and name in offered:
            found.append(f"camera: policy brings {name!r}, which {episode.parsed.suite} has too; give it another name")
        elif camera == name and camera not in offered:
            found.append(f"camera: policy wants {camera!r}, {episode.parsed.suite} has {', '.join(map(repr, offered))}")
    return found + out_of_sight(episode.parsed.perturbations, policy.modalities)


def refuse_mismatches(policy: Contract, episodes: Sequence[Episode]) -> None:
    """Raise one line that names every mismatch with these episodes."""
    found = list(dict.fromkeys(m for episode in episodes for m in mismatches(policy, episode)))
    if found:
        raise EtudeError("policy and environment do not fit: " + "; ".join(found))


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _signed(value: int) -> str:
    return f"+{value}" if value > 0 else f"−{-value}" if value < 0 else "0"
