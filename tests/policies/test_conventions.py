"""Declared differences of convention are converted exactly, and what is converted is said; what is not declared is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import etude
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES
from etude.library import episode
from etude.names import EtudeError
from etude.policies.contract import SPACES, Contract, converted, mismatches, undeclared
from etude.policies.conventions import ActionConversion, ContractObserver, action_conversion, quaternion
from etude.policies.scripted import OraclePolicy, Takeover
from etude.pose import Pose, angle_between, axis_quat, conjugate, euler_quat, matrix, multiply, rotate, rotation_vector

NAME = "clevrskills/touch@train#0"
EPISODE = episode(NAME)
EVERYWHERE = (NAME, "vima/rotate@L1#0", "vima/sweep_without_touching@L4#0", "himan/open_drawer@test#0")
numbers = st.floats(-0.9, 0.9)


@pytest.fixture(scope="module")
def simulation():
    found = Simulation(EPISODE)
    for _ in range(3):
        found.step([0.3, -0.2, 0.4, 0.5, 0.2, -0.6, -1])
    return found


def laid_out(layout, q):
    """A rotation in a layout, without the code under test."""
    R = matrix(q)
    w, x, y, z = q
    if layout == "axis_angle":
        return rotation_vector(q)
    if layout == "euler_xyz":
        return np.array([math.atan2(R[2, 1], R[2, 2]), math.asin(-R[2, 0]), math.atan2(R[1, 0], R[0, 0])])
    return {
        "quaternion_wxyz": np.array([w, x, y, z]),
        "quaternion_xyzw": np.array([x, y, z, w]),
        "rotation_6d_columns": np.concatenate([R[:, 0], R[:, 1]]),
        "rotation_6d_rows": np.concatenate([R[0], R[1]]),
    }[layout]


LAYOUTS = ("axis_angle", "euler_xyz", "quaternion_wxyz", "quaternion_xyzw", "rotation_6d_columns", "rotation_6d_rows")


@pytest.mark.parametrize("layout", LAYOUTS)
@given(numbers, numbers, numbers)
def test_every_layout_of_a_rotation_is_read_as_what_it_is(layout, a, b, c):
    q = euler_quat(3 * a, 1.5 * b, 3 * c)
    assert angle_between(quaternion(layout, laid_out(layout, q)), q) < 1e-6


def frame_of(simulation, frame):
    return {"tip": simulation.robot.tip(), "base": simulation.episode.scene.robot.base, "world": Pose()}[frame]


@pytest.mark.parametrize("frame", ["tip", "world", "base"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_steps_of_the_tip_in_any_frame_scale_and_layout_become_the_same_step(simulation, frame, layout):
    wanted = np.array([0.3, -0.5, 0.2, 0.1, -0.4, 0.6, 1.0])  # in the environment's conventions
    axes, tip = frame_of(simulation, frame).rotation, simulation.robot.tip().rotation
    shift = rotate(conjugate(axes), rotate(tip, wanted[:3] * 0.1)) / 0.05
    turn = rotate(conjugate(axes), rotate(tip, wanted[3:6] * 0.1))
    numbers = laid_out(layout, axis_quat(turn, float(np.sqrt((turn**2).sum()))))
    if layout in ("axis_angle", "euler_xyz"):
        numbers = numbers / 0.05
    contract = Contract(action="ee_delta", frame=frame, rotation=layout, scale=0.05, hand=(1.0, 0.0))
    conversion = ActionConversion(contract, simulation)
    given_action = np.array([*shift, *numbers, 0.0])
    assert conversion.width == len(given_action)
    (part,) = conversion.parts(given_action)
    assert np.allclose(conversion.action(part), wanted, atol=1e-9)


@pytest.mark.parametrize("frame", ["tip", "world", "base"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_poses_in_any_frame_and_layout_become_the_same_pose(frame, layout):
    found = Simulation(EPISODE.under("ee_pose"))
    wanted = Pose.of((0.1, 0.2, 0.3), euler_quat(3.0, 0.1, 0.5))
    local = frame_of(found, frame).inverse() * wanted
    contract = Contract(action="ee_pose", frame=frame, rotation=layout, scale=0.001, closes=-1)
    (part,) = ActionConversion(contract, found).parts(np.array([*np.array(local.position) * 1000, *laid_out(layout, local.rotation), -1.0]))
    assert np.allclose(part[:3], wanted.position, atol=1e-8) and angle_between(tuple(part[3:7]), wanted.rotation) < 1e-6
    assert part[-1] == 1.0


def test_joints_have_a_scale_too():
    contract = Contract(action="joint", scale=math.pi / 180)
    (part,) = ActionConversion(contract, Simulation(EPISODE.under("joint"))).parts(np.array([90.0, 0, -45, 0, 10, 0, 1]))
    assert np.allclose(part, [math.pi / 2, 0, -math.pi / 4, 0, math.pi / 18, 0, 1])


@pytest.mark.parametrize("frame", ["tip", "world"])
def test_a_slower_policys_step_is_taken_in_shares_that_add_up(frame, simulation):
    tip = simulation.robot.tip()
    conversion = ActionConversion(Contract(action="ee_delta", frame=frame, rate=5.0), simulation)
    given_action = np.array([0.8, 0.4, -0.8, 0.0, 0.4, 0.8, -1.0])
    parts = conversion.parts(given_action)
    assert len(parts) == 4
    axes = tip.rotation if frame == "tip" else (1.0, 0.0, 0.0, 0.0)
    assert np.allclose(sum(part[:6] for part in parts), [*rotate(axes, given_action[:3] * 0.1), *rotate(axes, given_action[3:6] * 0.1)])
    assert np.allclose(conversion.action(parts[0])[:3] * 0.1, rotate(conjugate(tip.rotation), parts[0][:3]))


class Abroad:
    """The oracle, in the conventions of another house."""

    contract = Contract(
        action="ee_delta", frame="base", rotation="quaternion_xyzw", scale=0.02, hand=(1.0, 0.0), rate=20.0, privileged=True,
        cameras=("base",), size=(24, 16), orientation="rotated_180", called=("image",),
    )  # fmt: skip

    def __init__(self):
        self._oracle, self.seen = OraclePolicy(action="ee_delta"), []

    def reset(self, instruction, pictures, episode):
        self._oracle.reset(instruction, pictures, episode)

    def act(self, observation):
        self.seen.append(observation["image"])
        assert "base" not in observation
        simulation = observation["simulation"]
        action = self._oracle.act(observation)
        turn = multiply(conjugate(simulation.episode.scene.robot.base.rotation), simulation.robot.tip().rotation)
        shift, vector = rotate(turn, action[:3] * 0.1) / 0.02, rotate(turn, action[3:6] * 0.1)
        angle = float(np.sqrt((vector**2).sum()))
        w, x, y, z = axis_quat(vector, angle) if angle > 0 else (1.0, 0.0, 0.0, 0.0)
        return np.array([*shift, x, y, z, w, 0.0 if action[-1] > 0 else 1.0])


def test_a_policy_from_abroad_plays_as_at_home_and_the_run_says_what_was_converted(tmp_path, caplog):
    home, abroad = etude.rollout("oracle:action=ee_delta", NAME), etude.rollout(Abroad(), NAME)
    assert abroad.record.success and abroad.record.steps == home.record.steps
    for mine, theirs in zip(home.trajectory.actions, abroad.trajectory.actions, strict=True):
        assert np.allclose(np.clip(mine[:6], -1, 1), np.clip(theirs[:6], -1, 1), atol=1e-5) and (mine[-1] > 0) == (theirs[-1] > 0)
    etude.evaluate(Abroad(), [NAME], out=tmp_path / "run")
    (words,) = json.loads((tmp_path / "run/run.json").read_text())["converted"].values()
    assert [one.partition(":")[0] for one in words] == ["frame", "rotation", "scale", "image orientation", "hand", "picture names"]
    assert "conventions of the policy are converted: frame: policy has base, environment has tip" in caplog.text


@pytest.mark.parametrize(("orientation", "turned"), [("rotated_180", np.s_[::-1, ::-1]), ("flipped", np.s_[::-1])])
def test_pictures_are_the_way_round_that_was_asked_for(orientation, turned, simulation):
    plain = Contract(cameras=("base",), size=(24, 16), modalities=("rgb", "depth"))
    other = Contract(cameras=("base",), size=(24, 16), modalities=("rgb", "depth"), orientation=orientation, called=("front",))
    seen, shown = ContractObserver(simulation, plain).look(), ContractObserver(simulation, other).look()
    assert np.array_equal(shown["front"], seen["base"][turned]) and np.array_equal(shown["front_depth"], seen["base_depth"][turned])
    assert "base" not in shown and np.array_equal(shown["proprioception"], seen["proprioception"])


def test_who_speaks_as_the_environment_does_is_not_touched(simulation):
    said = Contract("ee_delta", "tip", "axis_angle", 0.1, 1, 20.0, ("base",), orientation="upright")
    assert converted(said, EPISODE) == [] and action_conversion(said, simulation) is None
    turned = Contract(cameras=("base",), orientation="rotated_180")
    assert converted(turned, EPISODE) and action_conversion(turned, simulation) is None


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        (Contract(rate=15.0), "rate: policy has 15 Hz, environment has 20 Hz"),
        (Contract(rate=50.0), "rate: policy has 50 Hz"),
        (Contract(closes=0), "gripper sign: policy closes at 0"),
        (Contract(frame="joints"), "frame: policy has joints, environment has tip"),
        (Contract(rotation="joint_angles"), "rotation: policy has joint_angles"),
        (Contract(orientation="flipped", cameras=("base",), modalities=("rgb", "points")), "image orientation: policy has flipped"),
        (Contract(action="joint", frame="base"), "frame: policy has base, environment has joints"),
    ],
)
def test_what_cannot_be_converted_is_refused(contract, words):
    (found,) = mismatches(contract, EPISODE)
    assert words in found


def test_strokes_are_not_converted():
    (found,) = mismatches(Contract(rotation="quaternion_xyzw"), episode("vima/rotate@L1#0"))
    assert "rotation: policy has quaternion_xyzw" in found


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"hand": [1.0, 1.0]}, "hand is two numbers"),
        ({"hand": [0.0, 1.0], "closes": -1}, "which differ as closes says"),
        ({"scale": 0.0}, "scale and rate must be above 0"),
        ({"called": ["a"]}, "0 cameras, and names for 1"),
        ({"cameras": ["base"], "called": ["instruction"]}, "cannot be called 'instruction'"),
    ],
)
def test_conventions_that_contradict_themselves_are_refused(data, words):
    with pytest.raises(EtudeError, match=words):
        Contract.from_data(data)


def test_what_is_still_open_is_named():
    assert undeclared(Contract()) == ["action", "rate", "closes", "frame", "rotation", "scale"]
    assert undeclared(Contract(action="joint", cameras=("base",))) == ["action", "rate", "closes", "scale", "orientation"][1:]
    assert undeclared(Contract("ee_pose", "base", "quaternion_xyzw", 1.0, rate=10.0, hand=(0.0, 1.0))) == []


def test_what_is_etudes_own_is_said_in_one_word():
    said = Contract("ee_delta", "tip", "axis_angle", 0.1, 1, 20.0, ("base",), orientation="upright", chunk=4)
    assert Contract.etude("ee_delta", cameras=("base",), chunk=4) == said
    assert Contract.etude("joint") == Contract("joint", scale=1.0, closes=1, rate=20.0)
    assert Contract.etude("ee_pose", hand=(0.0, 1.0)) == Contract("ee_pose", "world", "quaternion_wxyz", 1.0, rate=20.0, hand=(0.0, 1.0))
    assert Contract.etude("ee_delta", frame="base", rate=10.0).frame == "base"
    assert Contract.etude(cameras=("base",)) == Contract(own=True, cameras=("base",), orientation="upright")
    for contract in (said, Contract.etude(), Contract.etude("answer"), Contract(privileged=True), *map(Contract.etude, SPACES)):
        assert undeclared(contract) == [] and contract.as_etude() == contract


@pytest.mark.parametrize("space", SPACES)
def test_what_is_etudes_own_differs_from_no_environment_and_is_not_converted(space):
    found = next(found for found in map(episode, EVERYWHERE) if space not in PRIMITIVES or found.control == space)
    contract = Contract.etude(space, cameras=(found.scene.cameras[0].name,))
    assert mismatches(contract, found) == [] and converted(contract, found) == []


def test_a_contract_is_not_of_one_space_and_of_the_tasks_own():
    with pytest.raises(EtudeError, match="of the task's own action space or of 'joint', not of both"):
        Contract("joint", own=True)


def test_an_oracle_does_not_take_over_in_a_language_that_is_not_its_own():
    with pytest.raises(EtudeError, match="the oracle that takes over acts as well"):
        Takeover(Abroad(), 0.5)


def test_contracts_of_earlier_runs_are_still_the_same_data():
    assert not {"hand", "called", "joints", "own"} & Contract().to_data().keys()
    said = Contract(cameras=("base",), called=("image",), hand=(0.0, 1.0))
    assert Contract.from_data(json.loads(json.dumps(said.to_data()))) == said
