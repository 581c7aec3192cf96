"""The command that trains policies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, say
from etude.machine import cores
from etude.names import EtudeError, pick


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="SUITE/NAME; a wrong one lists them")],
    out: Annotated[Path, typer.Option(help="the run's folder; the same command goes on where it stopped")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of the recipe, such as schedule.batch=256")] = None,
    device: Annotated[str, typer.Option(help="cuda or cpu")] = "cuda",
    minutes: Annotated[float | None, typer.Option(help="train so long; the learning rate falls with the clock")] = None,
    steps: Annotated[int | None, typer.Option(help="train so many steps; the same seed gives the same curve")] = None,
    data: Annotated[Path | None, typer.Option(help="a data set to learn from instead of a stream")] = None,
    validate: Annotated[int, typer.Option(help="held-out episodes of the training split to play afterwards", min=0)] = 0,
    every: Annotated[int, typer.Option(help="also play them after every so many steps", min=0)] = 0,
    state: Annotated[str, typer.Option(help="full: goes on exactly; compact: nearly, from 10 bytes for each weight")] = "full",
    keep: Annotated[float, typer.Option(help="minutes between two states from which training can go on")] = 5.0,
    workers: Annotated[int | None, typer.Option(help="processes that play episodes; all cores but one if not given", min=1)] = None,
) -> None:
    """Train a policy from a stream of what the oracle does; play it with --policy learned:OUT. On several GPUs: torchrun."""
    if minutes is not None and steps is not None:
        raise EtudeError("training lasts so many --minutes or so many --steps, not both")
    try:
        from etude.learn.mind import device_named
        from etude.learn.ranks import local_count
        from etude.learn.recipes import recipe_named
        from etude.learn.state import STATE_FORMS
        from etude.learn.training_run import TrainingSettings, run
    except ModuleNotFoundError as error:
        raise EtudeError(f"training needs {error.name!r}, which is not installed: pip install 'etude[learn]'") from None

    more = [f"schedule.steps={steps}"] * (steps is not None) + [f"data.stored={data}"] * (data is not None)
    found = recipe_named(recipe, [*(settings or ()), *more])
    team = workers or max(1, (cores() - 1) // local_count())
    form = pick("form of a state", state, {form: form for form in STATE_FORMS})
    run(found, out, device_named(device), TrainingSettings(team, minutes, validate, every, form, keep), say)
