"""The pictures of an instruction, rendered from data: no oracle has to run first."""

from __future__ import annotations

import base64
import functools
import io
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from etude.catalog.mesh import Mesh, box
from etude.catalog.registry import shape
from etude.catalog.textures import texture
from etude.names import EtudeError
from etude.pose import Pose, Vec3
from etude.prompts.instruction import Instruction, ObjectPicture, Part, ScenePicture, TexturePicture
from etude.render.renderer import Renderer
from etude.render.studio import Studio
from etude.scene.scene import Camera, Lighting, Scene, look_at
from etude.scene.visual import FIRST_ENTITY, Visual
from etude.scene.world import World

Picture = NDArray[np.uint8]
NEUTRAL = "#bab0ac"  # the grey of untextured objects (VIMA 1.8)


@functools.cache
def _ground() -> Mesh:
    return box((4.0, 4.0, 0.001), (0.0, 0.0, -0.0005))


@functools.lru_cache(maxsize=512)
def object_picture(name: str, size: Vec3 | None, worn: str, span: float, pixels: int, frame: float | None = None) -> Picture:
    """One thing of the catalogue on a plain ground, (pixels, pixels, 3), as large as it fits or as ``frame`` (radius, m) has it."""
    model = shape(name, size)
    lower, upper = model.bounds
    radius = float(np.linalg.norm(upper - lower)) / 2 if frame is None else frame
    ground = Visual(0, _ground(), "#eeefec", Pose((0.0, 0.0, float(lower[2]) - 0.0005)), shadow=False, gloss=0.0)
    thing = Visual(0, model.mesh, worn or NEUTRAL, span=span, entity=FIRST_ENTITY)
    x, y, z = (np.array([0.75, -1.1, 0.95]) * radius * 3.0).tolist()
    camera = Camera("portrait", look_at((x, y, z), (0.0, 0.0, 0.0)), 24.0, size=(pixels, pixels))
    picture = Renderer([ground, thing], Lighting(background=(0.93, 0.94, 0.92))).shoot(camera, supersample=True).rgb
    picture.flags.writeable = False
    return picture


def texture_picture(name: str, pixels: int) -> Picture:
    """A swatch, (pixels, pixels, 3)."""
    image = Image.fromarray(np.ascontiguousarray(texture(name)))
    return np.asarray(image.resize((pixels, pixels), Image.Resampling.BOX if image.width > pixels else Image.Resampling.BICUBIC))


def scene_picture(scene: Scene, part: ScenePicture, pixels: int) -> Picture:
    """The scene as the part describes it, from its camera; the robot is seen only where the part says where its hand is."""
    if scene.robot is None:
        raise EtudeError("a picture of the scene needs a robot in it")
    shown = replace(scene, robot=replace(scene.robot, visible=part.tip is not None))
    if part.things:
        shown = replace(shown, entities=part.things)
    world = World(shown)
    world.teleport(dict(part.poses))
    if part.tip is not None:
        assert world.robot is not None
        world.robot.stand_at(part.tip)
    return Studio(world).shoot(part.camera, (pixels, pixels), supersample=True).rgb


def part_picture(part: Part, scene: Scene, pixels: int) -> Picture:
    """The picture a part stands for."""
    if isinstance(part, ObjectPicture):
        return object_picture(part.shape, part.size, part.texture, part.texture_span, pixels, part.frame)
    if isinstance(part, TexturePicture):
        return texture_picture(part.texture, pixels)
    if isinstance(part, ScenePicture):
        return scene_picture(scene, part, pixels)
    raise EtudeError(f"{type(part).__name__} is not a picture")


def multimodal(instruction: Instruction, scene: Scene, pixels: int = 128) -> tuple[str, list[Picture]]:
    """Text with placeholders ``{image:k}``, and the images (pixels, pixels, 3) they stand for."""
    return instruction.template(), [part_picture(p, scene, pixels) for p in instruction.pictures()]


def data_url(picture: Picture) -> str:
    """A picture (H, W, 3) as a PNG inside a URL."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def messages(instruction: Instruction, scene: Scene, pixels: int = 256) -> list[dict[str, Any]]:
    """One user message in the form chat interfaces take: text and image parts in order, images as PNG in data URLs."""
    content: list[dict[str, Any]] = []
    for part in instruction.parts:
        if part in instruction.pictures():
            content.append({"type": "image_url", "image_url": {"url": data_url(part_picture(part, scene, pixels))}})
        else:
            content.append({"type": "text", "text": part.words})
    return [{"role": "user", "content": content}]
