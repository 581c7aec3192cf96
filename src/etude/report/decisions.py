"""The part of a report about decisions: accuracy by what was asked, beside chance, and what shortcuts would have scored."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.decisions import ALL, Slice, answers_of, breakdowns, decided, shortcuts, unchanged
from etude.evaluation.record import Record
from etude.evaluation.tables import percent, plural
from etude.report import charts
from etude.report.contestants import Contestant, with_people
from etude.report.markup import Cell, Column, Row, esc, fold, section, table
from etude.report.sections import THIN, span

LEAD = (
    "Answers that were right, with 95 % intervals (Wilson) and their number. Chance is what guessing among the possible answers gives. "
    "A trial with several questions counts once for each."
)
SHORTCUTS = (
    "What these very trials would give to one who takes a shortcut. The floor is the least any list of such questions allows; the excess "
    "is what lies above both it and chance."
)


def decisions_section(arms: Sequence[Contestant]) -> str:
    """Tables of every breakdown; empty where no decisions were asked for."""
    arms = with_people(arms)
    usable = {arm.number: _usable(arm) for arm in arms}
    if not any(usable.values()):
        return ""
    found: dict[str, dict[tuple[str, str], dict[int, Slice]]] = {}
    for arm in arms:
        for one in breakdowns(answers_of(usable[arm.number])):
            found.setdefault(one.breakdown, {}).setdefault((one.level, one.value), {})[arm.number] = one
    first = next(iter(found))
    body = _notice(arms, usable) + _table(first, found.pop(first), arms)
    body += "".join(fold(f"By {name}", _table(name, rows, arms)) for name, rows in found.items())
    records = [r for members in usable.values() for r in members]
    return section("decisions", "Decisions", LEAD, body + fold("Shortcuts", f"<p>{esc(SHORTCUTS)}</p>{_shortcuts(records)}"))


def decision_rows(arms: Sequence[Contestant]) -> list[dict[str, str | int | float | bool | None]]:
    """The breakdowns of every policy, and of all people together, as rows to be written."""
    return [
        {
            "policy": arm.label, "breakdown": s.breakdown, "level": s.level, "value": s.value, "answers": s.answers, "right": s.right,
            "accuracy": round(s.accuracy, 4), "low": round(s.interval[0], 4), "high": round(s.interval[1], 4),
            "chance": round(s.chance, 4), "median_seconds": s.seconds if _human(arm) else None,
        }
        for arm in with_people(arms)
        for s in breakdowns(answers_of(_usable(arm)))
    ]  # fmt: skip


def shortcut_rows(arms: Sequence[Contestant]) -> list[dict[str, str | int | float | bool | None]]:
    """The shortcuts on all trials of some policies as rows to be written."""
    return [
        {
            "level": level, "split": split, "shortcut": s.name, "answers": s.applies, "score": round(s.score, 4),
            "chance": round(s.chance, 4), "floor": round(s.floor, 4), "excess": round(s.excess, 4),
        }
        for level, split, s in shortcuts([r for arm in arms for r in _usable(arm)])
    ]  # fmt: skip


def _usable(arm: Contestant) -> list[Record]:
    return unchanged(decided(arm.plain))


def _human(arm: Contestant) -> bool:
    return arm.run.plan.policy.startswith("human:")


def _notice(arms: Sequence[Contestant], usable: dict[int, list[Record]]) -> str:
    left = sum(len(decided(arm.plain)) - len(usable[arm.number]) for arm in arms)
    words = f"{plural(left, 'trial')} of these runs are made otherwise today than when they were answered, and are left out here."
    return f'<p class="notice">{esc(words)}</p>' if left else ""


def _table(name: str, found: dict[tuple[str, str], dict[int, Slice]], arms: Sequence[Contestant]) -> str:
    levels = len({level for level, _ in found}) > 1
    timed = [arm for arm in arms if _human(arm)] if name == "level" else []
    columns = [Column(name[0].upper() + name[1:])] + [Column("Level")] * levels
    columns += [Column("", sortable=False, kind="dots", below=charts.axis(("0", "50", "100 %")))]
    columns += [Column(arm.label if len(arms) > 1 else "Right", numeric=True, kind=f"arm-{arm.number}") for arm in arms]
    columns += [Column("Chance", numeric=True)]
    columns += [Column(f"Median seconds, {arm.label}", numeric=True, kind=f"arm-{arm.number}") for arm in timed]
    rows = []
    for (level, value), slices in found.items():
        lanes = "".join(
            f'<div class="arm-{n}">{charts.dot(_spoken(arms[n].label, s), n, s.accuracy, s.interval, THIN)}</div>'
            for n, s in slices.items()
        )
        cells = [Cell(esc(value))] + [Cell(esc("all levels" if level == ALL else level))] * levels + [Cell(lanes)]
        cells += [_cell(slices.get(arm.number)) for arm in arms]
        chance = next(iter(slices.values())).chance
        cells.append(Cell(esc(percent(chance)), chance))
        cells += [_seconds(slices.get(arm.number)) for arm in timed]
        rows.append(Row(tuple(cells)))
    return table(f"decisions-{name.replace(' ', '-')}", f"Right answers by {name}", columns, rows, "tasks")


def _spoken(label: str, one: Slice) -> str:
    return f"{label}: {percent(one.accuracy)}, 95 % interval {span(one.interval)}, chance {percent(one.chance)}, {one.answers} answers"


def _cell(one: Slice | None) -> Cell:
    if one is None:
        return Cell("", -1.0)
    below = f'<span class="small">{span(one.interval)} · {one.right:,}/{one.answers:,}</span>'
    return Cell(f"{esc(percent(one.accuracy))}{below}", round(one.accuracy, 6))


def _seconds(one: Slice | None) -> Cell:
    return Cell("", -1.0) if one is None or one.seconds is None else Cell(f"{one.seconds:.1f}", one.seconds)


def _shortcuts(records: Sequence[Record]) -> str:
    columns = [Column("Shortcut"), Column("Level"), Column("Split")]
    columns += [Column(title, numeric=True) for title in ("Answers", "Score", "Chance", "Floor", "Excess")]
    rows = []
    for level, split, one in shortcuts(records):
        numbers = [Cell(f"{v:.3f}", round(v, 6)) for v in (one.score, one.chance, one.floor, one.excess)]
        rows.append(Row((Cell(esc(one.name)), Cell(esc(level)), Cell(esc(split)), Cell(f"{one.applies:,}", one.applies), *numbers)))
    return table("decisions-shortcuts", "What shortcuts would score", columns, rows)
