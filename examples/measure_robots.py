"""One policy, several arms: python examples/measure_robots.py runs/robots 20 oracle clevrskills himan vima vlmbench"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.scene.robots import ARMS


def within_reach(name: str) -> bool:
    """Can the arm be held over all that is to be moved?"""
    try:
        return etude.episode(name) is not None
    except etude.EtudeError:
        return False


def cell(names, solved) -> str:
    """Successes, and how many episodes the arm cannot play at all."""
    played = [solved[name] for name in names if name in solved]
    return f"{sum(played)}/{len(played)}" + (f" ({len(names) - len(played)} out of reach)" if len(names) > len(played) else "")


if __name__ == "__main__":
    out, seeds, policy = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    print(f"| task | {' | '.join(ARMS)} |\n|{'---|' * (1 + len(ARMS))}")
    for suite, _, only in (what.partition("/") for what in sys.argv[4:]):
        places = [f"{suite}/{task}@{found.splits[0]}" for task, found in etude.tasks(suite).items() if only in ("", task)]
        names = [f"{place}#{seed}?robot={arm}" for place in places for seed in range(seeds) for arm in ARMS]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            chosen = [name for name, fits in zip(names, pool.map(within_reach, names, chunksize=20), strict=True) if fits]
        solved = {r.episode: r.success for r in etude.evaluate(policy, chosen, out=out / suite).records}
        for where in (*places, suite):
            here = [[n for n in names if n.startswith((f"{where}#", f"{where}/")) and n.endswith(f"={arm}")] for arm in ARMS]
            print(f"| {' | '.join([where, *(cell(some, solved) for some in here)])} |", flush=True)
