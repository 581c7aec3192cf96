"""The application object and what its commands share."""

from __future__ import annotations

import sys
from typing import Any

import typer
from rich.console import Console

from etude.names import json_text

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compositional robot manipulation, judged ability by ability.",
)
console = Console()
notes = Console(stderr=True)


def print_json(data: Any) -> None:
    """One JSON object on standard output, and nothing else."""
    sys.stdout.write(json_text(data, indent=2) + "\n")
