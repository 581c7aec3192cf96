"""The pictures of an instruction, rendered from data: no oracle has to run first."""

from __future__ import annotations

import base64
import functools
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from etude.arithmetic import norm
from etude.catalog.mesh import Mesh, box
from etude.catalog.registry import shape
from etude.catalog.textures import texture
from etude.names import EtudeError
from etude.pose import Pose, Vec3
from etude.prompts.instruction import Blank, Instruction, InstructionPart, ObjectPicture, ScenePicture, TexturePicture, Words, one_scale
from etude.prompts.views import BLANK, NEUTRAL, living, part_views
from etude.render.renderer import Renderer
from etude.scene.scene import Camera, Lighting, Scene, look_at
from etude.scene.visual import FIRST_ENTITY, Visual

Picture = NDArray[np.uint8]


@functools.cache
def _ground() -> Mesh:
    return box((4.0, 4.0, 0.001), (0.0, 0.0, -0.0005))


@functools.lru_cache(maxsize=512)
def object_picture(name: str, size: Vec3 | None, worn: str, span: float, pixels: int, frame: float | None = None) -> Picture:
    """One thing of the catalogue on a plain ground, (pixels, pixels, 3), as large as it fits or as ``frame`` (radius, m) has it."""
    model = shape(name, size)
    lower, upper = model.bounds
    radius = norm(upper - lower) / 2 if frame is None else frame
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
    return living(part, scene).shoot(part.camera, (pixels, pixels), supersample=True).rgb


def camera_picture(part: ObjectPicture | ScenePicture | Blank, scene: Scene, pixels: int) -> Picture:
    """What a camera of the scene sees of the part, as wide as ``pixels`` and of the camera's own proportions."""
    width, height = scene.camera(part.camera).size
    return part_views(part, scene, (pixels, max(1, round(pixels * height / width))), (part.camera,))[part.camera].rgb


def part_picture(part: InstructionPart, scene: Scene, pixels: int) -> Picture:
    """The picture a part stands for: square, or of its camera's proportions where it shows what a camera sees."""
    if isinstance(part, ObjectPicture):
        if part.camera:
            return camera_picture(part, scene, pixels)
        return object_picture(part.shape, part.size, part.texture, part.texture_span, pixels, part.frame)
    if isinstance(part, TexturePicture):
        return texture_picture(part.texture, pixels)
    if isinstance(part, ScenePicture):
        return camera_picture(part, scene, pixels) if part.things else scene_picture(scene, part, pixels)
    if isinstance(part, Blank):
        return camera_picture(part, scene, pixels) if part.camera else np.full((pixels, pixels, 3), BLANK, np.uint8)
    raise EtudeError(f"{type(part).__name__} is not a picture")


def multimodal(instruction: Instruction, scene: Scene, pixels: int = 128) -> tuple[str, list[Picture]]:
    """Text with placeholders ``{image:k}``, and the images (height, pixels, 3) they stand for."""
    return instruction.template(), [part_picture(p, scene, pixels) for p in one_scale(instruction).pictures()]


def data_url(picture: Picture) -> str:
    """A picture (H, W, 3) as a PNG inside a URL."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def messages(instruction: Instruction, scene: Scene, pixels: int = 256) -> list[dict[str, Any]]:
    """One user message in the form chat interfaces take: text and image parts in order, images as PNG in data URLs."""
    content: list[dict[str, Any]] = []
    for part in one_scale(instruction).parts:
        if not isinstance(part, Words):
            content.append({"type": "image_url", "image_url": {"url": data_url(part_picture(part, scene, pixels))}})
        else:
            content.append({"type": "text", "text": part.words})
    return [{"role": "user", "content": content}]
