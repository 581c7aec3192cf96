"""Grasps by fingers."""

import pytest

from etude.catalog.grasp import finger_grasps, graspable
from etude.catalog.registry import shape


@pytest.mark.parametrize("name", ["cube", "star", "letter E", "sugar box", "mug 1", "bowl", "sphere", "pan"])
@pytest.mark.parametrize("size", [None, (0.1, 0.1, 0.1)])
def test_whether_there_is_a_grasp_is_known_without_all_of_them(name, size):
    model = shape(name, size)
    assert graspable(model) == bool(finger_grasps(model))


def test_what_is_wider_than_the_hand_opens_cannot_be_taken():
    assert graspable(shape("cube", (0.05, 0.05, 0.05))) and not graspable(shape("cube", (0.2, 0.2, 0.2)))
