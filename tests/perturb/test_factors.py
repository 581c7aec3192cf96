"""The twelve factors: each changes what it says and nothing else, tells nothing, and draws the same whatever else is changed."""

from __future__ import annotations

import functools
import re

import pytest
from every import every

from etude.catalog.colours import SEEN
from etude.catalog.household import DISTRACTORS
from etude.catalog.textures import NUMBERED, known_texture
from etude.episodes import Episode
from etude.library import episode
from etude.names import EtudeError, encode
from etude.perturb.factors import factors, refused
from etude.perturb.perturbation import perturbed
from etude.scene.outlines import extent
from etude.scene.world import World

NAMES = [
    "clevrskills/novel_noun@train#4", "clevrskills/sort@train#3", "clevrskills/place@train#2", "clevrskills/throw@train#1",
    "clevrskills/follow_order@train#5", "clevrskills/balance@train#1", "clevrskills/swap@train#6", "clevrskills/push@train#2",
    "vima/visual_manipulation@L1#3", "vima/novel_noun@L1#4", "vima/pick_in_order_then_restore@L1#2", "vima/rotate@L2#5",
    "vima/sweep_without_exceeding@L1#0",
    "vlmbench/pick_shape@train#1", "vlmbench/pick_relative@train#7", "vlmbench/stack_shape@train#2", "vlmbench/drop_relative@train#3",
    "vlmbench/pour_relative@train#2", "vlmbench/wipe_shape@train#1", "vlmbench/drawer@train#3", "vlmbench/door@train#2",
]  # fmt: skip
LOOK = r"(parts\[\d+\]\.solids\[\d+\]\.)?texture"
SIZE = (
    r"(size(\[\d\])?|mass|diameter|pose\.position\[\d\]|positions\[\d+\]\[\d\]|joints\[\d+\]|latches\[\d+\]\.release"
    r"|parts\[\d+\]\.(mass|pose\.position\[\d\]|joint\.(range|anchor)\[\d\]|solids\[\d+\]\.(size|pose\.position)\[\d\]))"
)
MOVED = r"(pose\.position\[\d\]|positions\[\d+\]\[\d\]|diameter|mass)"
ALLOWED = {
    "light_color": r"scene\.lighting\.(key|fills\[\d\])\.colour\[\d\]",
    "table_color": r"scene\.table\.texture",
    "table_texture": r"scene\.table\.texture",
    "background_texture": r"scene\.(walls\.texture|floor\.texture|lighting\.background\[\d\])",
    "camera_pose": r"scene\.cameras\[(top|front|base|left_shoulder|right_shoulder|overhead)\]\.pose\.(position|rotation)\[\d\]",
    "distractors": r"scene\.entities\[distractor [01]\]\..*",
}


def flat(value, path=""):
    """Every number and word of an episode by its path; entities and cameras by their names."""
    if isinstance(value, dict):
        return {p: v for key, item in value.items() for p, v in flat(item, f"{path}.{key}" if path else key).items()}
    if isinstance(value, list):
        named = [item["name"] if path in ("scene.entities", "scene.cameras") else str(k) for k, item in enumerate(value)]
        return {p: v for name, item in zip(named, value, strict=True) for p, v in flat(item, f"{path}[{name}]").items()}
    return {path: value}


def changes(control: Episode, other: Episode):
    a, b = flat(encode(control)), flat(encode(other))
    return {path: b.get(path) for path in {**a, **b} if a.get(path, "none") != b.get(path, "none")}


def allowed(control: Episode, factor: str) -> str:
    """A pattern of the paths that a factor may change."""
    if factor in ALLOWED:
        return ALLOWED[factor]
    whose = "manipulated" if factor.startswith("mo_") else "receiving"
    own = "|".join(re.escape(name) for role, name in control.roles if role == whose)
    if not factor.endswith("_size"):
        return rf"scene\.entities\[({own})\]\.{LOOK}"
    return rf"scene\.entities\[({own})\]\.{SIZE}|scene\.entities\[[^]]*\]\.{MOVED}|goal\..*"


@functools.cache
def applied(name: str):
    """An episode, and every factor that it takes with what becomes of it and what is changed by that."""
    control, found = episode(name), []
    for factor in factors():
        try:
            other = perturbed(control, [factor])
        except EtudeError as error:
            assert str(error).startswith(f"{factor}: ") and "\n" not in str(error)
        else:
            found.append((factor, other, changes(control, other)))
    return control, found


def test_there_are_twelve_and_enough_of_everything():
    assert " ".join(factors()) == (
        "mo_color ro_color mo_texture ro_texture light_color table_color table_texture background_texture camera_pose distractors "
        "mo_size ro_size"
    )
    assert (len(SEEN), len(set(DISTRACTORS))) == (20, 78) and NUMBERED >= 213
    assert all(known_texture(f"numbered {k}") for k in range(NUMBERED))


@every("name", NAMES)
def test_a_factor_changes_what_it_says_and_nothing_else(name):
    control, found = applied(name)
    for factor, other, changed in found:
        assert changed, factor
        wrong = [path for path in changed if not re.fullmatch(allowed(control, factor), path)]
        assert not wrong, (factor, wrong[:5])
        assert other.instruction == control.instruction and Episode.from_json(other.to_json()) == other
        World(other.scene)
    assert len(found) >= 6


@every("name", NAMES)
def test_a_factor_draws_the_same_whatever_else_is_changed(name):
    control, found = applied(name)
    everything = flat(encode(perturbed(control, ["all"])))
    for factor, _, changed in found:
        if factor in ("mo_color", "ro_color", "table_color"):
            continue  # under a texture
        for path, value in changed.items():
            if factor.endswith("_size") and re.fullmatch(rf"goal\..*|.*\.{MOVED}", path):
                continue  # what is in a thing follows both sizes
            assert everything.get(path) == value, (factor, path)


@pytest.mark.parametrize("name", ["vlmbench/pour_relative@train#2", "clevrskills/novel_noun@train#4", "vima/novel_noun@L1#4"])
def test_the_same_name_gives_the_same_bytes(name):
    for factor in (*factors(), "all"):
        one = f"{name}+{factor}"
        assert episode(one).to_json() == episode(one).to_json()
    assert episode(f"{name}+mo_size+distractors").to_json() == episode(f"{name}+distractors+mo_size").to_json()


def test_a_texture_hides_the_colour_before_it():
    both = episode("vlmbench/pick_relative@train#7+mo_color+mo_texture")
    assert both.scene == episode("vlmbench/pick_relative@train#7+mo_texture").scene


@pytest.mark.parametrize(
    ("name", "factors"),
    [
        ("vlmbench/pick_color@train#0", {"mo_color", "mo_texture", "ro_color", "ro_texture"}),
        ("vlmbench/pick_shape@train#0", {"ro_color", "ro_texture"}),
        ("vlmbench/wipe_color@train#0", {"ro_color", "ro_texture"}),
        ("vlmbench/pick_size@train#0", {"mo_size", "ro_size"}),
        ("vlmbench/sorter_relative@train#0", {"mo_size", "ro_size"}),
        ("vlmbench/drawer@train#0", {"ro_color", "ro_texture", "ro_size"}),
        ("clevrskills/sort@train#0", {"mo_color", "mo_texture", "ro_color", "ro_texture"}),
        ("clevrskills/balance@train#0", {"mo_color", "mo_texture", "mo_size"}),
        ("vima/visual_manipulation@L1#0", {"mo_color", "mo_texture", "ro_color", "ro_texture"}),
        ("vima/novel_adj@L1#0", {"mo_color", "mo_texture", "mo_size", "ro_color", "ro_texture", "ro_size"}),
    ],
)
def test_a_factor_is_refused_where_the_instruction_would_become_false(name, factors):
    for seed in range(3):
        found = refused(episode(name.replace("#0", f"#{seed}")))
        assert found.keys() == factors and all(len(reason.splitlines()) == 1 for reason in found.values())


def test_all_is_never_named_with_one_of_them():
    with pytest.raises(EtudeError, match="all: light_color is one of all factors already"):
        episode("vlmbench/pick_relative@train#0+all+light_color")


@every("name", NAMES)
def test_distractors_stand_apart_at_rest_and_are_never_what_is_meant(name):
    other = episode(f"{name}+distractors")
    new = [e for e in other.scene.entities if e.name.startswith("distractor ")]
    assert len(new) == 2 and all(e.shape in DISTRACTORS for e in new)
    told = set(re.findall(r"[a-z]+", other.instruction.text.lower()))
    for thing in new:
        assert not told & set(thing.shape.split())
        for e in other.scene.entities:
            if e is not thing and hasattr(e, "shape"):
                a, b = extent(thing).ring, extent(e).ring
                assert min(((p - q) ** 2).sum() ** 0.5 for p in a for q in b) >= 0.05
    world = World(other.scene)
    world.step(25)
    for thing in new:
        moved = world.frame(thing.name)[0] - thing.pose.position
        assert (moved**2).sum() ** 0.5 < 0.003, thing.shape


@every("name", NAMES)
def test_cameras_of_the_room_move_a_little_and_all_others_stay(name):
    control, other = episode(name), episode(f"{name}+camera_pose")
    for a, b in zip(control.scene.cameras, other.scene.cameras, strict=True):
        stays = a.mount == "hand" or a.name == "render"
        assert (a == b) is stays
        assert all(abs(p - q) <= 0.1 for p, q in zip(a.pose.position, b.pose.position, strict=True))
