"""Calling code that is not ours: what it raises is told in one line, with its own frames."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from etude.names import EtudeError

T = TypeVar("T")

_OURS = f"{Path(__file__).parent}/"
_LIBRARY = f"{sysconfig.get_path('stdlib')}/"
_INSTALLED = ("site-packages", "dist-packages")  # they lie inside the standard library's folder
_LONGEST = 250  # characters of a foreign message, so that its frames are still told behind it
_ENDS = 2  # frames told from either end: where it was called, and where it broke


class UnmadeEpisode(EtudeError):
    """A task's sampler or a perturbation broke on one episode; with others it may not."""


@contextmanager
def episode_made_by(what: str) -> Iterator[None]:
    """What breaks inside is told in one line that begins with ``what``; what etude or a plug-in refuses stays as it is."""
    try:
        yield
    except EtudeError:
        raise
    except Exception as error:
        raise UnmadeEpisode(f"{what}: {with_frames(error)}") from error


def called(what: str, function: Callable[..., T], *arguments: Any) -> T:
    """``function(*arguments)``, where the function is the user's: what it raises becomes one line with its own frames."""
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:  # one that leaves would take the whole run along, in silence
        if isinstance(error, EtudeError) and not any(map(_theirs, own_frames(error))):
            raise
        raise EtudeError(with_frames(error, f"in the {what}: ")) from error


def with_frames(error: BaseException, where: str = "") -> str:
    """An exception in one line, and in brackets the frames of the user's own through which it came."""
    frames = _told(own_frames(error))
    return f"{in_a_line(error)} ({where}{frames})" if frames else in_a_line(error)


def in_a_line(error: BaseException) -> str:
    """An exception's type and the first line of its message; a message of ours as it is."""
    try:
        first = (str(error).strip().splitlines() or [""])[0].encode("utf-8", "backslashreplace").decode()  # halves of characters
    except Exception:  # its own __str__ may be broken too
        first = ""
    if isinstance(error, EtudeError):
        return first
    return f"{type(error).__name__}: {first[:_LONGEST]}" if first else type(error).__name__


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the user's code through which an exception came, the outermost first; ours below the call where there are none."""
    frames = list(traceback.extract_tb(error.__traceback__))
    return [frame for frame in frames if _theirs(frame)] or [frame for frame in frames[1:] if frame.filename.startswith(_OURS)]


def own_traceback(error: BaseException) -> str:
    """A traceback as Python prints it, of the user's own frames."""
    frames = own_frames(error)
    return "".join(["Traceback (most recent call last):\n", *traceback.format_list(frames), *traceback.format_exception_only(error)])


def _theirs(frame: traceback.FrameSummary) -> bool:
    path = frame.filename
    standard = path.startswith((_LIBRARY, "<frozen ")) and not any(part in path for part in _INSTALLED)
    return not standard and not path.startswith(_OURS)


def _told(frames: list[traceback.FrameSummary]) -> str:
    shown = [f"{_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
    if len(shown) > 2 * _ENDS:
        shown[_ENDS:-_ENDS] = ["…"]
    return " → ".join(shown)


def _short(path: str) -> str:
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
