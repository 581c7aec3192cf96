"""What can be had without the ability that is asked for: nothing by a straight line, by dropping, by size, or for want of a choice."""

from __future__ import annotations

import math

import numpy as np
import pytest

import etude
from etude.catalog.registry import shape
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.goals.leaves import TipAtPose
from etude.prompts.instruction import NEARER, ObjectPicture, one_scale
from etude.scene.scene import Body
from etude.skills.aim import Aim, delta_action
from etude.suites.clevrskills import things
from etude.suites.clevrskills.novelty import BALLS

LEAST = 20  # pixels of what must be seen


def bodies(found):
    return {e.name: e for e in found.scene.entities if isinstance(e, Body)}


def volume(body):
    return math.prod(shape(body.shape, body.size).size)


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_straight_way_to_the_goal_hits_something(split):
    for seed in range(4):
        simulation = Simulation(etude.episode(f"clevrskills/move_without_hitting@{split}#{seed}"))
        (goal,) = (leaf.pose for leaf in simulation.episode.goal.parts() if isinstance(leaf, TipAtPose))
        assert not simulation.status.violated
        while not simulation.over:
            simulation.step(delta_action(Aim(goal, False), simulation.robot.tip()))
        assert simulation.status.violated and not simulation.status.satisfied, seed


def test_what_is_held_is_dropped_onto_nothing():
    for seed in range(15):
        found = etude.episode(f"clevrskills/place@train#{seed}")
        held = bodies(found)[found.held]
        radius = math.hypot(*shape(held.shape, held.size).size) / 2
        x, y, _ = held.pose.position
        for other in bodies(found).values():
            if other is not held:
                outline = shape(other.shape, other.size).outline(other.pose.rotation) + np.asarray(other.pose.position[:2])
                assert min(math.dist((x, y), point) for point in (*outline.tolist(), other.pose.position[:2])) > radius


def test_neither_the_smaller_nor_the_odd_sized_thing_is_right_more_often():
    smaller = odd = 0
    for seed in range(40):
        found = etude.episode(f"clevrskills/novel_adj@test#{seed}")
        roles, there = dict(found.roles), bodies(found)
        target = there[roles["manipulated"]]
        (other,) = (b for name, b in there.items() if name not in roles.values())
        usual = next(item for item in things.top_pool("test") if item.shape == target.shape)
        smaller += volume(target) < volume(other)
        odd += target.size != usual.size
    assert 10 <= smaller <= 30 and 10 <= odd <= 30


@pytest.mark.parametrize("task", ["push", "rotate", "neighbour", "follow_order_restore"])
def test_the_nearest_to_the_middle_is_not_the_target_more_often_than_by_chance(task):
    """Of things to be moved in one task, of areas in the others; three standard deviations of a coin with this chance."""
    part = "receiving" if task in ("neighbour", "follow_order_restore") else "manipulated"
    middle = (-0.15, 0.0)
    right = expected = variance = 0.0
    for seed in range(80):
        found = etude.episode(f"clevrskills/{task}@test#{seed}")
        target = next(name for role, name in found.roles if role == part)
        pool = [b for b in bodies(found).values() if b.fixed == (part == "receiving")]
        share = 1 / len(pool)
        right += min(pool, key=lambda b: math.dist(b.pose.position[:2], middle)).name == target
        expected, variance = expected + share, variance + share * (1 - share)
    assert abs(right - expected) < 3 * math.sqrt(variance)


CHOICES = {  # task: how many candidates of each kind there must be: movable things, and fixed ones to put them on
    "pick": (2, 0), "rotate": (2, 0), "rotate_restore": (2, 0), "rotate_symmetry": (3, 0), "sort": (2, 2), "neighbour": (2, 2),
    "follow_order": (1, 3), "follow_order_restore": (1, 3), "throw_sort": (2, 2), "simple_manipulation": (4, 0), "place": (4, 0),
    "novel_noun": (4, 0), "sort_stack": (3, 0),
}  # fmt: skip


@pytest.mark.parametrize("task", CHOICES)
def test_there_is_always_something_to_choose_from(task):
    loose, fixed = CHOICES[task]
    for seed in range(8):
        there = bodies(etude.episode(f"clevrskills/{task}@{('train', 'test')[seed % 2]}#{seed}")).values()
        assert sum(not b.fixed for b in there) >= loose and sum(b.fixed for b in there) >= fixed
        if "sort" in task:
            assert len({b.texture for b in there}) >= 2


def test_no_shape_and_no_word_is_in_both_halves():
    train, test = (
        {what for item in (*things.top_pool(s), *things.base_pool(s)) for what in (item.words, item.shape)} for s in ("train", "test")
    )
    assert not train & test
    (rectangle,) = {item for item in things.TRAIN_TOP if item.words == "rectangle"}
    x, y, _ = shape(rectangle.shape, rectangle.size).size
    assert x >= 1.5 * y


def test_pictures_of_one_prompt_have_one_scale_and_no_two_balls_must_be_told_apart_in_grey():
    several = 0
    for seed in range(30):
        found = etude.episode(f"clevrskills/novel_noun@train#{seed}")
        pictures = [p for p in one_scale(found.instruction).pictures() if isinstance(p, ObjectPicture)]
        radii = [math.hypot(*shape(p.shape, p.size).size) / 2 for p in pictures]
        assert [p.frame for p in pictures] == [min(max(radii), NEARER * radius) for radius in radii]
        assert sum(any(ball in name for ball in BALLS) for name in bodies(found)) <= 1
        several += min(radii) < 0.8 * max(radii)
    assert several > 5  # fitted each for itself, these would look alike in size


def least_seen(name, size=None):
    """Pixels of the role that is seen least, in the camera that sees it best."""
    simulation = Simulation(etude.episode(name))
    cameras = [c.name for c in simulation.world.scene.cameras if c.name != "render"]
    observer = Observer(simulation, cameras, size, ("segmentation",))
    observer.look()
    ids = simulation.world.segmentation_ids()
    parts = {thing.partition("/")[0] for _, thing in simulation.episode.roles}
    return min(max(int((seen == ids[part]).sum()) for seen in observer.segmentations.values()) for part in parts)


@pytest.mark.parametrize("task", ["throw", "throw_topple", "throw_sort", "pick", "sort", "stack", "balance", "novel_adj"])
def test_the_default_view_sees_what_the_task_is_about(task):
    assert min(least_seen(f"clevrskills/{task}@train#{seed}") for seed in range(4)) >= LEAST


def test_the_view_of_the_original_can_be_asked_for():
    ours, original = (etude.episode(f"clevrskills/throw@train#0{option}").scene.camera("base") for option in ("", "?camera=original"))
    assert original.pose.position == (0.3, -0.1, 0.3) and original.fov == 90
    assert ours.pose != original.pose
    with pytest.raises(etude.EtudeError, match="unknown value of camera 'orginal'; did you mean 'original'"):
        etude.episode("clevrskills/pick@train#0?camera=orginal")


@pytest.mark.parametrize("size", [None, (128, 128), (64, 128)])
def test_no_picture_of_a_wide_camera_is_cut(size):
    tasks = ("visual_manipulation", "scene_understanding", "novel_noun", "same_shape")
    assert min(least_seen(f"vima/{task}@L1#{seed}", size) for task in tasks for seed in range(2)) > 0
