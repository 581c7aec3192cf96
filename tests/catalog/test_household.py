"""Household things: sizes as published, sound meshes, honest collision, and rest, hold and sweep in real physics."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from every import every
from scipy.spatial import ConvexHull

from etude.catalog.colours import is_colour
from etude.catalog.household import DISTRACTORS, YCB, default_texture
from etude.catalog.registry import default_size, shape, shapes_in
from etude.catalog.shape import Piece, Shape
from etude.catalog.textures import texture_names
from etude.pose import Vec3, matrix

NAMES = shapes_in("household")
# Things that roll off whatever lies under them; nothing is asked of their rest.
ROLLERS = {
    "lemon", "orange", "plum", "large marker", "mini soccer ball", "softball", "baseball", "tennis ball", "racquetball", "golf ball",
    "marbles a", "marbles b",
}  # fmt: skip
CONTAINERS = [name for name in NAMES if shape(name).cavity is not None]

# Metres, from the YCB paper (or its orders of axes turned to the usual pose), VLMbench and HiMan-Bench.
STATED: dict[str, Vec3] = {
    "master chef can": (0.102, 0.102, 0.139),
    "cracker box": (0.060, 0.158, 0.210),
    "sugar box": (0.038, 0.089, 0.175),
    "tomato soup can": (0.066, 0.066, 0.101),
    "mustard bottle": (0.058, 0.095, 0.190),
    "tuna fish can": (0.085, 0.085, 0.033),
    "pudding box": (0.110, 0.089, 0.035),
    "gelatin box": (0.085, 0.073, 0.028),
    "potted meat can": (0.050, 0.097, 0.082),
    "apple": (0.075, 0.075, 0.075),
    "lemon": (0.054, 0.068, 0.054),
    "ycb bowl": (0.159, 0.159, 0.053),
    "ycb plate": (0.258, 0.258, 0.024),
    "ycb sponge": (0.072, 0.114, 0.014),
    "wood block": (0.085, 0.085, 0.200),
    "scissors": (0.087, 0.200, 0.014),
    "padlock": (0.047, 0.065, 0.024),
    "large marker": (0.018, 0.121, 0.018),
    "adjustable wrench": (0.055, 0.205, 0.005),
    "medium clamp": (0.090, 0.115, 0.027),
    "large clamp": (0.125, 0.165, 0.032),
    "extra large clamp": (0.165, 0.213, 0.037),
    "softball": (0.096, 0.096, 0.096),
    "foam brick": (0.050, 0.075, 0.050),
    "colored wood block b": (0.026, 0.026, 0.026),
    "rubiks cube": (0.057, 0.057, 0.057),
    "cups a": (0.055, 0.055, 0.060),
    "cups j": (0.100, 0.100, 0.078),
    "pencil": (0.0175, 0.328, 0.0153),
    "pencil basket": (0.0924, 0.0924, 0.1556),
    "sponge": (0.0579, 0.125, 0.0328),
    "mug 1": (0.139, 0.100, 0.108),
    "mug 2": (0.134, 0.098, 0.113),
    "mug 3": (0.188, 0.117, 0.159),
    "mug 4": (0.138, 0.107, 0.097),
    "mug 5": (0.123, 0.088, 0.133),
    "mug 6": (0.140, 0.101, 0.107),
    "strawberry jello box": (0.0271, 0.0729, 0.0857),
    "spam": (0.10, 0.05, 0.08),
    "sugar": (0.035, 0.09, 0.175),
    "broom": (0.274, 0.240, 0.036),
    "broom holder": (0.20, 0.10, 0.10),
    "dustpan pan": (0.274, 0.218, 0.083),
    "rubbish": (0.050, 0.087, 0.034),
}


# ------------------------------------------------------------------------------------------------ the list


def test_there_are_78_distractors_with_names_of_their_own() -> None:
    assert len(DISTRACTORS) == len(set(DISTRACTORS)) == len(YCB) == 78
    assert set(DISTRACTORS) <= set(NAMES)


def test_distractors_are_in_the_order_of_their_ids() -> None:
    whole = [*range(2, 20), 21, 22, *range(24, 27), *range(28, 34), *range(35, 39), 40, 42, 43, 44, 48, *range(50, 60), 61, 62, 71, 77]
    lettered = {63: "ab", 65: "abcdefghij", 70: "ab", 72: "abcde", 73: "abcdefg"}
    ids = [f"{n:03d}" for n in whole] + [f"{n:03d}-{letter}" for n, letters in lettered.items() for letter in letters]
    assert list(YCB) == sorted(ids)
    assert list(YCB.values()) == list(DISTRACTORS)
    assert YCB["024"] == "ycb bowl" and YCB["065-a"] == "cups a" and YCB["077"] == "rubiks cube"


def test_no_two_things_have_the_same_mesh() -> None:
    prints = {(shape(name).mesh.vertices.tobytes(), shape(name).mesh.faces.tobytes()) for name in NAMES}
    assert len(prints) == len(NAMES)


def test_every_thing_has_a_colour_or_texture_of_the_catalogue() -> None:
    assert set(default_texture) == set(NAMES)
    known = set(texture_names())
    assert [t for t in default_texture.values() if not is_colour(t) and t not in known] == []


@every("name", STATED)
def test_sizes_are_those_of_the_sources(name: str) -> None:
    assert default_size(name) == STATED[name]


# ------------------------------------------------------------------------------------------------ meshes


@every("name", NAMES)
def test_the_mesh_fills_its_bounding_box_about_the_origin(name: str) -> None:
    for size in (default_size(name), (0.11, 0.07, 0.09)):
        lower, upper = shape(name, size).bounds
        np.testing.assert_allclose(upper, np.asarray(size) / 2, atol=1e-9)
        np.testing.assert_allclose(lower, -np.asarray(size) / 2, atol=1e-9)


@every("name", NAMES)
def test_faces_and_unit_normals_look_outwards(name: str) -> None:
    mesh = shape(name).mesh
    assert mesh.mass_properties()[0] > 0
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-9)
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    outward = np.cross(b - a, c - a)
    assert np.linalg.norm(outward, axis=1).min() > 1e-13
    assert np.einsum("ij,ikj->ik", outward, mesh.normals[mesh.faces]).min() > 0


@every("name", NAMES)
def test_meshes_stay_small(name: str) -> None:
    assert len(shape(name).mesh.faces) <= (700 if name in CONTAINERS else 400)


def test_symmetry_is_true() -> None:
    for name in NAMES:
        s = shape(name)
        turns = s.symmetry or 4
        if turns == 1:
            continue
        angle = 2 * math.pi / turns
        R = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
        turned = s.mesh.vertices @ R.T
        gap = np.linalg.norm(turned[:, None] - s.mesh.vertices[None], axis=-1).min(1).max()
        assert gap < 0.0015, f"{name} is not {turns}-fold: off by {gap * 1000:.1f} mm"


# ------------------------------------------------------------------------------------------------ collision


@every("name", NAMES)
def test_pieces_are_few_and_fill_the_bounding_box(name: str) -> None:
    s = shape(name)
    assert len(s.pieces) <= (17 if s.cavity else 8)
    points = np.vstack([p.support() for p in s.pieces])
    lower, upper = s.bounds
    assert (points.min(0) > lower - 0.0015).all() and (points.max(0) < upper + 0.0015).all()
    assert (points.min(0) < lower + 0.003).all() and (points.max(0) > upper - 0.003).all()


@every("name", NAMES)
def test_everything_seen_can_be_touched_nearby(name: str) -> None:
    s = shape(name)
    shells = [ConvexHull(p.support()).equations for p in s.pieces]
    outside = [(s.mesh.vertices @ e[:, :3].T + e[:, 3]).max(1) for e in shells]
    assert np.min(outside, axis=0).max() < 0.008


@every("name", sorted(set(NAMES) - ROLLERS))
def test_the_usual_pose_is_a_stable_rest(name: str) -> None:
    x, y, z = default_size(name)
    for scale in (1.0, 0.75, 1.25):  # HiMan-Bench's range
        s = shape(name, (scale * x, scale * y, scale * z))
        assert s.rests and s.rests[0].rotation == (1.0, 0.0, 0.0, 0.0)
        assert s.rests[0].height == pytest.approx(scale * z / 2, abs=1e-3)


# ------------------------------------------------------------------------------------------------ physics


def _add(spec: mujoco.MjSpec, name: str, s: Shape, position: Vec3, free: bool = True) -> None:
    """A body of the shape's pieces with the shape's own mass and inertia."""
    mass, centre, inertia = s.mass_properties
    full = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    body = spec.worldbody.add_body(name=name, pos=position, mass=mass, ipos=centre, fullinertia=full, explicitinertial=True)
    if free:
        body.add_freejoint()
    for i, piece in enumerate(s.pieces):
        geom = body.add_geom(condim=4, friction=[0.8, 0.005, 0.0005])
        _form(spec, geom, piece, f"{name}/{i}")


def _form(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, piece: Piece, name: str) -> None:
    if piece.points is not None:
        spec.add_mesh(name=name, uservert=piece.points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name
        return
    geom.type = getattr(mujoco.mjtGeom, f"mjGEOM_{piece.kind.upper()}")
    geom.size, geom.pos, geom.quat = piece.size, piece.position, piece.rotation


def _world(timestep: float = 0.002) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.timestep = timestep
    ground = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    ground.condim = 4
    return spec


def _add_cube(spec: mujoco.MjSpec, name: str, position: Vec3) -> None:
    cube = spec.worldbody.add_body(name=name, pos=position)
    cube.add_freejoint()
    cube.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.005, 0.005, 0.005], mass=0.001, condim=4)


@pytest.fixture(scope="module")
def settled() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Every thing that does not roll, dropped from 1 mm, a second later."""
    spec = _world()
    for i, name in enumerate(sorted(set(NAMES) - ROLLERS)):
        _add(spec, name, shape(name), (i % 10, i // 10, shape(name).size[2] / 2 + 0.001))
    model = spec.compile()
    data = mujoco.MjData(model)
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    return model, data


@every("name", sorted(set(NAMES) - ROLLERS))
def test_dropped_things_stay_as_they_are(name: str, settled: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    body, start = settled[1].body(name), settled[0].body(name).pos
    tilt = math.degrees(math.acos(min(1.0, matrix(body.xquat)[2, 2])))
    drift = float(np.linalg.norm(body.xpos[:2] - start[:2]))
    assert tilt < 5, f"leans by {tilt:.1f}°"
    assert drift < 0.005, f"drifts by {drift * 1000:.1f} mm"
    assert abs(body.xpos[2] - start[2]) < 0.003


def test_containers_hold_a_cube() -> None:
    assert {"ycb bowl", "ycb mug", "ycb plate", "pencil basket", "pitcher base"} < set(CONTAINERS)
    assert {f"mug {i}" for i in range(1, 7)} | {f"cups {c}" for c in "abcdefghij"} < set(CONTAINERS)
    spec = _world()
    for i, name in enumerate(CONTAINERS):
        s = shape(name)
        assert s.cavity is not None
        lower, upper = s.cavity
        x, y = (lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2
        height = s.size[2] / 2
        _add(spec, name, s, (i % 10, i // 10, height))
        _add_cube(spec, f"{name} cube", (i % 10 + x, i // 10 + y, height + lower[2] + 0.02))
    model = spec.compile()
    data = mujoco.MjData(model)
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    for name in CONTAINERS:
        lower, upper = shape(name).cavity or ((0, 0, 0), (0, 0, 0))
        cube = data.body(f"{name} cube").xpos - data.body(name).xpos
        assert (cube[:2] > lower[:2]).all() and (cube[:2] < upper[:2]).all(), name
        assert cube[2] == pytest.approx(lower[2] + 0.005, abs=0.0015), name


def test_cavities_lie_inside_their_vessels() -> None:
    for name in CONTAINERS:
        s = shape(name)
        lower, upper = np.asarray(s.cavity)
        assert (lower > s.bounds[0]).all() and (upper < s.bounds[1] + 1e-9).all(), name
        inside = np.array([(x, y, z) for x in (lower[0], upper[0]) for y in (lower[1], upper[1]) for z in (lower[2] + 0.001, upper[2])])
        for piece in s.pieces:
            equations = ConvexHull(piece.support()).equations
            depth = -(inside @ equations[:, :3].T + equations[:, 3]).max(1)
            assert depth.max() < 0.0015, name


def test_dirt_can_be_swept_into_the_dustpan() -> None:
    spec = _world(0.001)
    _add(spec, "dustpan", shape("dustpan"), (0.0, 0.0, shape("dustpan").size[2] / 2))
    for i, x in enumerate((-0.08, 0.0, 0.05)):
        _add_cube(spec, f"dirt {i}", (x, 0.14, 0.006))
    pusher = spec.worldbody.add_body(name="pusher", pos=[0.0, 0.17, 0.024], mocap=True)
    pusher.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.12, 0.004, 0.02])
    model = spec.compile()
    data = mujoco.MjData(model)
    while data.time < 1.5:
        data.mocap_pos[0, 1] = 0.17 - 0.1 * min(data.time, 1.2)
        mujoco.mj_step(model, data)
    for i in range(3):
        x, y, z = data.body(f"dirt {i}").xpos
        assert abs(x) < 0.133 and -0.105 < y < 0.06
        assert z == pytest.approx(0.007, abs=0.001)
    assert np.linalg.norm(data.body("dustpan").xpos[:2]) < 0.01


def test_a_resized_thing_keeps_its_density() -> None:
    usual, double = shape("tomato soup can"), shape("tomato soup can", [2 * v for v in default_size("tomato soup can")])
    assert double.mass_properties[0] == pytest.approx(8 * usual.mass_properties[0])
    assert double.pieces[0].kind == "cylinder"
    assert shape("mug 1", (0.2, 0.1, 0.1)).symmetry == 1
    assert shape("tomato soup can", (0.05, 0.06, 0.1)).symmetry == 2


def test_hands_fit_what_they_hold() -> None:
    assert shape("cracker box").hands == {"suction", "fingers"}
    assert shape("pear").hands == {"fingers"}
    assert shape("mini soccer ball").hands == {"suction"}
    assert "fingers" not in shape("broom holder").hands
    for name in ("broom", "rubbish", "pencil", "sponge", "spam", "sugar", "strawberry jello box", *(f"mug {i}" for i in range(1, 7))):
        assert "fingers" in shape(name).hands, name
