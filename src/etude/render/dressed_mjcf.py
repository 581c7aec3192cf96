"""A world as MJCF that looks as it does here: textures, cameras and lights beside what moves and collides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from etude.pose import Pose
from etude.render.mujoco_looks import add_lights, add_visuals
from etude.render.png import png
from etude.scene.mjcf import laid_out, sharpened
from etude.scene.scene import Body
from etude.scene.world import World

SEEN, TOUCHED = 2, 3  # groups of geoms: by custom the second is shown, and the third, of what collides, is not
ABOUT_X = Pose((0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0))  # MuJoCo's cameras look along −z, with y upwards


def dressed_mjcf(world: World, folder: str = "") -> tuple[str, dict[str, bytes]]:
    """The text of a world's model, and the textures it names in ``folder``: PNG files by their names.

    Its keyframe "now" is the present state. MuJoCo's pictures of it differ from ours as the two renderers do.
    """
    spec = laid_out(world.scene)
    files: dict[str, bytes] = {}
    for geom in spec.geoms:
        geom.group = TOUCHED
    for entity in world.scene.entities:
        if isinstance(entity, Body) and not entity.fixed:  # whoever opens it without the keyframe sees things in their places as well
            body, pose = spec.body(entity.name), world.pose(entity.name)
            body.pos, body.quat = pose.position, pose.rotation
    names = [world.model.body(i).name for i in range(world.model.nbody)]

    def in_a_file(mj: Any, spec: Any, name: str, image: NDArray[np.uint8]) -> None:
        file = f"{folder}/{name}.png" if folder else f"{name}.png"
        files[f"{name}.png"] = spec.assets[file] = png(image)
        spec.add_texture(name=name, type=mj.mjtTexture.mjTEXTURE_2D, file=file)

    frames = {i: spec.body(name) if i else spec.worldbody for i, name in enumerate(names)}
    add_visuals(mujoco, spec, frames, world.visuals, in_a_file, SEEN)
    light = world.scene.lighting
    spec.visual.headlight.ambient = light.ambient
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
    spec.add_texture(name="background", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
                     rgb1=light.background, rgb2=light.background, width=8, height=48)  # fmt: skip
    add_lights(mujoco, spec, light)
    _add_cameras(spec, world)
    spec.add_key(name="now", qpos=world.data.qpos, qvel=world.data.qvel, ctrl=world.data.ctrl)
    return sharpened(spec), files


def _add_cameras(spec: Any, world: World) -> None:
    hand = Pose.of(world.data.body("hand").xpos, world.data.body("hand").xquat) if world.robot is not None else Pose()
    for camera in world.scene.cameras:
        pose = world.camera_pose(camera)
        mounted = camera.mount == "hand"
        place = (hand.inverse() * pose if mounted else pose) * ABOUT_X
        flat = camera.extent is not None
        kind = mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC if flat else mujoco.mjtProjection.mjPROJ_PERSPECTIVE
        (spec.body("hand") if mounted else spec.worldbody).add_camera(
            name=camera.name, pos=place.position, quat=place.rotation, proj=kind, fovy=camera.extent if flat else camera.fov,
            resolution=camera.size,
        )  # fmt: skip


def write_mjcf(world: World, path: Path) -> None:
    """Write the model, and its textures into a folder beside it that is named after it."""
    folder = path.with_name(f"{path.stem}_textures")
    text, files = dressed_mjcf(world, folder.name)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    path.write_text(text, encoding="utf-8")
