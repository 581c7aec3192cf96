"""Gymnasium's own tools around etude's environments: its wrappers, what they ask an environment for, and the window for people."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import vector as batched

import etude
from etude.names import EtudeError

TOUCH = "etude/clevrskills.touch-v1"
SIZE = (40, 40)


@pytest.fixture(scope="module")
def env():
    return gymnasium.make(TOUCH, cameras=("base",), size=SIZE, render_mode="rgb_array")


def felt(env):
    return wrappers.FilterObservation(env, ["proprioception"])


def vector(env):
    return wrappers.FlattenObservation(felt(env))


def picture(env):
    return wrappers.TransformObservation(env, lambda seen: seen["base"], env.observation_space["base"])


WRAPPERS = {
    "AddRenderObservation": wrappers.AddRenderObservation,
    "AddWhiteNoise": lambda env: wrappers.AddWhiteNoise(env, probability_of_noise_per_pixel=0.1),
    "Autoreset": wrappers.Autoreset,
    "ClipAction": wrappers.ClipAction,
    "ClipReward": lambda env: wrappers.ClipReward(env, 0.0, 0.1),
    "DelayObservation": lambda env: wrappers.DelayObservation(vector(env), 2),
    "DiscretizeAction": lambda env: wrappers.DiscretizeAction(env, 3),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(picture(env), np.int32),
    "FilterObservation": felt,
    "FlattenObservation": vector,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(picture(env), 3),
    "GrayscaleObservation": lambda env: wrappers.GrayscaleObservation(picture(env)),
    "MaxAndSkipObservation": lambda env: wrappers.MaxAndSkipObservation(picture(env), 2),
    "NormalizeObservation": lambda env: wrappers.NormalizeObservation(vector(env)),
    "NormalizeReward": wrappers.NormalizeReward,
    "ObstructView": lambda env: wrappers.ObstructView(env, obstructed_pixels_ratio=0.1, obstruction_width=4),
    "OrderEnforcing": wrappers.OrderEnforcing,
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "RenderCollection": wrappers.RenderCollection,
    "RepeatAction": lambda env: wrappers.RepeatAction(env, 2),
    "RescaleAction": lambda env: wrappers.RescaleAction(env, np.float32(-5), np.float32(5)),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(picture(env), np.uint8(0), np.uint8(1)),
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(picture(env), (*SIZE[::-1], 3, 1)),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.5),
    "TimeAwareObservation": wrappers.TimeAwareObservation,
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 3),
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda reward: reward - 1.0),
}
ELSEWHERE = {"RecordVideo": "moviepy", "HumanRendering": "pygame", "ResizeObservation": "cv2", "NumpyToTorch": "torch"}
WITHOUT_SENSE = {
    "ArrayConversion", "AtariPreprocessing", "JaxToNumpy", "JaxToTorch",  # for environments that do not give arrays of NumPy
    "DiscretizeObservation",  # a table of all states
    "TransformAction", "TransformObservation",  # what others here are made of
}  # fmt: skip


def test_every_wrapper_of_gymnasium_has_been_thought_of():
    public = {name for name in wrappers.__all__ if name[0].isupper()}
    assert public <= WRAPPERS.keys() | ELSEWHERE.keys() | WITHOUT_SENSE


def played(wrapped, steps=3):
    wrapped.action_space.seed(0)
    seen, _ = wrapped.reset(seed=1)
    assert wrapped.observation_space.contains(seen)
    for _ in range(steps):
        seen, reward, terminated, truncated, info = wrapped.step(wrapped.action_space.sample())
        assert wrapped.observation_space.contains(seen) and np.isfinite(reward) and not terminated
    return seen, reward, truncated, info


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_plays_and_gives_what_its_space_says(name, env):
    wrapped = WRAPPERS[name](env)
    _, _, truncated, _ = played(wrapped)
    assert truncated is (name == "TimeLimit")
    assert wrapped.spec.id == TOUCH and wrapped.get_wrapper_attr("task") == "clevrskills/touch"
    if name in ("AddWhiteNoise", "ObstructView"):
        assert wrapped.render().shape == env.render().shape
    if name == "RenderCollection":
        assert len(wrapped.render()) == 4


@pytest.mark.parametrize("name", [name for name, needed in ELSEWHERE.items() if name != "HumanRendering"])
def test_wrappers_that_need_a_package_work_with_it(name, env, tmp_path):
    pytest.importorskip(ELSEWHERE[name])
    if name == "NumpyToTorch":
        pytest.importorskip("array_api_compat")  # Gymnasium's own wish, which installing it does not fulfil
    if name == "RecordVideo":
        wrapped = wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda k: True)
        played(wrapped)
        wrapped.stop_recording()
        assert list(tmp_path.glob("*.mp4"))
    elif name == "ResizeObservation":
        assert played(wrappers.ResizeObservation(picture(env), (20, 24)))[0].shape == (20, 24, 3)
    else:
        seen, _ = wrappers.NumpyToTorch(felt(env)).reset(seed=1)
        assert type(seen["proprioception"]).__module__ == "torch"


def test_statistics_of_episodes_are_kept_under_their_own_name(env):
    *_, info = played(wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(env, 3)))
    assert info["episode"]["l"] == 3 and info["episode_name"] == "clevrskills/touch@train#1"


BATCHED = {
    "ClipReward": lambda envs: batched.ClipReward(envs, 0.0, 0.1),
    "DictInfoToList": batched.DictInfoToList,
    "FilterObservation": lambda envs: batched.FilterObservation(envs, ["proprioception"]),
    "FlattenObservation": lambda envs: batched.FlattenObservation(batched.FilterObservation(envs, ["proprioception"])),
    "NormalizeObservation": lambda envs: batched.NormalizeObservation(BATCHED["FlattenObservation"](envs)),
    "NormalizeReward": batched.NormalizeReward,
    "RecordEpisodeStatistics": batched.RecordEpisodeStatistics,
    "RescaleAction": lambda envs: batched.RescaleAction(envs, np.float32(-5), np.float32(5)),
}


@pytest.fixture(scope="module")
def envs():
    return etude.make_vec(TOUCH, 2, workers=0, cameras=(), max_episode_steps=2)


@pytest.mark.parametrize("name", BATCHED)
def test_wrappers_of_batches_go_around_many_worlds(name, envs):
    wrapped = BATCHED[name](envs)
    seen, _ = wrapped.reset(seed=0)
    for _ in range(2):
        seen, rewards, _, truncations, infos = wrapped.step(wrapped.action_space.sample())
        assert wrapped.observation_space.contains(seen) and rewards.shape == (2,)
    assert truncations.all()
    if name == "RecordEpisodeStatistics":
        assert infos["episode"]["l"].tolist() == [2, 2]


# ------------------------------------------------------------------------------------------ what tools ask for


@pytest.mark.parametrize(
    ("name", "control", "steps"),
    [
        (TOUCH, None, 200),
        ("etude/vima.rotate-v1", None, 10),
        ("etude/vima.rotate-v1", "ee_delta", 1000),
        ("etude/himan.open_drawer-v1", "joint", 400),
    ],
)
def test_the_horizon_stands_in_the_spec_in_every_action_space(name, control, steps):
    env = gymnasium.make(name, cameras=(), control=control)
    assert env.spec.max_episode_steps == env.get_wrapper_attr("_max_episode_steps") == steps
    again = gymnasium.make(env.spec)
    assert again.spec.max_episode_steps == steps and again.spec.kwargs["control"] == control


def test_a_shorter_limit_is_the_one_that_is_told():
    env = gymnasium.make(TOUCH, cameras=(), max_episode_steps=7)
    assert env.spec.max_episode_steps == env.get_wrapper_attr("_max_episode_steps") == 7


def test_a_trial_is_as_long_as_its_frames_and_tells_its_instruction():
    env = gymnasium.make("etude/iwisdm.low-v1", size=32)
    for seed in (0, 3):
        seen, _ = env.reset(seed=seed)
        assert env.get_wrapper_attr("task_description") == seen["instruction"]
        steps = 0
        over = False
        while not over:
            *_, over, _, _ = env.step(0)
            steps += 1
        assert env.spec.max_episode_steps == steps


def test_every_world_of_a_batch_tells_its_task_and_its_instruction():
    single = [lambda: gymnasium.make(TOUCH, cameras=())] * 2
    for envs in (SyncVectorEnv(single), etude.make_vec(TOUCH, 2, workers=0, cameras=())):
        seen, _ = envs.reset(seed=0)
        assert envs.call("task_description") == tuple(seen["instruction"])
        assert envs.call("task") == ("clevrskills/touch",) * 2 and envs.call("_max_episode_steps") == (200, 200)


# ------------------------------------------------------------------------------------------ the window


WATCHED = """
import etude, gymnasium
env = gymnasium.make({id!r}, render_mode="human", **{settings})
env.metadata["render_fps"] = 1000
env.reset(seed=0)
window = env.unwrapped._window
first = window._shown
env.step(env.action_space.sample())
assert env.render() is None and window._shown is not first and window._shown.width() > 100
env.close()
env.close()
"""


def watched(name: str, settings: dict[str, object], **environment: str) -> subprocess.CompletedProcess[str]:
    bare = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    program = WATCHED.format(id=name, settings=settings)
    return subprocess.run([sys.executable, "-c", program], env={**bare, **environment}, capture_output=True, text=True)


def test_without_a_screen_one_line_says_what_to_do():
    done = watched(TOUCH, {"cameras": ()})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith('etude.names.EtudeError: render_mode="human" needs a screen')
    assert 'render_mode="rgb_array"' in done.stderr.splitlines()[-1]


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="no virtual screen here: apt install xvfb")
def test_people_see_episodes_and_trials_in_a_window():
    read, write = os.pipe()
    screen = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as told:
            display = f":{told.readline().strip()}"
        for name, settings in ((TOUCH, {"cameras": ()}), ("etude/iwisdm.low-v1", {"size": 128})):
            done = watched(name, settings, DISPLAY=display)
            assert done.returncode == 0, done.stderr
    finally:
        screen.terminate()
        screen.wait()


def test_a_batch_has_no_window():
    with pytest.raises(EtudeError, match="is for one environment"):
        etude.make_vec(TOUCH, 2, workers=0, render_mode="human")
