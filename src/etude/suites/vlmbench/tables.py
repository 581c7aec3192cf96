"""VLMbench's metrics, laid out like its tables 8 and 9: G-G, G-M and SC for each category and each kind of variation, seen and unseen.

SC is success; G-G, in how many episodes the right thing was taken hold of; G-M, success when the oracle takes hold of it first (the mode
``grasped``). All three are read from the same records as everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.suite import Rows, SuiteTable

KINDS = {"color": "colour", "shape": "shape", "size": "size", "relative": "relative position", "direction": "direction"}
FIXTURES = {"drawer": ("level", "amount and action"), "door": ("amount and action",)}


def unit_rows(modes: Mapping[str, Sequence[Record]]) -> Rows:
    """The rows for the records of the modes ``vanilla`` and ``grasped``."""
    own, spared = ([r for r in modes.get(mode, ()) if r.outcome != "error"] for mode in ("vanilla", "grasped"))
    found: Rows = []
    for by in ("category", "variation"):
        for group in dict.fromkeys(g for r in [*own, *spared] for g in _groups(r, by)):
            for lists in ("seen", "unseen"):
                here, there = ([r for r in some if group in _groups(r, by) and _lists(r) == lists] for some in (own, spared))
                if here or there:
                    shares = {
                        "G-G": _share(map(took_hold, here)),
                        "G-M": _share(r.success for r in there),
                        "SC": _share(r.success for r in here),
                    }
                    found.append({"by": by, "group": group, "lists": lists, **shares, "episodes": len(here) or len(there)})
    return found


def took_hold(record: Record) -> bool:
    """Was the right thing in the hand at some time?"""
    return any(s.kind == "Control" and s.satisfied for s in record.subgoals)


def _groups(record: Record, by: str) -> tuple[str, ...]:
    category, _, kind = name_of(record).task.partition("_")
    if by == "category":
        return (category,)
    return FIXTURES.get(category) or (KINDS.get(kind, kind or category),)


def _lists(record: Record) -> str:
    return "unseen" if name_of(record).split.endswith("unseen") else "seen"


def _share(values: Iterable[bool]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


UNITS = SuiteTable(
    "units",
    "Grasp and move",
    "In per cent. G-G: the right thing was taken hold of. G-M: success when the oracle takes hold of it first (the mode grasped). "
    "SC: success of the whole task. What is called seen uses colours, shapes and furniture of the training split.",
    unit_rows,
)
