"""The command that writes trials for others to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import app, console, print_json
from etude.cli.evaluating import Graph, Options, refuse_choices, with_graph
from etude.names import EpisodeName, EtudeError, pick


@app.command()
def export(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="a new folder for the files")],
    suite: Annotated[
        list[str] | None, typer.Option(help="a suite with decisions; with --form questions, one whose planners are asked about frames")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="only this task; repeat for several")] = None,
    split: Annotated[list[str] | None, typer.Option(help="repeat for several (default: the training split)")] = None,
    episodes: Annotated[int, typer.Option(help="seeds of each task")] = 100,
    first_seed: Annotated[int, typer.Option(help="the first seed")] = 0,
    plan_file: Annotated[Path | None, typer.Option("--plan", help="a file with an episode list: plan.json, or one name per line")] = None,
    option: Options = None,
    graph: Graph = None,
    form: Annotated[
        str,
        typer.Option(
            help="jsonl: JSON lines and PNG files; parquet: for Hugging Face (extra 'parquet'); questions: demonstrations, for planners"
        ),
    ] = "jsonl",
    size: Annotated[int | None, typer.Option(help="width and height of the frames, in pixels (default: 224; 256 for questions)")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Export decision trials with frames and right answers, or demonstrations as questions for planners."""
    from etude.datasets import decisions, questions
    from etude.decisions.showing import PIXELS
    from etude.evaluation.plan import make_names, read_names
    from etude.library import find_task
    from etude.suites.suite import SUITES

    pick("form of export", form, {f: f for f in ("jsonl", "parquet", "questions")})
    asking = form == "questions"
    if (plan_file is None) == (not suite):
        raise EtudeError("say what to export: either --suite NAME or --plan FILE")
    if size is None:
        size = questions.PIXELS if asking else PIXELS
    if not 16 <= size <= 4096:
        raise EtudeError(f"--size must be from 16 to 4096 pixels, got {size}")
    if plan_file is not None:
        refuse_choices(context)
        names = read_names(plan_file)
    else:
        tasks, options = with_graph(suite, task, option, graph)
        names = make_names(
            suite or (), tasks, split or (), options=options, episodes=episodes, first_seed=first_seed, purpose="training"
        )  # fmt: skip
    if asking:
        done = questions.export(names, out, size)
        if as_json:
            counts = {"questions": done.questions, "files": done.files, "unsolved": list(done.unsolved)}
            print_json({"folder": str(out), "form": form, "episodes": len(names), **counts})
            return
        left = f"; the oracle did not solve {', '.join(done.unsolved)}" if done.unsolved else ""
        console.print(f"{done.questions} questions in {done.files} files are in {out}{left}", highlight=False, soft_wrap=True)
        return
    for task_of in (find_task(EpisodeName.parse(name)) for name in names):
        if task_of.control != "answer":
            asks = bool(SUITES[task_of.suite].asked_every)
            instead = "its form is --form questions" if asks else "'etude demos' records demonstrations of robots"
            raise EtudeError(f"{task_of.suite} has no decisions to write as {form!r}; {instead}")
    files = decisions.export(names, out, form, size)
    if as_json:
        print_json({"folder": str(out), "form": form, "trials": len(names), "files": files})
        return
    console.print(f"{len(names)} trials in {files} files are in {out}", highlight=False, soft_wrap=True)
