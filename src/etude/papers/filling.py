"""A table of a paper with its numbers and those that were played here: lines of plain data, as text and as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etude.evaluation.record import Record
from etude.evaluation.result_table import ResultTable
from etude.evaluation.tables import plural
from etude.papers.concluding import Effect, compared, interval
from etude.papers.drawing import drawing
from etude.papers.playing import Played, PolicyLine
from etude.report.exports import ExportTable, export
from etude.suites.paper import NOT_PRINTED, PaperBlock, PaperCell, PaperRow, PaperTable, Printed, Scores

HERE = "here: {}"
NONE = "–"


@dataclass(frozen=True)
class FilledLine:
    """One line: under which title, whose, which row of a block. ``episodes`` stand behind what was played here, None behind the paper's.

    Of means of successes there are 95 % ``intervals``, and ``differences`` to the same models in the block it is compared with; of
    distributions all numbers, ``spreads``.
    """

    block: str
    who: str
    row: str
    values: tuple[Printed, ...]
    episodes: int | None = None
    intervals: tuple[tuple[float, float] | None, ...] = ()
    differences: tuple[Effect | None, ...] = ()
    spreads: tuple[tuple[float, ...], ...] = ()

    @property
    def label(self) -> str:
        """Who, and which row where there are several."""
        return f"{self.who}, {self.row}" if self.row else self.who

    @property
    def unprinted(self) -> bool:
        """Does the paper show all of it in a plot only?"""
        return {value for value in self.values if value is not None} == {NOT_PRINTED}

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "block": self.block, "who": self.who, "row": self.row, "values": list(self.values), "episodes": self.episodes,
            "intervals": list(self.intervals),
        }  # fmt: skip


@dataclass(frozen=True)
class FilledTable:
    """A table of a paper with the lines of the paper and ours; ``notes`` say what is missing, and why."""

    table: PaperTable
    lines: tuple[FilledLine, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """As it is printed: each block under its title, all of the same width; without what is not printed in the paper."""
        blocks = {block.title: [line for line in self.lines if line.block == block.title] for block in self.table.blocks}
        wide = max(len(text) for title, lines in blocks.items() for text in (title, *(line.label for line in lines)))
        texts = [f"{self.table.number}. {self.table.title}"]
        for title, lines in blocks.items():
            lines = [line for line in lines if not line.unprinted]
            cells = [(line.label, *(shown(value, self.table.digits) for value in line.values)) for line in lines]
            texts.append(str(ResultTable((), (title.ljust(wide), *self.table.columns), tuple(cells))))
        return "\n\n".join(["\n".join(texts[:2]), *texts[2:]]) + "".join(f"\n  {note}" for note in self.notes)

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        lines, columns = [line.to_data() for line in self.lines], list(self.table.columns)
        return {"number": self.table.number, "title": self.table.title, "columns": columns, "lines": lines, "notes": list(self.notes)}

    def exported(self) -> ExportTable:
        """For files: a row for each line."""
        table = self.table
        rows = [(line.block, line.who, line.row, *line.values, line.episodes) for line in self.lines]
        columns = ("block", "who", "row", *table.columns, "episodes")
        return ExportTable(file_name(table.number), f"{table.number}. {table.title}", columns, tuple(rows), table.digits)


def shown(value: Printed, digits: int) -> str:
    """A number as the paper writes it."""
    return NONE if value is None else value if isinstance(value, str) else f"{value:.{digits}f}"


def file_name(number: str) -> str:
    """ "Table F.2" as the name of its files."""
    return number.lower().replace(" ", "_")


def filled(table: PaperTable, lines: Sequence[PolicyLine], played: Played) -> FilledTable:
    """The table with a line for everybody who played, below those of the paper."""
    found = []
    blocks = {block.title: block for block in table.blocks}
    for block in table.blocks:
        for who, numbers in block.published.items():
            found += [FilledLine(block.title, who, row.label, tuple(own)) for row, own in zip(block.rows, numbers, strict=True)]
        others = blocks[block.against].rows if block.against else [None] * len(block.rows)
        for one in (one for one in lines if one.plays(block)):
            found += [_line(block, row, other, one, played) for row, other in zip(block.rows, others, strict=True)]
    unprinted = dict.fromkeys(line.label for line in found if line.unprinted)
    shows = [f"in a plot only, not printed: {', '.join(unprinted)}"] if unprinted else []
    return FilledTable(table, tuple(found), (*shows, *_notes(table, lines, played)))


def _line(block: PaperBlock, row: PaperRow, other: PaperRow | None, one: PolicyLine, played: Played) -> FilledLine:
    values: list[Printed] = []
    behind: set[tuple[str, tuple[str, str]]] = set()
    intervals: list[tuple[float, float] | None] = []
    differences: list[Effect | None] = []
    spreads: list[tuple[float, ...]] = []
    for cell, reference in zip(row.cells, other.cells if other is not None else [None] * len(row.cells), strict=True):
        records = _records(cell, one, played)
        values.append(None if cell is None or not one.has(cell.trained) else cell.count([record for _, record in records]))
        behind |= {(address, record.key) for address, record in records}
        if cell is not None and cell.values is not None:
            spreads.append(tuple(cell.values([record for _, record in records])))
        own = _scores(cell, records)
        intervals.append(interval(own))
        differences.append(compared(own, _scores(reference, _records(reference, one, played))) if reference is not None else None)
    who = HERE.format(one.name_in(block))
    return FilledLine(block.title, who, row.label, tuple(values), len(behind), tuple(intervals), tuple(differences), tuple(spreads))


def _records(cell: PaperCell | None, one: PolicyLine, played: Played) -> list[tuple[str, Record]]:
    """Who played what is counted in a cell."""
    asked = [] if cell is None else [(one.address(cell.trained, condition.mode), condition.key) for condition in cell.conditions]
    return [(address, record) for address, key in asked if address is not None for record in played.records.get((address, key), ())]


def _scores(cell: PaperCell | None, records: Sequence[tuple[str, Record]]) -> Scores:
    return {} if cell is None or cell.scores is None else cell.scores([record for _, record in records])


def _notes(table: PaperTable, lines: Sequence[PolicyLine], played: Played) -> Iterator[str]:
    if table.note:
        yield table.note
    if table.missing:
        yield f"missing: {table.missing}"
    for one in (one for one in lines if any(map(one.plays, table.blocks))):
        asked = dict.fromkeys((cell.trained, condition) for cell in table.cells for condition in cell.conditions)
        found = ((one.address(trained, condition.mode), condition.key) for trained, condition in asked)
        keys = list(dict.fromkeys((address, key) for address, key in found if address is not None))
        episodes = {(key[0], record.key) for key in keys for record in played.records.get(key, ())}
        yield f"{one.name}: {plural(len(episodes), 'episode')} played"
        for key in keys:
            if key in played.refused:
                yield f"{key[1]} was not played by {key[0]}: {played.refused[key]}"
        placed = dict.fromkeys(cell.trained for block in table.blocks if one.plays(block) for cell in block.cells if cell.trained)
        lacking = [word for word in placed if not one.has(word)]
        if lacking:
            how = "" if one.declared else f": --policy {lacking[0]}=…"
            yield f"no policy was given for {', '.join(lacking)}{how}"
        elif table.trained and not one.declared and len(one.policies) == 1:
            words = ", ".join(f"--policy {word}=…" for word in table.trained)
            yield f"{one.name} stands wherever the paper tells policies apart by what they were trained on ({words})"


def write(tables: Sequence[FilledTable], folder: Path) -> list[Path]:
    """Every table in every form into the folder, figures as SVG too; the paths that were written."""
    written = export([one.exported() for one in tables], folder)
    for one in tables:
        if one.table.drawn:
            path = folder / f"{file_name(one.table.number)}.svg"
            path.write_text(drawing(one), encoding="utf-8")
            written.append(path)
    return written
