"""Every table of a report as CSV, JSON, Markdown and LaTeX, for papers and for other programs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from etude.evaluation.matrix import level_conditions, matrices
from etude.evaluation.pairs import ComparisonRow, Difference, PerturbationCost, compare, perturbation_costs
from etude.evaluation.recovery import recoveries
from etude.evaluation.store import Run
from etude.evaluation.subgoals import funnels
from etude.evaluation.tables import Tally, by, errors, faults, groups
from etude.names import EtudeError
from etude.report.arms import arm_rows
from etude.report.confusion import confusion_data
from etude.report.contestants import Contestant, contestants, with_people
from etude.report.decisions import decision_rows, shortcut_rows
from etude.report.suite_tables import cause_data, suite_data
from etude.report.understanding import understanding

Cell = str | int | float | bool | None
ALL = "all"
"""Stands for the suite and the task in rows over all of them."""


@dataclass(frozen=True)
class ExportTable:
    """A table to be written: ``name`` is that of its files. Rates and differences are fractions; readers see ``digits`` decimals."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 3


def collect(runs: Sequence[Run]) -> list[ExportTable]:
    """All tables of some runs that have rows."""
    found = contestants(runs)

    def table(name: str, caption: str, rows: Callable[[Contestant], Sequence[dict[str, Cell]]]) -> ExportTable:
        return _table(name, caption, [{"policy": arm.label, **row} for arm in found for row in rows(arm)])

    tables = [
        table("overall", "Success of each policy", lambda a: [_sums(s.to_data(), s.tally) for s in by(a.plain, "mode")]),
        *(
            table(f"by_{keys[-1]}", f"Success by {keys[-1]}", lambda a, k=keys: [_sums(s.to_data(), s.tally) for s in by(a.plain, *k)])  # type: ignore[misc]
            for keys in (("suite",), ("suite", "level"), ("suite", "split"), ("suite", "difficulty"))
        ),
        table("groups", "Success by task and condition", lambda a: [_sums(g.to_data(), g.tally) for g in groups(a.records)]),
        table("conditions", "Success by level and condition", _condition_rows),
        *_matrix_tables(found),
        _table("arms", "Success by arm and task", [{"policy": label, **row.to_data()} for label, row in arm_rows(found)]),
        table("perturbations", "Cost of perturbations against matched controls", _cost_rows),
        _table("understanding", "What has been understood", _understanding_rows(found)),
        table("recovery", "Success once something has happened", lambda a: [r.to_data() for r in recoveries(a.records).values()]),
        table("subgoals", "Share of episodes in which sub-goals were reached", _subgoal_rows),
        table("faults", "Planning and execution: what went wrong first", _fault_rows),
        table("said_instead", "What a planner said instead of what was right", lambda a: confusion_data(a, planner=True)),
        table("done_instead", "What was done instead of what was asked", lambda a: confusion_data(a, planner=False)),
        table("errors", "Errors by message", _error_rows),
        *(_table(*one) for one in suite_data(with_people(found))),
        _table("causes", "What went wrong", cause_data(found)),
        _table("decisions", "Right answers by what was asked, beside chance", decision_rows(found)),
        _table("shortcuts", "What shortcuts would score on these trials", shortcut_rows(found)),
        _table("comparisons", "Policies on the same episodes", _comparison_rows(found)),
    ]
    return [t for t in tables if t.rows]


def export(tables: Sequence[ExportTable], folder: Path) -> list[Path]:
    """Write every table in every form into the folder; the paths that were written."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables:
            for suffix, text in FORMS.items():
                path = folder / f"{table.name}{suffix}"
                path.write_text(text(table), encoding="utf-8", newline="")
                written.append(path)
    except OSError as error:
        raise EtudeError(f"tables cannot be written to {str(folder)!r}: {error.strerror}; choose a folder you may write to") from None
    return written


# ------------------------------------------------------------------------------------------------ rows


def _table(name: str, caption: str, rows: Sequence[dict[str, Cell]]) -> ExportTable:
    columns = tuple(rows[0]) if rows else ()
    return ExportTable(name, caption, columns, tuple(tuple(row[c] for c in columns) for row in rows))


def _sums(data: dict[str, Any], tally: Tally) -> dict[str, Cell]:
    low, high = data.pop("interval")
    data["success"] = round(tally.rate, 4)
    return {**data, "low": low, "high": high}


def _difference(found: Difference) -> dict[str, Cell]:
    low, high = found.task_interval or (None, None)
    return {
        "difference": round(found.difference, 4), "low": round(found.interval[0], 4), "high": round(found.interval[1], 4),
        "low_over_tasks": None if low is None else round(low, 4), "high_over_tasks": None if high is None else round(high, 4),
        "p": _significant(found.p), "p_adjusted": _significant(found.adjusted),
    }  # fmt: skip


def _significant(value: float) -> float:
    return float(f"{value:.3g}")


def _four(value: float | None) -> Cell:
    """A percentage to four digits: chance is small."""
    return None if value is None else float(f"{value:.4g}")


def _matrix_tables(found: Sequence[Contestant]) -> list[ExportTable]:
    """Levels by tasks, as the papers print them: one table for each suite, with the same columns for every policy."""
    tables = []
    per_arm = [(arm, matrices(arm.records)) for arm in found]
    for suite in dict.fromkeys(m.suite for _, all_of in per_arm for m in all_of):
        mine = [(arm, m) for arm, all_of in per_arm for m in all_of if m.suite == suite]
        columns = list(dict.fromkeys(c for _, m in mine for c in m.columns))
        rows = []
        for arm, m in mine:
            for row in m.rows:
                cells = dict(zip(m.columns, row.cells, strict=True))
                values: dict[str, Cell] = {c: _four(cells.get(c)) for c in columns}
                keys: dict[str, Cell] = {"policy": arm.label, "condition": row.condition, "counted": row.reading, "level": row.level}
                rows.append({**keys, **values, "average": _four(row.average)})
        tables.append(_table(f"levels_{suite}", f"{suite}: success in % by level and task", rows))
    return tables


def _condition_rows(arm: Contestant) -> list[dict[str, Cell]]:
    return [
        _sums({"suite": one.suite, "condition": condition, "level": level, **t.to_data()}, t)
        for one in level_conditions(arm.records)
        for condition, sums in one.rows
        for level, t in zip(one.levels, sums, strict=True)
        if t is not None
    ]


def _cost_rows(arm: Contestant) -> list[dict[str, Cell]]:
    def row(c: PerturbationCost) -> dict[str, Cell]:
        return {
            "perturbation": c.perturbation, "suite": c.suite or ALL, "task": c.task or ALL, "plausible": c.plausible,
            "pairs": c.difference.pairs, "control": round(c.difference.rate_b, 4), "perturbed": round(c.difference.rate_a, 4),
            **_difference(c.difference), "errors": c.errors, "unmatched": c.unmatched, "flagged": c.flagged, "words": c.words,
        }  # fmt: skip

    return [row(c) for c in perturbation_costs(arm.records, arm.run.plausible)]


def _understanding_rows(found: Sequence[Contestant]) -> list[dict[str, Cell]]:
    costs = [perturbation_costs(arm.records, arm.run.plausible) for arm in found]
    return [{"policy": arm.label, **one.to_data()} for arm, findings in understanding(found, costs) for one in findings]


def _subgoal_rows(arm: Contestant) -> list[dict[str, Cell]]:
    return [
        {
            "suite": f.suite, "task": f.task, "path": s.path, "kind": s.kind, "words": s.words, "episodes": s.episodes,
            "reached": s.reached, "share": round(s.reached / s.episodes, 4), "first_failures": s.first_failures,
        }
        for f in funnels(arm.plain) for s in f.steps
    ]  # fmt: skip


def _fault_rows(arm: Contestant) -> list[dict[str, Cell]]:
    return [
        {
            "suite": f.suite or ALL, "task": f.task or ALL, "mode": f.mode, "episodes": f.episodes, "successes": f.successes,
            "planning_first": f.planning, "execution_first": f.execution, "other": f.other, "stages": f.stages,
            "stages_right": f.stages_right, "planner_accuracy": None if f.accuracy is None else round(f.accuracy, 4),
            "planner_exact": None if f.exact is None else round(f.exact, 4),
        }
        for f in faults(arm.plain)
    ]  # fmt: skip


def _error_rows(arm: Contestant) -> list[dict[str, Cell]]:
    return [{"message": e.message, "count": e.count, "examples": " ".join(e.examples)} for e in errors(arm.records)]


def _comparison_rows(found: Sequence[Contestant]) -> list[dict[str, Cell]]:
    def row(a: str, b: str, r: ComparisonRow) -> dict[str, Cell]:
        table = r.difference.table
        return {
            "a": a, "b": b, "suite": r.suite or ALL, "task": r.task or ALL, "pairs": r.difference.pairs, "both": table.both,
            "only_a": table.only_a, "only_b": table.only_b, "neither": table.neither, "success_a": round(r.difference.rate_a, 4),
            "success_b": round(r.difference.rate_b, 4), **_difference(r.difference), "errors": r.errors, "changed": r.changed,
            "unmatched_a": r.unmatched_a, "unmatched_b": r.unmatched_b, "verdict": r.verdict,
        }  # fmt: skip

    pairs = [compare(a.label, a.records, b.label, b.records) for a, b in combinations(found, 2) if a.paired_with(b)]
    return [row(c.name_a, c.name_b, r) for c in pairs for r in c.rows]


# ------------------------------------------------------------------------------------------------ forms


def csv_text(table: ExportTable) -> str:
    """Comma-separated values with a header; what is not known is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([str(c).lower() if isinstance(c, bool) else c for c in row] for row in table.rows)
    return out.getvalue()


def json_text(table: ExportTable) -> str:
    """A JSON object with the caption and one object for each row."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return json.dumps({"table": table.name, "caption": table.caption, "rows": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def markdown_text(table: ExportTable) -> str:
    """A Markdown table, numbers to the right."""
    lines = [
        [_markdown(c) for c in table.columns],
        ["---:" if right else "---" for right in _numeric(table)],
        *([_markdown(_shown(c, table.digits)) for c in row] for row in table.rows),
    ]
    return f"**{_markdown(table.caption)}**\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex_text(table: ExportTable) -> str:
    """A LaTeX table for the package booktabs."""
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_latex(table.caption)}}}",
        f"\\label{{tab:{table.name}}}",
        f"\\begin{{tabular}}{{{''.join('r' if right else 'l' for right in _numeric(table))}}}",
        "\\toprule",
        " & ".join(_latex(c.replace("_", " ")) for c in table.columns) + r" \\",
        "\\midrule",
        *(" & ".join(_latex(_shown(c, table.digits)) for c in row) + r" \\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


FORMS: dict[str, Callable[[ExportTable], str]] = {".csv": csv_text, ".json": json_text, ".md": markdown_text, ".tex": latex_text}


def _numeric(table: ExportTable) -> list[bool]:
    def number(cell: Cell) -> bool:
        return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))

    return [all(map(number, column)) and any(c is not None for c in column) for column in zip(*table.rows, strict=True)]


def _shown(cell: Cell, digits: int) -> str:
    """A cell for readers."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.1e}" if 0 < abs(cell) < 0.001 else f"{cell:.{digits}f}"
    return str(cell)


def _markdown(text: str) -> str:
    """Escaped: signs that would end a cell or begin a mark-up. An underscore between letters begins none."""
    escaped = re.sub(r"([\\|`*<\[\]])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", escaped)


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "''", "−": "$-$", "–": "--",
    "…": r"\ldots{}", "×": r"$\times$", "·": r"$\cdot$", "≥": r"$\geq$", "≤": r"$\leq$",
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))
