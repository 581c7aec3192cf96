"""Coverage, clipping and depth: which triangle is seen where, and how far away it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from etude.catalog.mesh import Mesh, box, ellipsoid
from etude.names import EtudeError
from etude.pose import Array, Pose, matrix, yaw_quat
from etude.render import Renderer
from etude.render.geometry import pack, triangles
from etude.render.raster import Projection, clear, draw, scratch
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import Visual

DOWN = look_at((0, 0, 1), (0, 0, 0), up=(0, 1, 0))


def sheet(
    vertices: list[tuple[float, float, float]], faces: list[tuple[int, int, int]], normal: tuple[float, float, float] = (0, 0, 1)
) -> Mesh:
    v = np.array(vertices, float).reshape(-1, 3)
    return Mesh(v, np.tile(np.array(normal, float), (len(v), 1)), v[:, :2].copy(), np.array(faces, np.int32).reshape(-1, 3))


def hits(mesh: Mesh, width: int, height: int) -> Array:
    """How many triangles claim each pixel when they are drawn one by one, from one metre above."""
    total = np.zeros((height, width), int)
    rotation = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])
    view = Projection(np.array([0.0, 0, 1]), rotation, True, 100.0, width / 2, height / 2, 0.01, 10.0, width, height, 8, 128)
    for face in mesh.faces:
        geometry = pack([Visual(0, Mesh(mesh.vertices, mesh.normals, mesh.uv, face[None].copy()), "red")])
        geometry.points[:] = geometry.local_points
        geometry.centres[:] = geometry.local_centres
        nearness, owner = np.empty((height, width), np.float32), np.empty((height, width), np.int32)
        clear(view, nearness, owner)
        draw(view, triangles(geometry), np.ones(1, np.uint8), scratch(len(mesh.vertices)), nearness, owner)
        total += owner == 0
    return total


@pytest.mark.parametrize("seed", range(5))
def test_triangles_of_a_fan_cover_every_pixel_inside_exactly_once(seed: int) -> None:
    random = np.random.default_rng(seed)
    angles = np.sort(random.uniform(0, 2 * math.pi, 11))
    centre = random.uniform(-0.1, 0.1, 2)
    rim = [(0.3 * math.cos(a), 0.3 * math.sin(a), 0.0) for a in angles]
    fan = sheet([(*centre, 0.0), *rim], [(0, i + 1, (i + 1) % 11 + 1) for i in range(11)])
    outline = sheet(rim, [(0, i, i + 1) for i in range(1, 10)])
    count = hits(fan, 64, 64)
    assert set(np.unique(count)) == {0, 1}
    assert np.array_equal(count, hits(outline, 64, 64))  # the same polygon cut otherwise covers the same pixels


def test_edges_through_pixel_centres_belong_to_one_side_only() -> None:
    # At one metre 100 pixels are a metre, so these edges run exactly through centres of pixels.
    corners = [(-0.205, -0.205, 0.0), (0.195, -0.205, 0.0), (0.195, 0.195, 0.0), (-0.205, 0.195, 0.0)]
    count = hits(sheet(corners, [(0, 1, 2), (0, 2, 3)]), 64, 64)
    assert count.max() == 1
    assert count.sum() == 40 * 40


def test_a_closed_ball_has_no_pinholes() -> None:
    renderer = Renderer([Visual(0, ellipsoid((0.3, 0.3, 0.3), 200), "red", entity=9)], Lighting())
    shot = renderer.shoot(Camera("above", DOWN, size=(301, 301)))
    y, x = np.mgrid[:301, :301] + 0.5 - 150.5
    focal = 150.5 / math.tan(math.radians(22.5))
    inside = np.hypot(x, y) < focal * math.tan(math.asin(0.3)) - 1
    assert (shot.segmentation[inside] == 9).all()


@pytest.mark.parametrize("height", [0.02, 0.5, 3.0])
@pytest.mark.parametrize("pitch", [0.0, 0.3, 1.5])
def test_a_huge_floor_under_the_camera_has_exact_depth(height: float, pitch: float) -> None:
    floor = sheet([(-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0)], [(0, 1, 2), (0, 2, 3)])
    pose = look_at((0, 0, height), (math.cos(pitch), 0, height - math.sin(pitch)))
    camera = Camera("walker", pose, fov=90, size=(101, 101), far=1000.0)
    shot = Renderer([Visual(0, floor, "checkerboard", entity=1)], Lighting()).shoot(camera)
    y = (np.arange(101) + 0.5 - 50.5) / 50.5
    drop = math.sin(pitch) + y * math.cos(pitch)  # of the central ray of each row, per metre of depth
    expected = height / np.where(drop > 0, drop, np.nan)
    column = shot.depth[:, 50]
    ahead = expected * (math.cos(pitch) - y * math.sin(pitch))
    seen = (drop > 1e-9) & (np.abs(ahead) < 49.9)
    assert seen.sum() >= 40
    assert np.allclose(column[seen], expected[seen], rtol=1e-5, atol=1e-6)
    assert (column[drop < -1e-9] == 0).all()


def test_what_is_nearer_than_near_or_farther_than_far_is_not_seen() -> None:
    wall = Visual(0, box((2, 2, 0.001)), "red", entity=9)
    for distance, seen in ((0.4, False), (0.6, True), (1.4, True), (1.6, False)):
        pose = look_at((0, 0, distance + 0.0005), (0, 0, 0), up=(0, 1, 0))
        shot = Renderer([wall], Lighting()).shoot(Camera("eye", pose, size=(16, 16), near=0.5, far=1.5))
        assert (shot.segmentation == (9 if seen else 0)).all()


def test_a_tiny_field_of_view_of_a_large_thing_is_drawn_right() -> None:
    floor = sheet([(-50, -50, 0), (50, -50, 0), (50, 50, 0), (-50, 50, 0)], [(0, 1, 2), (0, 2, 3)])
    shot = Renderer([Visual(0, floor, "red", entity=1)], Lighting()).shoot(Camera("scope", DOWN, fov=0.02, size=(64, 64)))
    assert (shot.segmentation == 1).all()
    assert np.allclose(shot.depth, 1.0, atol=1e-6)


def test_depth_of_a_ball_is_analytic() -> None:
    radius, distance = 0.3, 1.0
    renderer = Renderer([Visual(0, ellipsoid((radius,) * 3, 256), "red", entity=9)], Lighting())
    shot = renderer.shoot(Camera("above", DOWN, size=(200, 200)))
    focal = 100 / math.tan(math.radians(22.5))
    y, x = (np.mgrid[:200, :200] + 0.5 - 100) / focal
    square = x * x + y * y + 1
    root = 1 - square * (distance**2 - radius**2)
    expected = (1 - np.sqrt(np.maximum(root, 0))) / square
    clear_of_rim = root > 0.01
    assert np.abs(shot.depth - expected)[clear_of_rim].max() < 2e-4  # 256 segments deviate by 23 µm at most, across their surface


def test_orthographic_pictures_are_exact() -> None:
    things = [Visual(0, box((0.2, 0.1, 0.3)), "red", Pose((0.1, 0.2, 0.15)), entity=9)]
    camera = Camera("plan", DOWN, fov=None, extent=1.0, size=(100, 100))
    shot = Renderer(things, Lighting()).shoot(camera)
    mask = shot.segmentation == 9
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    assert (columns.min(), columns.max(), rows.min(), rows.max()) == (50, 69, 25, 34)
    assert mask.sum() == 20 * 10
    assert np.allclose(shot.depth[mask], 0.7, atol=1e-6)


def test_a_camera_inside_a_closed_body_sees_through_it() -> None:
    visuals = [Visual(0, box((1, 1, 1)), "red", entity=9), Visual(0, box((0.1, 0.1, 0.1), (0, 0, -2)), "blue", entity=10)]
    shot = Renderer(visuals, Lighting()).shoot(Camera("inside", look_at((0, 0, 0), (0, 0, -1), up=(0, 1, 0)), size=(33, 33)))
    assert not (shot.segmentation == 9).any()
    assert shot.segmentation[16, 16] == 10


def test_nothing_and_degenerate_triangles_draw_without_harm() -> None:
    camera = Camera("eye", DOWN, size=(20, 10))
    empty = Renderer([], Lighting(background=(1.0, 0.0, 0.0))).shoot(camera, normals=True, supersample=True)
    assert (empty.rgb == (255, 0, 0)).all() and not empty.depth.any() and not empty.segmentation.any()
    no_faces = sheet([], [])
    point = sheet([(0, 0, 0), (0, 0, 0), (0, 0, 0)], [(0, 1, 2)])
    line = sheet([(-1, 0, 0), (0, 0, 0), (1, 0, 0)], [(0, 1, 2)])
    behind = sheet([(0, 0, 2), (1, 0, 2), (0, 1, 2)], [(0, 1, 2)])
    at_eye = sheet([(0, 0, 1), (1, 0, 1), (0, 1, 1)], [(0, 1, 2)])
    renderer = Renderer([Visual(0, m, "red", entity=9) for m in (no_faces, point, line, behind, at_eye)], Lighting())
    for supersample in (False, True):
        shot = renderer.shoot(camera, supersample=supersample, normals=True)
        assert np.isfinite(shot.depth).all()


def test_bodies_carry_their_visuals() -> None:
    renderer = Renderer([Visual(1, box((0.1, 0.1, 0.1)), "red", Pose((0.2, 0, 0)), entity=9)], Lighting())
    turned = Pose((0.0, 0.1, 0.0), yaw_quat(math.pi / 2))
    renderer.pose([(0, 0, 0), turned.position], np.stack([np.eye(3), matrix(turned.rotation)]))
    shot = renderer.shoot(Camera("plan", DOWN, fov=None, extent=1.0, size=(100, 100)))
    rows, columns = np.nonzero(shot.segmentation == 9)
    assert (columns.mean() + 0.5, rows.mean() + 0.5) == pytest.approx((50, 20))


def test_wrong_frames_are_refused_with_what_was_expected() -> None:
    renderer = Renderer([Visual(3, box((0.1, 0.1, 0.1)), "red")], Lighting())
    with pytest.raises(EtudeError, match="at least 4 bodies"):
        renderer.pose(np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    with pytest.raises(EtudeError, match="body 0 is the world"):
        renderer.pose(np.ones((4, 3)), np.tile(np.eye(3), (4, 1, 1)))


def test_hand_cameras_need_their_pose() -> None:
    camera = Camera("wrist", mount="hand", size=(8, 8))
    with pytest.raises(EtudeError, match="mounted on the hand"):
        Renderer([], Lighting()).shoot(camera)
    assert Renderer([], Lighting()).shoot(camera, pose=DOWN).size == (8, 8)


def test_nearness_is_the_same_without_owners() -> None:
    geometry = pack([Visual(0, ellipsoid((0.3, 0.2, 0.1), 24), "red"), Visual(0, box((0.9, 0.05, 0.05)), "red")])
    geometry.points[:], geometry.centres[:] = geometry.local_points, geometry.local_centres
    rotation = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])
    view = Projection(np.array([0.0, 0, 1]), rotation, False, 100.0, 40.0, 30.0, 0.01, 10.0, 80, 60, 8, 128)
    pictures = []
    for owner in (np.empty((60, 80), np.int32), np.empty((0, 0), np.int32)):
        nearness = np.empty((60, 80), np.float32)
        clear(view, nearness, owner)
        draw(view, triangles(geometry), np.ones(2, np.uint8), scratch(len(geometry.points)), nearness, owner)
        pictures.append(nearness)
    assert np.array_equal(*pictures)
    assert (pictures[0] > -10).mean() > 0.3
