"""A task made ready for trials: which answers it can have, and how objects must be for each of them.

The wanted answer is requested first and met. Questions whose answer is always the same, or in which some comparison can never matter, are
refused. Where there is a choice, the ways to an answer are preferred in which every part of the question matters, so that half a question
is not enough to answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from etude.decisions.graph import Task
from etude.decisions.meaning import Atom, Choice, Formula, Meaning, Outcome, holds, meaning
from etude.decisions.solver import Domain, Problem, posed, solvable, solved
from etude.decisions.space import LOCATION, VIEW, Space, Thing
from etude.names import EtudeError, Stream, unknown

MOST_ATOMS = 12  # 4,096 ways to be looked through


class Degenerate(EtudeError):
    """The question has only one answer, or asks for something that can never matter."""


@dataclass(frozen=True)
class Way:
    """One way to an answer: the truth of every atom, what else must hold, and whether the first condition is true (None without one)."""

    wanted: tuple[tuple[Atom, bool], ...]
    decisive: int
    branch: bool | None


class Question:
    """A task in a space, ready to be asked. ``offset`` is the frame on which it begins."""

    def __init__(self, task: Task, space: Space, offset: int = 0, domain: Domain | None = None) -> None:
        self.task, self.space, self.offset = task, space, offset
        self._domain = domain or Domain(space)
        self.meaning: Meaning = meaning(task, space, offset)
        if len(self.meaning.atoms) > MOST_ATOMS:
            raise EtudeError(f"a question with {len(self.meaning.atoms)} comparisons is too large; at most {MOST_ATOMS}")
        self._truths = self._feasible()
        self.ways = self._sorted_out()
        if len(self.ways) < 2:
            only = next(iter(self.ways), "none")
            raise Degenerate(f"the question has only one answer ({only})")
        self._refuse_idle_atoms()
        self._problems: dict[tuple[str, int], Problem] = {}

    @property
    def answers(self) -> tuple[str, ...]:
        """Every answer it can have."""
        return tuple(self.ways)

    # ---------------------------------------------------------------------------------------- what is possible

    def _feasible(self) -> list[tuple[bool, ...]]:
        """The truths of the atoms that can be had together, and with which the question makes sense."""
        atoms, asserted = self.meaning.atoms, self.meaning.asserted
        free = _independent(atoms, self._domain)
        found = []
        for truth in product((True, False), repeat=len(atoms)):
            if all(holds(f, truth) for f in asserted) and (
                free or solvable(self._domain, self.meaning.frames, list(zip(atoms, truth, strict=True)))
            ):
                found.append(truth)
        return found

    def _sorted_out(self) -> dict[str, list[Way]]:
        """The ways to each answer, the best of them only."""
        found: dict[str, list[Way]] = {}
        for truth in self._truths:
            for answer, way in self._outcomes(truth):
                found.setdefault(answer, []).append(way)
        best = {}
        for answer in sorted(found, key=_order_of_answers(self.space)):
            ways = found[answer]
            kept = []
            for branch in (True, False, None):
                members = [w for w in ways if w.branch is branch]
                if members:
                    most = max(w.decisive for w in members)
                    kept += [w for w in members if w.decisive == most]
            best[answer] = kept
        return best

    def _outcomes(self, truth: tuple[bool, ...]) -> Iterator[tuple[str, Way]]:
        """The answers that this truth of the atoms allows."""
        pairs = tuple(zip(self.meaning.atoms, truth, strict=True))
        root = self.meaning.root
        branch = holds(root.condition, truth) if isinstance(root, Choice) else None
        taken, others = _taken(root, truth)
        decisive = self._decisive(truth)
        if taken.formula is not None or taken.counted:
            answer = _said(taken, truth)
            differ = [o for o in others if (o.formula is not None or o.counted) and _said(o, truth) == answer]
            yield answer, Way(pairs, decisive - 100 * len(differ), branch)
            return
        values = self.space.values(taken.property)
        if taken.frame < 0:
            yield values[taken.value], Way(pairs, decisive, branch)
            return
        apart = [o for o in others if o.property == taken.property and o.frame >= 0 and o.frame != taken.frame]
        for number, name in enumerate(values):
            extra = ((Atom(taken.property, taken.frame, None, number), True),)
            more = extra + tuple((Atom(o.property, o.frame, None, number), False) for o in apart)
            for wanted, worth in ((more, 1), (extra, 0)) if apart else ((extra, 0),):
                if solvable(self._domain, self.meaning.frames, pairs + wanted):
                    yield name, Way(pairs + wanted, decisive + 100 * worth, branch)
                    break

    def _decisive(self, truth: tuple[bool, ...]) -> int:
        """How many atoms would change the answer if they alone were different."""
        here = _fingerprint(self.meaning.root, truth)
        flipped = (_flipped(truth, k) for k in range(len(truth)))
        return sum(_fingerprint(self.meaning.root, other) != here for other in flipped)

    def _refuse_idle_atoms(self) -> None:
        possible = set(self._truths)
        root, asserted = self.meaning.root, self.meaning.asserted
        for k, atom in enumerate(self.meaning.atoms):
            for truth in self._truths:
                other = _flipped(truth, k)
                if other in possible and _fingerprint(root, other) != _fingerprint(root, truth):
                    break
            else:
                if not any(_uses(f, k) for f in asserted):
                    raise Degenerate(f"comparing the {atom.property} of the object on frame {atom.first + 1} can never matter")

    # ---------------------------------------------------------------------------------------- trials

    def way(self, answer: str, stream: Stream) -> Way:
        """A way to the answer: either branch of the first condition with the same chance."""
        if answer not in self.ways:
            raise unknown("answer", answer, self.ways)
        ways = self.ways[answer]
        branches = [b for b in (True, False, None) if any(w.branch is b for w in ways)]
        branch = branches[0] if len(branches) == 1 else branches[stream.integer(0, len(branches) - 1)]
        members = [w for w in ways if w.branch is branch]
        return members[0] if len(members) == 1 else members[stream.integer(0, len(members) - 1)]

    def things(self, answer: str, stream: Stream) -> dict[int, Thing]:
        """An object for every frame that is looked at, so that the answer is this one."""
        way = self.way(answer, stream)
        key = (answer, id(way))
        if key not in self._problems:
            self._problems[key] = posed(self._domain, self.meaning.frames, way.wanted)
        return solved(self._problems[key], stream, foils_of(way.wanted), self.space)


def foils_of(wanted: Sequence[tuple[Atom, bool]]) -> frozenset[tuple[int, int]]:
    """The pairs whose identities shall differ."""
    return frozenset((a.first, a.second) for a, truth in wanted if a.property == "identity" and not truth and a.second is not None)


def _flipped(truth: tuple[bool, ...], k: int) -> tuple[bool, ...]:
    return (*truth[:k], not truth[k], *truth[k + 1 :])


def _independent(atoms: Sequence[Atom], domain: Domain) -> bool:
    """Can every atom be true or false whatever the others are? So it is when they tie objects, and constants, without a ring."""
    parents: dict[tuple[str, int], tuple[str, int]] = {}

    def root(node: tuple[str, int]) -> tuple[str, int]:
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    for atom in atoms:
        if atom.relation != "same":
            return False
        sort = domain.sort(atom.property)
        a, b = root((sort, atom.first)), root((sort, -1 if atom.second is None else atom.second))
        if a == b:
            return False
        parents[a] = b
    return True


def _taken(root: Outcome | Choice, truth: Sequence[bool]) -> tuple[Outcome, list[Outcome]]:
    """The outcome that counts, and those of the branches that were not taken."""
    others: list[Outcome] = []
    while isinstance(root, Choice):
        yes = holds(root.condition, truth)
        taken, left = (root.then, root.otherwise) if yes else (root.otherwise, root.then)
        others.append(_taken(left, truth)[0])
        root = taken
    return root, others


def _said(outcome: Outcome, truth: Sequence[bool]) -> str:
    if outcome.formula is not None:
        return str(holds(outcome.formula, truth)).lower()
    return str(sum(holds(f, truth) for f in outcome.counted))


def _fingerprint(root: Outcome | Choice, truth: Sequence[bool]) -> object:
    """What the answer is, or where it is read off."""
    taken, _ = _taken(root, truth)
    if taken.formula is not None or taken.counted:
        return _said(taken, truth)
    return taken.property, taken.frame, taken.value


def _uses(formula: Formula, atom: int) -> bool:
    if isinstance(formula, bool):
        return False
    if isinstance(formula, int):
        return formula == atom
    return any(_uses(part, atom) for part in formula[1:])


def _order_of_answers(space: Space) -> Callable[[str], int]:
    """True and false first, then numbers, then values of properties in their own order."""
    names = ["true", "false", *(str(n) for n in range(100))]
    for prop in (LOCATION, *space.classes, VIEW):
        names += space.values(prop)
    table = {name: k for k, name in reversed(list(enumerate(names)))}
    return lambda answer: table.get(answer, len(table))
