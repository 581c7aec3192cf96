"""The command that writes trials for others to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, console, print_json
from etude.names import EtudeError


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="a new folder")],
    suite: Annotated[list[str] | None, typer.Option(help="iwisdm")] = None,
    task: Annotated[list[str] | None, typer.Option(help="repeat for several; all when none is given")] = None,
    split: Annotated[list[str] | None, typer.Option(help="repeat for several; the first of each task when none is given")] = None,
    episodes: Annotated[int, typer.Option(help="seeds for each of these")] = 100,
    first_seed: Annotated[int, typer.Option(help="the first of them")] = 0,
    plan_file: Annotated[Path | None, typer.Option("--plan", help="names from a file: plan.json, or one a line")] = None,
    form: Annotated[str, typer.Option(help="jsonl: JSON lines and PNG files; parquet: for Hugging Face (extra 'parquet')")] = "jsonl",
    size: Annotated[int, typer.Option(help="width and height of the frames, in pixels")] = 224,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Write trials of decisions as a data set: frames, instructions, right answers, objects and graphs."""
    from etude.datasets.decisions import export as write
    from etude.evaluate.plan import make_names, read_names

    if (plan_file is None) == (not suite):
        raise EtudeError("say what to export: either --suite iwisdm or --plan FILE")
    if not 16 <= size <= 4096:
        raise EtudeError(f"--size must be from 16 to 4096 pixels, got {size}")
    if plan_file is not None:
        names = read_names(plan_file)
    else:
        names = make_names(suite or (), task or (), split or (), episodes=episodes, first_seed=first_seed)
    files = write(names, out, form, size)
    if as_json:
        print_json({"folder": str(out), "form": form, "trials": len(names), "files": files})
        return
    console.print(f"{len(names)} trials in {files} files are in {out}", highlight=False, soft_wrap=True)
