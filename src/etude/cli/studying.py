"""The command with which people take part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from etude.cli.app import app, notes


@app.command()
def study(
    task: Annotated[list[str], typer.Option(help="a list of trials such as low, medium or high; repeat for several, one after the other")],
    person: Annotated[str, typer.Option(help="who answers: a name, or better a number")],
    suite: Annotated[str | None, typer.Option(help="one with decisions; the first there is when none is given")] = None,
    trials: Annotated[int, typer.Option(help="of each list")] = 50,
    split: Annotated[str, typer.Option(help="val, train or test")] = "val",
    out: Annotated[Path | None, typer.Option(help="the run's folder; the same command goes on where it stopped")] = None,
    host: Annotated[str, typer.Option(help="127.0.0.1: only this machine can reach it")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free one", min=0, max=65535)] = 8765,
) -> None:
    """Have a person answer trials in a browser; answers and response times become a run like any policy's."""
    from etude.evaluation.plan import make_names
    from etude.names import EtudeError
    from etude.suites.suite import SUITES
    from etude.web.study import Study, serve_study, study_plan

    if trials < 1:
        raise EtudeError(f"--trials must be at least 1, got {trials}")
    name = suite or next(name for name, one in SUITES.items() if one.control == "answer")
    plan = study_plan(person, make_names([name], task, [split], episodes=trials))
    folder = out or Path("runs") / f"{name}-human-{person}-{plan.digest[:8]}"

    def ready(address: str, _: Any) -> None:
        notes.print(f"open {address} in a browser; Ctrl-C ends it, the same command goes on", highlight=False, soft_wrap=True)

    try:
        with Study(plan, folder) as opened:
            serve_study(opened, host, port, ready)
    except KeyboardInterrupt:
        notes.print(f"the answers are in {folder}; look at them with: etude report {folder}", highlight=False, soft_wrap=True)
