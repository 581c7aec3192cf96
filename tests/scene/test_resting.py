"""Arms that stand still while things settle around them: what is passed over is what physics would have done."""

from __future__ import annotations

import numpy as np
import pytest

from etude.pose import Pose
from etude.scene import Body, Particles, Robot, Scene, Table, World
from etude.scene.resting import _alone

PERIODS = 12


def scene(arm: str, hand: str, *others) -> Scene:
    cubes = tuple(Body(f"cube {i}", "cube", "red", Pose((0.4, 0.12 * i, 0.03)), (0.05, 0.05, 0.05), mass=0.1) for i in range(2))
    return Scene((*cubes, *others), Robot(arm, hand), Table(endless=True), None)


def everything(world: World) -> dict[str, bytes]:
    """All that MuJoCo knows of a state, and what touched."""
    found = {name: getattr(world.data, name) for name in dir(world.data) if not name.startswith("_")}
    arrays = {name: np.asarray(value).tobytes() for name, value in found.items() if isinstance(value, np.ndarray | int | float)}
    return arrays | {"touched": repr(world.contacts()).encode()}


def both(told: Scene, before=lambda world: None) -> tuple[World, World, int]:
    """A world after many control periods at once, one after as many one by one, and how often an arm's rest was asked for."""
    at_once, one_by_one = World(told), World(told)
    for world in (at_once, one_by_one):
        before(world)
    asked = sum(_alone.cache_info()[:2])
    at_once.step(PERIODS)
    asked = sum(_alone.cache_info()[:2]) - asked
    for _ in range(PERIODS):
        one_by_one.step()
    return at_once, one_by_one, asked


@pytest.mark.parametrize(("arm", "hand"), [("ur5", "suction"), ("xarm6", "vacuum"), ("panda", "parallel")])
def test_periods_of_rest_passed_at_once_leave_every_bit_as_they_would_one_by_one(arm, hand):
    at_once, one_by_one, asked = both(scene(arm, hand))
    assert asked == 1
    assert everything(at_once) == everything(one_by_one)
    for world in (at_once, one_by_one):
        world.robot.move_by((0.5, 0.2, -0.6, 0.0, 0.1, 0.3))
        world.step(3)
    assert everything(at_once) == everything(one_by_one)


def test_an_arm_on_its_way_or_under_a_force_is_not_at_rest():
    def go(world: World) -> None:
        world.step(2)
        world.robot.move_joints(world.robot.joints() + 0.4)

    at_once, one_by_one, asked = both(scene("ur5", "suction"), go)
    assert asked <= 1  # where it has arrived and come to rest, at most
    assert everything(at_once) == everything(one_by_one)
    at_once, one_by_one, asked = both(scene("ur5", "suction"), lambda world: world.robot.push((0.0, 3.0, 0.0)))
    assert asked == 0
    assert everything(at_once) == everything(one_by_one)


def test_many_things_make_physics_sum_in_another_order_so_fingers_among_them_are_not_passed_over():
    grains = Particles("grains", "cube", 0.01, "red", tuple((0.3 + 0.03 * (i % 5), -0.3 + 0.03 * (i // 5), 0.005) for i in range(30)))
    at_once, one_by_one, asked = both(scene("panda", "parallel", grains))
    assert asked == 0
    assert everything(at_once) == everything(one_by_one)
