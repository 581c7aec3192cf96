"""Policies and planners that are not ours: looked at before the first call."""

from __future__ import annotations

import inspect
from typing import Any, Literal, TypeVar

from etude.foreign import called
from etude.names import EtudeError
from etude.policies.contract import Contract, refuse_undeclared
from etude.policies.policy import AdaptingPlanner, BatchPolicy, ForkingPolicy, Planner, Policy, SessionPolicy

T = TypeVar("T")

MUST = {"policy": Policy, "planner": Planner}
MAY = {"policy": (BatchPolicy, SessionPolicy, ForkingPolicy), "planner": (AdaptingPlanner,)}


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
        hint = "Contract.from_data(…) makes one of a dict" if isinstance(contract, dict) else "Contract.etude(…) makes one"
        raise EtudeError(f"the contract of {name} is {kind}, expected a Contract of etude.policies.contract; {hint}")
    if what == "policy":
        refuse_undeclared(contract, f"the contract of {name}")
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
