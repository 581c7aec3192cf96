"""What a policy expects and what it gives, typed, so that a mismatch is found before the first step and not in the success rate.

Conventions that differ in silence cost more success than most models differ by: a rotation layout, a gripper sign, a frame, a control rate.
A policy states its own, all of them: :func:`undeclared` says which are open, and who leaves one open does not play.
:meth:`Contract.etude` is the short way to say them as etude has them. :func:`converted` says which of them differ from the environment's
and are converted (:mod:`etude.policies.conventions`), :func:`mismatches` which cannot be: those are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_type_hints

from etude.episodes import MODALITIES, PRIMITIVES, ActionSpace, Episode, picture_size
from etude.names import SPARSE, EtudeError, decode, encode, repeated, unknown
from etude.perturb.perturbation import out_of_sight
from etude.scene.robots import arm
from etude.scene.scene import Camera
from etude.scene.viewpoints import camera_names, camera_text, own_camera

Frame = Literal["tip", "world", "base", "joints"]
Rotation = Literal[
    "axis_angle", "quaternion_wxyz", "quaternion_xyzw", "euler_xyz", "rotation_6d_rows", "rotation_6d_columns", "joint_angles"
]
Orientation = Literal["upright", "rotated_180", "flipped"]
Told = Literal["text", "multimodal", "views"]

ENVIRONMENT_HAND = (-1.0, 1.0)  # open, closed
ROTATION_NUMBERS: dict[Rotation, int] = {
    "axis_angle": 3, "euler_xyz": 3, "quaternion_wxyz": 4, "quaternion_xyzw": 4, "rotation_6d_rows": 6, "rotation_6d_columns": 6,
}  # fmt: skip
TURNED = ("rgb", "depth", "segmentation")  # what an orientation other than upright turns
RATE = 20.0  # control steps for each second of simulated time


@dataclass(frozen=True)
class Contract:
    """What a policy observes and how its actions are to be read. A policy states all its conventions; :meth:`etude` fills in etude's own.

    ``action``: its action space; None if it acts in the task's ``own`` space, or is given the true state. ``frame``, ``rotation``: how
    actions are expressed. ``scale``: metres and radians per 1.0 (0.1 for ``ee_delta``, 1 for ``ee_pose``). ``closes``: the sign of the
    last number that closes the hand; or ``hand``: the numbers for open and closed. ``rate``: actions per second. ``cameras`` (of the scene,
    by name, or its own: :mod:`etude.scene.viewpoints`), ``size`` (width, height; by default the suite's), ``modalities``, ``orientation``:
    the images it gets; ``called``: their names in the observation; ``smooth``: anti-aliased, from 2×2 samples for each pixel. ``told``:
    the form of the instruction: text alone; text with ``{image:k}`` and images, without the words that describe them; or
    :class:`~etude.prompts.views.Views` of the images: what its cameras see of each, with segmentation. ``chunk``: the maximum number of
    actions it returns at once; ``execute``: how many of them are executed before it is called again (None: all). ``privileged``: it gets
    the true state. ``whole``: for a decision, it gets all frames at once, not one after the other. ``joints``: the number of arm joints
    it was made for. ``own``: it acts in the task's own space, whichever that is.

    >>> Contract.etude("ee_delta", cameras=("base",), size=(128, 128), chunk=8)
    >>> Contract("ee_pose", "base", "quaternion_xyzw", scale=1.0, closes=-1, rate=10.0, cameras=("base",), orientation="rotated_180")
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
    hand: tuple[float, float] | None = field(default=None, metadata=SPARSE)
    called: tuple[str, ...] = field(default=(), metadata=SPARSE)
    joints: int | None = field(default=None, metadata=SPARSE)
    own: bool = field(default=False, metadata=SPARSE)

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
        if self.called and len(self.called) != len(self.cameras):
            raise EtudeError(f"a contract has {len(self.cameras)} cameras, and names for {len(self.called)} of their pictures")
        if (twice := repeated((*self.called, "instruction", "proprioception"))) is not None:
            raise EtudeError(f"two entries of an observation cannot be called {twice!r}")
        if any(value is not None and not value > 0 for value in (self.scale, self.rate)):
            raise EtudeError(f"a contract's scale and rate must be above 0, got {self.scale} and {self.rate}")
        if self.own and self.action is not None:
            raise EtudeError(f"a contract is of the task's own action space or of {self.action!r}, not of both")
        if self.hand is not None and (self.hand[0] == self.hand[1] or self.closes == (1 if self.hand[0] > self.hand[1] else -1)):
            raise EtudeError(f"a contract's hand is two numbers, for open and closed, which differ as closes says; got {self.hand}")
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

    @property
    def picture_names(self) -> tuple[str, ...]:
        """What the pictures of its cameras are called in what it gets."""
        return self.called or self.camera_names

    @property
    def hand_numbers(self) -> tuple[float, float]:
        """What stands for an open hand and for a closed one."""
        return self.hand or ((1.0, -1.0) if self.closes == -1 else ENVIRONMENT_HAND)

    @classmethod
    def etude(cls, action: ActionSpace | None = None, **fields: Any) -> Contract:
        """A contract in this action space (by default the task's own), with etude's conventions except those that are given.

        >>> Contract.etude("ee_delta").frame, Contract.etude("ee_delta", frame="world").scale
        ('tip', 0.1)
        """
        return cls(action, **fields).as_etude()

    def as_etude(self) -> Contract:
        """With what is still open said as etude has it."""
        made = self if self.action is not None or self.privileged or self.own else replace(self, own=True)
        return replace(made, **{name: _owned(made.action, name) for name in undeclared(made)})

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
    found = []
    if action not in episode.spaces:
        own = f"{episode.control!r}, " if episode.control in PRIMITIVES else ""
        found.append(f"action: policy gives {action!r}, {episode.parsed.suite}/{episode.parsed.task} takes {own}'ee_delta', …")
    found += [words for words, convertible in _differences(policy, action) if not convertible]
    offered = [c.name for c in episode.scene.cameras]
    for camera, name in zip(policy.cameras, policy.camera_names, strict=True):
        if camera != name and name in offered:
            found.append(f"camera: policy brings {name!r}, which {episode.parsed.suite} has too; give it another name")
        elif camera == name and camera not in offered:
            found.append(f"camera: policy wants {camera!r}, {episode.parsed.suite} has {', '.join(map(repr, offered))}")
    robot = episode.scene.robot
    if policy.joints is not None and robot is not None and policy.joints != (count := len(arm(robot.arm).home)):
        found.append(f"joints: policy is of an arm with {policy.joints}, {robot.arm} has {count}")
    return found + out_of_sight(episode.parsed.perturbations, policy.modalities)


def converted(policy: Contract, episode: Episode) -> list[str]:
    """What of the contract's conventions differs from the environment's and is converted, one sentence each."""
    action = policy.action or episode.control
    return [] if action == ANSWER else [words for words, convertible in _differences(policy, action) if convertible]


def _differences(policy: Contract, action: ActionSpace) -> Iterator[tuple[str, bool]]:
    """Every declared difference, in words, and whether it can be converted exactly."""
    frame, rotation, scale = SPACES[action]
    strokes = action in ("pick_place", "sweep")
    posed = action != "joint" and not strokes
    steps = RATE / policy.rate if policy.rate else 1.0
    whole = steps >= 1 and steps == round(steps) and action not in PRIMITIVES
    turned = policy.told != "views" and not {"points", "objects"} & {*policy.modalities}
    for what, wanted, given, convertible in (
        ("frame", policy.frame, frame, posed and policy.frame != "joints"),
        ("rotation", policy.rotation, rotation, posed and policy.rotation != "joint_angles"),
        ("scale", policy.scale, scale, not strokes),
        ("rate", policy.rate, RATE, whole),
        ("image orientation", policy.orientation, "upright", turned),
    ):
        if wanted is not None and wanted != given:
            unit = {"scale": " m", "rate": " Hz"}.get(what, "")
            yield f"{what}: policy has {_plain(wanted)}{unit}, environment has {_plain(given)}{unit} for {action!r}", convertible
    if policy.hand is not None and policy.hand != ENVIRONMENT_HAND:
        yield f"hand: policy opens at {policy.hand[0]:g} and closes at {policy.hand[1]:g}, environment at −1 and +1", not strokes
    elif policy.closes is not None and policy.closes != 1:
        yield f"gripper sign: policy closes at {_signed(policy.closes)}, environment closes at +1", policy.closes == -1 and not strokes
    if policy.picture_names != policy.camera_names:
        pairs = zip(policy.camera_names, policy.picture_names, strict=True)
        yield f"picture names: {', '.join(f'{camera} is called {name}' for camera, name in pairs if camera != name)}", True


def refuse_conversion(policy: Contract, who: str) -> None:
    """Refuse a policy in whose place somebody else acts too, unless its actions are the environment's as they are."""
    pictures = ("image orientation", "picture names")
    for words, _ in _differences(policy, policy.action or "ee_delta"):
        if not words.startswith(pictures):
            raise EtudeError(f"{who} acts as well, in the environment's conventions, and is not combined with a policy of others: {words}")


def undeclared(policy: Contract) -> list[str]:
    """Conventions that a policy has not said, and that could differ in silence: fields of the contract that are still open.

    Answers to questions have none. Who is given the true state is written for etude alone, and may leave them open.
    """
    if policy.action == ANSWER or policy.privileged:
        return []
    if policy.own:
        return ["orientation"] if policy.cameras and policy.orientation is None else []
    fields = ["rate", "closes"] if policy.hand is None else ["rate"]
    if policy.action not in ("pick_place", "sweep"):
        fields += ["scale"] if policy.action == "joint" else ["frame", "rotation", "scale"]
    if policy.action in PRIMITIVES:
        fields = [field for field in fields if field not in ("rate", *(["closes"] if policy.action != "keypose" else []))]
    fields += ["orientation"] if policy.cameras else []
    return [field for field in ("action", *fields) if getattr(policy, field) is None]


def refuse_undeclared(policy: Contract, who: str) -> None:
    """Refuse a policy whose conventions are open, in a line that says what to write."""
    if not (left_out := undeclared(policy)):
        return
    own = f"cameras={policy.cameras}, …" if policy.cameras else "…"
    if "action" in left_out:
        spaces = ", ".join(map(repr, (*SPACES, ANSWER)))
        raise EtudeError(
            f'{who} names no action space: one of {spaces}; a policy that is written for etude says Contract.etude("ee_delta", {own})'
        )
    space = f'"{policy.action}", ' if policy.action is not None else ""
    raise EtudeError(
        f"{who} leaves open: {', '.join(left_out)}; say them as the model has them, or, if as etude has them ({owned(policy)}),"
        f" write Contract.etude({space}{own})"
    )


def owned(policy: Contract, join: str = ", ") -> str:
    """What stands in etude where a contract is open: ``frame=tip, scale=0.1``."""
    return join.join(f"{name}={_plain(_owned(policy.action, name))}" for name in undeclared(policy) if name != "action")


def _owned(action: ActionSpace | None, name: str) -> Any:
    """What etude has, in this action space, for a field that was left open."""
    frame, rotation, scale = SPACES[action or "ee_delta"]
    return {"frame": frame, "rotation": rotation, "scale": scale, "closes": 1, "rate": RATE, "orientation": "upright"}[name]


def refuse_mismatches(policy: Contract, episodes: Sequence[Episode]) -> None:
    """Raise one line that names every mismatch with these episodes."""
    found = list(dict.fromkeys(m for episode in episodes for m in mismatches(policy, episode)))
    if found:
        raise EtudeError("policy and environment do not fit: " + "; ".join(found))


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _signed(value: int) -> str:
    return f"+{value}" if value > 0 else f"−{-value}" if value < 0 else "0"
