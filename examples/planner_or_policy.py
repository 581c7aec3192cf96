"""The oracle's skills led by a planner that errs: python examples/planner_or_policy.py runs/planners himan-atomic himan-compositional"""

import sys
from pathlib import Path

import etude
from etude.suites.himan.tables import cost_rows, planner_rows, set_rows

MODES = ("offline", "rule", "coupled", "coupled:privileged")
PLANNER = "oracle:wrong=0.2"  # wrong with this probability, each time it is asked


def table(rows):
    """Rows as lines of text, shares in per cent."""
    shown = [list(rows[0]), *([f"{100 * v:.1f}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in shown) + "\n"


if __name__ == "__main__":
    out, what = Path(sys.argv[1]), sys.argv[2:]  # on all cores; the same command goes on where it stopped
    run = etude.evaluate("oracle", what, mode=MODES, planner=PLANNER, out=out)
    modes = {mode: [r for r in run.records if r.mode == mode] for mode in MODES}
    print(table(set_rows({PLANNER: modes})), table(planner_rows(modes)), table(cost_rows(modes)), sep="\n")
    for mode in MODES[1:]:
        counts = {fault: sum(r.fault == fault for r in modes[mode]) for fault in ("planning", "execution")}
        errors = sum(r.outcome == "error" for r in modes[mode])
        print(f"{mode}: {counts['planning']} failures of planning, {counts['execution']} of execution, {errors} errors")
