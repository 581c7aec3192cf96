"""VIMA's T2 and T4 to T9: what is asked, what the pictures hold, and what lies on the table at each level and difficulty."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from vima_episodes import DIFFICULTIES, TASKS, TASKS_AND_SPLITS, bodies, cast_of, episode, in_the_way, leaves, wording

import etude
from etude.catalog.registry import shape
from etude.episodes import Episode
from etude.goals.laying import Laid
from etude.names import EtudeError
from etude.prompts.instruction import ObjectPicture, ScenePicture
from etude.scene.scene import Body
from etude.suites.vima import things
from etude.suites.vima.things import EVERY_BASE, TEXTURES, worn

DEMO = r"(\{demo_blicker_obj_K\} is ADJ than \{demo_less_blicker_obj_K\}\. )"
DEMOS = "".join(DEMO.replace("K", str(k)) for k in (1, 2, 3))
NOUNS = "(dax|blicket|wug|zup)"
ADJECTIVES = "(daxer|blicker|modier|kobar)"


# ---------------------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    ("task", "form"),
    [
        ("scene_understanding", r"Put the ([a-z ]+) object in \{scene\} into the ([a-z ]+) object\."),
        ("rearrange", r"Rearrange to this \{scene\}\."),
        ("rearrange_then_restore", r"Rearrange objects to this setup \{scene\} and then restore\."),
        ("novel_adj", DEMOS.replace("ADJ", ADJECTIVES) + rf"Put the (less )?{ADJECTIVES} \{{dragged_obj\}} into the \{{base_obj\}}\."),
        (
            "novel_noun",
            rf"This is a {NOUNS} \{{(dragged_obj_1|base_obj)\}}\. This is a {NOUNS} \{{(dragged_obj_1|base_obj)\}}\. "
            rf"Put a {NOUNS} into a {NOUNS}\.",
        ),
        (
            "novel_adj_and_noun",
            rf"This is a {NOUNS} \{{(dragged_obj|base_obj)\}}\. This is a {NOUNS} \{{(dragged_obj|base_obj)\}}\. "
            + DEMOS.replace("ADJ", ADJECTIVES)
            + rf"Put the (less )?{ADJECTIVES} {NOUNS} into the {NOUNS}\.",
        ),
        (
            "twist",
            r'"Twist" is defined as rotating object a specific angle\. For examples:'
            + "".join(rf" From \{{before_twist_{k}\}} to \{{after_twist_{k}\}}\." for k in (1, 2, 3))
            + r" Now twist all ([a-z ]+) objects\.",
        ),
    ],
)
def test_prompts_have_the_wording_and_the_slots_of_the_original(task, form):
    for seed in range(8):
        assert re.fullmatch(form, wording(episode(task, TASKS[task][0], seed)))


@pytest.mark.parametrize("task", ["novel_noun", "novel_adj_and_noun"])
def test_nouns_are_defined_in_both_orders_and_used_the_right_way_round(task):
    first = set()
    for seed in range(12):
        text = wording(episode(task, TASKS[task][0], seed))
        named = {"base" if "base" in slot else "dragged": noun for noun, slot in re.findall(r"This is a (\w+) \{(\w+)\}", text)}
        assert text.endswith((f"{named['dragged']} into a {named['base']}.", f"{named['dragged']} into the {named['base']}."))
        first.add(re.search(r"\{(\w+?)_obj", text).group(1))
    assert first == {"base", "dragged"}


@pytest.mark.parametrize("task", ["novel_adj", "novel_noun", "novel_adj_and_noun"])
def test_extreme_words_are_odder_and_mean_the_same(task):
    for seed in range(4):
        usual, odd = (wording(episode(task, TASKS[task][0], seed, difficulty=d)) for d in ("default", "extreme"))
        assert usual != odd and len(usual.split()) == len(odd.split())
        assert re.search("xachup|feplicat|gazip|duchat", odd) and not re.search("xachup|feplicat|gazip|duchat", usual)


@pytest.mark.parametrize("task", ["novel_adj", "novel_adj_and_noun"])
def test_the_examples_say_which_of_the_two_is_meant(task):
    meanings = set()
    for seed in range(24):
        found = episode(task, TASKS[task][0], seed)
        (target,), _, others = cast_of(found)
        opposite = next(b for b in others if b.shape == target.shape)
        shown = {p.slot: p for p in found.instruction.pictures()}
        demos = [(shown[f"demo_blicker_obj_{k}"], shown[f"demo_less_blicker_obj_{k}"]) for k in (1, 2, 3)]
        assert all(more.shape == less.shape for more, less in demos)
        (by_height,) = {more.texture == less.texture for more, less in demos}  # all three show the same difference

        def is_high_or_dark(seen: Body | ObjectPicture, by_height: bool = by_height) -> bool:
            return seen.size[2] > 0.05 if by_height else "dark" in seen.texture

        (more_is,) = {is_high_or_dark(more) for more, _ in demos}
        assert {is_high_or_dark(less) for _, less in demos} == {not more_is}
        assert is_high_or_dark(target) == (more_is != (" less " in wording(found)))
        assert is_high_or_dark(opposite) != is_high_or_dark(target)
        meanings.add((by_height, more_is))
        asked = shown["dragged_obj"]
        assert (asked.shape, asked.texture) == (target.shape, "")
        assert 0.02 < shape(asked.shape, asked.size).size[2] < 0.05  # the usual height gives nothing away
    assert len(meanings) == 4


def test_short_and_tall_are_as_far_apart_as_in_the_original():
    seen = 0
    for seed in range(16):
        target, opposite = (b for b in bodies(episode("novel_adj", seed=seed)).values() if not b.fixed)
        if target.texture == opposite.texture:
            low, high = sorted(b.size[2] / shape(b.shape).size[2] for b in (target, opposite))
            assert 0.3 <= low <= 0.4 and high == pytest.approx(low + 2.0)
            seen += 1
    assert seen >= 3


# ---------------------------------------------------------------------------------------- what the pictures hold


@pytest.mark.parametrize("split", ("train", "L1", "L2", "L3"))
@pytest.mark.parametrize(("difficulty", "count"), [("default", 1), ("distracting", 3), ("extreme", 1), ("extremely_distracting", 3)])
def test_the_picture_of_scene_understanding_singles_out_the_object(split, difficulty, count):
    for seed in range(4):
        found = episode("scene_understanding", split, seed, difficulty=difficulty)
        (target,), base, others = cast_of(found)
        (picture,) = found.instruction.pictures()
        assert isinstance(picture, ScenePicture) and len(picture.things) == 1 + count == 1 + len(others)
        same = [t for t in picture.things if t.texture == target.texture]
        assert [t.shape for t in same] == [target.shape]
        for other in others:
            assert (other.texture == target.texture) or (other.shape == base.shape)
            assert (other.shape, other.texture) not in ((target.shape, target.texture), (base.shape, base.texture))


@pytest.mark.parametrize("task", ["rearrange", "rearrange_then_restore"])
def test_the_picture_to_rearrange_to_shows_the_objects_where_they_belong_and_nothing_else(task):
    for seed in range(8):
        found = episode(task, "L2", seed, difficulty="distracting")
        moved, _, others = cast_of(found)
        (picture,) = found.instruction.pictures()
        assert sorted(t.name for t in picture.things) == [b.name for b in moved]
        places = {leaf.thing: leaf.place for leaf in reversed(leaves(found.goal, Laid))}
        for thing in picture.things:
            assert thing.pose.position[:2] == places[thing.name]
            assert math.dist(thing.pose.position[:2], bodies(found)[thing.name].pose.position[:2]) > 0.1
        assert len({(b.shape, b.texture) for b in moved}) == len(moved)  # none could be taken for another
        assert not {b.shape for b in others} & {b.shape for b in moved}


@pytest.mark.parametrize("options", [{}, {"difficulty": "extreme"}, {"angles": "wide"}])
def test_every_example_of_a_twist_shows_the_angle_that_is_wanted(options):
    angles = set()
    for seed in range(40):
        found = episode("twist", "train", seed, **options)
        pictures = found.instruction.pictures()
        turns = []
        for before, after in zip(pictures[::2], pictures[1::2], strict=True):
            (first,), (second,) = before.things, after.things
            assert (first.shape, first.texture, first.pose.position) == (second.shape, second.texture, second.pose.position)
            turns.append(first.pose.yaw - second.pose.yaw)
        for leaf in leaves(found.goal, Laid):
            turns.append(bodies(found)[leaf.thing].pose.yaw - leaf.yaw)
        degrees = {round(math.degrees(t)) % 360 for t in turns}
        assert len(degrees) == 1
        angles |= degrees
    expected = {"": range(30, 180, 30), "difficulty": range(20, 180, 20), "angles": range(30, 360, 30)}[next(iter(options), "")]
    assert angles <= set(expected) and max(angles) == max(expected) and len(angles) >= 5


def test_twist_asks_for_all_objects_of_a_texture_and_for_no_other():
    for seed in range(12):
        for difficulty, total in (("default", 3), ("distracting", 8)):
            found = episode("twist", "L3", seed, difficulty=difficulty)
            twisted, _, others = cast_of(found)
            assert len(twisted) in (1, 2) and len(twisted) + len(others) == total
            (texture,) = {b.texture for b in twisted}
            assert texture not in {b.texture for b in others}
            assert texture not in {t.texture for p in found.instruction.pictures() for t in p.things}
            assert worn(wording(found).partition("twist all ")[2].removesuffix(" objects.")) == texture


# ---------------------------------------------------------------------------------------- what may be on the table


@pytest.mark.parametrize(("task", "split"), TASKS_AND_SPLITS)
def test_levels_keep_to_their_shapes_and_textures(task, split):
    pools = things.pools(split)
    shapes = {t.shape for t in pools.dragged}
    textures = {worn(t) for t in pools.dragged_textures}
    if split == "L3" and task in ("rearrange", "rearrange_then_restore", "twist"):
        textures = {worn(t) for t in TEXTURES}
    for seed in range(3):
        found = episode(task, split, seed, difficulty="distracting")
        moved, base, others = cast_of(found)
        for body in moved:
            assert body.shape in shapes
            if "adj" not in task:
                assert body.texture in textures
        if base is not None:
            assert base.shape in {t.shape for t in pools.bases} and base.texture in {worn(t) for t in pools.base_textures}
        for other in others:  # they wear what could be asked for in their place: no texture tells a part
            free = {worn(t) for t in TEXTURES} if "adj" in task and split in ("L3", "L4") else textures
            mine = {worn(t) for t in pools.base_textures} if other.fixed else free
            assert other.texture.replace("dark ", "") in mine
        assert {b.shape for b in others} <= shapes | {t.shape for t in pools.bases}


@pytest.mark.parametrize("task", [name for name, task in etude.tasks("vima").items() if "L3" in task.splits])
def test_new_objects_may_have_new_textures_only(task):
    unseen = {worn(t) for t in TEXTURES if t not in (*things.S1, *things.S2)}
    for seed, difficulty in enumerate(DIFFICULTIES):
        found = etude.episode(f"vima/{task}@L3#{seed}?difficulty={difficulty}&textures=new")
        shown = [t for p in found.instruction.pictures() for t in (p.things if isinstance(p, ScenePicture) else (p,))]
        assert {t.texture.replace("dark ", "") for t in (*found.scene.entities, *shown)} - {""} <= unseen
    with pytest.raises(EtudeError, match="textures=new is for L3"):
        etude.episode(f"vima/{task}@L1#0?textures=new")


def test_the_light_and_dark_of_new_adjectives_come_from_the_level():
    for split, lights in (("train", things.with_dark(things.S1)), ("L2", things.with_dark(things.S2))):
        wearable = {worn(t) for light in lights for t in (light, things.dark(light))}
        for seed in range(10):
            found = episode("novel_adj", split, seed)
            (target,), _, (opposite,) = cast_of(found)
            demos = [p for p in found.instruction.pictures() if isinstance(p, ObjectPicture) and p.texture]
            assert {target.texture, opposite.texture, *(p.texture for p in demos)} <= wearable
            assert "block" not in {target.shape, *(p.shape for p in demos)}


@pytest.mark.parametrize(
    ("task", "counts"),
    [("scene_understanding", (1, 3)), ("novel_adj", (1, 3)), ("novel_noun", (1, 3)), ("novel_adj_and_noun", (3, 6))],
)
def test_distracting_adds_distractors_and_extreme_takes_the_containers_away(task, counts):
    containers = {t.shape for t in EVERY_BASE}
    for seed in range(4):
        for difficulty in DIFFICULTIES:
            found = episode(task, TASKS[task][-1], seed, difficulty=difficulty)
            (target,), base, others = cast_of(found)
            assert len(others) == counts["distracting" in difficulty]
            assert (base.shape in containers) == ("extreme" not in difficulty)
            assert base.fixed and not target.fixed
            if task != "scene_understanding":
                assert base.shape != target.shape  # in grey they must differ


@pytest.mark.parametrize("task", ["novel_noun", "novel_adj_and_noun"])
def test_nothing_else_has_the_shape_a_new_noun_names(task):
    for seed in range(10):
        (target,), base, others = cast_of(episode(task, TASKS[task][-1], seed, difficulty="extremely_distracting"))
        twins = [b for b in others if b.shape in (target.shape, base.shape)]
        assert len(twins) == (task == "novel_adj_and_noun")  # the object's opposite
        assert all(b.shape == target.shape for b in twins)


def test_a_difficulty_leaves_the_rest_of_an_episode_alone():
    for task, splits in TASKS.items():
        default, distracting = (episode(task, splits[0], 3, difficulty=d) for d in ("default", "distracting"))
        assert [(b.shape, b.texture, b.size) for b in cast_of(default)[0]] == [
            (b.shape, b.texture, b.size) for b in cast_of(distracting)[0]
        ]
        if task != "scene_understanding":  # its picture is more crowded too
            pictures = [[p for p in e.instruction.pictures() if isinstance(p, ObjectPicture)] for e in (default, distracting)]
            assert pictures[0] == pictures[1]


def test_one_two_or_three_objects_are_rearranged_or_always_three():
    counts = [len(cast_of(episode("rearrange", seed=seed))[0]) for seed in range(40)]
    assert 8 <= counts.count(1) <= 24 and 8 <= counts.count(2) <= 24 and 2 <= counts.count(3) <= 16
    for seed in range(4):
        moved, _, others = cast_of(episode("rearrange_then_restore", seed=seed, count="three"))
        assert (len(moved), len(others)) == (3, 0)
    with pytest.raises(EtudeError, match="unknown value of count 'four'"):
        episode("rearrange", count="four")


@pytest.mark.parametrize("task", ["rearrange", "rearrange_then_restore"])
def test_extreme_distractors_are_always_in_the_way(task):
    for seed in range(10):
        for difficulty, most in (("extreme", 2), ("extremely_distracting", 3)):
            found = episode(task, "L3", seed, difficulty=difficulty)
            moved, _, others = cast_of(found)
            blocking = in_the_way(found)
            assert len(blocking) == min(most, len(moved))
            assert len(others) == (3 if difficulty == "extremely_distracting" else len(blocking))
            assert found.least == len(moved) * (2 if "restore" in task else 1) + len(blocking)
    by_chance = [bool(in_the_way(e)) for e in (episode(task, seed=s) for s in range(40)) if len(cast_of(e)[0]) == 1]
    assert 0.2 < np.mean(by_chance) < 0.8


@pytest.mark.parametrize(
    "name", ["scene_understanding@train", "rearrange_then_restore@L3", "rearrange@train", "novel_adj_and_noun@L4", "twist@L1"]
)
def test_every_seed_of_a_crowded_table_gives_an_episode_on_the_table(name):
    for seed in range(15):
        places = [b.pose.position for b in bodies(etude.episode(f"vima/{name}#{seed}?difficulty=extremely_distracting")).values()]
        assert all(0.25 <= x <= 0.75 and -0.5 <= y <= 0.5 for x, y, _ in places)


def test_same_name_same_episode():
    for task, splits in TASKS.items():
        first, again = (episode(task, splits[-1], 7, difficulty="extremely_distracting") for _ in range(2))
        assert first.id == again.id and Episode.from_json(first.to_json()) == first
        assert all(a.id != b.id for a, b in pairwise([first, episode(task, splits[-1], 8), episode(task, splits[-1], 7)]))
