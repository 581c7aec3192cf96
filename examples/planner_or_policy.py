"""The oracle's skills led by a planner that errs: python examples/planner_or_policy.py runs/planners himan-atomic himan-compositional"""

import argparse
from pathlib import Path

import etude
from etude.suites.himan.tables import cost_rows, planner_rows, set_rows

MODES = ("offline", "rule", "coupled")
FAULTS = ("planning", "execution")
PLANNER = "oracle:wrong=0.2"  # wrong with this probability, each time it is asked


def table(rows):
    """Rows as a table in Markdown, shares in per cent."""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [[f"{100 * v:.1f}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def fault_rows(modes):
    """Whose fault failures were, by mode."""
    return [{"mode": m, "episodes": len(found), **{f: sum(r.fault == f for r in found) for f in FAULTS}} for m, found in modes.items()]


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("out", type=Path, help="the run's folder; the same command goes on where it stopped")
    asked.add_argument("what", nargs="+", help="suites, frozen lists or episodes by name")
    asked.add_argument("--episodes", type=int, help="of a list, the first so many of each kind")
    asked.add_argument("--workers", type=int, default=0, help="processes; 0: one for each core")
    given = asked.parse_args()
    run = etude.evaluate("oracle", given.what, mode=MODES, planner=PLANNER, out=given.out, episodes=given.episodes, workers=given.workers)
    modes = {mode: [r for r in run.records if r.mode == mode] for mode in MODES}
    for rows in (set_rows({PLANNER: modes}), planner_rows(modes), cost_rows(modes), fault_rows(modes)):
        print(table(rows))
