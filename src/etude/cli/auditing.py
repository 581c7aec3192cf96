"""The command that looks for cheats, broken episodes and leaks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etude.cli.app import app, console, escape, notes, print_json
from etude.names import EtudeError

if TYPE_CHECKING:
    from etude.audit.findings import Audit

MOST = 3  # broken episodes of a kind that are named


@app.command()
def audit(
    suite: Annotated[str, typer.Argument(metavar="SUITE")],
    out: Annotated[Path, typer.Option(help="folder for the HTML page, the JSON and the tables")],
    task: Annotated[list[str] | None, typer.Option(help="only this task; repeat for several")] = None,
    split: Annotated[list[str] | None, typer.Option(help="only this split; repeat for several (default: the first test split)")] = None,
    first_seed: Annotated[int, typer.Option(help="the first seed of each task")] = 0,
    episodes: Annotated[int, typer.Option(help="episodes of each task to examine")] = 200,
    moving: Annotated[int, typer.Option(help="how many of them the oracle and the moving cheats play; 0: no simulation at all")] = 30,
    workers: Annotated[int, typer.Option(help="worker processes; 0: one per core")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Audit a suite: success without the ability (cheats), broken episodes, leaks between splits. Exit status 1 if anything is found."""
    from etude.audit.page import write
    from etude.audit.run import audit as find

    if out.exists() and not out.is_dir():
        raise EtudeError(f"--out {str(out)!r} is a file; name a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EtudeError(f"--out {str(out)!r} cannot be written: {error.strerror}; choose a folder you may write to") from None
    tell = (lambda text: notes.print(text, highlight=False)) if not as_json else (lambda text: None)
    found = find(
        suite, task=task or (), split=split or (), first_seed=first_seed, episodes=episodes, moving=moving, workers=workers, tell=tell
    )
    write(found, out)
    if as_json:
        print_json(found.to_data())
    else:
        _show(found, out)
    if not found.ok:
        raise typer.Exit(1)


def _show(found: Audit, out: Path) -> None:
    for row in found.rows:
        low, high = row.interval
        best = f"{row.cheat} {row.cheat_rate:.2f} [{low:.2f}, {high:.2f}]" if row.cheat else "no cheat applies"
        oracle = "" if row.oracle is None else f", oracle {row.oracle:.2f}"
        mark = "[green]ok[/]" if row.ok else "[red]above[/]"
        _line(f"{mark} {escape(row.task)}@{escape(row.split)}: chance {row.chance:.2f}, {escape(best)}{oracle}  {escape(row.reason)}")
    shown: Counter[str] = Counter()
    for one in found.degenerate:
        kind = one.what.partition(":")[0]
        shown[kind] += 1
        if shown[kind] <= MOST:
            _line(f"[red]degenerate[/] {escape(one.episode)}: {escape(one.what)}")
    for kind, count in shown.items():
        if count > MOST:
            _line(f"[red]degenerate[/] {escape(kind)}: {count} of these in all")
    for leak in found.leaks:
        _line(f"[red]leak[/] {escape(leak.what)}: {escape(', '.join(leak.examples))}")
    _line(f"{'[green]nothing found[/]' if found.ok else '[red]not ok[/]'}; wrote {escape(str(out / 'audit.html'))}")


def _line(text: str) -> None:
    console.print(text, highlight=False, soft_wrap=True)
