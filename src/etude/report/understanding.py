"""The section of an evaluation page that says what policies have understood: each beside one that is blind, and beside the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from etude.evaluation.pairs import PerturbationCost, compare
from etude.evaluation.store import Run
from etude.evaluation.understanding import Finding, Understood, perturbation_findings, task_findings
from etude.report import charts
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, section, table

BLIND = "blind:"
SIGHTLESS = ("random", "noop")
"""Policies that see nothing, for want of a blind one: the first that was played is taken."""
KINDS: dict[Understood, tuple[str, str]] = {
    "yes": ("Understood", "good"),
    "in part": ("In part", "execution"),
    "no": ("Not understood", "bad"),
    "cannot be told": ("Cannot be told", ""),
}
"""How a list of such abilities is titled, and the class that colours the label."""
LEAD = (
    "Each row compares success on the same episodes: with and without a perturbation, or with a blind policy and the oracle. A"
    " perturbation that should not matter should leave success unchanged; one that removes what the task needs should reduce it."
    " Differences are in percentage points with 95 % intervals (for all tasks jointly in the comparison with the blind policy); where the"
    " interval leaves it open, the verdict is “cannot be told”. All of it is about the tasks that were played."
)


def understanding(arms: Sequence[Contestant], costs: Sequence[Sequence[PerturbationCost]]) -> Iterator[tuple[Contestant, list[Finding]]]:
    """What can be said of each policy that has to see and to read; ``costs`` are those of each arm. One that has the true state has
    nothing to understand."""
    for arm, own in zip(arms, costs, strict=True):
        if arm.mode != "vanilla" or _sightless(arm) or arm.run.privileged:
            continue
        plain = [one for one in arms if one.mode == "vanilla" and one.paired_with(arm)]
        others = [a.run.plan.policy for a in plain if a.run.plan.policy.startswith(BLIND)]
        yardsticks = _first(plain, (BLIND + arm.run.plan.policy, *others, *SIGHTLESS)), _first(plain, ("oracle",))
        beside = [compare(arm.label, arm.plain, one.label, one.plain) if one is not None else None for one in yardsticks]
        if found := [*perturbation_findings(own, arm.run.varied), *task_findings(*beside)]:
            yield arm, found


def knows_the_state(run: Run) -> bool:
    """Does the policy go by the true state? Chance asks for it too, and makes nothing of it."""
    return run.privileged and run.plan.policy.partition(":")[0] not in SIGHTLESS


def _sightless(arm: Contestant) -> bool:
    return arm.run.plan.policy.startswith(BLIND) or arm.run.plan.policy in SIGHTLESS


def _first(arms: Sequence[Contestant], policies: Sequence[str]) -> Contestant | None:
    return next((arm for policy in policies for arm in arms if arm.run.plan.policy == policy), None)


def understanding_section(arms: Sequence[Contestant], costs: Sequence[Sequence[PerturbationCost]]) -> str:
    """A list of abilities for each policy; empty where nothing was played that could tell."""
    parts = [_policy(arm, found) for arm, found in understanding(arms, costs)]
    return section("understanding", "What has been understood", LEAD, "".join(parts)) if parts else ""


def _policy(arm: Contestant, found: Sequence[Finding]) -> str:
    lists = "".join(
        f"<dt>{esc(title)}</dt><dd>{', '.join(breakable(one.claim) for one in found if one.understood == kind)}</dd>"
        for kind, (title, _) in KINDS.items()
        if any(one.understood == kind for one in found)
    )
    columns = [
        Column("Ability"),
        Column("Understood"),
        Column("", sortable=False, kind="dots", below=charts.axis(("−100", "0", "+100"))),
        Column("In words", sortable=False, kind="long"),
    ]
    caption = f"{arm.label}: differences on the same episodes, and what they say"
    rows = table(f"understanding-{arm.number}", caption, columns, [_row(arm, one) for one in found])
    head = f"<h3>{charts.key(arm.number)}{esc(arm.label)}</h3>"
    return f'<article class="arm-{arm.number}">{head}<dl class="notes">{lists}</dl>{rows}</article>'


def _row(arm: Contestant, one: Finding) -> Row:
    label = f"{arm.label}, {one.ability}, against {one.against}: {one.words}"
    chart = charts.difference(label, one.difference, one.interval, "open" if one.understood == "cannot be told" else "resolved")
    return Row((
        Cell(breakable(one.ability), one.ability), Cell(badge(one.understood, KINDS[one.understood][1]), one.understood), Cell(chart),
        Cell(esc(one.words)),
    ))  # fmt: skip
