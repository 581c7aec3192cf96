"""What a paper asks of a policy, as data: conditions that are played, and tables and figures that are laid out from their records.

A suite declares the tables and figures of its paper (``Suite(paper_tables=…)``); playing, laying out and drawing them is the same for all.
Published numbers are facts of the paper, kept in a file beside the suite. Where a paper shows something in a plot only, its numbers are
:data:`NOT_PRINTED`; they are never estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from etude.names import EtudeError, parse_json, read_text, repeated

if TYPE_CHECKING:
    from etude.evaluation.record import Record

NOT_PRINTED = "not printed"
Printed = float | str | None  # None: the paper has no number there; a text says why there is none
Count = Callable[[Sequence["Record"]], float | None]


@dataclass(frozen=True)
class PaperCondition:
    """What is played in one run, under the name ``key``: the arguments of :func:`etude.evaluate`.

    ``episodes`` is how many seeds of everything the paper plays; None takes a frozen list whole.

    >>> PaperCondition("dark", "kitchen@test", episodes=100, perturb="light_color")
    """

    key: str
    what: str
    episodes: int | None = None
    task: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    difficulty: str = ""
    perturb: str = ""
    mode: str = "vanilla"


@dataclass(frozen=True)
class PaperCell:
    """A number of a table: ``count`` makes it of the records of its conditions, played by a policy that was trained on ``trained``.

    ``trained`` is a word of the paper for what its rows or columns tell apart that cannot be played, such as a level of training data.
    """

    conditions: tuple[PaperCondition, ...]
    count: Count
    trained: str = ""


@dataclass(frozen=True)
class PaperRow:
    """A line of a block: a cell for each column; None where the table is empty. Without a ``label`` it is known by who is in it."""

    cells: tuple[PaperCell | None, ...]
    label: str = ""


@dataclass(frozen=True)
class PaperBlock:
    """Lines of a table under one title. ``published``: by model, numbers for each row and column."""

    title: str
    rows: tuple[PaperRow, ...]
    published: Mapping[str, Sequence[Sequence[Printed]]] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper. ``number`` is that of the paper ("Table 2"); numbers have so many ``digits`` after the point.

    ``drawn`` says how a figure is drawn. What cannot be made has no blocks: it names another ``command`` that makes it, or says in
    ``missing`` why nothing does. With blocks, ``missing`` says what of it is missing.
    """

    number: str
    title: str
    columns: tuple[str, ...] = ()
    blocks: tuple[PaperBlock, ...] = ()
    drawn: Literal["", "bars", "lines"] = ""
    digits: int = 1
    note: str = ""
    command: str = ""
    missing: str = ""

    def __post_init__(self) -> None:
        if not (self.blocks or self.command or self.missing):
            raise EtudeError(f"{self.number} has neither blocks nor a command that makes it, and does not say why")
        for block in self.blocks:
            where = f"{self.number}, {block.title!r}"
            for row in block.rows:
                if len(row.cells) != len(self.columns):
                    raise EtudeError(f"{where}: a row of {len(row.cells)} cells for {len(self.columns)} columns")
            for who, lines in block.published.items():
                if len(lines) != len(block.rows) or any(len(line) != len(self.columns) for line in lines):
                    raise EtudeError(f"{where}: the numbers of {who} are not {len(block.rows)} × {len(self.columns)}")

    @property
    def conditions(self) -> tuple[PaperCondition, ...]:
        """What must be played for it, once each."""
        return tuple(dict.fromkeys(one for cell in self.cells for one in cell.conditions))

    @property
    def trained(self) -> tuple[str, ...]:
        """What it tells policies apart by that cannot be played."""
        return tuple(dict.fromkeys(cell.trained for cell in self.cells if cell.trained))

    @property
    def cells(self) -> list[PaperCell]:
        """All that are not empty."""
        return [cell for block in self.blocks for row in block.rows for cell in row.cells if cell is not None]


def checked_tables(tables: Sequence[PaperTable]) -> tuple[PaperTable, ...]:
    """The tables of a paper; numbers and keys of conditions must be unambiguous."""
    if (twice := repeated([table.number for table in tables])) is not None:
        raise EtudeError(f"the paper has {twice} twice")
    different = dict.fromkeys(one for table in tables for one in table.conditions)
    if (twice := repeated([one.key for one in different])) is not None:
        raise EtudeError(f"two conditions are called {twice!r}")
    return tuple(tables)


def read_published(beside: str) -> dict[str, dict[str, dict[str, list[list[Printed]]]]]:
    """Published numbers by table, block and model: the file ``published.json`` beside a module of a suite."""
    found: Any = parse_json(read_text(Path(beside).parent / "published.json"))
    return dict(found)
