"""Do études hold what they promise? python examples/measure_etudes.py runs/etudes 1000 16 [task …]: episodes of each task, and workers"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.audit.branches import branches
from etude.envs.simulation import Simulation
from etude.evaluation.inference import wilson
from etude.suites.etudes.meaning import goal_of
from etude.suites.etudes.suite import TASKS
from etude.suites.etudes.telling import GRAMMARS, read, told


def looked(name: str) -> tuple[bool, bool, list[bool]]:
    """Is it read back into the same graph, is it satisfied at the start, how do its conditions come out?"""
    found = etude.episode(name)
    graph = read(found.instruction.text)
    same = all(read(told(graph, grammar), grammar) == graph for grammar in GRAMMARS) and goal_of(graph, found.scene) == found.goal
    return same, Simulation(found).status.satisfied, [case.held for case in branches(found)]


if __name__ == "__main__":
    out, episodes, workers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    print("| task | read back | done at the start | conditions true | oracle |\n|---|---|---|---|---|", flush=True)
    for task in sys.argv[4:] or TASKS:
        names = [f"etudes/{task}@test#{seed}" for seed in range(episodes)]
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            same, done, outcomes = zip(*pool.map(looked, names, chunksize=5), strict=True)
        held = [one for each in outcomes for one in each]
        share = "{:.3f}–{:.3f}".format(*wilson(sum(held), len(held)))
        solved = sum(r.success for r in etude.evaluate("oracle", names, out=out / task, workers=workers).records)
        print(f"| {task} | {sum(same)} | {sum(done)} | {sum(held)}/{len(held)}, {share} | {solved}/{episodes} |", flush=True)
