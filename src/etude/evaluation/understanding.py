"""What a policy has understood, ability by ability: its own success with and without something, and beside a blind one and the oracle.

Everything is compared on the same episodes, and what is said follows from the interval of the difference:

- Under a perturbation success *falls* if all of the interval lies below 0 and p, corrected for all perturbations, is below 0.05. It *stays*
  if none of the interval lies below −:data:`MARGIN`, or if the page flags that success survives what it should not. It has to stay where
  what is varied should not matter, and to fall where the task cannot be solved without it.
- A task is done if the policy is *above* the blind one: all of the interval lies above 0. It is done in part if it is also *short* of the
  oracle: all of that interval lies below 0. It is not done if it is surely short of the oracle and not above the blind one. *Above* and
  *surely* go by intervals that are as wide as it takes for all tasks to hold together.
- Else it cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from etude.evaluation.inference import newcombe_paired, wilson
from etude.evaluation.pairs import LEVEL, SURVIVES, Comparison, Difference, PerturbationCost
from etude.evaluation.tables import plural, points

MARGIN = 0.15
"""A loss that is surely smaller than this is none worth the name."""
EVERYTHING = "all tasks"

Understood = Literal["yes", "in part", "no", "cannot be told"]


@dataclass(frozen=True)
class Finding:
    """Has the policy the ``ability``? ``claim`` says it in short, ``words`` say why: the ``difference`` to what it is held ``against``,
    with its 95 % ``interval``."""

    ability: str
    claim: str
    understood: Understood
    words: str
    against: str
    pairs: int
    difference: float
    interval: tuple[float, float]

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        low, high = self.interval
        return {
            "ability": self.ability, "understood": self.understood, "against": self.against, "pairs": self.pairs,
            "difference": round(self.difference, 4), "low": round(low, 4), "high": round(high, 4), "words": self.words,
        }  # fmt: skip


# ------------------------------------------------------------------------------------------------ perturbations


def perturbation_findings(costs: Sequence[PerturbationCost], varied: Callable[[str], str]) -> list[Finding]:
    """A finding for each set of perturbations that has pairs; ``varied`` says what one of them changes or takes away."""
    return [
        _perturbed(one, " and ".join(map(varied, one.perturbation.split("+")))) for one in costs if not one.task and one.difference.pairs
    ]


def _perturbed(cost: PerturbationCost, what: str) -> Finding:
    d, table = cost.difference, cost.difference.table
    solved, needed = table.both + table.only_b, cost.plausible is False
    claim, understood = _claim(cost, what)
    kept = f"it keeps {table.both} of the {solved} that it solves without ({_spread(d.difference, d.interval)})"
    if wilson(solved, d.pairs)[0] <= MARGIN:
        claim, understood = f"whether it {'uses' if needed else 'depends on'} {what}", "cannot be told"
        kept = f"of {plural(d.pairs, 'episode')} without it solves {solved}, too few to lose any"
    said = f"Cannot be told {claim}" if understood == "cannot be told" else claim[0].upper() + claim[1:]
    words = f"{said}: under {cost.perturbation} {kept}."
    return Finding(what, claim, understood, words, cost.perturbation, d.pairs, d.difference, d.interval)


def _claim(cost: PerturbationCost, what: str) -> tuple[str, Understood]:
    d, table = cost.difference, cost.difference.table
    falls, stays = d.interval[1] < 0 and d.adjusted < LEVEL, d.interval[0] > -MARGIN
    if cost.plausible is not False:
        if falls:
            return f"depends on {what}", "no"
        return (f"does not depend on {what}", "yes") if stays else (f"whether it depends on {what}", "cannot be told")
    if falls:
        survives = wilson(table.both + table.only_a, d.pairs)[0] > SURVIVES
        return (f"uses {what}, but not everywhere", "in part") if survives else (f"uses {what}", "yes")
    return (f"does not need {what}", "no") if stays or cost.flagged else (f"whether it uses {what}", "cannot be told")


# ------------------------------------------------------------------------------------------------ tasks


@dataclass(frozen=True)
class _Gap:
    """How far the policy is above another on the same episodes; ``together``: the interval that holds for all tasks at once."""

    who: str
    found: Difference
    together: tuple[float, float]

    def words(self, interval: tuple[float, float]) -> str:
        """What the other reaches."""
        table = self.found.table
        return f"{self.who} {table.both + table.only_b} ({_spread(self.found.difference, interval)})"


def task_findings(blind: Comparison | None, oracle: Comparison | None) -> list[Finding]:
    """A finding over all tasks, then one for each task, from the policy's comparisons with a blind one and with the oracle."""
    gaps = [_gaps(one) if one is not None else {} for one in (blind, oracle)]
    return [_standing(task, *(side.get(task) for side in gaps)) for task in dict.fromkeys([*gaps[0], *gaps[1]])]


def _gaps(comparison: Comparison) -> dict[str, _Gap]:
    rows = [row for row in comparison.rows if row.difference.pairs]
    if not rows:
        return {}
    whole, tasks = rows[0].difference, rows[1:]
    several = len({row.suite for row in tasks}) > 1
    names = [f"{row.suite}/{row.task}" if several else row.task for row in tasks]
    found = {EVERYTHING if len(tasks) > 1 else names[0]: _Gap(comparison.name_b, whole, whole.interval)}
    for name, row in zip(names, tasks, strict=True) if len(tasks) > 1 else ():
        table = row.difference.table
        _, low, high = newcombe_paired(table.both, table.only_a, table.only_b, table.neither, confidence=1 - LEVEL / len(tasks))
        found[name] = _Gap(comparison.name_b, row.difference, (low, high))
    return found


def _standing(task: str, blind: _Gap | None, oracle: _Gap | None) -> Finding:
    above, under = blind is not None and blind.together[0] > 0, blind is not None and blind.together[1] < 0
    short, surely = oracle is not None and oracle.found.interval[1] < 0, oracle is not None and oracle.together[1] < 0
    understood: Understood = "cannot be told"
    if under:
        understood, how = "no", "Worse than blind"
    elif above and short:
        understood, how = "in part", "Better than blind, but short of the oracle"
    elif above:
        understood, how = "yes", "Better than blind"
    elif surely and blind is not None:
        understood, how = "no", "No better than blind, as far as can be told, and short of the oracle"
    else:
        how = "Cannot be told"
    shown = [
        (gap, interval)
        for gap, interval in ((blind, blind and blind.together), (oracle, oracle and oracle.found.interval))
        if gap and interval
    ]
    against, interval = shown[0]
    d = against.found
    solved = f"it solves {d.table.both + d.table.only_a} of {plural(d.pairs, 'episode')}"
    words = f"{how}: {', '.join([solved, *(gap.words(spread) for gap, spread in shown)])}."
    return Finding(task, task, understood, words, against.who, d.pairs, d.difference, interval)


def _spread(difference: float, interval: tuple[float, float]) -> str:
    return f"{points(difference)} points, {points(interval[0])} to {points(interval[1])}"
