"""Cheats on decisions: what can be answered without the pictures, with some of them, or with part of the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from etude.arithmetic import total
from etude.audit.cheats import cheat
from etude.audit.scoring import CheatScore
from etude.decisions.graph import DecisionGraph, properties_of
from etude.decisions.meaning import answer
from etude.decisions.operator import Operator
from etude.decisions.shortcuts import Asked, Shortcut, answers_due, known_to_readers, report
from etude.decisions.showing import domain_of, space_of, told
from etude.decisions.space import SeenThing, StimulusSpace
from etude.decisions.trial import Trial

FEW = 5  # questions of a kind from which nothing is learnt
COLOUR = "colour"


@dataclass(frozen=True)
class DueAnswer:
    """An answer that is due, with the trial it is due in and its number there."""

    trial: Trial
    asked: Asked
    number: int

    @property
    def bound(self) -> float:
        """How often one is right who takes any of the answers offered, or of those that the question can have."""
        return max(1 / len(self.asked.choices), known_to_readers(self.asked, space_of(self.trial.stimuli, self.trial.grid)))


class DecidingCheat:
    """Answers questions. It is shown half of the list with its answers, and asked about the other half."""

    def applies(self, due: DueAnswer) -> bool:
        """Is this a question it has something to say about?"""
        return True

    def learn(self, answers: Sequence[DueAnswer]) -> None:
        """Look at questions whose answers are known."""

    def right(self, due: DueAnswer) -> float:
        """How often its answer is right: of several that seem equally good it takes any."""
        raise NotImplementedError


class UsualAnswer(DecidingCheat):
    """The answer that is usual for such a question; ``keys`` says what such a question is, the closest likeness first."""

    def keys(self, due: DueAnswer) -> list[Hashable]:
        """What it knows a question by."""
        raise NotImplementedError

    def learn(self, answers: Sequence[DueAnswer]) -> None:
        self._usual: dict[Hashable, Counter[str]] = {}
        for due in answers:
            for key in (*self.keys(due), due.asked.choices):
                self._usual.setdefault(key, Counter())[due.asked.right] += 1

    def right(self, due: DueAnswer) -> float:
        found = (self._usual[key] for key in (*self.keys(due), due.asked.choices) if key in self._usual)
        known = next((c for c in found if c.total() >= FEW), Counter[str]())
        best = [said for said, n in known.items() if n == max(known.values())]
        return (due.asked.right in best) / len(best) if best else 1 / len(due.asked.choices)


@cheat("blind", sees="the instruction, no picture")
class BlindAnswer(UsualAnswer):
    """What is usually answered to this very question, or to one of this form."""

    def keys(self, due: DueAnswer) -> list[Hashable]:
        return [(due.number, told(due.trial)), (due.number, form_of(due.asked.root))]


@cheat("deaf answer", sees="how many frames and things there are, no instruction")
class DeafAnswer(UsualAnswer):
    """What is usually answered when so much is shown."""

    def keys(self, due: DueAnswer) -> list[Hashable]:
        counts = tuple(len(things) for things in due.trial.frames)
        return [(due.number, due.asked.choices, counts), (due.number, due.asked.choices, len(counts))]


@cheat("moment of truncation", sees="the instruction, and how many frames there are")
class Truncation(UsualAnswer):
    """What is usually answered to a question of this form when so many frames come, and so many after it."""

    def keys(self, due: DueAnswer) -> list[Hashable]:
        forms = tuple(form_of(placed.task.root) for placed in due.trial.tasks)
        after = len(due.trial.frames) - due.asked.placed.end
        ends = tuple(placed.end < len(due.trial.frames) for placed in due.trial.tasks)
        later = tuple(end - due.asked.placed.end for end in (p.end for p in due.trial.tasks) if end > due.asked.placed.end)
        return [(due.number, forms, after, ends, later), (due.number, after, ends), (due.number, after)]

    def applies(self, due: DueAnswer) -> bool:
        return len(due.trial.tasks) > 1


@cheat("colour alone", sees="colours, and no other property of things")
class ColourAlone(DecidingCheat):
    """Takes things of one colour for one thing: is what is asked about identities, or categories, only a matter of colour?"""

    def applies(self, due: DueAnswer) -> bool:
        asked = properties_of(due.asked.root)  # locations it does not see: a question that is also about them it cannot even try
        return COLOUR in space_of(due.trial.stimuli).names and bool(asked) and asked <= {"identity", "category"}

    def right(self, due: DueAnswer) -> float:
        space = space_of(due.trial.stimuli, due.trial.grid)
        frames = tuple(tuple(_recoloured(thing, space) for thing in things) for things in due.asked.frames)
        task = due.asked.placed.task
        return float(answer(DecisionGraph(task.root, task.frames), frames, space, due.asked.placed.start) == due.asked.right)


def _recoloured(thing: SeenThing, space: StimulusSpace) -> SeenThing:
    """The first thing of its colour: all that one knows who sees nothing else."""
    mine = space.of(COLOUR, thing)
    return replace(thing, item=space.classes[COLOUR].index(mine))


def form_of(node: Operator) -> str:
    """A question without its constants."""
    return f"{type(node).__name__}{getattr(node, 'property', '')}({','.join(form_of(part) for part in node.inputs())})"


KNOWN = {
    "majority": "most frequent",
    "text": "bag of words",
    "last frame": "last frame only",
    "always then": "one branch",
    "always else": "one branch",
    "larger branch": "one branch",
    "first part": "one part",
    "second part": "one part",
    "colour": "colour in place of identity",
    "category": "category in place of identity",
    "colour and category": "colour and category in place of identity",
}
"""The shortcuts of :mod:`etude.decisions.shortcuts`, as the audit calls them; what has one name is taken together."""


def scores(task: str, split: str, trials: Sequence[Trial], cheats: Mapping[str, type[DecidingCheat]]) -> list[CheatScore]:
    """What cheats reach on a list of trials, beside the answers offered; where a list cannot do without, beside the least it allows."""
    due = [DueAnswer(t, one, k) for t in trials for k, one in enumerate(answers_due(t))]
    found = []
    for name, make in cheats.items():
        player = make()
        mine = [one for one in due if player.applies(one)]
        asked = mine[1::2]
        player.learn(mine[::2])
        if asked:
            found.append(CheatScore(task, split, name, total(map(player.right, asked)), tuple(one.bound for one in asked)))
    return found + _shortcuts(task, split, trials)


def _shortcuts(task: str, split: str, trials: Sequence[Trial]) -> list[CheatScore]:
    rows = report(trials, domain_of(trials[0].stimuli, trials[0].split))
    grouped: dict[str, list[Shortcut]] = {}
    for row in rows:
        if row.applies:
            grouped.setdefault(KNOWN.get(row.name, row.name), []).append(row)
    return [
        CheatScore(task, split, name, total(row.applies * row.score for row in rows_), tuple(b for row in rows_ for b in row.bounds))
        for name, rows_ in grouped.items()
    ]
