"""What there is to see before any policy runs: the ten example scenes, and everything in the catalogue."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from etude.catalog.household import default_texture
from etude.catalog.registry import group_names, shape, shapes_in
from etude.catalog.textures import NUMBERED, texture, texture_names
from etude.prompts.pictures import object_picture
from etude.render.studio import Studio
from etude.report.page import Page
from etude.report.pictures import Picture, depth_picture, segmentation_picture, sheet
from etude.scene.examples import EXAMPLES, PATTERNS
from etude.scene.scene import Camera, Scene, look_at
from etude.scene.world import World


def scene_pictures(scene: Scene, size: tuple[int, int] | None = None, renderer: str = "raster") -> list[tuple[str, Picture]]:
    """What every camera of a scene sees once things have come to rest: colour, then depth and segmentation of the first."""
    world = World(scene)
    world.settle()
    studio = Studio(world, renderer)
    if not scene.cameras:
        scene_view = Camera("overview", look_at((1.2, -1.0, 0.9), (0.3, 0.0, 0.1)), 40.0, size=(512, 512))
        return [("overview", studio.shoot(scene_view, size, supersample=True).rgb)]
    found = [(camera.name, studio.shoot(camera, size, supersample=True).rgb) for camera in scene.cameras]
    first = studio.shoot(scene.cameras[0], size)
    return [*found, ("depth", depth_picture(first.depth)), ("segmentation", segmentation_picture(first.segmentation))]


def gallery(progress: Callable[[str], None] = lambda _: None) -> Page:
    """The ten example scenes and the catalogue on one page."""
    page = Page("etude: scenes", "Ten scenes, each a value: plain data that gives the same world and the same pixels on every machine.")
    for name, make in EXAMPLES.items():
        progress(name)
        scene = make(0)
        page.heading(name)
        page.text(f"{(make.__doc__ or '').strip()} Show it with `etude show {name}`.")
        page.figures([(label, _thumbnail(picture)) for label, picture in scene_pictures(scene)])
    for title, picture in catalogue_sheets(progress):
        page.heading(title)
        page.figures([("", picture)])
    return page


def _thumbnail(picture: Picture, height: int = 190) -> Picture:
    from PIL import Image

    h, w = picture.shape[:2]
    return np.asarray(Image.fromarray(picture).resize((round(w * height / h), height), Image.Resampling.LANCZOS))


def catalogue_sheets(progress: Callable[[str], None] = lambda _: None) -> list[tuple[str, Picture]]:
    """Contact sheets: (title, picture) for every group of shapes, the named textures and the numbered ones."""
    sheets = []
    for group in group_names():
        progress(f"shapes: {group}")
        names = shapes_in(group)
        sheets.append((f"{len(names)} shapes: {group}", sheet([(name, portrait(name, i)) for i, name in enumerate(names)])))
    progress("textures")
    named = texture_names()
    sheets.append((f"{len(named)} named textures and colours", sheet([(name, _swatch(name)) for name in named], columns=16, tile=82)))
    numbered = [f"numbered {i}" for i in range(NUMBERED)]
    sheets.append((f"{NUMBERED} numbered textures", sheet([(name, _swatch(name)) for name in numbered], columns=20, tile=64)))
    return sheets


def _swatch(name: str) -> Picture:
    image = texture(name)
    return np.ascontiguousarray(np.broadcast_to(image, (64, 64, 3))) if image.shape[0] == 1 else image


def portrait(name: str, number: int = 0, pixels: int = 112) -> Picture:
    """One shape of the catalogue as it usually looks."""
    lower, upper = shape(name).bounds
    span = max(0.04, 0.6 * float(np.linalg.norm(upper - lower)))
    return object_picture(name, None, default_texture.get(name, PATTERNS[number % len(PATTERNS)]), span, pixels)
