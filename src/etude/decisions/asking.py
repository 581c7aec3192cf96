"""A task made ready for trials: which answers it can have, and how objects must be for each of them.

The wanted answer is requested first and met. Questions whose answer is always the same, or in which some comparison can never matter, are
refused. Where there is a choice, the ways to an answer are preferred in which every part of the question matters, so that half a question
is not enough to answer it: both branches of a Switch say different things, and the part of an And or Or that decides is one alone.

With n atoms there are 2ⁿ truths of them. A set of truths is one whole number, truth t being its bit t, and atom k is true in t where bit k
of t is set: formulas, answers and what matters are worked out for all truths at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from etude.decisions.formulas import Atom, Branch, Formula, Outcome, holds
from etude.decisions.graph import DecisionGraph
from etude.decisions.meaning import Meaning, meaning
from etude.decisions.solver import Domain, bits, posed, solvable, solved
from etude.decisions.space import SeenThing, StimulusSpace
from etude.names import EtudeError, Stream, unknown

MOST_ATOMS = 12  # 4,096 truths to be looked through

Wanted = tuple[tuple[Atom, bool], ...]
Classes = dict[str | Outcome, int]  # an answer, or where it is read off → the truths with which it is so
Option = tuple[int, Wanted]  # a truth of the atoms, and what else must hold


class Degenerate(EtudeError):
    """The question has only one answer, or asks for something that can never matter."""


class TooLarge(EtudeError):
    """The question makes more comparisons than can be looked through."""


class Question:
    """A task in a space, ready to be asked. ``offset`` is the frame on which it begins."""

    def __init__(self, task: DecisionGraph, space: StimulusSpace, offset: int = 0, domain: Domain | None = None) -> None:
        self.task, self.space, self.offset = task, space, offset
        self._domain = domain or Domain(space)
        self.meaning: Meaning = meaning(task, space, offset)
        self._count = len(self.meaning.atoms)
        if self._count > MOST_ATOMS:
            raise TooLarge(f"a question with {self._count} comparisons is too large; at most {MOST_ATOMS}")
        root = self.meaning.root
        self._classes, self._agreeing = _classes(root, self._count)
        self._yes = _truths(root.condition, self._count) if isinstance(root, Branch) else 0
        self._read = [key for key in self._classes if isinstance(key, Outcome) and key.frame >= 0]
        self._loose = _independent((*self.meaning.atoms, *(Atom(o.property, o.frame, None, 0) for o in self._read)), self._domain)
        self._possible = self._feasible()
        self._best: dict[str, dict[bool | None, tuple[Option, ...]]] = {}
        self.answers: tuple[str, ...] = self._answers()
        self._levels = self._refuse_idle_atoms()

    # ---------------------------------------------------------------------------------------- what is possible

    def _feasible(self) -> int:
        """The truths of the atoms that are possible together, and with which the question makes sense."""
        atoms = self.meaning.atoms
        found = _everything(self._count)
        for formula in self.meaning.asserted:
            found &= _truths(formula, self._count)
        if not self._loose:
            for group in _groups(atoms, self._domain):
                if not _independent([atoms[k] for k in group], self._domain):
                    found &= self._feasible_in(group)
        return found

    def _feasible_in(self, group: Sequence[int]) -> int:
        """The truths that are possible as far as a group of atoms is concerned, which no others are tied to."""
        atoms, found = self.meaning.atoms, 0
        for signs in product((True, False), repeat=len(group)):
            wanted = [(atoms[k], sign) for k, sign in zip(group, signs, strict=True)]
            if solvable(self._domain, self.meaning.frames, wanted):
                truths = _everything(self._count)
                for k, sign in zip(group, signs, strict=True):
                    truths &= _true(k, self._count) if sign else ~_true(k, self._count)
                found |= truths
        return found

    def _answers(self) -> tuple[str, ...]:
        """Every answer it can have, in a fixed order."""
        found: set[str] = set()
        for key, truths in self._classes.items():
            if not truths & self._possible:
                continue
            if isinstance(key, str):
                found.add(key)
                continue
            values = self.space.values(key.property)
            if key.frame < 0:
                found.add(values[key.value])
                continue
            there = [v for k, v in enumerate(values) if self._loose or self._readable(key, k, truths & self._possible)]
            if len(there) < 2:
                raise Degenerate(f"the {key.property} of the object on frame {key.frame + 1} is known before it is read")
            found.update(there)
        if len(found) < 2:
            raise Degenerate(f"the question has only one answer ({next(iter(found), 'none')})")
        return tuple(sorted(found, key=self._domain.rank))

    def _readable(self, read: Outcome, value: int, truths: int) -> bool:
        return any(self._extras(t, read, value, (False,)) is not None for t in bits(truths))

    def _refuse_idle_atoms(self) -> list[int]:
        """Every atom must matter somewhere. Gives for 1, 2, ... the truths in which so many atoms would, each alone, change the answer."""
        levels: list[int] = []
        for k, atom in enumerate(self.meaning.atoms):
            matters = _everything(self._count)
            for truths in self._classes.values():
                matters &= ~(truths & _flipped(truths, k, self._count))
            if not matters & self._possible & _flipped(self._possible, k, self._count) and not any(
                _uses(f, k) for f in self.meaning.asserted
            ):
                raise Degenerate(f"comparing the {atom.property} of the object on frame {atom.first + 1} can never matter")
            levels.append(0)
            for count in range(len(levels) - 1, 0, -1):
                levels[count] |= levels[count - 1] & matters
            levels[0] |= matters
        return levels

    # ---------------------------------------------------------------------------------------- ways to an answer

    def _pairs(self, truth: int) -> Wanted:
        return tuple((atom, bool(truth >> k & 1)) for k, atom in enumerate(self.meaning.atoms))

    def _sets(self, answer: str) -> Iterator[tuple[Outcome | None, int, int]]:
        """The truths with which an answer is possible, by what is read off: (where, the number of the value there, truths)."""
        for key, truths in self._classes.items():
            if isinstance(key, str):
                if key == answer:
                    yield None, -1, truths & self._possible
                continue
            values = self.space.values(key.property)
            if answer in values and key.frame < 0:
                if values[key.value] == answer:
                    yield None, -1, truths & self._possible
            elif answer in values:
                yield key, values.index(answer), truths & self._possible

    def _extras(self, truth: int, read: Outcome, value: int, apart: Sequence[bool]) -> Wanted | None:
        """What else must hold so that this value is read off; ``apart``: where the other branches would read the same, make them differ."""
        extra = ((Atom(read.property, read.frame, None, value), True),)
        for far in apart:
            wanted: Wanted = extra
            if far:
                for other in _left_out(self.meaning.root, [bool(truth >> k & 1) for k in range(self._count)]):
                    if other.property == read.property and other.frame >= 0 and other.frame != read.frame:
                        wanted += ((Atom(other.property, other.frame, None, value), False),)
            if self._loose or solvable(self._domain, self.meaning.frames, self._pairs(truth) + wanted):
                return wanted
        return None

    def best(self, answer: str) -> Mapping[bool | None, Sequence[Option]]:
        """The best ways to an answer, by the truth of the first condition (None where there is none)."""
        if answer not in self._best:
            if answer not in self.answers:
                raise unknown("answer", answer, self.answers)
            found: dict[bool | None, tuple[Option, ...]] = {}
            whole = _everything(self._count)
            sides = ((True, self._yes), (False, whole & ~self._yes)) if isinstance(self.meaning.root, Branch) else ((None, whole),)
            for side, condition in sides:
                options: tuple[Option, ...] = ()
                for read, value, truths in self._sets(answer):
                    options += self._preferred(truths & condition, read, value)
                if options:
                    found[side] = options
            self._best[answer] = found
        return self._best[answer]

    def _preferred(self, truths: int, read: Outcome | None, value: int) -> tuple[Option, ...]:
        for group in (truths & ~self._agreeing, truths & self._agreeing):
            for level in (*reversed(self._levels), _everything(self._count)):
                members = bits(group & level)
                if read is None and members:
                    return tuple((t, ()) for t in members)
                if read is not None:
                    made = [(t, self._extras(t, read, value, (True, False))) for t in members]
                    options = [(t, extra) for t, extra in made if extra is not None]
                    most = max((len(extra) for _, extra in options), default=0)
                    if options:
                        return tuple((t, extra) for t, extra in options if len(extra) == most)
        return ()

    def way(self, answer: str, stream: Stream, branch: bool | None = None) -> Wanted:
        """The truth of every atom for an answer, and what else must hold. Both branches of the first condition come with the same chance,
        or the one that is asked for where it is possible."""
        best = self.best(answer)
        side = branch if branch in best else next(iter(best)) if len(best) == 1 else stream.chance(0.5)
        options = best[side]
        return self.wanted(options[0] if len(options) == 1 else options[stream.integer(0, len(options) - 1)])

    def wanted(self, option: Option) -> Wanted:
        """An option spelled out: every atom with its truth, and what else must hold."""
        return self._pairs(option[0]) + option[1]

    def every_way(self, answer: str, stream: Stream, branch: bool | None = None) -> Iterator[Wanted]:
        """All ways to an answer: a good one first, then the others as they come."""
        first = self.way(answer, stream, branch)
        yield first
        best = self.best(answer)
        for side in sorted(best, key=lambda s: s is not branch):
            yield from map(self.wanted, stream.shuffled(best[side]))
        for read, value, truths in self._sets(answer):
            for truth in stream.shuffled(bits(truths)):
                if read is None:
                    yield self._pairs(truth)
                elif (alone := self._extras(truth, read, value, (False,))) is not None:
                    yield self._pairs(truth) + alone

    def things(self, answer: str, stream: Stream) -> dict[int, SeenThing]:
        """An object for every frame that is looked at, so that the answer is this one."""
        wanted = self.way(answer, stream)
        return solved(posed(self._domain, self.meaning.frames, wanted), stream, foils_of(wanted), self.space)


@functools.lru_cache(maxsize=4096)
def asked(task: DecisionGraph, domain: Domain, offset: int) -> Question:
    """The question of a task; the same one as long as it is remembered."""
    return Question(task, domain.space, offset, domain)


def foils_of(wanted: Sequence[tuple[Atom, bool]]) -> frozenset[tuple[int, int]]:
    """The pairs whose identities shall differ."""
    return frozenset((a.first, a.second) for a, truth in wanted if a.property == "identity" and not truth and a.second is not None)


# ------------------------------------------------------------------------------------------------ sets of truths


@functools.cache
def _everything(count: int) -> int:
    return (1 << (1 << count)) - 1


@functools.cache
def _true(atom: int, count: int) -> int:
    """The truths in which an atom is true."""
    return sum(1 << t for t in range(1 << count) if t >> atom & 1)


def _flipped(truths: int, atom: int, count: int) -> int:
    """The same truths, each with one atom the other way round."""
    true, step = _true(atom, count), 1 << atom
    return (truths & true) >> step | (truths & ~true) << step


def _truths(formula: Formula, count: int) -> int:
    """The truths in which a formula holds."""
    if isinstance(formula, bool):
        return _everything(count) if formula else 0
    if isinstance(formula, int):
        return _true(formula, count)
    parts = [_truths(part, count) for part in formula[1:]]
    sign = formula[0]
    if sign == "not":
        return _everything(count) & ~parts[0]
    if sign == "and":
        return parts[0] & parts[1]
    if sign == "or":
        return parts[0] | parts[1]
    if sign == "xor":
        return parts[0] ^ parts[1]
    return parts[0] & parts[1] | ~parts[0] & parts[2]


def _classes(root: Outcome | Branch, count: int) -> tuple[Classes, int]:
    """The truths by what is answered, and those in which some branch that is not taken says the same."""
    if isinstance(root, Branch):
        yes = _truths(root.condition, count)
        (then, then_agrees), (otherwise, otherwise_agrees) = _classes(root.then, count), _classes(root.otherwise, count)
        agrees = yes & then_agrees | ~yes & otherwise_agrees
        merged = {key: truths & yes for key, truths in then.items()}
        for key, truths in otherwise.items():
            if key in then and isinstance(key, str):
                agrees |= then[key] & truths
            merged[key] = merged.get(key, 0) | truths & ~yes
        return merged, agrees
    if root.formula is not None:
        true = _truths(root.formula, count)
        return {"true": true, "false": _everything(count) & ~true}, 0
    if root.counted:
        numbers = [_everything(count)]
        for formula in root.counted:
            one = _truths(formula, count)
            numbers = [few & ~one | fewer & one for few, fewer in zip([*numbers, 0], [0, *numbers], strict=True)]
        return {str(number): truths for number, truths in enumerate(numbers)}, 0
    return {root: _everything(count)}, 0


def _left_out(root: Outcome | Branch, truth: Sequence[bool]) -> list[Outcome]:
    """The outcomes of the branches that are not taken."""
    left: list[Outcome] = []
    while isinstance(root, Branch):
        taken, other = (root.then, root.otherwise) if holds(root.condition, truth) else (root.otherwise, root.then)
        while isinstance(other, Branch):
            other = other.then if holds(other.condition, truth) else other.otherwise
        left.append(other)
        root = taken
    return left


def _independent(atoms: Sequence[Atom], domain: Domain) -> bool:
    """Can every atom be true or false whatever the others are? So it is when they tie objects, and constants, without a ring."""
    return all(a.relation == "same" and domain.loose(a.property) for a in atoms) and not _joined(atoms, domain)[1]


def _groups(atoms: Sequence[Atom], domain: Domain) -> list[list[int]]:
    """The numbers of the atoms that are tied to each other."""
    places, _ = _joined(atoms, domain)
    groups: dict[tuple[str, int], list[int]] = {}
    for k, place in enumerate(places):
        groups.setdefault(place, []).append(k)
    return list(groups.values())


def _joined(atoms: Sequence[Atom], domain: Domain) -> tuple[list[tuple[str, int]], bool]:
    """What ties every atom to others (equal for atoms that are tied to each other), and whether there is a ring."""
    parents: dict[tuple[str, int], tuple[str, int]] = {}
    ring = False

    def root(node: tuple[str, int]) -> tuple[str, int]:
        while (above := parents.get(node, node)) != node:
            node = above
        return node

    for atom in atoms:
        sort = domain.space.sort(atom.property)
        a, b = root((sort, atom.first)), root((sort, -1 if atom.second is None else atom.second))
        if a == b:
            ring = True
        parents[a] = b
    return [root((domain.space.sort(atom.property), atom.first)) for atom in atoms], ring


def _uses(formula: Formula, atom: int) -> bool:
    if isinstance(formula, bool):
        return False
    if isinstance(formula, int):
        return formula == atom
    return any(_uses(part, atom) for part in formula[1:])
