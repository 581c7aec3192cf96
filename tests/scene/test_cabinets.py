"""Cabinets and doors of VLMbench: published sizes, drawers that stay, doors that are held by their handles."""

from __future__ import annotations

import math

import pytest

from etude.pose import Pose
from etude.scene import Scene, Table, World
from etude.scene.cabinets import DOOR1, DOOR2, DRAWER1, DRAWER2, DRAWER3, LEVELS, cabinet, hinged_door

SWING = math.radians(30)


def alone(thing) -> World:
    return World(Scene((thing,), table=Table(endless=True), floor=None))


def pushed(world: World, part: str, force, torque=(0.0, 0.0, 0.0), steps: int = 40) -> None:
    for _ in range(steps):
        world.data.xfrc_applied[world.body(part)] = (*force, *torque)
        world.step()
    world.data.xfrc_applied[:] = 0.0


def test_the_first_cabinet_has_its_drawers_at_the_published_heights():
    world = alone(cabinet("cabinet", DRAWER1, Pose((0.0, 0.0, 0.752))))
    assert [world.pose(f"cabinet/{level}").position[2] for level in LEVELS] == pytest.approx([1.018, 0.938, 0.858], abs=1e-3)


@pytest.mark.parametrize("model", [DRAWER1, DRAWER2, DRAWER3])
def test_every_drawer_slides_out_alone_and_stays(model):
    for level in LEVELS:
        world = alone(cabinet("cabinet", model))
        pushed(world, f"cabinet/{level}", (0.0, -6.0, 0.0))
        opened = [world.joint(f"cabinet/{each}") for each in LEVELS]
        assert opened == pytest.approx([model.travel if each == level else 0.0 for each in LEVELS], abs=3e-3)
        world.step(20)
        assert [world.joint(f"cabinet/{each}") for each in LEVELS] == pytest.approx(opened, abs=2e-3)


@pytest.mark.parametrize("model", [DRAWER1, DRAWER2, DRAWER3])
def test_a_cabinet_starts_with_the_drawer_out_that_was_named(model):
    world = alone(cabinet("cabinet", model, opened="middle"))
    world.step(10)
    assert [world.joint(f"cabinet/{level}") for level in LEVELS] == pytest.approx([0.0, model.travel, 0.0], abs=2e-3)


@pytest.mark.parametrize("model", [DOOR1, DOOR2])
def test_a_door_is_held_until_its_handle_is_turned_far_enough(model):
    world = alone(hinged_door("door", model, SWING))
    pushed(world, "door/plank", (0.0, -10.0, 0.0))
    assert world.joint("door/plank") == pytest.approx(0.0, abs=2e-3)
    pushed(world, "door/handle", (0.0, -10.0, 0.0), (0.0, 0.4 * 3.0 * model.release, 0.0))
    assert world.joint("door/plank") == pytest.approx(0.0, abs=2e-3)
    pushed(world, "door/handle", (0.0, -10.0, 0.0), (0.0, 3.0 * model.turn + 0.5, 0.0))
    assert world.joint("door/plank") == pytest.approx(SWING, abs=0.01)
    world.step(20)
    assert world.joint("door/handle") < 0.06, "the handle springs back, but for its own weight"


@pytest.mark.parametrize("model", [DOOR1, DOOR2])
def test_the_lever_is_where_its_door_says(model):
    for opened in (0.0, SWING):
        world = alone(hinged_door("door", model, SWING, opened=opened))
        lever = world.pose("door/handle").apply((model.lever[0] / 2, -model.out, 0.0))
        assert lever[:2] == pytest.approx(model.grip(opened), abs=1e-6)
