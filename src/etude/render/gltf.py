"""A world, or a whole episode, as binary glTF 2.0: meshes, textures, cameras, lights, and how bodies move. Any 3-D program reads it."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.catalog.mesh import Mesh
from etude.catalog.textures import texture
from etude.pose import Pose, align
from etude.render.png import png
from etude.scene.capture import Capture
from etude.scene.scene import Camera, Lighting
from etude.scene.visual import Visual

FLOAT, SHORT, INT = 5126, 5123, 5125
ARRAY, ELEMENTS = 34962, 34963
UPRIGHT = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]  # xyzw: our z is up, y is in glTF
ABOUT_X = Pose((0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0))  # its cameras look along −z, with y upwards; ours along z, with y downwards
LIGHTS = "KHR_lights_punctual"
STILL = 1e-5  # m, or of a quaternion: a body that moves less is not animated


def glb(capture: Capture, period: float, name: str) -> bytes:
    """The bytes of a file. With several moments, ``period`` seconds apart, there is an animation; what is seen only at times is shrunk to
    nothing at others. Ambient light has no place in glTF and stands in the scene's ``extras``."""
    return _File(capture, period, name).written()


class _File:
    """A document and its binary part, while they grow."""

    def __init__(self, capture: Capture, period: float, name: str) -> None:
        self._capture, self._period, self._name = capture, period, name
        self._binary = bytearray()
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._known: dict[Any, int] = {}

    def written(self) -> bytes:
        """Fill it, and put its parts together."""
        capture = self._capture
        tracks = capture.tracks()
        light = capture.lights[0][1]
        moving = [self._add("nodes", {"name": capture.world.model.body(body).name, "children": []}) for body in capture.bodies]
        moving += [
            self._add("nodes", {"name": f"mount of {c.name}", "children": []}) for c in capture.world.scene.cameras if c.mount == "hand"
        ]
        top = [*moving]
        for node, pose in zip(moving, tracks[0], strict=True):
            self._lists["nodes"][node].update(_place(Pose.of(pose[:3], pose[3:])))
        shown = [self._visual(visual) for visual in capture.visuals]
        for node, visual in zip(shown, capture.visuals, strict=True):
            self._hang(node, capture.track_of(visual), moving, top)
        for camera in capture.world.scene.cameras:
            self._hang(self._camera(camera), capture.track_of(camera), moving, top)
        lamps = [self._lamp(lamp.direction, f"light {k}", k) for k, lamp in enumerate((light.key, *light.fills))]
        root = self._add("nodes", {"name": self._name, "rotation": UPRIGHT, "children": top + lamps})
        if len(capture) > 1:
            self._animate(tracks, moving, shown)
        for one in self._lists["nodes"]:
            if not one.get("children", True):
                del one["children"]  # an empty list is not allowed
        document = {
            "asset": {"version": "2.0", "generator": "etude"}, "scene": 0, "extensionsUsed": [LIGHTS],
            "extensions": {LIGHTS: {"lights": _lamps(light)}},
            "scenes": [{"name": self._name, "nodes": [root], "extras": {"ambient": light.ambient, "background": light.background}}],
            **self._lists, "buffers": [{"byteLength": len(self._binary)}],
        }  # fmt: skip
        return _container(document, bytes(self._binary))

    def _add(self, kind: str, value: dict[str, Any]) -> int:
        self._lists.setdefault(kind, []).append(value)
        return len(self._lists[kind]) - 1

    def _hang(self, node: int, track: int | None, moving: Sequence[int], top: list[int]) -> None:
        (top if track is None else self._lists["nodes"][moving[track]]["children"]).append(node)

    # ---- data

    def _view(self, data: bytes, **more: Any) -> int:
        self._binary.extend(bytes(-len(self._binary) % 4))
        found = self._add("bufferViews", {"buffer": 0, "byteOffset": len(self._binary), "byteLength": len(data), **more})
        self._binary.extend(data)
        return found

    def _numbers(self, values: NDArray[Any], kind: str, target: int | None = None) -> int:
        wide = int(values.max(initial=0)) >= 65535 if values.dtype.kind in "iu" else False
        code, form = (FLOAT, "<f4") if values.dtype.kind == "f" else (INT, "<u4") if wide else (SHORT, "<u2")
        packed = values.astype(form)
        view = self._view(packed.tobytes(), **({} if target is None else {"target": target}))
        bounds = {"min": np.atleast_1d(packed.min(0)).tolist(), "max": np.atleast_1d(packed.max(0)).tolist()}
        return self._add("accessors", {"bufferView": view, "componentType": code, "count": len(packed), "type": kind, **bounds})

    def _once(self, key: Any, make: Any) -> int:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    # ---- things

    def _visual(self, visual: Visual) -> int:
        paint = self._once(("paint", visual.texture, visual.alpha, visual.gloss), lambda: self._material(visual))
        mesh = self._once(("mesh", id(visual.mesh), visual.span, paint), lambda: self._mesh(visual.mesh, visual.span, paint))
        names = {number: name for name, number in self._capture.world.segmentation_ids().items()}
        return self._add("nodes", {"name": names.get(visual.entity, "thing"), "mesh": mesh, **_place(visual.pose)})

    def _mesh(self, mesh: Mesh, span: float, material: int) -> int:
        places = self._once(("places", id(mesh)), lambda: self._numbers(mesh.vertices, "VEC3", ARRAY))
        normals = self._once(("normals", id(mesh)), lambda: self._numbers(mesh.normals, "VEC3", ARRAY))
        uv = self._numbers(mesh.uv / span * [1.0, -1.0], "VEC2", ARRAY)  # rows of a picture run downwards, our v upwards
        faces = self._once(("faces", id(mesh)), lambda: self._numbers(mesh.faces.reshape(-1), "SCALAR", ELEMENTS))
        attributes = {"POSITION": places, "NORMAL": normals, "TEXCOORD_0": uv}
        return self._add("meshes", {"primitives": [{"attributes": attributes, "indices": faces, "material": material}]})

    def _material(self, visual: Visual) -> int:
        image = texture(visual.texture)
        surface: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": round(1.0 - 0.7 * visual.gloss, 3)}
        if image.shape[0] == 1:
            surface["baseColorFactor"] = [*(_linear(v / 255) for v in image[0, 0].tolist()), visual.alpha]
        else:
            picture = self._once(("texture", visual.texture), lambda: self._texture(image))
            surface |= {"baseColorTexture": {"index": picture}, "baseColorFactor": [1.0, 1.0, 1.0, visual.alpha]}
        blend = {"alphaMode": "BLEND"} if visual.alpha < 1 else {}
        return self._add("materials", {"name": visual.texture, "pbrMetallicRoughness": surface, **blend})

    def _texture(self, image: NDArray[np.uint8]) -> int:
        picture = self._add("images", {"bufferView": self._view(png(np.ascontiguousarray(image))), "mimeType": "image/png"})
        return self._add("textures", {"source": picture})

    def _camera(self, camera: Camera) -> int:
        aspect, kind = camera.size[0] / camera.size[1], "perspective" if camera.fov is not None else "orthographic"
        lens: dict[str, float] = {"znear": camera.near, "zfar": camera.far}
        if camera.fov is not None:
            lens |= {"yfov": math.radians(camera.fov), "aspectRatio": aspect}
        elif camera.extent is not None:
            lens |= {"xmag": camera.extent / 2 * aspect, "ymag": camera.extent / 2}
        number = self._add("cameras", {"name": camera.name, "type": kind, kind: lens})
        return self._add("nodes", {"name": camera.name, "camera": number, **_place(self._capture.place_of(camera) * ABOUT_X)})

    def _lamp(self, direction: Sequence[float], name: str, number: int) -> int:
        turned = Pose((0.0, 0.0, 0.0), align((0.0, 0.0, -1.0), direction))  # lights shine along −z
        return self._add("nodes", {"name": name, "extensions": {LIGHTS: {"light": number}}, **_place(turned)})

    # ---- time

    def _animate(self, tracks: NDArray[Any], moving: Sequence[int], shown: Sequence[int]) -> None:
        times = self._numbers(np.arange(len(tracks)) * self._period, "SCALAR")
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []

        def channel(node: int, path: str, values: NDArray[Any], kind: str, way: str = "LINEAR") -> None:
            samplers.append({"input": times, "output": self._numbers(values, kind), "interpolation": way})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

        for k, node in enumerate(moving):
            if np.ptp(tracks[:, k, :3], axis=0).max() > STILL:
                channel(node, "translation", tracks[:, k, :3], "VEC3")
            if np.ptp(tracks[:, k, 3:], axis=0).max() > STILL:
                channel(node, "rotation", _unit(tracks[:, k, [4, 5, 6, 3]]), "VEC4")
        seen = np.zeros((len(tracks), len(shown)))
        for moment, numbers in self._capture.looks:
            seen[moment:] = 0.0
            seen[moment:, list(numbers)] = 1.0
        for k, node in enumerate(shown):
            if not seen[:, k].all():
                channel(node, "scale", np.repeat(seen[:, k, None], 3, 1), "VEC3", "STEP")
        if channels:
            self._add("animations", {"name": self._name, "samplers": samplers, "channels": channels})


def _place(pose: Pose) -> dict[str, list[float]]:
    w, x, y, z = pose.rotation
    return {"translation": list(pose.position), "rotation": [x, y, z, w]}


def _unit(quaternions: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(quaternions / np.sqrt(np.square(quaternions).sum(1, keepdims=True)))


def _linear(value: float) -> float:
    """Light (0 to 1) of a colour as sRGB has it."""
    return round(value / 12.92 if value <= 0.04045 else math.pow((value + 0.055) / 1.055, 2.4), 6)


def _lamps(light: Lighting) -> list[dict[str, Any]]:
    """Distant lights. A white surface that faces one of strength 1 is white: π lux, as glTF's surfaces scatter."""
    found = []
    for lamp in (light.key, *light.fills):
        strength = max(*lamp.colour, 1e-6)
        found.append({"type": "directional", "color": [min(1.0, c / strength) for c in lamp.colour], "intensity": math.pi * strength})
    return found


def _container(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
