"""Worlds: physics of a scene under names."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import mujoco
import numpy as np
import pytest

from etude.names import EtudeError
from etude.pose import Pose, angle_between, yaw_quat
from etude.scene import Area, Body, Fixture, Particles, Robot, Scene, Table, World
from etude.scene.examples import EXAMPLES, example
from etude.scene.fixtures import door, drawer_cabinet
from etude.scene.materials import CONTROL_PERIOD

GRAVITY = 9.81
ENDLESS = Table(endless=True)


def cubes(*poses: Pose, **options) -> tuple[Body, ...]:
    return tuple(Body(f"cube {i}", "cube", "red", pose, (0.05, 0.05, 0.05), mass=0.1, **options) for i, pose in enumerate(poses))


def plain(*things) -> Scene:
    return Scene(things, table=ENDLESS, floor=None)


def state_of(world: World) -> str:
    return hashlib.sha256(world.data.qpos.tobytes() + world.data.qvel.tobytes()).hexdigest()


def shaken(world: World, steps: int = 30) -> None:
    """A rough and varied half minute for a robot."""
    for i in range(steps):
        world.robot.move_by((math.sin(i), math.cos(1.3 * i), 0.6, 0.0, 0.2, 0.3))
        world.robot.grip(i % 7 < 3)
        world.step()


# ------------------------------------------------------------------------------------------------ state


def test_the_same_scene_moves_the_same_way_to_the_last_bit():
    worlds = [World(example("bench")) for _ in range(2)]
    for world in worlds:
        shaken(world)
    assert state_of(worlds[0]) == state_of(worlds[1])


def test_restore_brings_back_the_exact_state_and_future():
    world = World(example("bench"))
    shaken(world, 10)
    saved, before, touched = world.save(), state_of(world), world.contacts()
    shaken(world)
    after = state_of(world)
    world.restore(saved)
    assert state_of(world) == before
    assert world.contacts() == touched
    shaken(world)
    assert state_of(world) == after


def test_what_is_held_is_part_of_the_state():
    world = _holding_world()
    saved = world.save()
    world.robot.grip(False)
    world.step(4)
    assert world.robot.held is None
    world.restore(saved)
    assert world.robot.held == "cube 0"
    height = world.pose("cube 0").position[2]
    world.step(10)
    assert world.pose("cube 0").position[2] == pytest.approx(height, abs=1e-3)


def test_a_state_of_another_world_is_refused():
    with pytest.raises(EtudeError, match="other things"):
        World(plain(*cubes(Pose.flat(0, 0, 0.025)))).restore(World(plain()).save())


def test_reset_to_another_layout_equals_building_anew():
    one, other = example("bench", 0), example("bench", 0)
    moved = other.changed(*(dataclasses.replace(e, pose=e.pose.moved(z=0.003)) for e in other.entities))
    used, fresh = World(one), World(moved)
    shaken(used, 5)
    used.reset(moved)
    for world in (used, fresh):
        shaken(world, 10)
    assert state_of(used) == state_of(fresh)


def test_reset_to_other_things_works_too():
    world = World(example("tower"))
    world.reset(example("doorway"))
    assert world.joint("door/plank") == 0.0


def test_reset_without_a_scene_starts_again():
    world = World(example("tower"))
    start = state_of(world)
    shaken(world, 5)
    world.reset()
    assert state_of(world) == start


# ------------------------------------------------------------------------------------------------ rest


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_comes_to_rest_where_it_was_put(name):
    world = World(example(name))
    before = {e.name: e.pose for e in world.scene.entities if isinstance(e, Body)}
    assert world.settle()
    for body, pose in before.items():
        now = world.pose(body)
        assert np.linalg.norm(np.subtract(now.position, pose.position)) < 0.005, body
        assert angle_between(now.rotation, pose.rotation) < math.radians(4), body


def test_settling_gives_up_after_the_given_time():
    world = World(plain(Body("ball", "sphere", "red", Pose.flat(0, 0, 2.0))))
    assert not world.settle(0.3)
    assert world.time == pytest.approx(0.3)


def test_a_stack_of_five_stays_a_stack():
    world = World(plain(*cubes(*(Pose.flat(0, 0, 0.025 + 0.05 * i, 0.2 * i) for i in range(5)))))
    world.step(100)
    for i in range(5):
        assert world.pose(f"cube {i}").position == pytest.approx((0, 0, 0.025 + 0.05 * i), abs=2e-3)


def test_a_fixed_body_never_moves_and_carries_others():
    shelf = Body("shelf", "box", "wooden", Pose.flat(0, 0, 0.5), (0.3, 0.3, 0.02), fixed=True)
    world = World(plain(shelf, *cubes(Pose.flat(0, 0, 0.55))))
    world.settle()
    assert world.pose("shelf") == shelf.pose
    assert world.pose("cube 0").position[2] == pytest.approx(0.535, abs=1e-3)


def test_things_fall_off_a_table_that_ends():
    world = World(Scene(cubes(Pose.flat(2.0, 0.0, 0.1))))
    world.settle(3.0)
    assert world.pose("cube 0").position[2] == pytest.approx(-0.75 + 0.025, abs=2e-3)


def test_areas_have_no_substance():
    zone = Area("zone", "rectangle", "green", Pose.flat(0, 0, 0.0005), (0.2, 0.2, 0.001))
    world = World(plain(zone, *cubes(Pose.flat(0, 0, 0.0255))))
    world.settle()
    assert world.touching("cube 0") == ("table",)
    assert world.pose("zone") == zone.pose


# ------------------------------------------------------------------------------------------------ contact


def test_a_resting_body_presses_with_its_weight_awake_and_asleep():
    world = World(plain(*cubes(Pose.flat(0, 0, 0.0255))))
    expected = 0.1 * GRAVITY * CONTROL_PERIOD
    world.settle()
    for _ in range(40):  # long enough to fall asleep on the way
        world.step()
        assert world.impulse("table", "cube 0")[2] == pytest.approx(expected, rel=0.05)
        assert world.impulse("cube 0", "table")[2] == pytest.approx(-expected, rel=0.05)
    assert world.data.body_awake[-1] == 0


def test_contacts_name_both_sides_and_the_place():
    world = World(plain(*cubes(Pose.flat(0.1, 0.2, 0.025), Pose.flat(0.1, 0.2, 0.075))))
    world.step(30)
    pairs = {(c.first, c.second): c for c in world.contacts()}
    assert set(pairs) == {("table", "cube 0"), ("cube 0", "cube 1")}
    assert pairs["cube 0", "cube 1"].position == pytest.approx((0.1, 0.2, 0.05), abs=2e-3)
    assert pairs["table", "cube 0"].strength == pytest.approx(0.2 * GRAVITY * CONTROL_PERIOD, rel=0.05)
    assert world.touching("cube 0") == ("table", "cube 1")


def test_contact_ends_when_things_part():
    world = World(plain(*cubes(Pose.flat(0, 0, 0.025), Pose.flat(0, 0, 0.075))))
    world.step(60)
    world.teleport({"cube 1": Pose.flat(0.5, 0, 0.025)})
    world.step(30)
    assert world.touching("cube 0") == ("table",)


def test_what_lost_its_support_wakes_and_falls():
    world = World(plain(*cubes(Pose.flat(0, 0, 0.025), Pose.flat(0, 0, 0.075))))
    world.step(60)
    assert not world.data.body_awake[1:].any()
    world.teleport({"cube 0": Pose.flat(0.5, 0, 0.025)})
    world.step(20)
    assert world.pose("cube 1").position[2] == pytest.approx(0.025, abs=1e-3)


def test_a_short_blow_between_two_looks_is_not_missed():
    world = World(plain(*cubes(Pose.flat(0, 0, 0.2))))
    hits = []
    for _ in range(12):
        world.step()
        hits.append("table" in world.touching("cube 0"))
    assert any(hits)
    assert not hits[0]


# ------------------------------------------------------------------------------------------------ mechanisms


def _pushed(world: World, part: str, force: tuple[float, float, float], steps: int = 30) -> None:
    body = world._proto.bodies[part]
    for _ in range(steps):
        world.data.xfrc_applied[body, :3] = force
        world.step()
    world.data.xfrc_applied[:] = 0.0


def test_a_drawer_slides_to_its_end_and_stays_where_it_is_left():
    world = World(plain(drawer_cabinet("cabinet")))
    _pushed(world, "cabinet/middle", (0, -3, 0))
    assert world.joint("cabinet/middle") == pytest.approx(0.24, abs=2e-3)
    world.step(20)
    assert world.joint("cabinet/middle") == pytest.approx(0.24, abs=2e-3)
    assert world.joint("cabinet/top") == pytest.approx(0.0, abs=1e-3)
    assert world.pose("cabinet/middle").position[1] == pytest.approx(world.pose("cabinet/top").position[1] - 0.24, abs=3e-3)


def test_a_drawer_carries_what_lies_in_it():
    cabinet = drawer_cabinet("cabinet", opened=(0.24, 0, 0))
    inside = World(plain(cabinet)).pose("cabinet/top").moved(y=-0.05)
    block = Body("block", "cube", "red", inside, (0.03, 0.03, 0.03))
    world = World(plain(cabinet, block))
    world.settle()
    start = world.pose("block").position
    _pushed(world, "cabinet/top", (0, 1.2, 0), 60)
    assert world.joint("cabinet/top") == pytest.approx(0.0, abs=3e-3)
    assert world.pose("block").position[1] == pytest.approx(start[1] + 0.24, abs=0.02)
    assert world.touching("block") == ("cabinet/top",)


def test_drawers_start_opened_as_asked():
    world = World(plain(drawer_cabinet("cabinet", opened=(0.1, 0.0, 0.2))))
    world.step(10)
    assert [world.joint(f"cabinet/{d}") for d in ("top", "middle", "bottom")] == pytest.approx([0.1, 0.0, 0.2], abs=2e-3)


def test_a_door_opens_only_when_its_handle_is_turned():
    world = World(plain(door("door")))
    _pushed(world, "door/plank", (0, -10, 0))
    assert world.joint("door/plank") == pytest.approx(0.0, abs=2e-3)
    world.data.xfrc_applied[world._proto.bodies["door/handle"], 3:] = (0, -2, 0)
    for _ in range(20):
        world.data.xfrc_applied[world._proto.bodies["door/plank"], :3] = (0, -10, 0)
        world.step()
    assert world.joint("door/plank") > 0.3


def test_a_door_latches_again_when_it_shuts():
    world = World(plain(door("door", joints=(0.4, 0.0))))
    world.step(20)
    assert world.joint("door/plank") == pytest.approx(0.4, abs=0.02)
    _pushed(world, "door/plank", (0, 12, 0), 40)
    assert world.joint("door/plank") == pytest.approx(0.0, abs=3e-3)
    _pushed(world, "door/plank", (0, -10, 0))
    assert world.joint("door/plank") == pytest.approx(0.0, abs=3e-3)


def test_the_wrong_number_of_joint_values_is_refused():
    cabinet = dataclasses.replace(drawer_cabinet("cabinet"), joints=(0.1,))
    with pytest.raises(EtudeError, match="has 3 joints, but 1 values"):
        World(plain(cabinet))


def test_a_part_without_parent_is_refused():
    cabinet = drawer_cabinet("cabinet")
    orphan = dataclasses.replace(cabinet.parts[1], parent="nowhere")
    with pytest.raises(EtudeError, match="hangs on 'nowhere'"):
        World(plain(Fixture("cabinet", (cabinet.parts[0], orphan))))


def test_water_stays_in_its_mug():
    world = World(example("pouring"))
    world.settle()
    mug, water = world.pose("mug 1"), world.particles("water")
    assert water.shape == (50, 3)
    assert np.linalg.norm(water[:, :2] - np.array(mug.position[:2]), axis=1).max() < 0.06


def test_particles_are_one_entity():
    grains = Particles("dirt", "cube", 0.01, "brown", tuple((0.02 * i, 0.0, 0.006) for i in range(5)))
    world = World(plain(grains))
    world.settle()
    assert world.touching("table") == ("dirt",)


# ------------------------------------------------------------------------------------------------ holding, moving, asking


def _holding_world() -> World:
    world = World(Scene(cubes(Pose.flat(0.5, 0.0, 0.025)), Robot("panda", "parallel"), ENDLESS, None))
    world.teleport({"cube 0": world.robot.tip()})
    world.attach("cube 0")
    world.step(4)
    return world


def test_attached_things_follow_the_hand_and_fall_when_let_go():
    world = _holding_world()
    grip = world.robot.tip().inverse() * world.pose("cube 0")
    world.robot.move_to(world.robot.tip().moved(0.1, 0.1, 0.1))
    world.step(20)
    now = world.robot.tip().inverse() * world.pose("cube 0")
    assert now.position == pytest.approx(grip.position, abs=1e-3)
    world.detach()
    world.step(20)
    assert world.pose("cube 0").position[2] < 0.03


def test_only_loose_bodies_can_be_attached():
    world = _holding_world()
    with pytest.raises(EtudeError, match="unknown loose body 'cube'"):
        world.attach("cube")
    with pytest.raises(EtudeError, match="no robot"):
        World(plain(*cubes(Pose.flat(0, 0, 0.025)))).attach("cube 0")


def test_teleport_moves_at_once_and_at_rest():
    world = World(plain(*cubes(Pose.flat(0, 0, 0.3))))
    world.step(3)
    there = Pose((0.2, 0.1, 0.025), yaw_quat(0.5))
    world.teleport({"cube 0": there})
    assert world.pose("cube 0") == there
    assert np.abs(world.velocity("cube 0")).max() == 0.0


def test_velocity_is_that_of_free_fall():
    world = World(plain(*cubes(Pose.flat(0, 0, 2.0))))
    world.step(6)
    linear, angular = world.velocity("cube 0")
    assert linear == pytest.approx((0, 0, -GRAVITY * 0.3), rel=0.02, abs=1e-6)
    assert np.abs(angular).max() < 1e-9


def test_unknown_names_are_refused_with_the_nearest():
    world = World(example("drawers"))
    for ask in (world.pose, world.velocity):
        with pytest.raises(EtudeError, match="did you mean 'block'"):
            ask("blok")
    with pytest.raises(EtudeError, match="cabinet/top"):
        world.joint("cabinet/tp")
    with pytest.raises(EtudeError, match="unknown particles"):
        world.particles("water")


def test_contacts_lie_at_the_same_place_after_every_physics_step():
    """The table of contacts reads them there, without asking MuJoCo again."""
    world = World(example("tower"))
    places = set()
    for _ in range(40):
        mujoco.mj_step(world.model, world.data)
        if world.data.ncon:
            places.add(world.data.contact.dist.__array_interface__["data"][0])
    assert len(places) == 1
