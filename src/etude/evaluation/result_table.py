"""Results as a small table: text for people, rows for programs. The terminal, the Python API and scripts all read the same one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from etude.evaluation.record import Record
from etude.evaluation.recovery import recoveries
from etude.evaluation.tables import groups, headline, name_of, plural

SHOWN_WHERE_DIFFERENT = ("suite", "split", "difficulty", "perturbation", "mode")


@dataclass(frozen=True, repr=False)
class ResultTable:
    """``rows`` are plain data, one dict each; as text, :func:`str` shows ``columns`` and ``cells``, and the ``notes`` below."""

    rows: tuple[dict[str, Any], ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.cells, strict=True)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in (self.columns, *self.cells)]
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The rows as a data frame; needs pandas."""
        return importlib.import_module("pandas").DataFrame(list(self.rows))


def result_table(records: Sequence[Record]) -> ResultTable:
    """Success by task and condition; columns in which nothing differs are left out. The notes state the success of each mode,
    and how often it recovers from what happens."""
    rows = [group.to_data() for group in groups(records)]
    varying = [key for key in SHOWN_WHERE_DIFFERENT if len({row[key] for row in rows}) > 1]
    cells = []
    for row in rows:
        low, high = row["interval"]
        counts = (f"{row['successes']}/{row['episodes']}", f"{100 * low:.0f}–{100 * high:.0f}")
        figures = ("–" if row[key] is None else str(row[key]) for key in ("mean_steps", "mean_return", "errors"))
        cells.append((row["task"], row["level"], *(row[key] or "none" for key in varying), *counts, *figures))
    columns = ("task", "level", *varying, "success", "95 %", "steps", "return", "errors")
    notes = (*_headlines(records), *(f"{name}: {one}" for name, one in recoveries(records).items()))
    return ResultTable(tuple(rows), columns, tuple(cells), notes)


def _headlines(records: Sequence[Record]) -> list[str]:
    lines = []
    for one in headline(records):
        t, (low, high) = one.tally, one.tally.interval
        mode = dict(one.keys)["mode"]
        apart = sum(r.mode == mode for r in records) - t.episodes - t.errors
        perturbed = all(name_of(r).perturbations for r in records if r.mode == mode)
        lines.append(
            f"{mode}: {t.successes} of {plural(t.episodes, 'perturbed episode' if perturbed else 'episode')} succeed,"
            f" {100 * low:.0f}–{100 * high:.0f} % (95 %{', clustered by task' if one.tasks > 1 else ''}); {plural(t.errors, 'error')}"
            + (f"; {plural(apart, 'perturbed episode')} counted separately" if apart else "")
        )
    return lines
