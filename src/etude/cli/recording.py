"""Commands about datasets of demonstrations: record, replay and render again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import Private, Push, app, command_without, console, print_json, read_size
from etude.cli.evaluating import (
    POLICY,
    AsJson,
    Difficulties,
    FirstSeed,
    Levels,
    Options,
    Perturbations,
    ProgressBar,
    Splits,
    Suites,
    Tasks,
    Timeout,
    Workers,
    pairs,
    wanted,
)
from etude.names import EtudeError, pick, unknown

FORMS = "lerobot (v3.0), lerobot-images, lerobot-v2.1, robomimic, folders; repeat for several"

Cameras = Annotated[list[str] | None, typer.Option(
    help="a camera name, or NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV; repeat for several (default: all but render)",
)]  # fmt: skip


Modalities = Annotated[list[str] | None, typer.Option(
    help="also store: depth, segmentation, points, torques, objects or prompt_views; repeat for several",
)]  # fmt: skip


Language = Annotated[bool, typer.Option(
    "--language", help="add sub-tasks and steps as a column of LeRobot v3.0; loading it needs LeRobot's collate function, not torch's",
)]  # fmt: skip


@app.command()
def demos(
    out: Annotated[Path, typer.Option(help="the dataset's folder; repeat the command to resume")],
    suite: Suites = None,
    task: Tasks = None,
    split: Splits = None,
    level: Levels = None,
    difficulty: Difficulties = None,
    perturb: Perturbations = None,
    option: Options = None,
    episodes: Annotated[int | None, typer.Option(
        help="demonstrations of each task (a failed one is replaced by another seed); of an episode list, the first N", show_default="20",
    )] = None,
    first_seed: FirstSeed = None,
    plan_file: Annotated[Path | None, typer.Option("--plan", help="exactly these episodes: plan.json, or one name per line")] = None,
    recipe: Annotated[str | None, typer.Option(help="a fixed episode list of a suite: SUITE/LIST")] = None,
    policy: Annotated[str, typer.Option(help=POLICY)] = "oracle",
    takeover: Annotated[float | None, typer.Option(help="probability, before every action, that the oracle takes over")] = None,
    recovery: Annotated[float | None, typer.Option(help="share of episodes in which the oracle recovers from a mistake")] = None,
    action: Annotated[str, typer.Option(help="action space, if the policy has a choice: ee_delta, ee_pose, joint or own")] = "ee_delta",
    every_space: Annotated[bool, typer.Option("--every-space", help="also store the action in the other spaces")] = False,
    camera: Cameras = None,
    size: Annotated[str | None, typer.Option(help="image size: 128, or WIDTHxHEIGHT (default: the suite's)")] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="anti-aliased images, for policies whose contract asks for them")] = False,
    modality: Modalities = None,
    language: Language = False,
    form: Annotated[list[str] | None, typer.Option("--format", help=FORMS)] = None,
    allow_test: Annotated[bool, typer.Option("--allow-test", help="allow a test split; the dataset is marked")] = False,
    push: Push = None,
    private: Private = False,
    workers: Workers = 0,
    timeout: Timeout = 600.0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Record demonstrations as a dataset. Repeat the command to resume."""
    from etude import api
    from etude.datasets.demos import lerobot_version, name_repository, summary
    from etude.datasets.taking import RecordingSpec
    from etude.evaluation.choosing import is_listed
    from etude.evaluation.run import RunSettings
    from etude.evaluation.tables import plural
    from etude.integrations.hub import hub_repository
    from etude.suites.suite import SUITES

    if recipe is not None and suite == [recipe.partition("/")[0]]:
        suite = None  # which the recipe says already
    if sum(x is not None and x != [] for x in (suite, plan_file, recipe)) != 1:
        raise EtudeError("say what to record: --suite NAME, --recipe NAME, or --plan FILE (one of them)")
    what = wanted(suite, plan_file)
    if recipe is not None:
        what = [recipe.replace("/", "-", 1)]
        if not is_listed(what[0]):
            named, _, plan = recipe.partition("/")
            raise unknown(f"plan of {named}", plan, SUITES[named].plans)
    if push is not None and len(form or ()) > 1:
        raise EtudeError("--push takes a dataset of one --format: several have a folder each, and no common card")
    there = hub_repository(push, "dataset", private)
    spec = RecordingSpec(
        tuple(camera or ()), recorded_size(size), spaces=every_space, smooth=smooth, modalities=tuple(modality or ()), language=language
    )
    with ProgressBar(out) as shown:
        made = api.demos(
            what, out=out, episodes=episodes, task=task or (), split=split or (), level=level or (), difficulty=difficulty or (),
            perturb=perturb or (), options=pairs(option), first_seed=first_seed, policy=policy, takeover=takeover, recovery=recovery,
            action=action, spec=spec, form=form or "lerobot", allow_test=allow_test, settings=RunSettings(workers, timeout),
            command=command_without(("--out", "--workers", "--timeout", "--push"), ("--json", "--private")), progress=shown,
        )  # fmt: skip
    address = None
    if there is not None:
        name_repository(out, (form or ["lerobot"])[0], there.name)
        address = there.push(out, f"{plural(len(made.kept), 'demonstration')} recorded by etude", lerobot_version(out))
    if as_json:
        print_json({**summary(made), **({} if address is None else {"pushed": address})})
        return
    kept = f"{plural(len(made.kept), 'demonstration')}, {plural(made.frames, 'frame')}"
    console.print(f"recorded {kept}, in {out}", highlight=False, soft_wrap=True)
    if made.failures:
        why = Counter(r.error or r.cause or "no success" for r in made.failures)
        console.print(f"left out: {plural(len(made.failures), 'episode')} ({', '.join(f'{c}× {w}' for w, c in why.most_common(3))})",
                      highlight=False, soft_wrap=True)  # fmt: skip
        for record in made.failures[:10]:
            console.print(f"  {record.outcome}: {record.episode}", highlight=False, soft_wrap=True)
        if len(made.failures) > 10:
            console.print(f"  … all of them are in {out}/meta/etude.json", highlight=False, soft_wrap=True)
    if address is not None:
        console.print(f"pushed to {address}", highlight=False, soft_wrap=True)


def recorded_size(text: str | None) -> tuple[int, int] | None:
    """``--size`` of what is recorded; None where none is given."""
    if text is None:
        return None
    size = read_size(text)
    if not all(16 <= side <= 4096 for side in size):
        raise EtudeError(f"--size must be from 16 to 4096 pixels, got {text}")
    return size


@app.command()
def replay(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a LeRobot dataset made by 'etude demos'")],
    episode: Annotated[list[int] | None, typer.Option(help="only the episode with this number; repeat for several")] = None,
    workers: Annotated[int, typer.Option(help="worker processes; 0: one per core")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Replay a dataset's actions in simulation, and check that states, frames and success are the same."""
    from dataclasses import asdict

    from etude.datasets.replaying import replay as carry_out
    from etude.machine import cores

    found = []
    for one in carry_out(folder, episode or (), workers or cores()):
        found.append(one)
        if not as_json:
            mark = "[green]the same[/]" if one.same else "[red]different[/]"
            what = "" if one.success else "; it does not end in success"
            counts = f"{one.states} states, {one.frames} rendered and {one.stored} stored frames differ"
            more = "" if one.same else f" ({counts}{what})"
            console.print(f"{one.episode_index} {one.name}: {one.steps} steps, {mark}{more}", highlight=False, soft_wrap=True)
    same = sum(one.same for one in found)
    if as_json:
        print_json({"folder": str(folder), "episodes": len(found), "same": same, "results": [asdict(one) for one in found]})
    else:
        console.print(f"{same} of {len(found)} episodes came out the same", highlight=False, soft_wrap=True)
    if same < len(found):
        raise typer.Exit(1)


@app.command()
def rerender(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a LeRobot dataset made by 'etude demos'")],
    out: Annotated[Path, typer.Option(help="a new folder for the dataset")],
    camera: Cameras = None,
    size: Annotated[str | None, typer.Option(help="image size: 128, or WIDTHxHEIGHT (default: as recorded)")] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="anti-aliased images")] = False,
    modality: Modalities = None,
    language: Language = False,
    form: Annotated[str, typer.Option("--format", help=FORMS.partition(";")[0])] = "lerobot",
) -> None:
    """Render a dataset again with other cameras, sizes or modalities, without playing it again."""
    from etude.datasets.demos import FORMATS
    from etude.datasets.replaying import rerender as make
    from etude.datasets.taking import RecordingSpec
    from etude.evaluation.tables import plural

    pick("format", form, FORMATS)
    spec = RecordingSpec(tuple(camera or ()), recorded_size(size), smooth=smooth, modalities=tuple(modality or ()), language=language)
    count = make(folder, out, spec, form)
    console.print(f"{plural(count, 'episode')} {'is' if count == 1 else 'are'} in {out}", highlight=False, soft_wrap=True)
