"""VLMbench's metrics, laid out like its tables 8 and 9: G-G, G-M and SC for each category and each kind of variation, seen and unseen.

SC is success; G-G, in how many episodes the right thing was taken hold of; G-M, success when the oracle takes hold of it first (the mode
``grasped``). All three are read from the same records as everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.paper import Scores
from etude.suites.suite import Rows, SuiteTable

KINDS = {"color": "colour", "shape": "shape", "size": "size", "relative": "relative position", "direction": "direction"}
FIXTURES = {"drawer": ("level", "amount and action"), "door": ("amount and action",)}


def took_hold(record: Record) -> bool:
    """Was the right thing in the hand at some time?"""
    return any(s.kind == "Control" and s.satisfied for s in record.subgoals)


METRICS: dict[str, tuple[str, Callable[[Record], bool]]] = {  # the mode in which each is measured, and of what
    "G-G": ("vanilla", took_hold),
    "G-M": ("grasped", lambda record: record.success),
    "SC": ("vanilla", lambda record: record.success),
}
LISTS = ("seen", "unseen")


def unit_rows(modes: Mapping[str, Sequence[Record]]) -> Rows:
    """The rows for the records of the modes ``vanilla`` and ``grasped``."""
    records = [r for mode in ("vanilla", "grasped") for r in modes.get(mode, ())]
    found: Rows = []
    for by in ("category", "variation"):
        for group in dict.fromkeys(g for r in records if r.outcome != "error" for g in _groups(r, by)):
            for lists in LISTS:
                scores = {metric: unit_scores(records, metric, lists, by, group) for metric in METRICS}
                if any(scores.values()):
                    shares = {metric: sum(values.values()) / len(values) if values else None for metric, values in scores.items()}
                    count = len(scores["SC"]) or len(scores["G-M"])
                    found.append({"by": by, "group": group, "lists": lists, **shares, "episodes": count})
    return found


def unit_scores(records: Sequence[Record], metric: str, lists: str = "", by: str = "category", group: str = "") -> Scores:
    """A metric of the episodes of a group, seen or unseen; of all where none is named."""
    mode, measure = METRICS[metric]
    there = [(r, name_of(r)) for r in records if r.mode == mode and r.outcome != "error"]
    return {
        (name.task, name.split, name.seed): float(measure(r))
        for r, name in there
        if (not group or group in _groups(r, by)) and lists in ("", _lists(r))
    }


def _groups(record: Record, by: str) -> tuple[str, ...]:
    category, _, kind = name_of(record).task.partition("_")
    if by == "category":
        return (category,)
    return FIXTURES.get(category) or (KINDS.get(kind, kind or category),)


def _lists(record: Record) -> str:
    return "unseen" if name_of(record).split.endswith("unseen") else "seen"


UNITS = SuiteTable(
    "units",
    "Grasp and move",
    "In per cent. G-G: the right thing was taken hold of. G-M: success when the oracle takes hold of it first (the mode grasped). "
    "SC: success of the whole task. What is called seen uses colours, shapes and furniture of the training split.",
    unit_rows,
)
