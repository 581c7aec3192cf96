"""From a model and a view to a sprite: the object alone, centred, on nothing, with smooth edges.

The camera goes around the model and the light goes with it, so every view is well lit. How bright and how warm the light is changes from
view to view: otherwise the mean colour of a picture alone would tell most of the 64 things apart. The picture is drawn three times as fine
and averaged; what share of a pixel the object covers becomes its alpha.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import product, turned
from etude.compiled import compiled
from etude.decisions.stimuli.album import Album, Rgba
from etude.decisions.stimuli.models import BUILDERS, GRAIN, IDENTITIES, PALETTES, model
from etude.names import EtudeError, rng, unknown
from etude.pose import Pose, matrix, yaw_quat
from etude.render.renderer import Renderer
from etude.scene.scene import Camera, Light, Lighting, look_at
from etude.scene.visual import FIRST_ENTITY, Visual

ANGLES = ("front left", "back left", "back right", "front right")  # from where the camera looks at it
AROUND = 12  # views of each angle: 60 degrees in steps of 5, none along an axis, where things are hard to tell
HELD_OUT = {4: "val", 9: "val", 2: "test", 7: "test"}

BRIGHTNESS, TINT = (0.84, 1.08), 0.045
FILL = 0.9  # of the picture, along the longer side of the object
DISTANCE = 1.5  # metres from camera to model: a mild perspective
FINER = 3
LARGEST = 2048  # pixels

LIGHTING = Lighting(
    ambient=(0.44, 0.44, 0.46),
    key=Light((0.55, 0.75, -1.0), (0.62, 0.61, 0.58)),
    fills=(Light((-1.0, 0.5, -0.2), (0.20, 0.20, 0.21)), Light((0.2, 1.0, 0.1), (0.10, 0.10, 0.10))),
    background=(0.0, 0.0, 0.0),
)


@dataclass(frozen=True)
class Viewpoint:
    """Where the camera stands: ``yaw`` degrees from the front over the left side, ``pitch`` degrees above the ground; it never rolls.

    ``light`` is by what its red, green and blue are multiplied.
    """

    yaw: float
    pitch: float
    light: tuple[float, float, float]
    angle: int  # number in ANGLES
    split: str


def _views() -> tuple[Viewpoint, ...]:
    found, stream = [], rng("stimuli/views", "light")
    for angle in range(len(ANGLES)):
        for k in range(AROUND):
            yaw = 45.0 + 90.0 * angle + 5.0 * (k - (AROUND - 1) / 2)
            strength = stream.uniform(*BRIGHTNESS)
            red, green, blue = (round(strength * stream.uniform(1 - TINT, 1 + TINT), 3) for _ in range(3))
            found.append(Viewpoint(yaw, 12.0 + 2.0 * (5 * k % AROUND), (red, green, blue), angle, HELD_OUT.get(k, "train")))
    return tuple(found)


VIEWS = _views()


@functools.lru_cache(maxsize=64)
def _stage(item: int) -> tuple[Renderer, NDArray[np.float64]]:
    """The renderer of a model, and its corners (N, 3)."""
    which, colour = divmod(item, len(PALETTES))
    parts = model(tuple(BUILDERS)[which // IDENTITIES], which % IDENTITIES).painted(tuple(PALETTES)[colour])
    visuals = [Visual(1, mesh, texture, span=GRAIN, entity=FIRST_ENTITY) for texture, mesh in parts]
    return Renderer(visuals, LIGHTING), np.concatenate([mesh.vertices for _, mesh in parts])


def _camera(corners: NDArray[np.float64], pitch: float) -> Camera:
    """The camera at this pitch, moved sideways and opened so that the corners fill the picture and lie in its middle."""
    tilt = math.radians(pitch)
    place = look_at((0.0, -DISTANCE * math.cos(tilt), DISTANCE * math.sin(tilt)), (0.0, 0.0, 0.0))
    axes = matrix(place.rotation)
    local = product(corners - np.asarray(place.position), axes)
    shift = np.zeros(2)
    for _ in range(4):  # moving the camera changes the perspective a little: three more rounds settle it
        flat = (local[:, :2] - shift) / local[:, 2:]
        low, high = flat.min(0), flat.max(0)
        shift = shift + (low + high) / 2 * DISTANCE
    eye = np.asarray(place.position) + product(axes[:, :2], shift)
    fov = 2 * math.degrees(math.atan(float((high - low).max()) / 2 / FILL))
    return Camera("portrait", Pose.of(eye, place.rotation), round(fov, 9))


def drawn(item: int, view: int, pixels: int) -> Rgba:
    """A sprite, drawn anew; items are counted through all categories and identities, colour by colour."""
    renderer, corners = _stage(item)
    # The camera looks along y; a yaw of 0 shows it the front, which is x.
    turn = np.round(matrix(yaw_quat(math.radians(-90.0 - VIEWS[view].yaw))), 12)
    renderer.pose([(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)], [np.eye(3), turn])
    shot = renderer.shoot(_camera(turned(corners, turn), VIEWS[view].pitch), (FINER * pixels, FINER * pixels))
    sprite = np.empty((pixels, pixels, 4), np.uint8)
    _average(shot.rgb, shot.segmentation, np.array(VIEWS[view].light), sprite)
    return sprite


@compiled(error_model="numpy")
def _average(rgb: NDArray[np.uint8], segmentation: NDArray[np.uint16], light: NDArray[np.float64], sprite: Rgba) -> None:
    """Pixels (H, W, 4) from samples (3H, 3W): light is averaged, not bytes, over the samples that hit the object."""
    for y in range(sprite.shape[0]):
        for x in range(sprite.shape[1]):
            hits, red, green, blue = 0, np.int64(0), np.int64(0), np.int64(0)
            for j in range(FINER * y, FINER * y + FINER):
                for i in range(FINER * x, FINER * x + FINER):
                    if segmentation[j, i]:
                        r, g, b = np.int64(rgb[j, i, 0]), np.int64(rgb[j, i, 1]), np.int64(rgb[j, i, 2])
                        hits, red, green, blue = hits + 1, red + r * r, green + g * g, blue + b * b
            n = float(max(hits, 1))
            for k, total in enumerate((red, green, blue)):
                sprite[y, x, k] = np.uint8(min(light[k] * np.sqrt(total / n) + 0.5, 255.0))
            sprite[y, x, 3] = np.uint8(255 * hits / (FINER * FINER) + 0.5)


_SPRITES = Album(drawn)


def sprite(category: str, identity: int, colour: str, view: int, pixels: int = 112) -> Rgba:
    """An identity (0 to 7) of a category in a colour from a view (number in ``VIEWS``): (pixels, pixels, 4), read-only, not multiplied by
    alpha."""
    for what, name, known in (("category", category, BUILDERS), ("colour", colour, PALETTES)):
        if name not in known:
            raise unknown(what, name, known)
    if not 0 <= identity < IDENTITIES:
        raise EtudeError(f"{category} have the identities 0 to {IDENTITIES - 1}, got {identity}")
    if not 0 <= view < len(VIEWS):
        raise EtudeError(f"the views are numbered 0 to {len(VIEWS) - 1}, got {view}")
    if not 1 <= pixels <= LARGEST:
        raise EtudeError(f"a sprite is 1 to {LARGEST} pixels wide, got {pixels}")
    which = tuple(BUILDERS).index(category) * IDENTITIES + identity
    return _SPRITES.get(which * len(PALETTES) + tuple(PALETTES).index(colour), view, pixels)
