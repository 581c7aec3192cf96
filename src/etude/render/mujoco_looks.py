"""Visuals and lights in a specification of MuJoCo's: for its renderer, and for files that its other programs read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.catalog.textures import texture
from etude.render.lighting import casts, unit
from etude.scene.scene import Lighting
from etude.scene.visual import Visual


def given_pixels(mj: Any, spec: Any, name: str, image: NDArray[np.uint8]) -> None:
    """A texture (S, S, 3) whose pixels the model holds itself."""
    picture = spec.add_texture(name=name, type=mj.mjtTexture.mjTEXTURE_2D, width=image.shape[1], height=image.shape[0], nchannel=3)
    picture.data = image.tobytes()


def add_visuals(
    mj: Any,
    spec: Any,
    frames: Sequence[Any] | Mapping[int, Any],
    visuals: Sequence[Visual],
    add_texture: Callable[[Any, Any, str, NDArray[np.uint8]], None] = given_pixels,
    group: int = 0,
) -> None:
    """Everything there is to see, on the bodies ``frames``, as geoms that touch nothing and weigh nothing."""
    meshes: dict[tuple[int, float], str] = {}
    painted: dict[tuple[str, float, float], str] = {}
    for index, visual in enumerate(visuals):
        shape, paint = (id(visual.mesh), visual.span), (visual.texture, visual.gloss, visual.alpha)
        if shape not in meshes:
            meshes[shape] = f"mesh {len(meshes)}"
            _add_mesh(mj, spec, meshes[shape], visual)
        if paint not in painted:
            painted[paint] = f"material {len(painted)}"
            _add_material(mj, spec, painted[paint], visual, add_texture)
        frames[visual.body].add_geom(
            name=f"visual {index}", type=mj.mjtGeom.mjGEOM_MESH, meshname=meshes[shape], material=painted[paint], mass=0.0, group=group,
            pos=visual.pose.position, quat=visual.pose.rotation, contype=0, conaffinity=0, castshadow=casts(visual),
        )  # fmt: skip


def add_lights(mj: Any, spec: Any, lighting: Lighting) -> None:
    """The key light, which casts shadows, and the fills, which do not."""
    for i, light in enumerate((lighting.key, *lighting.fills)):
        direction = unit(light.direction)
        spec.worldbody.add_light(
            name=f"light {i}", type=mj.mjtLightType.mjLIGHT_DIRECTIONAL, dir=direction, pos=-3 * direction, diffuse=light.colour,
            ambient=(0, 0, 0), specular=light.colour if i == 0 else (0, 0, 0), castshadow=i == 0 and lighting.shadows,
        )  # fmt: skip


def _add_mesh(mj: Any, spec: Any, name: str, visual: Visual) -> None:
    mesh = visual.mesh
    faces = mesh.faces.astype(np.int32).ravel()
    uv = mesh.uv / visual.span * [1.0, -1.0]  # MuJoCo's textures hang upside down
    spec.add_mesh(
        name=name, uservert=mesh.vertices.ravel(), usernormal=mesh.normals.ravel(), usertexcoord=uv.ravel(), userface=faces,
        userfacenormal=faces, userfacetexcoord=faces, inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )  # fmt: skip


def _add_material(mj: Any, spec: Any, name: str, visual: Visual, add_texture: Callable[[Any, Any, str, NDArray[np.uint8]], None]) -> None:
    image = texture(visual.texture)
    if image.shape[0] == 1:
        r, g, b = (image[0, 0] / 255).tolist()
        spec.add_material(name=name, rgba=(r, g, b, visual.alpha), specular=visual.gloss, shininess=0.4)
        return
    add_texture(mj, spec, name, image)
    material = spec.add_material(name=name, rgba=(1, 1, 1, visual.alpha), specular=visual.gloss, shininess=0.4)
    material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = name
