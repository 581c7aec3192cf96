"""From what a user types to a policy or a planner: a name of ours, a class of theirs, a server, a chat endpoint."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from etude.names import EtudeError, repeated, unknown
from etude.policies.calling import PLANNER, POLICY, called, fitting, with_frames
from etude.policies.planners import OraclePlanner, RulePlanner
from etude.policies.policy import Planner, Policy
from etude.policies.replay import ReplayPolicy
from etude.policies.scripted import NoopPolicy, OraclePolicy, RandomPolicy

T = TypeVar("T")

POLICIES: dict[str, Callable[..., Policy]] = {
    "oracle": OraclePolicy,
    "random": RandomPolicy,
    "noop": NoopPolicy,
    "replay": ReplayPolicy,
}
PLANNERS: dict[str, Callable[..., Planner]] = {"rule": RulePlanner, "oracle": OraclePlanner}


def load_policy(text: str) -> Policy:
    """A policy: ``oracle``, ``oracle:noise=0.02``, ``oracle:colour_blind``, ``random``, ``noop``, ``replay:RUN``, ``module:attribute``
    (with ``?key=value&…`` as arguments), the address of a server, ``ws://host:port``, a model for decisions,
    ``chat:MODEL@http://host:port/v1``, a trained one, ``learned:PATH``, or ``takeover:CHANCE:POLICY``, from which the oracle takes over."""
    if text.startswith("takeover:"):
        from etude.policies.takeover import Takeover

        chance, colon, first = text.removeprefix("takeover:").partition(":")
        if not colon:
            raise EtudeError(f"{text!r} is not of the form takeover:CHANCE:POLICY, e.g. takeover:0.05:random")
        return Takeover(load_policy(first), float(_read("takeover", "chance", chance, float)))
    if text.startswith(("ws://", "wss://")):
        from etude.policies.remote import RemotePolicy

        return RemotePolicy(text)
    if text.startswith("chat:"):
        from etude.policies.chat_decider import chat_decider

        return chat_decider(text)
    if text.startswith("learned:"):
        try:
            from etude.learn.policy import learned_policy
        except ModuleNotFoundError as error:
            raise EtudeError(f"learned policies need {error.name!r}, which is not installed: pip install 'etude[learn]'") from None
        return learned_policy(text.removeprefix("learned:"))
    found: Policy = _loaded("policy", text, POLICIES)
    return fitting("policy", text, found, POLICY)


def load_decider(text: str) -> Policy | None:
    """The form that a policy of ours has for decisions; None for all others."""
    from etude.policies.deciding import DECIDERS

    found: Policy | None = _loaded("policy", text, DECIDERS) if text.partition(":")[0] in DECIDERS else None
    return found


def load_planner(text: str) -> Planner:
    """A planner: ``rule``, ``oracle``, ``oracle:wrong=0.2``, ``chat:MODEL@http://host:port/v1``, or ``module:attribute``."""
    if text.startswith("chat:"):
        from etude.policies.chat import chat_planner

        return chat_planner(text)
    found: Planner = _loaded("planner", text, PLANNERS)
    return fitting("planner", text, found, PLANNER)


def _loaded(what: str, text: str, ours: Mapping[str, Callable[..., Any]]) -> Any:
    name, colon, rest = text.partition(":")
    if name in ours:
        if name == "replay":
            if not rest:
                raise EtudeError("replay needs a run: --policy replay:RUN")
            return ours[name](rest)
        pairs = [part.partition("=") for part in rest.split(",")] if rest else []
        return _made(f"{what} {name!r}", ours[name], _once(what, [(key, value if sign else "true") for key, sign, value in pairs]))
    if not colon:
        raise unknown(what, text, ours)
    path, _, query = rest.partition("?")
    if not name or not path:
        raise EtudeError(f"{text!r} is not of the form module:attribute, e.g. my_{what}:{what.capitalize()}?option=value")
    return _theirs(what, name, path, _once(what, parse_qsl(query, keep_blank_values=True)))


def _once(what: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    twice = repeated(key for key, _ in pairs)
    if twice is not None:
        raise EtudeError(f"option {twice!r} of the {what} is given twice")
    return dict(pairs)


def _theirs(what: str, module: str, attribute: str, options: dict[str, str]) -> Any:
    """A class, a function or an object of the user's own; modules in the working directory are found too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            raise EtudeError(f"the {what} {module}:{attribute} cannot be loaded: there is no module {error.name!r} here") from None
        raise EtudeError(f"the {what} {module}:{attribute} cannot be loaded: it needs {error.name!r}, which is not installed") from None
    except (Exception, SystemExit) as error:
        raise EtudeError(f"the {what} {module}:{attribute} cannot be loaded: {with_frames(error)}") from error
    for part in attribute.split("."):
        if not called(what, hasattr, found, part):  # a module may load its parts when they are asked for
            raise unknown(f"attribute of {module}", part, [n for n in dir(found) if not n.startswith("_")])
        found = called(what, getattr, found, part)
    if not callable(found) or (hasattr(found, "contract") and not isinstance(found, type)):
        if options:
            raise EtudeError(f"{module}:{attribute} is a {what} already, so it takes no options; it was given {', '.join(options)}")
        return found
    return _made(f"{what} {module}:{attribute}", found, options)


def _made(what: str, factory: Callable[..., T], options: Mapping[str, str]) -> T:
    """Call with options given as text, each read as its parameter is annotated."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        raise EtudeError(f"the {what} cannot be made: it does not say what its arguments are; expected a class or a function") from None
    known = {name: p for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    read: dict[str, Any] = {}
    for key, value in options.items():
        if key not in known:
            raise unknown(f"option of {what}:", key, known)
        read[key] = _read(what, key, value, known[key].annotation)
    missing = [name for name, p in known.items() if p.default is p.empty and name not in read]
    if missing:
        raise EtudeError(f"{what} needs {missing[0]!r}")
    try:
        return factory(**read)
    except EtudeError:
        raise
    except (Exception, SystemExit) as error:
        raise EtudeError(f"the {what} cannot be made: {with_frames(error)}") from error


def _read(what: str, key: str, value: str, kind: Any) -> Any:
    kind = getattr(kind, "__name__", str(kind)).removesuffix(" | None")
    try:
        if kind == "bool":
            return {"true": True, "1": True, "false": False, "0": False}[value.lower()]
        if kind in ("int", "float"):
            return {"int": int, "float": float}[kind](value)
    except (KeyError, ValueError):
        raise EtudeError(f"{what}: {key}={value!r} is not a {kind}") from None
    return value
