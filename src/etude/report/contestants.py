"""What a page sets side by side: each run, in each of its modes, under a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from etude.evaluation.record import Record
from etude.evaluation.store import Run
from etude.evaluation.tables import name_of, plain


@dataclass(frozen=True)
class Contestant:
    """One column of a report: a policy, alone or with a planner, in one mode. ``number`` gives its colour and its mark."""

    number: int
    label: str
    run: Run
    mode: str
    records: tuple[Record, ...]

    @property
    def perturbed_only(self) -> bool:
        """Is there no episode without a perturbation?"""
        return all(name_of(r).perturbations for r in self.records)

    def paired_with(self, other: Contestant) -> bool:
        """Are episodes of both pairs: all simulated, or all on robots? A scene that was set up by hand is not the one of its name."""
        return bool(self.run.plan.robot) == bool(other.run.plan.robot)

    @property
    def plain(self) -> tuple[Record, ...]:
        """The episodes on which success is stated."""
        return plain(self.records)


def contestants(runs: Sequence[Run]) -> list[Contestant]:
    """The arms of some runs, in their order; modes in the order of the plan. A mode without results is left out."""
    found = []
    for run in runs:
        for mode in dict.fromkeys((*run.plan.modes, *(r.mode for r in run.records))):
            records = tuple(r for r in run.records if r.mode == mode)
            if records:
                found.append((run, mode, records))
    labels = _distinct([_label(run, mode) for run, mode, _ in found], [run.folder.name for run, _, _ in found])
    return [Contestant(k, label, *parts) for k, (label, parts) in enumerate(zip(labels, found, strict=True))]


def with_people(arms: Sequence[Contestant]) -> list[Contestant]:
    """The arms, and where several of them are people, all of these together: for tables that count answers."""
    people = [arm for arm in arms if arm.run.plan.policy.startswith("human:")]
    if len(people) < 2:
        return list(arms)
    label = f"{len(people)} people together"
    together = tuple(record for arm in people for record in arm.records)
    return [*arms, Contestant(len(arms), label, replace(people[0].run, folder=Path(label)), people[0].mode, together)]


def _label(run: Run, mode: str) -> str:
    policy, planner = run.plan.policy, run.plan.planner
    if mode == "vanilla":
        return policy
    kind, _, privileged = mode.partition(":")
    who = {
        "rule": f"{policy} + rule planner", "planner": f"{planner} + oracle skills", "offline": f"{planner}, offline",
        "grasped": f"{policy}, grasp given", "coupled": f"{policy} + {planner}",
    }[kind]  # fmt: skip
    return f"{who}, {privileged}" if privileged else who


def _distinct(labels: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Labels that occur more than once are told apart by their folders and, where even those agree, by number."""
    counts = Counter(labels)
    named = [f"{label} ({folder})" if counts[label] > 1 else label for label, folder in zip(labels, folders, strict=True)]
    again, seen = Counter(named), Counter[str]()
    found = []
    for label in named:
        seen[label] += 1
        found.append(f"{label} {seen[label]}" if again[label] > 1 else label)
    return found
