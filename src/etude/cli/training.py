"""The command that trains policies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, console
from etude.names import EtudeError


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="SUITE/NAME; a wrong one lists them")],
    out: Annotated[Path, typer.Option(help="the run's folder; the same command goes on where it stopped")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of the recipe, such as schedule.batch=256")] = None,
    device: Annotated[str, typer.Option(help="cuda or cpu")] = "cuda",
    minutes: Annotated[float | None, typer.Option(help="train so long; the learning rate falls with the clock")] = None,
    steps: Annotated[int | None, typer.Option(help="train so many steps; the same seed gives the same curve")] = None,
    validate: Annotated[int, typer.Option(help="held-out episodes of the training split to play afterwards", min=0)] = 0,
    workers: Annotated[int | None, typer.Option(help="processes that play demonstrations; all cores but one if not given")] = None,
) -> None:
    """Train a policy from a stream of the oracle's demonstrations; play it with --policy learned:OUT."""
    if minutes is not None and (steps is not None or minutes <= 0):
        raise EtudeError("training lasts so many --minutes (more than 0) or so many --steps, not both")
    try:
        from etude.learn.mind import device_named
        from etude.learn.recipes import recipe_named
        from etude.learn.train import run
    except ModuleNotFoundError as error:
        raise EtudeError(f"training needs {error.name!r}, which is not installed: pip install 'etude[learn]'") from None

    found = recipe_named(recipe, [*(settings or ()), *([f"schedule.steps={steps}"] if steps is not None else ())])
    team = workers or max(1, (os.cpu_count() or 2) - 1)
    run(found, out, device_named(device), team, minutes, validate, lambda text: console.print(text, highlight=False, markup=False))
