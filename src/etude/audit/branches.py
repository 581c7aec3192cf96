"""Cheats on conditions: which branch is to be taken, said without a look at the table, without the words, or without either.

Every condition of a goal is one case, and chance is right in half of them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from etude.audit.cheats import CHEATS, cheat
from etude.audit.scoring import CheatScore
from etude.episodes import Episode
from etude.goals.branching import Conditional
from etude.goals.goal import Goal, GoalNode, every
from etude.goals.watch import Watch
from etude.scene.scene import Body
from etude.scene.world import World
from etude.suites.suite import SUITES

CHANCE = 0.5


@dataclass(frozen=True)
class BranchCase:
    """One condition: the instruction it stands in, which of its conditions it is, what it asks for, what the things on the table look
    like, and whether it holds; and which of its branches could be carried out."""

    text: str
    number: int
    form: str
    looks: tuple[tuple[str, str], ...]
    held: bool
    possible: tuple[bool, bool] = (True, True)


def branches(episode: Episode) -> Iterator[BranchCase]:
    """The conditions of an episode."""
    found = every(episode.goal, Conditional)
    if found:
        watch = Watch(World(episode.scene))
        suite = SUITES[episode.parsed.suite]
        possible = [(True, True)] * len(found) if suite.open_branches is None else suite.open_branches(episode)
        looks = tuple(sorted((one.texture, one.shape) for one in episode.scene.entities if isinstance(one, Body)))
        for k, one in enumerate(found):
            held = GoalNode.of(one.fact, "fact").judge(watch).satisfied
            yield BranchCase(episode.instruction.text, k, _form(one.fact), looks, held, possible[k])


def _form(fact: Goal) -> str:
    below = [_form(part) for part in fact.parts()]
    return f"{fact.json_kind}{getattr(fact, 'look', '')}({','.join(below)})"


class BranchCheat:
    """Says which branch is to be taken from features that it may see: naive Bayes, learnt from one half of the episodes."""

    def features(self, case: BranchCase) -> Iterable[Hashable]:
        """What it sees."""
        raise NotImplementedError

    def learn(self, cases: Sequence[BranchCase]) -> None:
        """Look at conditions that are known to hold or not."""
        self._all = Counter(case.held for case in cases)
        self._with: dict[bool, Counter[Hashable]] = defaultdict(Counter)
        for case in cases:
            self._with[case.held].update(set(self.features(case)))

    def takes(self, case: BranchCase) -> bool:
        """Does it take the first branch?"""
        seen = set(self.features(case))
        odds = {
            held: math.fsum([math.log(self._all[held] + 1), *(math.log((self._with[held][f] + 1) / (self._all[held] + 2)) for f in seen)])
            for held in (True, False)
        }
        return odds[True] >= odds[False]


@cheat("always the first branch", sees="nothing")
class FirstBranch(BranchCheat):
    """Takes every condition for true."""

    def learn(self, cases: Sequence[BranchCase]) -> None:
        """There is nothing to be learnt."""

    def takes(self, case: BranchCase) -> bool:
        return True


@cheat("only possible branch", sees="what can be done, not the condition")
class OnlyPossibleBranch(FirstBranch):
    """Takes the branch that can be carried out, and the first where both can."""

    def takes(self, case: BranchCase) -> bool:
        return case.possible != (False, True)


@cheat("usual branch", sees="of what form a condition is")
class UsualBranch(BranchCheat):
    """Takes the branch that was right most often for such a condition."""

    def features(self, case: BranchCase) -> Iterable[Hashable]:
        return ((case.form, case.number),)


@cheat("blind branch", sees="which words there are")
class BlindBranch(BranchCheat):
    """Takes the branch that goes with such words, whatever is on the table."""

    def features(self, case: BranchCase) -> Iterable[Hashable]:
        return re.findall(r"[\w-]+", case.text.lower())


@cheat("deaf branch", sees="everything on the table, no word")
class DeafBranch(BranchCheat):
    """Takes the branch that goes with such things on the table."""

    def features(self, case: BranchCase) -> Iterable[Hashable]:
        colours, shapes = Counter(colour for colour, _ in case.looks), Counter(shape for _, shape in case.looks)
        return [*colours.items(), *shapes.items(), len(case.looks)]


def branch_scores(key: tuple[str, str], episodes: Sequence[Sequence[BranchCase]]) -> Iterator[CheatScore]:
    """What each of these cheats reaches on the second half of the episodes."""
    half = len(episodes) // 2
    known, asked = ([case for one in part for case in one] for part in (episodes[:half], episodes[half:]))
    for one in CHEATS.values() if asked else ():
        if issubclass(one.make, BranchCheat):
            player: Any = one.make()
            player.learn(known)
            yield CheatScore(*key, one.name, sum(player.takes(case) is case.held for case in asked), (CHANCE,) * len(asked))
