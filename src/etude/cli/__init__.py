"""The ``etude`` command."""

from __future__ import annotations

import sys
from typing import NoReturn

from rich.markup import escape
from typer.exceptions import TyperException

from etude.cli import comparing, evaluating, exporting, looking, recording, studying, validating  # noqa: F401  (registers the commands)
from etude.cli.app import app, notes
from etude.names import EtudeError

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; a user's mistake ends in one line, not in a traceback."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except (EtudeError, TyperException) as error:
        _refuse(error.format_message() if isinstance(error, TyperException) and hasattr(error, "format_message") else str(error))
    except OSError as error:  # a disk that is full, a folder that is somebody else's
        reason = error.strerror or str(error) or type(error).__name__
        _refuse(f"{error.filename!r}: {reason}" if error.filename else reason)
    except KeyboardInterrupt:
        sys.exit(130)


def _refuse(text: str) -> NoReturn:
    if text:  # without arguments the help has been shown already
        notes.print(f"[bold red]error:[/] {escape(' '.join(text.split()))}", highlight=False, soft_wrap=True)
    sys.exit(2)
