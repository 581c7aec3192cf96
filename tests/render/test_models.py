"""Worlds for other programs: glTF and MJCF have everything in its place, with textures, cameras and lights."""

from __future__ import annotations

import io
import json
import struct

import mujoco
import numpy as np
import pytest
from PIL import Image

from etude.catalog.textures import texture
from etude.evaluation.play import Players
from etude.evaluation.viewing import episode_model
from etude.pose import matrix
from etude.render.dressed_mjcf import write_mjcf
from etude.render.gltf import glb
from etude.scene.capture import Capture
from etude.scene.examples import example
from etude.scene.world import World

UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # from our axes to glTF's


@pytest.fixture(scope="module")
def world():
    found = World(example("tower", 0))
    found.settle()
    return found


def opened(data: bytes) -> tuple[dict, bytes]:
    """The document and the binary part of a file."""
    magic, version, length = struct.unpack("<4sII", data[:12])
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack("<I4s", data[12:20])
    rest = data[20 + size :]
    assert kind == b"JSON" and size % 4 == 0 and struct.unpack("<I4s", rest[:8]) == (len(rest) - 8, b"BIN\0")
    return json.loads(data[20 : 20 + size]), rest[8:]


def numbers(document: dict, binary: bytes, index: int) -> np.ndarray:
    one = document["accessors"][index]
    view = document["bufferViews"][one["bufferView"]]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[one["type"]]
    kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[one["componentType"]]
    found = np.frombuffer(binary, kind, one["count"] * width, view["byteOffset"]).reshape(-1, width)
    assert view["byteOffset"] % 4 == 0 and found.nbytes == view["byteLength"]
    assert found.min(0).tolist() == one["min"] and found.max(0).tolist() == one["max"]
    return found


def places(document: dict) -> list[np.ndarray]:
    """Where every node is in glTF's world, (4, 4) each."""
    found = [np.eye(4)] * len(document["nodes"])

    def walk(node: int, above: np.ndarray) -> None:
        data = document["nodes"][node]
        own = np.eye(4)
        x, y, z, w = data.get("rotation", (0, 0, 0, 1))
        own[:3, :3], own[:3, 3] = matrix((w, x, y, z)), data.get("translation", (0, 0, 0))
        found[node] = above @ own
        for child in data.get("children", ()):
            walk(child, found[node])

    for root in document["scenes"][0]["nodes"]:
        walk(root, np.eye(4))
    return found


@pytest.fixture(scope="module")
def file(world):
    capture = Capture(world)
    capture.take()
    return opened(glb(capture, 0.0, "tower"))


def test_every_visual_is_where_it_is_in_the_world(world, file):
    document, binary = file
    where = places(document)
    shown = [k for k, node in enumerate(document["nodes"]) if "mesh" in node]
    assert len(shown) == len(world.visuals)
    positions, rotations = world.frames()
    for node, visual in zip(shown, world.visuals, strict=True):
        primitive = document["meshes"][document["nodes"][node]["mesh"]]["primitives"][0]
        points = numbers(document, binary, primitive["attributes"]["POSITION"])
        here = points @ where[node][:3, :3].T + where[node][:3, 3]
        there = (visual.pose.apply(visual.mesh.vertices) @ rotations[visual.body].T + positions[visual.body]) @ UP.T
        assert np.abs(here - there).max() < 1e-5
        faces = numbers(document, binary, primitive["indices"])
        assert (faces.reshape(-1, 3) == visual.mesh.faces).all()


def test_textures_are_those_of_the_catalogue(world, file):
    document, binary = file
    named = {m["name"]: m["pbrMetallicRoughness"] for m in document["materials"]}
    patterned = [name for name in named if texture(name).shape[0] > 1]
    assert patterned
    for name in patterned:
        image = document["images"][document["textures"][named[name]["baseColorTexture"]["index"]]["source"]]
        view = document["bufferViews"][image["bufferView"]]
        pixels = Image.open(io.BytesIO(binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]))
        assert (np.asarray(pixels) == texture(name)).all()


def test_cameras_look_where_ours_look(world, file):
    document, _ = file
    where = places(document)
    for camera in world.scene.cameras:
        node = next(k for k, n in enumerate(document["nodes"]) if n["name"] == camera.name)
        pose = world.camera_pose(camera)
        assert np.allclose(where[node][:3, 3], UP @ pose.position, atol=1e-6)
        assert np.allclose(-where[node][:3, 2], UP @ matrix(pose.rotation)[:, 2], atol=1e-6)
        lens = document["cameras"][document["nodes"][node]["camera"]]
        assert lens["type"] == "perspective" and lens["perspective"]["yfov"] == pytest.approx(np.radians(camera.fov))


def test_lights_shine_the_same_way(world, file):
    document, _ = file
    where = places(document)
    node = next(k for k, n in enumerate(document["nodes"]) if n["name"] == "light 0")
    direction = np.array(world.scene.lighting.key.direction)
    assert np.allclose(-where[node][:3, 2], UP @ direction / np.linalg.norm(direction), atol=1e-6)
    assert len(document["extensions"]["KHR_lights_punctual"]["lights"]) == 1 + len(world.scene.lighting.fills)


def test_an_episode_moves_as_it_was_played():
    data, trajectory = episode_model(Players("oracle"), "clevrskills/pick@test#0")
    document, binary = opened(data)
    (animation,) = document["animations"]
    world = trajectory.simulation.world
    moved = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert numbers(document, binary, sampler["input"])[-1, 0] == pytest.approx(0.05 * len(trajectory.actions))
        name = document["nodes"][channel["target"]["node"]]["name"]
        moved[name, channel["target"]["path"]] = numbers(document, binary, sampler["output"])
    assert np.allclose(moved["hand", "translation"][-1], world.data.body("hand").xpos, atol=1e-6)
    assert np.allclose(np.linalg.norm(moved["hand", "rotation"], axis=1), 1, atol=1e-6)


def test_mujoco_reads_the_model_with_its_textures_cameras_and_lights(world, tmp_path):
    write_mjcf(world, tmp_path / "tower.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "tower.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    assert np.abs(data.xpos - world.data.xpos).max() < 1e-5
    assert np.allclose(model.body_mass, world.model.body_mass, rtol=1e-4)
    for camera in world.scene.cameras:
        seen, pose = data.camera(camera.name), world.camera_pose(camera)
        assert np.allclose(seen.xpos, pose.position, atol=1e-5)
        assert np.allclose(-seen.xmat.reshape(3, 3)[:, 2], matrix(pose.rotation)[:, 2], atol=1e-5)
        assert model.camera(camera.name).fovy[0] == pytest.approx(camera.fov)
    assert model.nlight == 1 + len(world.scene.lighting.fills)
    seen = [k for k in range(model.ngeom) if model.geom_group[k] == 2]
    assert len(seen) == len(world.visuals) and not model.geom_contype[seen].any() and not model.geom_conaffinity[seen].any()
    pictures = {name for name in {v.texture for v in world.visuals} if texture(name).shape[0] > 1}
    stored = {tuple(np.asarray(Image.open(path)).ravel()[:3000]) for path in (tmp_path / "tower_textures").iterdir()}
    assert {tuple(texture(name).ravel()[:3000]) for name in pictures} <= stored


def test_what_stands_loose_is_in_its_place_without_the_keyframe_too(world, tmp_path):
    write_mjcf(world, tmp_path / "tower.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "tower.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name in world.loose:
        assert np.abs(data.body(name).xpos - world.pose(name).position).max() < 1e-5
