"""Études drawn at random: AutoTask's composition, with acts besides truths. A drawn graph speaks of things by number alone; which things
these are is decided when a scene is solved for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from etude.decisions.connectivity import GraphAttempt, TaskSpace, Unfit
from etude.decisions.graph import FIFTHS, fifth, rebuilt, walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Select, ValueComparison
from etude.decisions.operator import ACT, Operator
from etude.names import EtudeError, Stream
from etude.suites.etudes.acts import EACH, ONTO_AREA, SHAREABLE, Deed
from etude.suites.etudes.things import COLOUR, LOOKS, SHAPE

DEEDS = ("PutOn", "PutIn", "PushTowards", "Touch", "Tower", "TakeOver", "ThereAndBack")
JOINS = ("InOrder", "InAnyOrder", "OneOf", "Without", "ForEach", "Switch")
TRUTHS = ("IsSame", "NotSame", "And", "Or", "Xor", "Not")
MOST_THINGS = 6  # that an étude speaks of: more would stand in each other's way
ATTEMPTS = 2000
ASKED = (COLOUR, SHAPE)


@dataclass(frozen=True)
class Unsolved:
    """An étude about things 0, 1, … of which nothing is known but the parts they play, and the properties that are asked of them."""

    root: Operator
    parts: tuple[frozenset[str], ...]


def settings(skills: Sequence[str]) -> TaskSpace:
    """The space of études with these deeds."""
    return TaskSpace(
        booleans=TRUTHS,
        operators=(*skills, *JOINS, "Get", "Const", *TRUTHS),
        properties=((COLOUR, 1.0), (SHAPE, 1.0)),
        reported=(),
        named=ASKED,
        constants=1 / 4,
        max_depth=5,
        max_operators=11,
        joins=(0, 1),
        frames=(1, MOST_THINGS),
        delays=(0, 0),
        sharing=0.6,
    )


class ActAttempt(GraphAttempt):
    """One attempt at an étude."""

    def together(self, look: int, others: Mapping[int, str]) -> bool:
        """A thing plays one part, or one in each branch of a condition; one property may be asked of it too, it is told by the other."""
        return all(self._fit(look, other) for other in others)

    def _fit(self, one: int, other: int) -> bool:
        first, second = sorted((self.looks_for(one), self.looks_for(other)), key=lambda part: part not in ASKED)
        if first.startswith(EACH) or second.startswith(EACH):
            return False
        if first not in ASKED:
            parts = {first, second}
            return (parts <= {*SHAREABLE} or parts == {ONTO_AREA}) and self._alternative(one, other)
        return second not in ASKED and (first == COLOUR or second != ONTO_AREA)

    def _alternative(self, one: int, other: int) -> bool:
        """Will only one of the two be needed?"""
        return any((one in a and other in b) or (one in b and other in a) for a, b in self.alternatives)

    def etude(self, joins: int, depth: int) -> Unsolved:
        """Acts with this many joins."""
        made = self.below(ACT, self.drawable(ACT), joins, depth)
        objects = self.objects()
        parts: list[set[str]] = [set() for _ in range(max(objects) + 1)]
        for look, thing in enumerate(objects):
            parts[thing].add(self.looks_for(look))
        root = rebuilt(made(objects), _names_last)
        root.kind()
        if any(_resting(node.then) & _resting(node.otherwise) for node in walk(root) if isinstance(node, Switch)):
            raise Unfit  # on the way through one branch the other would come about
        return Unsolved(root, tuple(map(frozenset, parts)))


def _names_last(node: Operator) -> Operator:
    """Comparisons with a name as they are told: the thing first."""
    return type(node)(node.right, node.left) if isinstance(node, ValueComparison) and isinstance(node.left, Const) else node


def _resting(node: Operator) -> set[tuple[Operator, Operator]]:
    return {pair for deed in walk(node) if isinstance(deed, Deed) for pair in deed.resting()}


def is_held_out(root: Operator) -> bool:
    """Is its form one of the last fifth, whatever things it speaks of?"""
    return fifth(rebuilt(root, lambda node: type(node)(0) if isinstance(node, Select) else node)) == FIFTHS


def composed(skills: Sequence[str], joins: tuple[int, int], depth: int, stream: Stream, held_out: bool) -> Unsolved:
    """An étude drawn at random; the last fifth of all forms is ``held_out``."""
    space = settings(skills)
    for _ in range(ATTEMPTS):
        try:
            found = ActAttempt(space, stream, LOOKS.space).etude(stream.integer(*joins), depth)
        except (Unfit, EtudeError):
            continue
        if is_held_out(found.root) is held_out:
            return found
    raise EtudeError(f"no étude in {ATTEMPTS} attempts: depth={depth}, at most {2 * joins[1] + 1} nodes and {', '.join(skills)} leave none")
