"""A page of results: a paper's conclusions and tables with ours beside them, and the models that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from etude.evaluation.result_table import ResultTable
from etude.names import PROTOCOL
from etude.papers.concluding import MARGIN, Conclusion, Effect
from etude.papers.drawing import drawing
from etude.papers.filling import HERE, NONE, FilledLine, FilledTable, file_name, shown
from etude.suites.paper import PaperTable

WIDE = 8  # columns; tables of more stand on a page of their own
RULE = (
    "With the 95 % interval of the difference (tasks resampled), a conclusion that one side does better *holds* if the interval is above "
    f"0, and *does not hold* if it neither is nor reaches {MARGIN:g} points; one that both do alike *holds* if the interval lies within "
    f"±{MARGIN:g} points, and *does not hold* if it lies outside. Else it *cannot be told*."
)
LEGEND = "Ours [95 % interval] (the paper's)."


def write_pages(
    path: Path, title: str, command: str, tables: Sequence[FilledTable], found: Sequence[Conclusion], models: ResultTable | None
) -> list[Path]:
    """Write the page, one beside it for wide tables, and a folder of figures of the same name; the paths that were written."""
    wide, narrow = ([one for one in tables if (len(one.table.columns) > WIDE) is is_wide] for is_wide in (True, False))
    tasks, figures = path.with_name(f"{path.stem}-tasks{path.suffix}"), path.with_suffix("")
    written = [path]
    parts = [f"# {title}", f"Protocol `{PROTOCOL}`. Made by\n\n```\n{command}\n```"]
    if found:
        parts.append(_concluded(found))
    if narrow:
        parts.append(f"## Tables\n\n{LEGEND}")
    for one in narrow:
        parts.append(_table(one))
        if one.table.drawn:
            figures.mkdir(parents=True, exist_ok=True)
            picture = figures / f"{file_name(one.table.number)}.svg"
            picture.write_text(drawing(one), encoding="utf-8")
            parts.append(f"![{one.table.number}]({figures.name}/{picture.name})")
            written.append(picture)
    if wide:
        parts.append(f"By task: [{', '.join(one.table.number for one in wide)}]({tasks.name}).")
        text = [f"# {title}, by task", LEGEND, *(_table(one, spread=False) for one in wide)]
        tasks.write_text("\n\n".join(text) + "\n", encoding="utf-8")
        written.append(tasks)
    if models is not None:
        parts.append(_indexed(models))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return written


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as a table of a page."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows))


def _concluded(found: Sequence[Conclusion]) -> str:
    theirs, own = ([one for one in found if one.claim.own is is_own] for is_own in (False, True))
    counts = {word: sum(one.verdict == word for one in theirs) for word in ("holds", "does not hold", "cannot be told")}
    summary = f"Of {len(theirs)} conclusions of the paper {counts['holds']} hold here, {counts['does not hold']} do not, "
    summary += f"and of {counts['cannot be told']} it cannot be told."
    parts = [f"## Conclusions\n\n{summary} {RULE}", _claims("section", "the paper says", theirs)]
    if own:
        parts += ["What studies of our own expect, by the same rule:", _claims("study", "expected", own)]
    return "\n\n".join(parts)


def _claims(where: str, says: str, found: Sequence[Conclusion]) -> str:
    rows = [(one.claim.section, one.claim.says, f"**{one.verdict}**", _points(one.effect), one.behind) for one in found]
    return markdown_table((where, says, "here", "difference", "of"), rows)


def _table(one: FilledTable, spread: bool = True) -> str:
    parts = [f"### {one.table.number}. {one.table.title}"]
    if one.table.note:
        parts.append(f"{one.table.note[0].upper()}{one.table.note[1:]}.")
    rows: list[Sequence[str]] = []
    changes: list[Sequence[str]] = []
    for block in one.table.blocks:
        lines = {(line.who, line.row): line for line in one.lines if line.block == block.title and not line.unprinted}
        rows.append((f"**{block.title}**", *[""] * len(one.table.columns)))
        for who, row in _partners(lines):
            ours, theirs = lines.get((HERE.format(who), row)), lines.get((who, row))
            rows.append((f"{who}, {row}" if row else who, *_cells(ours, theirs, one.table, spread)))
            if block.against and ours is not None and any(ours.differences):
                changes.append((f"{block.title}: {who}", block.against, *map(_points, ours.differences)))
    parts.append(markdown_table(("", *one.table.columns), rows))
    if spread and changes:
        parts.append("Paired differences, in points:")
        parts.append(markdown_table(("", "against", *one.table.columns), changes))
    return "\n\n".join(parts)


def _partners(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Everybody once, whether of the paper or ours."""
    prefix = HERE.format("")
    return list(dict.fromkeys((who.removeprefix(prefix), row) for who, row in lines))


def _cells(ours: FilledLine | None, theirs: FilledLine | None, table: PaperTable, spread: bool) -> list[str]:
    digits, scale, places = table.digits, *((0.01, 2) if table.shares else (1.0, 0))
    count = len((ours or theirs or FilledLine("", "", "", ())).values)
    found = []
    for k in range(count):
        mine = ours.values[k] if ours is not None else None
        printed = theirs.values[k] if theirs is not None else None
        within = ours.intervals[k] if ours is not None and ours.intervals and spread and mine is not None else None
        text = shown(mine, digits) + (f" [{scale * within[0]:.{places}f}, {scale * within[1]:.{places}f}]" if within is not None else "")
        found.append("" if mine is None and printed is None else text + (f" ({shown(printed, digits)})" if printed is not None else ""))
    return found


def _points(effect: Effect | None) -> str:
    return NONE if effect is None else f"{effect.mean:+.1f} [{effect.low:+.1f}, {effect.high:+.1f}]".replace("-", "−")


def _indexed(models: ResultTable) -> str:
    commands = "\n".join(row["command"] for row in models.rows)
    return f"## Models\n\n{markdown_table(models.columns, models.cells)}\n\n```\n{commands}\n```"
