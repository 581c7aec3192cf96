"""The pieces of HTML that sections of a report are made of: sections, tables that can be sorted and filtered, small labels."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SEPARATOR = "|"
"""Between the values of one row that a filter may look for."""


def esc(text: object) -> str:
    """Text as HTML; a number keeps its percent sign when lines break."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", html.escape(str(text), quote=True))


def breakable(text: str) -> str:
    """A long name as HTML that may break between its words."""
    return re.sub(r"([_+])", r"\1<wbr>", esc(text))


def section(name: str, title: str, lead: str, body: str) -> str:
    """A part of the page with a heading; ``lead`` is text, ``body`` is HTML."""
    words = f"<p>{esc(lead)}</p>" if lead else ""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{esc(title)}</h2>{words}\n{body}\n</section>'


def fold(summary: str, body: str) -> str:
    """What is shown on request only."""
    return f"<details><summary>{esc(summary)}</summary>{body}</details>"


def badge(text: str, kind: str = "") -> str:
    """A short label."""
    return f'<span class="badge {kind}">{esc(text)}</span>'


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


@dataclass(frozen=True)
class Column:
    """A column: ``kind`` is the class of its cells. Columns of charts cannot be sorted by; ``below`` is HTML under their title."""

    title: str
    numeric: bool = False
    sortable: bool = True
    kind: str = ""
    below: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell: HTML, and what it is sorted by where that is not its text."""

    html: str
    value: str | float | None = None


@dataclass(frozen=True)
class Row:
    """A row: its cells, and by key the values that filters look for."""

    cells: tuple[Cell, ...]
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)


def table(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Row], kind: str = "") -> str:
    """A table in a box of its own that scrolls when it must. Headers are buttons that sort; the first column names its row."""
    head = "".join(_header(c) for c in columns)
    body = "\n".join(_row(columns, row) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{esc(caption)}"><table id="{name}" class="{kind}">'
        f"<caption>{esc(caption)}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def _header(column: Column) -> str:
    kind = _kind(column)
    title = breakable(column.title)
    if not column.sortable:
        return f'<th scope="col"{kind}>{title}{column.below}</th>'
    sort = "number" if column.numeric else "text"
    return f'<th scope="col"{kind} aria-sort="none" data-sort="{sort}"><button type="button">{title}</button></th>'


def _row(columns: Sequence[Column], row: Row) -> str:
    marks = "".join(f' data-{key}="{esc(SEPARATOR.join(values))}"' for key, values in row.marks.items())
    cells = []
    for k, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
        tag = 'th scope="row"' if k == 0 else "td"
        value = "" if cell.value is None else f' data-value="{esc(cell.value)}"'
        cells.append(f"<{tag}{_kind(column)}{value}>{cell.html}</{tag.split()[0]}>")
    return f"<tr{marks}>{''.join(cells)}</tr>"


def _kind(column: Column) -> str:
    kind = " ".join(filter(None, ("number" if column.numeric else "", column.kind)))
    return f' class="{kind}"' if kind else ""


def filters(target: str, search: str, choices: Mapping[str, tuple[str, Sequence[tuple[str, str]]]], count: int) -> str:
    """The form that filters a table: a search for text and, by key, a list to choose from (title, [(value, words)]).

    A list with a single choice would filter nothing, and is left out.
    """
    lists = "".join(
        f'<label>{esc(title)} <select data-key="{key}"><option value="">all</option>'
        + "".join(f'<option value="{esc(value)}">{esc(words)}</option>' for value, words in options)
        + "</select></label>"
        for key, (title, options) in choices.items()
        if len(options) > 1
    )
    return (
        f'<form class="filters" data-for="{target}" role="search"><label>{esc(search)} <input type="search" autocomplete="off"></label>'
        f'{lists}<output aria-live="polite">{count:,} rows</output></form>'
    )
