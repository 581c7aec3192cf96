"""The numbered tables of an article about one policy. Cells are HTML; what a run does not have gives no table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from etude.evaluation.confusion import confusions
from etude.evaluation.decisions import ALL, answers_of, breakdowns, decided, unchanged
from etude.evaluation.matrix import level_conditions
from etude.evaluation.tables import Tally, by, errors, faults, level_order, name_of, p_value, percent, points, tally
from etude.report import charts
from etude.report.markup import breakable, esc
from etude.report.suite_tables import cause_data
from etude.report.telling import PolicyEvidence

LONGEST = 15
"""Kinds of failure in their table, the rest of which stands in one row, so that it adds up; and rows of what was taken for what."""


@dataclass(frozen=True)
class NumberedTable:
    """A table of an article. The first ``words`` columns hold words, the others numbers; all cells are HTML."""

    key: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


def _table(key: str, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> NumberedTable | None:
    return NumberedTable(key, caption, tuple(columns), tuple(map(tuple, rows)), words) if rows else None


def _rate(t: Tally | None) -> str:
    return "–" if t is None or not t.episodes else esc(percent(t.rate))


def _span(interval: tuple[float, float]) -> str:
    return "–".join(f"{100 * v:.0f}" for v in interval)


def _spread(interval: tuple[float, float]) -> str:
    return f"{points(interval[0])} to {points(interval[1])}"


def _heads(evidence: PolicyEvidence) -> list[str]:
    """Columns of success: the policy's own with its interval and counts, then each of the others."""
    return ["Success", "95 % interval", "Of episodes", *(breakable(arm.label) for arm in evidence.beside)]


def _cells(own: Tally, others: Sequence[Tally | None]) -> list[str]:
    counts = f"{own.successes:,} / {own.episodes:,}"
    return [_rate(own), _span(own.interval) if own.episodes else "–", counts, *map(_rate, others)]


def by_level(evidence: PolicyEvidence) -> NumberedTable | None:
    """Success by suite, level and split where there are several, and over all."""
    arm = evidence.subject
    several = len({name_of(r).suite for r in arm.plain}) > 1
    rows, told = [], list[list[tuple[str, Tally]]]()
    for key in ("suite", "level", "split", "difficulty"):
        keys = ("suite", key) if several and key != "suite" else (key,)
        sums = [s for s in by(arm.plain, *keys) if dict(s.keys)[key]]
        same = [(s.label, s.tally) for s in sums]
        if len(sums) < 2 or same in told:  # where splits are the levels
            continue
        told.append(same)
        others = [{s.keys: s.tally for s in by(one.plain, *keys)} for one in evidence.beside]
        for s in sorted(sums, key=lambda s: level_order(s.label)) if key == "level" else sums:
            rows.append([f"{esc(key)} {esc(s.label)}", str(s.tasks), *_cells(s.tally, [other.get(s.keys) for other in others])])
    if not rows:
        return None
    whole = tally(arm.plain)
    tasks = len({(name_of(r).suite, name_of(r).task) for r in arm.plain})
    rows.append(["<b>all</b>", str(tasks), *_cells(whole, [tally(one.plain) for one in evidence.beside])])
    return _table("levels", "Success by what the episodes have in common; per cent.", ["", "Tasks", *_heads(evidence)], rows)


def by_condition(evidence: PolicyEvidence) -> NumberedTable | None:
    """Levels across, conditions down: success with its interval in each."""
    found = level_conditions(evidence.subject.records)
    levels = list(dict.fromkeys(level for one in found for level in one.levels))
    rows = []
    for one in found:
        for condition, sums in one.rows:
            cells = dict(zip(one.levels, sums, strict=True))
            shown = [f'{_rate(t)}<span class="small">{_span(t.interval)}</span>' if (t := cells.get(level)) else "–" for level in levels]
            rows.append([breakable(f"{one.suite}, {condition}" if len(found) > 1 else condition), *shown])
    caption = "Success by level and condition, with 95 % intervals; per cent."
    return _table("conditions", caption, ["Condition", *map(esc, levels)], rows)


def by_task(evidence: PolicyEvidence) -> NumberedTable | None:
    """A row for each task, the weakest first."""
    arm, keys = evidence.subject, ("suite", "task")
    several = len({name_of(r).suite for r in arm.plain}) > 1
    others = [{s.keys: s.tally for s in by(one.plain, *keys)} for one in evidence.beside]
    rows = []
    for s in sorted(by(arm.plain, *keys), key=lambda s: s.tally.rate):
        suite, task = (value for _, value in s.keys)
        chart = charts.dot(f"{task}: {percent(s.tally.rate)}", arm.number, s.tally.rate, s.tally.interval, 12) if s.tally.episodes else ""
        steps = "–" if s.tally.mean_steps is None else f"{s.tally.mean_steps:,.0f}"
        cheat = evidence.cheat(arm.plain, suite, task)
        best = [] if not evidence.cheats else ["–" if cheat is None else f"{percent(cheat.rate)}"]
        name = breakable(f"{suite}/{task}" if several else task)
        rows.append([name, chart, *_cells(s.tally, [other.get(s.keys) for other in others]), *map(esc, best), steps])
    heads = ["Task", charts.axis(("0", "50", "100 %")), *_heads(evidence), *(["Best cheat"] if evidence.cheats else []), "Steps"]
    return _table("tasks", "Success by task, the weakest first; per cent. Steps are the mean length of an episode.", heads, rows)


def right_answers(evidence: PolicyEvidence) -> NumberedTable | None:
    """Right answers beside chance, by level, for decisions."""
    slices = breakdowns(answers_of(unchanged(decided(evidence.subject.plain))))
    shown = [s for s in slices if s.breakdown in ("level", "answer")]
    rows = [
        [esc(" ".join([s.breakdown, s.value, *([] if s.level == ALL else [f"({s.level})"])])), esc(percent(s.accuracy)), _span(s.interval),
         f"{s.right:,} / {s.answers:,}", esc(percent(s.chance))]
        for s in shown
    ]  # fmt: skip
    heads = ["", "Right", "95 % interval", "Of answers", "Chance"]
    return _table("decisions", "Right answers beside chance.", heads, rows)


def against_others(evidence: PolicyEvidence) -> NumberedTable | None:
    """The paired difference to each of the others."""
    rows = []
    for c in evidence.compared:
        d = c.overall.difference
        if not d.pairs:
            continue
        across = "–" if d.task_interval is None else _spread(d.task_interval)
        rows.append([
            breakable(c.name_b), f"{d.pairs:,}", esc(percent(d.rate_a)), esc(percent(d.rate_b)), points(d.difference), _spread(d.interval),
            across, p_value(d.p),
        ])  # fmt: skip
    heads = ["Against", "Pairs", "Its success", "The other’s", "Difference", "95 % interval", "Tasks resampled", "p"]
    return _table("beside", f"{evidence.subject.label} on the same episodes as others; differences in points of success.", heads, rows)


def costs(evidence: PolicyEvidence) -> NumberedTable | None:
    """Every perturbation against its control."""
    kinds = {True: "should not matter", False: "takes away what is needed", None: "not classified"}
    rows = []
    for c in evidence.costs:
        d = c.difference
        numbers = ["–"] * 6
        if d.pairs:
            numbers = [
                esc(percent(d.rate_b)), esc(percent(d.rate_a)), points(d.difference), _spread(d.interval),
                p_value(d.p), p_value(d.adjusted),
            ]  # fmt: skip
        rows.append([breakable(c.perturbation), esc(kinds[c.plausible]), f"{d.pairs:,}", *numbers])
    heads = ["Perturbation", "Kind", "Pairs", "Without", "With", "Difference", "95 % interval", "p", "p (Holm)"]
    caption = "Each perturbation against the same episodes without it; differences in points of success."
    return _table("costs", caption, heads, rows, words=2)


def failed(evidence: PolicyEvidence) -> NumberedTable | None:
    """Where unperturbed episodes failed first, and how; what is rare in one row, so that it adds up."""
    groups = evidence.failed
    several = len({g.suite for g in groups}) > 1
    rows = [
        [breakable(f"{g.suite}/{g.task}" if several else g.task), esc(g.words), esc(g.how), f"{g.episodes:,}"] for g in groups[:LONGEST]
    ]
    if rest := groups[LONGEST:]:
        rows.append(["others", f"{len(rest):,} more kinds", "", f"{sum(g.episodes for g in rest):,}"])
    if rows:
        rows.append(["<b>all</b>", "", "", f"{sum(g.episodes for g in groups):,}"])
    heads = ["Task", "What failed first", "How", "Episodes"]
    return _table("failed", "Failed episodes by the part of the goal that failed first.", heads, rows, words=3)


def causes(evidence: PolicyEvidence) -> NumberedTable | None:
    """What went wrong in the categories of suites that have such."""
    rows = [[esc(str(row["cause"])), f"{row['episodes']:,}"] for row in cause_data([evidence.subject])]
    return _table("causes", "Failed episodes, perturbed ones too, by cause, in the categories of their suite.", ["Cause", "Episodes"], rows)


def confused(evidence: PolicyEvidence) -> NumberedTable | None:
    """What a planner said for what was right; without one, what became of what was asked for."""
    found = confusions(evidence.subject.plain)
    planner = bool(found) and found[0].planner
    shown = [row for row in found if row.planner is planner][:LONGEST]
    rows = [[esc(row.asked), esc(row.instead), f"{row.times:,}", f"{row.of:,}"] for row in shown]
    heads = [*(("Right", "Said instead") if planner else ("Asked for", "What became of it")), "Times", "Of"]
    caption = "What a planner said where something else was right" if planner else "What became of the sub-goal that failed first"
    return _table("confused", f"{caption}, the most frequent first; looks and numbers of things are left out.", heads, rows, words=2)


def planner_or_policy(evidence: PolicyEvidence) -> NumberedTable | None:
    """Whose fault, where a planner took part."""
    several = len({name_of(r).suite for r in evidence.subject.plain}) > 1
    rows = []
    for f in faults(evidence.subject.plain):
        name = breakable(f"{f.suite}/{f.task}" if several else f.task) if f.task else "<b>all</b>"
        right = "–" if f.accuracy is None else esc(percent(f.accuracy))
        rows.append([name, *(f"{n:,}" for n in (f.episodes, f.successes, f.planning, f.execution, f.other)), right])
    heads = ["Task", "Episodes", "Success", "Planning first", "Execution first", "Other", "Planner right"]
    return _table("faults", "What went wrong first, planning or execution.", heads, rows[1:] + rows[:1])


def errors_by_message(evidence: PolicyEvidence) -> NumberedTable | None:
    """What kept episodes from being played."""
    rows = [[f"<code>{esc(e.message)}</code>", esc(e.examples[0]), f"{e.count:,}"] for e in errors(evidence.subject.records)]
    return _table("errors", "Errors by message: counted beside the episodes.", ["Message", "For example", "Episodes"], rows, words=2)
