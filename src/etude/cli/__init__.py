"""The ``etude`` command."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from typer.exceptions import TyperException

from etude.cli import (  # noqa: F401  (registers the commands)
    auditing,
    comparing,
    describing,
    driving,
    evaluating,
    exporting,
    looking,
    papers,
    recording,
    studying,
    training,
    validating,
    viewing,
    zoo,
)
from etude.cli.app import app, escape, notes
from etude.names import EtudeError
from etude.plugins import load

__all__ = ["app", "main"]

for _command in app.registered_commands:
    if _command.callback is not None:
        _command.short_help = (_command.callback.__doc__ or "").partition("\n")[0]  # one that is given is wrapped, another is cut

EVERYWHERE = {  # options of every command
    "--import": "the name of a module, such as --import my_lab",
    "--pieces": "the folder or file of a tokenizer, such as --pieces models/t5-base",
}


def main() -> None:
    """Run the command; a user's mistake ends in one line, not in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is written out, and stops nothing
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(args=_imported(sys.argv[1:]), standalone_mode=False) or 0
    except (EtudeError, TyperException) as error:
        text = error.format_message() if isinstance(error, TyperException) and hasattr(error, "format_message") else str(error)
        if text:  # without arguments the help has been shown already
            _refuse(text)
        code = 2
    except OSError as error:  # a disk that is full, a folder that is somebody else's
        reason = error.strerror or str(error) or type(error).__name__
        _refuse(f"{error.filename!r}: {reason}" if error.filename else reason)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _imported(arguments: list[str]) -> list[str]:
    """The arguments without ``--import MODULE`` and ``--pieces DIR``, which any command may have, anywhere: these are loaded now."""
    left, rest = [], iter(arguments)
    for word in rest:
        option, sign, value = word.partition("=")
        if option not in EVERYWHERE:
            left.append(word)
            continue
        value = value if sign else next(rest, "")
        if not value:
            raise EtudeError(f"{option} needs {EVERYWHERE[option]}")
        if option == "--import":
            load(value)
        else:
            from etude.perturb.gobbledygook import use_pieces

            use_pieces(Path(value))
    return left


def _refuse(text: str) -> None:
    notes.print(f"[bold red]error:[/] {escape(' '.join(text.split()))}", highlight=False, soft_wrap=True)
