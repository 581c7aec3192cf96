"""Cheats that only choose: each sees a part of what there is, and says which thing plays which part. No physics is needed to judge them.

A cheat is a class that is registered with what it may see; one of your own is tried on every suite from then on::

    @cheat("leftmost", sees="places")
    class Leftmost(ChoosingCheat):
        def key(self, case, slot, candidate):
            return candidate.place[1]
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from etude.audit.parts import Candidate, ChoiceCase, ChoiceSlot
from etude.names import rng
from etude.registry import Registry

ALIKE = 1e-9  # keys that differ by less are equal


class ChoosingCheat:
    """Gives every slot, in their order, the thing that it likes best of those that are left. Of equals it takes any.

    ``learns``: it is shown the answers of half of the episodes, and asked about the others.
    """

    learns = False

    def learn(self, cases: Sequence[ChoiceCase]) -> None:
        """Look at episodes whose right things are known."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        """How little it likes a thing for a slot."""
        raise NotImplementedError

    def choose(self, case: ChoiceCase, name: str) -> list[str]:
        """One thing for each slot."""
        stream, chosen = rng(case.episode, f"audit/{name}"), list[str]()
        for slot in case.slots:
            left = [c for c in stream.shuffled(slot.candidates) if c.name not in chosen]
            if not left:  # what could play this part was given to others
                return []
            chosen.append(min(left, key=lambda c: self.key(case, slot, c)).name)
        return chosen


@dataclass(frozen=True)
class Cheat:
    """A registered cheat: how it is called, what it may see, and what makes it."""

    name: str
    sees: str
    make: type[Any]


CHEATS: Registry[Cheat] = Registry("cheat")


def cheat(name: str, *, sees: str) -> Callable[[type], type]:
    """Register a class as a cheat: of :class:`ChoosingCheat`, or of those for answers and for motion."""

    def register(kind: type) -> type:
        CHEATS.add(name, Cheat(name, sees, kind), kind.__module__)
        return kind

    return register


# ------------------------------------------------------------------------------------------------ without learning


@cheat("first entity", sees="the order of the list")
class FirstEntity(ChoosingCheat):
    """What comes first in the scene's list."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return candidate.index


@cheat("last entity", sees="the order of the list")
class LastEntity(ChoosingCheat):
    """What comes last in the scene's list."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return -candidate.index


@cheat("names", sees="numbers in names")
class LowestNumber(ChoosingCheat):
    """What has the lowest number in its name."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return math.inf if candidate.number is None else candidate.number


@cheat("nearest", sees="where things are")
class NearestToHand(ChoosingCheat):
    """What is nearest to the hand."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return math.dist(candidate.place, case.hand)


@cheat("nearest to the middle", sees="where things are")
class NearestToMiddle(ChoosingCheat):
    """What is nearest to the middle of the workspace."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return math.dist(candidate.place, case.middle)


@cheat("smaller one", sees="sizes")
class SmallerOne(ChoosingCheat):
    """The smallest."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return candidate.volume


@cheat("larger one", sees="sizes")
class LargerOne(ChoosingCheat):
    """The largest."""

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        return -candidate.volume


# ------------------------------------------------------------------------------------------------ small classifiers


class LearningCheat(ChoosingCheat):
    """Likes what was right when it looked like this: naive Bayes over what :meth:`features` tells of a thing in its slot."""

    learns = True

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        """What it sees of a candidate."""
        raise NotImplementedError

    def learn(self, cases: Sequence[ChoiceCase]) -> None:
        self._right: dict[Hashable, int] = defaultdict(int)
        self._there: dict[Hashable, int] = defaultdict(int)
        for case in cases:
            for number, slot in enumerate(case.slots):
                for candidate in slot.candidates:
                    for feature in self.features(case, slot, candidate):
                        self._there[number, feature] += 1
                        self._right[number, feature] += candidate.name == slot.right

    def key(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> float:
        number, found = case.slots.index(slot), 0.0
        for feature in self.features(case, slot, candidate):
            there, right = self._there.get((number, feature), 0), self._right.get((number, feature), 0)
            found -= math.log((right + 1) / (there - right + 1))
        return round(found, 9)


@cheat("most frequent", sees="shapes")
class MostFrequent(LearningCheat):
    """The shape that was right most often."""

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        return (candidate.shape,)


@cheat("colour only", sees="colours and textures")
class ColourOnly(LearningCheat):
    """The colour that was right most often."""

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        return (candidate.texture,)


@cheat("deaf", sees="everything but the instruction")
class Deaf(LearningCheat):
    """What looked right most often: shape, texture, size and distance among the others, side of the table."""

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        x, y = candidate.place
        alike = sum(c.shape == candidate.shape for c in slot.candidates), sum(c.texture == candidate.texture for c in slot.candidates)
        return (
            ("shape", candidate.shape),
            ("texture", candidate.texture),
            ("size", rank(slot, candidate, lambda c: c.volume)),
            ("distance", rank(slot, candidate, lambda c: math.dist(c.place, case.hand))),
            ("side", x > case.middle[0], y > case.middle[1]),
            ("alike", *alike),
        )


@cheat("bag of words", sees="which words there are, and the order of the list")
class BagOfWords(LearningCheat):
    """The place in the list that goes with such words."""

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        if "/" in candidate.name:  # parts have a fixed order, and words that name them
            return ()
        at = rank(slot, candidate, lambda c: c.index)
        return [(word, at) for word in sorted(set(re.findall(r"\w+", case.text.lower())))]


@cheat("prompt length", sees="the length of the instruction, and the order of the list")
class PromptLength(LearningCheat):
    """The place in the list that goes with an instruction of such a length."""

    def features(self, case: ChoiceCase, slot: ChoiceSlot, candidate: Candidate) -> Iterable[Hashable]:
        return ((len(case.text.split()), rank(slot, candidate, lambda c: c.index)),)


class _UsualTuple(ChoosingCheat):
    """The tuple of ranks that was right most often, for so many slots with so many candidates."""

    learns = True

    def rank_by(self, candidate: Candidate) -> float:
        """What things are ranked by."""
        raise NotImplementedError

    def learn(self, cases: Sequence[ChoiceCase]) -> None:
        self._usual: dict[Hashable, Counter[tuple[int, ...]]] = defaultdict(Counter)
        for case in cases:
            right = tuple(rank(slot, next(c for c in slot.candidates if c.name == slot.right), self.rank_by) for slot in case.slots)
            self._usual[_form(case)][right] += 1

    def choose(self, case: ChoiceCase, name: str) -> list[str]:
        usual = self._usual.get(_form(case))
        if not usual:
            return LastEntity().choose(case, name)
        ranks = min(usual.items(), key=lambda item: (-item[1], item[0]))[0]
        return [
            next(c.name for c in sorted(slot.candidates, key=self.rank_by) if rank(slot, c, self.rank_by) >= place)
            for slot, place in zip(case.slots, ranks, strict=True)
        ]


@cheat("order of slots", sees="the order of the list")
class OrderOfSlots(_UsualTuple):
    """The places in the list that were right most often, all slots together."""

    def rank_by(self, candidate: Candidate) -> float:
        return candidate.index


@cheat("numbers in names", sees="numbers in names")
class NumbersInNames(_UsualTuple):
    """The numbers in names that were right most often, all slots together."""

    def rank_by(self, candidate: Candidate) -> float:
        return math.inf if candidate.number is None else candidate.number


def _form(case: ChoiceCase) -> Hashable:
    return tuple((slot.role, len(slot.candidates)) for slot in case.slots)


def rank(slot: ChoiceSlot, candidate: Candidate, by: Callable[[Candidate], float]) -> int:
    """How many candidates of the slot come before this one."""
    mine = by(candidate)
    return sum(by(other) < mine - ALIKE for other in slot.candidates)
