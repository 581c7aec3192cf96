"""The command with which a person drives the robot."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, command_without, console, notes
from etude.cli.evaluating import Difficulties, FirstSeed, Options, Perturbations, pairs
from etude.cli.recording import recorded_size
from etude.names import EtudeError


@app.command()
def drive(
    what: Annotated[list[str], typer.Argument(metavar="EPISODE…", help="SUITE/TASK@SPLIT#SEED, SUITE/TASK@SPLIT, a suite or a list")],
    out: Annotated[
        Path | None, typer.Option(help="the data set's folder, which the same command extends; data/SUITE-human if not given")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="seeds of each task; of a list, the first so many", show_default="20")] = None,
    first_seed: FirstSeed = None,
    difficulty: Difficulties = None,
    perturb: Perturbations = None,
    option: Options = None,
    camera: Annotated[list[str] | None, typer.Option(help="a name, or NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV; all but render if none")] = None,
    size: Annotated[str | None, typer.Option(help="of the pictures: 128, or WIDTHxHEIGHT; the suite's own if not given")] = None,
    person: Annotated[str, typer.Option(help="who drives, as the data set shall say it: a name, or better a number")] = "",
    keep_failures: Annotated[bool, typer.Option("--keep-failures", help="what has not succeeded may be kept too")] = False,
    time: Annotated[float, typer.Option(help="people have so many times the horizon of an episode", min=1.0, max=100.0)] = 3.0,
    allow_test: Annotated[bool, typer.Option("--allow-test", help="although the split is for testing; the data set says so")] = False,
    port: Annotated[int, typer.Option(help="of this machine; 0: any free one", min=0, max=65535)] = 8766,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="show the page in a browser")] = True,
) -> None:  # fmt: skip
    """Drive the robot by keyboard or gamepad, in the browser; what you keep becomes a data set of demonstrations."""
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
        notes.print(f"drive at {address} in a browser; Ctrl-C ends it, the same command goes on", highlight=False, soft_wrap=True)
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
            raise EtudeError(f"what was kept is in {str(folder)!r}, but not all of it in the data set yet: {trouble}")
        kept = len(driven.names) - already
        where = f"; {plural(len(driven.names), 'demonstration')} in {folder}" if driven.names else ""
        console.print(f"kept {plural(kept, 'demonstration')}{where}", highlight=False, soft_wrap=True)
