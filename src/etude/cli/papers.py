"""The command that plays a paper."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etude.cli.app import app, notes, print_json, say
from etude.cli.evaluating import PLANNER, POLICY, AsJson, ProgressBar, Timeout, Workers
from etude.machine import cores
from etude.names import PROTOCOL, EtudeError, pick

if TYPE_CHECKING:
    from etude.evaluation.result_table import ResultTable
    from etude.papers.concluding import Conclusion
    from etude.papers.filling import FilledTable
    from etude.papers.models import TrainedModel
    from etude.papers.playing import PolicyLine
    from etude.suites.paper import PaperModel, PaperTable


@app.command()
def paper(
    suite: Annotated[str, typer.Argument(help="the suite of the paper")],
    listed: Annotated[bool, typer.Option("--list", help="list its tables and figures, with the command that makes each")] = False,
    models: Annotated[
        Path | None,
        typer.Option(help="folder with the paper's models, retrained here, to evaluate; without --out: list them, and how to train them"),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="only these of --models, such as 'stream-*' or '*-L0'; repeat for several")
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="train those of --models that are not trained yet; repeat the command to resume")
    ] = False,
    at_once: Annotated[int, typer.Option(min=1, help="with --train: how many to train in parallel, each in its own process")] = 1,
    minutes: Annotated[
        float | None, typer.Option(help="with --train: train each for this many minutes instead of its number of steps")
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value to override in the recipes of --models")] = None,
    device: Annotated[
        str,
        typer.Option(
            help="cuda, cpu, or onnx (onnxruntime, on the CPU; to play with), for --models", show_default="cuda where there is one"
        ),
    ] = "",
    policy: Annotated[
        list[str] | None, typer.Option(help=f"{POLICY}; TRAINED=POLICY says what it was trained on; repeat for several")
    ] = None,
    planner: Annotated[
        list[str] | None, typer.Option(help=f"{PLANNER}; TRAINED=PLANNER says what it was trained on; repeat for several")
    ] = None,
    tables: Annotated[list[str] | None, typer.Option(help="only this one: 'Table 2', 'Figure 5', …; repeat for several")] = None,
    task: Annotated[list[str] | None, typer.Option(help="only this task; repeat for several")] = None,
    episodes: Annotated[
        list[str] | None,
        typer.Option(
            help="number of seeds, for everything or, as 'Table 1=100', for one table; repeat for several",
            show_default="as many as in the paper",
        ),
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(help="folder of small files that cache what --models have played: reused without the weights, and added to"),
    ] = None,
    part: Annotated[bool, typer.Option("--part", help="play a fixed part of the episode lists, the same for everybody")] = False,
    whole: Annotated[
        list[str] | None, typer.Option(help="with --part: LINE or LINE:MODE that plays the whole lists; repeat for several")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder for runs and tables; repeat the command to resume")] = None,
    page: Annotated[Path | None, typer.Option(help="the Markdown page of results", show_default="OUT/results.md")] = None,
    shard: Annotated[str | None, typer.Option(help="i/n: only every n-th episode; run without it to merge the finished shards")] = None,
    workers: Workers = 0,
    timeout: Timeout = 600.0,
    as_json: AsJson = False,
) -> None:
    """Reproduce the tables and figures of a paper for a policy, next to the published numbers."""
    from etude.evaluation.run import RunSettings
    from etude.papers.concluding import conclusions
    from etude.papers.filling import filled, write
    from etude.papers.kept import KeptResults
    from etude.papers.models import chosen_models, index, trained_models
    from etude.papers.page import write_pages
    from etude.papers.playing import chosen_tables, episode_counts, in_part, play, tables_of
    from etude.suites.suite import SUITES

    every = tables_of(suite)
    if listed:
        _tell_tables(suite, as_json)
        return
    known: Sequence[PaperModel] = ()
    if models is not None:
        known = chosen_models(suite, model or (), settings or ())
    elif train or model or settings or kept:
        raise EtudeError("--train, --model, --set and --kept are about the paper's models: say with --models FOLDER where they are")
    if models is not None and train:
        _train(suite, known, models, settings or (), device, workers, at_once, minutes)
    elif minutes is not None:
        raise EtudeError("--minutes is how long each of --models is trained: give --train too")
    trained = trained_models(suite, models, known) if models is not None else []
    shelf = KeptResults(kept, suite, known, trained, models) if kept is not None and models is not None else None
    trained = shelf.models if shelf is not None else trained
    if models is not None and out is None:
        _tell_models(suite, index(suite, models, known, trained, shelf.backends() if shelf else None), as_json)
        return
    if not (policy or models) or out is None:
        raise EtudeError("say who plays and where results go: --policy POLICY --out FOLDER; --list shows what there is")
    for name in task or ():
        pick(f"task of {suite}", name, SUITES[suite].tasks)
    chosen, lines = chosen_tables(every, tables or ()), _lines(suite, policy or [], planner or [], models, trained, device, every)
    if shelf is not None:
        shelf.stand({one.model.name: one.address(device) for one in trained})
    if part:
        lines = in_part(lines, chosen, whole or ())
    elif whole:
        raise EtudeError("--whole names who plays lists whole where others play a part: give --part too")
    chosen = tuple(table for table in chosen if any(line.plays(block) for block in table.blocks for line in lines))
    with ProgressBar(out) as shown:
        played = play(
            chosen, lines, out, episodes=episode_counts(episodes or (), every), task=task or (), shard=shard,
            settings=RunSettings(workers, timeout), progress=shown,
            told=_note, shelf=shelf,
        )  # fmt: skip
    runs = [{"policy": who, "mode": mode, "run": str(folder)} for (who, mode), folder in played.folders.items()]
    if shard is not None:
        _tell_shard(suite, shard, out, runs, as_json)
        return
    typed = _typed(
        models=models, model=model, set=settings, policy=policy, planner=planner, tables=tables, task=task, episodes=episodes, kept=kept,
        whole=whole, out=out,
    ) + " --part" * part  # fmt: skip
    found = [filled(table, lines, played) for table in chosen]
    claims = conclusions(SUITES[suite].paper_claims(), lines, played) if models is not None else []
    own = index(suite, models, known, trained, shelf.backends() if shelf else None) if models is not None else None
    results, title = page or out / "results.md", f"{SUITES[suite].title}: the paper's tables"
    files = [*write(found, out / "tables"), *write_pages(results, title, f"etude paper {suite} {typed}", found, claims, own)]
    if as_json:
        print_json({
            "suite": suite, "paper": SUITES[suite].paper, "protocol": PROTOCOL, "policies": policy or [],
            "tables": [one.to_data() for one in found], "conclusions": [one.to_data() for one in claims], "runs": runs,
            "files": [str(path) for path in files],
        })  # fmt: skip
    else:
        _tell_results(found, claims, task or [], out, results)


def _tell_results(found: Sequence[FilledTable], claims: Sequence[Conclusion], task: Sequence[str], out: Path, page: Path) -> None:
    say("\n\n".join(map(str, found)))
    if claims:
        say("\n" + "\n".join(map(str, claims)))
    if task:
        say(f"\nonly {', '.join(task)}: averages are over these tasks")
    say(f"\nruns are in {out}, tables and figures in {out / 'tables'}, the page of results is {page}")


def _tell_tables(suite: str, as_json: bool) -> None:
    from etude.papers.listing import listing
    from etude.suites.suite import SUITES

    found, about = listing(suite), SUITES[suite].paper
    if as_json:
        print_json({"suite": suite, "paper": about, "tables": list(found.rows)})
    else:
        say(f"{about}\n{found}")


def _note(text: str) -> None:
    notes.print(text, highlight=False, soft_wrap=True, markup=False)


def _train(
    suite: str,
    known: Sequence[PaperModel],
    models: Path,
    settings: Sequence[str],
    device: str,
    workers: int,
    at_once: int,
    minutes: float | None,
) -> None:
    try:
        from etude.learn.inference import device_named
        from etude.papers.training import ModelTraining
    except ModuleNotFoundError as error:
        raise EtudeError(f"training needs {error.name!r}, which is not installed: pip install 'etude[learn]'") from None

    training = ModelTraining(suite, models, device_named(device), workers or cores(), tuple(settings), _note, minutes)
    if at_once == 1:
        training.train(known)
    else:
        training.train_at_once(known, at_once)


def _tell_models(suite: str, found: ResultTable, as_json: bool) -> None:
    if as_json:
        print_json({"suite": suite, "models": list(found.rows)})
    else:
        say(found)


def _tell_shard(suite: str, shard: str, out: Path, runs: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        print_json({"suite": suite, "shard": shard, "runs": runs})
    else:
        say(f"shard {shard} is in {out}; when all are there, the command without --shard joins them")


def _lines(
    suite: str,
    policies: list[str],
    planners: list[str],
    models: Path | None,
    trained: Sequence[TrainedModel],
    device: str,
    tables: Sequence[PaperTable],
) -> list[PolicyLine]:
    """Who stands in the tables: the paper's models first, then those who are given."""
    from etude.papers.models import model_lines, model_planners
    from etude.papers.playing import planners_given, policy_lines

    speaking = planners_given(planners, tables)
    given = policy_lines(policies, tables, speaking or model_planners(trained))
    if models is None:
        return given
    if not (trained or given):
        raise EtudeError(f"{models} has none of the paper's models; etude paper {suite} --models {models} tells how they are trained")
    return [*model_lines(trained, device, speaking), *given]


def _typed(**options: object) -> str:
    """Options as they are typed."""
    words: list[str] = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [] if one is None else [f"--{name}", shlex.quote(str(one))]
    return " ".join(words)
