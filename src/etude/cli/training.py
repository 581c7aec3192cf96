"""The command that trains policies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etude.cli.app import app, say
from etude.cli.evaluating import ExecutorName, RayAddress
from etude.machine import cores
from etude.names import EtudeError, pick

if TYPE_CHECKING:
    from etude.learn.stream_plans import StreamPlan

TELL = 30.0  # seconds between lines of progress
RAY = "ray"  # in place of a folder; one that is called so is ./ray


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="SUITE/NAME; SUITE alone lists the names")],
    out: Annotated[Path, typer.Option(help="the run's folder; repeat the command to resume")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="override a setting of the recipe, such as schedule.batch=256; repeat for several")
    ] = None,
    device: Annotated[str, typer.Option(help="cuda or cpu")] = "cuda",
    minutes: Annotated[float | None, typer.Option(help="train for this many minutes; the learning-rate schedule follows the clock")] = None,
    steps: Annotated[int | None, typer.Option(help="train for this many steps; the same seed gives the same losses")] = None,
    data: Annotated[Path | None, typer.Option(help="learn from this stored dataset instead of a stream")] = None,
    stream: Annotated[
        str | None, typer.Option(help="learn from a stream saved by 'etude stream'; ray: a Ray cluster generates the stream")
    ] = None,
    ray_address: RayAddress = "",
    begin: Annotated[Path | None, typer.Option("--from", help="fine-tune: start from the weights of this run or checkpoint")] = None,
    dagger: Annotated[
        bool,
        typer.Option(
            "--dagger", help="DAgger: half of the training data are states that the policy itself reached; settings: --set data.dagger.…"
        ),
    ] = False,
    validate: Annotated[int, typer.Option(help="held-out episodes of the training split to play after training", min=0)] = 0,
    every: Annotated[int, typer.Option(help="also play them every N steps", min=0)] = 0,
    state: Annotated[
        str, typer.Option(help="training state to resume from: full (exact), or compact (nearly exact, 10 bytes per weight)")
    ] = "full",
    keep: Annotated[float, typer.Option(help="minutes between two saved training states")] = 5.0,
    workers: Annotated[
        int | None,
        typer.Option(help="processes that generate demonstrations (default: all cores but one, or all CPUs of the cluster)", min=1),
    ] = None,
) -> None:
    """Train a policy on demonstrations that the oracle generates meanwhile; evaluate it with --policy learned:OUT."""
    if minutes is not None and steps is not None:
        raise EtudeError("training lasts so many --minutes or so many --steps, not both")
    try:
        from etude.evaluation.ray_team import RaySettings
        from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of
        from etude.learn.inference import device_named
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
    suite: Annotated[str, typer.Argument(help="the suite whose training episodes are played")],
    out: Annotated[Path, typer.Option(help="folder for the stream; repeat the command to resume")],
    episodes: Annotated[int | None, typer.Option(help="number of episodes (default, of a suite's list: all of it)", min=1)] = None,
    look: Annotated[
        list[str] | None, typer.Option(help="observation form: objects, patches (default: both), or frames, for closed-loop control")
    ] = None,
    recipe: Annotated[str | None, typer.Option(help="save what this recipe learns from: heatmaps, chunks, planner, …")] = None,
    perturb: Annotated[
        list[str] | None, typer.Option(help="also save the instructions under this perturbation, such as paraphrase; repeat for several")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="override a setting of the recipe's data.source, such as seed=1")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="processes that play episodes (default: all cores, or all CPUs of the cluster)", min=1)
    ] = None,
    executor: ExecutorName = "local",
    ray_address: RayAddress = "",
) -> None:
    """Generate and save demonstrations for several trainings; use them, even while they are being made, with etude train --stream OUT."""
    from etude.evaluation.ray_team import RaySettings
    from etude.evaluation.run import RunSettings
    from etude.learn.saved_stream import save_stream

    RunSettings(workers or 0, executor=executor, address=ray_address)  # refuses what does not go together
    plan = _plan(suite, recipe, look or [], perturb or [], settings or [], episodes)
    begun, told = time.monotonic(), 0.0

    def tell(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told > TELL or done == of:
            told = time.monotonic()
            say(f"{100 * done // of} % of {plan.episodes:,} episodes after {told - begun:.0f} s")

    missing = save_stream(plan, out, RaySettings(ray_address, workers or 0) if executor == "ray" else workers or cores(), tell)
    say(f"{plan.episodes - missing:,} demonstrations in {out}; train with: etude train {suite}/{recipe or 'RECIPE'} --stream {out}")


def _plan(
    suite: str, recipe: str | None, looks: Sequence[str], perturbs: Sequence[str], settings: Sequence[str], episodes: int | None
) -> StreamPlan:
    """What a stream shall hold."""
    from etude.learn.control_plan import FRAMES, ControlPlan
    from etude.learn.named_recipes import control_source_named, recipe_named, source_named
    from etude.learn.samples import LOOKS
    from etude.learn.saved_stream import plan_of
    from etude.learn.stream_plans import StrokePlan

    if recipe is not None:
        if looks or perturbs:
            raise EtudeError("--recipe says how demonstrations are seen and told: it goes with no --look and no --perturb")
        source = recipe_named(f"{suite}/{recipe}", [f"data.source.{one}" for one in settings]).data.source
        episodes = episodes or source.count
    if episodes is None:
        raise EtudeError("how many? These demonstrations have no end; say --episodes N")
    if recipe is not None:
        return plan_of([source], episodes)
    if FRAMES not in looks:
        chosen = tuple(pick("look", one, {known: known for known in LOOKS}) for one in looks or LOOKS)
        return StrokePlan(source_named(suite, settings), episodes, chosen, ("", *perturbs))
    if len(looks) > 1 or perturbs:
        raise EtudeError(f"--look {FRAMES} goes with no other look and no --perturb: --set perturb=… perturbs all of them")
    return ControlPlan(control_source_named(suite, settings), episodes)
