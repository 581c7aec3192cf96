"""Proximal policy optimisation from state, top to bottom: python examples/train_ppo.py pick --steps 150000 --out runs/pick.csv"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import etude

WORLDS, LENGTH = 32, 64  # a batch: so many worlds, stepped so often
HORIZON = 60  # control steps of an episode; the oracle needs some twenty
EPOCHS, PARTS = 8, 4  # over each batch, in so many parts
GAMMA, LAMBDA = 0.97, 0.95
CLIP, RATE, VALUE, MOST = 0.2, 1e-3, 0.5, 0.5  # of ratios; of learning; weight of the value's loss; norm of gradients, at most
TIMES = 5  # that the policy is judged while it learns, on episodes of another split
REACH = 0.4  # of the full deflection: at most 4 cm in a control step
OPEN = ("touch", "touch_push", "touch_topple", "push")  # tasks in which nothing may be taken: the hand stays open


def make(task: str, reward: str, worlds: int, workers: int | None):
    """So many worlds without cameras, whose observations tell where things are."""
    how = {"cameras": (), "state": True, "max_episode_steps": HORIZON, "autoreset_mode": "SameStep"}
    return etude.make_vec(f"clevrskills/{task}", num_envs=worlds, reward=reward, workers=workers, **how)


def numbers(seen) -> torch.Tensor:
    """What the policy knows (N, 16): the way from the tip to the thing that is asked for, in the tip's frame, in which actions are too;
    where both are; whether the hand is closed, holds something, how far it is open."""
    felt = torch.as_tensor(np.stack(seen["proprioception"]))
    state = torch.as_tensor(np.stack(seen["state"]))
    thing = (state * (state[..., 1:2] == 1)).sum(1)[:, 2:]
    tip, (w, *xyz) = felt[:, -10:-7], felt[:, -7:-3].T
    turned, way = -torch.stack(xyz, 1), thing[:, :3] - tip
    across = 2 * torch.linalg.cross(turned, way)
    way = way + w[:, None] * across + torch.linalg.cross(turned, across)
    return torch.cat([10 * way, torch.exp(-20 * way.norm(dim=1, keepdim=True)), 3 * tip, thing, felt[:, -3:-1], 10 * felt[:, -1:]], 1)


def layers(inputs: int, outputs: int, last: float) -> nn.Sequential:
    """A small network whose last layer begins small: at first all actions are tried."""
    sizes, found = (inputs, 128, 128, outputs), []
    for k, (before, after) in enumerate(pairwise(sizes)):
        layer = nn.Linear(before, after)
        nn.init.orthogonal_(layer.weight, last if k == 2 else 2**0.5)
        nn.init.zeros_(layer.bias)
        found += [layer, nn.Tanh()]
    return nn.Sequential(*found[:-1])


class Agent(nn.Module):
    """Where the hand moves (3 numbers) and, with a fourth, whether it closes, as a normal distribution; and what a state is worth."""

    def __init__(self, knows: int, does: int) -> None:
        super().__init__()
        self.actor, self.critic = layers(knows, does, 0.01), layers(knows, 1, 1.0)
        self.spread = nn.Parameter(torch.full((does,), -0.5))

    def policy(self, known: torch.Tensor) -> torch.distributions.Independent:
        return torch.distributions.Independent(torch.distributions.Normal(self.actor(known), self.spread.exp()), 1)


def carried_out(chosen: torch.Tensor) -> np.ndarray:
    """Actions (N, 7) of the space ``ee_delta``: the hand keeps its rotation, and is open unless the policy says something else."""
    chosen = chosen.clamp(-1, 1)
    hand = chosen[:, 3:] if chosen.shape[1] > 3 else -torch.ones(len(chosen), 1)
    return torch.cat([REACH * chosen[:, :3], torch.zeros(len(chosen), 3), hand], 1).numpy()


@torch.no_grad()
def judged(agent: Agent, task: str, count: int, workers: int | None) -> dict[str, float]:
    """Episodes of the validation split, in which the likeliest actions are carried out: by success, gain, and the return of the paper."""
    envs = make(f"{task}@val", "state", count, workers)
    seen, infos = envs.reset(seed=0)
    first, running = infos["progress"].copy(), np.ones(count, bool)
    found = {name: np.zeros(count) for name in ("success", "gain", "return", "steps")}
    while running.any():
        seen, rewards, terminated, truncated, infos = envs.step(carried_out(agent.actor(numbers(seen))))
        found["return"] += rewards * running
        found["steps"] += running
        for k in np.flatnonzero(running & (terminated | truncated)):
            last = infos["final_info"]
            found["success"][k] = last["success"][k]
            found["gain"][k] = (0.0 if last["violated"][k] else last["progress"][k]) - first[k]
            running[k] = False
    envs.close()
    return {name: float(values.mean()) for name, values in found.items()}


def rollout(agent: Agent, envs, known: torch.Tensor):
    """A batch (LENGTH, WORLDS, …): what was known, chosen, how likely that was, the advantage, and what the state was worth after all."""
    rows, worth, paid, ends = [], [], [], []
    for _ in range(LENGTH):
        policy = agent.policy(known)
        chosen = policy.sample()
        seen, rewards, terminated, truncated, infos = envs.step(carried_out(chosen))
        reward = torch.as_tensor(rewards, dtype=torch.float32)
        for k in np.flatnonzero(truncated & ~terminated):  # time was up, and nothing else: it would have gone on
            last = infos["final_obs"][k]
            reward[k] += GAMMA * agent.critic(numbers({key: [last[key]] for key in ("proprioception", "state")}))[0, 0]
        rows.append((known, chosen, policy.log_prob(chosen)))
        worth.append(agent.critic(known)[:, 0])
        paid.append(reward)
        ends.append(torch.as_tensor(terminated | truncated))
        known = numbers(seen)
    advantages, gained, following = [], torch.zeros(WORLDS), agent.critic(known)[:, 0]
    for value, reward, end in zip(reversed(worth), reversed(paid), reversed(ends), strict=True):
        gained = reward + GAMMA * following * ~end - value + GAMMA * LAMBDA * gained * ~end
        advantages.append(gained)
        following = value
    advantage = torch.stack(advantages[::-1])
    batch = [torch.stack(column).flatten(0, 1) for column in zip(*rows, strict=True)]
    return known, (*batch, advantage.flatten(), (advantage + torch.stack(worth)).flatten())


def improve(agent: Agent, optimizer: torch.optim.Optimizer, batch) -> None:
    """Some epochs over a batch, no further from the policy that played it than the clipped ratio allows."""
    for _ in range(EPOCHS):
        for part in torch.randperm(WORLDS * LENGTH).chunk(PARTS):
            known, chosen, likely, advantage, worth = (column[part] for column in batch)
            ratio = (agent.policy(known).log_prob(chosen) - likely).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            loss = VALUE * functional.mse_loss(agent.critic(known)[:, 0], worth) - gain
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MOST)
            optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", help="of ClevrSkills, with one thing to move towards at a time")
    parser.add_argument("--reward", default="gain", choices=("gain", "sparse", "state"))
    parser.add_argument("--steps", type=int, default=150_000, help="control steps in all worlds together")
    parser.add_argument("--judged", type=int, default=50, help="episodes for validation")
    parser.add_argument("--workers", type=int, help="processes; one for each core if not said")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the curve, as a table of numbers")
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)  # the cores are for the worlds
    envs = make(asked.task, asked.reward, WORLDS, asked.workers)
    known = numbers(envs.reset(seed=asked.seed)[0])
    agent = Agent(known.shape[1], 3 if asked.task in OPEN else 4)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    batches = max(1, asked.steps // (WORLDS * LENGTH))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with asked.out.open("w", encoding="utf-8") as curve:
        for k in range(batches + 1):
            if k % max(1, batches // TIMES) == 0 or k == batches:
                found = {"trained": k * WORLDS * LENGTH} | judged(agent, asked.task, asked.judged, asked.workers)
                print(", ".join(f"{name} {value:.5g}" for name, value in found.items()), flush=True)
                curve.write(("" if k else ",".join(found) + "\n") + ",".join(f"{value:.5g}" for value in found.values()) + "\n")
            if k < batches:
                optimizer.param_groups[0]["lr"] = RATE * (1 - k / batches)
                with torch.no_grad():
                    known, batch = rollout(agent, envs, known)
                improve(agent, optimizer, batch)
    envs.close()
