"""An audit as files: its JSON, its tables in every form, and one page."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from etude.audit.cheats import CHEATS
from etude.audit.findings import Audit
from etude.evaluation.tables import percent, plural
from etude.names import json_text
from etude.report.exports import ExportTable, export
from etude.report.markup import Cell, Column, Row, badge, breakable, esc, section, table
from etude.report.page import document
from etude.report.sections import span

DIGITS = 4
LEAD = (
    "Chance is the oracle’s skills with every choice drawn uniformly from the things that could play the same part, or any of the answers "
    "offered. A cheat is above its bound where the exact probability that chance does as well is below 5 % after Holm’s correction over "
    "the suite. Intervals are Wilson’s, 95 %."
)


def write(found: Audit, folder: Path) -> list[Path]:
    """Write ``audit.json``, ``audit.html`` and the tables ``rows`` and ``cheats`` into a folder; the paths that were written."""
    tables = export([rows_table(found), cheats_table(found)], folder)
    text, page = folder / "audit.json", folder / "audit.html"
    text.write_text(json_text(found.to_data(), indent=1) + "\n", encoding="utf-8")
    page.write_text(audit_page(found), encoding="utf-8")
    return [text, page, *tables]


def rows_table(found: Audit) -> ExportTable:
    """A row for each task."""
    columns = ("task", "split", "chance", "cheat", "cheat_rate", "low", "high", "oracle", "bound", "ok", "reason")
    rows = tuple((r.task, r.split, r.chance, r.cheat, r.cheat_rate, *r.interval, r.oracle, r.bound, r.ok, r.reason) for r in found.rows)
    return ExportTable("rows", f"{found.suite}: chance, the best cheat and the oracle", columns, rows)


def cheats_table(found: Audit) -> ExportTable:
    """A row for each task and cheat."""
    columns = ("task", "split", "cheat", "sees", "episodes", "right", "rate", "low", "high", "bound", "p_adjusted", "above")
    rows = tuple(
        (
            s.task, s.split, s.cheat, CHEATS[s.cheat].sees if s.cheat in CHEATS else "", s.episodes, round(s.right, DIGITS),
            round(s.rate, DIGITS), round(s.interval[0], DIGITS), round(s.interval[1], DIGITS), round(s.bound, DIGITS),
            float(f"{s.adjusted:.3g}"), s.above,
        )
        for s in found.scores
    )  # fmt: skip
    return ExportTable("cheats", f"{found.suite}: every cheat on every task", columns, rows)


def audit_page(found: Audit) -> str:
    """The text of the page. The same audit gives the same text."""
    wrong = sum(not row.ok for row in found.rows)
    told = [
        f"{plural(wrong, 'task')} with a cheat above its bound" if wrong else "no cheat above its bound",
        f"{plural(len(found.degenerate), 'degenerate episode')}" if found.degenerate else "no degenerate episodes",
        f"{plural(len(found.leaks), 'leak')} between splits" if found.leaks else "no leaks between splits",
    ]
    head = f'<header><p class="eyebrow">etude · audit</p><h1>{esc(found.suite)}</h1><p>{esc("; ".join(told))}.</p></header>'
    parts = [section("tasks", "Tasks", LEAD, _rows(found))]
    if found.degenerate:
        lead = "Episodes that test nothing, or cannot be done as they are told."
        parts.append(
            section(
                "degenerate",
                "BrokenEpisode episodes",
                lead,
                _pairs("degenerate-table", "Episode", [(d.episode, d.what) for d in found.degenerate]),
            )
        )
    if found.leaks:
        leaks = [(leak.what, ", ".join(leak.examples)) for leak in found.leaks]
        parts.append(section("leaks", "Leaks between splits", "", _pairs("leaks-table", "Leak", leaks)))
    parts.append(section("cheats", "Cheats", "Every cheat on every task it applies to.", _cheats(found)))
    folder = resources.files("etude.report")
    style, script = (folder.joinpath(f"evaluation.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return document(f"etude: audit of {found.suite}", f"{head}<main>{''.join(parts)}</main>", style, script)


def _rows(found: Audit) -> str:
    columns = [Column("Task"), Column("Split"), Column("Chance", numeric=True), Column("Best cheat"), Column("Rate", numeric=True)]
    columns += [Column("Bound", numeric=True), Column("Oracle", numeric=True), Column("Verdict"), Column("Reason")]
    rows = [
        Row((
            Cell(breakable(r.task)), Cell(esc(r.split)), Cell(esc(percent(r.chance)), r.chance), Cell(esc(r.cheat)),
            Cell(f'{esc(percent(r.cheat_rate))} <span class="small">{span(r.interval)}</span>' if r.cheat else "", r.cheat_rate),
            Cell(esc(percent(r.bound)), r.bound), Cell("" if r.oracle is None else esc(percent(r.oracle)), r.oracle),
            Cell(badge("ok", "good") if r.ok else badge("above", "bad")), Cell(esc(r.reason)),
        ))
        for r in found.rows
    ]  # fmt: skip
    return table("rows-table", "Chance, the best cheat and the oracle by task", columns, rows, "tasks")


def _pairs(name: str, title: str, pairs: list[tuple[str, str]]) -> str:
    return table(name, title, [Column(title), Column("What")], [Row((Cell(esc(a)), Cell(esc(b)))) for a, b in pairs])


def _cheats(found: Audit) -> str:
    columns = [Column("Task"), Column("Split"), Column("Cheat"), Column("Sees")]
    columns += [Column(title, numeric=True) for title in ("Episodes", "Rate", "Bound", "p corrected")]
    rows = [
        Row((
            Cell(breakable(s.task)), Cell(esc(s.split)), Cell(esc(s.cheat)), Cell(esc(CHEATS[s.cheat].sees if s.cheat in CHEATS else "")),
            Cell(str(s.episodes), s.episodes), Cell(esc(percent(s.rate)), round(s.rate, 6)), Cell(esc(percent(s.bound)), round(s.bound, 6)),
            Cell(f"{s.adjusted:.2g}", s.adjusted),
        ))
        for s in found.scores
    ]  # fmt: skip
    return table("cheats-table", "Every cheat on every task", columns, rows)
