"""The command with which a person drives the robot."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, console, notes, read_size
from etude.cli.evaluating import Difficulties, FirstSeed, Options, Perturbations, pairs
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

    if person and any(not (c.isalnum() or c in "-_.") for c in person):
        raise EtudeError(f"--person {person!r} must be a name of letters, digits, '-', '_' and '.'")
    names = choose(
        what, episodes=episodes, first_seed=first_seed, difficulty=difficulty or (), perturb=perturb or (), options=pairs(option),
        control=not perturb, purpose="training",
    )  # fmt: skip
    if not allow_test:
        refuse_tests(names)
    first = drivable(names[0])
    folder = out or Path("data") / f"{first.parsed.suite}-{'-'.join(('human', *filter(None, [person])))}"
    setting = agreed_setting(folder, names, camera or (), read_size(size) if size is not None else None)

    def ready(address: str) -> None:
        notes.print(f"drive at {address} in a browser; Ctrl-C ends it, the same command goes on", highlight=False, soft_wrap=True)
        if browser and not webbrowser.open(address):
            notes.print("no browser was found here: open the page in one", highlight=False)

    with DrivenSet(folder, setting) as driven:
        recorder, already = Recorder(folder), len(driven.names)
        if driven.stale:
            recorder.want()
        session = DrivingSession(
            names, driven.keep, f"human:{person}" if person else "human", keep_failures, time, driven.names, _command(),
        )  # fmt: skip
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


def _command() -> str:
    """The command, without what cannot change what is recorded."""
    kept, given = ["etude"], iter(sys.argv[1:])
    for word in given:
        name, sign, _ = word.partition("=")
        if name in ("--out", "--port"):
            if not sign:
                next(given, None)
        elif name not in ("--open", "--no-open"):
            kept.append(word)
    return shlex.join(kept)
