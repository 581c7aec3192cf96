"""VLMbench's metrics, laid out like its tables 8 and 9: G-G, G-M and SC for each category and each kind of variation, seen and unseen.

SC is success; G-G, in how many episodes the right thing was taken hold of; G-M, success when the oracle takes hold of it first (the mode
``grasped``). All three are read from the same records as everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of

KINDS = {"color": "colour", "shape": "shape", "size": "size", "relative": "relative position", "direction": "direction"}
FIXTURES = {"drawer": ("level", "amount and action"), "door": ("amount and action",)}
CAUSES = ("wrong grasp pose", "wrong grasp object", "wrong destination pose", "wrong destination object", "unreachable")


@dataclass(frozen=True)
class UnitRow:
    """Fractions for one group; None where its mode was not played. ``episodes`` counts those of SC, or of G-M where there are none."""

    by: str
    group: str
    lists: str
    grasped: float | None
    moved: float | None
    success: float | None
    episodes: int


def unit_rows(records: Sequence[Record], granted: Sequence[Record]) -> list[UnitRow]:
    """The rows for records of the mode ``vanilla`` and those of the mode ``grasped``; empty where no task is made of unit tasks."""
    own, spared = ([r for r in some if r.outcome != "error" and _of_units(r)] for some in (records, granted))
    found = []
    for by in ("category", "variation"):
        groups = list(dict.fromkeys(g for r in [*own, *spared] for g in _groups(r, by)))
        for group in groups:
            for lists in ("seen", "unseen"):
                here, there = ([r for r in some if group in _groups(r, by) and _lists(r) == lists] for some in (own, spared))
                if here or there:
                    found.append(
                        UnitRow(
                            by,
                            group,
                            lists,
                            _share([took_hold(r) for r in here]),
                            _share([r.success for r in there]),
                            _share([r.success for r in here]),
                            len(here) or len(there),
                        )
                    )
    return found


def causes(records: Sequence[Record]) -> Counter[str]:
    """How often what went wrong, in the order of the paper; other suites have no causes."""
    counted = Counter(r.cause for r in records if r.cause)
    return Counter({cause: counted[cause] for cause in (*CAUSES, *sorted(set(counted) - set(CAUSES))) if counted[cause]})


def took_hold(record: Record) -> bool:
    """Was the right thing in the hand at some time?"""
    return any(s.kind == "Control" and s.satisfied for s in record.subgoals)


def _of_units(record: Record) -> bool:
    return name_of(record).suite == "vlmbench"


def _groups(record: Record, by: str) -> tuple[str, ...]:
    category, _, kind = name_of(record).task.partition("_")
    if by == "category":
        return (category,)
    return FIXTURES.get(category) or (KINDS[kind],)


def _lists(record: Record) -> str:
    return "unseen" if name_of(record).split.endswith("unseen") else "seen"


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
