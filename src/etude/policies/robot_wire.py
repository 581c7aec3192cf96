"""A robot behind a WebSocket: what it says of itself, and what it is told. The wire is that of policy servers, the other way round.

Etude is the client. The server introduces itself with ``{"etude_robot": {…}}``, the fields of :class:`RobotFacts`. Then every message is a
dict with ``__ctrl__``, and gets one answer:

==========  =============================================  =====================================================================
``begin``   ``episode``, ``instruction``, ``action``       how it feels: the scene stands, the arm is where it begins
``look``    ``cameras``, ``size``, ``modalities``          ``observation``: pictures by name, and ``proprioception``
``act``     ``action`` (D,), in the space of ``begin``     how it feels afterwards; ``clipped``: it was beyond the limits
``home``                                                   how it feels, open and back where it began
``stop``                                                   ``stopped``; from any connection, at any time
==========  =============================================  =====================================================================

How it feels is ``proprioception`` (joint values and velocities, pose of the tip, hand closed, something held, opening: as in observations)
and ``held``, whether there is something between its fingers; ``stopped`` where somebody has stopped it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from etude.episodes import MODALITIES, ActionSpace
from etude.names import EtudeError, decode, encode, unknown
from etude.pose import Array, Pose

INTRODUCTION = "etude_robot"
WORDS = ("begin", "look", "act", "home", "stop")
TIP, CLOSED, OPENING = slice(-10, -3), -3, -1  # where proprioception has them
POSE = 7  # numbers of a pose: position and quaternion wxyz


@dataclass(frozen=True)
class RobotFacts:
    """What a robot says of itself: what it is called, the spaces in which it takes actions, its cameras and what they see, and where its
    base stands in the world in which it tells its tip (position and quaternion wxyz; the task's own if not given)."""

    name: str
    actions: tuple[ActionSpace, ...]
    cameras: tuple[str, ...] = ()
    modalities: tuple[str, ...] = ("rgb",)
    base: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.name or not self.actions:
            raise EtudeError("a robot must say what it is called, and in which spaces it takes actions")
        for modality in self.modalities:
            if modality not in MODALITIES:
                raise unknown("modality of a robot's cameras", modality, MODALITIES)
        if self.base and len(self.base) != POSE:
            raise EtudeError(f"a robot's base is a position and a quaternion (wxyz), {POSE} numbers; got {len(self.base)}")

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_data(cls, data: Any) -> RobotFacts:
        """From plain data; what is left out takes its default."""
        if not isinstance(data, dict):
            raise EtudeError(f"a robot introduces itself with {', '.join(f.name for f in fields(cls))}; got {data!r:.60}")
        known = {f.name for f in fields(cls)}
        if stray := next((name for name in data if name not in known), None):
            raise unknown("field of a robot's introduction:", str(stray), known)
        given = {"name": "", "actions": [], "cameras": [], "modalities": ["rgb"], "base": [], **data}
        found: RobotFacts = decode(cls, given, "robot")
        return found


@dataclass(frozen=True)
class RobotFeeling:
    """How a robot feels after what it was told: see the module. ``proprioception`` is (2 n + 10,) for n joints."""

    proprioception: Array
    held: bool = False
    clipped: bool = False
    stopped: bool = False

    @property
    def tip(self) -> Pose:
        """Of the tip, in the world."""
        numbers = self.proprioception[TIP]
        return Pose.of(numbers[:3], numbers[3:])

    @property
    def joints(self) -> int:
        """How many there are."""
        return (len(self.proprioception) - 10) // 2

    def to_data(self) -> dict[str, Any]:
        """As a message."""
        felt = np.asarray(self.proprioception, np.float32)
        return {"proprioception": felt, "held": self.held, "clipped": self.clipped, "stopped": self.stopped}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> RobotFeeling:
        """From a message."""
        felt = data.get("proprioception")
        if not isinstance(felt, np.ndarray) or felt.dtype.kind != "f" or felt.ndim != 1 or len(felt) < 10 or len(felt) % 2:
            raise EtudeError("it did not tell its proprioception: joint values and velocities, and ten numbers more")
        if not np.isfinite(felt).all():
            raise EtudeError("its proprioception is not finite")
        flags = {name: data.get(name, False) for name in ("held", "clipped", "stopped")}
        if not all(isinstance(flag, bool) for flag in flags.values()):
            raise EtudeError(f"{', '.join(flags)} must be true or false")
        return cls(np.array(felt, float), **flags)
