"""How many études are there, and how fast? python examples/count_etudes.py 100000 2: structures of the high level, and workers"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from etude.names import rng
from etude.suites.etudes.composing import LEVELS, composed, structure_of


def structures(part: range) -> set[str]:
    """Some études: those that differ in nothing but what their things are called count once."""
    return {structure_of(composed(LEVELS["high"], "train", rng("structures", str(k))).root) for k in part}


if __name__ == "__main__":
    wanted, workers = int(sys.argv[1]), int(sys.argv[2])
    begun, found, drawn, step = time.monotonic(), set[str](), 0, max(1, wanted // 10)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        while len(found) < wanted:
            parts = [range(k, min(k + 100, drawn + step)) for k in range(drawn, drawn + step, 100)]
            found, drawn = found.union(*pool.map(structures, parts)), drawn + step
    print(f"{len(found)} structures of {drawn} drawn, in {time.monotonic() - begun:.0f} s")
