"""Colour: textures, light, shadows, markers, smooth edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from render_desk import CAMERAS, desk, marker

from etude.catalog.mesh import Mesh, box, ellipsoid
from etude.catalog.textures import texture
from etude.pose import Pose
from etude.render import Renderer, point_cloud, setup, shade
from etude.scene.scene import Camera, Light, Lighting, look_at
from etude.scene.visual import TABLE, Visual

EVEN = Lighting(ambient=(1.0, 1.0, 1.0), key=Light((0, 0, -1), (0.0, 0.0, 0.0)), fills=(), shadows=False)
DOWN = look_at((0, 0, 1), (0, 0, 0), up=(0, 1, 0))


def floor(size: float, name: str, span: float, entity: int = 1) -> Visual:
    return Visual(0, box((size, size, 0.02), (0, 0, -0.01)), name, span=span, entity=entity, gloss=0.0)


def test_a_solid_has_its_own_colour_under_unit_light() -> None:
    shot = Renderer([floor(9, "#4080c0", 1)], EVEN).shoot(Camera("eye", DOWN, size=(8, 8)))
    assert np.abs(shot.rgb.astype(int) - (0x40, 0x80, 0xC0)).max() <= 1


def test_textures_are_perspective_correct() -> None:
    """Every pixel of a tilted view shows the texel that lies under it."""
    camera = Camera("tilted", look_at((0.9, 0.2, 0.5), (0, 0, 0)), size=(200, 200))
    span = 2.0
    shot = Renderer([floor(4, "checkerboard", span)], EVEN).shoot(camera)
    cloud = np.nan_to_num(point_cloud(camera, shot.depth))
    image = texture("checkerboard")
    side = len(image)
    u, v = cloud[..., 0] / span, cloud[..., 1] / span
    column, row = np.floor(u * side).astype(int) % side, np.floor(-v * side).astype(int) % side
    expected = image[row, column].astype(int)
    flat = shot.depth < 1.2  # near by, and away from the borders between squares, where filtering mixes
    for dr in (-3, 0, 3):
        for dc in (-3, 0, 3):
            flat &= (image[(row + dr) % side, (column + dc) % side] == expected).all(-1)
    assert flat.mean() > 0.3
    assert np.abs(shot.rgb - expected)[flat].max() <= 3


def test_a_texture_stands_upright_and_is_not_mirrored() -> None:
    image = texture("rainbow").astype(int)
    side = len(image)
    wall = Mesh(
        np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)], float),
        np.tile((0.0, -1.0, 0.0), (4, 1)),
        np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float),
        np.array([(0, 1, 2), (0, 2, 3)], np.int32),
    )
    camera = Camera("front", look_at((0.5, -1, 0.5), (0.5, 0, 0.5)), fov=None, extent=1.0, size=(side, side))
    shot = Renderer([Visual(0, wall, "rainbow", span=1.0, gloss=0.0)], EVEN).shoot(camera)
    # Ambient light is a little weaker on walls than on floors.
    gain = shot.rgb.astype(float).sum() / image.sum()
    assert np.abs(shot.rgb - gain * image).max() < 4


def test_far_checkers_blend_to_the_mean_of_their_light() -> None:
    """Moiré would leave single pixels black or white."""
    camera = Camera("high", look_at((0, 0, 8), (0, 0, 0), up=(0, 1, 0)), fov=30, size=(64, 64))
    shot = Renderer([floor(9, "checkerboard", 0.02)], EVEN).shoot(camera)
    light = np.square(texture("checkerboard").astype(float)).mean((0, 1))
    assert np.abs(shot.rgb - np.sqrt(light)).max() < 8


def test_a_grazing_floor_keeps_detail_across_and_stays_calm() -> None:
    camera = Camera("low", look_at((0, -4, 0.25), (0, 0, 0.1)), size=(128, 128))
    shot = Renderer([floor(9, "checkerboard", 0.8)], EVEN).shoot(camera)
    rows = np.flatnonzero((shot.segmentation == 1).all(1))
    near, far = shot.rgb[rows[-5]].astype(int), shot.rgb[rows[1]].astype(int)
    assert np.ptp(near) > 150
    assert np.ptp(far) < 60


def test_the_shadow_falls_where_the_light_says() -> None:
    lighting = Lighting(key=Light((1.0, 0.0, -1.0), (0.6, 0.6, 0.6)), fills=())
    cube = Visual(0, box((0.2, 0.2, 0.2), (0, 0, 0.5)), "red", entity=9)
    camera = Camera("plan", look_at((0, 0, 3), (0, 0, 0), up=(0, 1, 0)), fov=None, extent=2.0, size=(200, 200))
    shot = Renderer([floor(3, "#ffffff", 1), cube], lighting).shoot(camera)
    y, x = 1 - (np.mgrid[:200, :200][0] + 0.5) / 100, (np.mgrid[:200, :200][1] + 0.5) / 100 - 1
    on_floor = shot.segmentation == 1
    # The cube spans z 0.4 to 0.6 and x −0.1 to 0.1: sheared along x by its height.
    inside = (np.abs(y) < 0.09) & (x > 0.31) & (x < 0.69)
    outside = (np.abs(y) > 0.11) | (x < 0.29) | (x > 0.71)
    assert (shot.rgb[inside & on_floor] < 200).all()
    assert np.ptp(shot.rgb[outside & on_floor].astype(int), axis=0).max() <= 1
    assert int(shot.rgb[outside & on_floor].min()) - int(shot.rgb[inside & on_floor].max()) > 40


@pytest.mark.parametrize("slant", [0.1, 0.5, 1.0, 2.0])
def test_surfaces_do_not_shadow_themselves(slant: float) -> None:
    lighting = Lighting(key=Light((slant, 0.3, -1.0), (0.6, 0.6, 0.6)))
    visuals = [Visual(0, box((1.5, 1.5, 0.05), (0, 0, -0.025)), "#dddddd", gloss=0.0), Visual(0, ellipsoid((0.2,) * 3, 64), "#dddddd",
               Pose((-0.4 if slant < 1 else 0.5, -0.2, 0.2)), gloss=0.0)]  # fmt: skip
    camera = Camera("plan", look_at((0, 0, 2), (0, 0, 0), up=(0, 1, 0)), size=(200, 200))
    with_shadows = Renderer(visuals, lighting).shoot(camera, normals=True)
    plain = Renderer(visuals, Lighting(key=lighting.key, shadows=False)).shoot(camera)
    assert with_shadows.normals is not None
    to_light = -np.array(lighting.key.direction) / np.linalg.norm(lighting.key.direction)
    up = with_shadows.normals[..., 2] > 0.99
    lit_ball = (with_shadows.normals @ to_light > 0.35) & ~up
    darker = plain.rgb.astype(int) - with_shadows.rgb
    assert darker[lit_ball].max() <= 2
    # On the table only the shadow of the ball, and its soft rim, is darker: everything else is as without shadows.
    assert (darker[up].max(-1) <= 1).mean() > 0.75


def test_contact_shadows_begin_at_the_object() -> None:
    lighting = Lighting(key=Light((1.0, 0.0, -1.0), (0.6, 0.6, 0.6)), fills=())
    cube = Visual(0, box((0.1, 0.1, 0.1), (0, 0, 0.05)), "red", entity=9)
    camera = Camera("plan", look_at((0, 0, 3), (0, 0, 0), up=(0, 1, 0)), fov=None, extent=0.5, size=(250, 250))
    shot = Renderer([floor(3, "#ffffff", 1), cube], lighting).shoot(camera)
    beside = shot.rgb[125, 152:156, 0]  # 4 to 12 mm away from the wall that is turned from the light
    assert (beside < 200).all()


def test_shadows_follow_what_moves() -> None:
    cube = Visual(1, box((0.2, 0.2, 0.2)), "red", entity=9)
    renderer = Renderer([floor(3, "#ffffff", 1), cube], Lighting(key=Light((0, 0, -1), (0.6, 0.6, 0.6)), fills=()))
    camera = Camera("plan", look_at((0, 2, 2), (0, 0, 0)), size=(100, 100))
    frames = np.tile(np.eye(3), (2, 1, 1))
    renderer.pose([(0, 0, 0), (0.3, 0, 0.5)], frames)
    right = renderer.shoot(camera)
    renderer.pose([(0, 0, 0), (-0.3, 0, 0.5)], frames)
    left = renderer.shoot(camera)
    assert np.array_equal(right.segmentation, left.segmentation[:, ::-1])
    dark = (right.rgb[..., 0] < 200) & (right.segmentation == 1)
    assert dark.sum() > 40
    assert (dark != ((left.rgb[..., 0] < 200) & (left.segmentation == 1))[:, ::-1]).mean() < 0.01


def test_a_travelled_shadow_map_is_the_one_of_a_fresh_renderer() -> None:
    """Only what moving casters covered before is drawn anew, and nothing of it stays behind."""
    visuals, positions, rotations = desk()
    travelled, fresh = Renderer(visuals, Lighting()), Renderer(visuals, Lighting())
    random = np.random.default_rng(3)
    for _ in range(6):
        elsewhere = positions + random.uniform(-0.1, 0.1, positions.shape)
        elsewhere[0] = 0
        travelled.pose(elsewhere, rotations)
        travelled.shoot(CAMERAS[0], (16, 16))
    for renderer in (travelled, fresh):
        renderer.pose(positions, rotations)
    a, b = travelled._shadow(), fresh._shadow()
    assert (a.cx, a.cy, a.texel) == (b.cx, b.cy, b.texel)
    assert np.array_equal(a.nearness, b.nearness)


@pytest.mark.parametrize("supersample", [False, True])
def test_wide_pictures_are_of_one_piece(supersample: bool) -> None:
    """Rows are shaded in blocks of 256 samples."""
    camera = Camera("eye", DOWN, fov=None, extent=1.0, size=(700, 7))
    shot = Renderer([floor(500, "#4080c0", 1)], EVEN).shoot(camera, supersample=supersample)
    assert np.ptp(shot.rgb.reshape(-1, 3).astype(int), axis=0).max() == 0


@pytest.mark.parametrize("where", [1e3, 1e12, float("inf"), float("nan")])
def test_a_body_that_flew_away_spoils_no_shadow(where: float) -> None:
    visuals = [floor(3, "#ffffff", 1), Visual(1, box((0.2,) * 3), "red", entity=9), Visual(2, box((0.2,) * 3), "blue", entity=10)]
    frames = np.tile(np.eye(3), (3, 1, 1))
    camera = Camera("plan", look_at((0, 2, 2), (0, 0, 0)), size=(100, 100))
    alone, lost = Renderer(visuals[:2], Lighting()), Renderer(visuals, Lighting())
    alone.pose(np.array([(0, 0, 0), (0, 0, 0.5)]), frames[:2])
    lost.pose(np.array([(0, 0, 0), (0, 0, 0.5), (where, where, where)]), frames)
    assert np.array_equal(alone.shoot(camera).rgb, lost.shoot(camera).rgb)


def test_markers_are_seen_in_colour_only() -> None:
    visuals, positions, rotations = desk()
    plain, marked = Renderer(visuals, Lighting()), Renderer([*visuals, marker()], Lighting())
    for renderer in (plain, marked):
        renderer.pose(positions, rotations)
    for camera in CAMERAS:
        a, b = plain.shoot(camera, (128, 128)), marked.shoot(camera, (128, 128))
        assert np.array_equal(a.depth, b.depth)
        assert np.array_equal(a.segmentation, b.segmentation)
        changed = (a.rgb != b.rgb).any(-1)
        assert 0.01 < changed.mean() < 0.9


def test_a_marker_behind_something_stays_hidden() -> None:
    ghost = Visual(0, box((0.1, 0.1, 0.1), (0, 0, -0.2)), "green", alpha=0.5)
    camera = Camera("eye", DOWN, size=(32, 32))
    with_ghost = Renderer([floor(3, "red", 1), ghost], Lighting()).shoot(camera)
    without = Renderer([floor(3, "red", 1)], Lighting()).shoot(camera)
    assert np.array_equal(with_ghost.rgb, without.rgb)


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_supersampling_changes_colours_at_edges_only(camera: Camera, desk_renderer: Renderer) -> None:
    plain, fine = desk_renderer.shoot(camera, (160, 128)), desk_renderer.shoot(camera, (160, 128), supersample=True)
    assert np.array_equal(plain.depth, fine.depth)
    assert np.array_equal(plain.segmentation, fine.segmentation)
    s = plain.segmentation
    edge = np.zeros(s.shape, bool)
    edge[:, 1:] |= s[:, 1:] != s[:, :-1]
    edge[1:] |= s[1:] != s[:-1]
    difference = np.abs(plain.rgb.astype(int) - fine.rgb).max(-1)
    assert difference[edge].mean() > 4 * difference[~edge].mean()


def test_hidden_entities_leave_no_pixels_but_their_shadows() -> None:
    visuals, positions, rotations = desk()
    everything = Renderer(visuals, Lighting())
    everything.pose(positions, rotations)
    hide = frozenset({4, 5, 8})
    rest = Renderer([v for v in visuals if v.entity not in hide], Lighting())
    rest.pose(positions, rotations)
    camera = CAMERAS[0]
    before, hidden, without = everything.shoot(camera), everything.shoot(camera, hide=hide), rest.shoot(camera)
    assert np.array_equal(hidden.segmentation, without.segmentation)
    assert np.array_equal(hidden.depth, without.depth)
    assert hidden.rgb.astype(int).sum() < without.rgb.astype(int).sum()  # darker, where the shadows are
    assert np.array_equal(before.rgb, everything.shoot(camera).rgb)


def test_normals_are_unit_and_point_to_the_camera(desk_renderer: Renderer) -> None:
    for camera in CAMERAS:
        shot = desk_renderer.shoot(camera, (96, 96), normals=True)
        assert shot.normals is not None
        hit = shot.segmentation > 0
        assert np.allclose(np.linalg.norm(shot.normals[hit], axis=-1), 1, atol=1e-5)
        assert not shot.normals[~hit].any()
        cloud = point_cloud(camera, shot.depth)
        table = (shot.segmentation == TABLE) & (cloud[..., 2] > -1e-5)
        assert table.any()
        assert np.allclose(shot.normals[table], (0, 0, 1), atol=1e-6)


def test_smooth_shading_has_no_facets() -> None:
    lighting = Lighting(shadows=False, key=Light((-1, 0, -1), (0.8, 0.8, 0.8)), fills=())
    ball = Visual(0, ellipsoid((0.3,) * 3, 24), "#aaaaaa", entity=9, gloss=0.0)
    shot = Renderer([ball], lighting).shoot(Camera("eye", look_at((0, -1.5, 0), (0, 0, 0)), size=(200, 200)))
    row = shot.rgb[100, 70:131, 0].astype(int)
    assert np.abs(np.diff(row, 2)).max() <= 3
    assert math.isclose(float(shot.depth[100, 100]), 1.2, abs_tol=0.01)


def test_the_columns_of_a_triangle_mean_the_same_to_those_who_write_and_read_them() -> None:
    """They stand in both files, for the cache of compiled code looks at one at a time."""
    names = ("FORM_P", "FORM_Q", "FORM_U", "FORM_V", "OFFSET", "NORMAL", "ALONG_P", "ALONG_Q", "BENT", "FACE", "SLOPE_X", "SLOPE_Y")
    assert [getattr(setup, name) for name in names] == [getattr(shade, name) for name in names]
