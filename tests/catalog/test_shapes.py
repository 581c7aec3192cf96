"""Claims about every shape of the catalogue (household things have their own tests beside these)."""

from __future__ import annotations

import itertools
import math

import mujoco
import numba
import numpy as np
import pytest
from every import every
from scipy.spatial import ConvexHull

from etude.catalog.mesh import Mesh
from etude.catalog.registry import default_size, group_names, group_of, shape, shape_names, shapes_in
from etude.catalog.shape import Piece, Shape
from etude.catalog.sorter import HOLES
from etude.catalog.suction import suction_spot
from etude.names import EtudeError
from etude.pose import matrix

OWN = tuple(n for g in ("fixture", "flat", "letter", "primitive", "vessel", "zone") for n in shapes_in(g))
MERGED = {"pallet", "pan", "shape sorter lid"}  # of several closed meshes
ROLLING = {"sphere", "capsule", "rod"}
VESSELS = (*shapes_in("vessel"), "shape sorter box")
SOFTNESS = 0.006  # s, with which the worlds of the platform push back
STRETCH = np.array([1.35, 0.8, 1.2])
TOLERANCE = 0.0015
# A bowl's wall has three steps and two tiers of pieces; thin tiers keep it cheap, so it may stray a little further.
LOOSE = {"bowl": 0.0025}


# ------------------------------------------------------------------------------------------------ measuring


def inside_mesh(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """Which points (N, 3) have the surface wound around them: crossings above each, counted with their direction."""
    return _winding(mesh.vertices[mesh.faces], np.ascontiguousarray(points)) > 0


@numba.njit(cache=True)
def _winding(corners, points):
    (F, _, _), (N, _) = corners.shape, points.shape
    count = np.zeros(N, np.int64)
    for f in range(F):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners[f, 0], corners[f, 1], corners[f, 2]
        twice = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(twice) <= 1e-15:  # it stands upright
            continue
        for n in range(N):
            x, y = points[n, 0], points[n, 1]
            u = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / twice
            v = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / twice
            if u >= 0 and v >= 0 and u + v <= 1 and u * az + v * bz + (1 - u - v) * cz > points[n, 2]:
                count[n] += 1 if twice > 0 else -1
    return count


def inside_piece(piece: Piece, points: np.ndarray) -> np.ndarray:
    if piece.points is not None:
        shell = ConvexHull(piece.points)
        return np.all(points @ shell.equations[:, :3].T + shell.equations[:, 3] <= 1e-9, axis=1)
    p = (points - piece.position) @ matrix(piece.rotation)
    a, b, c = piece.size
    if piece.kind == "box":
        return np.all(np.abs(p) <= np.array([a, b, c]) + 1e-9, axis=1)
    if piece.kind == "cylinder":
        return (np.hypot(p[:, 0], p[:, 1]) <= a) & (np.abs(p[:, 2]) <= b)
    if piece.kind == "capsule":
        return np.linalg.norm(p - np.column_stack([0 * p[:, :2], np.clip(p[:, 2], -b, b)]), axis=1) <= a
    radii = np.array([a, a, a]) if piece.kind == "sphere" else np.array([a, b, c])
    return np.linalg.norm(p / radii, axis=1) <= 1


def inside_pieces(pieces: tuple[Piece, ...], points: np.ndarray) -> np.ndarray:
    return np.any([inside_piece(p, points) for p in pieces], axis=0)


def grid(thing: Shape, steps: int = 22, levels: int = 7) -> np.ndarray:
    """Points all over the bounding box, off the planes where edges lie."""
    lower, upper = thing.bounds
    axes = [lo + (hi - lo) * (np.arange(n) + 0.4137) / n for lo, hi, n in zip(lower, upper, (steps, steps, levels), strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3) + np.array([1.3e-6, 2.7e-6, 0.7e-6])


def strays(points: np.ndarray, inside, reach: float) -> np.ndarray:
    """Those of the points that have nothing ``inside`` within ``reach``."""
    lost = points[~inside(points)]
    directions = np.array([d for d in itertools.product((-1, 0, 1), repeat=3) if any(d)], float)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for step in directions * reach:
        for share in (1.0, 0.5):
            if len(lost):
                lost = lost[~inside(lost + share * step)]
    return lost


def body_in(spec: mujoco.MjSpec, thing: Shape, name: str, height: float, free: bool) -> None:
    body = spec.worldbody.add_body(name=name, pos=[0, 0, height])
    if free:
        body.add_freejoint()
    mass, centre, inertia = thing.mass_properties
    i = inertia
    body.mass, body.ipos, body.explicitinertial = mass, centre, True
    body.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
    kinds = {"box": "BOX", "cylinder": "CYLINDER", "sphere": "SPHERE", "capsule": "CAPSULE", "ellipsoid": "ELLIPSOID"}
    for k, piece in enumerate(thing.pieces):
        if piece.points is not None:
            spec.add_mesh(name=f"{name}{k}", uservert=piece.points.ravel().tolist(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"{name}{k}")
        else:
            kind = getattr(mujoco.mjtGeom, f"mjGEOM_{kinds[piece.kind]}")
            geom = body.add_geom(type=kind, size=list(piece.size), pos=list(piece.position), quat=list(piece.rotation))
        geom.solref[0] = SOFTNESS


def on_the_floor() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1])
    return spec


# ------------------------------------------------------------------------------------------------ the table


def test_an_unknown_name_is_answered_with_the_nearest_one():
    with pytest.raises(EtudeError, match="did you mean 'hexagon'"):
        shape("hexagonn")
    with pytest.raises(EtudeError, match="group"):
        shapes_in("letters")


@pytest.mark.parametrize("size", [(0.1, 0.1), (0.1, 0.1, 0.0), (0.1, -0.1, 0.1), (0.1, math.nan, 0.1), (0.1, 0.1, math.inf)])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(EtudeError, match="three positive lengths"):
        shape("cube", size)


def test_the_same_shape_is_made_once():
    assert shape("star") is shape("star")
    assert shape("star", [0.1, 0.1, 0.05]) is shape("star", (0.1, 0.1, 0.05))


def test_names_are_sorted_and_every_one_has_a_group():
    assert list(shape_names()) == sorted(shape_names())
    assert {group_of(n) for n in shape_names()} == set(group_names())
    assert all(shape(n).name == n for n in OWN)


def test_the_whole_alphabet_is_there():
    assert {f"letter {c}" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZt"} == set(shapes_in("letter"))


# ------------------------------------------------------------------------------------------------ meshes


@every("name", OWN)
def test_the_bounding_box_is_the_wanted_one(name):
    for size in (default_size(name), tuple(STRETCH * default_size(name))):
        thing = shape(name, size)
        lower, upper = thing.bounds
        assert np.allclose(upper, np.array(size) / 2, atol=1e-9, rtol=0)
        assert np.allclose(lower, -np.array(size) / 2, atol=1e-9, rtol=0)


@pytest.mark.parametrize("size", [(0.3, 0.2, 0.001), (0.01, 0.01, 0.01), (1.0, 0.5, 0.4), (0.3, 0.005, 0.3)])
def test_every_shape_can_be_made_in_any_size(size):
    for name in OWN:
        thing = shape(name, size)
        assert np.allclose(thing.size, size, atol=1e-9), name
        assert thing.mass_properties[0] > 0, name


@every("name", OWN)
def test_the_surface_is_closed_and_faces_outwards(name):
    for size in (default_size(name), tuple(STRETCH * default_size(name))):
        mesh = shape(name, size).mesh
        assert mesh.mass_properties()[0] > 0
        _, welded = np.unique(np.round(mesh.vertices, 9), axis=0, return_inverse=True)
        directed: dict[tuple[int, int], int] = {}
        for face in welded.reshape(-1)[mesh.faces]:
            for a, b in zip(face, np.roll(face, -1), strict=True):
                if a != b:
                    directed[a, b] = directed.get((a, b), 0) + 1
        assert all(directed.get((b, a), 0) == n for (a, b), n in directed.items())
        if name not in MERGED:
            assert max(directed.values()) == 1


@every("name", OWN)
def test_normals_are_unit_and_agree_with_the_faces(name):
    mesh = shape(name).mesh
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-9)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    real = area > 1e-10
    across = across[real] / area[real, None]
    for k in range(3):
        assert np.einsum("ij,ij->i", across, mesh.normals[mesh.faces[real, k]]).min() > 0.5


@every("name", OWN)
def test_meshes_and_pieces_stay_within_their_budget(name):
    thing = shape(name)
    triangles, pieces = (700, 27) if group_of(name) == "vessel" else (290, 14)
    if name == "shape sorter lid":
        pieces = 36
    assert len(thing.mesh.faces) <= triangles
    assert len(thing.pieces) <= pieces


@every("name", OWN)
def test_texture_coordinates_are_metres(name):
    mesh = shape(name).mesh
    edges = mesh.faces[:, [0, 1]]
    length = np.linalg.norm(np.diff(mesh.vertices[edges], axis=1)[:, 0], axis=1)
    mapped = np.linalg.norm(np.diff(mesh.uv[edges], axis=1)[:, 0], axis=1)
    real = length > 1e-4
    assert 0.6 < np.median(mapped[real] / length[real]) < 1.6


# ------------------------------------------------------------------------------------------------ pieces


@every("name", OWN)
def test_pieces_fill_the_mesh_and_nothing_else(name):
    thing = shape(name)
    reach = LOOSE.get(name, TOLERANCE)
    points = grid(thing)
    solid, touch = inside_mesh(thing.mesh, points), inside_pieces(thing.pieces, points)
    assert len(strays(points[solid], lambda p: inside_pieces(thing.pieces, p), reach)) == 0
    assert len(strays(points[touch], lambda p: inside_mesh(thing.mesh, p), reach)) == 0


@every("name", OWN)
def test_symmetry_is_the_true_one(name):
    thing = shape(name)
    centre = thing.mass_properties[1]
    points = grid(thing, steps=40, levels=3)
    points = points[inside_mesh(thing.mesh, points)]

    def differs(angle: float, share: float) -> bool:
        """Does the turn carry more than this share of the points out of the mesh, by more than the tolerance?"""
        c, s = math.cos(angle), math.sin(angle)
        turned = (points - centre) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + centre
        out = turned[~inside_mesh(thing.mesh, turned)]
        found, enough = 0, share * len(points)
        for k in range(16):  # a sixteenth of them shows most differences
            if len(out) > enough >= found:
                found += len(strays(out[k::16], lambda p: inside_mesh(thing.mesh, p), TOLERANCE))
        return found > enough

    if thing.symmetry == 0:
        assert not any(differs(a, 0.002) for a in (1.0, 2.0, 3.0))
        return
    assert not differs(2 * math.pi / thing.symmetry, 0.002)
    for n in range(thing.symmetry + 1, 9):
        assert differs(2 * math.pi / n, 0.005), f"it also repeats every {n}th of a turn"


def test_stretching_breaks_symmetry_and_keeps_walls():
    assert shape("hexagon").symmetry == 6
    assert shape("hexagon", (0.1, 0.2, 0.03)).symmetry == 2
    assert shape("disc", (0.1, 0.2, 0.03)).symmetry == 2
    wide, usual = shape("container", (0.4, 0.3, 0.1)), shape("container")
    assert min(wide.pieces[1].size) == pytest.approx(min(usual.pieces[1].size))


# ------------------------------------------------------------------------------------------------ hands


def test_hands_follow_the_shape_and_its_size():
    assert shape("cube").hands == {"suction", "fingers"}
    assert shape("rod").hands == {"fingers"}
    assert "fingers" not in shape("disc").hands
    assert "fingers" in shape("disc", (0.05, 0.05, 0.03)).hands
    for name in ("cube", "cylinder", "star", "moon", "triangular prism"):  # VLMbench's pieces, for a parallel hand
        assert "fingers" in shape(name, (0.05, 0.045, 0.04)).hands


@every("name", [*shapes_in("letter"), *shapes_in("flat")])
def test_a_suction_cup_finds_level_material_on_every_flat_thing(name):
    thing = shape(name)
    spot = suction_spot(thing)
    assert spot is not None
    assert spot[2] == pytest.approx(thing.size[2] / 2, abs=1e-9)
    angle = np.linspace(0, 2 * math.pi, 8, endpoint=False)
    rim = np.array(spot) + np.column_stack([0.004 * np.cos(angle), 0.004 * np.sin(angle), np.full(8, -0.002)])
    assert inside_mesh(thing.mesh, rim).all()


# ------------------------------------------------------------------------------------------------ physics


@every("name", OWN)
def test_the_usual_pose_is_a_stable_rest(name):
    rests = shape(name).rests
    if name in ROLLING:
        return
    assert rests[0].rotation == (1, 0, 0, 0)
    assert rests[0].height == pytest.approx(shape(name).size[2] / 2, abs=1e-6)


@every("name", OWN)
def test_it_stays_where_it_is_put_down(name):
    thing = shape(name)
    spec = on_the_floor()
    body_in(spec, thing, "it", thing.size[2] / 2 + 0.001, free=True)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    tilt = math.degrees(math.acos(min(1.0, matrix(data.qpos[3:7])[2, 2])))
    assert tilt < 3
    assert np.linalg.norm(data.qpos[:2]) < 0.003
    assert abs(data.qpos[2] - thing.size[2] / 2) < 0.0015


@every("name", VESSELS)
def test_a_small_cube_dropped_into_a_vessel_stays_inside(name):
    thing = shape(name)
    assert thing.cavity is not None
    lower, upper = (np.array(c) for c in thing.cavity)
    spec = on_the_floor()
    up = thing.size[2] / 2
    body_in(spec, thing, "vessel", up, free=False)
    cube = shape("cube", (0.015, 0.015, 0.015))
    start = (lower + upper) / 2 + 0.2 * (upper - lower) * [1, 1, 0]
    body_in(spec, cube, "cube", 0.0, free=True)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:3] = [start[0], start[1], upper[2] + up + 0.015]
    mujoco.mj_step(model, data, 1000)
    place = data.qpos[:3] - [0, 0, up]
    assert np.linalg.norm(data.qvel[:3]) < 0.01
    assert np.all(place[:2] > lower[:2] - 0.01)
    assert np.all(place[:2] < upper[:2] + 0.01)
    assert lower[2] + 0.006 < place[2] < upper[2]


@every("hole", HOLES)
def test_a_sorter_piece_passes_its_hole_with_room_to_spare(hole):
    lid = shape("shape sorter lid")
    c, s = math.cos(hole.yaw), math.sin(hole.yaw)
    plan = shape(hole.shape, (*hole.size, 0.04)).mesh.vertices[:, :2] @ np.array([[c, s], [-s, c]]) + hole.position
    for shift in 0.6 * hole.room * np.array([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        points = np.column_stack([plan + shift, np.zeros(len(plan))])
        assert not inside_pieces(lid.pieces, points).any()
        assert not inside_mesh(lid.mesh, points).any()
