"""Episodes in, results out, on all cores. Results depend on names alone: not on workers, order or machine."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from etude.envs.simulation import Simulation
from etude.library import episode, tasks
from etude.names import EpisodeName, EtudeError, unknown
from etude.policies.scripted import Policy, policy


@dataclass(frozen=True)
class Outcome:
    """What became of one episode. ``failed`` is the first sub-goal that was violated or left open."""

    id: str
    suite: str
    task: str
    split: str
    level: str
    success: bool
    steps: int
    reward: float
    progress: float
    failed: str | None = None
    error: str | None = None


def play(name: str, policy_name: str, seen: Callable[[Simulation, Policy], None] = lambda *_: None) -> Outcome:
    """Run one episode to success or to its horizon; ``seen`` is called at the start and after every step."""
    value, actor = episode(name), policy(policy_name)
    parsed = value.parsed
    simulation = Simulation(value)
    actor.reset(simulation)
    seen(simulation, actor)
    total = 0.0
    while not simulation.status.satisfied and simulation.steps < value.horizon:
        total += simulation.step(actor.act(simulation)).reward
        seen(simulation, actor)
    status = simulation.status
    return Outcome(
        value.id, parsed.suite, parsed.task, parsed.split, value.level, status.satisfied, simulation.steps, round(total, 6),
        round(status.progress, 6), simulation.monitor.first_failure(),
    )  # fmt: skip


def _played(job: tuple[str, str]) -> Outcome:
    name, policy_name = job
    try:
        return play(name, policy_name)
    except Exception as error:  # an error is reported beside the results, never taken for a failure of the policy
        parsed = EpisodeName.parse(name)
        return Outcome(name, parsed.suite, parsed.task, parsed.split, "", False, 0, 0.0, 0.0, None, f"{type(error).__name__}: {error}")


def plan(suite: str, chosen: Sequence[str], split: str, episodes: int, first_seed: int = 0) -> list[str]:
    """Names of the episodes to play: ``episodes`` seeds of every task (of all, if none is chosen)."""
    known = tasks(suite)
    for name in chosen:
        if name not in known:
            raise unknown(f"task of {suite}", name, known)
    for name in chosen or known:
        if split not in known[name].splits:
            raise unknown(f"split of {suite}/{name}", split, known[name].splits)
    if episodes < 1:
        raise EtudeError(f"--episodes must be at least 1, got {episodes}")
    return [f"{suite}/{t}@{split}#{first_seed + k}" for t in (chosen or known) for k in range(episodes)]


def run(
    names: Sequence[str], policy_name: str, workers: int | None = None, seen: Callable[[Outcome], None] = lambda _: None
) -> list[Outcome]:
    """Play the episodes on ``workers`` processes (all cores by default); the outcomes come back in the order of the names."""
    jobs = [(name, policy_name) for name in names]
    count = min(workers or os.cpu_count() or 1, max(1, len(jobs)))
    found = []
    for outcome in _mapped(jobs, count):
        seen(outcome)
        found.append(outcome)
    return found


def _mapped(jobs: list[tuple[str, str]], workers: int) -> Iterator[Outcome]:
    if workers == 1:
        yield from map(_played, jobs)
        return
    # Spawned, not forked: MuJoCo and numba hold state that a fork would share.
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(_played, jobs, chunksize=max(1, min(8, len(jobs) // (4 * workers))))
