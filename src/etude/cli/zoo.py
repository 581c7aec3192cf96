"""The commands about trained policies that come as packages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from etude.cli.app import Private, app, print_json, say
from etude.names import EtudeError

zoo = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
app.add_typer(zoo, name="zoo", short_help="List the trained policies that are installed; evaluate one with --policy zoo:NAME.")


@zoo.callback()
def listing(context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False) -> None:
    """List the trained policies that are installed; evaluate one with --policy zoo:NAME."""
    if context.invoked_subcommand is not None:
        return
    from etude.learn.zoo import zoo_cards

    rows = tuple(card.listed() for card, _ in zoo_cards().values())
    if as_json:
        print_json({"policies": list(rows)})
    elif rows:
        from etude.evaluation.result_table import ResultTable

        columns = tuple(key for key in rows[0] if key != "command")
        say(ResultTable(rows, columns, tuple(tuple(str(row[key]) for key in columns) for row in rows)))
    else:
        say("No trained policy is installed: pip install 'etude[zoo]' etude-zoo")


@zoo.command()
def add(
    run: Annotated[Path, typer.Argument(help="folder of a training run, or a checkpoint")],
    name: Annotated[str, typer.Option(help="name in the zoo, for --policy zoo:NAME")],
    results: Annotated[
        list[Path] | None, typer.Option(help="a run of 'etude evaluate' with this policy, to report on the model card")
    ] = None,
    folder: Annotated[Path, typer.Option("--zoo", help="the package to add it to")] = Path("zoo"),
    page: Annotated[Path, typer.Option(help="the Markdown page about all policies of the package")] = Path("docs/zoo.md"),
) -> None:
    """Add a trained policy to a zoo package, with its model card.

    It is exported to ONNX, and its actions are compared with torch's on held-out episodes."""
    try:
        from etude.learn.shipping import add_to_zoo
    except ModuleNotFoundError as error:
        raise EtudeError(f"exporting needs {error.name!r}, which is not installed: pip install 'etude[learn,zoo]' onnx") from None

    card = add_to_zoo(run, name, folder, page, results or ())
    say(f"zoo:{card.name}: {card.parameters:,} parameters in {card.bytes:,} bytes; actions within {card.difference:.1e} of torch's")


@zoo.command()
def push(
    run: Annotated[Path, typer.Argument(help="folder of a training run, or a checkpoint")],
    repository: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="repository on the Hugging Face Hub (extra 'hub'; log in first: hf auth login)")
    ],
    results: Annotated[
        list[Path] | None, typer.Option(help="a run of 'etude evaluate' with this policy, to report on the model card")
    ] = None,
    private: Private = False,
) -> None:
    """Upload a trained policy to the Hugging Face Hub, with its model card. Once downloaded, evaluate it with --policy learned:FOLDER."""
    from tempfile import TemporaryDirectory

    from etude.integrations.hub import HubRepository
    from etude.learn.publishing import write_model

    there = HubRepository(repository, "model", private)
    with TemporaryDirectory() as folder:
        write_model(run, Path(folder), repository, results or ())
        say(f"pushed to {there.push(Path(folder), 'A policy trained by etude')}")
