"""How many études are there, and how fast? python examples/count_etudes.py 100000 2 [10000]: structures of the high level, and workers;
also so many of them as whole episodes, with scenes solved for them"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import etude
from etude.names import rng
from etude.suites.etudes.composing import LEVELS, composed, structure_of
from etude.suites.etudes.own import unsettled
from etude.suites.etudes.telling import read


def structures(part: range) -> set[str]:
    """Some études: those that differ in nothing but what their things are called count once."""
    return {structure_of(composed(LEVELS["high"], "train", rng("structures", str(k))).root) for k in part}


def of_episodes(part: range) -> set[str]:
    """The same of whole episodes, read back from their words; things are numbered, so that it counts which are the same."""
    graphs = (read(etude.episode(f"etudes/high@train#{k}").instruction.text) for k in part)
    return {structure_of(unsettled(graph)[0].root) for graph in graphs}


if __name__ == "__main__":
    workers = int(sys.argv[2])
    for wanted, made, what in zip(map(int, (sys.argv[1], *sys.argv[3:])), (structures, of_episodes), ("drawn", "episodes"), strict=False):
        begun, found, drawn, step = time.monotonic(), set[str](), 0, max(1, wanted // 10)
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            while len(found) < wanted:
                parts = [range(k, min(k + 100, drawn + step)) for k in range(drawn, drawn + step, 100)]
                found, drawn = found.union(*pool.map(made, parts)), drawn + step
        print(f"{len(found)} structures of {drawn} {what}, in {time.monotonic() - begun:.0f} s", flush=True)
