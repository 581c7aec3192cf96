"""The application object and what its commands share."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from etude import __version__
from etude.names import EtudeError, json_text, legible, whole_number

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # it would take as long as all the rest of --help
    context_settings={"help_option_names": ["-h", "--help"]},
)


class LazyConsole:
    """A console of rich's, which is loaded when something is printed: help and JSON do without it."""

    def __init__(self, stderr: bool = False) -> None:
        self._stderr = stderr

    @cached_property
    def rich(self) -> Console:
        """The console itself."""
        from rich.console import Console

        return Console(stderr=self._stderr)

    def print(self, *things: Any, **settings: Any) -> None:
        """As the console prints."""
        self.rich.print(*things, **settings)


console = LazyConsole()
notes = LazyConsole(stderr=True)


def escape(text: str) -> str:
    """A text whose brackets are not taken for markup."""
    from rich.markup import escape as escaped

    return escaped(text)


Push = Annotated[
    str | None, typer.Option(metavar="OWNER/NAME", help="upload it to the Hugging Face Hub (extra 'hub'; log in first: hf auth login)")
]
Private = Annotated[bool, typer.Option("--private", help="if the Hub repository is new, create it as private")]


def _tell_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"etude {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    """A benchmark platform for compositional, language-conditioned robot manipulation.

    Every command also takes --import MODULE, to load a plug-in that is not installed, and --pieces DIR, a tokenizer for the perturbation
    gobbledygook_tokens.
    """


def given(context: typer.Context, *parameters: str) -> list[str]:
    """Those of a command's parameters that the user wrote, as they are written: ``["--task"]``."""
    written = {p.name: p.opts[0] for p in context.command.params if p.name and p.opts}
    sources = {name: context.get_parameter_source(name) for name in parameters}
    return [written[name] for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def command_without(options: Sequence[str], flags: Sequence[str]) -> str:
    """The command as it was typed, without options (which have values) and flags that cannot change its result."""
    kept, words = ["etude"], iter(sys.argv[1:])
    for word in words:
        name, sign, _ = word.partition("=")
        if name in options:
            if not sign:
                next(words, None)
        elif name not in flags:
            kept.append(word)
    return shlex.join(kept)


def read_size(text: str) -> tuple[int, int]:
    """``256`` or ``320x240`` as (width, height) in pixels."""
    width, sign, height = text.lower().partition("x")
    across, up = whole_number(width), whole_number(height if sign else width)
    if not across or not up:
        raise EtudeError(f"--size {legible(text)} is not a size; write 256 or 320x240 (width x height)")
    return across, up


def refuse_place(option: str, path: Path) -> None:
    """Refuse a file that cannot be written before any work is done for it; the folders it needs are made with it."""
    if path.is_dir():
        raise EtudeError(f"{option} {str(path)!r} is a folder; name a file in it")
    there = next(p for p in (path, *path.parents) if p.exists())
    if not os.access(there, os.W_OK) or (there != path and not there.is_dir()):
        raise EtudeError(f"{option} {str(path)!r} cannot be written; choose a place you may write to")


def say(text: object) -> None:
    """A text on standard output as it stands: neither cut nor wrapped, whoever reads it."""
    console.print(str(text), highlight=False, soft_wrap=True, markup=False)


def print_json(data: Any) -> None:
    """One JSON object on standard output, and nothing else."""
    sys.stdout.write(json_text(data, indent=2) + "\n")
