"""The command that plays a paper."""

from __future__ import annotations

import shlex
from dataclasses import asdict
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
    models: Annotated[
        Path | None,
        typer.Option(
            help="a folder with the paper's models, trained here, who play; without --out, what there is and how to train the rest"
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cuda or cpu, for --models", show_default="cuda where there is one")] = "",
    policy: Annotated[list[str] | None, typer.Option(help=f"{POLICY}; TRAINED=POLICY says what it was trained on; repeat")] = None,
    planner: Annotated[str | None, typer.Option(help=PLANNER)] = None,
    tables: Annotated[list[str] | None, typer.Option(help="Table 2, Figure 5, …; repeat for several; all when none is given")] = None,
    task: Annotated[list[str] | None, typer.Option(help="leave all other tasks out; repeat for several")] = None,
    episodes: Annotated[
        list[str] | None,
        typer.Option(help="seeds of everything, or 'Table 1=100' of a table's; repeat", show_default="as many as in the paper"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="a folder for runs and tables; the same command goes on where it stopped")] = None,
    page: Annotated[Path | None, typer.Option(help="the page of results", show_default="OUT/results.md")] = None,
    shard: Annotated[str | None, typer.Option(help="i/n: only every n-th episode; without it, shards that are there are joined")] = None,
    workers: Workers = 0,
    timeout: Timeout = 600.0,
    as_json: AsJson = False,
) -> None:
    """Play everything a paper asks of a policy, and lay out its tables and figures beside the published numbers."""
    from etude.evaluation.run import RunSettings
    from etude.papers.concluding import conclusions
    from etude.papers.filling import filled, write
    from etude.papers.listing import listing
    from etude.papers.models import index, model_lines, trained_models
    from etude.papers.page import write_pages
    from etude.papers.playing import chosen_tables, episode_counts, play, policy_lines, tables_of
    from etude.suites.suite import SUITES

    every = tables_of(suite)
    if listed:
        if as_json:
            print_json({"suite": suite, "paper": SUITES[suite].paper, "tables": list(listing(suite).rows)})
        else:
            say(f"{SUITES[suite].paper}\n{listing(suite)}")
        return
    if models is not None and out is None:
        known = index(suite, models)
        if as_json:
            print_json({"suite": suite, "models": list(known.rows)})
        else:
            say(str(known))
        return
    if not (policy or models) or out is None:
        raise EtudeError("say who plays and where results go: --policy POLICY --out FOLDER; --list shows what there is")
    for name in task or ():
        pick(f"task of {suite}", name, SUITES[suite].tasks)
    chosen, lines = chosen_tables(every, tables or ()), policy_lines(policy or (), every)
    if models is not None:
        trained = trained_models(suite, models)
        if not trained and not policy:
            raise EtudeError(f"{models} has none of the paper's models; etude paper {suite} --models {models} tells how they are trained")
        lines = [*model_lines(trained, device), *lines]
    chosen = tuple(table for table in chosen if any(line.plays(block) for block in table.blocks for line in lines))
    with ProgressBar(out) as shown:
        played = play(
            chosen, lines, out, planner=planner, episodes=episode_counts(episodes or (), every), task=task or (), shard=shard,
            settings=RunSettings(workers, timeout), progress=shown,
            told=lambda text: notes.print(text, highlight=False, soft_wrap=True, markup=False),
        )  # fmt: skip
    runs = [{"policy": who, "mode": mode, "run": str(folder)} for (who, mode), folder in played.folders.items()]
    if shard is not None:
        if as_json:
            print_json({"suite": suite, "shard": shard, "runs": runs})
        else:
            say(f"shard {shard} is in {out}; when all are there, the command without --shard joins them")
        return
    found = [filled(table, lines, played) for table in chosen]
    claims = conclusions(SUITES[suite].paper_claims(), lines, played) if models is not None else []
    command = " ".join(
        [
            "etude",
            "paper",
            suite,
            *_said(models=models, policy=policy, planner=planner, tables=tables, task=task, episodes=episodes, out=out),
        ]
    )
    files = write(found, out / "tables")
    own = index(suite, models) if models is not None else None
    files += write_pages(page or out / "results.md", f"{SUITES[suite].title}: the paper's tables", command, found, claims, own)
    if as_json:
        print_json({
            "suite": suite, "paper": SUITES[suite].paper, "protocol": PROTOCOL, "policies": policy or [],
            "tables": [
                {"number": one.table.number, "title": one.table.title, "columns": list(one.table.columns),
                 "lines": [
                     {"block": line.block, "who": line.who, "row": line.row, "values": list(line.values), "episodes": line.episodes,
                      "intervals": list(line.intervals)}
                     for line in one.lines
                 ], "notes": list(one.notes)}
                for one in found
            ],
            "conclusions": [
                {"name": one.claim.name, "section": one.claim.section, "says": one.claim.says, "verdict": one.verdict, "models": one.models,
                 "effect": None if one.effect is None else asdict(one.effect)}
                for one in claims
            ],
            "runs": runs,
            "files": [str(path) for path in files],
        })  # fmt: skip
        return
    say("\n\n".join(map(str, found)))
    if claims:
        say("\n" + "\n".join(map(str, claims)))
    if task:
        say(f"\nonly {', '.join(task)}: averages are over these tasks")
    say(f"\nruns are in {out}, tables and figures in {out / 'tables'}, the page of results is {page or out / 'results.md'}")


def _said(**options: object) -> list[str]:
    """Options as they are typed."""
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [] if one is None else [f"--{name}", shlex.quote(str(one))]
    return words
