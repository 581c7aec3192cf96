"""PPO of Stable-Baselines3 on the vector environment: python examples/train_stable_baselines.py pick gain 100000 runs/sb3.zip"""

import sys

import gymnasium
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import etude

KEYS = ("proprioception", "state")  # what is learned from: Stable-Baselines3 takes arrays, and no texts


class Worlds(VecEnv):
    """A vector environment in the form of Stable-Baselines3."""

    def __init__(self, envs) -> None:
        self.envs, self._seed = envs, None
        seen = gymnasium.spaces.Dict({key: envs.single_observation_space[key] for key in KEYS})
        super().__init__(envs.num_envs, seen, envs.single_action_space)

    def reset(self):
        seen, _ = self.envs.reset(seed=self._seed)
        self._seed = None
        return {key: seen[key] for key in KEYS}

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self):
        seen, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        ended, told = terminated | truncated, [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(ended):
            last = {key: infos["final_obs"][k][key] for key in KEYS}
            success = bool(infos["final_info"]["success"][k])
            told[k] = {"terminal_observation": last, "TimeLimit.truncated": bool(truncated[k] and not terminated[k]), "is_success": success}
        return {key: seen[key] for key in KEYS}, rewards.astype(np.float32), ended, told

    def seed(self, seed=None):
        self._seed = seed
        return [None if seed is None else seed + k for k in range(self.num_envs)]

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        found = [getattr(self.envs, attr_name)] * self.num_envs if hasattr(self.envs, attr_name) else self.envs.get_attr(attr_name)
        return [found[k] for k in self._get_indices(indices)]

    def set_attr(self, attr_name, value, indices=None) -> None:
        raise AttributeError(f"{attr_name} of etude's worlds cannot be set: make them anew")

    def env_method(self, method_name, *arguments, indices=None, **named):
        found = self.envs.call(method_name, *arguments, **named)
        return [found[k] for k in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False for _ in self._get_indices(indices)]


if __name__ == "__main__":
    task, reward, steps, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    how = {"cameras": (), "state": True, "max_episode_steps": 60, "autoreset_mode": "SameStep"}
    worlds = VecNormalize(Worlds(etude.make_vec(f"clevrskills/{task}", num_envs=16, reward=reward, **how)))
    model = PPO("MultiInputPolicy", worlds, n_steps=128, batch_size=256, gamma=0.97, seed=0, device="cpu", verbose=1)
    model.learn(steps)
    model.save(out)
    worlds.close()
