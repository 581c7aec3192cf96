"""The evaluation page: one HTML file that needs nothing else, for one run or for several side by side."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from etude.evaluation.pairs import LEVEL, Comparison, ComparisonRow, PerturbationCost, compare, perturbation_costs
from etude.evaluation.store import Run
from etude.evaluation.tables import by, faults, name_of, p_value, percent, plural, points, tally
from etude.names import EtudeError
from etude.report import charts
from etude.report.arms import arms_section
from etude.report.audits import BestCheat, best_cheats
from etude.report.confusion import confusion_section
from etude.report.contestants import Contestant, contestants, with_people
from etude.report.decisions import decisions_section
from etude.report.failures import chosen_views, errors_section, failures_section, faults_section
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, fold, listed, section, table
from etude.report.page import document
from etude.report.sections import funnels_section, levels_section, perturbations_section, span, spoken, summary_section, tasks_section
from etude.report.setting import contract_words, machine_words
from etude.report.suite_tables import causes_section, suite_sections
from etude.report.understanding import understanding_section
from etude.report.view_page import view_data, view_script, view_style

COMPARISONS = 15
"""Pairs of policies that are compared on the page; with more, each is compared with the best only."""


def write_report(runs: Sequence[Run], path: Path, views: int = 12, embed_films: int = 0, audits: Sequence[Path] = ()) -> None:
    """Write the page; folders are made as needed. Up to so many views and videos that the runs kept go into it; videos are linked besides.

    ``audits`` are folders of audits, whose best cheats stand beside the success of policies.
    """
    text = report(runs, views, embed_films, beside=path.parent, cheats=best_cheats(audits))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EtudeError(f"the report {str(path)!r} cannot be written: {error.strerror}; choose a place you may write to") from None


def report(
    runs: Sequence[Run],
    views: int = 12,
    embed_films: int = 0,
    beside: Path | None = None,
    cheats: Mapping[tuple[str, str, str], BestCheat] | None = None,
) -> str:
    """The text of the page. The same runs give the same text; ``beside`` is the folder it will lie in, the first run's by default."""
    found = contestants(runs)
    if not found:
        raise EtudeError("there is nothing to report: no episode of these runs has been played")
    costs = [perturbation_costs(arm.records, arm.run.plausible) for arm in found]
    compared = _compared(found)
    seen = chosen_views(found, views)
    parts = [
        ("In short", _headline(found, costs, compared)),
        ("Understood", understanding_section(found, costs)),
        ("Summary", summary_section(found)),
        ("Tasks", tasks_section(found, cheats or {})),
        ("Levels", levels_section(found)),
        ("Arms", arms_section(found)),
        *suite_sections(with_people(found)),
        ("Decisions", decisions_section(found)),
        ("Perturbations", perturbations_section(found, costs)),
        ("Sub-goals", funnels_section(found)),
        ("Planner", faults_section(found)),
        ("Confusion", confusion_section(found)),
        ("Comparison", _comparison_section(found, compared)),
        ("Causes", causes_section(found)),
        ("Failures", failures_section(found, seen, embed_films, beside or runs[0].folder)),
        ("Errors", errors_section(found)),
        ("Reproduce", _reproduction(runs)),
    ]
    parts = [(title, text) for title, text in parts if text]
    suites = listed(list(dict.fromkeys(name_of(r).suite for arm in found for r in arm.records)))
    who = found[0].label if len(found) == 1 else f"{len(found)} policies"
    head = f'<header><p class="eyebrow">etude · evaluation</p><h1>{esc(who)} on {esc(suites)}</h1></header>'
    body = f"{head}{_bar(found, parts)}<main>{''.join(text for _, text in parts)}</main>"
    folder = resources.files("etude.report")
    style, script = (folder.joinpath(f"evaluation.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    hidden = "".join(f".hide-{a.number} .arm-{a.number} {{ display: none; }}\n" for a in found)
    if seen:
        body, style, script = body + view_data([view for _, view in seen]), style + view_style(), script + view_script()
    return document(f"etude: {who} on {suites}", body, style + hidden, script)


def _bar(found: Sequence[Contestant], parts: Sequence[tuple[str, str]]) -> str:
    """The way to the sections, and the legend: a press on a policy hides it everywhere."""
    ways = "".join(f'<a href="#{_anchor(text)}">{esc(title)}</a>' for title, text in parts)
    chips = "".join(
        f'<button type="button" class="chip" aria-pressed="true" data-arm="{a.number}">{charts.key(a.number)}{esc(a.label)}</button>'
        for a in found
    )
    legend = f'<div class="legend" role="group" aria-label="Policies shown">{chips}</div>' if len(found) > 1 else ""
    return f'<div class="topbar"><nav aria-label="Sections">{ways}</nav>{legend}</div>'


def _anchor(text: str) -> str:
    return text.split('id="', 1)[1].split('"', 1)[0]


# ------------------------------------------------------------------------------------------------ headline


def _headline(found: Sequence[Contestant], costs: Sequence[Sequence[PerturbationCost]], compared: Sequence[Comparison]) -> str:
    notices = "".join(f'<p class="notice">{esc(text)}</p>' for text in _notices(found))
    cards = "".join(_card(arm, rows) for arm, rows in zip(found, costs, strict=True))
    verdicts = "".join(f"<li>{esc(text)}</li>" for text in _verdicts(found, compared))
    told = f'<ul class="findings">{verdicts}</ul>' if verdicts else ""
    return section("headline", "In short", "", f'{notices}<div class="headline">{cards}</div>{told}')


def _card(arm: Contestant, costs: Sequence[PerturbationCost]) -> str:
    t, info = tally(arm.plain), arm.run.info
    missing = sum(mode == arm.mode for _, mode in arm.run.missing)
    badges = (badge(plural(t.errors, "error"), "bad") if t.errors else "") + (
        badge(f"{missing:,} not played yet", "bad") if missing else ""
    )
    which = "perturbed episodes" if arm.perturbed_only else "episodes"
    tasks = len({(name_of(r).suite, name_of(r).task) for r in arm.plain})
    chart = charts.bar(f"{arm.label}: {spoken(t)}", arm.number, t.rate, t.interval) if t.episodes else ""
    notes = "".join(f"<dt>{esc(what)}</dt><dd>{esc(words)}</dd>" for what, words in _notes(arm, costs))
    below = " · ".join(filter(None, (machine_words(info.get("machine")), _words(info.get("renderer")))))
    return (
        f'<article class="card arm-{arm.number}"><h3>{charts.key(arm.number)}{esc(arm.label)}</h3>'
        f'<p class="big">{esc(percent(t.rate)) if t.episodes else "–"}</p><div>{chart}</div>'
        f'<p><span class="small">95 % interval {span(t.interval)}</span><br>{t.successes:,} of {t.episodes:,} {which},'
        f' {plural(tasks, "task")} {badges}</p><dl class="notes">{notes}</dl><p class="small">{esc(below)}</p></article>'
    )


def _notes(arm: Contestant, costs: Sequence[PerturbationCost]) -> list[tuple[str, str]]:
    """What stands out about one policy: (title, words)."""
    notes = []
    weak = sorted((s for s in by(arm.plain, "suite", "task") if s.tally.successes < s.tally.episodes), key=lambda s: s.tally.rate)[:3]
    if weak:
        notes.append(("Weakest at", ", ".join(f"{dict(s.keys)['task']} {s.tally.successes}/{s.tally.episodes}" for s in weak)))
    flagged = sorted((c for c in costs if c.flagged and not c.task), key=lambda c: c.difference.difference)
    suffers = [f"{c.perturbation} {points(c.difference.difference)}" for c in flagged if c.plausible]
    survives = [f"{c.perturbation} {percent(c.difference.rate_a)}" for c in flagged if not c.plausible]
    notes += [(what, ", ".join(words[:3])) for what, words in (("Loses points to", suffers), ("Succeeds despite", survives)) if words]
    rows = faults(arm.plain)
    lost = rows[0].episodes - rows[0].successes if rows else 0
    if lost:
        notes.append(("Fails first in", f"planning {percent(rows[0].planning / lost)}, execution {percent(rows[0].execution / lost)}"))
    return notes


def _words(value: Any) -> str:
    return "" if value in (None, "", {}, []) else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _notices(found: Sequence[Contestant]) -> list[str]:
    """What makes the numbers below less than they seem."""
    notices = []
    for what, words in (("renderer", "pixels were made by different renderers"), ("protocol", "runs follow different protocols")):
        values = list(dict.fromkeys(_words(arm.run.info.get(what)) for arm in found))
        if len([v for v in values if v]) > 1:
            notices.append(f"Not comparable as they are: {words} ({listed([v for v in values if v])}).")
    if len({frozenset(r.episode for r in arm.plain) for arm in found}) > 1:
        notices.append("Not all of these policies have played the same episodes; the comparisons below use those that both have.")
    runs = {id(arm.run): arm.run for arm in found}.values()
    for run in runs:
        if run.judged:
            notices.append(f"Not simulated: {run.judged}.")
        if run.mixed:
            notices.append(f"Not one policy: {run.mixed}.")
        if run.missing:
            notices.append(f"{run.plan.policy}: {len(run.missing):,} of {len(run.plan.episodes):,} planned episodes are not played yet.")
    return notices


def _verdicts(found: Sequence[Contestant], compared: Sequence[Comparison]) -> list[str]:
    """Each of the best policies against the next one."""
    ranked = sorted(found, key=lambda arm: -tally(arm.plain).rate)
    pairs = [{better.label, worse.label} for better, worse in pairwise(ranked)][:3]
    return [c.overall.verdict for pair in pairs for c in compared if {c.name_a, c.name_b} == pair]


# ------------------------------------------------------------------------------------------------ comparisons


def _compared(found: Sequence[Contestant]) -> list[Comparison]:
    pairs = [(a, b) for a, b in combinations(found, 2) if a.paired_with(b)]
    if len(pairs) > COMPARISONS:
        best = max(found, key=lambda arm: tally(arm.plain).rate)
        pairs = [(best, arm) for arm in found if arm is not best and best.paired_with(arm)]
    return [compare(a.label, a.records, b.label, b.records) for a, b in pairs]


def _comparison_section(found: Sequence[Contestant], compared: Sequence[Comparison]) -> str:
    if not compared:
        return ""
    numbers = {arm.label: arm.number for arm in found}
    cards = "".join(_versus(c, numbers, k) for k, c in enumerate(compared))
    lead = "Only episodes that both policies played are counted. A mark to the right of the middle favours the first policy."
    return section("comparison", "Policies on the same episodes", lead, f'<div class="versus">{cards}</div>')


def _versus(c: Comparison, numbers: dict[str, int], k: int) -> str:
    row, a, b = c.overall, numbers[c.name_a], numbers[c.name_b]
    title = f"<h3>{charts.key(a)}{esc(c.name_a)} <span class=soft>and</span> {charts.key(b)}{esc(c.name_b)}</h3>"
    kinds = f"arm-{a}" if a == b else f"arm-{a} arm-{b}"
    if not row.difference.pairs:
        return f'<article class="card {kinds}">{title}<p>{esc(row.verdict)}</p></article>'
    t = row.difference.table
    counts = f"both succeed {t.both:,} · only {c.name_a} {t.only_a:,} · only {c.name_b} {t.only_b:,} · neither {t.neither:,}"
    across = row.difference.task_interval
    wider = (
        ""
        if across is None
        else f"Resampling whole tasks, as for other tasks of the kind: {points(across[0])} to {points(across[1])} points. "
    )
    aside = c.left_out
    out = f"Left out: {listed(aside)}." if aside else ""
    ends = charts.axis((f"← {c.name_b} better", "0", f"{c.name_a} better →"), "ends")
    rows = [_versus_row(r, c) for r in c.rows[1:] if r.difference.pairs]
    columns = [
        Column("Task"),
        Column("", sortable=False, kind="dots", below=charts.axis(("−100", "0", "+100"))),
        Column("Points", numeric=True),
    ]
    columns += [Column(text, numeric=True) for text in ("Pairs", f"Only {c.name_a}", f"Only {c.name_b}", "p", "p corrected")]
    details = fold("By task", table(f"versus-{k}", f"{c.name_a} minus {c.name_b} by task", columns, rows)) if len(rows) > 1 else ""
    return (
        f'<article class="card {kinds}">{title}<p class="verdict">{esc(row.verdict)}</p>{_gap(row, c)}{ends}'
        f'<p class="small">{esc(counts)}. {esc(wider)}{esc(out)}</p>{details}</article>'
    )


def _gap(row: ComparisonRow, c: Comparison) -> str:
    d = row.difference
    low, high = (points(v) for v in d.interval)
    label = f"{c.name_a} minus {c.name_b}: {points(d.difference)} points, 95 % interval {low} to {high}"
    return charts.difference(label, d.difference, d.interval, "resolved" if d.adjusted < LEVEL else "open")


def _versus_row(row: ComparisonRow, c: Comparison) -> Row:
    d = row.difference
    numbers = (d.pairs, d.table.only_a, d.table.only_b)
    return Row((
        Cell(breakable(row.task), f"{row.suite}/{row.task}"),
        Cell(_gap(row, c)),
        Cell(f'<span title="{esc(row.verdict)}">{points(d.difference)}</span>', round(d.difference, 6)),
        *(Cell(str(n), n) for n in numbers),
        Cell(p_value(d.p), d.p),
        Cell(p_value(d.adjusted), d.adjusted),
    ))  # fmt: skip


# ------------------------------------------------------------------------------------------------ how to do it again


METHODS = (
    "Success rates carry 95 % Wilson intervals. Where several tasks are pooled, whole tasks are resampled, because seeds of one task are"
    " not independent of each other; such an interval is never narrower than Wilson’s.",
    "Differences on the same episodes carry Newcombe’s interval for paired rates and an exact McNemar p. Where many are looked at"
    " together, p is corrected after Holm, and only what is still below 0.05 counts as significant.",
    "Errors are the machine’s, not the policy’s: they are counted beside the episodes. Perturbed episodes count in their own section"
    " alone, unless a run has no others.",
    "A plausible perturbation is marked where it costs success, an implausible one where success survives it.",
)


def _reproduction(runs: Sequence[Run]) -> str:
    blocks = f'<div class="recipes">{"".join(_recipe(run) for run in runs)}</div>'
    notes = fold("How the numbers are made", f"<ul>{''.join(f'<li>{esc(text)}</li>' for text in METHODS)}</ul>")
    lead = "An episode’s name determines its scene, goal and instruction, so these commands play the same episodes on any machine."
    return section("reproduce", "Reproduce", lead, blocks + notes)


def command_of(run: Run) -> str:
    """The command that began the run, as it can be typed again."""
    command = run.info.get("command", "")
    return command if isinstance(command, str) else shlex.join(map(str, command))


def _recipe(run: Run) -> str:
    info, plan = run.info, run.plan
    text = command_of(run)
    machine: Any = info.get("machine") or {}
    packages = machine.get("packages", {}) if isinstance(machine, dict) else {}
    versions = {k: machine[k] for k in ("etude", "python") if k in machine} if isinstance(machine, dict) else {}
    facts = [
        ("plan", f"{plan.digest} ({plural(len(plan.episodes), 'episode')}, {listed(list(plan.modes))})"), ("planner", plan.planner),
        ("protocol", _words(info.get("protocol"))), ("renderer", _words(info.get("renderer"))), ("machine", machine_words(machine)),
        ("versions", ", ".join(f"{name} {version}" for name, version in {**versions, **packages}.items())),
        *((f"{who}’s contract", contract_words(said)) for who, said in (info.get("contract") or {}).items() if isinstance(said, dict)),
    ]  # fmt: skip
    listing = "".join(f"<dt>{name}</dt><dd>{esc(value)}</dd>" for name, value in facts if value)
    title = f'<h3>{esc(plan.policy)} <span class="small">{esc(run.folder.name)}</span></h3>'
    # copied as it stands: no sign in it may be exchanged for a prettier one
    code = f'<pre tabindex="0"><code>{html.escape(text)}</code></pre><button type="button" hidden>copy</button>'
    shown = f'<div class="command">{code}</div>' if text else ""
    return f'<article class="card recipe">{title}{shown}<dl>{listing}</dl></article>'
