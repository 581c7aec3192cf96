"""How often does a policy recover? python examples/measure_recovery.py runs/recovery 20 oracle clevrskills himan vima vlmbench"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.evaluation.recovery import recoveries

EVENTS = ("move_object", "push_hand", "light_out", "cover_camera")


def possible(name: str) -> bool:
    """Does what happens in this episode apply to it?"""
    try:
        etude.episode(name)
    except etude.EtudeError:
        return False
    return True


if __name__ == "__main__":
    out, seeds, policy = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    print(f"{'task':42}{'plain':>12}" + "".join(f"{event:>22}" for event in EVENTS))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for what in sys.argv[4:]:
            suite, _, only = what.partition("/")
            for task in [only] if only else etude.tasks(suite):
                place = f"{suite}/{task}@{etude.tasks(suite)[task].splits[0]}"
                names = [f"{place}#{seed}{event}" for seed in range(seeds) for event in ("", *(f"+{e}" for e in EVENTS))]
                chosen = [name for name, fits in zip(names, pool.map(possible, names), strict=True) if fits]
                records = etude.evaluate(policy, chosen, out=out / suite / task).records
                plain, found = [r.success for r in records if "+" not in r.episode], recoveries(records)
                cells = [f"{one.recovered}/{one.happened} {one.steps_lost or 0:+.0f}" if (one := found.get(e)) else "–" for e in EVENTS]
                print(f"{place:42}{f'{sum(plain)}/{len(plain)}':>12}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
