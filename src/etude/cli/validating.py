"""The command that checks a dataset."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etude.cli.app import app, console, escape, print_json

if TYPE_CHECKING:
    from etude.datasets.validate import Report

MOST = 5  # defects of a kind that are shown one by one


@app.command()
def validate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="any LeRobot dataset, v3.0 or v2.1")],
    lerobot: Annotated[bool, typer.Option("--lerobot", help="also load it with LeRobot, which must be installed")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Check a LeRobot dataset: files, tables, counters, statistics, videos. Exit status 1 if there are defects."""
    from etude.datasets.validate import load_with_lerobot
    from etude.datasets.validate import validate as check

    loaded = load_with_lerobot(folder) if lerobot and folder.is_dir() else []
    report = check(folder)
    report = replace(report, defects=(*report.defects, *loaded))
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report)
    if not report.ok:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    """One line for every defect, though of a kind that there are many of only the first few."""
    total, shown = Counter(d.code for d in report.defects), Counter[str]()
    for defect in report.defects:
        shown[defect.code] += 1
        if shown[defect.code] <= MOST:
            _line(f"[red]{defect.code}[/] {escape(defect.where)}: {escape(defect.text)}")
        if shown[defect.code] == total[defect.code] > MOST:
            _line(f"[red]{defect.code}[/] … {total[defect.code]} of these in all")
    for text in report.skipped:
        _line(f"[yellow]not checked[/] {escape(text)}")
    there = ", ".join(f"{count} {what}" for what, count in report.counts.items())
    verdict = "[green]no defects[/]" if report.ok else f"[red]{len(report.defects)} defects[/]"
    _line(f"{verdict}: {escape(str(report.folder))}{f', LeRobot {report.version}' if report.version else ''}, {there}")


def _line(text: str) -> None:
    console.print(text, highlight=False, soft_wrap=True)
