"""What people get wrong with environments: each mistake is one line that says what was expected, and none is passed over in silence."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from etude.envs.decision_env import DecisionEnv
from etude.envs.env import EpisodeEnv
from etude.library import episode, tasks
from etude.names import EtudeError


def refused(*call: Any, **arguments: Any) -> str:
    function, *positional = call
    with pytest.raises(EtudeError) as error:
        function(*positional, **arguments)
    text = str(error.value)
    assert text and "\n" not in text
    return text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"suite": "clevrskils"}, "unknown suite 'clevrskils'; did you mean 'clevrskills'"),
        ({"suite": None}, "the suite must be text, got None"),
        ({"task": "tuch"}, "unknown task of clevrskills 'tuch'; did you mean 'touch'"),
        ({"task": 3}, "the task of clevrskills must be text, got 3"),
        ({"split": "tset"}, "unknown split of clevrskills/touch 'tset'; did you mean 'test'"),
        ({"split": ["test"]}, "the split of clevrskills/touch must be text, got ['test']"),
        ({"control": "mind"}, "unknown action space of clevrskills/touch 'mind'; valid: ee_delta, ee_pose, joint"),
        ({"control": "joints"}, "did you mean 'joint'"),
        ({"control": "pick_place"}, "unknown action space of clevrskills/touch 'pick_place'"),
        ({"control": "answer"}, "unknown action space of clevrskills/touch 'answer'"),
        ({"control": 7}, "unknown action space of clevrskills/touch '7'"),
        ({"cameras": "base"}, "cameras must be a list of names, got 'base'; for one of them write ('base',)"),
        ({"cameras": ("bse",)}, "unknown camera 'bse'; did you mean 'base'"),
        ({"cameras": (3,)}, "cameras must be a list of names, got (3,)"),
        ({"cameras": 3}, "cameras must be a list of names, got 3"),
        ({"size": "big"}, "size is (width, height) in pixels, from 1 to 4096 each; got 'big'"),
        ({"size": 128}, "size is (width, height) in pixels"),
        ({"size": (64,)}, "got (64,)"),
        ({"size": (64, 64, 3)}, "got (64, 64, 3)"),
        ({"size": (-64, 64)}, "got (-64, 64)"),
        ({"size": (0, 0)}, "got (0, 0)"),
        ({"size": (64.5, 64)}, "got (64.5, 64)"),
        ({"size": ("64", "64")}, "got ('64', '64')"),
        ({"size": (10**6, 10**6)}, "got (1000000, 1000000)"),
        ({"modalities": "depth"}, "modalities must be a list of names, got 'depth'; for one of them write ('depth',)"),
        ({"modalities": ("rgbd",)}, "unknown modality 'rgbd'; did you mean 'rgb'"),
        ({"renderer": "vulkan"}, "unknown renderer 'vulkan'; valid: gl, raster"),
        ({"render_mode": "humna"}, "unknown render_mode 'humna'; did you mean 'human'"),
        ({"labels": "no"}, "labels must be True or False, got 'no'"),
        ({"boxes": 1}, "boxes must be True or False, got 1"),
        ({"options": {"robot": "kuka"}}, "unknown arm 'kuka'; valid: panda, ur5, xarm6"),
        ({"options": {"robt": "panda"}}, "unknown option of clevrskills/touch 'robt'; did you mean 'robot'"),
        ({"options": "robot=panda"}, "options must be a dict of texts, like {'robot': 'panda'}; got 'robot=panda'"),
        ({"options": {"robot": None}}, "options must be a dict of texts"),
        ({"options": {"robot": ""}}, "is not an episode name"),
        ({"suite": "iwisdm", "task": "low", "split": "val"}, "is a decision without a robot"),
    ],
)
def test_an_environment_that_cannot_be_meant_is_not_made(arguments: dict[str, Any], words: str) -> None:
    assert words in refused(EpisodeEnv, **{"suite": "clevrskills", "task": "touch", **arguments})


def test_numbers_of_numpy_and_lists_are_taken() -> None:
    env = EpisodeEnv("clevrskills", "touch", size=[np.int64(8), 6], cameras=["base"])  # type: ignore[arg-type]
    observation, info = env.reset(seed=np.int64(3))  # type: ignore[arg-type]
    assert observation["base"].shape == (6, 8, 3) and info["episode_name"] == "clevrskills/touch@train#3"


@pytest.fixture(scope="module")
def env() -> EpisodeEnv:
    made = EpisodeEnv("clevrskills", "touch", cameras=())
    made.reset(seed=0)
    return made


@pytest.fixture(scope="module")
def decisions() -> DecisionEnv:
    made = DecisionEnv("iwisdm", "low", size=32)
    made.reset(seed=0)
    return made


RESETS = [
    ({"seed": "abc"}, "a seed is a whole number from 0 to 999999999999999999, got 'abc'"),
    ({"seed": -1}, "a seed is a whole number from 0"),
    ({"seed": 1.5}, "got 1.5"),
    ({"seed": True}, "got True"),
    ({"seed": 10**18}, "got 1000000000000000000"),
    ({"seed": [1]}, "got [1]"),
    ({"options": {"episod": "x"}}, "unknown option of reset 'episod'; did you mean 'episode'"),
    ({"options": {"seed": 3}}, "unknown option of reset 'seed'; valid: episode"),
    ({"options": {1: 2}}, "the option of reset must be text, got 1"),
    ({"options": "clevrskills/touch@train#3"}, 'options of reset must be a dict, like {"episode": name}'),
    ({"options": {"episode": 3}}, "the episode must be text, got 3"),
    ({"options": {"episode": "touch"}}, "'touch' is not an episode name"),
    ({"options": {"episode": "clevrskills/pick@train#0"}}, "is not"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), RESETS)
@pytest.mark.parametrize("which", ["env", "decisions"])
def test_a_reset_that_cannot_be_meant_is_refused(which: str, arguments: dict[str, Any], words: str, request) -> None:
    made = request.getfixturevalue(which)
    assert words in refused(made.reset, **arguments)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("abc", "the action is text ('abc'); expected 7 numbers of 'ee_delta'"),
        (["0"] * 7, "the action is a list; expected 7 numbers"),
        (None, "the action is None; expected 7 numbers"),
        ({"action": 1}, "the action is a dict; expected 7 numbers"),
        ([[0.0], [0.0, 0.0]], "the action is a list, which is no array"),
        (np.zeros(7, complex), "the action is an array of complex128; expected 7 numbers"),
        (np.zeros(7, object), "the action is an array of object"),
        (1.0, "an action of 'ee_delta' has 7 numbers, got shape ()"),
        (np.zeros(8), "an action of 'ee_delta' has 7 numbers, got shape (8,)"),
        (np.zeros((1, 7)), "got shape (1, 7)"),
        ([], "got shape (0,)"),
        (np.full(7, np.nan), "an action must be finite"),
        (np.full(7, -np.inf), "an action must be finite"),
    ],
)
def test_a_step_that_is_none_is_refused_and_the_next_is_taken(action: Any, words: str, env: EpisodeEnv) -> None:
    before = env.simulation.steps
    assert words in refused(env.step, action)
    assert env.simulation.steps == before


@pytest.mark.parametrize(("suite", "control"), [("clevrskills", "ee_pose"), ("vlmbench", "keypose")])
def test_a_rotation_without_a_length_is_no_pose(suite: str, control: str) -> None:
    posed = EpisodeEnv(suite, next(iter(tasks(suite))), control=control, cameras=())
    posed.reset(seed=0)
    words = f"the rotation of an action of {control!r} must be a quaternion (wxyz), not of length"
    for size, length in ((0.0, "0"), (1e300, "inf")):
        assert refused(posed.step, np.full(8, size)) == f"{words} {length}"


@pytest.mark.parametrize("action", ["red", None, 2.7, -1, 10**6, [1, 2], float("nan"), True])
def test_an_answer_that_is_none_is_refused(action: Any, decisions: DecisionEnv) -> None:
    assert "a whole number from 0 to " in refused(decisions.step, action)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": "big"}, "the size of a frame is (width, height) in pixels"),
        ({"size": -3}, "got (-3, -3)"),
        ({"task": "lo"}, "unknown task of iwisdm 'lo'; did you mean 'low'"),
        ({"split": 3}, "the split of iwisdm/low must be text, got 3"),
        ({"render_mode": "humna"}, "unknown render_mode 'humna'; did you mean 'human'"),
    ],
)
def test_an_environment_of_decisions_that_cannot_be_meant_is_not_made(arguments: dict[str, Any], words: str) -> None:
    assert words in refused(DecisionEnv, **{"suite": "iwisdm", "task": "low", **arguments})


def test_nothing_can_be_done_before_the_first_reset_or_after_the_end() -> None:
    fresh = EpisodeEnv("clevrskills", "touch", cameras=())
    for call in ((fresh.step, np.zeros(7)), (fresh.save,), (fresh.restore, None), (fresh.instruction_pictures,)):
        assert refused(*call) == "call reset() first"
    fresh.reset(seed=0)
    fresh.simulation.steps = fresh.simulation.episode.horizon
    assert refused(fresh.step, np.zeros(7)) == "the episode is over; call reset()"


def test_a_state_is_restored_only_where_it_was_saved(env: EpisodeEnv) -> None:
    assert refused(env.restore, "yesterday") == "restore takes what save() gave, got a str"
    saved = env.save()
    env.reset(seed=1)
    words = "this state was saved in clevrskills/touch@train#0; it cannot be restored in clevrskills/touch@train#1"
    assert refused(env.restore, saved) == words
    env.reset(seed=0)
    env.restore(saved)


def test_pictures_of_an_instruction_have_a_size(env: EpisodeEnv) -> None:
    assert "the size of a picture is (width, height) in pixels" in refused(env.instruction_pictures, pixels=-1)


def test_no_episode_is_played_in_a_space_it_does_not_have() -> None:
    assert "unknown action space of vima/rotate 'sweep'" in refused(episode("vima/rotate@train#0").under, "sweep")


def test_a_mistake_is_the_same_through_gymnasium() -> None:
    with pytest.raises(EtudeError, match="unknown action space of clevrskills/touch 'mind'"):
        gymnasium.make("etude/clevrskills.touch-v1", control="mind")
