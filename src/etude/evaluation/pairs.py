"""Comparisons on the same episodes: what a perturbation costs against its unperturbed control, and one run against another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from etude.evaluation.inference import PairedTable, holm, mcnemar, newcombe_paired, paired_bootstrap, pairs_needed, verdict, wilson
from etude.evaluation.record import Record
from etude.evaluation.result_table import ResultTable
from etude.evaluation.store import Run, write_page
from etude.evaluation.tables import control_key, name_of, p_value, percent, perturbation_of, plural, points
from etude.names import EtudeError

LEVEL = 0.05
"""Below this p a difference counts as significant."""
SURVIVES = 0.2
"""An implausible perturbation should destroy success; a rate that is surely above this has survived it."""
FEWEST_PAIRS = 20
"""Pairs below which nothing is said about what a policy uses."""

Plausible = Callable[[str], bool | None]
Pair = tuple[Record, Record]


@dataclass(frozen=True)
class Difference:
    """Success of a minus success of b in pairs of episodes, with its 95 % interval and exact McNemar p.

    ``adjusted`` is p after Holm's correction for all rows of the same kind. ``task_interval`` is the interval when whole tasks are
    resampled: what to expect on other tasks; None where there is one task only.
    """

    table: PairedTable
    difference: float
    interval: tuple[float, float]
    p: float
    adjusted: float
    task_interval: tuple[float, float] | None

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return self.table.both + self.table.only_a + self.table.only_b + self.table.neither

    @property
    def more(self) -> int | None:
        """Pairs beyond these that would detect it with 80 % power, if it is as large as it seems; None if it is significant, or 0."""
        if self.p < LEVEL or not self.difference:
            return None
        needed = pairs_needed(self.table.discordant / self.pairs, self.difference)
        return None if needed is None else needed - self.pairs

    @property
    def rate_a(self) -> float:
        """Success rate of a; 0 without pairs."""
        return (self.table.both + self.table.only_a) / max(1, self.pairs)

    @property
    def rate_b(self) -> float:
        """Success rate of b; 0 without pairs."""
        return (self.table.both + self.table.only_b) / max(1, self.pairs)


def _difference(pairs: Sequence[Pair]) -> Difference:
    table = PairedTable.count((a.success, b.success) for a, b in pairs)
    if not pairs:
        return Difference(table, 0.0, (-1.0, 1.0), 1.0, 1.0, None)
    gap, low, high = newcombe_paired(table.both, table.only_a, table.only_b, table.neither)
    p = mcnemar(table.only_a, table.only_b)
    by_task: dict[str, list[float]] = {}
    for a, b in pairs:
        by_task.setdefault("/".join(_task(a)), []).append(float(a.success) - float(b.success))
    if len(by_task) < 2:
        return Difference(table, gap, (low, high), p, p, None)
    across = paired_bootstrap(by_task, seed="pairs/difference")
    # where no pair differs, resampling finds no doubt at all: it is never taken for narrower than the plain interval
    return Difference(table, gap, (low, high), p, p, (min(low, across.low), max(high, across.high)))


def _holm(differences: Sequence[Difference]) -> list[Difference]:
    """The differences with their p corrected for how many of them there are."""
    return [replace(one, adjusted=p) for one, p in zip(differences, holm([one.p for one in differences]), strict=True)]


def _task(record: Record) -> tuple[str, str]:
    name = name_of(record)
    return name.suite, name.task


# ------------------------------------------------------------------------------------------------ perturbations


@dataclass(frozen=True)
class PerturbationCost:
    """A perturbation against its control: a is perturbed, b is the same episode without. ``task`` is empty in the row over all tasks.

    ``errors`` are pairs that were left out because one of the two ended in an error, ``unmatched`` perturbed episodes without a
    control. ``flagged`` says that the policy got it the wrong way round: it suffers from what should not matter, or does not need what it
    should. ``words`` tell it.
    """

    perturbation: str
    suite: str
    task: str
    plausible: bool | None
    difference: Difference
    errors: int
    unmatched: int
    flagged: bool
    words: str


def perturbation_costs(records: Sequence[Record], plausible: Plausible) -> list[PerturbationCost]:
    """For each set of perturbations a row over all tasks, then one for each task, always against the control on the same episodes."""
    controls = {control_key(r): r for r in records if not name_of(r).perturbations}
    sets: dict[str, dict[tuple[str, str], list[Record]]] = {}
    for record in records:
        if name_of(record).perturbations:
            sets.setdefault(perturbation_of(record), {}).setdefault(_task(record), []).append(record)
    whole = [((name, "", ""), [r for part in parts.values() for r in part]) for name, parts in sets.items()]
    single = [((name, *task), part) for name, parts in sets.items() for task, part in parts.items()]
    rows = {row.perturbation: [row] for row in _costs(whole, controls, plausible)}
    for row in _costs(single, controls, plausible):
        rows[row.perturbation].append(row)
    return [row for members in rows.values() for row in members]


def _costs(
    arms: Sequence[tuple[tuple[str, str, str], Sequence[Record]]],
    controls: dict[tuple[str, tuple[tuple[str, str], ...], str], Record],
    plausible: Plausible,
) -> list[PerturbationCost]:
    matched = [[(r, controls[control_key(r)]) for r in members if control_key(r) in controls] for _, members in arms]
    played = [[(r, c) for r, c in pairs if "error" not in (r.outcome, c.outcome)] for pairs in matched]
    rows = []
    for (key, members), all_pairs, pairs, difference in zip(arms, matched, played, _holm([_difference(p) for p in played]), strict=True):
        holds = _plausible_set(key[0], plausible)
        flagged, words = _cost_words(key[0], holds, difference)
        left_out = len(all_pairs) - len(pairs), len(members) - len(all_pairs)
        rows.append(PerturbationCost(*key, holds, difference, *left_out, flagged, words))
    return rows


def _plausible_set(joined: str, plausible: Plausible) -> bool | None:
    """Several perturbations are as plausible as the least plausible of them."""
    answers = [plausible(name) for name in joined.split("+")]
    return False if False in answers else None if None in answers else True


def _cost_words(name: str, plausible: bool | None, found: Difference) -> tuple[bool, str]:
    if not found.pairs:
        return False, "No episode was also played without it, so its cost is not known."
    control, rate = percent(found.rate_b), percent(found.rate_a)
    gap = abs(round(100 * found.difference))
    lower = found.difference < 0 and found.p < LEVEL
    if plausible is False:
        least, most = wilson(found.table.both + found.table.only_a, found.pairs)
        spread = f"95 % interval {percent(least)} to {percent(most)}"
        if found.pairs < FEWEST_PAIRS and not lower:
            return False, (
                f"Success is {rate} under it ({spread}) and {control} without, in {plural(found.pairs, 'pair')}: at least {FEWEST_PAIRS}"
                " are needed to say whether it matters."
            )
        alive = least > SURVIVES
        if alive and not lower:
            return True, (
                f"Still succeeds in {rate} of {plural(found.pairs, 'episode')} under {name} ({spread}; {control} without), which takes away"
                " what the task cannot be solved without: the policy does not use it."
            )
        if alive:
            return False, f"Success falls from {control} to {rate}, yet a good part survives what should make the task unsolvable."
        if lower:
            return False, f"Success falls from {control} to {rate}, as it should."
        return False, f"Success is {rate} under it and {control} without: too little to tell whether it matters."
    if found.difference < 0 and found.adjusted < LEVEL:
        should = ", and should not matter" if plausible else ""
        return bool(plausible), f"Costs {gap} points of success: {control} without it, {rate} under it{should}."
    if found.difference > 0 and found.adjusted < LEVEL:
        return False, f"Success rises by {gap} points under it, from {control} to {rate}."
    low, high = found.interval
    return False, f"No significant cost: {points(found.difference)} points, 95 % interval {points(low)} to {points(high)}."


# ------------------------------------------------------------------------------------------------ two runs


@dataclass(frozen=True)
class ComparisonRow:
    """Two policies on the episodes both have played. ``task`` is empty in the row over all tasks.

    Left out, and counted: pairs with an ``error`` on either side, pairs whose episode had ``changed`` between the runs (same name, other
    content), and episodes that only one of them has (``unmatched_a``, ``unmatched_b``).
    """

    suite: str
    task: str
    difference: Difference
    errors: int
    changed: int
    unmatched_a: int
    unmatched_b: int
    verdict: str

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data: the form that ``etude compare --json`` promises."""
        d = self.difference
        return {
            "suite": self.suite, "task": self.task, "pairs": d.pairs, "rate_a": d.rate_a, "rate_b": d.rate_b, "difference": d.difference,
            "interval": list(d.interval), "task_interval": list(d.task_interval) if d.task_interval else None, "p": d.p,
            "adjusted": d.adjusted, "more": d.more, "errors": self.errors, "changed": self.changed,
            "unmatched": [self.unmatched_a, self.unmatched_b], "verdict": self.verdict,
        }  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison: all tasks first."""

    name_a: str
    name_b: str
    rows: tuple[ComparisonRow, ...]
    perturbed: int = 0
    """Pairs of perturbed episodes, which are counted apart."""
    runs: tuple[Run, ...] = ()

    @property
    def overall(self) -> ComparisonRow:
        """The row over all tasks."""
        return self.rows[0]

    @property
    def verdict(self) -> str:
        """What it has shown, in a sentence or two."""
        return self.overall.verdict

    @property
    def left_out(self) -> list[str]:
        """What does not count in it, in words."""
        row = self.overall
        kinds = (
            (row.errors, "pair", " with an error"), (row.changed, "pair", " whose episode had changed"),
            (row.unmatched_a, "episode", f" that only {self.name_a} has"), (row.unmatched_b, "episode", f" that only {self.name_b} has"),
            (self.perturbed, "pair", " of perturbed episodes"),
        )  # fmt: skip
        return [plural(count, word, rest) for count, word, rest in kinds if count]

    def table(self) -> ResultTable:
        """A row for each task that both have played, and one over all of them."""
        columns = ("task", "pairs", self.name_a, self.name_b, "difference", "95 %", "95 % over tasks", "p (Holm)")
        cells = []
        for row in (*(row for row in self.rows[1:] if row.difference.pairs), self.overall):
            d, across = row.difference, row.difference.task_interval
            name = f"{row.suite}/{row.task}" if row.task else "all"
            rates = (percent(d.rate_a), percent(d.rate_b), points(d.difference), _spread(d.interval))
            cells.append((name, str(d.pairs), *rates, "" if across is None else _spread(across), p_value(d.adjusted)))
        return ResultTable(tuple(row.to_data() for row in self.rows), columns, tuple(cells))

    def report(self, path: Path | str) -> Path:
        """Write the page on which both runs stand side by side."""
        return write_page(self.runs, Path(path))


def _spread(interval: tuple[float, float]) -> str:
    return f"{points(interval[0])} to {points(interval[1])}"


def comparison(run_a: Run, run_b: Run) -> Comparison:
    """One run against another, paired by episode (and by mode, unless each has a single mode of its own)."""
    name_a, name_b = run_a.plan.policy, run_b.plan.policy
    if name_a == name_b:
        name_a, name_b = (f"{run.plan.policy} ({run.folder.name})" for run in (run_a, run_b))
    a, b, _ = _keyed(run_a.records, run_b.records)
    if not a.keys() & b.keys():
        raise EtudeError(f"{run_a.folder} and {run_b.folder} have no episode in common, so there is nothing to compare")
    if bool(run_a.plan.robot) != bool(run_b.plan.robot):
        judged, simulated = (run_a, run_b) if run_a.plan.robot else (run_b, run_a)
        raise EtudeError(
            f"{judged.folder} was played on a robot and judged by a person, {simulated.folder} was simulated: names are the same, worlds"
            " are not, so that there are no pairs; 'etude report' shows them side by side"
        )
    return replace(compare(name_a, run_a.records, name_b, run_b.records), runs=(run_a, run_b))


def compare(name_a: str, records_a: Sequence[Record], name_b: str, records_b: Sequence[Record]) -> Comparison:
    """The comparison of two sets of records under the given names, on episodes without perturbations where they have such in common."""
    a, b, perturbed = _keyed(records_a, records_b)
    tasks = list(dict.fromkeys(_task(r) for r in (*a.values(), *b.values())))
    parts = [_paired({k: r for k, r in a.items() if _task(r) == task}, {k: r for k, r in b.items() if _task(r) == task}) for task in tasks]
    rows = [_compared(("", ""), name_a, name_b, parts, _difference([pair for part in parts for pair in part.pairs]))]
    for task, part, found in zip(tasks, parts, _holm([_difference(p.pairs) for p in parts]), strict=True):
        rows.append(_compared(task, name_a, name_b, [part], found))
    return Comparison(name_a, name_b, tuple(rows), perturbed)


def paired_records(records_a: Sequence[Record], records_b: Sequence[Record]) -> list[Pair]:
    """The pairs that count in a comparison, in the order of a: the same episode, played to its end by both."""
    a, b, _ = _keyed(records_a, records_b)
    return _paired(a, b).pairs


def changed_episodes(records_a: Sequence[Record], records_b: Sequence[Record]) -> list[str]:
    """Names under which the two have played different episodes: their ids differ."""
    a, b, _ = _keyed(records_a, records_b)
    return [a[key].episode for key in a if key in b and a[key].id != b[key].id and "~" in a[key].id and "~" in b[key].id]


Keyed = dict[tuple[str, str], Record]


def _keyed(records_a: Sequence[Record], records_b: Sequence[Record]) -> tuple[Keyed, Keyed, int]:
    """By what records are paired: the episode and the mode, or the episode alone where each side has a single mode.

    Where both have unperturbed episodes in common, only unperturbed ones are compared; the number of other pairs comes with them.
    """
    single = all(len({r.mode for r in records}) == 1 for records in (records_a, records_b))
    a, b = ({(r.episode, "" if single else r.mode): r for r in records} for records in (records_a, records_b))
    common = [a[key] for key in a if key in b]
    bare = sum(not name_of(r).perturbations for r in common)
    if not bare:
        return a, b, 0
    a, b = ({key: r for key, r in side.items() if not name_of(r).perturbations} for side in (a, b))
    return a, b, len(common) - bare


@dataclass(frozen=True)
class _Paired:
    pairs: list[Pair]
    errors: int
    changed: int
    unmatched_a: int
    unmatched_b: int


def _paired(a: Keyed, b: Keyed) -> _Paired:
    both = [(a[key], b[key]) for key in a if key in b]
    played = [(x, y) for x, y in both if "error" not in (x.outcome, y.outcome)]
    same = [(x, y) for x, y in played if x.id == y.id]
    return _Paired(same, len(both) - len(played), len(played) - len(same), len(a) - len(both), len(b) - len(both))


def _compared(task: tuple[str, str], name_a: str, name_b: str, parts: Sequence[_Paired], found: Difference) -> ComparisonRow:
    words = verdict(name_a, name_b, found.table)
    if found.p < LEVEL <= found.adjusted:
        words += (
            f" It is one of several tasks that were looked at: corrected for that, p = {p_value(found.adjusted)}, and it may be chance."
        )
    return ComparisonRow(
        *task, found, sum(p.errors for p in parts), sum(p.changed for p in parts), sum(p.unmatched_a for p in parts),
        sum(p.unmatched_b for p in parts), words,
    )  # fmt: skip
