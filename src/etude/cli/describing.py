"""The command that describes a suite or a data set in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from etude.cli.app import app, console, given, print_json, refuse_place, say
from etude.names import EtudeError

if TYPE_CHECKING:
    from etude.datasets.describing import Description

EPISODES = 5


@app.command()
def describe(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="SUITE|DATASET", help="a suite, or the folder of a data set made by 'etude demos'")],
    task: Annotated[list[str] | None, typer.Option(help="of a suite; repeat for several, all when none is given")] = None,
    split: Annotated[str | None, typer.Option(help="of a suite; the one for training if not given")] = None,
    episodes: Annotated[int, typer.Option(help="of each task of a suite, that are drawn and played")] = EPISODES,
    no_play: Annotated[bool, typer.Option("--no-play", help="only draw them: no lengths, solvers and actions")] = False,
    tokenizer: Annotated[str | None, typer.Option(help="count tokens too: built-in, or the folder or file of a tokenizer")] = None,
    out: Annotated[Path | None, typer.Option(help="write the datasheet into this file (Markdown)")] = None,
    workers: Annotated[int, typer.Option(help="processes; 0: as many as there are cores")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Describe a suite or a data set: lengths, solvers, actions, instructions, what is covered; as a datasheet."""
    from etude.datasets.datasheet import datasheet

    if out is not None:
        refuse_place("--out", out)
    folder = Path(what)
    if folder.is_dir():
        for idle in given(context, "task", "split", "episodes", "no_play", "workers"):
            raise EtudeError(f"{idle} is for suites; {what!r} is a data set, which is described as it is")
        found = _dataset(folder, tokenizer or "")
    else:
        found = _suite(what, task or [], split, episodes, no_play, tokenizer or "", workers)
    page = datasheet(found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8")
    if as_json:
        print_json(found.to_data())
    elif out is None:
        say(page)
    else:
        console.print(f"the datasheet of {found.episodes} episodes is in {out}", highlight=False, soft_wrap=True)


def _dataset(folder: Path, tokenizer: str) -> Description:
    from etude.datasets.demos import FACTS, read_facts
    from etude.datasets.described_episodes import dataset_facts
    from etude.datasets.describing import describe as count

    about: dict[str, Any] = {}
    if (folder / FACTS).exists():
        made = read_facts(folder)
        about = {key: made.get(key) for key in ("command", "policy", "protocol", "renderer", "cameras", "size", "robot")}
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
