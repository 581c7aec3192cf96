"""Commands that read runs: the report, and one run against another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etude.cli.app import Private, Push, app, console, escape, given, notes, print_json, say
from etude.names import EtudeError

if TYPE_CHECKING:
    from etude.evaluation.store import Run


@app.command()
def report(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="run folders; several are shown side by side")],
    out: Annotated[
        Path | None, typer.Option(help="the HTML page (default: report.html, in the run's folder if there is only one run)")
    ] = None,
    article: Annotated[
        bool,
        typer.Option("--article", help="write the results section of a paper about the first run, compared with the others (article.html)"),
    ] = False,
    export: Annotated[Path | None, typer.Option(help="folder for all tables as CSV, JSON, Markdown and LaTeX")] = None,
    audit: Annotated[list[Path] | None, typer.Option(help="folder with audits: shows the best cheat next to each score")] = None,
    views: Annotated[int, typer.Option(help="number of recorded episodes to embed as 3D views, failures first")] = 12,
    films: Annotated[int, typer.Option(help="number of videos to embed at most; all videos are linked")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Report the results of runs: a table in the terminal and a self-contained HTML page."""
    from etude.evaluation.store import read_run
    from etude.evaluation.tables import odd_returns
    from etude.report.article import write_article
    from etude.report.audits import committed
    from etude.report.evaluation import write_report
    from etude.report.exports import collect
    from etude.report.exports import export as write_tables

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise EtudeError(f"--out {str(out)!r} must end in .html")
    for option, count in (("--views", views), ("--films", films)):
        if count < 0:
            raise EtudeError(f"{option} must not be negative, got {count}; 0 puts none into the page")
    for idle in given(context, "views", "films") if article else ():
        raise EtudeError(f"{idle} is for the report: an article has words and tables")
    found = [read_run(folder) for folder in runs]
    name = "article.html" if article else "report.html"
    page = out or (runs[0] / name if len(runs) == 1 else Path(name))
    if article:
        write_article(found, page, audits=audit or committed())
    else:
        write_report(found, page, views, films, audits=audit or committed())
    written = write_tables(collect(found), export) if export is not None else []
    if as_json:
        print_json({
            "page": str(page), "tables": [str(p) for p in written],
            "runs": [
                {"run": str(r.folder), "policy": r.plan.policy, "planner": r.plan.planner, "missing": len(r.missing),
                 "mixed": r.mixed, "judged": r.judged, "groups": list(r.table().rows)}
                for r in found
            ],
        })  # fmt: skip
        return
    for run in found:
        title = f"{run.plan.policy}" + (f" with {run.plan.planner}" if run.plan.planner else "")
        missing = f"  ({len(run.missing)} episodes still missing)" if run.missing else ""
        console.print(f"[bold]{title}[/]  {run.folder}{missing}", highlight=False, soft_wrap=True)
        _warn(run)
        say(f"{run.table()}\n")
    if note := odd_returns([record for run in found for record in run.records]):
        say(note)
    console.print(f"wrote {page}" + (f" and {len(written)} tables in {export}" if written else ""), highlight=False, soft_wrap=True)


@app.command()
def compare(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B")],
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Say whether two runs differ significantly, on the episodes they share."""
    from etude import api
    from etude.evaluation.inference import anytime
    from etude.evaluation.pairs import changed_episodes, paired_records
    from etude.evaluation.recovery import recoveries

    found = api.compare(run_a, run_b)
    a, b = found.runs
    changed = changed_episodes(a.records, b.records)
    early = anytime((x.success, y.success) for x, y in paired_records(a.records, b.records))
    recovered = {name: recoveries(run.records) for name, run in zip((found.name_a, found.name_b), (a, b), strict=True)}
    if as_json:
        rows = found.table().rows
        print_json({
            "a": found.name_a, "b": found.name_b, "overall": rows[0], "tasks": rows[1:],
            "changed": changed, "mixed": [run.mixed for run in (a, b) if run.mixed],
            "judged": [run.judged for run in (a, b) if run.judged],
            "recovery": {name: [one.to_data() for one in members.values()] for name, members in recovered.items()},
            "anytime": {"e_value": early.e_value, "p_value": early.p_value, "decided_at": early.decided_at},
        })  # fmt: skip
        return
    say(found.table())
    say(found.verdict)
    for name, members in recovered.items():
        for what, one in members.items():
            say(f"{name} under {what}: {one}.")
    if out := found.left_out:
        say(f"Left out: {', '.join(out)}.")
    if changed:
        console.print(
            f"[bold red]changed:[/] {escape(changed[0])} is not the same episode in both runs: made by other versions, or edited since.",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    for run in (a, b):
        _warn(run)
    if early.decided_at is not None:
        console.print(f"Looking after every pair, one could have stopped after {early.decided_at} of them.", highlight=False)


@app.command()
def plan(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN_A RUN_B]", help="two runs from which to estimate how correlated paired outcomes are"),
    ] = None,
    difference: Annotated[float, typer.Option(help="the difference to detect, in percentage points of success; negative for a loss")] = 5.0,
    baseline: Annotated[float | None, typer.Option(help="the success rate to compare with, in per cent (default: RUN_B's)")] = None,
    power: Annotated[float, typer.Option(help="the probability of detecting the difference")] = 0.8,
    level: Annotated[float, typer.Option(help="the significance level")] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Power analysis: how many episodes it takes to detect a difference between two policies."""
    from etude import api
    from etude.evaluation.needed import episodes_needed

    if runs and len(runs) != 2:
        raise EtudeError(f"outcomes of two runs tell how alike they are; got {len(runs)}")
    for option, value in (("--difference", difference), ("--baseline", baseline or 0.0)):
        if 0 < abs(value) < 1 and not as_json:
            notes.print(f"{option} {value:g} is read as {value:g} %: rates are in per cent", style="dim", highlight=False)
    known = api.compare(*runs).overall.difference.table if runs else None
    found = episodes_needed(difference / 100, None if baseline is None else baseline / 100, power, level, known)
    if as_json:
        print_json(found.to_data())
        return
    say(found.table())
    say(str(found))
    if found.note:
        say(found.note)


def _warn(run: Run) -> None:
    """Say that results of a run are mixed, where they are."""
    if run.judged:
        console.print(f"[bold]judged:[/] {escape(run.judged)}", highlight=False, soft_wrap=True)
    if run.mixed:
        console.print(f"[bold red]mixed:[/] {escape(run.mixed)}", highlight=False, soft_wrap=True)


@app.command()
def board(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="run folders; the first one defines the episodes of the board")],
    out: Annotated[Path, typer.Option(help="folder for the HTML pages")],
    title: Annotated[str, typer.Option(help="title of the page")] = "Leaderboard",
    replay: Annotated[int, typer.Option(help="episodes per row to replay from their recorded actions", min=0)] = 5,
    push: Push = None,
    private: Private = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Make a leaderboard: static HTML pages of runs on the same episodes. Digests are checked; runs that do not match are refused."""
    from etude.evaluation.store import read_run
    from etude.evaluation.tables import plural
    from etude.integrations.hub import hub_repository
    from etude.report.board import PAGES, refuse_foreign_card, write_board
    from etude.report.board import board as make_board

    there = hub_repository(push, "space", private)
    if there is not None:
        refuse_foreign_card(out)
    found = make_board(
        [read_run(folder) for folder in runs], lambda text: notes.print(f"  {text}", style="dim", highlight=False, soft_wrap=True), replay
    )
    files = write_board(found, out, title, "" if there is None else there.name)
    address = None
    if there is not None:
        address = there.push(out, f"A board of {plural(len(found.rows), 'row')} by etude", only=files, ours=[PAGES])
    if as_json:
        print_json({"page": str(out / "index.html"), **found.to_data(), **({} if address is None else {"pushed": address})})
    else:
        for row in found.rows:
            say(f"{100 * row.tally.rate:5.1f} %  {row.run.plan.policy}  {row.mode}  {row.proof}  {row.run.folder}")
        for folder, reason in found.refused:
            console.print(f"[red]refused[/] {escape(folder)}: {escape(reason)}", highlight=False, soft_wrap=True)
        console.print(f"wrote {out / 'index.html'}", highlight=False, soft_wrap=True)
        if address is not None:
            console.print(f"pushed to {address}", highlight=False, soft_wrap=True)
    if found.refused:
        raise typer.Exit(1)


@app.command()
def salt(path: Annotated[Path, typer.Argument(metavar="FILE", help="the file with the salt; created if it does not exist")]) -> None:
    """Make a secret salt for private seeds, or show its digest. Use: ETUDE_SALT=FILE etude evaluate --option salt=DIGEST."""
    from etude.salt import VARIABLE, make_salt, read_salt, salt_digest

    if not path.exists():
        make_salt(path)
    say(f"{VARIABLE}={path} etude evaluate --option salt={salt_digest(read_salt(path))} …")
