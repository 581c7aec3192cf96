"""Values for objects so that given atoms come out as wanted: a small search over finite domains, complete and random.

Domains are bits of whole numbers. Every object has an item (category, identity and whatever else a set declares), a place and a view;
atoms never tie these to each other, so each is searched for on its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from etude.decisions.meaning import Atom, related
from etude.decisions.space import LOCATION, VIEW, Space, Thing
from etude.names import Stream

Tie = tuple[int, int, tuple[int, ...]]  # variable, other variable, and for each value of the one the values left to the other, as bits
FOIL = 0.5  # of pairs with different identities have the same category, where they may: otherwise category would give identity away


@functools.lru_cache(maxsize=4096)
def bits(mask: int) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


class Domain:
    """The tables of one space that atoms are looked up in."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._tables: dict[tuple[str, str, bool], tuple[int, ...]] = {}
        self._full = {"item": (1 << space.items) - 1, LOCATION: (1 << space.cells) - 1, VIEW: (1 << space.views) - 1}

    def full(self, sort: str) -> int:
        """Every value of a sort of variable."""
        return self._full[sort]

    def sort(self, prop: str) -> str:
        """The sort of variable a property belongs to."""
        return prop if prop in (LOCATION, VIEW) else "item"

    def table(self, prop: str, relation: str, wanted: bool) -> tuple[int, ...]:
        """For each value of the first object's variable, the values the second may have."""
        key = (prop, relation, wanted)
        if key not in self._tables:
            sort = self.sort(prop)
            full = self._full[sort]
            found = []
            for a in range(full.bit_length()):
                if relation == "same":
                    mask = self.space.masks(prop)[self.space.classes[prop][a]] if sort == "item" else 1 << a
                else:
                    mask = sum(1 << b for b in range(self.space.cells) if related(relation, a, b, self.space))
                found.append(mask if wanted else full & ~mask)
            self._tables[key] = tuple(found)
        return self._tables[key]

    def backwards(self, prop: str, relation: str, wanted: bool) -> tuple[int, ...]:
        """For each value of the second object's variable, the values the first may have."""
        opposite = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}
        return self.table(prop, opposite.get(relation, relation), wanted)

    def alone(self, prop: str, value: int, wanted: bool) -> int:
        """The values of a variable whose property has this value, or has not."""
        sort = self.sort(prop)
        mask = self.space.masks(prop)[value] if sort == "item" else 1 << value
        return mask if wanted else self._full[sort] & ~mask


Wanted = Sequence[tuple[Atom, bool]]
Problem = dict[str, tuple[dict[int, int], list[Tie]]]  # for each sort: what each frame's variable may be, and the ties between them


def posed(domain: Domain, frames: Sequence[int], wanted: Wanted) -> Problem:
    """The search as data: it can be solved many times, each time with other random choices."""
    problem: Problem = {sort: ({f: domain.full(sort) for f in frames}, []) for sort in ("item", LOCATION, VIEW)}
    for atom, truth in wanted:
        allowed, ties = problem[domain.sort(atom.property)]
        if atom.second is None:
            allowed[atom.first] &= domain.alone(atom.property, atom.value, truth)
        else:
            ties.append((atom.first, atom.second, domain.table(atom.property, atom.relation, truth)))
            ties.append((atom.second, atom.first, domain.backwards(atom.property, atom.relation, truth)))
    return problem


def solvable(domain: Domain, frames: Sequence[int], wanted: Wanted) -> bool:
    """Is there any way?"""
    for allowed, ties in posed(domain, frames, wanted).values():
        if 0 in allowed.values() or (ties and _searched(dict(allowed), _tied(ties), None) is None):
            return False
    return True


Pairs = frozenset[tuple[int, int]]


def solved(problem: Problem, stream: Stream, foils: Pairs = frozenset(), space: Space | None = None) -> dict[int, Thing]:
    """One thing for each frame; the problem must have a solution. ``foils`` are pairs that shall differ in little."""
    values: dict[str, dict[int, int]] = {}
    for sort, (allowed, ties) in problem.items():
        if not ties:
            values[sort] = {f: _drawn(mask, stream) for f, mask in allowed.items()}
            continue
        links = _tied(ties)
        found = None
        if sort == "item" and foils and space is not None:
            found = _searched(dict(allowed), _with_foils(links, foils, space, stream), stream)
        found = found or _searched(dict(allowed), links, stream)
        assert found is not None
        values[sort] = found
    items, places, views = values["item"], values[LOCATION], values[VIEW]
    return {f: Thing(items[f], places[f], views[f]) for f in items}


def _tied(ties: list[Tie]) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
    links: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for a, b, table in ties:
        links.setdefault(a, []).append((b, table))
    return links


def _with_foils(
    links: dict[int, list[tuple[int, tuple[int, ...]]]], foils: Pairs, space: Space, stream: Stream
) -> dict[int, list[tuple[int, tuple[int, ...]]]]:
    """The same ties, and half of the foils tied to one category."""
    found = {a: list(others) for a, others in links.items()}
    same = tuple(space.masks("category")[c] for c in space.classes["category"])
    for a, b in sorted(foils):
        if stream.chance(FOIL):
            found[a].append((b, same))
            found[b].append((a, same))
    return found


def _drawn(mask: int, stream: Stream) -> int:
    options = bits(mask)
    return options[stream.integer(0, len(options) - 1)]


def _searched(allowed: dict[int, int], links: dict[int, list[tuple[int, tuple[int, ...]]]], stream: Stream | None) -> dict[int, int] | None:
    """Backtracking with forward checking, the most constrained variable first; in random order where there is a stream."""
    if 0 in allowed.values():
        return None
    if not allowed:
        return {}
    tied = [v for v in allowed if v in links]
    if not tied:
        return {v: (_drawn(m, stream) if stream is not None else bits(m)[0]) for v, m in allowed.items()}
    variable = min(tied, key=lambda v: (allowed[v].bit_count(), v))
    options = bits(allowed[variable])
    for value in options if stream is None else _in_random_order(options, stream):
        rest = {v: m for v, m in allowed.items() if v != variable}
        for other, table in links[variable]:
            if other in rest:
                rest[other] &= table[value]
                if not rest[other]:
                    break
        else:
            found = _searched(rest, {a: o for a, o in links.items() if a != variable}, stream)
            if found is not None:
                found[variable] = value
                return found
    return None


def _in_random_order(options: tuple[int, ...], stream: Stream) -> Iterator[int]:
    """All options in random order; usually only the first is asked for."""
    first = options[stream.integer(0, len(options) - 1)]
    yield first
    yield from stream.shuffled([o for o in options if o != first])
