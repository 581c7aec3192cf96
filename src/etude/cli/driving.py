"""The command with which a person drives the robot."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, command_without, console, notes
from etude.cli.evaluating import Difficulties, FirstSeed, Options, Perturbations, pairs
from etude.cli.recording import Cameras, recorded_size
from etude.names import EtudeError


@app.command()
def drive(
    what: Annotated[list[str], typer.Argument(metavar="EPISODE…", help="an episode, SUITE/TASK@SPLIT, a suite, or an episode list")],
    out: Annotated[
        Path | None, typer.Option(help="the dataset's folder; repeat the command to extend it (default: data/SUITE-human)")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="seeds of each task; of an episode list, the first N", show_default="20")] = None,
    first_seed: FirstSeed = None,
    difficulty: Difficulties = None,
    perturb: Perturbations = None,
    option: Options = None,
    camera: Cameras = None,
    size: Annotated[str | None, typer.Option(help="image size: 128, or WIDTHxHEIGHT (default: the suite's)")] = None,
    person: Annotated[str, typer.Option(help="who drives, as recorded in the dataset: a name, or better a number")] = "",
    keep_failures: Annotated[bool, typer.Option("--keep-failures", help="allow failed episodes to be kept too")] = False,
    time: Annotated[float, typer.Option(help="time limit, as a multiple of the episode's horizon", min=1.0, max=100.0)] = 3.0,
    allow_test: Annotated[bool, typer.Option("--allow-test", help="allow a test split; the dataset is marked")] = False,
    port: Annotated[int, typer.Option(help="local port; 0: any free one", min=0, max=65535)] = 8766,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="open the page in a browser")] = True,
) -> None:  # fmt: skip
    """Teleoperate the robot by keyboard or gamepad, in the browser, and record a dataset of demonstrations."""
    from etude.datasets.demos import refuse_tests
    from etude.drive.driven_set import DrivenSet, agreed_setting
    from etude.drive.recorder import Recorder
    from etude.drive.server import serve_driving
    from etude.drive.session import DrivingSession, drivable
    from etude.evaluation.choosing import choose
    from etude.evaluation.tables import plural
    from etude.web.study import human

    who = human(person) if person else "human"
    names = choose(
        what, episodes=episodes, first_seed=first_seed, difficulty=difficulty or (), perturb=perturb or (), options=pairs(option),
        control=not perturb, purpose="training",
    )  # fmt: skip
    first = drivable(names[0])
    if not allow_test:
        refuse_tests(names)
    folder = out or Path("data") / f"{first.parsed.suite}-{who.replace(':', '-')}"
    setting = agreed_setting(folder, names, camera or (), recorded_size(size))

    def ready(address: str) -> None:
        notes.print(f"drive at {address} in a browser; Ctrl-C ends it, repeat the command to resume", highlight=False, soft_wrap=True)
        if browser and not webbrowser.open(address):
            notes.print("no browser was found here: open the page in one", highlight=False)

    with DrivenSet(folder, setting) as driven:
        recorder, already = Recorder(folder), len(driven.names)
        if driven.stale:
            recorder.want()
        command = command_without(("--out", "--port"), ("--open", "--no-open"))
        session = DrivingSession(names, driven.keep, who, keep_failures, time, driven.names, command)
        try:
            serve_driving(session, recorder, str(folder), port, ready)
        except KeyboardInterrupt:
            pass
        finally:
            if recorder.busy:
                notes.print("recording what was kept …", highlight=False)
            trouble = recorder.finish()
        if trouble:
            raise EtudeError(f"what was kept is in {str(folder)!r}, but not all of it in the dataset yet: {trouble}")
        kept = len(driven.names) - already
        where = f"; {plural(len(driven.names), 'demonstration')} in {folder}" if driven.names else ""
        console.print(f"kept {plural(kept, 'demonstration')}{where}", highlight=False, soft_wrap=True)
