"""How many episodes a claim needs, before they are played.

Two policies on the same episodes differ in the *discordant* pairs alone, and the fewer of them go against the claim, the fewer pairs it
takes. How many there are follows from both rates and from the correlation of outcomes, episode by episode: what is hard for one is mostly
hard for the other. Two runs tell it; without any, the claim is planned for outcomes that have nothing to do with each other, and what was
once measured stands beside it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from etude.evaluation.inference import PairedTable, discordant_share, pairs_needed
from etude.evaluation.result_table import ResultTable
from etude.evaluation.tables import percent
from etude.names import EtudeError

LEVEL = 0.05
TYPICAL = 0.38
"""The correlation of outcomes (φ) where nothing nearer is known. Measured: zoo:vima-objects on 154 episodes of VIMA L1 to L4 against the
same with things in other places (`other_place`); with more things on the table (`distractors`, 168 pairs) it is 0.61, and the smaller
one is the more careful. The commands are in docs/evaluating.md."""
ONCE_MEASURED = "as alike as once measured"
NO_MATTER = "At a rate of 0 or 100 % it makes no difference how alike outcomes are."


@dataclass(frozen=True)
class PairsRow:
    """``pairs`` that are needed if outcomes have this ``correlation``, as far as rates allow; ``discordant`` is the share that differs."""

    outcomes: str
    correlation: float
    discordant: float
    pairs: int


@dataclass(frozen=True)
class EpisodesNeeded:
    """What it takes to find that a policy's success rate is ``difference`` away from ``baseline`` (fractions), with probability ``power``,
    when a difference counts below p = ``level``. The first of the rows is the one to plan with; ``note`` says what could not be known."""

    difference: float
    baseline: float
    power: float
    level: float
    rows: tuple[PairsRow, ...]
    note: str = ""

    @property
    def pairs(self) -> int:
        """Episodes that both have to play."""
        return self.rows[0].pairs

    def table(self) -> ResultTable:
        """A row for each kind of outcomes."""
        cells = tuple((row.outcomes, f"{row.correlation:+.2f}", percent(row.discordant), f"{row.pairs:,}") for row in self.rows)
        return ResultTable(tuple(asdict(row) for row in self.rows), ("outcomes", "correlation", "differ", "pairs"), cells)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data: the form that ``etude plan --json`` promises."""
        return {**asdict(self), "pairs": self.pairs, "rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        return (
            f"{self.pairs:,} episodes, played by both, show with {percent(self.power)} power that one succeeds in"
            f" {100 * (self.baseline + self.difference):.3g} % and the other in {100 * self.baseline:.3g} % (exact McNemar,"
            f" p < {self.level:g}), if outcomes are {self.rows[0].outcomes}."
        )


def episodes_needed(
    difference: float, baseline: float | None = None, power: float = 0.8, level: float = LEVEL, known: PairedTable | None = None
) -> EpisodesNeeded:
    """The plan for a claim; ``known`` pairs tell how outcomes go together, and the baseline (that of b) where none is given."""
    if baseline is None:
        if known is None or not known.episodes:
            raise EtudeError(
                "say the success rate that is to be beaten (--baseline 60), or name two runs that have played the same episodes"
            )
        baseline = (known.both + known.only_b) / known.episodes
    reached = baseline + difference
    if difference == 0 or not 0 <= baseline <= 1 or not -1e-9 <= reached <= 1 + 1e-9:
        raise EtudeError(
            f"a difference of {100 * difference:g} points from {100 * baseline:.3g} % is not possible: rates are from 0 to 100 %, and the"
            " difference is not 0"
        )
    if not 0 < level < 1 or not level < power < 1:
        raise EtudeError(
            f"a power of {power:g} at p < {level:g} is not possible: both are between 0 and 1, and the power is the larger one"
        )
    kinds, note = [("unrelated", 0.0), (ONCE_MEASURED, TYPICAL), ("as alike as can be", 1.0)], ""
    if known is not None and known.episodes:
        note = _unknowable(known)
        if not note:
            kinds[:2] = [(f"as alike as in the {known.episodes:,} pairs of these runs", known.correlation), kinds[0]]
    if any(min(rate, 1 - rate) < 1e-9 for rate in (baseline, reached)):
        note = f"{note} At a rate of 0 or 100 % it makes no difference." if note else NO_MATTER
        kinds = [("of whatever kind", 0.0)]
    rows = []
    for outcomes, correlation in kinds:
        share = discordant_share(min(1.0, max(0.0, reached)), baseline, correlation)
        pairs = pairs_needed(share, difference, power, level)
        assert pairs is not None  # the difference is not 0
        rows.append(PairsRow(outcomes, correlation, share, pairs))
    return EpisodesNeeded(difference, baseline, power, level, tuple(rows), note)


def _unknowable(known: PairedTable) -> str:
    """Why pairs tell nothing about how alike outcomes are; empty where they tell it."""
    successes = (known.both + known.only_a, known.both + known.only_b)
    for count, one, two in ((0, "fails", "fail"), (known.episodes, "succeeds", "succeed")):
        if count in successes:
            who = f"both runs {two}" if successes[0] == successes[1] else f"one of the runs {one}"
            return f"In all {known.episodes:,} pairs {who}: how alike outcomes are cannot be told from them."
    return ""
