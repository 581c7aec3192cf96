"""Calling code that is not ours: looked at before the first call, and told with its own frames when it raises."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.policy import AdaptingPlanner, BatchPolicy, ForkingPolicy, Planner, Policy, SessionPolicy

T = TypeVar("T")

MUST = {"policy": Policy, "planner": Planner}
MAY = {"policy": (BatchPolicy, SessionPolicy, ForkingPolicy), "planner": (AdaptingPlanner,)}

_OURS = f"{Path(__file__).parents[1]}/"
_LIBRARY = f"{sysconfig.get_path('stdlib')}/"
_INSTALLED = ("site-packages", "dist-packages")  # they lie inside the standard library's folder
_LONGEST = 250  # characters of a foreign message, so that its frames are still told behind it
_ENDS = 2  # frames told from either end: where it was called, and where it broke


def fitting(what: Literal["policy", "planner"], name: str, found: T) -> T:
    """``found``, if it has what it must have, and what it may have is of the right form; otherwise one line says what is wrong."""
    if isinstance(found, type):
        raise EtudeError(f"the class {found.__name__} was given where a {what} belongs: make one, {found.__name__}(…)")
    if found is None:
        raise EtudeError(f"{name} is not a {what}: it is None")
    methods = _methods(MUST[what])
    for member in ("contract", *methods):
        if not called(what, hasattr, found, member):
            raise EtudeError(f"{name} is not a {what}: it has no {member!r}; a {what} has {', '.join(('contract', *methods))}")
    contract = called(what, getattr, found, "contract")
    if not isinstance(contract, Contract):
        kind = "the class Contract" if contract is Contract else f"a {type(contract).__name__}"
        hint = "Contract.from_data(…) makes one of a dict" if isinstance(contract, dict) else "Contract() has a default for everything"
        raise EtudeError(f"the contract of {name} is {kind}, expected a Contract of etude.policies.contract; {hint}")
    for protocol in MAY[what]:
        methods |= {m: arguments for m, arguments in _methods(protocol).items() if called(what, hasattr, found, m)}
    for method, arguments in methods.items():
        _check_call(name, method, getattr(found, method), arguments)
    return found


def _methods(protocol: type) -> dict[str, tuple[str, ...]]:
    """The methods of a protocol, with the names of their arguments."""
    functions = {n: f for n, f in vars(protocol).items() if inspect.isfunction(f) and not n.startswith("_")}
    return {name: tuple(inspect.signature(function).parameters)[1:] for name, function in functions.items()}


def _check_call(name: str, method: str, function: Any, arguments: tuple[str, ...]) -> None:
    if not callable(function):
        raise EtudeError(f"{name}.{method} is a {type(function).__name__}, expected a method")
    if inspect.iscoroutinefunction(function):
        raise EtudeError(f"{name}.{method} is asynchronous, expected a plain method: def {method}(…)")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C: it will be found out
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        names = ", ".join(signature.parameters)
        raise EtudeError(f"{name}.{method} takes ({names}), but is called with ({', '.join(arguments)})") from None


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
