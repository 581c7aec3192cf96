"""The tables of policies, planners and deciders that have a name, and how to add to them.

``@register_policy("mine")`` makes a class known to every command as ``--policy mine``, or ``mine:speed=2,careful`` with options that are
read as its constructor's annotations say. With ``address=True`` a function is given the whole text instead, ``mine:anything at all``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from etude.policies.halves import Halves
from etude.policies.policy import Planner, Policy
from etude.registry import Registry

T = TypeVar("T")
M = TypeVar("M", bound=Callable[..., Any])


@dataclass(frozen=True)
class Maker(Generic[T]):
    """Makes what is registered under a name: from options, or from the whole ``address``. ``halves``: of a policy in two parts
    (:mod:`etude.policies.halves`). ``inner``: the address of the policy that one is made around, of which it is made too."""

    make: Callable[..., T]
    address: bool = False
    halves: Callable[[str], Halves] | None = None
    inner: Callable[[str], str] | None = None


def _ours() -> None:
    importlib.import_module("etude.policies.loading")


POLICIES: Registry[Maker[Policy]] = Registry("policy", _ours)
PLANNERS: Registry[Maker[Planner]] = Registry("planner", _ours)
DECIDERS: Registry[Maker[Policy]] = Registry("decider", _ours)
"""The form that a policy has for decisions, where it is not the one it has for robots."""


def register_policy(
    name: str,
    *,
    address: bool = False,
    halves: Callable[[str], Halves] | None = None,
    inner: Callable[[str], str] | None = None,
) -> Callable[[M], M]:
    """Make a class, or a function that gives a policy, known as ``--policy NAME``. With ``halves`` one process can decide for all
    workers of a run (:mod:`etude.policies.halves`). One that is made around another says in ``inner`` where the other's address stands in
    its own; it is given both, and the other may be in two halves."""
    return _registering(POLICIES, name, address, halves, inner)


def register_planner(name: str, *, address: bool = False) -> Callable[[M], M]:
    """Make a class, or a function that gives a planner, known as ``--planner NAME``."""
    return _registering(PLANNERS, name, address)


def register_decider(name: str, *, address: bool = False) -> Callable[[M], M]:
    """Make a class known as the policy NAME for decisions, where robots have another of this name or none."""
    return _registering(DECIDERS, name, address)


def _registering(
    table: Registry[Maker[Any]],
    name: str,
    address: bool,
    halves: Callable[[str], Halves] | None = None,
    inner: Callable[[str], str] | None = None,
) -> Callable[[M], M]:
    def register(make: M) -> M:
        table.add(name, Maker(make, address, halves, inner), make.__module__)
        return make

    return register
