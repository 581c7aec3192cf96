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
from gymnasium.vector import SyncVectorEnv, VectorWrapper
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


def batched_picture(envs):
    space, single = envs.observation_space["base"], envs.single_observation_space["base"]
    return batched.TransformObservation(envs, lambda seen: seen["base"], space, single)


def batched_vector(envs):
    return batched.FlattenObservation(batched.FilterObservation(envs, ["proprioception"]))


def standing(envs):
    flat = batched_vector(envs)
    return batched.VectorizeTransformObservation(flat, wrappers.ReshapeObservation, shape=(*flat.single_observation_space.shape, 1))


def halved(action):
    return action * np.float32(0.5)


BATCHED = {
    "ClipAction": batched.ClipAction,
    "ClipReward": lambda envs: batched.ClipReward(envs, 0.0, 0.1),
    "DictInfoToList": batched.DictInfoToList,
    "DtypeObservation": lambda envs: batched.DtypeObservation(batched_picture(envs), np.int32),
    "FilterObservation": lambda envs: batched.FilterObservation(envs, ["proprioception"]),
    "FlattenObservation": batched_vector,
    "GrayscaleObservation": lambda envs: batched.GrayscaleObservation(batched_picture(envs)),
    "NormalizeObservation": lambda envs: batched.NormalizeObservation(batched_vector(envs)),
    "NormalizeReward": batched.NormalizeReward,
    "RecordEpisodeStatistics": batched.RecordEpisodeStatistics,
    "RescaleAction": lambda envs: batched.RescaleAction(envs, np.float32(-5), np.float32(5)),
    "RescaleObservation": lambda envs: batched.RescaleObservation(batched_picture(envs), np.uint8(0), np.uint8(1)),
    "ReshapeObservation": lambda envs: batched.ReshapeObservation(batched_picture(envs), (*SIZE[::-1], 3, 1)),
    "TransformAction": lambda envs: batched.TransformAction(envs, halved),
    "TransformObservation": batched_picture,
    "TransformReward": lambda envs: batched.TransformReward(envs, lambda rewards: rewards - 1.0),
    "VectorizeTransformAction": lambda envs: batched.VectorizeTransformAction(
        envs, wrappers.TransformAction, func=halved, action_space=envs.single_action_space
    ),
    "VectorizeTransformObservation": standing,
    "VectorizeTransformReward": lambda envs: batched.VectorizeTransformReward(
        envs, wrappers.TransformReward, func=lambda reward: reward - 1.0
    ),
}
BATCHED_WITHOUT_SENSE = {"ArrayConversion", "JaxToNumpy", "JaxToTorch"}


class WithoutTexts(VectorWrapper):
    """Infos of numbers alone: a wrapper that makes tensors of all that it finds stops at a text."""

    def reset(self, **how):
        seen, infos = self.env.reset(**how)
        return seen, {key: value for key, value in infos.items() if isinstance(value, np.ndarray) and value.dtype.kind in "biuf"}


def test_every_wrapper_of_batches_has_been_thought_of():
    public = {name for name in batched.__all__ if name[0].isupper()}
    assert public <= BATCHED.keys() | ELSEWHERE.keys() | BATCHED_WITHOUT_SENSE


def a_batch():
    return etude.make_vec(TOUCH, 2, workers=0, cameras=("base",), size=SIZE, max_episode_steps=2, render_mode="rgb_array")


@pytest.fixture(scope="module")
def envs():
    return a_batch()


@pytest.fixture(scope="module")
def bare():
    """The rewards of two steps, and the observation after them, in the same worlds without a wrapper."""
    return played_together(a_batch())


def played_together(wrapped):
    wrapped.action_space.seed(0)
    seen, _ = wrapped.reset(seed=0)
    assert wrapped.observation_space.contains(seen)
    for _ in range(2):
        seen, rewards, _, truncations, infos = wrapped.step(wrapped.action_space.sample())
        assert wrapped.observation_space.contains(seen) and rewards.shape == (2,)
    assert truncations.all()
    return seen, rewards, infos


@pytest.mark.parametrize("name", BATCHED)
def test_wrappers_of_batches_go_around_many_worlds(name, envs, bare):
    seen, rewards, infos = played_together(BATCHED[name](envs))
    plain, paid, _ = bare
    assert ("Observation" in name) is not (isinstance(seen, dict) and seen.keys() == plain.keys())
    if name.endswith("TransformReward"):
        assert np.allclose(rewards, paid - 1.0)
    if name == "RecordEpisodeStatistics":
        assert infos["episode"]["l"].tolist() == [2, 2]
    if name == "DictInfoToList":
        assert [one["episode_name"] for one in infos] == [f"clevrskills/touch@train#{k}" for k in range(2)]
    if name in ("TransformObservation", "DtypeObservation", "ReshapeObservation"):
        assert np.array_equal(np.reshape(seen, plain["base"].shape), plain["base"])


@pytest.mark.parametrize("name", [name for name in ELSEWHERE if name != "HumanRendering"])
def test_wrappers_of_batches_that_need_a_package_work_with_it(name, tmp_path):
    pytest.importorskip(ELSEWHERE[name])
    if name == "NumpyToTorch":
        pytest.importorskip("array_api_compat")
    envs = a_batch()
    if name == "RecordVideo":
        wrapped = batched.RecordVideo(envs, str(tmp_path), episode_trigger=lambda k: True)
        played_together(wrapped)
        wrapped.close()
        assert list(tmp_path.glob("*.mp4"))
    elif name == "ResizeObservation":
        assert played_together(batched.ResizeObservation(batched_picture(envs), (20, 24)))[0].shape == (2, 20, 24, 3)
    else:
        wrapped = batched.NumpyToTorch(WithoutTexts(batched.FilterObservation(envs, ["proprioception"])))
        seen, infos = wrapped.reset(seed=1)
        assert type(seen["proprioception"]).__module__ == type(infos["progress"]).__module__ == "torch"
        assert len(seen["proprioception"]) == 2


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


@pytest.fixture(scope="module")
def screen():
    """The name of a screen that nobody sees."""
    if shutil.which("Xvfb") is None:
        pytest.skip("no virtual screen here: apt install xvfb")
    read, write = os.pipe()
    process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    yield f":{number}"
    process.terminate()
    process.wait()


@pytest.mark.parametrize(("name", "settings"), [(TOUCH, {"cameras": ()}), ("etude/iwisdm.low-v1", {"size": 128})])
def test_people_see_episodes_and_trials_in_a_window(name, settings, screen):
    done = watched(name, settings, DISPLAY=screen)
    assert done.returncode == 0, done.stderr


RENDERED = {
    "one": """
import gymnasium, numpy, pygame
from gymnasium.wrappers import HumanRendering
import etude
plain = gymnasium.make("etude/clevrskills.touch-v1", cameras=(), render_mode="rgb_array")
wrapped = HumanRendering(plain)
wrapped.metadata["render_fps"] = 1000
wrapped.reset(seed=0)
first = pygame.surfarray.array3d(wrapped.window)
for _ in range(8):
    wrapped.step(wrapped.action_space.sample())
shown = pygame.surfarray.array3d(wrapped.window)
assert pygame.display.get_driver() == "x11"
assert numpy.array_equal(shown.transpose(1, 0, 2), plain.render()) and not numpy.array_equal(shown, first)
wrapped.close()
""",
    "many": """
import cv2, numpy, pygame
from gymnasium.wrappers.vector import HumanRendering
import etude
envs = etude.make_vec("clevrskills/touch", 2, workers=0, cameras=(), render_mode="rgb_array")
envs.reset(seed=0)
height, width, _ = envs.render()[0].shape
wrapped = HumanRendering(envs, screen_size=(2 * width, height))
wrapped.metadata["render_fps"] = 1000
wrapped.reset(seed=0)
wrapped.step(wrapped.action_space.sample())
shown = pygame.surfarray.array3d(wrapped.window).transpose(1, 0, 2)
assert pygame.display.get_driver() == "x11" and numpy.array_equal(shown, numpy.concatenate(envs.render(), 1))
wrapped.close()
""",
}


@pytest.mark.parametrize("number", RENDERED)
def test_windows_of_gymnasium_that_need_a_package_show_what_is_rendered(number, screen):
    pytest.importorskip("pygame")
    if number == "many":
        pytest.importorskip("cv2")
    done = subprocess.run([sys.executable, "-c", RENDERED[number]], env={**os.environ, "DISPLAY": screen}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_batch_has_no_window():
    with pytest.raises(EtudeError, match="is for one environment"):
        etude.make_vec(TOUCH, 2, workers=0, render_mode="human")
