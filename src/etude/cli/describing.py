"""The command that describes a suite or a dataset in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from etude.cli.app import app, console, given, print_json, refuse_place, say
from etude.names import EtudeError

if TYPE_CHECKING:
    from etude.datasets.describing import Description

EPISODES = 5
KEPT = ("command", "policy", "protocol", "renderer", "cameras", "size", "robot", "recoveries", "unsolved")  # of what a set says of itself


@app.command()
def describe(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="SUITE|DATASET", help="a suite, or the folder of a dataset made by 'etude demos'")],
    task: Annotated[list[str] | None, typer.Option(help="only this task of a suite; repeat for several")] = None,
    split: Annotated[str | None, typer.Option(help="split of a suite (default: the training split)")] = None,
    episodes: Annotated[int, typer.Option(help="episodes of each task of a suite to sample and play")] = EPISODES,
    no_play: Annotated[bool, typer.Option("--no-play", help="only sample them: no lengths, solvers and actions")] = False,
    tokenizer: Annotated[str | None, typer.Option(help="also count tokens, with this tokenizer: 'built-in', a folder or a file")] = None,
    out: Annotated[Path | None, typer.Option(help="write the datasheet to this Markdown file, its figures (SVG) next to it")] = None,
    workers: Annotated[int, typer.Option(help="worker processes; 0: one per core")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Write a datasheet of a suite or a dataset: episode lengths, solvers, actions, instructions, coverage."""
    from etude.datasets.datasheet import datasheet
    from etude.evaluation.tables import plural

    if out is not None:
        refuse_place("--out", out)
    folder = Path(what)
    if folder.is_dir():
        for idle in given(context, "task", "split", "episodes", "no_play", "workers"):
            raise EtudeError(f"{idle} is for suites; {what!r} is a dataset, which is described as it is")
        found = _dataset(folder, tokenizer or "")
    else:
        found = _suite(what, task or [], split, episodes, no_play, tokenizer or "", workers)
    figures: dict[str, str] = {}
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        figures = _drawn(found, out)
    page = datasheet(found, figures)
    if out is not None:
        out.write_text(page, encoding="utf-8")
    if as_json:
        print_json(found.to_data())
    elif out is None:
        say(page)
    else:
        beside = f", with {plural(len(figures), 'figure')} beside it" if figures else ""
        console.print(f"the datasheet of {plural(found.episodes, 'episode')} is in {out}{beside}", highlight=False, soft_wrap=True)


def _drawn(found: Description, page: Path) -> dict[str, str]:
    """Figures beside the page, by what they show: lengths and solvers by level, actions of each task (ClevrSkills, Figures 3, 8)."""
    from etude.evaluation.tables import plural
    from etude.report.plots import bars, courses

    drawings: dict[str, tuple[str, str]] = {}
    lengths = [(one.name, one.length.median) for one in found.levels if one.length is not None]
    solvers = [(one.name, one.solvers.mean) for one in found.levels if one.solvers is not None]
    for name, title, unit, rows in (
        ("lengths", "Length of an episode by level", "median", lengths), ("solvers", "Solvers in an episode by level", "mean", solvers)
    ):  # fmt: skip
        if rows:
            drawings[title] = name, bars(title, unit, rows)
    for one in found.actions:
        if one.courses is not None:
            title = f"Actions of {one.task}, {one.control}: {plural(len(one.courses), 'episode')} from beginning to end"
            numbers = [f"number {k}, coverage {100 * v:.0f} %" for k, v in enumerate(one.coverage)]
            drawings[title] = f"actions-{one.task.replace('/', '-')}-{one.control}", courses(title, numbers, one.courses)
    figures = {}
    for title, (name, drawing) in drawings.items():
        path = page.with_name(f"{page.stem}-{name}.svg")
        path.write_text(drawing, encoding="utf-8")
        figures[title] = path.name
    return figures


def _dataset(folder: Path, tokenizer: str) -> Description:
    from etude.datasets.demos import FACTS, read_facts
    from etude.datasets.described_episodes import dataset_facts
    from etude.datasets.describing import describe as count

    about: dict[str, Any] = {}
    if (folder / FACTS).exists():
        made = read_facts(folder)
        about = {key: made.get(key) for key in KEPT}
    return count(str(folder), "dataset", dataset_facts(folder), tokenizer, about)


def _suite(name: str, tasks: list[str], split: str | None, episodes: int, no_play: bool, tokenizer: str, workers: int) -> Description:
    from etude.datasets.described_episodes import suite_facts
    from etude.datasets.describing import describe as count
    from etude.datasets.describing import find_tokenizer
    from etude.evaluation.choosing import choose
    from etude.machine import cores
    from etude.suites.suite import SUITES

    try:
        suite = SUITES[name]
    except EtudeError as error:
        raise EtudeError(f"there is no folder {name!r}; taken as a suite: {error}") from None
    if tokenizer:
        find_tokenizer(tokenizer)  # before anything is played
    names = choose(name, purpose="training", task=tasks, split=[split] if split else [], episodes=episodes)
    drawn = f"{episodes} episodes of each task" + ("" if no_play else ", played by the oracle")
    about = {"title": suite.title, "paper": suite.paper, "splits": dict(suite.splits), "described": drawn}
    return count(name, "suite", suite_facts(names, not no_play, workers or cores()), tokenizer, about)
