"""By which words the operators there are can be recognised in a text."""

from __future__ import annotations

import functools
from typing import NamedTuple

from etude.decisions.looks import Select, ValueComparison
from etude.decisions.operator import Operator, field_types
from etude.decisions.templates import TextPiece, keys, pieces


class WordPattern(NamedTuple):
    """The words of an operator after those by which it is recognised, which are ``keys``; ``given`` is the field read before them."""

    keys: tuple[str, ...]
    kind: type[Operator]
    given: str
    rest: tuple[TextPiece, ...]


class GrammarPatterns(NamedTuple):
    """All that operators say in a grammar: those that begin with words of their own, with an object, or with another question."""

    opening: list[WordPattern]
    of_objects: list[WordPattern]
    joining: list[WordPattern]


@functools.lru_cache(maxsize=16)
def patterns(grammar: str, count: int) -> GrammarPatterns:
    """The patterns of a grammar; ``count`` is the number of operators there are by now."""
    found = GrammarPatterns([], [], [])
    for kind in Operator.kinds.values():
        if pattern := getattr(kind, grammar, ""):
            first, *rest = pieces(pattern)
            if not first.name:
                found.opening.append(WordPattern(first.keys, kind, "", tuple(rest)))
            else:
                table = found.of_objects if field_types(kind)[first.name] is Select else found.joining
                table.append(WordPattern(rest[0].keys, kind, first.name, tuple(rest[1:])))
    for table in found:
        table.sort(key=lambda pattern: -len(pattern.keys))
    return found


@functools.lru_cache(maxsize=16)
def signs(grammar: str, count: int) -> list[tuple[list[str], type[ValueComparison]]]:
    """The words between two values that are compared, the longest first, and what they mean."""
    found = [(keys(s), kind) for kind in Operator.kinds.values() if issubclass(kind, ValueComparison) for s in kind.signs.get(grammar, ())]
    return sorted(found, key=lambda pair: -len(pair[0]))
