"""HiMan-Bench's metrics: atomic and compositional tasks, plain and perturbed, factor by factor, compositions seen in training and not.

Laid out so that they can be put beside the paper's tables 2, 6 and 8 to 11. All numbers come from the same records as everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.himan.recipes import ATOMIC, EVERY, FACTORS, SEEN

PLAIN = "none"


@dataclass(frozen=True)
class ComposedRow:
    """Successes of ``episodes``. ``table`` says what the row belongs to: "sets", "compositions", "factors: A&AP", "factors: C&CP"."""

    table: str
    group: str
    successes: int
    episodes: int

    @property
    def rate(self) -> float:
        """The share of successes."""
        return self.successes / self.episodes


def composed_rows(records: Sequence[Record]) -> list[ComposedRow]:
    """The rows of one policy in one mode; empty where HiMan-Bench was not played."""
    played = [r for r in records if r.outcome != "error" and name_of(r).suite == "himan"]
    found: list[ComposedRow] = []

    def add(table: str, group: str, chosen: Callable[[Record], bool]) -> None:
        here = [r for r in played if chosen(r)]
        if here:
            found.append(ComposedRow(table, group, sum(r.success for r in here), len(here)))

    for group, atomic in (("A", True), ("C", False)):
        add("sets", group, lambda r, a=atomic: _atomic(r) is a and factor_of(r) == PLAIN)  # type: ignore[misc]
        add("sets", f"{group}P", lambda r, a=atomic: _atomic(r) is a and factor_of(r) in FACTORS)  # type: ignore[misc]
        add("sets", f"{group}&{group}P", lambda r, a=atomic: _atomic(r) is a and factor_of(r) != EVERY)  # type: ignore[misc]
    for group, seen in (("seen", True), ("unseen", False)):
        add("compositions", group, lambda r, s=seen: not _atomic(r) and (name_of(r).task in SEEN) is s and factor_of(r) != EVERY)  # type: ignore[misc]
    for group, atomic in (("A&AP", True), ("C&CP", False)):
        for factor in (PLAIN, EVERY, *FACTORS):
            add(f"factors: {group}", factor, lambda r, a=atomic, f=factor: _atomic(r) is a and factor_of(r) == f)  # type: ignore[misc]
    return found


@dataclass(frozen=True)
class PlannerRow:
    """A planner's answers to questions about frames of demonstrations: how many were right once normalised, and how many exactly."""

    group: str
    questions: int
    normalised: int
    exact: int


def planner_rows(records: Sequence[Record]) -> list[PlannerRow]:
    """By set, A to C&CP; empty where no planner was asked about frames of HiMan-Bench."""
    asked = [r for r in records if r.mode == "offline" and r.outcome != "error" and name_of(r).suite == "himan"]
    found = []
    for level, atomic in (("A", True), ("C", False)):
        here = [r for r in asked if _atomic(r) is atomic and factor_of(r) != EVERY]
        sets = {level: [r for r in here if factor_of(r) == PLAIN], f"{level}P": [r for r in here if factor_of(r) != PLAIN]}
        for group, members in {**sets, f"{level}&{level}P": here}.items():
            stages = [stage for r in members for stage in r.stages]
            if stages:
                found.append(PlannerRow(group, len(stages), sum(s.right for s in stages), sum(bool(s.exact) for s in stages)))
    return found


def factor_of(record: Record) -> str:
    """The one factor an episode was perturbed by; "none" without, and anything else as it is written."""
    return "+".join(name_of(record).perturbations) or PLAIN


def drop(rule: Sequence[ComposedRow], coupled: Sequence[ComposedRow]) -> dict[str, float]:
    """How much lower success is with a planner that must see for itself than with the rule-based one, by set."""
    rates = [{r.group: r.rate for r in rows if r.table == "sets"} for rows in (rule, coupled)]
    return {group: rates[0][group] - rates[1][group] for group in rates[0] if group in rates[1]}


def _atomic(record: Record) -> bool:
    return name_of(record).task in ATOMIC
