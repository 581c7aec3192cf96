"""Do études hold what they promise? python examples/measure_etudes.py runs/etudes 1000 16 [task …]: episodes of each task, and workers.

With "-" for the folder nothing is played: python examples/measure_etudes.py - 4000 2 high drawers-high. Making them is timed for every
split, without physics; one is made before the clock starts."""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.audit.branches import branches
from etude.envs.simulation import Simulation
from etude.evaluation.inference import wilson
from etude.suites.etudes.meaning import goal_of
from etude.suites.etudes.rehearsing import holding
from etude.suites.etudes.suite import TASKS, etudes
from etude.suites.etudes.telling import GRAMMARS, read, told

TIMED = 40


def thought(name: str) -> tuple[bool, None, list[bool]]:
    """The same without a world: whether it is satisfied is not known then."""
    found = etude.episode(name)
    graph = read(found.instruction.text)
    same = all(read(told(graph, grammar), grammar) == graph for grammar in GRAMMARS) and goal_of(graph, found.scene) == found.goal
    return same, None, holding(graph.root, found.scene)


def looked(name: str) -> tuple[bool, bool, list[bool]]:
    """Is it read back into the same graph, is it satisfied at the start, how do its conditions come out?"""
    found = etude.episode(name)
    graph = read(found.instruction.text)
    same = all(read(told(graph, grammar), grammar) == graph for grammar in GRAMMARS) and goal_of(graph, found.scene) == found.goal
    return same, Simulation(found).status.satisfied, [case.held for case in branches(found)]


def made_in(place: tuple[str, str]) -> float:
    """CPU seconds to make an episode of a task and split, the mean of some."""
    task, split = place
    etude.episode(f"etudes/{task}@{split}#{TIMED}")
    begun = time.process_time()
    for seed in range(TIMED):
        etude.episode(f"etudes/{task}@{split}#{seed}")
    return (time.process_time() - begun) / TIMED


if __name__ == "__main__":
    out, episodes, workers, tasks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] or TASKS
    splits = [split for split in etudes.splits if split not in etudes.alike]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        print(f"| ms to make | {' | '.join(splits)} |\n|---|{'---|' * len(splits)}", flush=True)
        for task in tasks:
            each = pool.map(made_in, [(task, split) for split in splits])
            print(f"| {task} | {' | '.join(f'{1000 * spent:.0f}' for spent in each)} |", flush=True)
        print("\n| task | read back | done at the start | conditions true | oracle |\n|---|---|---|---|---|", flush=True)
        for task in tasks:
            names = [f"etudes/{task}@test#{seed}" for seed in range(episodes)]
            same, done, outcomes = zip(*pool.map(thought if out == "-" else looked, names, chunksize=5), strict=True)
            held = [one for each in outcomes for one in each]
            share = "{:.3f}–{:.3f}".format(*wilson(sum(held), len(held)))
            cells = f"{sum(same)} | {'not looked at' if out == '-' else sum(done)} | {sum(held)}/{len(held)}, {share}"
            oracle = "not played"
            if out != "-":
                solved = sum(r.success for r in etude.evaluate("oracle", names, out=Path(out) / task, workers=workers).records)
                oracle = f"{solved}/{episodes}"
            print(f"| {task} | {cells} | {oracle} |", flush=True)
