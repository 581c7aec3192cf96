"""The command that trains policies."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, say
from etude.cli.evaluating import ExecutorName, RayAddress
from etude.machine import cores
from etude.names import EtudeError, pick

TELL = 30.0  # seconds between lines of progress
RAY = "ray"  # in place of a folder; one that is called so is ./ray


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="SUITE/NAME; a wrong one lists them")],
    out: Annotated[Path, typer.Option(help="the run's folder; the same command goes on where it stopped")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of the recipe, such as schedule.batch=256")] = None,
    device: Annotated[str, typer.Option(help="cuda or cpu")] = "cuda",
    minutes: Annotated[float | None, typer.Option(help="train so long; the learning rate falls with the clock")] = None,
    steps: Annotated[int | None, typer.Option(help="train so many steps; the same seed gives the same curve")] = None,
    data: Annotated[Path | None, typer.Option(help="a data set to learn from instead of a stream")] = None,
    stream: Annotated[
        str | None, typer.Option(help="a stream that 'etude stream' saves, instead of playing it anew; ray: a Ray cluster plays it")
    ] = None,
    ray_address: RayAddress = "",
    begin: Annotated[Path | None, typer.Option("--from", help="fine-tune the weights of this run or checkpoint")] = None,
    dagger: Annotated[
        bool, typer.Option("--dagger", help="half of what is learned from is what the policy itself came to; --set data.dagger.… says more")
    ] = False,
    validate: Annotated[int, typer.Option(help="held-out episodes of the training split to play afterwards", min=0)] = 0,
    every: Annotated[int, typer.Option(help="also play them after every so many steps", min=0)] = 0,
    state: Annotated[str, typer.Option(help="full: goes on exactly; compact: nearly, from 10 bytes for each weight")] = "full",
    keep: Annotated[float, typer.Option(help="minutes between two states from which training can go on")] = 5.0,
    workers: Annotated[
        int | None, typer.Option(help="processes that play episodes; all cores but one if not given, all CPUs of a cluster", min=1)
    ] = None,
) -> None:
    """Train a policy from a stream of what the oracle does; play it with --policy learned:OUT. On several GPUs: torchrun."""
    if minutes is not None and steps is not None:
        raise EtudeError("training lasts so many --minutes or so many --steps, not both")
    try:
        from etude.evaluation.ray_team import RaySettings
        from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of
        from etude.learn.mind import device_named
        from etude.learn.named_recipes import recipe_named
        from etude.learn.ranks import local_count
        from etude.learn.state import STATE_FORMS
        from etude.learn.training_run import TrainingSettings, run
    except ModuleNotFoundError as error:
        raise EtudeError(f"training needs {error.name!r}, which is not installed: pip install 'etude[learn]'") from None

    if ray_address and stream != RAY:
        raise EtudeError("--ray-address is used by --stream ray, which was not asked for")
    more = [f"schedule.steps={steps}"] * (steps is not None) + [f"data.stored={data}"] * (data is not None)
    found = recipe_named(recipe, [*["data.dagger.share=0.5"] * dagger, *(settings or ()), *more])
    if begin is not None:
        found = replace(found, begun=digest_of(checkpoint_bytes(checkpoint_file(begin))))
    team = workers or max(1, (cores() - 1) // local_count())
    form = pick("form of a state", state, {form: form for form in STATE_FORMS})
    origin = RaySettings(ray_address, workers or 0) if stream == RAY else Path(stream) if stream else None
    run(found, out, device_named(device), TrainingSettings(team, minutes, validate, every, form, keep, origin, begin), say)


@app.command("stream")
def save(
    suite: Annotated[str, typer.Argument(help="whose training episodes are played")],
    out: Annotated[Path, typer.Option(help="the folder; the same command goes on where it stopped")],
    episodes: Annotated[int, typer.Option(help="so many, from the first on", min=1)],
    look: Annotated[
        list[str] | None, typer.Option(help="objects or patches, both if not given; frames: whole episodes of closed-loop control")
    ] = None,
    perturb: Annotated[list[str] | None, typer.Option(help="also told under a perturbation of the instruction, such as paraphrase")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value of a recipe's data.source, such as seed=1")] = None,
    workers: Annotated[
        int | None, typer.Option(help="processes that play episodes; all cores if not given, all CPUs of a cluster", min=1)
    ] = None,
    executor: ExecutorName = "local",
    ray_address: RayAddress = "",
) -> None:
    """Play a stream of demonstrations once, for many trainings: etude train RECIPE --stream OUT, also while it grows."""
    from etude.evaluation.ray_team import RaySettings
    from etude.evaluation.run import RunSettings
    from etude.learn.control_plan import FRAMES, ControlPlan
    from etude.learn.named_recipes import control_source_named, source_named
    from etude.learn.samples import LOOKS
    from etude.learn.saved_stream import save_stream
    from etude.learn.stream_plans import StreamPlan, StrokePlan

    RunSettings(workers or 0, executor=executor, address=ray_address)  # refuses what does not go together
    plan: StreamPlan
    if FRAMES in (look or ()):
        if len(look or ()) > 1 or perturb:
            raise EtudeError(f"--look {FRAMES} goes with no other look and no --perturb: --set perturb=… perturbs all of them")
        plan = ControlPlan(control_source_named(suite, settings or ()), episodes)
    else:
        looks = tuple(pick("look", one, {known: known for known in LOOKS}) for one in look or LOOKS)
        plan = StrokePlan(source_named(suite, settings or ()), episodes, looks, ("", *(perturb or ())))
    begun, told = time.monotonic(), 0.0

    def tell(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told > TELL or done == of:
            told = time.monotonic()
            say(f"{100 * done // of} % of {episodes:,} episodes after {told - begun:.0f} s")

    missing = save_stream(plan, out, RaySettings(ray_address, workers or 0) if executor == "ray" else workers or cores(), tell)
    say(f"{episodes - missing:,} demonstrations in {out}; train with: etude train {suite}/RECIPE --stream {out}")
