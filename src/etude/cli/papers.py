"""The command that plays a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, notes, print_json, say
from etude.cli.evaluating import PLANNER, POLICY, AsJson, ProgressBar, Timeout, Workers
from etude.names import PROTOCOL, EtudeError, pick


@app.command()
def paper(
    suite: Annotated[str, typer.Argument(help="the suite whose paper it is")],
    listed: Annotated[bool, typer.Option("--list", help="show tables and figures, and which command makes each")] = False,
    policy: Annotated[list[str] | None, typer.Option(help=f"{POLICY}; TRAINED=POLICY says what it was trained on; repeat")] = None,
    planner: Annotated[str | None, typer.Option(help=PLANNER)] = None,
    tables: Annotated[list[str] | None, typer.Option(help="Table 2, Figure 5, …; repeat for several; all when none is given")] = None,
    task: Annotated[list[str] | None, typer.Option(help="leave all other tasks out; repeat for several")] = None,
    episodes: Annotated[int | None, typer.Option(help="seeds of everything", show_default="as many as in the paper")] = None,
    out: Annotated[Path | None, typer.Option(help="a folder for runs and tables; the same command goes on where it stopped")] = None,
    workers: Workers = 0,
    timeout: Timeout = 600.0,
    as_json: AsJson = False,
) -> None:
    """Play everything a paper asks of a policy, and lay out its tables and figures beside the published numbers."""
    from etude.evaluation.run import RunSettings
    from etude.papers.filling import filled, write
    from etude.papers.listing import listing
    from etude.papers.playing import chosen_tables, play, policy_lines, tables_of
    from etude.suites.suite import SUITES

    every = tables_of(suite)
    if listed:
        if as_json:
            print_json({"suite": suite, "paper": SUITES[suite].paper, "tables": list(listing(suite).rows)})
        else:
            say(f"{SUITES[suite].paper}\n{listing(suite)}")
        return
    if not policy or out is None:
        raise EtudeError("say who plays and where results go: --policy POLICY --out FOLDER; --list shows what there is")
    for name in task or ():
        pick(f"task of {suite}", name, SUITES[suite].tasks)
    chosen, lines = chosen_tables(every, tables or ()), policy_lines(policy, every)
    with ProgressBar(out) as shown:
        played = play(
            chosen, lines, out, planner=planner, episodes=episodes, task=task or (), settings=RunSettings(workers, timeout),
            progress=shown, told=lambda text: notes.print(text, highlight=False, soft_wrap=True, markup=False),
        )  # fmt: skip
    found = [filled(table, lines, played) for table in chosen]
    files = write(found, out / "tables")
    if as_json:
        print_json({
            "suite": suite, "paper": SUITES[suite].paper, "protocol": PROTOCOL, "policies": policy,
            "tables": [
                {"number": one.table.number, "title": one.table.title, "columns": list(one.table.columns),
                 "lines": [
                     {"block": line.block, "who": line.who, "row": line.row, "values": list(line.values), "episodes": line.episodes}
                     for line in one.lines
                 ], "notes": list(one.notes)}
                for one in found
            ],
            "runs": [{"policy": who, "condition": key, "run": str(folder)} for (who, key), folder in played.folders.items()],
            "files": [str(path) for path in files],
        })  # fmt: skip
        return
    say("\n\n".join(map(str, found)))
    if task:
        say(f"\nonly {', '.join(task)}: averages are over these tasks")
    say(f"\nruns are in {out}, tables and figures in {out / 'tables'}")
