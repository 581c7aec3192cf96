"""What a scene compiles to: a model, and tables that lead from names to addresses. It depends on which things there are, not where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError
from etude.pose import Pose
from etude.scene.robots.anatomy import Arm, Hand
from etude.scene.scene import Area, Body, Entity, Fixture, Floor, Lighting, Marker, Particles, Scene, Specks

NOWHERE = Pose()


@dataclass(frozen=True, eq=False)
class RobotIndex:
    """Where the robot is found in the model."""

    arm: Arm
    hand: Hand
    base: Pose
    joints: slice  # in qpos
    dofs: slice
    set_points: slice  # activations of the joint servos
    actuators: slice
    hand_body: int
    fingers: NDArray[np.intp]  # qpos addresses, empty without fingers
    grip: int  # activation address of the fingers' servo, −1 without fingers
    cups: tuple[int, ...]  # geom ids


@dataclass(eq=False)
class Prototype:
    """A compiled model and the tables that lead from names to addresses."""

    model: Any = None
    owners: list[str] = field(default_factory=list)  # everything that can touch: "table", "robot", an entity, "fixture/part"
    geom_owner: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    bodies: dict[str, int] = field(default_factory=dict)
    free: dict[str, tuple[int, int]] = field(default_factory=dict)  # qpos and dof address
    fixed: dict[str, int] = field(default_factory=dict)  # bodies whose place is part of a world's own copy of the model
    joints: dict[str, tuple[int, int]] = field(default_factory=dict)  # "fixture/part" → qpos and dof address
    particles: dict[str, NDArray[np.intp]] = field(default_factory=dict)  # qpos addresses
    particle_bodies: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    welds: dict[str, int] = field(default_factory=dict)
    frames: dict[str, Pose] = field(default_factory=dict)  # "fixture/part" → its frame in the body that carries it
    latches: list[tuple[int, int, int, float]] = field(default_factory=list)  # equality, lock qpos, held qpos, release
    robot: RobotIndex | None = None


def structure(scene: Scene) -> Scene:
    """The scene without everything that does not change what is compiled: places, postures, textures, light, cameras."""
    robot = None if scene.robot is None else replace(scene.robot, joints=(), visible=True)
    table = None if scene.table is None else replace(scene.table, texture="", texture_span=1.0, legs=False)
    floor = None if scene.floor is None else Floor(height=scene.floor.height)
    kept = tuple(_bare(e) for e in scene.entities if not isinstance(e, (Area, Marker, Specks)))
    return Scene(kept, robot, table, floor, None, Lighting(), ())


def _bare(entity: Entity) -> Entity:
    if isinstance(entity, Body):
        return replace(entity, texture="", texture_span=1.0, pose=NOWHERE)
    if isinstance(entity, Fixture):
        return replace(entity, pose=NOWHERE, joints=())
    if isinstance(entity, Particles):
        return replace(entity, texture="", positions=((0.0, 0.0, 0.0),) * len(entity.positions))
    raise EtudeError(f"{type(entity).__name__} is not a thing that can be built")
