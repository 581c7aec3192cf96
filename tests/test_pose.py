"""Poses and rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.names import EtudeError, rng
from etude.pose import IDENTITY, Pose, align, angle_between, axis_quat, euler_quat, matrix, matrix_quat, multiply, rotate, yaw_quat

coordinate = st.floats(-3, 3)
angles = st.floats(-math.pi, math.pi)
turns = st.builds(euler_quat, angles, angles, angles)
poses = st.builds(Pose.of, st.tuples(coordinate, coordinate, coordinate), turns)


def close(a: Pose, b: Pose) -> bool:
    return bool(np.allclose(a.position, b.position, atol=3e-8)) and angle_between(a.rotation, b.rotation) < 1e-7


@given(poses)
def test_a_pose_and_its_inverse_cancel(pose):
    assert close(pose * pose.inverse(), Pose())


@given(poses, poses, poses)
def test_composition_is_associative(a, b, c):
    assert close((a * b) * c, a * (b * c))


@given(poses, st.tuples(coordinate, coordinate, coordinate))
def test_applying_a_pose_is_turning_then_shifting(pose, point):
    expected = matrix(pose.rotation) @ np.array(point) + np.array(pose.position)
    assert np.allclose(pose.apply([point])[0], expected)


@given(turns)
def test_matrix_and_quaternion_say_the_same(q):
    assert angle_between(matrix_quat(matrix(q)), q) < 1e-7


@given(st.tuples(coordinate, coordinate, coordinate), st.tuples(coordinate, coordinate, coordinate))
def test_align_brings_one_direction_to_the_other(a, b):
    if min(np.linalg.norm(a), np.linalg.norm(b)) < 1e-3:
        return
    turned = rotate(align(a, b), a)
    assert np.allclose(turned / np.linalg.norm(turned), np.array(b) / np.linalg.norm(b), atol=1e-6)


def test_yaw_is_the_heading_of_the_x_axis():
    assert Pose.flat(0, 0, 0, 0.7).yaw == pytest.approx(0.7)
    assert np.allclose(rotate(yaw_quat(math.pi / 2), (1, 0, 0)), (0, 1, 0))


def test_euler_angles_turn_about_fixed_axes_in_order():
    expected = multiply(axis_quat((0, 0, 1), 0.3), multiply(axis_quat((0, 1, 0), 0.2), axis_quat((1, 0, 0), 0.1)))
    assert np.allclose(euler_quat(0.1, 0.2, 0.3), expected)


@pytest.mark.parametrize(
    ("position", "rotation", "message"),
    [
        ((math.nan, 0, 0), (1, 0, 0, 0), "finite"),
        ((0, math.inf, 0), (1, 0, 0, 0), "finite"),
        ((0, 0, 0), (1, 1, 0, 0), "unit quaternion"),
        ((0, 0), (1, 0, 0, 0), "3 metres"),
    ],
)
def test_a_pose_that_is_none_is_refused(position, rotation, message):
    with pytest.raises(EtudeError, match=message):
        Pose(position, rotation)


def test_numbers_of_a_pose_are_python_s_rounding_to_nine_decimals():
    stream = rng("pose", "rounding")
    values = [stream.uniform(-2, 2) for _ in range(2000)] + [(stream.integer(-(10**9), 10**9) + 0.5) / 1e9 for _ in range(2000)]
    for v in [*values, 0.0, -0.0, -1e-12, 5e-10, 1.5e-9, 123.4567890125, 1e8 + 0.1]:
        assert Pose((v, 0.0, 0.0)).position[0] == Pose.trusted(v, 0.0, 0.0, IDENTITY).position[0] == round(v, 9)


def test_a_trusted_pose_must_still_be_finite():
    with pytest.raises(EtudeError, match="finite"):
        Pose.trusted(float("nan"), 0.0, 0.0, IDENTITY)
