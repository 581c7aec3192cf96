"""Projection, its inverse, and their agreement with pictures."""

from __future__ import annotations

import numpy as np
import pytest
from render_desk import CAMERAS

from etude.catalog.mesh import ellipsoid
from etude.pose import Pose
from etude.render import Renderer, intrinsics, point_cloud, project, unproject
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import Visual


def test_intrinsics_are_those_of_opencv() -> None:
    K = intrinsics(Camera("eye", fov=90.0, size=(200, 100)))
    assert np.allclose(K, [[50, 0, 100], [0, 50, 50], [0, 0, 1]])
    assert intrinsics(Camera("plan", fov=None, extent=0.5, size=(200, 100)))[0, 0] == pytest.approx(200)


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_unproject_undoes_project(camera: Camera) -> None:
    points = np.random.default_rng(0).uniform((0, -0.5, 0), (1, 0.5, 0.2), (50, 3))
    pixels, depth = project(camera, points, size=(320, 200))
    ahead = depth > 0
    assert ahead.sum() > 25
    assert np.allclose(unproject(camera, pixels, depth, size=(320, 200))[ahead], points[ahead], atol=1e-9)


def test_points_behind_the_eye_have_no_pixel() -> None:
    pixels, depth = project(Camera("eye", look_at((0, 0, 1), (0, 0, 0), up=(0, 1, 0))), [(0, 0, 2.0)])
    assert np.isnan(pixels).all()
    assert depth[0] == pytest.approx(-1)


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_a_projected_point_is_found_in_the_picture(camera: Camera) -> None:
    """Within half a pixel and one millimetre."""
    for x, y in ((0.5, 0.0), (0.42, 0.06), (0.55, -0.08)):
        ball = Visual(0, ellipsoid((0.01, 0.01, 0.01), 40), "red", Pose((x, y, 0.05)), entity=9)
        shot = Renderer([ball], Lighting()).shoot(camera, (400, 400))
        rows, columns = np.nonzero(shot.segmentation == 9)
        (pixel,), (depth,) = project(camera, [(x, y, 0.05)], size=(400, 400))
        assert np.abs(pixel - (columns.mean() + 0.5, rows.mean() + 0.5)).max() < 0.5
        nearest = shot.depth[int(pixel[1]), int(pixel[0])]
        ray = unproject(camera, [pixel, pixel], [depth, depth - 1e-3], size=(400, 400))
        slant = np.linalg.norm(ray[1] - ray[0]) / 1e-3
        assert abs(nearest - (depth - 0.01 / slant)) < 1e-3


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_the_point_cloud_of_the_table_lies_on_the_table(camera: Camera, desk_renderer: Renderer) -> None:
    shot = desk_renderer.shoot(camera, (160, 120), normals=True)
    assert shot.normals is not None
    cloud = point_cloud(camera, shot.depth)
    top = cloud[(shot.segmentation == 3) & (shot.normals[..., 2] > 0.9)]
    assert len(top) > 100
    assert np.abs(top[:, 2]).max() < 1e-5
    assert np.isnan(cloud[shot.segmentation == 0]).all()


@pytest.mark.parametrize("size", [(256, 128), (128, 128), (64, 256), (300, 100)])
@pytest.mark.parametrize("lens", [{"fov": 60.0}, {"fov": None, "extent": 0.5}], ids=["pinhole", "plan"])
def test_a_picture_of_other_proportions_cuts_nothing_off(size: tuple[int, int], lens: dict[str, float | None]) -> None:
    camera = Camera("wide", look_at((0, 0, 1), (0, 0, 0), up=(0, 1, 0)), **lens, size=(256, 128))
    corners = unproject(camera, [(0, 0), (256, 0), (0, 128), (256, 128)], [1.0] * 4)
    pixels, _ = project(camera, corners, size=size)
    assert (pixels >= -1e-9).all() and (pixels <= np.array(size) + 1e-9).all()
    assert np.isclose(np.ptp(pixels, axis=0), size).any()  # and as large as it can be
