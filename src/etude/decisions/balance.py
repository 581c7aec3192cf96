"""Which answer, or which kind of trial, it is the turn of: over consecutive seeds everything comes equally often, in an order that nobody
can foresee. A list is balanced because its seeds are, not because trials were drawn until it was."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeVar

from etude.names import EtudeError, rng

T = TypeVar("T")
PRIVATE = "\n"  # what follows it in the name of a list is its salt, which no message tells


def wanted(options: Sequence[T], name: str, seed: int) -> T:
    """One of the options. Seeds go through all of them in blocks, every block in another order."""
    return turn(options, name, seed)[0]


def turn(options: Sequence[T], name: str, seed: int) -> tuple[T, int]:
    """The option for a seed, and how often it came before."""
    if not options:
        raise EtudeError(f"{name.partition(PRIVATE)[0]}: there is nothing to choose from")
    block, place = divmod(seed, len(options))
    return options[_order(name, block, len(options))[place]], block


def unrepeated(items: Sequence[T], name: str, visit: int) -> T:
    """The items in an order of their own: none comes twice before all have come."""
    block, place = divmod(visit, len(items))
    return items[_order(name, block, len(items))[place]]


@functools.lru_cache(maxsize=4096)
def _order(name: str, block: int, count: int) -> tuple[int, ...]:
    return tuple(rng(f"{name}/{block}", "order").shuffled(range(count)))
