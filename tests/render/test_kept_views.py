"""What a renderer keeps of a view saves time and changes nothing: every picture is that of a renderer that has never drawn before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from render_desk import CAMERAS, desk, digest, marker

from etude.pose import Pose, matrix, yaw_quat
from etude.render import Renderer, antialias, geometry, kept, measure, raster, setup, shade, shadow
from etude.render.studio import Studio
from etude.scene import World
from etude.scene.examples import example
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import Visual

SIZE = (72, 56)


def fresh(visuals: list[Visual], frames: tuple[np.ndarray, np.ndarray], camera: Camera, **how: object) -> str:
    renderer = Renderer(visuals, Lighting())
    renderer.pose(*frames)
    return digest(renderer.shoot(camera, SIZE, **how))  # type: ignore[arg-type]


def test_an_episode_looks_the_same_to_who_keeps_nothing() -> None:
    """An arm at work, things that are pushed and come to rest, a camera in the hand, the light going out, and a covered camera."""
    world = World(example("bench"))
    world.settle()
    assert world.robot is not None
    studio = Studio(world)
    hand = Camera("palm", Pose((0.06, 0.0, 0.02)), mount="hand", fov=70)
    loose = world.loose[0]
    seen = set()
    for step in range(14):
        if step < 6 or step > 10:  # then the arm rests
            world.robot.move_by((0.2, 0.1 * (-1) ** step, -0.1, 0.0, 0.0, 0.2))
        if step in (2, 7):
            world.teleport({loose: world.pose(loose).moved(x=0.03, z=0.02)})
        if step == 8:
            world.relight(replace(world.scene.lighting, key=replace(world.scene.lighting.key, colour=(0.0, 0.0, 0.0))))
        if step == 12:
            world.cover("left_shoulder")
        world.step()
        anew = Studio(world)
        for camera in ("front", "left_shoulder", hand):
            shots = [s.shoot(camera, SIZE, supersample=step % 5 == 4) for s in (studio, anew)]
            assert digest(shots[0]) == digest(shots[1]), (step, camera)
            seen.add(digest(shots[0]))
        assert (shots[0].rgb.any() and studio.shoot("left_shoulder", SIZE).rgb.any()) == (step < 12)
    assert len(seen) > 30


def test_equally_near_triangles_keep_their_order_when_one_is_drawn_over_the_other() -> None:
    """The same mesh twice in the same place: the first stays in sight, whichever of the two has moved there last."""
    visuals, positions, rotations = desk()
    body = visuals[-1].body
    for first, second in ((body, 0), (0, body)):
        there = Pose(tuple(positions[body])) if first == 0 else Pose()
        twins = [replace(visuals[-1], body=first, pose=there, texture="red", entity=70)]
        there = Pose(tuple(positions[body])) if second == 0 else Pose()
        twins.append(replace(visuals[-1], body=second, pose=there, texture="blue", entity=71))
        turned = rotations.copy()
        turned[body] = np.eye(3)
        renderer = Renderer([*visuals[:-1], *twins], Lighting())
        for height in (0.1, 0.05, 0.02, 0.0, 0.0):
            moved = positions.copy()
            moved[body, 2] += height
            moved[3, 2] += height + 1e-3  # something moves in every picture
            renderer.pose(moved, turned)
            shot = renderer.shoot(CAMERAS[0], SIZE)
            assert digest(shot) == fresh([*visuals[:-1], *twins], (moved, turned), CAMERAS[0])
        assert (shot.segmentation == 70).any() and not (shot.segmentation == 71).any()


def test_a_moving_shadow_is_seen_on_what_rests() -> None:
    visuals, positions, rotations = desk()
    renderer = Renderer([*visuals, marker()], Lighting())
    random, flown = np.random.default_rng(3), 0
    for step in range(12):
        moved, turned = positions.copy(), rotations.copy()
        moved[1:11] += random.uniform(-0.02, 0.02, (10, 3))
        turned[5] = matrix(yaw_quat(0.1 * step))
        if step % 4 == 3:  # far away and back: the map of shadows takes another size
            moved[12], flown = moved[12] + (1.5, 1.0, 0.3), flown + 1
        renderer.pose(moved, turned)
        for camera, hide in ((CAMERAS[0], frozenset[int]()), (CAMERAS[2], frozenset({4})), (CAMERAS[3], frozenset[int]())):
            if camera is not CAMERAS[3] or step % 3 == 0:  # one that looks only now and then
                assert digest(renderer.shoot(camera, SIZE, hide=hide)) == fresh([*visuals, marker()], (moved, turned), camera, hide=hide)
    assert flown == 3


def test_shadows_of_what_rested_go_with_it() -> None:
    """Things take turns at moving and resting, some of them unseen, close enough for one's shadow to lie on the other's."""
    visuals, positions, rotations = desk()
    renderer = Renderer(visuals, Lighting())
    moved = positions.copy()
    for step in range(30):
        for body in range(1, len(moved)):
            if (step // 5 + body) % 3 == 0 or (step % 4 == 1 and body == 5):
                moved[body, :2] += 0.01 * (-1) ** (step // 9), 0.004 * (body - 6)
        renderer.pose(moved, rotations)
        if step % 4 != 1:
            assert digest(renderer.shoot(CAMERAS[0], SIZE)) == fresh(visuals, (moved, rotations), CAMERAS[0]), step


def test_wide_pictures_are_kept_block_by_block() -> None:
    visuals, positions, rotations = desk()
    renderer = Renderer(visuals, Lighting())
    for step in range(4):
        moved = positions.copy()
        moved[1:11, 1] += 0.01 * step
        renderer.pose(moved, rotations)
        anew = Renderer(visuals, Lighting())
        anew.pose(moved, rotations)
        assert digest(renderer.shoot(CAMERAS[3], (300, 40))) == digest(anew.shoot(CAMERAS[3], (300, 40)))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    visuals, positions, rotations = desk()
    monkeypatch.setattr(kept, "SAMPLES", 3 * 32 * 32)
    renderer = Renderer(visuals, Lighting())
    renderer.pose(positions, rotations)
    for angle in range(8):
        camera = Camera("walker", look_at((1.5, 0.1 * angle, 0.75), (0.45, 0.0, 0.05)))
        assert len({digest(renderer.shoot(camera, (32, 32))) for _ in range(3)}) == 1
        renderer.shoot(camera, (64, 64))
    assert len(renderer._memory) == 3


def test_renderers_draw_in_threads_and_leave_the_interpreter_to_others() -> None:
    visuals, positions, rotations = desk()
    frames = [positions + np.array([0.0, 0.0, 0.01 * k]) * (np.arange(len(positions)) > 0)[:, None] for k in range(6)]

    def film(_: int) -> list[str]:
        renderer = Renderer(visuals, Lighting())
        shots = []
        for moved in frames:
            renderer.pose(moved, rotations)
            shots.append(digest(renderer.shoot(CAMERAS[0], SIZE)))
        return shots

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(film, range(2))
    assert first == second == film(0) and len(set(first)) == 6
    kernels = [
        k
        for module in (antialias, geometry, measure, raster, setup, shade, shadow)
        for k in vars(module).values()
        if hasattr(k, "targetoptions")
    ]
    assert len(kernels) > 20 and all(k.targetoptions["nogil"] for k in kernels)
