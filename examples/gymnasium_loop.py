"""Play an episode as a Gymnasium environment, with random actions: python examples/gymnasium_loop.py 7 100"""

import sys

import etude

if __name__ == "__main__":
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    env = etude.make("clevrskills", "stack", cameras=("base",), size=(64, 64))  # or gymnasium.make("etude/clevrskills.stack-v1", …)
    observation, info = env.reset(seed=seed)  # this seed is this episode, on every machine
    print(info["episode_name"], "–", observation["instruction"])
    env.action_space.seed(seed)
    total, played = 0.0, 0
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total, played = total + float(reward), played + 1
        if terminated or truncated:
            break
    print(f"{played} steps, return {total:.2f}, progress {info['progress']:.2f}, success {info['success']}")
    env.close()
