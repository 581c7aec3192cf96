"""The command that opens a world to walk around in."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from etude.cli.app import app, console, given, notes, print_json, refuse_place
from etude.cli.evaluating import MODE, PLANNER, POLICY
from etude.names import EpisodeName, EtudeError, whole_number


@app.command()
def view(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="EPISODE|RUN|DATASET", help="SUITE/TASK@SPLIT#SEED, or the folder of a run or a dataset")],
    out: Annotated[Path, typer.Option(help="the self-contained HTML page; for an episode also an animated model, .glb (glTF)")] = Path(
        "out/view.html"
    ),
    policy: Annotated[str, typer.Option(help=f"for an episode: {POLICY}")] = "oracle",
    planner: Annotated[str, typer.Option(help=f"for an episode: {PLANNER}")] = "",
    mode: Annotated[str, typer.Option(help=f"for an episode: {MODE}")] = "vanilla",
    episode: Annotated[
        list[str] | None,
        typer.Option(help="which episode: its name in a run, its number in a dataset; repeat for several (default: failures first)"),
    ] = None,
    most: Annotated[int, typer.Option(help="most episodes to show, if none is named with --episode", min=1)] = 8,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="open the page in a browser")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Show an episode in an interactive 3D viewer, in the browser: timeline, sub-goals, cameras, contacts and forces."""
    if out.suffix.lower() not in (".html", ".htm", ".glb"):
        raise EtudeError(f"--out {str(out)!r} must end in .html, or of an episode in .glb")
    refuse_place("--out", out)
    from etude.evaluation.tables import plural
    from etude.report.view_page import write_view_page

    folder = Path(what)
    played = given(context, "policy", "planner", "mode")
    if (folder / "plan.json").exists() or (folder / "meta" / "info.json").exists():
        for idle in [*played, *([f"--out {out}"] if out.suffix.lower() == ".glb" else [])]:
            raise EtudeError(f"{idle} is for a single episode; {what!r} is a folder that says who played")
        views = _of_folder(folder, episode or [], most)
    elif "@" in what:
        for idle in given(context, "episode", "most"):
            raise EtudeError(f"{idle} is for runs and datasets: {what!r} is one episode")
        from etude.evaluation.play import Players
        from etude.evaluation.viewing import episode_model, episode_view

        players = Players(policy, planner or None)
        if out.suffix.lower() == ".glb":
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(episode_model(players, what, mode)[0])
            console.print(f"wrote {out}", highlight=False, soft_wrap=True)
            return
        views = [episode_view(players, what, mode)[0]]
    else:
        from etude.suites.suite import SUITES

        if not folder.exists() and what.partition("/")[0] in SUITES:
            EpisodeName.parse(what)  # says which part is missing
        raise EtudeError(f"{what!r} is neither an episode (SUITE/TASK@SPLIT#SEED) nor the folder of a run or of a dataset")
    write_view_page(views, out)
    size = out.stat().st_size
    if as_json:
        told = [{key: one[key] for key in ("episode", "policy", "outcome")} for one in views]
        print_json({"page": str(out), "bytes": size, "episodes": told})
        return
    console.print(f"wrote {out}: {plural(len(views), 'episode')}, {size / 1e6:.1f} MB", highlight=False, soft_wrap=True)
    if browser and not webbrowser.open(out.resolve().as_uri()):
        console.print("no browser was found here: open the page in one", highlight=False)


def _of_folder(folder: Path, episodes: list[str], most: int) -> list[dict[str, Any]]:
    if (folder / "plan.json").exists():
        from etude.evaluation.store import read_run
        from etude.evaluation.viewing import run_views

        def tell(text: str) -> None:
            notes.print(f"  {text}", style="dim", highlight=False, soft_wrap=True)

        return run_views(read_run(folder), episodes, most, tell)
    from etude.datasets.replaying import dataset_views

    numbers = [whole_number(text) for text in episodes]
    if None in numbers:
        raise EtudeError(f"--episode of a dataset is a number, not {episodes[numbers.index(None)]!r}")
    return dataset_views(folder, [n for n in numbers if n is not None], most)
