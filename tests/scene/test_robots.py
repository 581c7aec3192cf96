"""Arms and hands: published kinematics, accuracy, suction and grip."""

from __future__ import annotations

import math

import numpy as np
import pytest
from every import every

from etude.catalog.grasp import finger_grasps
from etude.catalog.registry import shape, shape_names
from etude.names import EtudeError, rng
from etude.pose import Pose, angle_between, axis_quat, multiply, rotate, yaw_quat
from etude.scene import Body, Robot, Scene, Table, World
from etude.scene.kinematics import Chain
from etude.scene.robots import ARMS, HANDS, arm, hand
from etude.scene.robots.anatomy import forward
from etude.scene.rooms import RLBENCH_HOME, rlbench_room, xarm_room

DOWN = axis_quat((1, 0, 0), math.pi)  # the tip points to the table
ENDLESS = Table(endless=True)
FITTED = (("panda", "parallel"), ("xarm6", "vacuum"), ("ur5", "suction"), ("ur5", "spatula"))
ROLLS = {
    "sphere", "lemon", "orange", "plum", "apple", "peach", "large marker", "mini soccer ball", "softball", "baseball", "tennis ball",
    "racquetball", "golf ball", "marbles a", "marbles b",
}  # fmt: skip


# ------------------------------------------------------------------------------------------------ kinematics


@pytest.mark.parametrize(
    ("name", "joints", "position", "axis"),
    [
        # Stretched upwards: 0.333 + 0.316 + 0.384 − 0.107, shifted by a7; the flange looks down.
        ("panda", (0, 0, 0, 0, 0, 0, 0), (0.088, 0.0, 0.926), (0, 0, -1)),
        ("panda", (0, 0, 0, -math.pi / 2, 0, math.pi / 2, 0), (0.5545, 0.0, 0.6245), (0, 0, -1)),
        # The zero pose of the UR5's published Denavit-Hartenberg table.
        ("ur5", (0, 0, 0, 0, 0, 0), (-0.81725, -0.19145, -0.005491), (0, -1, 0)),
        ("ur5", (0, -math.pi / 2, 0, -math.pi / 2, 0, 0), (0.0, -0.19145, 1.001059), (0, -1, 0)),
        ("xarm6", (0, 0, 0, 0, 0, 0), (0.207, 0.0, 0.112), (0, 0, -1)),
        ("xarm6", (0, 0, -math.pi / 2, 0, math.pi / 2, 0), (0.472, 0.0, 0.532), (0, 0, -1)),
    ],
)
def test_forward_kinematics_match_the_published_numbers(name, joints, position, axis):
    flange = forward(arm(name), joints)
    assert flange.position == pytest.approx(position, abs=1e-6)
    assert rotate(flange.rotation, (0, 0, 1)) == pytest.approx(axis, abs=1e-6)


def test_home_poses_are_those_of_the_suites():
    tip = World(xarm_room()).robot.tip()
    assert tip.position == pytest.approx((-0.090, 0.0, 0.407), abs=1e-3)  # ClevrSkills 1.3
    assert rotate(tip.rotation, (0, 0, 1)) == pytest.approx((0, 0, -1), abs=1e-6)
    assert rotate(tip.rotation, (1, 0, 0)) == pytest.approx((1, 0, 0), abs=1e-6)
    tip = World(rlbench_room()).robot.tip()
    assert tip.position == pytest.approx((0.278, -0.008, 1.473), abs=0.01)  # VLMbench 0.2, whose tip is 7 mm longer
    assert math.acos(-rotate(tip.rotation, (0, 0, 1))[2]) == pytest.approx(math.radians(14), abs=0.02)
    assert len(RLBENCH_HOME) == 7


@pytest.mark.parametrize(("arm_name", "hand_name"), FITTED)
def test_the_world_and_the_chain_agree_where_the_tip_is(arm_name, hand_name):
    world = World(Scene(robot=Robot(arm_name, hand_name, Pose.flat(0.1, -0.2, 0.3, 0.4)), table=None, floor=None))
    robot = world.robot
    robot.move_joints(robot.chain.home + 0.3)
    world.step(30)
    body = world.model.body("hand").id
    flange = Pose.of(world.data.xpos[body], world.data.xquat[body])
    assert (flange * robot.hand.tip).position == pytest.approx(robot.tip().position, abs=1e-6)
    assert angle_between((flange * robot.hand.tip).rotation, robot.tip().rotation) < 1e-6


@pytest.mark.parametrize(("arm_name", "hand_name"), FITTED[:3])
def test_inverse_kinematics_finds_its_way_back(arm_name, hand_name):
    chain, stream = Chain(arm(arm_name), hand(hand_name)), rng("test", arm_name)
    for _ in range(200):
        joints = np.array([stream.uniform(max(a, -2.8), min(b, 2.8)) for a, b in zip(chain.lower, chain.upper, strict=True)])
        start = np.clip(joints + np.array([stream.uniform(-0.2, 0.2) for _ in joints]), chain.lower, chain.upper)
        found = chain.solve(chain.forward(joints), start)
        assert found.reached
        assert np.all(found.joints >= chain.lower) and np.all(found.joints <= chain.upper)


def test_inverse_kinematics_says_when_it_fails():
    chain = Chain(arm("ur5"), hand("suction"))
    assert not chain.solve(Pose((2.0, 0, 0.3)), chain.home).reached


# ------------------------------------------------------------------------------------------------ accuracy


def _poses(count: int, purpose: str, lower, upper):
    stream = rng("test/accuracy", purpose)
    for _ in range(count):
        position = [stream.uniform(a, b) for a, b in zip(lower, upper, strict=True)]
        tilt = axis_quat((stream.normal(), stream.normal(), 0.01), stream.uniform(0, 0.5))
        yield Pose.of(position, multiply(tilt, multiply(DOWN, yaw_quat(stream.uniform(-1.5, 1.5)))))


@pytest.mark.parametrize(("arm_name", "hand_name"), FITTED)
def test_the_hand_reaches_commanded_poses_within_2_mm_and_half_a_degree(arm_name, hand_name):
    world = World(Scene(robot=Robot(arm_name, hand_name), table=None, floor=None))
    robot, reached = world.robot, 0
    for target in _poses(40, f"{arm_name} {hand_name}", (0.30, -0.3, 0.12), (0.55, 0.3, 0.45)):
        if not robot.move_to(target):
            continue
        reached += 1
        world.step(24)
        assert np.linalg.norm(np.subtract(robot.tip().position, target.position)) < 0.002
        assert angle_between(robot.tip().rotation, target.rotation) < math.radians(0.5)
    assert reached >= 36


@pytest.mark.parametrize(("arm_name", "hand_name"), FITTED[:3])
def test_ee_delta_moves_by_what_was_asked_in_the_frame_of_the_tip(arm_name, hand_name):
    world = World(Scene(robot=Robot(arm_name, hand_name), table=None, floor=None))
    for action in ((0.1, 0, 0, 0, 0, 0), (0, 0.1, 0, 0, 0, 0), (0, 0, -0.1, 0, 0, 0), (0, 0, 0, 0, 0, 0.3), (0.05, 0.05, 0, 0.2, 0, 0)):
        world.reset()
        assert world.robot.move_by(action) == 1.0
        for _ in range(3):  # a first step to get up to speed
            start = world.robot.tip()
            world.robot.move_by(action)
            world.step()
        moved = start.inverse() * world.robot.tip()
        assert moved.position == pytest.approx([0.1 * a for a in action[:3]], abs=1e-3)
        assert angle_between(moved.rotation, (1, 0, 0, 0)) == pytest.approx(0.1 * np.linalg.norm(action[3:]), abs=5e-3)


def test_a_delta_too_fast_for_the_joints_is_shortened_and_keeps_its_direction():
    world = World(Scene(robot=Robot("panda", "parallel"), table=None, floor=None))
    start = world.robot.tip()
    share = world.robot.move_by((1.0, 0, 0, 0, 0, 0))
    assert 0.1 < share < 0.6
    for _ in range(4):
        start = world.robot.tip()
        world.robot.move_by((1.0, 0, 0, 0, 0, 0))
        world.step()
    moved = (start.inverse() * world.robot.tip()).position
    assert moved[0] > 0.01
    assert max(abs(moved[1]), abs(moved[2])) < 0.1 * moved[0]


def test_no_joint_is_ever_faster_than_published():
    world = World(Scene(robot=Robot("panda", "parallel"), table=None, floor=None))
    limit = np.array([link.speed for link in arm("panda").links])
    world.robot.move_joints(world.robot.chain.home + np.array([1.5, 0.8, -1.2, 0.9, 1.1, -0.9, 1.4]))
    for _ in range(15):
        world.step()
        assert np.all(np.abs(world.robot.joint_velocities()) < 1.1 * limit)


@pytest.mark.parametrize("action", [(0, 0, 0), (math.nan, 0, 0, 0, 0, 0), (0,) * 7])
def test_a_delta_that_is_none_is_refused(action):
    robot = World(Scene(robot=Robot("ur5", "suction"), table=None, floor=None)).robot
    with pytest.raises(EtudeError, match="6 finite numbers"):
        robot.move_by(action)


def test_joint_targets_of_the_wrong_number_are_refused():
    robot = World(Scene(robot=Robot("ur5", "suction"), table=None, floor=None)).robot
    with pytest.raises(EtudeError, match="6 finite joint values"):
        robot.move_joints((0, 0))


@every("arm_name", ARMS)
@pytest.mark.parametrize("hand_name", HANDS)
def test_any_arm_takes_any_hand(arm_name, hand_name):
    world = World(Scene(robot=Robot(arm_name, hand_name), table=None, floor=None))
    start = world.robot.joints()
    world.step(20)
    assert np.abs(world.robot.joints() - start).max() < 1e-3  # gravity is compensated: it stays where it is


# ------------------------------------------------------------------------------------------------ holding


def _lowered(world: World, top: Pose) -> None:
    world.robot.move_to(top.moved(z=0.1))
    world.step(30)
    world.robot.grip(True)
    for i in range(30):
        if world.robot.held:
            return
        world.robot.move_to(top.moved(z=0.1 - 0.005 * i))
        world.step()


@pytest.mark.parametrize(("arm_name", "hand_name", "x"), [("xarm6", "vacuum", 0.45), ("ur5", "suction", 0.5), ("panda", "vacuum", 0.5)])
def test_suction_holds_a_kilogram_at_full_speed_and_lets_go_at_once(arm_name, hand_name, x):
    cube = Body("cube", "cube", "red", Pose.flat(x, 0, 0.04), (0.08, 0.08, 0.08), mass=1.0)
    world = World(Scene((cube,), Robot(arm_name, hand_name), ENDLESS, None))
    robot = world.robot
    _lowered(world, Pose((x, 0, 0.081), DOWN))
    assert robot.held == "cube"
    grip, fastest = robot.tip().inverse() * world.pose("cube"), 0.0
    for k in range(8):
        robot.move_to(Pose((x - 0.1 * (k % 2), 0.2 * (-1) ** k, 0.25 + 0.08 * (k % 3)), DOWN))
        for _ in range(10):
            world.step()
            now = robot.tip().inverse() * world.pose("cube")
            assert np.linalg.norm(np.subtract(now.position, grip.position)) < 0.004
            fastest = max(fastest, float(np.linalg.norm(world.velocity("cube")[0])))
    assert robot.held == "cube"
    assert fastest > 1.8  # m/s
    height = world.pose("cube").position[2]
    robot.grip(False)
    world.step(2)
    assert height - world.pose("cube").position[2] == pytest.approx(0.5 * 9.81 * 0.1**2, rel=0.05)


def test_suction_takes_nothing_that_only_some_cups_touch_alone():
    blocks = [Body(f"block {i}", "cube", "red", Pose.flat(0.45, y, 0.02), (0.04, 0.04, 0.04)) for i, y in enumerate((-0.0205, 0.0205))]
    world = World(Scene(tuple(blocks), Robot("xarm6", "vacuum"), ENDLESS, None))
    _lowered(world, Pose((0.45, 0, 0.041), multiply(DOWN, yaw_quat(0.0))))
    assert world.robot.held is None


def test_suction_gives_way_to_a_pull_beyond_its_strength():
    cube = Body("cube", "cube", "red", Pose.flat(0.45, 0, 0.04), (0.08, 0.08, 0.08), mass=30.0)
    world = World(Scene((cube,), Robot("ur5", "suction"), ENDLESS, None))
    _lowered(world, Pose((0.45, 0, 0.081), DOWN))
    world.robot.move_to(Pose((0.45, 0, 0.3), DOWN))
    world.step(30)
    assert world.robot.held is None
    assert world.pose("cube").position[2] < 0.06


@every("name", shape_names())
def test_what_is_meant_for_fingers_they_hold_by_friction_while_shaken(name):
    model = shape(name)
    if "fingers" not in model.hands:
        assert finger_grasps(model) == ()
        return
    grasp = finger_grasps(model)[0]
    place = Pose((0.5, 0.0, -float(model.bounds[0][2])))
    body = Body("thing", name, "red", place, material="ball" if name in ROLLS else "default")
    base = Pose((0.0, 0.0, max(0.0, model.size[2] - 0.25)))  # so that tall things can be lifted
    world = World(Scene((body,), Robot("panda", "parallel", base), ENDLESS, None))
    robot = world.robot
    world.step(4)
    start = world.pose("thing")
    goal = start * grasp.tip

    def go(pose: Pose, steps: int = 1) -> None:
        assert robot.move_to(pose)
        world.step(steps)

    go(goal.moved(z=0.12), 25)
    for i in range(6):
        go(goal.moved(z=0.10 - 0.02 * i))
    world.step(3)
    robot.grip(True)
    world.step(8)
    held = robot.tip().inverse() * world.pose("thing")
    for i in range(10):
        go(goal.moved(z=0.015 * (i + 1)))
    assert world.pose("thing").position[2] > start.position[2] + 0.1
    for i in range(30):  # 2 Hz and 6 cm along x, y and z: up to 0.75 m/s and 1 g
        shift = [0.0, 0.0, 0.15]
        shift[i // 10] += 0.06 * math.sin(2 * math.pi * 2 * i * 0.05)
        go(goal.moved(*shift))
    go(goal.moved(z=0.15), 4)
    now = robot.tip().inverse() * world.pose("thing")
    assert np.linalg.norm(np.subtract(now.position, held.position)) < 0.01
    assert angle_between(now.rotation, held.rotation) < math.radians(12)
    robot.grip(False)
    world.step(8)
    assert world.pose("thing").position[2] < start.position[2] + 0.08
