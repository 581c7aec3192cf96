"""A table that others may add to: name → value, in the order of registration, each entry remembering the module that brought it.

One class for everything that can come from outside: shapes, textures, palettes, arms, hands, perturbations, policies, planners, suites::

    ARMS: Registry[Arm] = Registry("arm")
    ARMS.add("panda", PANDA, __name__)
    ARMS["pnada"]  # EtudeError: unknown arm 'pnada'; did you mean 'panda'?
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from etude.names import EtudeError, unknown

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Values by name. ``what`` is the word for one of them in errors; ``load`` imports those that come with etude, at the first lookup."""

    def __init__(self, what: str, load: Callable[[], object] | None = None) -> None:
        self.what = what
        self._load = load
        self._modules: dict[str, str] = {}
        self._values: dict[str, T] = {}
        self._later: dict[str, str] = {}

    def add(self, name: str, value: T, module: str) -> None:
        """Register a value; ``module`` is the name of the module that brings it. A name that is taken is refused."""
        self._take(name, module)
        self._values[name] = value

    def add_later(self, name: str, module: str, attribute: str) -> None:
        """Register what a module holds as ``attribute``; it is imported when somebody asks for it."""
        self._take(name, module)
        self._later[name] = attribute

    def _take(self, name: str, module: str) -> None:
        if not module.startswith("etude."):
            self._loaded()  # so that where a name is etude's own, the newcomer is the one refused
        if name in self._modules:
            raise EtudeError(f"{module}: {self._modules[name]} has the {self.what} {name!r} already; choose another name")
        self._modules[name] = module

    def __getitem__(self, name: str) -> T:
        """The value of this name, or the error that names the nearest valid choice."""
        names = self._loaded()
        if name not in names:
            raise unknown(self.what, name, names)
        if name not in self._values:
            self._values[name] = getattr(importlib.import_module(names[name]), self._later[name])
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of this name, or ``default``."""
        return self[name] if name in self else default  # noqa: SIM401

    def __contains__(self, name: object) -> bool:
        return name in self._loaded()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def module_of(self, name: str) -> str:
        """The module that brought the value of this name."""
        self[name]
        return self._modules[name]

    def _loaded(self) -> dict[str, str]:
        """All names, each with its module."""
        if self._load is not None:
            load, self._load = self._load, None  # forgotten first: what is being loaded may look things up
            load()
        return self._modules


def caller() -> str:
    """The name of the module that called the function which asks: for ``register_…(value)``, whose value does not know its origin."""
    name: str = sys._getframe(2).f_globals["__name__"]
    return name
