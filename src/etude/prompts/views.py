"""Pictures of an instruction as the cameras of its scene see them (VIMA 1.8): no physics is built for them.

An object stands alone before white, in the middle of the table that is not there; a scene is the table with its things on it, without the
robot. Pictures are the same bytes that a studio would take of a world with these things in these places.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from etude.catalog.colours import bare
from etude.names import EtudeError
from etude.pose import Array, Pose, Quat
from etude.prompts.instruction import Blank, InstructionPart, ObjectPicture, ScenePicture
from etude.render.picture import Picture
from etude.render.renderer import Renderer
from etude.render.studio import Studio
from etude.render.tokens import ObjectTokens, tokens
from etude.scene.appearance import segmentation_ids, visuals
from etude.scene.prototype import Prototype
from etude.scene.scene import Area, Body, Entity, Marker, Scene
from etude.scene.world import World

NEUTRAL = "#bab0ac"  # the grey of untextured objects (VIMA 1.8)
GREY = "gray"  # what the original calls it
ALONE = Pose.flat(0.5, 0.0, 0.0, math.pi / 2)  # where the origin of an object stands (VIMA 1.8)
WHITE = (1.0, 1.0, 1.0)
BLANK = 128  # every colour of a picture that shows nothing
_RIGID = (Body, Area, Marker)
KEPT = 32  # pictures with all their views: more than any one instruction has


@dataclass(frozen=True)
class ShownObject:
    """An object in a picture: its ``id`` in segmentations, what it is, and the texture it wears."""

    id: int
    name: str
    colour: str


class Views(dict[str, Picture]):
    """A part of an instruction by camera. ``objects`` are declared, seen or not.

    Their ids are those of a world: ``FIRST_ENTITY`` (8) for the first thing of the picture, and so on; 0 is nothing, 3 the table.
    """

    def __init__(self, pictures: Mapping[str, Picture], objects: tuple[ShownObject, ...]) -> None:
        super().__init__(pictures)
        self.objects = objects


def part_views(part: InstructionPart, scene: Scene, size: tuple[int, int] = (256, 128), cameras: Sequence[str] = ("front", "top")) -> Views:
    """What these cameras of the scene see of a part, in pictures of ``size`` (width, height). The arrays are shared: read, do not write."""
    names = tuple(cameras)
    if isinstance(part, Blank):
        return Views(dict.fromkeys(names, _blank(int(size[0]), int(size[1]))), ())
    shown = _shown(part, scene)
    if isinstance(part, ScenePicture) and (part.tip is not None or not all(isinstance(e, _RIGID) for e in shown.entities)):
        studio = living(part, scene)
        pictures = tuple(studio.shoot(name, size) for name in names)
    else:
        pictures = _taken(shown, names, (int(size[0]), int(size[1])))
    return Views(dict(zip(names, pictures, strict=True)), _objects(part, shown))


def shown_objects(part: InstructionPart, scene: Scene) -> tuple[ShownObject, ...]:
    """The objects that a part shows, as its views declare them; nothing is drawn."""
    return () if isinstance(part, Blank) else _objects(part, _shown(part, scene))


def object_tokens(views: Views, slots: int | None = None) -> ObjectTokens:
    """The objects of a part, cut out of its views: one slot for each of ``views.objects``, views in their order."""
    return tokens(views.values(), [thing.id for thing in views.objects], slots)


def living(part: ScenePicture, scene: Scene) -> Studio:
    """A studio with the scene that a part describes as a compiled world: for mechanisms, for particles, and for the robot.

    The robot is seen only where the part says where its hand is.
    """
    if scene.robot is None and part.tip is not None:
        raise EtudeError("a picture with the hand in it needs a robot in the scene")
    robot = None if scene.robot is None else replace(scene.robot, visible=part.tip is not None)
    world = World(replace(scene, robot=robot, entities=part.things or scene.entities))
    world.teleport(dict(part.poses))
    if part.tip is not None and world.robot is not None:
        world.robot.stand_at(part.tip)
    return Studio(world)


def _shown(part: InstructionPart, scene: Scene) -> Scene:
    """The scene that a picture shows, without the robot."""
    if isinstance(part, ObjectPicture):
        body = Body("object", part.shape, part.texture or NEUTRAL, ALONE, part.size, part.texture_span)
        light = replace(scene.lighting, background=WHITE)
        return replace(scene, entities=(body,), robot=None, table=None, floor=None, walls=None, lighting=light)
    if isinstance(part, ScenePicture):
        shown = replace(scene, entities=part.things or scene.entities, robot=None)
        return shown.changed(*(_moved(shown.entity(name), pose) for name, pose in part.poses))
    raise EtudeError(f"{type(part).__name__} is not something that cameras see; expected ObjectPicture or ScenePicture")


def _moved(entity: Entity, pose: Pose) -> Entity:
    if not hasattr(entity, "pose"):
        raise EtudeError(f"{entity.name!r} is a {type(entity).__name__} and has no pose to be shown in")
    return replace(entity, pose=pose)  # type: ignore[type-var]


@functools.lru_cache(maxsize=KEPT)
def _taken(shown: Scene, cameras: tuple[str, ...], size: tuple[int, int]) -> tuple[Picture, ...]:
    """Pictures of rigid things, straight from the catalogue's meshes: every thing rides on a frame of its own, as in a compiled world."""
    riding = {entity.name: k for k, entity in enumerate(shown.entities, 1)}
    renderer = Renderer(visuals(shown, Prototype(bodies=riding)), shown.lighting)
    places = [entity.pose for entity in shown.entities if isinstance(entity, _RIGID)]
    renderer.pose([(0.0, 0.0, 0.0), *(p.position for p in places)], [np.eye(3), *(_axes(p.rotation) for p in places)])
    ids = segmentation_ids(shown)
    pictures = []
    for name in cameras:
        eye = shown.camera(name)
        pictures.append(_shared(renderer.shoot(eye, size, hide=frozenset(ids[h] for h in eye.hides if h in ids))))
    return tuple(pictures)


@functools.lru_cache(maxsize=KEPT)
def _blank(width: int, height: int) -> Picture:
    """Grey, and nothing in it."""
    grey: NDArray[np.uint8] = np.full((height, width, 3), BLANK, np.uint8)
    return _shared(Picture(grey, np.zeros((height, width), np.float32), np.zeros((height, width), np.uint16)))


def _axes(rotation: Quat) -> Array:
    """The rotation matrix as a compiled world has it: equal to the last bit, so that pictures are."""
    unit, axes = np.array(rotation), np.empty(9)
    mujoco.mju_normalize4(unit)
    mujoco.mju_quat2Mat(axes, unit)
    return axes.reshape(3, 3)


def _shared(picture: Picture) -> Picture:
    for array in (picture.rgb, picture.depth, picture.segmentation):
        array.flags.writeable = False
    return picture


def _objects(part: InstructionPart, shown: Scene) -> tuple[ShownObject, ...]:
    ids = segmentation_ids(shown)
    found = []
    for entity in shown.entities:
        if isinstance(entity, Marker):
            continue
        texture = getattr(entity, "texture", "")  # mechanisms have many
        colour = GREY if texture == NEUTRAL else bare(texture)
        words = part.words if isinstance(part, ObjectPicture) else re.sub(r" \d+$", "", entity.name)
        name = words.removeprefix(f"{colour} ") if words.startswith(f"{colour} ") else getattr(entity, "shape", words)
        found.append(ShownObject(ids[entity.name], name, colour))
    return tuple(found)
