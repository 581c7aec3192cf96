"""Shapes from mesh files: as written, the same everywhere, and handled like any other."""

from __future__ import annotations

import importlib.util
import json
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from etude.catalog.grasp import finger_grasps
from etude.catalog.mesh_files import decompose, read_triangles, register_mesh
from etude.catalog.registry import SHAPES, group_of, shape, shape_names
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals import Picked
from etude.names import EtudeError
from etude.policies.scripted import OraclePolicy
from etude.pose import Pose
from etude.prompts import instruction
from etude.scene import Body, Robot
from etude.scene.rooms import furnished, xarm_room

DATA = Path(__file__).parent.parent / "data"
BRACKET = DATA / "bracket.obj"
VOLUME = (0.08 * 0.02 + 0.02 * 0.04) * 0.03
needs_coacd = pytest.mark.skipif(importlib.util.find_spec("coacd") is None, reason="CoACD is not installed")


@pytest.fixture(scope="module")
def bracket() -> str:
    return register_mesh(BRACKET, name="my bracket", scale=0.01, up="y").name


@pytest.fixture
def copy(tmp_path):
    """The bracket and its pieces in a folder of their own."""
    for path in (BRACKET, BRACKET.with_name("bracket.obj.pieces.json")):
        shutil.copy(path, tmp_path)
    return tmp_path / "bracket.obj"


def test_a_mesh_file_becomes_a_shape_after_the_catalogue_was_looked_at(bracket):
    model = shape(bracket)
    assert "cube" in shape_names() and bracket in shape_names()
    assert (SHAPES.module_of(bracket), group_of(bracket)) == (__name__, "mesh")
    assert model.size == pytest.approx((0.08, 0.03, 0.06)) and model.volume == pytest.approx(VOLUME)
    mass, centre, _ = model.mass_properties
    assert mass == pytest.approx(500 * VOLUME)
    assert centre == pytest.approx((-0.04 + (0.04 * 2 + 0.01) / 3, 0.0, -0.03 + (0.01 * 2 + 0.04) / 3))


def test_its_pieces_fill_it(bracket):
    model = shape(bracket)
    assert len(model.pieces) == 2
    reach = [max(p.reach(way) for p in model.pieces) for way in (*np.eye(3), *-np.eye(3))]
    assert reach == pytest.approx([0.04, 0.015, 0.03] * 2, abs=2e-5)
    notch = (0.02, 0.0, 0.01)
    assert not any(np.all(np.abs(np.subtract(notch, p.position)) < p.size) for p in model.pieces if p.kind == "box")


def test_it_rests_and_is_taken_like_any_other_shape(bracket):
    model = shape(bracket)
    assert len(model.rests) >= 4 and model.rests[0].height == pytest.approx(0.03, abs=2e-5)
    assert model.hands == {"suction", "fingers"} and finger_grasps(model)[0].width == pytest.approx(0.03, abs=1e-3)
    wide = shape(bracket, (0.16, 0.03, 0.06))
    assert wide.size == pytest.approx((0.16, 0.03, 0.06)) and wide.volume == pytest.approx(2 * VOLUME)


@pytest.mark.parametrize(("arm", "hand"), [("xarm6", "vacuum"), ("panda", "parallel")])
def test_the_oracle_picks_it_up(bracket, arm, hand):
    room = replace(xarm_room(arm), robot=Robot(arm, hand, xarm_room(arm).robot.base))
    scene = furnished(room, Body("bracket", bracket, "red", Pose.flat(-0.1, 0.1, 0.03, 0.7)))
    simulation = Simulation(Episode("mine/pick_bracket@train#0", scene, Picked("bracket"), instruction("Pick up the bracket"), 200))
    oracle = OraclePolicy()
    oracle.reset("", (), simulation.episode.name)
    while not simulation.over:
        simulation.step(oracle.act({"simulation": simulation}))
    assert simulation.status.satisfied


def test_what_is_convex_needs_neither_pieces_nor_library(tmp_path):
    path = tmp_path / "ramp.obj"
    path.write_text("v 0 0 0\nv 8 0 0\nv 8 4 0\nv 0 4 0\nv 8 0 3\nv 8 4 3\nf 4 3 2 1\nf 2 3 6 5\nf 1 2 5\nf 4 6 3\nf -6 -2 -1 -3\n")
    ramp = register_mesh(path, name="my ramp", scale=0.01, mass=0.2)
    assert len(ramp.pieces) == 1 and ramp.volume == pytest.approx(0.08 * 0.04 * 0.03 / 2) and ramp.mass_properties[0] == 0.2
    assert list(tmp_path.iterdir()) == [path]


def _stl(corners: np.ndarray, text: bool) -> bytes:
    if text:
        rows = [f"vertex {x} {y} {z}" for triangle in corners for x, y, z in triangle]
        return "\n".join(["solid bracket", *rows, "endsolid"]).encode()
    records = b"".join(struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in corners)
    return b"binary".ljust(80) + struct.pack("<I", len(corners)) + records


@pytest.mark.parametrize("text", [False, True])
def test_stl_files_say_the_same_in_bytes_and_in_words(tmp_path, text):
    vertices, faces = read_triangles(BRACKET)
    path = tmp_path / "bracket.stl"
    path.write_bytes(_stl(vertices[faces], text))
    again, rings = read_triangles(path)
    assert np.array_equal(again[rings], vertices[faces])


def test_a_surface_inside_out_is_turned(tmp_path):
    vertices, faces = read_triangles(BRACKET)
    path = tmp_path / "bracket.stl"
    path.write_bytes(_stl(vertices[faces[:, ::-1]], False))
    again, rings = read_triangles(path)
    a, b, c = (again[rings[:, i]] for i in range(3))
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(VOLUME * 1e6)


def test_a_surface_with_a_hole_is_refused(tmp_path):
    path = tmp_path / "open.obj"
    path.write_text(BRACKET.read_text().replace("f 11 14 13 12\n", ""))
    with pytest.raises(EtudeError, match=r"open\.obj is not closed: 4 of its edges do not lie between two faces"):
        register_mesh(path, name="open")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.obj", "v 0 0 zero\n", r"a\.obj cannot be read: could not convert string to float"),
        ("a.obj", "v 0 0 0\nf 1 2 3\n", r"the face 'f 1 2 3' has a corner that is not there"),
        ("a.obj", "", "it has no faces"),
        ("a.stl", "solid\nvertex 0 0 0\n", r"a\.stl cannot be read"),
        ("a.ply", "ply", r"unknown kind of mesh file '\.ply'; did you mean '\.stl'|unknown kind of mesh file '\.ply'; valid: \.obj, \.stl"),
    ],
)
def test_what_is_no_mesh_is_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(EtudeError, match=said):
        read_triangles(tmp_path / name)


def test_pieces_of_another_version_are_refused(copy):
    copy.write_text(copy.read_text().replace("v 8 0 0", "v 8.5 0 0"))
    with pytest.raises(EtudeError, match=r"bracket\.obj\.pieces\.json was made for another version of bracket\.obj"):
        register_mesh(copy, name="other")


@pytest.mark.parametrize("text", ["{", "[]", '{"mesh": "", "pieces": [[["a"]]]}', '{"mesh": "MESH", "pieces": [[[0, 0, 0]]]}'])
def test_broken_pieces_are_refused(copy, text):
    beside = copy.with_name("bracket.obj.pieces.json")
    beside.write_text(text.replace("MESH", json.loads(beside.read_text())["mesh"]))
    with pytest.raises(EtudeError, match=r"bracket\.obj\.pieces\.json does not hold convex pieces"):
        register_mesh(copy, name="broken")


@pytest.mark.skipif(importlib.util.find_spec("coacd") is not None, reason="CoACD is installed")
def test_without_pieces_and_library_it_is_refused_in_one_line(copy):
    copy.with_name("bracket.obj.pieces.json").unlink()
    with pytest.raises(EtudeError, match=r"pieces of bracket\.obj are not there .* pip install 'etude\[meshes\]'"):
        register_mesh(copy, name="without")


@needs_coacd
def test_pieces_that_are_found_are_written_beside_and_the_same_again(copy):
    written = decompose(copy)
    first = written.read_text()
    assert written.name == "bracket.obj.pieces.json" and decompose(copy).read_text() == first
    found = [np.array(p) for p in json.loads(first)["pieces"]]
    assert 2 <= len(found) <= 6 and np.ptp(np.vstack(found), axis=0) == pytest.approx((8, 6, 3), abs=0.01)
    written.unlink()
    assert len(register_mesh(copy, name="decomposed", scale=0.01).pieces) == len(found) and written.exists()


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_a_scale_must_be_positive(scale):
    with pytest.raises(EtudeError, match=r"scale is how many metres a unit of bracket\.obj is"):
        register_mesh(BRACKET, name="scaled", scale=scale)


def test_a_shape_of_the_catalogue_is_not_replaced():
    with pytest.raises(EtudeError, match=rf"^{__name__}: etude\.catalog\.solids has the shape 'cube' already"):
        register_mesh(BRACKET, name="cube", scale=0.01)
