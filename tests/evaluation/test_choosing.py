"""Which episodes are meant: what is asked for is done or refused, never passed over."""

from __future__ import annotations

import pytest

from etude.evaluation.choosing import choose
from etude.names import EpisodeName, EtudeError

LIST = [f"clevrskills/{task}@{split}#{seed}" for task in ("pick", "stack") for split in ("train", "test") for seed in (0, 4, 9)]


def test_a_suite_a_split_a_task_and_a_name_are_all_understood():
    assert choose(["clevrskills/pick@test"], episodes=2) == ("clevrskills/pick@test#0", "clevrskills/pick@test#1")
    assert {name.partition("@")[2] for name in choose(["clevrskills@test"], episodes=1)} == {"test#0"}
    assert choose(["clevrskills/pick@test#3"]) == ("clevrskills/pick@test#3",)
    assert len(choose(["clevrskills/pick@test"])) == 20
    both = choose(["clevrskills", "vima"], task=["pick", "rotate"], episodes=1)
    assert [name.partition("@")[0] for name in both] == ["clevrskills/pick", "clevrskills/rotate", "vima/rotate"]


@pytest.mark.parametrize(
    ("wish", "kept"),
    [
        ({"task": ["stack"]}, [n for n in LIST if "stack" in n]),
        ({"split": ["test"]}, [n for n in LIST if "@test" in n]),
        ({"level": ["L0"]}, [n for n in LIST if "pick" in n]),
        ({"first_seed": 4}, [n for n in LIST if "#0" not in n]),
        ({"episodes": 1}, [n for n in LIST if "#0" in n]),
        ({"episodes": 1, "first_seed": 4, "task": ["pick"]}, ["clevrskills/pick@train#4", "clevrskills/pick@test#4"]),
        ({"perturb": ["light_color"], "control": False}, [f"{n}+light_color" for n in LIST]),
        ({"perturb": ["light_color"]}, [*LIST, *(f"{n}+light_color" for n in LIST)]),
        ({"options": {"robot": "panda"}}, [f"{n}?robot=panda" for n in LIST]),
    ],
)  # fmt: skip
def test_a_list_is_narrowed_and_varied(wish, kept, tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(LIST))
    assert list(choose([path], **wish)) == kept == list(choose(LIST, **wish))


def test_difficulties_are_added_to_a_list():
    names = choose(["vima/rotate@L1#0"], difficulty=["default", "extreme"])
    assert names == ("vima/rotate@L1#0", "vima/rotate@L1#0?difficulty=extreme")


def test_a_frozen_list_is_narrowed_too():
    assert len(choose(["vima-200"], episodes=1, split=["L4"])) == len({n.partition("@")[0] for n in choose(["vima-200"], split=["L4"])})


def test_levels_choose_tasks_or_splits():
    assert {n.partition("@")[0] for n in choose(["clevrskills"], level=["L0"], episodes=1)} < {
        n.partition("@")[0] for n in choose(["clevrskills"], episodes=1)
    }
    assert {n.partition("@")[2] for n in choose(["vima"], level=["L3"], episodes=1)} == {"L3#0"}


@pytest.mark.parametrize(
    ("what", "wish", "words"),
    [
        (LIST, {"task": ["stak"]}, "unknown task among the listed episodes 'stak'; did you mean 'stack'"),
        (LIST, {"level": ["L7"]}, "unknown level among the listed episodes 'L7'"),
        (LIST, {"first_seed": 50}, "none of the listed episodes has"),
        (LIST, {"episodes": 4}, "--episodes 4 of each kind: the list has at most 3"),
        (LIST, {"episodes": 0}, "--episodes must be at least 1"),
        (LIST, {"perturb": ["lihgt_color"]}, "did you mean 'light_color'"),
        (LIST, {"difficulty": ["extreme"]}, "unknown option of clevrskills/pick"),
        (["vima/rotate@L1#0?difficulty=extreme"], {"difficulty": ["distracting"]}, "has difficulty=extreme already"),
        ([*LIST, LIST[0]], {}, "the plan has clevrskills/pick@train#0 twice"),
        (["clevrskills/pick@test"], {"split": ["train"]}, "names a task or split of its own"),
        (["clevrskils@test"], {}, "unknown suite 'clevrskils'; did you mean 'clevrskills'"),
        (["vima"], {"level": ["L9"]}, "unknown level of vima 'L9'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(what, wish, words):
    with pytest.raises(EtudeError) as error:
        choose(what, **wish)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_wish_that_only_some_tasks_can_have_is_granted_to_those_and_said_with_a_count(caplog):
    names = [EpisodeName.parse(name) for name in choose("vima", perturb=["descriptors"], options={"count": "three"}, episodes=1)]
    assert {n.task for n in names if n.options} == {"rearrange", "rearrange_then_restore"}
    assert len({n.task for n in names}) == 17 and len({n.task for n in names if n.perturbations}) == 9
    assert [record.getMessage() for record in caplog.records] == [
        "count=three: 2 of 17 tasks have it; the others are played without it",
        "descriptors: 8 of 17 tasks are left out, which it cannot be applied to",
    ]
    listed = choose(["vima/rotate@L1#3", "vima/twist@L1#3"], perturb=["descriptors"], control=False)
    assert listed == ("vima/rotate@L1#3+descriptors",)


def test_a_wish_that_no_chosen_task_can_have_is_refused():
    with pytest.raises(EtudeError, match="descriptors cannot be applied to twist"):
        choose("vima/twist", perturb=["descriptors"])
    with pytest.raises(EtudeError, match="unknown option of vima/twist 'count'"):
        choose("vima/twist", options={"count": "three"})
