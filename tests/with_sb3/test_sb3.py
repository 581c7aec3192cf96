"""The vector environment in the hands of the real Stable-Baselines3. ``make test-sb3`` runs this in an environment of its own."""

import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="make test-sb3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import etude

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from train_stable_baselines import KEYS, Worlds

HOW = {"cameras": (), "state": True, "reward": "gain", "max_episode_steps": 8}


@pytest.fixture(scope="module")
def worlds():
    found = Worlds(etude.make_vec("clevrskills/touch", num_envs=3, autoreset_mode="SameStep", workers=0, **HOW))
    yield found
    found.close()


def test_a_single_environment_passes_its_check_once_it_shows_arrays_alone():
    check_env(gymnasium.wrappers.FilterObservation(etude.make("clevrskills", "touch", **HOW), KEYS))


def test_the_adapter_hands_on_what_the_vector_environment_gives(worlds):
    worlds.seed(5)
    seen = worlds.reset()
    other = etude.make_vec("clevrskills/touch", num_envs=3, autoreset_mode="SameStep", workers=0, **HOW)
    assert all(np.array_equal(seen[key], other.reset(seed=5)[0][key]) for key in KEYS)
    actions = np.zeros((3, 7), np.float32)
    for _ in range(8):
        seen, rewards, ended, told = worlds.step(actions)
        expected, paid, *_, infos = other.step(actions)
        assert np.allclose(rewards, paid) and all(np.array_equal(seen[key], expected[key]) for key in KEYS)
    other.close()
    assert ended.all() and all(one["TimeLimit.truncated"] and not one["is_success"] for one in told)
    for k in range(3):
        assert np.array_equal(told[k]["terminal_observation"]["state"], infos["final_obs"][k]["state"])
    assert worlds.env_method("instruction_pictures", 32, indices=1)[0][0].startswith("Touch")


def test_ppo_learns_on_it_with_normalised_rewards_and_its_policy_is_evaluated(worlds):
    trained = VecNormalize(VecMonitor(worlds))
    model = PPO("MultiInputPolicy", trained, n_steps=16, batch_size=48, n_epochs=1, seed=0, device="cpu")
    before = [p.clone() for p in model.policy.parameters()]
    model.learn(96)
    assert model.num_timesteps == 96 and any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) == 12 and {one["l"] for one in model.ep_info_buffer} == {8}
    returns, lengths = evaluate_policy(model, trained, n_eval_episodes=3, return_episode_rewards=True)
    assert np.isfinite(returns).all() and lengths == [8] * 3
