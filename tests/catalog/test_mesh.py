"""Claims about the ways of making meshes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from every import every

from etude.catalog.mesh import Mesh, box, capsule, chamfered_box, cylinder, ellipsoid, facets, lathe, merge, prism, tube, turned
from etude.catalog.polygon import Outline, circle, rectangle
from etude.pose import axis_quat

CIRCLE = np.linspace(0, 2 * math.pi, 16, endpoint=False)
SOLIDS: dict[str, tuple[Mesh, float]] = {
    "box": (box((0.1, 0.2, 0.3)), 0.006),
    "chamfered box": (chamfered_box((0.1, 0.2, 0.3), 0.001), 0.006),
    "cylinder": (cylinder(0.05, 0.2, 64), math.pi * 0.05**2 * 0.2),
    "bevelled cylinder": (cylinder(0.05, 0.2, 64, bevel=0.001), math.pi * 0.05**2 * 0.2),
    "frustum": (cylinder(0.05, 0.2, 64, top_radius=0.02), math.pi * 0.2 * (0.05**2 + 0.05 * 0.02 + 0.02**2) / 3),
    "ellipsoid": (ellipsoid((0.1, 0.05, 0.03), 48), 4 / 3 * math.pi * 0.1 * 0.05 * 0.03),
    "capsule": (capsule(0.03, 0.1, 48), math.pi * 0.03**2 * 0.1 + 4 / 3 * math.pi * 0.03**3),
    "pipe": (lathe([(0.05, 0), (0.05, 0.1), (0.04, 0.1), (0.04, 0), (0.05, 0)], 64), math.pi * (0.05**2 - 0.04**2) * 0.1),
    "tube": (tube([(0, 0, 0), (0, 0, 0.1), (0, 0, 0.3)], 0.02, 48), math.pi * 0.02**2 * 0.3),
    "closed tube": (
        tube(0.1 * np.column_stack([np.cos(CIRCLE), np.sin(CIRCLE), 0 * CIRCLE]), 0.01, 32, closed=True),
        2 * math.pi**2 * 0.1 * 0.01**2,
    ),
    "prism with a hole": (prism(Outline.of(rectangle(0.2, 0.1), circle(0.03, 64)), 0.05), (0.02 - math.pi * 0.03**2) * 0.05),
    "bevelled prism": (prism(Outline.of(rectangle(0.2, 0.1)), 0.05, bevel=0.0005), 0.001),
}


def directed_edges(mesh: Mesh) -> dict[tuple[int, int], int]:
    _, welded = np.unique(np.round(mesh.vertices, 9), axis=0, return_inverse=True)
    count: dict[tuple[int, int], int] = {}
    for face in welded.reshape(-1)[mesh.faces]:
        for a, b in zip(face, np.roll(face, -1), strict=True):
            if a != b:
                count[a, b] = count.get((a, b), 0) + 1
    return count


@every("name", SOLIDS)
def test_the_surface_is_closed(name):
    edges = directed_edges(SOLIDS[name][0])
    assert all(n == 1 and edges.get((b, a)) == 1 for (a, b), n in edges.items())


@every("name", SOLIDS)
def test_the_volume_is_that_of_the_book(name):
    mesh, volume = SOLIDS[name]
    assert mesh.mass_properties()[0] == pytest.approx(volume, rel=0.04)


@every("name", SOLIDS)
def test_normals_point_out_of_the_faces(name):
    mesh = SOLIDS[name][0]
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    real = np.linalg.norm(across, axis=1) > 1e-12
    for k in range(3):
        assert np.all(np.einsum("ij,ij->i", across[real], mesh.normals[mesh.faces[real, k]]) > 0)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)


def test_mass_properties_are_those_of_a_cuboid_wherever_it_is():
    x, y, z = 0.1, 0.2, 0.3
    turn = axis_quat((1, 2, 3), 0.7)
    volume, centre, inertia = box((x, y, z)).moved((1, 2, 3), turn).mass_properties()
    assert volume == pytest.approx(x * y * z)
    assert np.allclose(centre, (1, 2, 3))
    wanted = volume / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    assert np.allclose(np.sort(np.linalg.eigvalsh(inertia)), np.sort(wanted))


def test_a_chamfer_keeps_the_extents_and_takes_off_the_edges():
    mesh = chamfered_box((0.1, 0.1, 0.1), 0.01)
    assert np.allclose(np.ptp(mesh.vertices, axis=0), 0.1)
    assert len(mesh.faces) == 44
    assert np.abs(mesh.vertices).sum(1).max() == pytest.approx(0.13)


def test_a_bevel_may_be_on_the_upper_rim_only():
    mesh = prism(Outline.of(rectangle(0.1, 0.1)), 0.05, bevel=0.002, lower_bevel=0.0)
    low, high = (mesh.vertices[np.isclose(mesh.vertices[:, 2], z)] for z in (-0.025, 0.025))
    assert np.ptp(low[:, 0]) == pytest.approx(0.1)
    assert np.ptp(high[:, 0]) == pytest.approx(0.096)
    assert all(n == 1 for n in directed_edges(mesh).values())


def test_texture_coordinates_of_boxes_and_facets_are_metres():
    pyramid = facets(
        [
            [(0, 0, 0), (0, 1, 0), (1, 0, 0)],
            [(0, 0, 0), (1, 0, 0), (0, 0, 1)],
            [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
            [(0, 1, 0), (0, 0, 0), (0, 0, 1)],
        ]
    )
    assert pyramid.mass_properties()[0] == pytest.approx(1 / 6)
    for mesh in (box((0.1, 0.2, 0.3)), chamfered_box((0.1, 0.2, 0.3), 0.01), pyramid):
        for i, j in ((0, 1), (1, 2)):
            a, b = mesh.faces[:, i], mesh.faces[:, j]
            lengths = np.linalg.norm(mesh.vertices[a] - mesh.vertices[b], axis=1)
            assert np.allclose(np.linalg.norm(mesh.uv[a] - mesh.uv[b], axis=1), lengths)


def test_a_stretched_mesh_keeps_unit_normals_at_right_angles():
    ball = ellipsoid((1, 1, 1), 32).scaled((1, 2, 3))
    gradient = ball.vertices / np.array([1, 4, 9])
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", gradient, ball.normals).min() > 0.99


def test_merged_meshes_keep_all_their_faces():
    both = merge([box((1, 1, 1)), box((1, 1, 1), (3, 0, 0))])
    assert both.mass_properties()[0] == pytest.approx(2)


@pytest.mark.parametrize(("axis", "wanted"), [("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))])
def test_turned_lays_the_upright_axis_along_another(axis, wanted):
    rod = cylinder(0.01, 1.0).moved(rotation=turned(axis))
    assert np.allclose(np.ptp(rod.vertices, axis=0) > 0.5, np.array(wanted) > 0.5)
