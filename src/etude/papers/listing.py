"""What there is of a paper: every table and figure, and the command that makes it or the reason why none does."""

from __future__ import annotations

from etude.evaluation.plan import PLANNED
from etude.evaluation.result_table import ResultTable
from etude.papers.playing import tables_of

COLUMNS = ("number", "shows", "made by", "missing")


def listing(suite: str) -> ResultTable:
    """A row for each table and figure, in the order of the paper."""
    rows = []
    for table in tables_of(suite):
        who = "--models MODELS" if all(block.models_only for block in table.blocks) else "--policy P"
        if table.blocks and all(block.people_only for block in table.blocks):
            who = "--policy human:RUN"
        played = f'etude paper {suite} {who} --out DIR --tables "{table.number}"' if table.blocks else ""
        planned = any(one.mode in PLANNED for one in table.conditions)
        command = f"{played} --planner Q" if played and planned else played or table.command
        rows.append({"number": table.number, "shows": table.title, "command": command, "missing": table.missing})
    cells = tuple((row["number"], row["shows"], row["command"] or "–", row["missing"]) for row in rows)
    return ResultTable(tuple(rows), COLUMNS, cells)


def markdown(suite: str) -> str:
    """The same as a table of a page."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|"]
    for row in listing(suite).rows:
        command = f"`{row['command']}`" if row["command"] else ""
        lines.append(f"| {row['number']} | {row['shows']} | {command} | {row['missing']} |")
    return "\n".join(lines) + "\n"
