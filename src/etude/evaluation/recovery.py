"""What becomes of episodes in which something happens: success once it has happened, and the steps that it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from etude.arithmetic import total
from etude.evaluation.record import Record
from etude.evaluation.tables import control_key, name_of, percent, perturbation_of, plural


@dataclass(frozen=True)
class RecoveryTally:
    """Episodes under one set of perturbations in which an event came about before the end, and how many of them still ended in success.

    ``steps_lost``: how many actions more they took than the same episode without, on average over the ``twins`` that succeeded both ways;
    None where there are none.
    """

    perturbation: str
    happened: int
    recovered: int
    twins: int
    steps_lost: float | None

    @property
    def rate(self) -> float:
        """The share that ended in success."""
        return self.recovered / self.happened

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {**asdict(self), "recovery": round(self.rate, 4)}

    def __str__(self) -> str:
        """In words."""
        lost = "" if self.steps_lost is None else f", {self.steps_lost:+.1f} steps"
        return f"recovers in {self.recovered} of {plural(self.happened, 'episode')} ({percent(self.rate)}){lost}"


def recoveries(records: Sequence[Record]) -> dict[str, RecoveryTally]:
    """By set of perturbations, for those under which anything has happened in an episode that was played to its end."""
    controls = {control_key(r): r for r in records if not name_of(r).perturbations}
    struck: dict[str, list[Record]] = {}
    for record in records:
        if record.outcome != "error" and any(event.happened is not None for event in record.events):
            struck.setdefault(perturbation_of(record), []).append(record)
    return {name: _recovery(name, members, controls) for name, members in struck.items()}


def _recovery(name: str, members: Sequence[Record], controls: dict[Any, Record]) -> RecoveryTally:
    won = [r for r in members if r.success]
    twins = [(r, c) for r in won if (c := controls.get(control_key(r))) is not None and c.success]
    lost = total(r.steps - c.steps for r, c in twins) / len(twins) if twins else None
    return RecoveryTally(name, len(members), len(won), len(twins), None if lost is None else round(lost, 2))
