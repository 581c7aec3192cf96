"""HiMan-Bench in numbers: how many tasks each factor perturbs, and the demonstrations of each level (HiMan-Bench, Figure 2)."""

from __future__ import annotations

from collections import Counter

from etude.names import EpisodeName
from etude.suites.himan.recipes import ATOMIC, COMPOSITIONAL, FACTORS, LEVELS, factors, training
from etude.suites.suite import InventoryTable, Rows

SETS = {"A": ATOMIC, "C": COMPOSITIONAL}


def inventory() -> tuple[InventoryTable, ...]:
    """Both halves of the figure."""
    return (
        InventoryTable("Tasks that each factor perturbs", _factors()),
        InventoryTable("Demonstrations by level of training data, of tasks as they are (A, C) and perturbed (AP, CP)", _demonstrations()),
    )


def _factors() -> Rows:
    counts = {name: Counter(factor for task in tasks for factor in factors(task)) for name, tasks in SETS.items()}
    rows: Rows = [{"factor": "none", **{name: len(tasks) for name, tasks in SETS.items()}}]
    rows += [{"factor": factor, **{name: counts[name][factor] for name in SETS}} for factor in FACTORS]
    rows.append({"factor": "together", **{name: len(tasks) + counts[name].total() for name, tasks in SETS.items()}})
    return rows


def _demonstrations() -> Rows:
    rows = Rows()
    for level in LEVELS:
        names = [EpisodeName.parse(name) for name in training(level)]
        counts = Counter(("A" if one.task in ATOMIC else "C") + ("P" if one.perturbations else "") for one in names)
        rows.append({"level": level, **{kind: counts[kind] for kind in ("A", "AP", "C", "CP")}, "together": len(names)})
    return rows
