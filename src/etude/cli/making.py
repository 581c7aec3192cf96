"""The command that writes a package of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, console


@app.command("new")
def new_package(
    kind: Annotated[str, typer.Argument(help="task, suite, perturbation or policy")],
    name: Annotated[str, typer.Argument(help="what it is called, e.g. cup_on_plate")],
    out: Annotated[Path | None, typer.Option(help="a new folder; the name, if not given")] = None,
) -> None:
    """Write a small package of one's own, with a test that passes."""
    from etude.templates import write_package

    folder = write_package(kind, name, out or Path(name))
    for line in (f"{folder} is a package with one {kind}; look at it, then:", f"  pip install -e {folder}", f"  pytest {folder}"):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
