"""Scenes as values."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.names import EtudeError, canonical_json, digest, from_json
from etude.pose import Pose
from etude.scene import Body, Camera, Marker, Robot, Scene, World, look_at
from etude.scene.examples import EXAMPLES, example
from etude.scene.fixtures import drawer_cabinet
from etude.scene.rooms import furnished, ur5_room


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_round_trips_through_json(name):
    scene = example(name)
    assert from_json(Scene, canonical_json(scene)) == scene


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 10**6))
def test_a_seed_gives_the_same_scene_twice_and_another_seed_another(name, seed):
    assert digest(example(name, seed)) == digest(example(name, seed))
    assert digest(example(name, seed)) != digest(example(name, seed + 1))


def _plain() -> dict:
    return json.loads(canonical_json(furnished(ur5_room(), Body("cube", "cube", "red", Pose.flat(0.5, 0, 0.02)))))


def _refused(change, message):
    data = _plain()
    change(data)
    with pytest.raises(EtudeError, match=message) as caught:
        World(from_json(Scene, json.dumps(data)))
    assert "\n" not in str(caught.value)


def test_a_missing_field_is_refused():
    _refused(lambda d: d["entities"][0].pop("texture"), r"entities\[0\]: the field 'texture' is missing")


def test_an_extra_field_is_refused_with_the_nearest():
    _refused(lambda d: d["entities"][0].update(colour="red", shap="x"), "unknown field in .*'colour'")
    _refused(lambda d: d["table"].update(textur="red"), "did you mean 'texture'")


def test_an_unknown_shape_is_refused_with_the_nearest():
    _refused(lambda d: d["entities"][0].update(shape="cubee"), "unknown shape 'cubee'; did you mean 'cube'")


def test_an_unknown_robot_is_refused_with_the_nearest():
    _refused(lambda d: d["robot"].update(arm="ur6"), "unknown arm 'ur6'; did you mean 'ur5'")
    _refused(lambda d: d["robot"].update(hand="suctoin"), "unknown hand 'suctoin'; did you mean 'suction'")


def test_an_unknown_texture_is_refused_with_the_nearest():
    _refused(lambda d: d["entities"][0].update(texture="red swrl"), "unknown texture 'red swrl'.*'red swirl'")
    _refused(lambda d: d["table"].update(texture="#33333"), "unknown texture '#33333'")


def test_an_unknown_material_is_refused():
    _refused(lambda d: d["entities"][0].update(material="ruber"), "did you mean 'rubber'")


def test_a_pose_with_nan_is_refused():
    _refused(lambda d: d["entities"][0]["pose"].update(position=[math.nan, 0, 0]), "finite")


def test_a_size_of_zero_is_refused():
    _refused(lambda d: d["entities"][0].update(size=[0.0, 0.1, 0.1]), "size")


def test_a_negative_mass_is_refused():
    _refused(lambda d: d["entities"][0].update(mass=-1.0), "mass")


def test_bodies_that_overlap_are_refused_by_name():
    scene = furnished(ur5_room(), *(Body(n, "cube", "red", Pose.flat(x, 0, 0.03)) for n, x in (("one", 0.5), ("two", 0.51))))
    with pytest.raises(EtudeError, match=r"'one' and 'two' overlap by \d+\.\d mm"):
        World(scene)


def test_a_fixed_body_may_not_overlap_another_fixed_one():
    scene = furnished(ur5_room(), *(Body(n, "cube", "red", Pose.flat(x, 0, 0.03), fixed=True) for n, x in (("one", 0.5), ("two", 0.51))))
    with pytest.raises(EtudeError, match="'one' and 'two' overlap"):
        World(scene)


def test_a_camera_inside_a_body_is_refused():
    inside = Camera("eye", look_at((0.5, 0.0, 0.05), (0.0, 0.0, 0.05)))
    scene = dataclasses.replace(
        furnished(ur5_room(), Body("cube", "cube", "red", Pose.flat(0.5, 0, 0.05), (0.1, 0.1, 0.1))), cameras=(inside,)
    )
    with pytest.raises(EtudeError, match="camera 'eye' stands inside 'cube'"):
        World(scene)


def test_a_camera_inside_furniture_is_refused():
    cabinet = drawer_cabinet("cabinet", Pose.flat(0.5, 0.0))
    inside = Camera("eye", look_at((0.5 + 0.1485, 0.0, 0.2), (2.0, 0.0, 0.2)))
    scene = dataclasses.replace(furnished(ur5_room(), cabinet), cameras=(inside,))
    with pytest.raises(EtudeError, match="camera 'eye' stands inside 'cabinet'"):
        World(scene)


def test_two_things_of_one_name_are_refused():
    with pytest.raises(EtudeError, match="two things in the scene are called 'a'"):
        Scene((Body("a", "cube", "red"), Marker("a", "cube", "red")))


@pytest.mark.parametrize("name", ["", "table", "hand", "a/b"])
def test_names_that_mean_something_else_are_refused(name):
    with pytest.raises(EtudeError, match="cannot be the name"):
        Scene((Body(name, "cube", "red"),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fov": None}, "either fov"),
        ({"fov": 200.0}, "fov must be"),
        ({"near": 0.0}, "0 < near < far"),
        ({"size": (0, 10)}, "a picture is 1 to 8192 pixels"),
    ],
)
def test_an_impossible_camera_is_refused(change, message):
    with pytest.raises(EtudeError, match=message):
        dataclasses.replace(Camera("c"), **change)


def test_a_camera_cannot_look_at_itself_nor_along_up():
    with pytest.raises(EtudeError, match="where it stands"):
        look_at((1, 1, 1), (1, 1, 1))
    with pytest.raises(EtudeError, match="another 'up'"):
        look_at((0, 0, 1), (0, 0, 0))


def test_a_posture_outside_the_joint_limits_is_refused():
    with pytest.raises(EtudeError, match="joint 4 of 'panda' cannot be 1 rad"):
        World(Scene(robot=Robot("panda", "parallel", joints=(0, 0, 0, 1.0, 0, 1, 0))))


def test_lookups_by_name_suggest_the_nearest():
    scene = example("drawers")
    with pytest.raises(EtudeError, match="did you mean 'cabinet'"):
        scene.entity("cabinett")
    with pytest.raises(EtudeError, match="did you mean 'front'"):
        scene.camera("fron")
