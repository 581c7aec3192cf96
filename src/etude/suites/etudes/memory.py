"""Acts that need a memory: of which thing was touched first, and of how things stood at the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from etude.decisions.graph import walk
from etude.decisions.looks import Select
from etude.decisions.operator import ACT, Kind, Operator
from etude.decisions.templates import EXACT, FLUENT
from etude.goals.branching import Recollection, Succession
from etude.goals.goal import All, Goal, Once
from etude.names import EtudeError
from etude.suites.etudes.acts import MOVED, Act, Deed, It, Stage, drawn_deed

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker


@dataclass(frozen=True)
class Recall(Act):
    """Two deeds in either order, and then something with the thing that was touched first: nothing shows any more which one it was."""

    left: Operator
    right: Operator
    act: Operator

    command = "in either order {left} and {right}, then for the one that was touched first, {act}"
    bracketed = (EXACT, FLUENT)
    least = (2, 4)

    def kind(self) -> Kind:
        for part in (self.left, self.right):
            if not isinstance(part, Deed) or part.kind() != ACT:
                raise EtudeError(f"Recall takes two deeds and then an act, not {part.json_kind}")
        if len(set(self.things())) < 2:
            raise EtudeError("Recall needs different things: otherwise there is nothing to remember")
        if self.act.kind() != ACT or not any(isinstance(node, It) for node in walk(self.act)):
            raise EtudeError("Recall asks for something to be done with the thing that was touched first: its act does not speak of it")
        return ACT

    def things(self) -> tuple[Select, ...]:
        """Those of which one is touched first."""
        return tuple(part for deed in (self.left, self.right) for part in deed.inputs()[:1] if isinstance(part, Select))

    def goal(self, stage: Stage) -> Goal:
        things = self.things()
        members = tuple(Once(stage.goal(part)) for part in (self.left, self.right))
        return Recollection(members, tuple(map(stage.name, things)), tuple(stage.with_it(one).goal(self.act) for one in things))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        """Its last deed moves what it is about: a mere touch would be done by the hand that has not yet left the other thing."""
        left, right = (drawn_deed(attempt, lambda kind: kind.repeatable).drawn(attempt, 0, 1) for _ in range(2))
        act = drawn_deed(attempt, lambda kind: kind.casting[0] == MOVED and len(kind.casting) == 2).drawn_for_each(attempt)
        return lambda when: cls(left(when), right(when), act(when))


@dataclass(frozen=True)
class Undo(Act):
    """An act, after which everything that it took away goes back to where it stood."""

    act: Operator

    command = "do and then undo this: {act}"
    bracketed = (EXACT, FLUENT)
    least = (2, 2)
    rounds = 2

    def kind(self) -> Kind:
        if self.act.kind() != ACT:
            raise EtudeError(f"Undo takes what is to be done, not {self.act.kind()}")
        if not any(deed.carried() or deed.undoable for deed in self._deeds()):
            raise EtudeError("Undo puts things back, but what is to be done moves none")
        return ACT

    def _deeds(self) -> list[Deed]:
        return [node for node in walk(self.act) if isinstance(node, Deed)]

    def goal(self, stage: Stage) -> Goal:
        # The last one first: it may stand on another.
        back = tuple(goal for deed in reversed(self._deeds()) for goal in deed.undone(stage))
        return Succession((Once(stage.goal(self.act)), All(back) if len(back) > 1 else back[0]))

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        act = drawn_deed(attempt, lambda kind: kind.undoable).drawn(attempt, 0, 1)
        return lambda when: cls(act(when))
