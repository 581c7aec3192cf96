"""The sections of an evaluation page that show success: by level, task, perturbation and sub-goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from etude.evaluation.matrix import LevelConditions, Matrix, level_conditions, matrices
from etude.evaluation.pairs import LEVEL, PerturbationCost
from etude.evaluation.recovery import recoveries
from etude.evaluation.subgoals import Funnel, funnels
from etude.evaluation.tables import Group, Tally, by, groups, level_order, name_of, p_value, percent, plural, points
from etude.report import charts
from etude.report.audits import BestCheat
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, filters, fold, listed, section, table

THIN = 12
"""Height of a row of a chart in a table, in pixels."""
FEWEST = 4
"""Tasks below which their spread is not worth a chart."""
FUNNELS = 9
"""Tasks whose sub-goals are shown before one asks for more."""


def spoken(tally: Tally) -> str:
    """A rate with its interval and its counts."""
    low, high = tally.interval
    return f"{percent(tally.rate)}, 95 % interval {percent(low)} to {percent(high)}, {tally.successes} of {tally.episodes} episodes"


def span(interval: tuple[float, float]) -> str:
    """An interval of rates as "79–88"."""
    return "–".join(f"{100 * v:.0f}" for v in interval)


# ------------------------------------------------------------------------------------------------ by level, split, suite


def summary_section(arms: Sequence[Contestant]) -> str:
    """Success by level, split, suite and difficulty: those that tell more than one thing apart."""
    panels = []
    several = len({name_of(r).suite for a in arms for r in a.plain}) > 1
    for key in ("level", "split", "suite", "difficulty"):
        keys = ("suite", key) if several and key != "suite" else (key,)  # a level is a level of its suite
        found = [{s.label: s.tally for s in by(a.plain, *keys) if dict(s.keys)[key]} for a in arms]
        labels = list(dict.fromkeys(label for sums in found for label in sums))
        if len(labels) > 1:
            panels.append(_panel(f"By {key}", sorted(labels, key=level_order) if key == "level" else labels, found, arms))
    panels += [_profile(arms)]
    if not any(panels):
        return ""
    lead = (
        "Marks are success rates, whiskers their 95 % intervals. Episodes of one task are correlated, so where several tasks are"
        " pooled, whole tasks are resampled."
    )
    return section("summary", "Summary", lead, f'<div class="panels">{"".join(panels)}</div>')


def _panel(title: str, labels: Sequence[str], found: Sequence[dict[str, Tally]], arms: Sequence[Contestant]) -> str:
    rows = []
    for label in labels:
        lanes = "".join(_lane(arm, sums[label], label) for arm, sums in zip(arms, found, strict=True) if label in sums)
        rows.append(f'<div class="entry"><span class="name">{esc(label)}</span><div class="lanes">{lanes}</div></div>')
    empty = '<span class="name"></span>'
    below = f'<div class="entry">{empty}<div class="lanes"><div class="lane">{charts.axis()}<span class="value"></span></div></div></div>'
    return f'<figure class="panel"><figcaption>{esc(title)}</figcaption>{"".join(rows)}{below}</figure>'


def _profile(arms: Sequence[Contestant]) -> str:
    """How success is spread over the tasks: many in the middle, or some always and some never."""
    curves = [(arm.number, [s.tally.rate for s in by(arm.plain, "suite", "task") if s.tally.episodes]) for arm in arms]
    if max(len(rates) for _, rates in curves) < FEWEST:
        return ""
    label = "; ".join(
        f"{arm.label}: {sum(r >= 0.5 for r in rates)} of {plural(len(rates), 'task')} succeed at least half of the time"
        for arm, (_, rates) in zip(arms, curves, strict=True)
    )
    upright = '<div class="upright" aria-hidden="true"><span>100 %</span><span>50</span><span>0</span></div>'
    chart = charts.profile(label, [(number, rates) for number, rates in curves if rates])
    title = "Share of tasks that reach at least a rate of success"
    return f'<figure class="panel"><figcaption>{title}</figcaption><div class="profile">{upright}{chart}{charts.axis()}</div></figure>'


def _lane(arm: Contestant, tally: Tally, what: str) -> str:
    if not tally.episodes:
        return f'<div class="lane arm-{arm.number}"><span class="soft">only errors</span><span class="value"></span></div>'
    chart = charts.dot(f"{arm.label}, {what}: {spoken(tally)}", arm.number, tally.rate, tally.interval)
    return f'<div class="lane arm-{arm.number}">{chart}<span class="value">{percent(tally.rate)}</span></div>'


# ------------------------------------------------------------------------------------------------ tasks


def tasks_section(arms: Sequence[Contestant], cheats: Mapping[tuple[str, str, str], BestCheat]) -> str:
    """Every task with its success rates, to sort and to filter; beside them the best cheat, where an audit knows it."""
    found: dict[tuple[str, ...], dict[int, Group]] = {}
    for arm in arms:
        for group in groups(arm.plain):
            key = (group.suite, group.task, group.split, group.level, group.difficulty, group.perturbation)
            found.setdefault(key, {})[arm.number] = group
    columns, parts = _identity(list(found))
    columns += [Column("", sortable=False, kind="dots", below=charts.axis(("0", "50", "100 %")))]
    columns += [Column(arm.label if len(arms) > 1 else "Success", numeric=True, kind=f"arm-{arm.number}") for arm in arms]
    single = len(arms) == 1
    audited = any(place[:3] in cheats for place in found)
    columns += [Column("Best cheat", numeric=True)] * audited
    if single:
        columns += [Column(title, numeric=True) for title in ("Steps", "Return", "Per step", "Errors")]
    rows = []
    for place, cells in found.items():
        lanes = "".join(
            f'<div class="arm-{n}">{charts.dot(f"{arms[n].label}: {spoken(g.tally)}", n, g.tally.rate, g.tally.interval, THIN)}</div>'
            for n, g in cells.items()
            if g.tally.episodes
        )
        line = [*(Cell(html, value) for html, value in parts(place)), Cell(lanes)]
        line += [_success(cells.get(arm.number)) for arm in arms]
        if audited:
            line.append(_best(cheats.get((place[0], place[1], place[2]))))
        if single:
            line += _figures(next(iter(cells.values())).tally)
        rows.append(Row(tuple(line), {"suite": [place[0]], "level": [place[3]], "split": [place[2]], "outcome": _outcomes(cells)}))
    choices = {
        "suite": ("Suite", _options(k[0] for k in found)),
        "level": ("Level", sorted(_options(k[3] for k in found), key=lambda option: level_order(option[0]))),
        "split": ("Split", _options(k[2] for k in found)),
        "outcome": (
            "Outcome",
            [("every", "every episode succeeds"), ("some", "some fail"), ("none", "none succeeds"), ("error", "some ended in errors")],
        ),
    }
    body = filters("tasks-table", "Find a task", choices, len(rows)) + table(
        "tasks-table", "Success by task", columns, rows, "tasks" + (" many" if len(arms) > 1 else "")
    )
    lead = f"{plural(len(rows), 'row')}; click on a header to sort. Below each rate are its 95 % interval and the number of episodes."
    return section("tasks", "Tasks", lead, body)


Parts = Callable[[tuple[str, ...]], list[tuple[str, str]]]


def _identity(keys: Sequence[tuple[str, ...]]) -> tuple[list[Column], Parts]:
    """The columns that say what a row is about; what is the same in all rows is left out."""
    suites = len({k[0] for k in keys}) > 1
    shown = [
        (i, title) for i, title in ((3, "Level"), (2, "Split"), (4, "Difficulty"), (5, "Perturbation")) if len({k[i] for k in keys}) > 1
    ]

    def parts(key: tuple[str, ...]) -> list[tuple[str, str]]:
        suite = f'<span class="soft">{esc(key[0])}/</span>' if suites else ""
        return [(f"{suite}{breakable(key[1])}", f"{key[0]}/{key[1]}"), *((breakable(key[i]), key[i]) for i, _ in shown)]

    return [Column("Task"), *(Column(title) for _, title in shown)], parts


def _options(values: object) -> list[tuple[str, str]]:
    return [(v, v) for v in dict.fromkeys(values) if v]  # type: ignore[call-overload]


def _best(cheat: BestCheat | None) -> Cell:
    if cheat is None or not cheat.name:
        return Cell("", -1.0)
    return Cell(f'{esc(percent(cheat.rate))}<span class="small">{esc(cheat.name)} · chance {esc(percent(cheat.chance))}</span>', cheat.rate)


def _success(group: Group | None) -> Cell:
    if group is None or not group.tally.episodes:
        return Cell('<span class="soft">–</span>')
    t = group.tally
    failed = f' <span class="bad">{plural(t.errors, "error")}</span>' if t.errors else ""
    small = f'<span class="small">{span(t.interval)} · {t.successes}/{t.episodes}{failed}</span>'
    return Cell(f"{percent(t.rate)}{small}", round(t.rate, 6))


def _figures(tally: Tally) -> list[Cell]:
    values = (tally.mean_steps, tally.mean_return, tally.reward_per_step)
    shown = [Cell("–") if v is None else Cell(f"{v:,.{d}f}", v) for v, d in zip(values, (0, 1, 2), strict=True)]
    return [*shown, Cell(str(tally.errors), tally.errors)]


def _outcomes(cells: dict[int, Group]) -> list[str]:
    tallies = [g.tally for g in cells.values()]
    wins, episodes = sum(t.successes for t in tallies), sum(t.episodes for t in tallies)
    found = ["error"] if any(t.errors for t in tallies) else []
    if episodes:
        found.append("none" if wins == 0 else "every" if wins == episodes else "some")
    return found


# ------------------------------------------------------------------------------------------------ perturbations


KINDS: tuple[tuple[bool | None, str, str, str], ...] = (
    (True, "plausible", "Plausible: success should stay as it is", "plausible"),
    (False, "implausible", "Implausible: success should vanish", "implausible"),
    (None, "not classified", "Not classified", "unknown"),
)


def perturbations_section(arms: Sequence[Contestant], costs: Sequence[Sequence[PerturbationCost]]) -> str:
    """What perturbations cost against their controls; ``costs`` are those of each arm."""
    overall = [{c.perturbation: c for c in rows if not c.task} for rows in costs]
    names = list(dict.fromkeys(name for table_ in overall for name in table_))
    if not names:
        return ""
    blocks = []
    for plausible, label, title, kind in KINDS:
        entries = [
            _perturbation(name, label, kind, _summary(name, arms), [(a, t[name]) for a, t in zip(arms, overall, strict=True) if name in t])
            for name in names
            if next(t[name] for t in overall if name in t).plausible is plausible
        ]
        if entries:
            below = f'<div class="lane">{charts.axis()}<span></span></div>'
            blocks.append(f'<h3>{esc(title)}</h3><div class="perturbations">{"".join(entries)}{below}</div>')
    maps = "".join(_heatmap(a, rows) for a, rows in zip(arms, costs, strict=True) if any(c.task for c in rows))
    lead = (
        "Each perturbed episode is compared with the same episode without the perturbation. The vertical line is that control, the mark"
        " is success under the perturbation, and the whiskers are the 95 % interval of the difference."
    )
    return section("perturbations", "Perturbations", lead, "".join(blocks) + fold("Difference by task", f'<div class="maps">{maps}</div>'))


def _summary(names: str, arms: Sequence[Contestant]) -> str:
    """What perturbations do, as the runs or etude know it; empty where one of them is known to neither."""
    found = [next(filter(None, (arm.run.summary(name) for arm in arms)), "") for name in names.split("+")]
    return " ".join(found) if all(found) else ""


def _perturbation(name: str, label: str, kind: str, summary: str, found: Sequence[tuple[Contestant, PerturbationCost]]) -> str:
    lanes = "".join(_cost_lane(arm, c, kind, len(found) > 1) for arm, c in found)
    text = f'<span class="soft">{esc(summary)}</span>' if summary else ""
    head = f'<div class="head"><strong>{esc(name)}</strong> {badge(label, kind)} {text}</div>'
    return f'<div class="entry">{head}{lanes}</div>'


def _cost_lane(arm: Contestant, c: PerturbationCost, kind: str, named: bool) -> str:
    """One policy under one perturbation: the chart, the numbers, the words."""
    d = c.difference
    who = f"<b>{esc(arm.label)}.</b> " if named else ""
    flag = badge("costs success" if c.plausible else "success survives", "bad") if c.flagged else ""
    words = f'<p class="words{" flag" if c.flagged else ""}">{who}{flag}{esc(c.words)}</p>'
    if not d.pairs:
        return f'<div class="lane arm-{arm.number}"><span></span><div>{words}</div></div>'
    label = f"{arm.label}: {percent(d.rate_b)} without, {percent(d.rate_a)} with {c.perturbation}, {points(d.difference)} points"
    chart = charts.cost(label, arm.number, d.rate_b, d.rate_a, d.interval, kind)
    low, high = d.interval
    facts = [f"[{points(low)}, {points(high)}]", f"p {p_value(d.p)}", plural(d.pairs, "pair")]
    if (found := recoveries(arm.records).get(c.perturbation)) is not None:
        facts.append(str(found))
    facts += [text for n, text in ((c.errors, plural(c.errors, "error")), (c.unmatched, f"{c.unmatched:,} unmatched")) if n]
    numbers = f'<span class="value">{points(d.difference)} <span class="small">{esc(" · ".join(facts))}</span></span>'
    return f'<div class="lane arm-{arm.number}">{chart}<div>{numbers}{words}</div></div>'


def _heatmap(arm: Contestant, rows: Sequence[PerturbationCost]) -> str:
    prefix = len({c.suite for c in rows if c.task}) > 1
    cells = {(f"{c.suite}/{c.task}" if prefix else c.task, c.perturbation): c for c in rows if c.task and c.difference.pairs}
    names = list(dict.fromkeys(c.perturbation for c in rows))
    tasks = list(dict.fromkeys(task for task, _ in cells))
    columns = [Column("Task"), *(Column(name, numeric=True, kind="cell") for name in names)]
    lines = [Row((Cell(breakable(task), task), *(_heat(cells.get((task, name))) for name in names))) for task in tasks]
    caption = f"{arm.label}: difference to the control in percentage points; bold where the corrected p is below 0.05"
    return f'<div class="arm-{arm.number}">{table(f"heat-{arm.number}", caption, columns, lines, "heat")}</div>'


def _heat(cost: PerturbationCost | None) -> Cell:
    if cost is None:
        return Cell('<span class="soft">–</span>')
    d = cost.difference
    words = f"{percent(d.rate_b)} without, {percent(d.rate_a)} with; {d.pairs} pairs, p {p_value(d.p)}, corrected {p_value(d.adjusted)}"
    number = f"<b>{points(d.difference)}</b>" if d.adjusted < LEVEL else points(d.difference)
    kind = "loss" if d.difference < 0 else "gain"
    return Cell(f'<span class="{kind}" style="--v:{abs(d.difference):.2f}" title="{esc(words)}">{number}</span>', round(d.difference, 6))


# ------------------------------------------------------------------------------------------------ sub-goals


def funnels_section(arms: Sequence[Contestant]) -> str:
    """How far the episodes of each task come, sub-goal by sub-goal; the tasks with the most to tell come first."""
    found: dict[tuple[str, str], dict[int, Funnel]] = {}
    for arm in arms:
        for funnel in funnels(arm.plain):
            found.setdefault((funnel.suite, funnel.task), {})[arm.number] = funnel
    if not found:
        return ""

    def interest(members: dict[int, Funnel]) -> tuple[bool, float]:
        single = max(len(f.steps) for f in members.values()) < 2
        return single, sum(f.successes for f in members.values()) / max(1, sum(f.episodes for f in members.values()))

    suites = len({suite for suite, _ in found}) > 1
    ordered = sorted(found.items(), key=lambda item: interest(item[1]))
    cards = [_funnel(f"{suite}/{task}" if suites else task, members, arms) for (suite, task), members in ordered]
    body = f'<div class="cards">{"".join(cards[:FUNNELS])}</div>'
    if len(cards) > FUNNELS:
        body += fold(f"{plural(len(cards) - FUNNELS, 'more task')}", f'<div class="cards">{"".join(cards[FUNNELS:])}</div>')
    lead = (
        "The share of episodes in which each part of the goal was ever reached, and how many failed there first; a step counts as reached"
        " if its result was. Hardest tasks first."
    )
    return section("subgoals", "Sub-goals", lead, body)


def _funnel(title: str, members: dict[int, Funnel], arms: Sequence[Contestant]) -> str:
    """One task: every sub-goal that any of the policies has to tell of."""
    steps = {step.path: step for funnel in members.values() for step in funnel.steps}
    rows = []
    for path in sorted(steps, key=lambda path: steps[path].place):
        lanes = []
        for number, funnel in members.items():
            same = next((s for s in funnel.steps if s.path == path), None)
            if same is None:
                continue
            label = f"{arms[number].label}: reached in {same.reached} of {same.episodes}"
            chart = charts.share(label, number, same.reached / same.episodes)
            stuck = f' <span class="bad">{same.first_failures} fail here</span>' if same.first_failures else ""
            who = charts.key(number) if len(arms) > 1 else ""
            count = f'<span class="value">{same.reached}/{same.episodes}{stuck}</span>'
            lanes.append(f'<div class="lane arm-{number}">{who}{chart}{count}</div>')
        words = f'<div class="head" title="{esc(path)}">{esc(steps[path].words)}</div>'
        rows.append(f'<li>{words}<div class="lanes">{"".join(lanes)}</div></li>')
    wins = listed([f"{f.successes}/{f.episodes}" for f in members.values()])
    lost = sum(f.episodes - f.successes - sum(s.first_failures for s in f.steps) for f in members.values())
    elsewhere = f"; {lost} failed at none of these" if lost else ""
    if any(f.by_kind for f in members.values()):
        elsewhere += "; goals differ from episode to episode, and are counted by their kind"
    head = f'<h3>{esc(title)}</h3><p class="small">success in {esc(wins + " episodes" + elsewhere)}</p>'
    return f'<article class="card">{head}<ol class="funnel">{"".join(rows)}</ol></article>'


LEVELS_LEAD = (
    "Success in per cent, the average over tasks last. Where the smallest number of actions is known, a second row counts only episodes "
    "without a mistake: success with no more actions than needed. Chance is the paper's estimate for that many right actions in a row."
)


def levels_section(arms: Sequence[Contestant]) -> str:
    """For each policy and suite levels by conditions, and levels by tasks where a task was played at several; empty where there is none."""
    crossed = [_crossed(arm, one, k) for arm in arms for k, one in enumerate(level_conditions(arm.records))]
    parts = [_table(arm, matrix, k) for arm in arms for k, matrix in enumerate(matrices(arm.records))]
    if not crossed and not parts:
        return ""
    lead = LEVELS_LEAD if parts else "Success in per cent over all tasks of a level, with its 95 % interval and the episodes."
    return section("levels", "By level, condition and task" if crossed else "By level and task", lead, "".join(crossed + parts))


def _crossed(arm: Contestant, one: LevelConditions, number: int) -> str:
    columns = [Column("Condition"), *(Column(level, numeric=True) for level in one.levels)]
    rows = [Row((Cell(breakable(condition), condition), *map(_rate_cell, sums))) for condition, sums in one.rows]
    caption = f"{arm.label} on {one.suite}: success by condition and level"
    return f'<div class="arm-{arm.number}">{table(f"conditions-{arm.number}-{number}", caption, columns, rows)}</div>'


def _rate_cell(t: Tally | None) -> Cell:
    if t is None:
        return Cell("–", -1.0)
    return Cell(f'{percent(t.rate)}<span class="small">{span(t.interval)} · {t.successes}/{t.episodes}</span>', round(t.rate, 6))


def _table(arm: Contestant, matrix: Matrix, number: int) -> str:
    columns = [Column("Level"), Column("Condition"), Column("Counted")]
    columns += [Column(task, numeric=True) for task in matrix.columns] + [Column("average", numeric=True)]
    rows = []
    for row in matrix.rows:
        cells = [Cell(esc(row.level)), Cell(esc(row.condition)), Cell(esc(row.reading))]
        cells += [_cell(value, row.reading) for value in (*row.cells, row.average)]
        rows.append(Row(tuple(cells)))
    caption = f"{arm.label} on {matrix.suite}: success in % by level and task"
    return f'<div class="arm-{arm.number}">{table(f"levels-{arm.number}-{number}", caption, columns, rows)}</div>'


def _cell(value: float | None, reading: str) -> Cell:
    if value is None:
        return Cell("", -1.0)
    return Cell(f"{value:.2g}" if reading == "chance" else f"{value:.1f}", value)
