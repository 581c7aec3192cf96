"""How often does a policy recover, from all events or some? python examples/measure_recovery.py runs 20 oracle clevrskills +push_hand"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.evaluation.recovery import recoveries

EVENTS = ("move_object", "push_hand", "light_out", "cover_camera")


def possible(name: str) -> bool:
    try:
        return etude.episode(name) is not None
    except etude.EtudeError:
        return False


def row(where: str, records) -> None:
    """Successes without an event; for each kind of event, episodes recovered of those in which it happened, and the steps lost."""
    plain, tallies = [r.success for r in records if "+" not in r.episode], map(recoveries(records).get, EVENTS)
    cells = [f"{t.recovered}/{t.happened}" + ("" if t.steps_lost is None else f", {t.steps_lost:+.0f}") if t else "–" for t in tallies]
    print(f"| {' | '.join([where, f'{sum(plain)}/{len(plain)}', *cells])} |", flush=True)


if __name__ == "__main__":
    out, seeds, policy = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    happening = [text for text in sys.argv[4:] if text.startswith("+")] or ["", *(f"+{event}" for event in EVENTS)]
    print(f"| task | no event | {' | '.join(EVENTS)} |\n|{'---|' * (2 + len(EVENTS))}")
    for suite, _, chosen in (what.partition("/") for what in sys.argv[4:] if what not in happening):
        places = [f"{suite}/{task}@{found.splits[0]}" for task, found in etude.tasks(suite).items() if chosen in ("", task)]
        names = [f"{place}#{seed}{event}" for place in places for seed in range(seeds) for event in happening]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            fitting = [name for name, fits in zip(names, pool.map(possible, names, chunksize=20), strict=True) if fits]
        records = etude.evaluate(policy, fitting, out=out / suite).records
        for where in (*places, suite):
            row(where, [r for r in records if r.episode.startswith((f"{where}#", f"{where}/"))])
