"""Values for objects so that given atoms come out as wanted: a small search over finite domains, complete and random.

Domains are bits of whole numbers. Every object has an item (category, identity and whatever else a set declares), a place and a view;
atoms never tie these to each other, so each is searched for on its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from etude.decisions.formulas import Atom
from etude.decisions.space import LOCATION, SORTS, VIEW, SeenThing, StimulusSpace
from etude.names import Stream

Tie = tuple[int, int, tuple[int, ...]]  # variable, other variable, and for each value of the one the values left to the other, as bits


@functools.lru_cache(maxsize=4096)
def bits(mask: int) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


class Domain:
    """The tables of one space that atoms are looked up in. ``views`` are those that may be shown: a split has its own."""

    def __init__(self, space: StimulusSpace, views: Sequence[int] | None = None) -> None:
        self.space = space
        self._tables: dict[tuple[str, str, bool], tuple[int, ...]] = {}
        shown = sum(1 << v for v in set(range(space.views) if views is None else views))
        self._full = {"item": (1 << space.items) - 1, LOCATION: (1 << space.cells) - 1, VIEW: shown}
        self._loose: dict[str, bool] = {}
        names = ["true", "false", *(str(n) for n in range(100)), *(v for p in (LOCATION, *space.classes, VIEW) for v in space.values(p))]
        self._ranks = {name: k for k, name in reversed(list(enumerate(names)))}

    def rank(self, answer: str) -> tuple[int, str]:
        """The order of answers: true and false first, then numbers, then values of properties in their own order, then all others."""
        return self._ranks.get(answer, len(self._ranks)), answer

    def full(self, sort: str) -> int:
        """Every value of a sort of variable."""
        return self._full[sort]

    def table(self, prop: str, relation: str, wanted: bool) -> tuple[int, ...]:
        """For each value of the first object's variable, the values the second may have."""
        key = (prop, relation, wanted)
        if key not in self._tables:
            full = self._full[self.space.sort(prop)]
            if relation == "same":
                found = [self.space.masks(prop)[value] for value in self.space.numbers(prop)]
            else:
                cells = range(self.space.cells)
                found = [sum(1 << b for b in cells if self.space.related(relation, a, b)) for a in cells]
            self._tables[key] = tuple(found if wanted else [full & ~mask for mask in found])
        return self._tables[key]

    def loose(self, prop: str) -> bool:
        """Is there for every value another object with the same, and another with a different one?"""
        if prop not in self._loose:
            full = self._full[self.space.sort(prop)]
            kinds = {table[v] & full for v in bits(full) for table in (self.table(prop, "same", True), self.table(prop, "same", False))}
            values = (self.alone(prop, v, wanted) & full for v in range(len(self.space.values(prop))) for wanted in (True, False))
            self._loose[prop] = 0 not in kinds and 0 not in values
        return self._loose[prop]

    def backwards(self, prop: str, relation: str, wanted: bool) -> tuple[int, ...]:
        """For each value of the second object's variable, the values the first may have."""
        opposite = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}
        return self.table(prop, opposite.get(relation, relation), wanted)

    def alone(self, prop: str, value: int, wanted: bool) -> int:
        """The values of a variable whose property has this value, or has not."""
        mask = self.space.masks(prop)[value]
        return mask if wanted else self._full[self.space.sort(prop)] & ~mask


Wanted = Sequence[tuple[Atom, bool]]
Problem = dict[str, tuple[dict[int, int], list[Tie]]]  # for each sort: what each frame's variable may be, and the ties between them


def posed(domain: Domain, frames: Sequence[int], wanted: Wanted, given: Mapping[int, SeenThing] | None = None) -> Problem:
    """The search as data. ``given`` are frames whose object is settled already."""
    problem: Problem = {sort: ({f: domain.full(sort) for f in frames}, []) for sort in SORTS}
    for frame, thing in (given or {}).items():
        for sort in SORTS:
            problem[sort][0][frame] &= 1 << thing.part(sort)
    for atom, truth in wanted:
        allowed, ties = problem[domain.space.sort(atom.property)]
        if atom.second is None:
            allowed[atom.first] &= domain.alone(atom.property, atom.value, truth)
        else:
            ties.append((atom.first, atom.second, domain.table(atom.property, atom.relation, truth)))
            ties.append((atom.second, atom.first, domain.backwards(atom.property, atom.relation, truth)))
    return problem


def solvable(domain: Domain, frames: Sequence[int], wanted: Wanted, given: Mapping[int, SeenThing] | None = None) -> bool:
    """Is there any way?"""
    for allowed, ties in posed(domain, frames, wanted, given).values():
        if 0 in allowed.values():
            return False
        if ties:
            links = _tied(ties)
            if _found(allowed, links, None) is None:
                return False
    return True


Pairs = frozenset[tuple[int, int]]
Links = dict[int, list[tuple[int, tuple[int, ...]]]]


def solved(problem: Problem, stream: Stream, foils: Pairs = frozenset(), space: StimulusSpace | None = None) -> dict[int, SeenThing]:
    """One thing for each frame; the problem must have a solution. ``foils`` are pairs that shall be of one category."""
    values: dict[str, dict[int, int]] = {}
    for sort, (allowed, ties) in problem.items():
        found: dict[int, int] | None = {}
        if ties:
            links = _tied(ties)
            if sort == "item" and foils and space is not None and "category" in space.classes:
                links = _with_foils(allowed, links, foils, space)
            found = _found(allowed, links, stream)
        assert found is not None
        values[sort] = found
        for frame, mask in allowed.items():
            if frame not in found:
                found[frame] = _drawn(mask, stream)
    items, places, views = values["item"], values[LOCATION], values[VIEW]
    return {f: SeenThing(items[f], places[f], views[f]) for f in problem["item"][0]}


def _tied(ties: list[Tie]) -> Links:
    links: Links = {}
    for a, b, table in ties:
        links.setdefault(a, []).append((b, table))
    return links


def _with_foils(allowed: dict[int, int], links: Links, foils: Pairs, space: StimulusSpace) -> Links:
    """The same ties, and every foil tied to one category, where it may be: otherwise category would give identity away."""
    same = tuple(map(space.masks("category").__getitem__, space.classes["category"]))
    for a, b in sorted(foils):
        more = {**links, a: [*links[a], (b, same)], b: [*links[b], (a, same)]}
        if _found(allowed, more, None) is not None:
            links = more
    return links


def _drawn(mask: int, stream: Stream) -> int:
    options = bits(mask)
    return options[stream.integer(0, len(options) - 1)]


def _found(allowed: dict[int, int], links: Links, stream: Stream | None) -> dict[int, int] | None:
    """Values for all tied variables. Those that are not tied to each other are searched for apart: a dead end in one place must not make
    the search go through all there is in another."""
    found: dict[int, int] = {}
    for first in links:
        if first in found:
            continue
        group, new = {first}, [first]
        while new:
            for other, _ in links[new.pop()]:
                if other not in group:
                    group.add(other)
                    new.append(other)
        values = _searched({v: allowed[v] for v in sorted(group)}, links, stream)
        if values is None:
            return None
        found.update(values)
    return found


def _searched(allowed: dict[int, int], links: Links, stream: Stream | None) -> dict[int, int] | None:
    """Backtracking with forward checking, the most constrained variable first; in random order where there is a stream.

    Values that leave the same to all others lead to the same end: where only that end counts, one of them is tried."""
    if not allowed:
        return {}
    _, variable = min([(mask.bit_count(), v) for v, mask in allowed.items()])
    options = bits(allowed[variable])
    tied = [(other, table) for other, table in links[variable] if other in allowed]
    tried: set[tuple[int, ...]] = set()
    for value in options if stream is None else _in_random_order(options, stream):
        rest = dict(allowed)
        del rest[variable]
        for other, table in tied:
            rest[other] &= table[value]
            if not rest[other]:
                break
        else:
            left = tuple(rest[other] for other, _ in tied)
            if stream is None and left in tried:
                continue
            tried.add(left)
            found = _searched(rest, links, stream)
            if found is not None:
                found[variable] = value
                return found
    return None


def _in_random_order(options: tuple[int, ...], stream: Stream) -> Iterator[int]:
    """All options in random order; usually only the first is asked for."""
    first = options[stream.integer(0, len(options) - 1)]
    yield first
    yield from stream.shuffled([o for o in options if o != first])
