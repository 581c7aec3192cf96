"""What a paper asks of a policy, as data: conditions that are played, and tables and figures that are laid out from their records.

A suite declares the tables and figures of its paper (``Suite(paper_tables=…)``); playing, laying out and drawing them is the same for all.
Published numbers are facts of the paper, kept in a file beside the suite. Where a paper shows something in a plot only, its numbers are
:data:`NOT_PRINTED`; they are never estimated.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from etude.names import EtudeError, parse_json, read_text, repeated

if TYPE_CHECKING:
    from etude.evaluation.record import Record

NOT_PRINTED = "not printed"
STREAMS = "streams"  # the folder beside models that has what they learn from
Printed = float | str | None  # None: the paper has no number there; a text says why there is none
Count = Callable[[Sequence["Record"]], float | None]
Scores = dict[tuple[str, str, int], float]  # by task, level and seed
Read = Callable[[Sequence["Record"]], Scores]


@dataclass(frozen=True)
class PaperCondition:
    """What is played in one run, under the name ``key``: the arguments of :func:`etude.evaluate`.

    ``episodes`` is how many seeds of everything the paper plays; None takes a frozen list whole. ``part``: the frozen list of a fixed part
    of its episodes, for those who do not play all of them.

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
    options: tuple[tuple[str, str], ...] = ()
    mode: str = "vanilla"
    part: str = ""


@dataclass(frozen=True)
class PaperCell:
    """A number of a table: ``count`` makes it of the records of its conditions, played by a policy that was trained on ``trained``.

    ``trained`` is a word of the paper for what its rows or columns tell apart that cannot be played, such as a level of training data.
    Where the number is a mean of successes, ``scores`` tells those of the episodes: intervals and paired differences are made of them.
    Where it stands for a distribution, ``values`` are all of it, for figures of boxes.
    """

    conditions: tuple[PaperCondition, ...]
    count: Count
    trained: str = ""
    scores: Read | None = None
    values: Callable[[Sequence[Record]], Sequence[float]] | None = None


@dataclass(frozen=True)
class PaperRow:
    """A line of a block: a cell for each column; None where the table is empty. Without a ``label`` it is known by who is in it."""

    cells: tuple[PaperCell | None, ...]
    label: str = ""


@dataclass(frozen=True)
class PaperBlock:
    """Lines of a table under one title. ``published``: by model, numbers for each row and column. ``against``: the title of the block of
    the same table that differences are taken to. ``models_only``: it is about models that were trained for it, and nobody else;
    ``people_only``: about people in a study."""

    title: str
    rows: tuple[PaperRow, ...]
    published: Mapping[str, Sequence[Sequence[Printed]]] = field(default_factory=dict)
    against: str = ""
    models_only: bool = False
    people_only: bool = False

    @property
    def cells(self) -> list[PaperCell]:
        """All that are not empty."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper. ``number`` is that of the paper ("Table 2"); numbers have so many ``digits`` after the point.

    ``shares``: they are shares of 1, not per cent. ``drawn`` says how a figure is drawn. What cannot be made has no blocks: it names
    another ``command`` that makes it, or says in ``missing`` why nothing does. With blocks, ``missing`` says what of it is missing.
    """

    number: str
    title: str
    columns: tuple[str, ...] = ()
    blocks: tuple[PaperBlock, ...] = ()
    drawn: Literal["", "bars", "lines", "boxes"] = ""
    digits: int = 1
    shares: bool = False
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
        return [cell for block in self.blocks for cell in block.cells]


@dataclass(frozen=True)
class PaperModel:
    """A model that a paper's tables are about, to be trained here under this ``name``: a recipe of the suite, and settings of it.

    ``who`` is the paper's line it stands in, ``also`` what the paper calls that line elsewhere, ``trained`` the word by which cells ask
    for it. A recipe of planners plans for all policies of the same training. ``paper_id``: what the paper calls its own. ``ships``: it
    comes with etude. ``begins``: the name of the model whose weights it goes on from. ``stream``: the name of the saved stream that it
    learns from, with all others that name it. ``given``: what stands before its address when it plays, such as ``true:position:``;
    ``same_as``: the model of which it is another way to play, and whose checkpoint it has. ``added``: the paper has no such line, and it
    stands in all tables, as policies that are given.

    >>> PaperModel("objects-original", "Objects", "original", "objects-xattn", ("data.most=60000",))
    """

    name: str
    who: str
    trained: str
    recipe: str
    settings: tuple[str, ...] = ()
    paper_id: str = ""
    ships: bool = False
    also: tuple[str, ...] = ()
    begins: str = ""
    stream: str = ""
    given: str = ""
    same_as: str = ""
    added: bool = False

    @property
    def folder(self) -> str:
        """Where its checkpoint is, among the models of the paper."""
        return self.same_as or self.name

    def command(self, suite: str, folder: str) -> str:
        """How it is trained."""
        words = [f"--set {shlex.quote(one)}" for one in self.settings]
        words += [f"--from {folder}/{self.begins}"] * bool(self.begins) + [f"--stream {folder}/{STREAMS}/{self.stream}"] * bool(self.stream)
        return " ".join([f"etude train {suite}/{self.recipe}", *words, f"--out {folder}/{self.folder}"])


@dataclass(frozen=True)
class ClaimSide:
    """One side of a comparison: models by their lines and what they were trained on, playing a condition. ``less``: what is taken off."""

    who: tuple[str, ...]
    trained: str
    condition: PaperCondition
    scores: Read
    less: ClaimSide | None = None


@dataclass(frozen=True)
class PaperClaim:
    """A conclusion of a paper: the ``first`` side is ``above`` the second, or both are ``alike``. ``says`` is the conclusion in a sentence,
    ``section`` where it stands. One of our ``own`` is what a study of ours expects."""

    name: str
    section: str
    says: str
    first: ClaimSide
    second: ClaimSide
    direction: Literal["above", "alike"] = "above"
    own: bool = False


def checked_tables(tables: Sequence[PaperTable]) -> tuple[PaperTable, ...]:
    """The tables of a paper; numbers and keys of conditions must be unambiguous."""
    if (twice := repeated([table.number for table in tables])) is not None:
        raise EtudeError(f"the paper has {twice} twice")
    different = dict.fromkeys(one for table in tables for one in table.conditions)
    if (twice := repeated([one.key for one in different])) is not None:
        raise EtudeError(f"two conditions are called {twice!r}")
    for table in tables:
        for block in table.blocks:
            if block.against and block.against not in [one.title for one in table.blocks]:
                raise EtudeError(f"{table.number}, {block.title!r}: there is no block {block.against!r} to compare with")
    return tuple(tables)


def read_published(beside: str) -> dict[str, dict[str, dict[str, list[list[Printed]]]]]:
    """Published numbers by table, block and model: the file ``published.json`` beside a module of a suite."""
    found: Any = parse_json(read_text(Path(beside).parent / "published.json"))
    return dict(found)
