"""The command with which people take part."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from etude.cli.app import app, notes
from etude.cli.evaluating import Graph, Options, with_graph


@app.command()
def study(
    person: Annotated[list[str], typer.Option(help="participant: a name, or better a number; repeat for several at once")],
    task: Annotated[
        list[str] | None,
        typer.Option(help="a list of trials such as low, medium or high; repeat for several, in order"),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="a suite with decisions (default: the first one)")] = None,
    trials: Annotated[int, typer.Option(help="number of trials of each list")] = 50,
    first_seed: Annotated[int, typer.Option(help="the first seed")] = 0,
    split: Annotated[str, typer.Option(help="val, train or test")] = "val",
    option: Options = None,
    graph: Graph = None,
    practice: Annotated[int, typer.Option(help="practice trials of each list, with feedback; not recorded", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="the run's folder, with a sub-folder for each of several participants; repeat the command to resume")
    ] = None,
    host: Annotated[str, typer.Option(help="interface to bind; 127.0.0.1: this machine only")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port; 0: any free one", min=0, max=65535)] = 8765,
) -> None:
    """Human study: people answer trials in a browser; answers and response times are stored as runs."""
    from etude.evaluation.plan import make_names
    from etude.names import EtudeError, repeated
    from etude.suites.suite import SUITES
    from etude.web.study import Study, serve_studies, study_plan

    if trials < 1:
        raise EtudeError(f"--trials must be at least 1, got {trials}")
    if (twice := repeated(person)) is not None:
        raise EtudeError(f"--person {twice} is given twice")
    name = suite or next(name for name, one in SUITES.items() if one.control == "answer")
    lists, options = with_graph([name], task, option, graph)
    if not lists:
        raise EtudeError("say which trials: --task NAME, or --graph FILE")

    def names(count: int, part: str) -> tuple[str, ...]:
        return tuple(n for one in lists for n in make_names([name], [one], [part], options=options, episodes=count, first_seed=first_seed))

    training = next((s for s, purpose in SUITES[name].splits.items() if purpose == "training" and s != split), split)
    before = names(practice, training) if practice else ()
    plans = [study_plan(one, names(trials, split)) for one in person]
    folders = [
        (out / who if len(person) > 1 else out) if out else Path("runs") / f"{name}-human-{who}-{plan.digest[:8]}"
        for who, plan in zip(person, plans, strict=True)
    ]

    def ready(address: str, _: Any) -> None:
        for who in person:
            where = f"{address}{who}/" if len(person) > 1 else address
            notes.print(f"open {where} in a browser; Ctrl-C ends it, repeat the command to resume", highlight=False, soft_wrap=True)

    with ExitStack() as opened:
        studies = {who: opened.enter_context(Study(plan, folder, before)) for who, plan, folder in zip(person, plans, folders, strict=True)}
        try:
            serve_studies(studies, host, port, ready)
        except KeyboardInterrupt:
            where = " ".join(map(str, folders))
            notes.print(f"the answers are in {where}; look at them with: etude report {where}", highlight=False, soft_wrap=True)
