"""What do études cost, and are they fair, before anybody plays? python examples/draw_etudes.py 4000 2 [task …]: episodes, and workers"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import etude
from etude.evaluation.inference import wilson
from etude.suites.etudes.rehearsing import holding
from etude.suites.etudes.suite import TASKS, etudes
from etude.suites.etudes.telling import read

TIMED = 40


def made_in(place: str) -> float:
    """CPU seconds to make an episode of a task and split, the mean of some; one is made before the clock starts."""
    etude.episode(f"{place}#{TIMED}")
    begun = time.process_time()
    for seed in range(TIMED):
        etude.episode(f"{place}#{seed}")
    return (time.process_time() - begun) / TIMED


def outcomes(name: str) -> list[bool]:
    """How its conditions stand at the start."""
    return holding(read(etude.episode(name).instruction.text).root, etude.episode(name).scene)


if __name__ == "__main__":
    episodes, tasks, splits = int(sys.argv[1]), sys.argv[3:] or TASKS, [one for one in etudes.splits if one not in etudes.alike]
    with ProcessPoolExecutor(int(sys.argv[2]), get_context("spawn")) as pool:
        print(f"| ms to make | {' | '.join(splits)} | conditions true |\n|---|{'---|' * (1 + len(splits))}", flush=True)
        for task in tasks:
            spent = " | ".join(f"{1000 * one:.0f}" for one in pool.map(made_in, [f"etudes/{task}@{split}" for split in splits]))
            held = [one for each in pool.map(outcomes, [f"etudes/{task}@test#{k}" for k in range(episodes)], chunksize=9) for one in each]
            print("| {} | {} | {}/{}, {:.3f}–{:.3f} |".format(task, spent, sum(held), len(held), *wilson(sum(held), len(held))), flush=True)
