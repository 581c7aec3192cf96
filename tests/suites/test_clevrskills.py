"""Every task of ClevrSkills: episodes are values, the same everywhere, and the oracle solves them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from every import every
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

import etude
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.index import env_id
from etude.library import prompts, tasks
from etude.names import EtudeError
from etude.policies.scripted import OraclePolicy, RandomPolicy
from etude.prompts.pictures import messages, multimodal
from etude.render.studio import Studio
from etude.scene.scene import Body
from etude.suites.clevrskills import things

TASKS = list(tasks("clevrskills"))
# A hand that flails about the table may touch and push things.
BY_CHANCE = ("touch", "touch_push", "touch_topple", "push")


def test_the_registered_environments_are_the_tasks_of_the_suite():
    assert [env_id("clevrskills", task) in gymnasium.registry for task in TASKS] == [True] * 33


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10**6), split=st.sampled_from(("train", "test")))
def test_episodes_round_trip_through_json_and_keep_their_ids(task, seed, split):
    episode = etude.episode(f"clevrskills/{task}@{split}#{seed}")
    again = Episode.from_json(episode.to_json())
    assert again == episode
    assert again.id == episode.id
    assert etude.episode(episode.name).id == episode.id


@every("task", TASKS)
def test_every_prompt_reads_well_in_all_three_forms(task):
    name = f"clevrskills/{task}@train#1"
    episode = etude.episode(name)
    told = prompts(episode)
    assert told[0] == episode.instruction and told[-1] == etude.episode(f"{name}?prompt={len(told) - 1}").instruction
    for instruction in told:
        text, pictures = multimodal(instruction, episode.scene, 32)
        assert len(pictures) == text.count("{image:")
        assert all(p.shape == (32, 32, 3) for p in pictures)
        assert "  " not in instruction.text and instruction.text == instruction.text.strip()
        parts = messages(instruction, episode.scene, 32)[0]["content"]
        assert sum(p["type"] == "image_url" for p in parts) == len(pictures)
    with pytest.raises(EtudeError, match="has prompts"):
        etude.episode(f"{name}?prompt={len(told)}")


def _played(task: str, seed: int = 0) -> str:
    """A digest of everything that happens in thirty steps of the oracle, and of the first frame."""
    simulation, oracle, seen = Simulation(etude.episode(f"clevrskills/{task}@train#{seed}")), OraclePolicy(), hashlib.sha256()
    seen.update(Studio(simulation.world).shoot("base", (48, 48)).rgb.tobytes())
    oracle.reset("", (), simulation.episode.name)
    for _ in range(30):
        status = simulation.step(oracle.act({"simulation": simulation}))
        seen.update(simulation.world.data.qpos.tobytes())
        seen.update(json.dumps([status.reward, oracle.words]).encode())
    return seen.hexdigest()


def test_states_labels_rewards_and_frames_are_the_same_in_another_process():
    """Of every sixth task, which are some of each level; test_digests plays one of every family against bytes of long ago."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; from test_clevrskills import _played, TASKS\n"
        "for task in reversed(TASKS[::6]): print(task, _played(task))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "11"}
    places = map(str, Path(__file__).parents[:2])
    done = subprocess.run([sys.executable, "-c", program, *places], env=environment, capture_output=True, text=True, check=True)
    elsewhere = dict(line.split() for line in done.stdout.splitlines())
    assert {task: _played(task) for task in TASKS[::6]} == elsewhere


@pytest.mark.parametrize(("task", "split"), list(zip(TASKS, cycle(["train", "test"]), strict=False)))
def test_the_oracle_solves_it_and_speaks_of_what_it_does(task, split):
    """Tasks take turns with the splits, and one of two seeds has to do; ``etude evaluate`` plays as many as one likes."""
    for seed in range(2):
        simulation, oracle = Simulation(etude.episode(f"clevrskills/{task}@{split}#{seed}")), OraclePolicy()
        oracle.reset("", (), simulation.episode.name)
        while not simulation.status.satisfied and simulation.steps < simulation.episode.horizon:
            simulation.step(oracle.act({"simulation": simulation}))
            assert all(oracle.words)
        if simulation.status.satisfied:
            return
    pytest.fail("neither seed was solved")


@every("task", [t for t in TASKS if t not in BY_CHANCE])
def test_chance_does_not_solve_it(task):
    simulation, random = Simulation(etude.episode(f"clevrskills/{task}@train#3")), RandomPolicy()
    random.reset("", (), simulation.episode.name)
    for _ in range(60):
        simulation.step(random.act({"simulation": simulation}))
    assert not simulation.status.satisfied


@pytest.mark.parametrize("task", TASKS[::6])
def test_gymnasium_finds_nothing_wrong(task):
    """Of every sixth task, which are some of each level; what a task could do wrong alone is checked for all of them."""
    env = gymnasium.make(env_id("clevrskills", task), size=(24, 24), render_mode="rgb_array")
    check_env(env.unwrapped, skip_render_check=True)  # which would open a window, where there may be no screen
    env.reset(seed=1)
    assert env.render().shape == (512, 512, 3)


@every("task", TASKS)
def test_every_environment_keeps_to_its_spaces_and_its_seed(task):
    env = gymnasium.make(env_id("clevrskills", task), size=(24, 24), render_mode="rgb_array").unwrapped
    (seen, info), (again, _) = env.reset(seed=123), env.reset(seed=123)
    assert seen in env.observation_space and isinstance(info, dict)
    assert data_equivalence(seen, again)
    env.action_space.seed(0)
    seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert seen in env.observation_space and np.isfinite(reward)
    assert (type(terminated), type(truncated), type(info)) == (bool, bool, dict)
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.ndim == 3


def test_train_and_test_share_neither_things_nor_textures():
    def names(split: str) -> set[str]:
        pools = (things.bases, things.tops, things.randoms)
        return {item.words for pool in pools for item in pool(split)}

    assert not names("train") & names("test")
    assert not {i.words for i in things.primitives("train")} & {i.words for i in things.primitives("test")}
    counts = [len(things.textures(split, group)) for split in ("train", "test") for group in (1, 2)]
    assert counts == [28, 33, 7, 8]
    assert len({t for split in ("train", "test") for group in (1, 2) for t in things.textures(split, group)}) == 76


@every("task", TASKS)
def test_nothing_moves_before_anything_is_done(task):
    simulation = Simulation(etude.episode(f"clevrskills/{task}@train#5"))
    before = {e.name: simulation.world.pose(e.name).position for e in simulation.episode.scene.entities if isinstance(e, Body)}
    simulation.world.step(20)
    for name, position in before.items():
        assert np.linalg.norm(np.subtract(simulation.world.pose(name).position, position)) < 0.003, name
    assert not simulation.status.satisfied


@pytest.mark.parametrize("control", ["ee_pose", "joint"])
def test_the_oracle_acts_in_every_action_space(control):
    env = gymnasium.make(env_id("clevrskills", "simple_manipulation"), control=control, cameras=())
    env.reset(seed=4)
    simulation, oracle = env.unwrapped.simulation, OraclePolicy()
    oracle.reset("", (), simulation.episode.name)
    for _ in range(simulation.episode.horizon):
        *_, done, _, info = env.step(oracle.act({"simulation": simulation}))
        if done:
            break
    assert info["is_success"]


def test_the_panda_plays_too():
    episode = etude.episode("clevrskills/simple_manipulation@train#4?robot=panda")
    assert episode.scene.robot.arm == "panda"
    simulation, oracle = Simulation(episode), OraclePolicy()
    oracle.reset("", (), simulation.episode.name)
    while not simulation.status.satisfied and simulation.steps < episode.horizon:
        simulation.step(oracle.act({"simulation": simulation}))
    assert simulation.status.satisfied


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clevrskils/pick@train#1", "did you mean 'clevrskills'"),
        ("clevrskills/pik@train#1", "did you mean 'pick'"),
        ("clevrskills/pick@trian#1", "did you mean 'train'"),
        ("clevrskills/pick@train#1?rbot=panda", "did you mean 'robot'"),
        ("clevrskills/pick@train#1?prompt=99", "has prompts 0 to 8"),
        ("clevrskills/pick@train#1+blur", "unknown perturbation 'blur'"),
    ],
)
def test_wrong_names_are_refused_with_the_nearest(name, message):
    with pytest.raises(EtudeError, match=message):
        etude.episode(name)
