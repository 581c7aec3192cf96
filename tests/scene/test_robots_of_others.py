"""Arms from files of others: read as written, refused where they cannot be used, and played like our own."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from arm_files import as_mjcf, as_urdf

import etude
from etude.envs.simulation import Simulation
from etude.names import EtudeError, rng
from etude.policies.scripted import OraclePolicy
from etude.pose import Pose, angle_between, yaw_quat
from etude.scene import Robot, Scene, World
from etude.scene.robots import ARMS, HANDS, Arm, Hand, arm, register_arm, register_hand
from etude.scene.robots.anatomy import forward

DATA = Path(__file__).parent.parent / "data"
STRANGER = {"tip": "wrist_mount", "home": (0.0, 0.1, 0.0, -1.8, 0.3, 1.24, 0.0)}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """An arm from a text: ``read(text)``."""
    folder, numbers = tmp_path_factory.mktemp("arms"), itertools.count()

    def read(text: str, kind: str = "xml", **changes) -> Arm:
        path = folder / f"arm{next(numbers)}.{kind}"
        path.write_text(text)
        options = {"name": "mine", "tip": "flange", "home": arm("xarm6").home} | changes
        return (Arm.from_urdf if kind == "urdf" else Arm.from_mjcf)(path, **options)

    return read


@pytest.mark.parametrize("name", ["xarm6", "panda", "ur5"])
@pytest.mark.parametrize(("kind", "write"), [("xml", as_mjcf), ("urdf", as_urdf)])
def test_an_arm_written_to_a_file_is_read_back(read, name, kind, write):
    ours = arm(name)
    theirs = read(write(ours), kind, home=ours.home)
    for turn in (0.0, 0.3, -0.4):
        joints = tuple(q + turn for q in ours.home)
        one, other = forward(ours, joints), forward(theirs, joints)
        assert one.position == pytest.approx(other.position, abs=1e-7) and angle_between(one.rotation, other.rotation) < 1e-6
    for link, copy in zip(ours.links, theirs.links, strict=True):
        assert copy.range == pytest.approx(link.range) and (copy.torque, copy.mass) == (link.torque, link.mass)
        assert [p.kind for p in copy.pieces] == ["capsule"] * len(link.pieces) and len(copy.looks) == len(link.pieces)
        for a, b in zip(link.pieces, copy.pieces, strict=True):
            assert b.position == pytest.approx(a.position, abs=1e-6) and b.size == pytest.approx(a.size, abs=1e-6)
    assert len(theirs.base_pieces) == len(ours.base_pieces)
    assert [link.speed for link in theirs.links] == ([link.speed for link in ours.links] if kind == "urdf" else [2.0] * len(ours.links))


@pytest.fixture(scope="module")
def stranger() -> Arm:
    return register_arm(Arm.from_mjcf(DATA / "stranger.xml", name="stranger", **STRANGER))


def test_axes_anchors_and_zeros_are_read_as_mujoco_means_them(stranger):
    model = mujoco.MjModel.from_xml_path(str(DATA / "stranger.xml"))
    data, stand, site = mujoco.MjData(model), model.body("pedestal").id, model.site("wrist_mount").id
    stream = rng("test", "stranger")
    for _ in range(20):
        joints = tuple(stream.uniform(*link.range) for link in stranger.links)
        data.qpos[:7] = joints
        mujoco.mj_kinematics(model, data)
        base = Pose.of(data.xpos[stand], data.xquat[stand])
        found, rotation = base * forward(stranger, joints), np.empty(4)
        mujoco.mju_mat2Quat(rotation, data.site_xmat[site])
        assert found.position == pytest.approx(data.site_xpos[site], abs=1e-7) and angle_between(found.rotation, rotation) < 1e-6


def test_meshes_boxes_materials_and_actuators_are_read(stranger):
    assert [link.torque for link in stranger.links] == [90, 90, 60, 60, 30, 30, 30]
    assert [link.mass for link in stranger.links] == [3, 0.01, 4, 3, 2, 1, 0.5]  # two joints on one body: the second carries it
    assert all(piece.kind == "capsule" for link in stranger.links for piece in link.pieces)
    upper = stranger.links[2].looks[0]
    assert upper.texture == "#336699" and stranger.links[3].looks[0].texture == "#cccccc"
    assert np.ptp(upper.mesh.vertices, axis=0) == pytest.approx((0.1, 0.1, 0.36), abs=1e-6)
    assert upper.mesh.mass_properties()[0] == pytest.approx(0.1 * 0.1 * 0.36, rel=1e-4)
    assert stranger.links[2].pieces[0].size == pytest.approx((0.05, 0.08, 0.0), abs=1e-6)  # 0.26 m long, as the cylinder is
    assert [look.texture for look in stranger.base_looks] == ["#cccccc"]


def test_a_file_without_a_frame_for_the_hand_is_helped_out(stranger):
    turned = Pose((0.0, 0.0, 0.04), yaw_quat(0.5))  # the site, in the frame of the body that carries it
    same = Arm.from_mjcf(DATA / "stranger.xml", name="same", tip="spinner", home=stranger.home, offset=turned)
    assert same.flange.position == stranger.flange.position and angle_between(same.flange.rotation, stranger.flange.rotation) < 1e-6


def test_a_stranger_goes_where_it_is_told(stranger):
    world = World(Scene(robot=Robot(stranger.name, "parallel"), table=None, floor=None))
    target = world.robot.tip() * Pose((0.05, 0.0, 0.04))
    assert world.robot.move_to(target)
    world.step(24)
    assert world.robot.tip().position == pytest.approx(target.position, abs=0.002)


GRIPPER = '<body name="claw"><joint name="claw" type="slide" axis="0 1 0" range="0 0.04"/><geom size="0.01"/></body>'


def test_joints_beyond_the_tip_are_left_out(read):
    assert len(read(as_mjcf(arm("xarm6"), beyond=GRIPPER)).links) == 6


def _changed(old: str, new: str) -> str:
    text, count = re.subn(old, new, as_mjcf(arm("xarm6")), count=1)
    assert count == 1
    return text


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        ("<mujoco><worldbody>", {}, r"arm\d+\.xml cannot be read as MJCF or URDF: "),
        (as_mjcf(arm("xarm6")), {"tip": "flang"}, r"unknown site or body of arm\d+\.xml 'flang'; did you mean 'flange'\?"),
        (as_mjcf(arm("xarm6")), {"tip": "part4"}, "4 joints lead to 'part4'; an arm needs at least 6"),
        (as_mjcf(arm("xarm6"), beside=GRIPPER), {}, "'claw' branches off before 'flange'; expected one chain of joints"),
        (
            as_mjcf(arm("xarm6"), outside='<equality><connect name="loop" body1="part5" body2="part1" anchor="0 0 0"/></equality>'),
            {},
            "the equality 'loop' closes or couples the chain",
        ),
        (
            as_mjcf(arm("xarm6"), outside='<equality><joint name="twins" joint1="axis2" joint2="axis3"/></equality>'),
            {},
            "the equality 'twins' closes or couples the chain",
        ),
        (_changed('name="axis3" axis', 'name="axis3" type="slide" axis'), {}, "joint 'axis3' on the way to 'flange' is of type slide"),
        (_changed('(name="axis3" axis="0 0 1") range="[^"]*"', r"\1"), {}, "joint 'axis3' has no limits; write its range"),
        (_changed(' actuatorfrcrange="[^"]*"', ""), {}, "joint 'axis1' has no torque above zero; give torque=…"),
        (as_mjcf(arm("xarm6")), {"torque": (1, 2)}, "torque must be one number or 6, one for each joint, got 2"),
        (as_mjcf(arm("xarm6")), {"speed": -1.0}, "joint 'axis1' has no speed above zero"),
        (as_mjcf(arm("xarm6")), {"home": (0, 0, 0)}, "the home of 'mine' has 3 values; expected 6, one for each of axis1, axis2,"),
        (as_mjcf(arm("xarm6")), {"home": (0, 0, 1.5, 0, 0, 0)}, "puts joint 'axis3' at 1.5 rad; its range is -3.927 to 0.192"),
        (as_mjcf(arm("xarm6")), {"name": "a/b"}, "'a/b' cannot be the name of an arm; expected a word without any of"),
    ],
)  # fmt: skip
def test_what_cannot_be_an_arm_is_refused_in_one_line(read, text, changes, said):
    with pytest.raises(EtudeError, match=said) as error:
        read(text, **changes)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(EtudeError, match=r"there is no file 'nowhere\.xml'"):
        Arm.from_mjcf("nowhere.xml", name="mine", tip="flange", home=())


# ------------------------------------------------------------------------------------------------ in use


@pytest.fixture(scope="module")
def mine(read) -> str:
    ours = arm("xarm6")
    register_arm(read(as_mjcf(ours), name="mine"))
    register_arm(read(as_urdf(arm("panda")), "urdf", name="my panda", home=arm("panda").home))
    return "mine"


def test_registered_arms_and_hands_know_their_module_and_cannot_be_replaced(mine):
    assert ARMS.module_of(mine) == __name__ and ARMS.module_of("panda") == "etude.scene.robots.panda"
    with pytest.raises(EtudeError, match=rf"^{__name__}: etude\.scene\.robots\.panda has the arm 'panda' already"):
        register_arm(arm("panda"))
    vacuum = HANDS["vacuum"]
    register_hand(Hand("my vacuum", vacuum.kind, vacuum.tip, vacuum.mass, vacuum.looks, vacuum.pieces, vacuum.cups, force=20.0))
    assert HANDS.module_of("my vacuum") == __name__
    with pytest.raises(EtudeError, match=r"unknown arm 'mein'; did you mean 'mine'\?"):
        etude.episode("clevrskills/pick@train#0?robot=mein")


@pytest.mark.parametrize("task", ["pick", "push", "touch", "trace"])
@pytest.mark.parametrize("robot", ["mine", "my panda", "stranger"])
def test_the_oracle_plays_with_an_arm_of_ones_own(mine, stranger, task, robot):
    simulation, oracle = Simulation(etude.episode(f"clevrskills/{task}@train#0?robot={robot}")), OraclePolicy()
    oracle.reset("", (), simulation.episode.name)
    while not simulation.over:
        simulation.step(oracle.act({"simulation": simulation}))
    assert simulation.episode.scene.robot.arm == robot and simulation.status.satisfied


def test_an_arm_too_short_for_the_workspace_is_refused(read):
    small = (
        as_mjcf(arm("xarm6"))
        .replace('pos="0.0775 0.3425 0.0"', 'pos="0.0775 0.0425 0.0"')
        .replace('"0.0535 -0.2845 0.0"', '"0.0535 -0.1 0.0"')
    )
    register_arm(read(small, name="short"))
    with pytest.raises(EtudeError, match=r"the arm 'short' with the hand 'vacuum' cannot be held over '"):
        etude.episode("clevrskills/pick@train#0?robot=short")


@pytest.mark.parametrize(
    "name",
    [
        "vima/rotate@L1#0?robot=panda",
        "vlmbench/drawer@test_seen#1?robot=xarm6",
        "himan/open_drawer@test#0?robot=ur5",
        "himan/box_out_of_cupboard@test#0?robot=xarm6",  # where no hand can be held over what it takes
    ],
)
def test_every_suite_is_played_with_other_arms(name):
    assert etude.rollout("oracle", name).record.success


def test_another_arm_begins_with_its_hand_where_the_suites_own_holds_it():
    own, other = (World(etude.episode(name).scene).robot.tip() for name in ("vima/rotate@L1#0", "vima/rotate@L1#0?robot=panda"))
    assert np.allclose(own.position, other.position, atol=2e-3)


def test_the_suites_own_arm_by_name_changes_nothing():
    for task in ("box_exchange", "broom_out_of_cupboard"):
        assert etude.episode(f"himan/{task}@test#0?robot=panda").scene == etude.episode(f"himan/{task}@test#0").scene


def test_where_there_is_no_robot_there_is_no_other():
    with pytest.raises(EtudeError, match="'robot' does not apply to iwisdm"):
        etude.library.find("iwisdm/low@val#0?robot=panda")
