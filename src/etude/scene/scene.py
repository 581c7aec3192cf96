"""A scene as data: what stands where, who is there to move it, under which light, seen from where.

Everything is frozen and round-trips through JSON (:mod:`etude.names`). World frame: metres, z up. Nothing here knows MuJoCo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from etude.arithmetic import cross, norm
from etude.names import EtudeError, Family, legible, unknown
from etude.pose import Pose, Vec2, Vec3, matrix_quat
from etude.scene.materials import material

Colour = Vec3  # linear multipliers of light, or sRGB in [0, 1] where a surface is meant


# ------------------------------------------------------------------------------------------------ things


class Entity(Family):
    """Anything with a name that a goal, an instruction or a segmentation mask can refer to."""

    name: str


@dataclass(frozen=True)
class Body(Entity):
    """A rigid object of the catalogue.

    ``size`` stretches the shape to these extents (metres); ``texture_span`` is the length of surface one repetition of the
    texture covers (metres); ``mass`` (kg) overrides the catalogue's; a ``fixed`` body never moves.
    """

    name: str
    shape: str
    texture: str
    pose: Pose = Pose()
    size: Vec3 | None = None
    texture_span: float = 0.1
    mass: float | None = None
    fixed: bool = False
    material: str = "default"

    def __post_init__(self) -> None:
        _positive(self.name, "mass", self.mass)
        _positive(self.name, "texture_span", self.texture_span)


@dataclass(frozen=True)
class Area(Entity):
    """A flat, visible region of the catalogue without substance: a zone, a line, a target to wipe."""

    name: str
    shape: str
    texture: str
    pose: Pose = Pose()
    size: Vec3 | None = None
    texture_span: float = 0.1


@dataclass(frozen=True)
class Marker(Entity):
    """A translucent annotation: seen in colour images, absent from depth, segmentation, shadows and physics."""

    name: str
    shape: str
    texture: str
    pose: Pose = Pose()
    size: Vec3 | None = None
    alpha: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise EtudeError(f"{self.name!r}: alpha must be from 0 to 1, got {self.alpha:g}")


@dataclass(frozen=True)
class Solid:
    """One piece of a fixture's part: a catalogue shape placed in the frame of the part."""

    shape: str
    size: Vec3
    texture: str
    pose: Pose = Pose()
    texture_span: float = 0.1
    collides: bool = True


@dataclass(frozen=True)
class Joint:
    """How a part moves against its parent: along or about ``axis`` through ``anchor`` (part frame, at value 0).

    Metres or radians; ``friction`` is the constant force or torque to overcome, ``spring`` pulls back towards 0 (N/m or N·m/rad).
    """

    kind: Literal["slide", "hinge"]
    axis: Vec3
    range: Vec2
    anchor: Vec3 = (0.0, 0.0, 0.0)
    damping: float = 1.0
    friction: float = 0.5
    spring: float = 0.0


@dataclass(frozen=True)
class FixturePart:
    """A rigid part of a fixture; ``parent`` is the name of another part, or empty for the fixture's own frame."""

    name: str
    solids: tuple[Solid, ...]
    pose: Pose = Pose()
    parent: str = ""
    joint: Joint | None = None
    mass: float = 1.0

    def __post_init__(self) -> None:
        if not _nameable(self.name):
            raise EtudeError(f"{legible(self.name)} cannot be the name of a part")
        _positive(self.name, "mass", self.mass)


@dataclass(frozen=True)
class Latch:
    """While joint ``lock`` is below ``release``, joint ``held`` cannot leave 0 (a door held by its handle)."""

    lock: str
    held: str
    release: float


@dataclass(frozen=True)
class Fixture(Entity):
    """Furniture and mechanisms: a tree of parts. ``joints`` gives the starting value of every jointed part, in order of parts."""

    name: str
    parts: tuple[FixturePart, ...]
    pose: Pose = Pose()
    joints: tuple[float, ...] = ()
    latches: tuple[Latch, ...] = ()
    movable: bool = False  # stands loose on the table, instead of being screwed to it

    def jointed(self) -> tuple[FixturePart, ...]:
        """The parts that have a joint, in order."""
        return tuple(p for p in self.parts if p.joint is not None)


@dataclass(frozen=True)
class Particles(Entity):
    """Many equal small bodies: water, dirt, crumbs. One entity, one segmentation id."""

    name: str
    kind_of: Literal["sphere", "cube"]
    diameter: float
    texture: str
    positions: tuple[Vec3, ...]
    mass: float = 0.001  # kg each
    material: str = "default"

    def __post_init__(self) -> None:
        _positive(self.name, "mass", self.mass)
        _positive(self.name, "diameter", self.diameter)

    @property
    def flows(self) -> bool:
        """Are they drops of a fluid, which have a place but no rotation?"""
        return self.kind_of == "sphere" and material(self.material).fluid


@dataclass(frozen=True)
class Specks(Entity):
    """Many equal flat cells without substance: dirt to be wiped away. One entity, one segmentation id.

    ``size`` is that of a cell, ``positions`` (world) are the middles of their lower sides; all lie along the axes of the world.
    """

    name: str
    size: Vec3
    texture: str
    positions: tuple[Vec3, ...]

    def __post_init__(self) -> None:
        for extent in self.size:
            _positive(self.name, "size", extent)


def _nameable(name: str) -> bool:
    """Can MuJoCo and a mask hold this name? It may be of several words, but on one line."""
    return bool(name) and len(name) <= 200 and name.isprintable() and "/" not in name


def _positive(name: str, what: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise EtudeError(f"{name!r}: {what} must be a positive number, got {value:g}")


# ------------------------------------------------------------------------------------------------ the room


@dataclass(frozen=True)
class Table:
    """A table whose top is at ``height``. With ``endless``, things beyond its edge rest at the same height (VIMA, ClevrSkills)."""

    centre: Vec2 = (0.5, 0.0)
    size: Vec2 = (1.0, 1.4)
    height: float = 0.0
    thickness: float = 0.04
    texture: str = "light wood"
    texture_span: float = 0.6
    endless: bool = False
    legs: bool = True

    def __post_init__(self) -> None:
        for what, value in (("size", min(self.size)), ("thickness", self.thickness), ("texture_span", self.texture_span)):
            _positive("table", what, value)


@dataclass(frozen=True)
class Floor:
    """The ground; nothing falls below it."""

    height: float = -0.75
    texture: str = "#808a8a"
    texture_span: float = 1.0
    size: float = 8.0  # visible square, metres

    def __post_init__(self) -> None:
        for what, value in (("size", self.size), ("texture_span", self.texture_span)):
            _positive("floor", what, value)


@dataclass(frozen=True)
class Walls:
    """Four walls around the table, seen from inside."""

    texture: str = "plaster"
    texture_span: float = 1.5
    distance: float = 2.2
    height: float = 2.6

    def __post_init__(self) -> None:
        for what, value in (("distance", self.distance), ("height", self.height), ("texture_span", self.texture_span)):
            _positive("walls", what, value)


@dataclass(frozen=True)
class Light:
    """A distant light. ``direction`` is the way it shines (any length); ``colour`` its strength in r, g, b."""

    direction: Vec3
    colour: Colour


@dataclass(frozen=True)
class Lighting:
    """Ambient light, a key light that casts shadows, and fills that do not. ``background`` (sRGB 0..1) is what rays that miss see."""

    ambient: Colour = (0.46, 0.46, 0.48)
    key: Light = Light((0.45, 0.35, -1.0), (0.56, 0.55, 0.52))
    fills: tuple[Light, ...] = (Light((-1.0, -0.4, -0.35), (0.17, 0.17, 0.18)), Light((0.6, 0.9, -0.3), (0.08, 0.08, 0.09)))
    shadows: bool = True
    background: Colour = (0.86, 0.89, 0.92)


# ------------------------------------------------------------------------------------------------ cameras


@dataclass(frozen=True)
class Camera:
    """A pinhole or orthographic camera with square pixels.

    ``pose`` is the optical frame as in OpenCV: x right, y down, z forward; in the world, or in the hand's frame when mounted there.
    Perspective: ``fov`` is the vertical angle in degrees. Orthographic: ``fov`` is None and ``extent`` the visible height in metres.
    ``size`` is (width, height) in pixels: a default, and the proportions of what it sees. A picture of other proportions shows all of that
    and more at two sides.
    """

    name: str
    pose: Pose = Pose()
    fov: float | None = 45.0
    extent: float | None = None
    size: tuple[int, int] = (256, 256)
    near: float = 0.01
    far: float = 10.0
    mount: Literal["world", "hand"] = "world"
    hides: tuple[str, ...] = ()  # names of entities this camera does not see; "robot" hides the robot

    def __post_init__(self) -> None:
        if (self.fov is None) == (self.extent is None):
            raise EtudeError(f"camera {self.name!r} needs either fov (perspective) or extent (orthographic)")
        if self.fov is not None and not 0.01 <= self.fov < 179:
            raise EtudeError(f"camera {self.name!r}: fov must be between 0.01 and 179 degrees, got {self.fov:g}")
        if self.extent is not None and not self.extent > 0:
            raise EtudeError(f"camera {self.name!r}: extent must be a positive number of metres, got {self.extent:g}")
        if not 0 < self.near < self.far:
            raise EtudeError(f"camera {self.name!r}: expected 0 < near < far, got {self.near:g} and {self.far:g}")
        refuse_picture_size(self.name, self.size)


LARGEST_PICTURE = (8192, 4096**2)  # pixels wide or high, which the rasteriser was laid out for, and in all: more would take gigabytes


def refuse_picture_size(camera: str, size: tuple[int, int]) -> None:
    """Refuse a (width, height) in pixels of which no picture can be taken."""
    (width, height), (side, most) = size, LARGEST_PICTURE
    if min(size) < 1 or max(size) > side or width * height > most:
        raise EtudeError(
            f"camera {camera!r}: a picture is 1 to {side} pixels wide and high and has at most {most} pixels, got {width}×{height}"
        )


def look_at(eye: Vec3, target: Vec3, up: Vec3 = (0.0, 0.0, 1.0)) -> Pose:
    """The optical pose (OpenCV axes) at ``eye`` that looks at ``target``, with ``up`` upwards in the picture."""
    forward = np.subtract(target, eye)
    length = norm(forward)
    if length < 1e-9:
        raise EtudeError("a camera cannot look at the point where it stands")
    forward = forward / length
    right = cross(forward, up)
    if norm(right) < 1e-6:
        raise EtudeError(f"a camera looking along {tuple(forward.round(3).tolist())} needs another 'up' than {up}")
    right /= norm(right)
    down = cross(forward, right)
    return Pose.of(eye, matrix_quat(np.column_stack([right, down, forward])))


# ------------------------------------------------------------------------------------------------ the scene


@dataclass(frozen=True)
class Robot:
    """An arm with a hand. ``joints`` (rad) is the starting posture, the arm's own home when empty; ``visible`` concerns pictures only."""

    arm: str
    hand: str
    base: Pose = Pose()
    joints: tuple[float, ...] = ()
    visible: bool = True


@dataclass(frozen=True)
class Scene:
    """Everything there is. Two equal scenes give equal worlds and equal pictures."""

    entities: tuple[Entity, ...] = ()
    robot: Robot | None = None
    table: Table | None = Table()
    floor: Floor | None = Floor()
    walls: Walls | None = None
    lighting: Lighting = field(default_factory=Lighting)
    cameras: tuple[Camera, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in [e.name for e in self.entities] + [c.name for c in self.cameras]:
            if not _nameable(name) or name in RESERVED:
                raise EtudeError(f"{legible(name)} cannot be the name of an entity or a camera")
            if name in seen:
                raise EtudeError(f"two things in the scene are called {legible(name)}")
            seen.add(name)

    def entity(self, name: str) -> Entity:
        """The entity with this name."""
        for entity in self.entities:
            if entity.name == name:
                return entity
        raise unknown("entity", name, (e.name for e in self.entities))

    def camera(self, name: str) -> Camera:
        """The camera with this name."""
        for camera in self.cameras:
            if camera.name == name:
                return camera
        raise unknown("camera", name, (c.name for c in self.cameras))

    def changed(self, *entities: Entity) -> Scene:
        """The scene with these entities in place of those of the same names."""
        new = {e.name: e for e in entities}
        for name in new:
            self.entity(name)
        return replace(self, entities=tuple(new.get(e.name, e) for e in self.entities))


RESERVED = ("world", "robot", "hand", "table", "floor", "walls", "background")
