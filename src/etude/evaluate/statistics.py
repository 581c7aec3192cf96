"""Counting with care: success rates and their intervals, task by task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from etude.evaluate.run import Outcome

Z95 = 1.959963984540054


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a rate; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    p, z2 = successes / trials, Z95 * Z95
    centre = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * math.sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return max(0.0, centre - half), min(1.0, centre + half)


def groups(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One row for each suite, task and split, in the order of first appearance. Errors are counted beside the episodes."""
    table: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        table.setdefault((outcome.suite, outcome.task, outcome.split), []).append(outcome)
    rows = []
    for (suite, task, split), members in table.items():
        played = [o for o in members if o.error is None]
        wins = sum(o.success for o in played)
        steps = sum(o.steps for o in played)
        total = sum(o.reward for o in played)
        rows.append({
            "suite": suite, "task": task, "split": split, "level": next((o.level for o in played), ""), "difficulty": "default",
            "perturbation": "", "mode": "policy", "episodes": len(played), "successes": wins, "errors": len(members) - len(played),
            "mean_steps": round(steps / len(played), 2) if played else None,
            "mean_return": round(total / len(played), 3) if played else None,
            "reward_per_step": round(total / steps, 3) if steps else None, "interval": [round(v, 4) for v in wilson(wins, len(played))],
        })  # fmt: skip
    return rows
