"""From what a user types to a policy or a planner: a name of ours, a class of theirs, a server, a chat endpoint."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from etude.episodes import ActionSpace
from etude.foreign import called, with_frames
from etude.names import EtudeError, pick, repeated, unknown
from etude.policies.calling import fitting
from etude.policies.deciding import GuessingPolicy, KnowingPolicy, SilentPolicy
from etude.policies.halves import Halves, NearPolicy, WholePolicy
from etude.policies.planners import OraclePlanner, RulePlanner
from etude.policies.policy import Planner, Policy
from etude.policies.register import DECIDERS, PLANNERS, POLICIES, Maker, register_decider, register_planner, register_policy
from etude.policies.replay import ReplayPolicy
from etude.policies.scripted import NoopPolicy, OraclePolicy, RandomPolicy
from etude.registry import Registry

T = TypeVar("T")

register_policy("oracle")(OraclePolicy)
register_policy("random")(RandomPolicy)
register_policy("noop")(NoopPolicy)
register_decider("oracle")(KnowingPolicy)
register_decider("random")(GuessingPolicy)
register_decider("noop")(SilentPolicy)
register_planner("rule")(RulePlanner)
register_planner("oracle")(OraclePlanner)


@register_policy("replay", address=True)
def _replay(text: str) -> Policy:
    if not (run := text.partition(":")[2]):
        raise EtudeError("replay needs a run: --policy replay:RUN")
    return ReplayPolicy(run)


def _third(text: str, form: str) -> str:
    """What follows the second colon of a text of this form."""
    _, _, rest = text.partition(":")
    if not (found := rest.partition(":")[2]):
        raise EtudeError(f"{text!r} is not of the form {form}")
    return found


@register_policy("takeover", address=True, inner=lambda text: _third(text, "takeover:CHANCE:POLICY, e.g. takeover:0.05:random"))
def _takeover(text: str, first: Policy) -> Policy:
    from etude.policies.scripted import Takeover

    return Takeover(first, float(_read("takeover", "chance", text.split(":")[1], float)))


def _seeing(text: str) -> str:
    if not (found := text.partition(":")[2]):
        raise EtudeError("blind needs a policy: --policy blind:POLICY, e.g. blind:zoo:NAME")
    return found


@register_policy("blind", address=True, inner=_seeing)
def _blind(_: str, seeing: Policy) -> Policy:
    from etude.policies.scripted import Blindfolded

    return Blindfolded(seeing)


@register_policy("true", address=True, inner=lambda text: _third(text, "true:PART:POLICY, e.g. true:position:learned:PATH"))
def _partly_true(text: str, policy: Policy) -> Policy:
    from etude.policies.scripted import PartlyTrue

    return PartlyTrue(policy, text.split(":")[1])


@register_policy("mishap", address=True)
def _mishap(text: str) -> Policy:
    from etude.policies.mishaps import MishapOracle

    share, colon, action = text.removeprefix("mishap:").partition(":")
    spaces: dict[str, ActionSpace | None] = {"ee_delta": "ee_delta", "ee_pose": "ee_pose", "joint": "joint", "own": None}
    if not colon:
        raise EtudeError(f"{text!r} is not of the form mishap:SHARE:SPACE, e.g. mishap:0.3:ee_delta")
    return MishapOracle(float(_read("mishap", "share", share, float)), pick("action space", action, spaces))


@register_policy("ws", address=True)
@register_policy("wss", address=True)
def _remote(text: str) -> Policy:
    from etude.policies.remote import RemotePolicy

    return RemotePolicy(text)


def _learned_halves(text: str) -> Halves:
    found: Halves = importlib.import_module("etude.learn.policy").learned_halves(text.removeprefix("learned:"))
    return found


@register_policy("learned", address=True, halves=_learned_halves)
def _learned(text: str) -> Policy:
    return WholePolicy(_learned_halves(text))


def _zoo_halves(text: str) -> Halves:
    found: Halves = importlib.import_module("etude.learn.zoo").zoo_halves(text.removeprefix("zoo:"))
    return found


@register_policy("zoo", address=True, halves=_zoo_halves)
def _zoo(text: str) -> Policy:
    return WholePolicy(_zoo_halves(text))


def _lerobot_halves(text: str) -> Halves:
    found: Halves = importlib.import_module("etude.integrations.lerobot.checkpoint").lerobot_halves(text.removeprefix("lerobot:"))
    return found


@register_policy("lerobot", address=True, halves=_lerobot_halves)
def _lerobot(text: str) -> Policy:
    return WholePolicy(_lerobot_halves(text))


@register_policy("chat", address=True)
def _chat_decider(text: str) -> Policy:
    from etude.policies.chat_decider import chat_decider

    return chat_decider(text)


@register_decider("answers", address=True)
def _answering_decider(text: str) -> Policy:
    from etude.policies.answer_file import AnsweringDecider

    return AnsweringDecider(text.removeprefix("answers:"))


@register_planner("answers", address=True)
def _answering_planner(text: str) -> Planner:
    from etude.policies.answer_file import AnsweringPlanner

    return AnsweringPlanner(text.removeprefix("answers:"))


@register_planner("learned", address=True)
def _learned_planner(text: str) -> Planner:
    found: Planner = importlib.import_module("etude.learn.policy").LearnedPlanner(text.removeprefix("learned:"))
    return found


@register_planner("chat", address=True)
def _chat_planner(text: str) -> Planner:
    from etude.policies.chat import chat_planner

    return chat_planner(text)


def load_policy(text: str, inference_address: str = "") -> Policy:
    """A policy: a registered name (``oracle``, ``oracle:noise=0.02``, ``random``, ``noop``), a registered address (``replay:RUN``,
    ``ws://host:port``, ``learned:PATH``, ``zoo:NAME``, ``lerobot:PATH``, ``chat:MODEL@http://host:port/v1`` and
    ``answers:FILE`` for decisions, ``takeover:CHANCE:POLICY``, from which the oracle takes over, ``blind:POLICY``, which sees nothing,
    ``true:PART:POLICY``, partly the oracle's), or ``module:attribute`` (with
    ``?key=value&…`` as arguments).

    ``inference_address``: the address of the process that decides, where there is one for all simulations."""
    name = text.partition(":")[0]
    around = POLICIES.get(name)
    if around is not None and around.inner is not None:
        made: Policy = around.make(text, load_policy(around.inner(text), inference_address))
        return fitting("policy", text, made)
    if inference_address:
        halves = halves_of(text)
        assert halves is not None
        return NearPolicy(halves.encoder(), inference_address)
    return fitting("policy", text, _loaded("policy", text, DECIDERS if name in DECIDERS and name not in POLICIES else POLICIES))


def halves_of(text: str) -> Halves | None:
    """The halves of a policy that has them, or of the one it is made around; None for all others."""
    maker = POLICIES.get(text.partition(":")[0])
    if maker is not None and maker.inner is not None:
        return halves_of(maker.inner(text))
    return maker.halves(text) if maker is not None and maker.halves is not None else None


def load_decider(text: str) -> Policy | None:
    """The form that a policy has for decisions alone; None for all others."""
    return _loaded("policy", text, DECIDERS) if text.partition(":")[0] in DECIDERS else None


def load_planner(text: str) -> Planner:
    """A planner: ``rule``, ``oracle``, ``oracle:wrong=0.2``, ``chat:MODEL@http://host:port/v1``, ``answers:FILE``, ``learned:PATH``,
    or ``module:attribute``."""
    return fitting("planner", text, _loaded("planner", text, PLANNERS))


def load_object(what: str, text: str, known: Iterable[str]) -> Any:
    """What a user wrote as ``module:attribute``; ``known`` are names there are besides."""
    name, colon, rest = text.partition(":")
    if not colon:
        raise unknown(what, text, known)
    path, _, query = rest.partition("?")
    if not name or not path:
        raise EtudeError(f"{text!r} is not of the form module:attribute, e.g. my_{what}:{what.capitalize()}?option=value")
    return _theirs(what, name, path, _once(what, parse_qsl(query, keep_blank_values=True)))


def address_of(player: Policy | Planner | str | None) -> str:
    """The text under which a run notes who plays: of a live object, the module and the class it is of; empty for nobody."""
    if player is None or isinstance(player, str):
        return player or ""
    return f"{type(player).__module__}:{type(player).__qualname__}"


def _loaded(what: str, text: str, table: Registry[Maker[T]]) -> T:
    name, _, rest = text.partition(":")
    if name in table:
        maker = table[name]
        if maker.address:
            return maker.make(text)
        pairs = [part.partition("=") for part in rest.split(",")] if rest else []
        return _made(f"{what} {name!r}", maker.make, _once(what, [(key, value if sign else "true") for key, sign, value in pairs]))
    found: T = load_object(what, text, table)
    return found


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
