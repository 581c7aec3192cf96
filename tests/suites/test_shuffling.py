"""Order tells nothing: neither where a thing stands in the scene nor the number in its name says what part it plays."""

from __future__ import annotations

import math
import re

import pytest

import etude
from etude.goals import OnTop
from etude.names import EtudeError
from etude.prompts.instruction import ScenePicture
from etude.scene.rooms import xarm_room
from etude.scene.scene import Body, Marker
from etude.suites.suite import Draft, Draw, Suite

SEEDS = 12
PLACES = {
    "clevrskills": ("pick", "rotate", "rotate_restore", "push", "simple_manipulation", "stack", "neighbour", "novel_adj"),
    "vima": ("visual_manipulation", "scene_understanding", "rotate", "rearrange", "novel_adj", "novel_noun", "twist", "same_shape"),
}
SPLIT = {"clevrskills": "train", "vima": "L1"}


def cast(found):
    """What can be moved, in the order of the scene, and what is to be moved first."""
    loose = [e.name for e in found.scene.entities if isinstance(e, Body) and not e.fixed]
    return loose, next(name for part, name in found.roles if part == "manipulated")


def number(name):
    return int(re.search(r"\d+$", name)[0])


def told_apart(episodes, rank):
    """How many standard deviations the target is first more often than by chance; ``rank`` puts the candidates in an order."""
    hits = expected = variance = 0.0
    for found in episodes:
        loose, target = cast(found)
        share = 1 / len(loose)
        hits, expected, variance = hits + (rank(loose)[0] == target), expected + share, variance + share * (1 - share)
    return (hits - expected) / math.sqrt(max(variance, 1e-9))


@pytest.fixture(scope="module", params=PLACES)
def drawn(request):
    suite = request.param
    return [etude.episode(f"{suite}/{task}@{SPLIT[suite]}#{seed}") for task in PLACES[suite] for seed in range(SEEDS)]


def test_the_first_thing_is_the_target_no_more_often_than_by_chance(drawn):
    assert abs(told_apart(drawn, list)) < 3.5


def test_the_lowest_number_is_the_target_no_more_often_than_by_chance(drawn):
    assert abs(told_apart(drawn, lambda names: sorted(names, key=number))) < 3.5


def test_numbers_follow_the_drawn_order():
    for seed in range(5):
        names = [e.name for e in etude.episode(f"clevrskills/stack@train#{seed}").scene.entities]
        assert [number(name) for name in names] == list(range(len(names)))


def test_the_order_of_spawning_can_be_asked_for_and_differs_in_nothing_else():
    for name in ("clevrskills/trace@train#3", "vima/scene_understanding@L1#4", "vlmbench/wipe_size@train#1"):
        ours, spawned = etude.episode(name), etude.episode(f"{name}?order=spawn")
        bare = [sorted(re.sub(r"\d+$", "", e.name) for e in found.scene.entities) for found in (ours, spawned)]
        assert bare[0] == bare[1]
        assert {e.pose for e in ours.scene.entities if isinstance(e, Body)} == {
            e.pose for e in spawned.scene.entities if isinstance(e, Body)
        }
        assert ours.instruction.text == spawned.instruction.text
    with pytest.raises(EtudeError, match="unknown value of order 'spwan'; did you mean 'spawn'"):
        etude.episode("vima/rotate@L1#0?order=spwan")


def test_goal_roles_and_pictures_follow_the_names():
    for name in ("clevrskills/stack@train#1?prompt=2", "clevrskills/trace@train#1", "vlmbench/wipe_size@train#0", "vima/rearrange@L1#2"):
        found = etude.episode(name)
        there = {e.name for e in found.scene.entities}
        assert {thing for _, thing in found.roles} <= there
        for part in found.instruction.pictures():
            if isinstance(part, ScenePicture) and not part.things:
                assert {thing for thing, _ in part.poses} <= there
        for marker in (e for e in found.scene.entities if isinstance(e, Marker)):
            assert any(getattr(leaf, "marker", "") == marker.name for leaf in found.goal.parts())


def test_the_things_of_a_picture_in_the_prompt_are_shuffled_too():
    first = 0
    for seed in range(20):
        found = etude.episode(f"vima/scene_understanding@L1#{seed}")
        (picture,) = found.instruction.pictures()
        first += picture.things[0].name == cast(found)[1]
    assert 3 <= first <= 17


def test_every_suite_has_it_also_those_of_others(own_suites):
    pantry = Suite("pantry", "Pantry", splits={"test": "test"}, room=xarm_room, workspace=((-0.4, -0.3), (0.05, 0.3)))

    @pantry.task(horizon=100)
    def cube_on_plate(draw: Draw) -> Draft:
        """Put the cube on the plate."""
        scene = draw.scene()
        cubes = [scene.add("cube", size=(0.05, 0.05, 0.05)) for _ in range(3)]
        plate = scene.add("plate", fixed=True)
        scene.add("mug 1", name="mug 1", fixed=True)
        told = etude.instruction("Put ", cubes[0].picture(), " on ", plate.picture(), ".")
        return scene.episode(OnTop(cubes[0], plate), told, moved=[cubes[0]], receiving=[plate])

    episodes = [etude.episode(f"pantry/cube_on_plate@test#{seed}") for seed in range(30)]
    assert abs(told_apart(episodes, list)) < 3.5
    assert abs(told_apart(episodes, lambda names: sorted(names, key=number))) < 3.5
    assert {e.shape for found in episodes for e in found.scene.entities} == {"cube", "plate", "mug 1"}
    assert len({e.name for found in episodes for e in found.scene.entities if e.shape == "mug 1"}) > 1
    assert all(found.goal == OnTop(*(thing for _, thing in found.roles)) for found in episodes)
