"""How often does a policy recover? python examples/measure_recovery.py runs/recovery 20 oracle clevrskills himan vima vlmbench"""

import sys
from pathlib import Path

import etude
from etude.evaluation.recovery import recoveries

EVENTS = ("move_object", "push_hand", "light_out", "cover_camera")


def possible(place: str, seeds: int) -> list[str]:
    """The names of a task's episodes, plain and with each event that applies to them."""
    found = []
    for name in (f"{place}#{seed}{event}" for seed in range(seeds) for event in ("", *(f"+{e}" for e in EVENTS))):
        try:
            found.append(etude.episode(name).name)
        except etude.EtudeError as refusal:
            print(refusal, file=sys.stderr)
    return found


if __name__ == "__main__":
    out, seeds, policy = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    print(f"{'task':42}{'plain':>12}" + "".join(f"{event:>22}" for event in EVENTS))
    for what in sys.argv[4:]:
        suite, _, only = what.partition("/")
        for task in [only] if only else etude.tasks(suite):
            place = f"{suite}/{task}@{etude.tasks(suite)[task].splits[0]}"
            records = etude.evaluate(policy, possible(place, seeds), out=out / suite / task).records
            plain = [r for r in records if "+" not in r.episode]
            found = recoveries(records)
            cells = [f"{one.recovered}/{one.happened} {one.steps_lost or 0:+.0f}" if (one := found.get(e)) else "–" for e in EVENTS]
            row = [f"{place:42}{f'{sum(r.success for r in plain)}/{len(plain)}':>12}", *(f"{cell:>22}" for cell in cells)]
            print("".join(row), flush=True)
