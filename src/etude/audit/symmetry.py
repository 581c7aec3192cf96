"""Goals up to the names of their things: in how many ways things can be chosen, and how many of those come to the same.

A pattern is a goal as nested tuples: ``("#", k)`` stands for the thing of slot k, ``("at", k)`` for the place where it stands, and what is
in a ``("set", …)`` has no order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

Pattern = tuple[Any, ...]
MOST_CLASSES = 7  # kinds of slots whose orders are tried: 5,040 of them


def canonical(pattern: Any, mapping: Sequence[int] | None = None) -> str:
    """The one text of a pattern, with the things of its slots exchanged if a ``mapping`` says so."""
    if not isinstance(pattern, tuple):
        return repr(pattern)
    if len(pattern) == 2 and pattern[0] in ("#", "at") and isinstance(pattern[1], int):
        return f"{pattern[0]}{pattern[1] if mapping is None else mapping[pattern[1]]}"
    inner = [canonical(one, mapping) for one in pattern[1:]]
    first = canonical(pattern[0], mapping) if pattern else ""
    return f"({first} {' '.join(sorted(inner) if pattern[:1] == ('set',) else inner)})"


def mentions(pattern: Any, slot: int) -> bool:
    """Does a pattern speak of the thing of a slot, or of its place?"""
    return isinstance(pattern, tuple) and (pattern in (("#", slot), ("at", slot)) or any(mentions(one, slot) for one in pattern))


@functools.lru_cache(maxsize=4096)
def exchangeable(pattern: Pattern, allowed: tuple[frozenset[int], ...]) -> list[list[int]]:
    """Classes of slots that may change places, whatever the others do; ``allowed``: the slots whose things each could have."""
    count, same = len(allowed), canonical(pattern)
    classes: list[list[int]] = []
    for k in range(count):
        for members in classes:
            first = members[0]
            swapped = list(range(count))
            swapped[k], swapped[first] = first, k
            if k in allowed[first] and first in allowed[k] and canonical(pattern, swapped) == same:
                members.append(k)
                break
        else:
            classes.append([k])
    return classes


@functools.lru_cache(maxsize=4096)
def symmetries(pattern: Pattern, allowed: tuple[frozenset[int], ...]) -> int:
    """How many exchanges of things leave the goal as it is: within the classes that are exchangeable, and of whole classes."""
    count, same, classes = len(allowed), canonical(pattern), exchangeable(pattern, allowed)
    within = math.prod(math.factorial(len(members)) for members in classes)
    if len(classes) > MOST_CLASSES:
        return within
    found = 0
    for order in permutations(range(len(classes))):
        pairs = list(zip(classes, (classes[k] for k in order), strict=True))
        if all(len(a) == len(b) and all(y in allowed[x] for x, y in zip(a, b, strict=True)) for a, b in pairs):
            mapping = [0] * count
            for a, b in pairs:
                for x, y in zip(a, b, strict=True):
                    mapping[x] = y
            found += canonical(pattern, mapping) == same
    return within * found


def assignments(pools: Sequence[Sequence[str]]) -> int:
    """In how many ways a thing can be chosen from each pool, none of them twice."""
    things = list(dict.fromkeys(name for pool in pools for name in pool))
    ways = {0: 1}  # slots that are filled, as bits → ways
    for thing in things:
        ways = dict(ways)
        for filled, number in list(ways.items()):
            for k, pool in enumerate(pools):
                if not filled >> k & 1 and thing in pool:
                    ways[filled | 1 << k] = ways.get(filled | 1 << k, 0) + number
    return ways[(1 << len(pools)) - 1]
