"""Our pictures against OpenGL's: two independent rasterisers must agree on what is seen and how far away it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from render_desk import CAMERAS, desk, marker

from etude.catalog.mesh import box, cylinder, ellipsoid, prism, tube
from etude.catalog.polygon import Outline
from etude.pose import Pose, euler_quat
from etude.render import GlRenderer, Renderer, gl_available
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import Visual

WORKS, REASON = gl_available()
pytestmark = pytest.mark.skipif(not WORKS, reason=REASON)

Pair = tuple[Renderer, GlRenderer]


def pair(visuals: list[Visual]) -> Pair:
    return Renderer(visuals, Lighting()), GlRenderer(visuals, Lighting())


@pytest.fixture(scope="module")
def desks() -> Iterator[Pair]:
    visuals, positions, rotations = desk()
    both = pair([*visuals, marker()])
    for renderer in both:
        renderer.pose(positions, rotations)
    yield both
    both[1].close()


@pytest.fixture(scope="module")
def rooms() -> Iterator[Pair]:
    """Looking around inside a room, with geometry behind and around the camera."""
    random = np.random.default_rng(3)
    star = Outline(
        (np.array([(r * np.cos(a), r * np.sin(a)) for a, r in zip(np.linspace(0, 2 * np.pi, 11)[:-1], [0.2, 0.1] * 5, strict=True)]),)
    )
    forms = (box((0.3, 0.2, 0.1)), cylinder(0.1, 0.3), ellipsoid((0.2, 0.1, 0.15)), prism(star, 0.1),
             tube([(0, 0, 0), (0.3, 0, 0), (0.3, 0.3, 0.1)], 0.03))  # fmt: skip
    visuals = [Visual(0, box((20, 20, 0.1), (0, 0, -0.05)), "tiles", span=1.0, entity=1)]
    for i in range(40):
        pose = Pose.of(random.uniform((-2, -2, 0.1), (2, 2, 1.5)), euler_quat(*random.uniform(-3, 3, 3)))
        visuals.append(Visual(0, forms[i % 5], "brick" if i % 2 else "blue", pose, entity=8 + i))
    both = pair(visuals)
    yield both
    both[1].close()


def compare(both: Pair, camera: Camera, size: tuple[int, int] = (256, 256)) -> None:
    ours, theirs = (renderer.shoot(camera, size) for renderer in both)
    same = ours.segmentation == theirs.segmentation
    assert same.mean() >= 0.999
    difference = np.abs(ours.depth - theirs.depth)[same]
    assert np.median(difference) < 1e-5
    assert (difference < 1e-3).mean() > 0.999


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda c: c.name)
def test_both_see_the_same_desk(desks: Pair, camera: Camera) -> None:
    compare(desks, camera)


@pytest.mark.parametrize("turn", range(6))
def test_both_see_the_same_room(rooms: Pair, turn: int) -> None:
    angle = turn * 1.1
    eye = (0.1, 0.2, 0.5)
    camera = Camera("turning", look_at(eye, (eye[0] + np.cos(angle), eye[1] + np.sin(angle), 0.3)), fov=60 + 10 * turn)
    compare(rooms, camera, (200, 160))


def test_the_comparison_would_notice_one_pixel(desks: Pair) -> None:
    ours, theirs = (renderer.shoot(CAMERAS[0]).segmentation for renderer in desks)
    assert (ours[:, 1:] == theirs[:, :-1]).mean() < 0.995


def test_colours_are_alike(desks: Pair) -> None:
    """Different models of light, but the same textures in the same places under the same sun."""
    ours, theirs = (renderer.shoot(CAMERAS[0]).rgb.astype(float) for renderer in desks)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.95


def test_hiding_works_alike(desks: Pair) -> None:
    ours, theirs = (renderer.shoot(CAMERAS[0], hide=frozenset({4, 5})).segmentation for renderer in desks)
    assert (ours == theirs).mean() >= 0.999
    assert not np.isin(theirs, (4, 5)).any()
